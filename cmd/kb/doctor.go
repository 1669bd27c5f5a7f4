package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kb/pkg/build"
	"kb/pkg/jsonl"
	"kb/pkg/model"
	"kb/pkg/record"
	"kb/pkg/search"
	"kb/pkg/store"
	"kb/pkg/store/flat"
)

const doctorLong = `doctor looks at the settings, the index (all of it, if it is a file) and its
folders, the endpoints and the caches, and says of each whether it is in order and
what to do where it is not.
With --online it sends each endpoint that is configured one tiny request, which
may cost a fraction of a cent; without, no request leaves this machine, but for
a greeting to Redis where KB_REDIS_URL is set. With --server it only asks a kb
serve that runs whether it can answer, as the health check of a container does.

Writes:  {"kind":"check","name":…,"status":"ok","detail":…,"hint":…}   status: ok, warn or fail`

func newDoctor(e *env, s *settings) *cobra.Command {
	var (
		out    outputFlags
		online bool
		server string
	)
	cmd := &cobra.Command{
		Use:         "doctor",
		Short:       "is all in order?",
		Long:        doctorLong,
		Example:     "  kb doctor\n  kb doctor --online",
		Args:        args(cobra.NoArgs),
		Annotations: about(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &doctor{e: e, s: s, online: online, human: out.human(e), w: jsonl.NewWriter(e.stdout)}
			if cmd.Flags().Changed("server") {
				d.server(cmd.Context(), server)
				return d.end()
			}
			return d.run(cmd.Context())
		},
	}
	out.register(cmd)
	indexFlag(cmd, s)
	embedFlags(cmd, s)
	rerankFlags(cmd, s)
	chatFlags(cmd, s)
	cmd.Flags().StringVar(&server, "server", "", "only ask the kb serve at this URL, like http://127.0.0.1:8080")
	cmd.Flags().BoolVar(&online, "online", false, "send each endpoint one tiny request")
	return cmd
}

// checkRecord is what became of one check.
type checkRecord struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

func (*checkRecord) Kind() string { return "check" }

// Statuses of a check.
const (
	checkOK   = "ok"
	checkWarn = "warn"
	checkFail = "fail"
)

type doctor struct {
	e      *env
	s      *settings
	online bool
	human  bool
	w      *jsonl.Writer
	failed int
	err    error // of the output
}

func (d *doctor) run(ctx context.Context) error {
	if err := d.s.load(); err != nil {
		d.fail("settings", err)
	} else {
		d.settings()
		d.index(ctx)
		d.embedding(ctx)
		d.rerank(ctx)
		d.answers(ctx)
		d.redis(ctx)
	}
	d.folder("cache", os.UserCacheDir, "it keeps the text of PDF files and the times of notes; without it builds are slower")
	d.folder("sessions", d.s.stateDir, "sessions of kb chat and kb ask --session are not remembered")
	return d.end()
}

// end ends the output; a check that failed is an error.
func (d *doctor) end() error {
	if err := errors.Join(d.err, d.w.Flush()); err != nil || d.failed == 0 {
		return err
	}
	return &codeError{exitFailed, fmt.Errorf("%s failed", count(d.failed, "check"))}
}

func (d *doctor) say(name, status, detail, hint string) {
	if status == checkFail {
		d.failed++
	}
	if !d.human {
		d.err = errors.Join(d.err, d.w.Write(&checkRecord{name, status, detail, hint}))
		return
	}
	st := d.e.style()
	mark := map[string]string{checkOK: "ok  ", checkWarn: st.strong("warn"), checkFail: st.alarm("fail")}[status]
	fmt.Fprintf(d.e.stdout, "%s  %-10s %s\n", mark, name, st.indented(plainLine(detail), 17))
	if hint != "" {
		fmt.Fprintf(d.e.stdout, "%17s%s\n", "", st.dim("→ "+st.indented(plainLine(hint), 19)))
	}
}

func (d *doctor) fail(name string, err error) { d.say(name, checkFail, err.Error(), hintFor(err)) }

func (d *doctor) settings() {
	set := 0
	for _, k := range settingKeys {
		if v := d.s.get(k.key); v.source != fromDefault {
			set++
		}
	}
	if names := d.s.hooksOfDotenv(); names != nil {
		d.say("settings", checkWarn, strings.Join(names, ", ")+" from .env: not used", "only the environment names programs: export them")
		return
	}
	d.say("settings", checkOK, fmt.Sprintf("%d of %d set; kb config shows them", set, len(settingKeys)), "")
}

// index opens the index as a search would, and looks for its folders.
func (d *doctor) index(ctx context.Context) {
	name, r, err := d.s.openIndex(ctx)
	if errors.Is(err, store.ErrNotFound) {
		d.say("index", checkWarn, err.Error(), hintFor(err))
		return
	}
	if err != nil {
		d.fail("index", err)
		return
	}
	defer r.Close()
	if _, err := d.s.searcherOf(name, r, search.Params{}, d.quiet("index")); err != nil {
		d.fail("index", err)
		return
	}
	info := r.Info()
	status, hint := checkOK, ""
	detail := fmt.Sprintf("%s: %s, %s, %s", name, count(info.Documents, "document"), count(info.Chunks, "chunk"), describeModel(info.Settings))
	switch {
	case info.Chunks == 0:
		status, hint = checkWarn, `it is empty: "kb build notes"`
	case info.Vectors > 0 && info.Vectors < info.Chunks:
		status, hint = checkWarn, fmt.Sprintf(`%s without a vector: "kb build" tries them again`, count(info.Chunks-info.Vectors, "chunk"))
	case info.Calibration != nil && info.Calibration.Confidence != search.Confidence:
		status, hint = checkWarn, "its calibration is of another version: kb eval FILE --calibrate"
	}
	faults, err := d.faults(ctx)
	if err != nil {
		d.fail("index", err)
		return
	}
	if len(faults) > 0 {
		status, detail = checkFail, fmt.Sprintf("%s (%s in all)", faults[0], count(len(faults), "fault"))
		hint = `"kb index --verify" shows them all; "kb index --repair" saves what is whole`
	}
	d.say("index", status, detail, hint)
	d.roots(ctx, r)
}

// faults reads an index file to its end, as a search does not. Of a database it
// says nothing: all of it would come over the network.
func (d *doctor) faults(ctx context.Context) ([]*store.DamagedError, error) {
	st, err := d.s.openStore()
	if err != nil {
		return nil, err
	}
	file, ok := st.(*flat.Store)
	if !ok {
		return nil, nil
	}
	report, err := file.Verify(ctx)
	if err != nil {
		return nil, err
	}
	return report.Faults, nil
}

func (d *doctor) roots(ctx context.Context, r store.Reader) {
	st, err := d.s.openStore()
	if err != nil {
		d.fail("folders", err)
		return
	}
	home, err := build.OpenHome(homeFile(st), false)
	if err != nil {
		d.fail("folders", err)
		return
	}
	skipped, gone := 0, []string{}
	var roots []string
	for root, err := range r.Roots(ctx) {
		if err != nil {
			d.fail("folders", err)
			return
		}
		roots = append(roots, root.Path)
		skipped += root.Skipped
		if _, err := os.Stat(home.Absolute(root.Path)); errors.Is(err, fs.ErrNotExist) {
			gone = append(gone, root.Path)
		}
	}
	switch {
	case len(gone) > 0:
		d.say("folders", checkWarn, strings.Join(gone, ", ")+": no such folder here",
			"run kb build where the index was built, or drop the folder from the index: kb rm "+gone[0])
	case skipped > 0:
		d.say("folders", checkWarn, fmt.Sprintf("%s; %s skipped", strings.Join(roots, ", "), count(skipped, "file")), "kb status says which and why")
	case len(roots) > 0:
		d.say("folders", checkOK, strings.Join(roots, ", "), "")
	}
}

func (d *doctor) embedding(ctx context.Context) {
	m, err := d.s.embedder(d.quiet("embedding"))
	if err != nil {
		d.fail("embedding", err)
		return
	}
	info := m.Info()
	d.endpoint(ctx, "embedding", info.BaseURL != "", model.Describe(info.Model, info.BaseURL), func(ctx context.Context) (string, error) {
		vectors, err := m.Embed(ctx, model.Query, []string{"kb"})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d dimensions", len(vectors[0])), nil
	})
}

func (d *doctor) rerank(ctx context.Context) {
	m, err := d.s.reranker(d.quiet("rerank"))
	if err != nil {
		d.fail("rerank", err)
		return
	}
	d.endpoint(ctx, "rerank", d.s.provider("RERANK").baseURL.set(), m.Name(), func(ctx context.Context) (string, error) {
		q := &record.Query{ID: "doctor", Text: "kb"}
		scores, err := m.Rerank(ctx, q, []*record.Hit{{Text: "kb"}, {Text: "notes"}})
		return fmt.Sprintf("%d of 2 scores", len(scores)), err
	})
}

func (d *doctor) answers(ctx context.Context) {
	m, err := d.s.generator(d.quiet("answers"))
	if err != nil {
		d.fail("answers", err)
		return
	}
	d.endpoint(ctx, "answers", !m.Offline(), m.Name(), func(ctx context.Context) (string, error) {
		ctx, enough := context.WithCancel(ctx)
		defer enough()
		for event, err := range m.Generate(ctx, model.Request{Messages: []model.Message{{Role: "user", Content: "Reply with OK."}}}) {
			if err != nil {
				return "", err
			}
			if event.Text != "" || event.Reasoning != "" || event.Finish != "" {
				return "it writes", nil
			}
		}
		return "", errors.New("it wrote nothing")
	})
}

// endpoint reports a model; with --online it sends it a request.
func (d *doctor) endpoint(ctx context.Context, name string, remote bool, what string, try func(context.Context) (string, error)) {
	switch {
	case !remote:
		d.say(name, checkOK, what, "")
	case !d.online:
		d.say(name, checkOK, what+" (not asked; --online does)", "")
	default:
		began := d.e.now()
		detail, err := try(ctx)
		if err != nil {
			d.fail(name, fmt.Errorf("%s: %w", what, err))
			return
		}
		d.say(name, checkOK, fmt.Sprintf("%s: %s, %d ms", what, detail, d.e.now().Sub(began).Milliseconds()), "")
	}
}

func (d *doctor) redis(ctx context.Context) {
	r, err := d.s.redis(d.quiet("redis"))
	if err != nil {
		d.fail("redis", err)
		return
	}
	if r == nil {
		return
	}
	name := shown("KB_REDIS_URL", d.s.get("KB_REDIS_URL").value)
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := r.client.Ping(ctx).Err(); err != nil {
		d.say("redis", checkFail, fmt.Sprintf("%s: %v", name, err), "kb goes on without it, asking models anew; start it, or unset KB_REDIS_URL")
		return
	}
	d.say("redis", checkOK, name, "")
}

// serverTimeout is the longest that a server may take to say how it is.
const serverTimeout = 5 * time.Second

// server asks a server for its health.
func (d *doctor) server(ctx context.Context, url string) {
	ctx, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(url, "/")+"/health", nil)
	if err != nil {
		d.fail("server", fmt.Errorf("--server %q: not a URL", url))
		return
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		d.fail("server", err)
		return
	}
	defer res.Body.Close()
	var health struct {
		Status    string
		Documents int
	}
	err = json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&health)
	switch {
	case res.StatusCode != http.StatusOK:
		d.say("server", checkFail, fmt.Sprintf("%s: %s", url, res.Status), "its log says why")
	case err != nil || health.Status == "":
		d.say("server", checkFail, url+": not a kb serve", "name it by where kb serve listens: --server http://127.0.0.1:8080")
	default:
		d.say("server", checkOK, fmt.Sprintf("%s: %s", url, count(health.Documents, "document")), "")
	}
}

// folder checks that kb can write below a folder of the user.
func (d *doctor) folder(name string, find func() (string, error), without string) {
	dir, err := find()
	if err != nil {
		d.say(name, checkWarn, err.Error(), without)
		return
	}
	if filepath.Base(dir) != "kb" {
		dir = filepath.Join(dir, "kb")
	}
	err = os.MkdirAll(dir, 0o700)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(dir, ".doctor-*"); err == nil {
			err = errors.Join(f.Close(), os.Remove(f.Name()))
		}
	}
	if err != nil {
		d.say(name, checkWarn, err.Error(), without)
		return
	}
	d.say(name, checkOK, dir, "")
}

// quiet reports the warnings of what is being checked as a check of its own.
func (d *doctor) quiet(name string) func(string) {
	return func(message string) { d.say(name, checkWarn, message, "") }
}
