package main

import (
	"github.com/spf13/cobra"

	"kb/pkg/build"
	"kb/pkg/live"
	"kb/pkg/mcp"
	"kb/pkg/search"
	"kb/pkg/session"
	"kb/pkg/store"
)

const mcpLong = `mcp offers the notes to an agent (Claude, Cursor, VS Code …) over the Model
Context Protocol: the tools search, ask, get_document and list_documents, which
only read, and the documents as resources. The client starts it and speaks with
it over standard input and output; messages for people go to stderr.

Name the index by its absolute path, as clients start it in a folder of their
own. An index that is not there yet, or is built again, is seen by the next call.

Reads:   JSON-RPC, a message a line
Writes:  the same`

func newMCP(e *env, s *settings) *cobra.Command {
	v := &agents{e: e, s: s}
	cmd := &cobra.Command{
		Use:         "mcp",
		Short:       "the notes for agents (MCP)",
		Long:        mcpLong,
		Example:     "  kb mcp --index ~/notes/index.jsonl.zst\n  claude mcp add notes -- kb mcp --index ~/notes/index.jsonl.zst",
		Args:        args(cobra.NoArgs),
		Annotations: about(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := v.search.validate(); err != nil {
				return err
			}
			if err := v.open(); err != nil {
				return err
			}
			defer v.index.Close()
			return v.server.Stdio(cmd.Context(), e.stdin, e.stdout)
		},
	}
	v.search.register(cmd)
	v.answer.registerWriting(cmd)
	cmd.Flags().BoolVar(&v.noRerank, "no-rerank", false, "keep the order of the search")
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

	index  *live.Index
	server *mcp.Server
}

// open makes the server. It needs no index.
func (v *agents) open() error {
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
	opt := mcp.Options{Home: home.Absolute("."), Version: version, Explain: withStep, Warn: c.warn,
		Sessions: session.NewMemory(session.DefaultTTL, v.e.now),
		Searches: v.s.endpoints("EMBED", "RERANK") != "", Answers: v.s.endpoints("CHAT") != ""}
	if opt.Ask, err = v.s.answering(v.e, c, v.search, v.answer, v.noRerank); err != nil {
		return err
	}
	v.index = live.New(live.Options{Store: st, Warn: c.warn, Searcher: func(r store.Reader) (*search.Searcher, error) {
		return v.s.searcherOf(st.Name(), r, v.search.Params, c.warn)
	}})
	opt.Index = v.index
	v.server, err = mcp.New(opt)
	return err
}
