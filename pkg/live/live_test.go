package live_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kb/pkg/build"
	"kb/pkg/chunk"
	"kb/pkg/live"
	"kb/pkg/model"
	"kb/pkg/model/offline"
	"kb/pkg/record"
	"kb/pkg/search"
	"kb/pkg/store"
	"kb/pkg/store/flat"
)

// place is a folder of notes and its index, in a folder that is the working
// directory.
type place struct {
	t     *testing.T
	store *counting
	index *live.Index
	notes *live.Notes

	embedder embedder

	mu       sync.Mutex
	warnings []string
	failing  error // of the next builds
}

func newPlace(t *testing.T, maxSize int64) *place {
	t.Chdir(t.TempDir())
	p := &place{t: t, embedder: embedder{Embedder: offline.NewEmbedder()}, store: &counting{Store: flat.New("index.jsonl.zst", flat.Resident(1<<30))}}
	warn := func(msg string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.warnings = append(p.warnings, msg)
	}
	p.index = live.New(live.Options{Store: p.store, Warn: warn, Searcher: func(r store.Reader) (*search.Searcher, error) {
		return search.New(search.Options{Reader: r, Embedder: offline.NewEmbedder()})
	}})
	t.Cleanup(p.index.Close)
	p.notes = live.NewNotes(live.NotesOptions{Index: p.index, Dir: "notes", Build: p.build, MaxSize: maxSize})
	return p
}

// embedder counts its calls.
type embedder struct {
	model.Embedder
	calls atomic.Int32
}

func (e *embedder) Embed(ctx context.Context, purpose model.Purpose, texts []string) ([]record.Vector, error) {
	e.calls.Add(1)
	return e.Embedder.Embed(ctx, purpose, texts)
}

// counting counts the readers that are open.
type counting struct {
	*flat.Store
	open atomic.Int32
}

func (c *counting) Open(ctx context.Context) (store.Reader, error) {
	r, err := c.Store.Open(ctx)
	if err != nil {
		return nil, err
	}
	c.open.Add(1)
	return &counted{r, c}, nil
}

type counted struct {
	store.Reader
	of *counting
}

func (c *counted) Close() error {
	c.of.open.Add(-1)
	return c.Reader.Close()
}

func (p *place) build(ctx context.Context, tx store.Tx) error {
	if p.failing != nil {
		return p.failing
	}
	o := build.Options{Store: p.store, Embedder: &p.embedder, Now: time.Now,
		Chunk: chunk.Options{Size: 60, Overlap: 20}}
	o.Tx, o.Lock, o.Index.NoWait = tx, true, true
	_, _, err := build.Run(ctx, []string{"notes"}, o)
	return err
}

func (p *place) write(name, text string) {
	p.t.Helper()
	name = filepath.Join("notes", name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) rebuild() {
	p.t.Helper()
	if err := p.build(p.t.Context(), nil); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) lease() *live.Lease {
	p.t.Helper()
	l, err := p.index.Acquire(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return l
}

// paths are those of the documents of the newest version.
func (p *place) paths() string {
	l := p.lease()
	defer l.Release()
	return list(p.t, l)
}

func list(t *testing.T, l *live.Lease) string {
	t.Helper()
	docs, err := l.Documents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range docs {
		out = append(out, strings.TrimPrefix(d.Path, "notes/"))
	}
	return strings.Join(out, " ")
}

// A lease sees one version whole, the next one the newest that can be opened.
func TestVersions(t *testing.T) {
	p := newPlace(t, 0)
	if got := p.paths(); got != "" {
		t.Errorf("before the first build: %q", got)
	}
	p.write("a.md", "# A\n\nalpha")
	p.rebuild()
	old := p.lease()
	p.write("b.md", "# B\n\nbeta")
	p.rebuild()
	if got := p.paths(); got != "a.md b.md" {
		t.Errorf("after a build: %q", got)
	}
	if got := list(t, old); got != "a.md" {
		t.Errorf("a lease from before: %q", got)
	}
	if _, err := old.Document(t.Context(), "notes/a.md"); err != nil {
		t.Errorf("reading a version that was replaced: %v", err)
	}
	old.Release()
	if open := p.store.open.Load(); open != 1 {
		t.Errorf("%d versions are open", open)
	}
	whole, err := os.ReadFile("index.jsonl.zst")
	if err != nil {
		t.Fatal(err)
	}
	damage := func(content []byte) {
		if err := os.WriteFile("new", content, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename("new", "index.jsonl.zst"); err != nil {
			t.Fatal(err)
		}
	}
	damage([]byte("no index"))
	for range 2 {
		if got := p.paths(); got != "a.md b.md" {
			t.Errorf("when the new version is damaged: %q", got)
		}
	}
	if _, stale := p.index.Opened(); !stale || len(p.warnings) != 1 {
		t.Errorf("stale %t, warnings %q", stale, p.warnings)
	}
	os.Remove("index.jsonl.zst")
	if got := p.paths(); got != "a.md b.md" {
		t.Errorf("when the index went away: %q", got)
	}
	damage(whole)
	p.write("c.md", "# C\n\ngamma")
	p.rebuild()
	if got := p.paths(); got != "a.md b.md c.md" {
		t.Errorf("when there is a good one again: %q", got)
	}
	if n, stale := p.index.Opened(); stale || n != 4 {
		t.Errorf("%d versions opened, stale %t", n, stale)
	}
}

// Many readers while versions come and go: each sees as many documents as its
// version says that it has.
func TestReadersDuringReloads(t *testing.T) {
	p := newPlace(t, 0)
	p.write("a.md", "# A\n\nalpha")
	p.rebuild()
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				l, err := p.index.Acquire(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				docs, err := l.Documents(t.Context())
				if err != nil || len(docs) != l.Info().Documents {
					t.Errorf("%d of %d documents, %v", len(docs), l.Info().Documents, err)
				}
				l.Release()
			}
		})
	}
	for i := range 10 {
		p.write(string(rune('b'+i))+".md", "# X\n\nmore")
		p.rebuild()
		if err := p.index.Refresh(t.Context()); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	readers.Wait()
}

const table = "| limit | city |\n| --- | --- |\n"

// The text of a document is put together from chunks that overlap and repeat
// the header of a table; around a passage stands all of it.
func TestText(t *testing.T) {
	p := newPlace(t, 0)
	body := "# Travel\n\nThe first sentence is here. The second one follows it at once. A third ends it.\n\n## Limits\n\n" +
		table + strings.Repeat("| 500 yuan | Beijing and others |\n", 6) + "\n住宿费每晚不超过五百元。超标须经审批。其他城市四百元。周六不安排考试。全程四周。\n"
	p.write("travel.md", "---\ntags: [trip]\n---\n"+body)
	p.rebuild()
	l := p.lease()
	defer l.Release()
	d, err := l.Document(t.Context(), "notes/travel.md")
	if err != nil {
		t.Fatal(err)
	}
	if d.MediaType != "text/markdown" || len(d.Chunks) < 6 {
		t.Errorf("type %q, %d chunks", d.MediaType, len(d.Chunks))
	}
	if got, want := strings.Fields(d.Text), strings.Fields(body); !slices.Equal(got, want) {
		t.Errorf("the text is\n%s\nwant\n%s", d.Text, body)
	}
	byID, err := l.Document(t.Context(), d.ID)
	if err != nil || byID.Text != d.Text {
		t.Errorf("by its id: %v", err)
	}
	for _, c := range d.Chunks {
		around, err := l.Passage(t.Context(), c.ID, live.All)
		if err != nil {
			t.Fatal(err)
		}
		own := strings.TrimPrefix(c.Text, table)
		if c.Seq > 1 && around.Before+own+around.After != d.Text && !strings.HasPrefix(own, "|") {
			t.Errorf("chunk %d: %q %q %q", c.Seq, around.Before, own, around.After)
		}
		near, err := l.Passage(t.Context(), c.ID, 5)
		if err != nil || !strings.HasSuffix(around.Before, near.Before) || !strings.HasPrefix(around.After, near.After) ||
			len([]rune(near.Before)) > 5 || len([]rune(near.After)) > 5 {
			t.Errorf("chunk %d: near it %q and %q, %v", c.Seq, near.Before, near.After, err)
		}
	}
	for _, id := range []string{"", "nothing", "../x"} {
		if _, err := l.Passage(t.Context(), id, 5); err == nil {
			t.Errorf("there is a passage %q", id)
		}
		if _, err := l.Document(t.Context(), id); err == nil {
			t.Errorf("there is a document %q", id)
		}
	}
}
