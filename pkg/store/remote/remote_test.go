package remote_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"kb/pkg/store"
	"kb/pkg/store/remote"
	"kb/pkg/store/storetest"
)

// client is a store of its own in a database; the clock is that of the test.
func client(d *database, now *time.Time) (*memory, *remote.Store) {
	m := &memory{database: d}
	return m, remote.New(m, remote.Options{Now: func() time.Time { return *now }})
}

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name   string
		engine memory
		exact  bool
	}{
		{name: "plain"},
		{name: "limited", engine: memory{limits: remote.Limits{Nearest: 300}}},
		{name: "blind", engine: memory{blind: 7}},
		{name: "exact", exact: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			storetest.Run(t, func(*testing.T) store.Store {
				m := c.engine
				m.database = newDatabase()
				return remote.New(&m, remote.Options{Exact: c.exact})
			})
		})
	}
}

// write is a change of three kinds.
func write(t *testing.T, s store.Store, g *storetest.Generator, put, removed *storetest.Doc) error {
	tx, err := s.Begin(t.Context(), false)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := tx.Put(t.Context(), put.Document, put.Chunks); err != nil {
		return err
	}
	if err := tx.Remove(t.Context(), removed.Path); err != nil {
		return err
	}
	_, err = tx.Commit(t.Context(), g.Settings())
	return err
}

// TestWriterDies stops a writer at every call it makes, before it or after it,
// and lets it do nothing more: the next writer finds the old version or the new
// one, whole, and nothing is left of the rest.
func TestWriterDies(t *testing.T) {
	for _, late := range []bool{false, true} {
		committed := 0
		for fail := 1; ; fail++ {
			d, now := newDatabase(), time.Unix(1e9, 0)
			g := storetest.NewGenerator(3, 8)
			docs := g.Docs(6)
			_, s := client(d, &now)
			storetest.Write(t, s, g.Settings(), docs[:5]...)

			m, dying := client(d, &now)
			m.fail, m.late = fail, late
			failed := write(t, dying, g, docs[5], docs[0]) != nil
			if m.steps < fail {
				break // it was never stopped
			}
			now = now.Add(2 * time.Minute)
			again := g.Doc("notes/again.md")
			storetest.Write(t, s, g.Settings(), again)
			r := storetest.Open(t, s)
			switch n := r.Info().Documents; {
			case !failed || n == 6 && has(t, r, docs[5].Path):
				committed++
				storetest.Check(t, s, g, storetest.NewReference(append(docs[1:6:6], again)...))
			default:
				if committed > 0 {
					t.Fatalf("call %d: the change was made by fewer calls", fail)
				}
				storetest.Check(t, s, g, storetest.NewReference(append(docs[:5:5], again)...))
			}
			clean(t, d, &now, s, g)
			if t.Failed() {
				t.Fatalf("a writer that died at call %d, late %v", fail, late)
			}
		}
		if committed < 2 {
			t.Errorf("%d changes survived the death of their writer after the commit", committed)
		}
	}
}

func has(t *testing.T, r store.Reader, path string) bool {
	for range r.Chunks(t.Context(), path, false) {
		return true
	}
	return false
}

// clean removes all documents, waits for the sweep, and looks for anything
// that is left over.
func clean(t *testing.T, d *database, now *time.Time, s *remote.Store, g *storetest.Generator) {
	for range 4 {
		tx, err := s.Begin(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		for doc, err := range tx.Reader().Documents(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			tx.Remove(t.Context(), doc.Path)
		}
		tx.SetRoots(nil)
		if _, err := tx.Commit(t.Context(), g.Settings()); err != nil {
			t.Fatal(err)
		}
		*now = now.Add(remote.Grace)
	}
	for key, r := range d.rows {
		// The head, its lists, and what is to be swept: the lists before.
		if r.Kind != "head" && !strings.Contains(key, "/l") && !strings.Contains(key, "/g") {
			t.Errorf("row %s is left", key)
		}
	}
	for name, table := range d.tables {
		for key := range table {
			t.Errorf("vector %s is left in %s", key, name)
		}
	}
	for name := range d.claims {
		if strings.HasPrefix(name, "lease-") {
			t.Errorf("%s is left", name)
		}
	}
}

// TestLeaseTaken lets a writer stop for so long that another takes its lease:
// of the two, the one that is first commits, and the other is told.
func TestLeaseTaken(t *testing.T) {
	d, now := newDatabase(), time.Unix(1e9, 0)
	g := storetest.NewGenerator(4, 8)
	docs := g.Docs(4)
	_, a := client(d, &now)
	_, b := client(d, &now)
	storetest.Write(t, a, g.Settings(), docs[:2]...)
	slow, err := a.Begin(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := slow.Put(t.Context(), docs[2].Document, docs[2].Chunks); err != nil {
		t.Fatal(err)
	}
	now = now.Add(30 * time.Second)
	if _, err := b.Begin(t.Context(), false); !errors.Is(err, store.ErrLocked) {
		t.Fatalf("a lease that holds was taken: %v", err)
	}
	now = now.Add(time.Minute)
	storetest.Write(t, b, g.Settings(), docs[3])
	if _, err := slow.Commit(t.Context(), g.Settings()); !errors.Is(err, store.ErrLocked) {
		t.Fatalf("the slow writer: %v", err)
	}
	slow.Rollback()
	storetest.Check(t, b, g, storetest.NewReference(docs[0], docs[1], docs[3]))
	clean(t, d, &now, b, g)
}

// TestMerge makes many small changes: segments stay few, and what was replaced
// goes after the grace, while a reader of before says what it misses.
func TestMerge(t *testing.T) {
	d, now := newDatabase(), time.Unix(1e9, 0)
	g := storetest.NewGenerator(5, 8)
	docs := g.Docs(40)
	_, s := client(d, &now)
	storetest.Write(t, s, g.Settings(), docs[:20]...)
	old := storetest.Open(t, s)
	for i := range 40 {
		docs[i] = g.Doc(docs[i].Path)
		storetest.Write(t, s, g.Settings(), docs[i])
		now = now.Add(time.Minute)
	}
	storetest.Check(t, s, g, storetest.NewReference(docs...))
	segments := 0
	for key := range d.rows {
		if _, name, _ := strings.Cut(key, "/"); strings.HasPrefix(name, "s") && !strings.Contains(name, "/") {
			segments++
		}
	}
	if segments > 30 {
		t.Errorf("%d segments, of which at most 9 are of the newest version and 20 in grace", segments)
	}
	_, err := old.Lexical(t.Context(), []string{"w1"}, 3, store.Filter{})
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "open it again") {
		t.Errorf("a reader whose rows are gone: %v", err)
	}
	clean(t, d, &now, s, g)
}

// TestAnalyzer changes the words of an index without vectors.
func TestAnalyzer(t *testing.T) {
	d, now := newDatabase(), time.Unix(1e9, 0)
	g := storetest.NewGenerator(6, 0)
	docs := g.Docs(10)
	_, s := client(d, &now)
	settings := g.Settings()
	settings.Analyzer = "gse-2"
	storetest.Write(t, s, settings, docs[:9]...)
	storetest.Write(t, s, g.Settings(), docs[9])
	storetest.Check(t, s, g, storetest.NewReference(docs...))
	clean(t, d, &now, s, g)
}

// TestStamp changes with the index, and only then.
func TestStamp(t *testing.T) {
	d, now := newDatabase(), time.Unix(1e9, 0)
	g := storetest.NewGenerator(7, 8)
	_, s := client(d, &now)
	stamps := map[string]bool{}
	for i := range 3 {
		a, err := s.Stamp(t.Context())
		b, err2 := s.Stamp(t.Context())
		if err != nil || err2 != nil || a != b || stamps[a] {
			t.Fatalf("%q, %q, %v, %v", a, b, err, err2)
		}
		stamps[a] = true
		storetest.Write(t, s, g.Settings(), g.Doc(fmt.Sprintf("notes/%d.md", i)))
	}
}

func TestDamage(t *testing.T) {
	now := time.Unix(1e9, 0)
	g := storetest.NewGenerator(8, 8)
	docs := g.Docs(5)
	for _, c := range []struct {
		name   string
		damage func(remote.Row) string
		want   error
	}{
		{"truncated", func(r remote.Row) string { return r.Data[:len(r.Data)/2] }, store.ErrDamaged},
		{"empty", func(remote.Row) string { return "" }, store.ErrDamaged},
		{"newer", func(r remote.Row) string { return strings.Replace(r.Data, `"reader":1`, `"reader":2`, 1) }, store.ErrNewer},
	} {
		d := newDatabase()
		_, s := client(d, &now)
		storetest.Write(t, s, g.Settings(), docs...)
		for key, r := range d.rows {
			if c.want == store.ErrNewer == (r.Kind == "head") {
				r.Data = c.damage(r)
				d.rows[key] = r
			}
		}
		r, err := s.Open(t.Context())
		if err == nil {
			_, err = r.Fetch(t.Context(), []store.Ref{0}, true)
		}
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), "memory") {
			t.Errorf("%s: %v", c.name, err)
		}
		if r == nil {
			continue
		}
		if report, err := store.Verify(t.Context(), r); err != nil || len(report.Faults) != 1 {
			t.Errorf("%s: verified: %+v, %v", c.name, report, err)
		}
	}
}

func TestParseURL(t *testing.T) {
	for raw, want := range map[string]string{
		"chroma://tok-secret@host/c":               "chroma://host/c host:8000 false [c]",
		"chromas://u:pw-secret@[::1]:9/t/d/c?ef=5": "chromas://[::1]:9/t/d/c?ef=5 [::1]:9 true [t d c]",
		"chroma://host/c?tls=true":                 "chroma://host/c?tls=true host:8000 true [c]",
		"chromas://host/c?tls=&ef=&exact=&m=":      "chromas://host/c?ef=&exact=&m=&tls= host:8000 true [c]",
		"chroma:///secret":                         "error",
		"chroma://host/secret?eff=1":               "error",
		"chroma://host/c#secret":                   "error",
		"chroma://%zz-secret@host/c":               "error",
		"http://secret/":                           "error",
	} {
		a, err := remote.ParseURL(raw, "chroma", "8000")
		got := fmt.Sprintf("%s %s %v %s", a.Name(), a.Host, a.TLS, a.Path)
		if err != nil {
			got = "error"
		}
		if got != want || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %s, %v", raw, got, err)
		}
	}
}
