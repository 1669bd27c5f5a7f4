package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"kb/pkg/ask"
	"kb/pkg/build"
	"kb/pkg/live"
	"kb/pkg/mcp"
	"kb/pkg/search"
	"kb/pkg/server"
	"kb/pkg/session"
	"kb/pkg/store"
)

const mcpLong = `mcp offers the notes to an agent (Claude, Cursor, VS Code …) over the Model
Context Protocol: the tools search, ask, get_document and list_documents, which
only read, and the documents as resources. The client starts it and speaks with
it over standard input and output; messages for people go to stderr.

Name the index by its absolute path, as clients start it in a folder of their
own. An index that is not there yet, or is built again, is seen by the next call.

With --http it serves any number of clients at http://ADDR/mcp, as kb serve does
beside its other routes, and by the same rules: from this machine alone, unless
clients must send a token.

Reads:   JSON-RPC, a message a line
Writes:  the same`

func newMCP(e *env, s *settings) *cobra.Command {
	v := &agents{e: e, s: s, access: accessFlags{name: "http"}}
	cmd := &cobra.Command{
		Use:         "mcp",
		Short:       "the notes for agents (MCP)",
		Long:        mcpLong,
		Example:     "  kb mcp --index ~/notes/index.jsonl.zst\n  claude mcp add notes -- kb mcp --index ~/notes/index.jsonl.zst\n  kb mcp --http 127.0.0.1:8090",
		Args:        args(cobra.NoArgs),
		Annotations: about(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v.access.rated = cmd.Flags().Changed("rate")
			return v.run(cmd.Context())
		},
	}
	v.search.register(cmd)
	v.answer.registerWriting(cmd)
	cmd.Flags().BoolVar(&v.noRerank, "no-rerank", false, "keep the order of the search")
	cmd.Flags().StringVar(&v.access.addr, v.access.name, "", "serve over HTTP at this address, in place of standard input and output")
	v.access.register(cmd, s)
	indexFlag(cmd, s)
	embedFlags(cmd, s)
	rerankFlags(cmd, s)
	chatFlags(cmd, s)
	return cmd
}

// agents is one run of the command.
type agents struct {
	e        *env
	s        *settings
	search   searchFlags
	answer   answerFlags
	noRerank bool
	access   accessFlags
}

// run serves until its input ends, or the context. It needs no index: without
// one, that is what the tools say.
func (v *agents) run(ctx context.Context) error {
	if err := v.search.validate(); err != nil {
		return err
	}
	v.s.longLived = true
	c := v.e.console("kb mcp")
	st, err := v.s.openStore()
	if err != nil {
		return err
	}
	home, err := build.OpenHome(homeFile(st), false)
	if err != nil {
		return err
	}
	v.search.Filter.Modified = func(path string) string { return modified(home.Absolute(path)) }
	how, err := v.s.answering(v.e, c, v.search, v.answer, v.noRerank)
	if err != nil {
		return err
	}
	x := live.New(live.Options{Store: st, Warn: c.warn, Searcher: func(r store.Reader) (*search.Searcher, error) {
		return v.s.searcherOf(st.Name(), r, v.search.Params, c.warn)
	}})
	defer x.Close()
	m, err := mcp.New(v.s.mcpOptions(c, x, how, session.NewMemory(session.DefaultTTL, v.e.now), home))
	if err != nil {
		return err
	}
	if v.access.addr == "" {
		if v.e.stdinTTY {
			c.warn("waiting for an agent's client on standard input; \"kb mcp --help\" says how clients start it")
		}
		if missing(ctx, st) {
			c.warn(fmt.Sprintf("%s: no index yet; the tools say so until there is one", st.Name()))
		}
		return m.Stdio(ctx, v.e.stdin, v.e.stdout)
	}
	embedder, err := v.s.embedder(c.warn)
	if err != nil {
		return err
	}
	return v.overHTTP(ctx, c, server.Options{Index: x, MCP: m.Handler(), OnlyMCP: true, Models: models(embedder, how), Version: version, Now: v.e.now})
}

// missing says, at the cost of a look, that there is no index; a client that
// names a wrong one shows what is on stderr, if anything.
func missing(ctx context.Context, st store.Store) bool {
	s, ok := st.(store.Stamper)
	if !ok {
		return false
	}
	stamp, err := s.Stamp(ctx)
	return err == nil && stamp == ""
}

func (v *agents) overHTTP(ctx context.Context, c *console, opt server.Options) error {
	if err := v.access.apply(&opt, v.s, c); err != nil {
		return err
	}
	l, err := v.access.listen()
	if err != nil {
		return err
	}
	defer l.Close()
	v.e.interrupts.end(serveGrace)
	fmt.Fprintf(c, "kb mcp: http://%s/mcp\n", l.Addr())
	return server.Serve(ctx, l, server.New(opt), serveGrace, opt.Log)
}

// mcpOptions are those of an MCP server over an index.
func (s *settings) mcpOptions(c *console, x *live.Index, how ask.Options, sessions session.Store, home *build.Home) mcp.Options {
	return mcp.Options{Index: x, Ask: how, Sessions: sessions, Home: home.Absolute("."), Version: version, Explain: withStep, Warn: c.warn,
		Searches: s.endpoints("EMBED", "RERANK") != "", Answers: s.endpoints("CHAT") != ""}
}
