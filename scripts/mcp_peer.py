"""Uses kb mcp by the client of the PyPI package mcp; see mcp-peer.sh."""

import asyncio
import os
import subprocess
import sys

import httpx2
import jsonschema
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

TOKEN = "sesame"


async def call(client, tools, name, arguments):
    """The result of a tool, which must be what its schema promises."""
    result = await client.call_tool(name, arguments)
    text = result.content[0].text
    if not result.is_error:
        jsonschema.validate(result.structured_content, tools[name].output_schema)
    return result, text


async def use(client):
    """Calls every tool, and reads the resources."""
    tools = {t.name: t for t in (await client.list_tools()).tools}
    assert sorted(tools) == ["ask", "get_document", "list_documents", "search"], tools
    assert all(t.annotations.read_only_hint for t in tools.values())

    result, text = await call(client, tools, "search", {"query": "ERR-5023", "top_k": 2})
    hit = result.structured_content["hits"][0]
    assert hit["path"] == "notes/runbooks/error-codes.md" and f"{hit['path']}:{hit['line']}" in text, text

    result, text = await call(client, tools, "ask", {"question": "建议每天学多久？"})
    answer = result.structured_content
    assert "45 分钟" in answer["answer"] and answer["citations"][0]["path"] == "notes/course.md", text
    result, text = await call(client, tools, "ask", {"question": "那周六呢？", "session": answer["session"]})
    assert result.structured_content["rewritten"], text
    result, text = await call(client, tools, "ask", {"question": "黑洞蒸发辐射的物理机制是什么？"})
    assert result.structured_content["refused"], text

    result, text = await call(client, tools, "get_document", {"document": hit["document"], "from_passage": hit["passage"], "max_chars": 300})
    assert "chronyc tracking" in text and result.structured_content["next_passage"], text

    result, text = await call(client, tools, "list_documents", {"path": ["notes/runbooks"]})
    assert result.structured_content["total"] == 4, text

    for name, bad in [("search", {}), ("search", {"query": "x", "top_k": -1}), ("get_document", {"document": "none"})]:
        result, text = await call(client, tools, name, bad)
        assert result.is_error and text, (name, bad)

    resources = (await client.list_resources()).resources
    assert len(resources) == 21, len(resources)
    assert [t.uri_template for t in (await client.list_resource_templates()).resource_templates] == ["kb://document/{+id}"]
    note = next(r for r in resources if r.name == "notes/course.md")
    text = (await client.read_resource(note.uri)).contents[0].text
    assert "45 分钟" in text, text
    try:
        await client.read_resource("kb://document/none")
        raise AssertionError("a document that is not there was read")
    except MCPError:
        pass


async def over_http(kb, folder):
    server = subprocess.Popen([kb, "mcp", "--http", "127.0.0.1:0"], cwd=folder, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "KB_TOKEN": TOKEN})
    try:
        url = next(line for line in server.stderr if "http://" in line).split()[-1]
        async with httpx2.AsyncClient(headers={"Authorization": "Bearer " + TOKEN}, timeout=60) as http:
            async with Client(streamable_http_client(url, http_client=http)) as client:
                await use(client)
    finally:
        server.terminate()
        server.communicate()


async def main(kb, folder):
    async with Client(StdioServerParameters(command=kb, args=["mcp"], cwd=folder)) as client:
        await use(client)
        print("mcp-peer: over standard input and output:", client.server_info.name, client.server_info.version, client.protocol_version)
    await over_http(kb, folder)
    print("mcp-peer: over HTTP")


asyncio.run(main(*sys.argv[1:]))
