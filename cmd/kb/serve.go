package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kb/pkg/ask"
	"kb/pkg/build"
	"kb/pkg/index"
	"kb/pkg/live"
	"kb/pkg/mcp"
	"kb/pkg/model"
	"kb/pkg/search"
	"kb/pkg/server"
	"kb/pkg/session"
	"kb/pkg/store"
	"kb/pkg/watch"
)

const serveLong = `serve answers over HTTP what search, ask, chat and docs answer on the command
line, shows a page for people at /, describes the API at /docs, and serves
agents at /mcp (see kb mcp). What other programs build is served as soon as it
is there; where there is no index yet, the folder of --notes is indexed first.

Servers over one database (--index URL) need one folder of notes that all of them
see, or --read-only for all but one: a document whose file a server never had
stays in the index, but the server that has the file puts it back when another
one deletes it.

Files that are uploaded go into the folder of --notes and are indexed at once,
and a document of it that is deleted over HTTP is deleted as a file, too. With
--read-only neither is possible. Conversations are kept in memory for a day
after their last turn and end with the server, but for those in Redis.

Only this machine can reach it unless --addr says otherwise, and then clients
must send a token (Authorization: Bearer …). Pages of other sites may not use it
unless --origin names them. It logs a line for each request on stderr, but for
the files of the page, and never what was asked. SIGTERM and Ctrl-C let the
answers end that are being given.`

// The longest that requests may take to end, and then changes of the notes.
const (
	serveGrace  = 20 * time.Second
	changeGrace = 5 * time.Second
)

// serveFlags are those of serve alone.
type serveFlags struct {
	accessFlags
	notes     string
	maxUpload string
	resident  string
	watch     bool
	readOnly  bool
}

func (f *serveFlags) register(cmd *cobra.Command, s *settings) {
	f.name = "addr"
	cmd.Flags().StringVar(&f.addr, f.name, "127.0.0.1:8080", "address to listen on")
	cmd.Flags().StringVar(&f.notes, "notes", "notes", "folder that uploads go to")
	cmd.Flags().BoolVar(&f.readOnly, "read-only", false, "take no uploads, and delete nothing")
	f.accessFlags.register(cmd, s)
	cmd.Flags().StringVar(&f.maxUpload, "max-upload", "32M", "greatest size of an upload")
	cmd.Flags().StringVar(&f.resident, "resident", "1G", "keep the vectors in memory if they take no more than this")
	cmd.Flags().BoolVar(&f.watch, "watch", false, "index the folder of notes again at each change, as kb watch does")
}

func newServe(e *env, s *settings) *cobra.Command {
	v := &serving{e: e, s: s}
	cmd := &cobra.Command{
		Use:         "serve",
		Short:       "HTTP API and a page",
		Long:        serveLong,
		Example:     "  kb serve\n  curl 'http://127.0.0.1:8080/search?q=ERR-5023'\n  curl -F file=@report.pdf http://127.0.0.1:8080/documents\n  KB_TOKEN=… kb serve --addr 0.0.0.0:8080 --host kb.example.org",
		Args:        args(cobra.NoArgs),
		Annotations: about(exitMismatch, exitDamaged),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v.flags.rated = cmd.Flags().Changed("rate")
			v.named = cmd.Flags().Changed("notes")
			return v.run(cmd.Context())
		},
	}
	v.flags.register(cmd, s)
	v.search.registerRanking(cmd)
	v.answer.registerWriting(cmd)
	cmd.Flags().BoolVar(&v.noRerank, "no-rerank", false, "keep the order of the search")
	v.build.register(cmd, s)
	rerankFlags(cmd, s)
	chatFlags(cmd, s)
	return cmd
}

// serving is one run of the command.
type serving struct {
	e        *env
	s        *settings
	flags    serveFlags
	named    bool // a folder of notes was given
	search   searchFlags
	answer   answerFlags
	build    buildFlags
	noRerank bool

	console *console
	builder *builder // of the folder of notes
	sync    bool     // the folder is part of the index, or was named
	index   *live.Index
	notes   *live.Notes

	empty     bool // it was told that there are no documents yet
	elsewhere int  // documents of the folder's name that lie on other machines, as of the last build
}

func (v *serving) run(ctx context.Context) error {
	opt, err := v.options()
	if err != nil {
		return err
	}
	if err := v.open(ctx, &opt); err != nil {
		return err
	}
	defer v.index.Close()
	l, err := v.flags.listen()
	if err != nil {
		return err
	}
	defer l.Close()
	lease, err := v.index.Acquire(ctx)
	if err != nil {
		return err
	}
	info := lease.Info()
	lease.Release()
	v.e.interrupts.end(serveGrace + 2*changeGrace)
	if info.Documents == 0 {
		v.catchUp(ctx) // before anybody asks
	} else if !v.flags.watch {
		go v.catchUp(ctx)
	}
	if v.flags.watch {
		go v.watch(ctx)
	}
	v.announce("http://" + l.Addr().String())
	ended := make(chan struct{})
	defer close(ended)
	defer context.AfterFunc(ctx, func() { v.sayWaiting(ended) })()
	err = server.Serve(ctx, l, server.New(opt), serveGrace, opt.Log)
	ending, cancel := context.WithTimeout(context.Background(), changeGrace)
	defer cancel()
	return errors.Join(err, v.notes.Close(ending))
}

// sayWaiting says what an end takes long for.
func (v *serving) sayWaiting(ended <-chan struct{}) {
	select {
	case <-ended:
	case <-time.After(progressDelay):
		v.say(fmt.Sprintf("ending: requests that are being answered have %s to come to their end", serveGrace),
			"; Ctrl-C again ends at once")
	}
}

// announce says where the server is, in the form of the log.
func (v *serving) announce(url string) {
	if v.flags.log == "json" {
		v.console.log.Info("serving", "url", url)
		return
	}
	fmt.Fprintf(v.console, "kb serve: %s\n", url)
}

// say tells those who watch the server, and adds what only a person at a
// terminal can do.
func (v *serving) say(message, person string) {
	if v.flags.log == "json" {
		v.console.log.Info(message)
		return
	}
	if !v.e.stderrTTY {
		person = ""
	}
	fmt.Fprintf(v.console, "kb serve: %s%s\n", message, person)
}

// options are those of the server that need no index.
func (v *serving) options() (server.Options, error) {
	f := &v.flags
	v.s.longLived = true
	opt := server.Options{Version: version, Now: v.e.now}
	if err := v.search.validate(); err != nil {
		return opt, err
	}
	if err := v.s.load(); err != nil {
		return opt, err
	}
	var err error
	if opt.MaxUpload, err = parseSize(f.maxUpload); err != nil {
		return opt, usagef("--max-upload %q: %w", f.maxUpload, err)
	}
	if v.s.resident, err = parseSize(f.resident); err != nil {
		return opt, usagef("--resident %q: %w", f.resident, err)
	}
	v.console = v.e.console("kb serve")
	err = f.apply(&opt, v.s, v.console)
	return opt, err
}

// open opens the index and the folder of notes.
func (v *serving) open(ctx context.Context, opt *server.Options) error {
	c := v.console
	if err := v.openFolder(ctx); err != nil {
		return err
	}
	var err error
	if opt.Ask, err = v.s.answering(v.e, c, v.search, v.answer, v.noRerank); err != nil {
		return err
	}
	opt.Models = models(v.builder.opt.Embedder, opt.Ask)
	opt.Sessions = session.NewMemory(session.DefaultTTL, v.e.now)
	if v.s.get("KB_REDIS_URL").set() {
		if opt.Sessions, err = v.s.sessions(c.warn); err != nil {
			return err
		}
	}
	st := v.builder.opt.Store
	v.index = live.New(live.Options{Store: st, Warn: c.warn, Searcher: func(r store.Reader) (*search.Searcher, error) {
		return v.s.searcherOf(st.Name(), r, v.search.Params, c.warn)
	}})
	v.notes = live.NewNotes(live.NotesOptions{Index: v.index, Dir: v.builder.paths[0], Load: v.builder.opt.Load, Build: v.rebuild, MaxSize: opt.MaxUpload})
	opt.Index = v.index
	if !v.flags.readOnly {
		opt.Notes = v.notes
	}
	agents, err := mcp.New(v.s.mcpOptions(c, v.index, opt.Ask, opt.Sessions, v.builder.home))
	if err != nil {
		return err
	}
	opt.MCP = agents.Handler()
	return nil
}

// models names the models that serve.
func models(embedder model.Embedder, how ask.Options) server.Models {
	m := server.Models{Embed: embedder.Info().Model, Chat: how.Answer.Generator.Name()}
	if how.Reranker != nil {
		m.Rerank = how.Reranker.Name()
	}
	return m
}

// openFolder prepares to build the folder of notes, which need not be there
// yet: it finds out how the index spells it, and where its paths count from.
func (v *serving) openFolder(ctx context.Context) error {
	if v.flags.notes == "" {
		return usagef("--notes is empty")
	}
	st, err := v.s.openStore()
	if err != nil {
		return err
	}
	known, err := knownIndex(ctx, st)
	if err != nil {
		return err
	}
	b := &builder{c: v.console}
	if b.home, err = build.OpenHome(homeFile(st), v.build.here || !known.exists); err != nil {
		return err
	}
	if b.paths, err = b.home.Locate([]string{v.flags.notes}, known.roots); err != nil {
		return err
	}
	if err := enterHome(b.home, v.s, b.paths); err != nil {
		return err
	}
	if b.opt, err = v.s.buildOptions(v.e, v.console, v.build); err != nil {
		return err
	}
	b.opt.Shared = isURL(st.Name())
	b.told = newTold(b.opt.Load.Warn)
	b.opt.Load.Warn = b.told.warn
	v.builder = b
	folder := b.paths[0]
	info, err := os.Stat(filepath.FromSlash(folder))
	switch {
	case err == nil && !info.IsDir():
		return usagef("--notes %s: not a folder", v.flags.notes)
	case err == nil:
		v.sync = v.named || !known.exists || known.covers(folder)
	case !errors.Is(err, os.ErrNotExist):
		return readable(err)
	}
	return nil
}

// covers says whether a folder is a root of the index, or lies below one.
func (k *builtIndex) covers(folder string) bool {
	for _, root := range k.roots {
		if root == folder || root == "." && !filepath.IsAbs(folder) || strings.HasPrefix(folder, strings.TrimSuffix(root, "/")+"/") {
			return true
		}
	}
	return false
}

// catchUp brings the index in step with what happened to the notes before. A
// folder that is no part of the index, and was not named, is left alone. What
// fails is told, and the index as it is serves.
func (v *serving) catchUp(ctx context.Context) {
	if !v.sync {
		return
	}
	if err := v.notes.Sync(ctx); err != nil && ctx.Err() == nil {
		v.console.warn(fmt.Sprintf("%s is served as it was indexed: %v", v.builder.paths[0], withStep(err)))
	}
}

// watch brings the index in step at each change of the notes.
func (v *serving) watch(ctx context.Context) {
	_ = watch.Run(ctx, v.builder.paths, watch.Options{Hooks: v.builder.opt.Load.Hooks, Warn: v.console.warn, OnChange: func(ctx context.Context) error {
		return withStep(v.notes.Sync(ctx))
	}})
}

// withStep is an error with the next step behind it, on one line.
func withStep(err error) error {
	if hint := hintFor(err); err != nil && hint != "" {
		return fmt.Errorf("%w (%s)", err, hint)
	}
	return err
}

// rebuild brings the index in step with the folder of notes, by a change that
// was begun, or by one that it begins before it reads a file.
func (v *serving) rebuild(ctx context.Context, tx store.Tx) error {
	b := *v.builder
	known, err := knownIndex(ctx, b.opt.Store)
	if err != nil {
		return err
	}
	if err := known.keepsVectors(b.opt.Store.Name(), b.opt.Embedder.Info()); err != nil {
		return err
	}
	defer b.c.close()
	b.opt.Tx, b.opt.Lock, b.opt.Index.NoWait = tx, true, true
	began := v.e.now()
	_, result, err := b.run(ctx, b.paths)
	if errors.Is(err, index.ErrNothing) { // a first start, before the first upload
		if !v.empty {
			b.c.log.Info("no documents yet", "folder", b.paths[0])
		}
		v.empty = true
		return nil
	}
	if err == nil && result.Elsewhere != v.elsewhere {
		if v.elsewhere = result.Elsewhere; v.elsewhere > 0 {
			b.c.warn(fmt.Sprintf("the index has %s of %s without a file here: kept, for another server may have it", count(v.elsewhere, "document"), b.paths[0]))
		}
	}
	if err == nil && result.Written {
		b.c.log.Info("index written", "documents", result.Info.Documents, "chunks", result.Info.Chunks, "created", result.Created,
			"updated", result.Updated, "removed", result.Removed, "ms", v.e.now().Sub(began).Milliseconds())
	}
	return err
}
