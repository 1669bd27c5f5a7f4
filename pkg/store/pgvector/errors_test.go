package pgvector_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"kb/pkg/store"
	"kb/pkg/store/pgvector"
	"kb/pkg/store/pgvector/pgtest"
	"kb/pkg/store/storetest"
)

// TestURLs: what cannot be right is refused before anything is sent, and no
// message has the password.
func TestURLs(t *testing.T) {
	for _, c := range []struct{ url, name, err string }{
		{"postgres://u:secret@h:5433/db?sslmode=disable", "postgres://u@h:5433/db", ""},
		{"postgresql://u:secret@h/db?schema=Team%20A&ef_search=40&exact=1", "postgres://u@h/db?schema=Team+A", ""},
		{"postgres://u@h/db?password=secret", "postgres://u@h/db", ""},
		{"postgres://u:secret@h/db?ef_search=0", "", "ef_search=0"},
		{"postgres://u:secret@h/db?ef_search=many", "", "from 1 to 1000"},
		{"postgres://u:secret@h/db?exact=perhaps", "", "exact=perhaps"},
		{"postgres://u:secret@h/db?keep=-1h", "", "keep=-1h"},
		{"postgres://u:secret@h/db?schema=", "", "schema"},
		{"postgres://u:secret@h/db?read_timeout=0", "", "read_timeout=0"},
		{"postgres://u:secret@h:port/db", "", "URL"},
		{"postgres://u:secret@h/db?sslmode=whatever", "", "sslmode"},
		{"postgres://u:sec%ret@h/db", "", "%XX"},
	} {
		s, err := pgvector.New(c.url)
		switch {
		case c.err == "" && (err != nil || s.Name() != c.name):
			t.Errorf("%s: %v, %v", c.url, s, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "secret")):
			t.Errorf("%s: %v", c.url, err)
		}
	}
}

// TestUnreachable: a server that is not there, and one that never answers.
func TestUnreachable(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	for url, want := range map[string]string{
		"postgres://u:secret@" + gone.Addr().String() + "/db":                           "connection refused",
		"postgres://u:secret@" + silent.Addr().String() + "/db?connect_timeout=1":       "no answer within 1s",
		"postgres://u:secret@no-such-host.invalid/db?connect_timeout=5&sslmode=disable": "no-such-host.invalid",
	} {
		s := open(t, url)
		_, openErr := s.Open(t.Context())
		_, beginErr := s.Begin(t.Context(), true)
		for _, err := range []error{openErr, beginErr, s.CheckWritable()} {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") || errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: %v, want %s", url, err, want)
			}
		}
	}
}

// TestStalled: a server that takes a statement and never answers.
func TestStalled(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			conn.Read(make([]byte, 1024))                           // the startup message
			conn.Write([]byte("R\x00\x00\x00\x08\x00\x00\x00\x00" + // authenticated
				"Z\x00\x00\x00\x05I")) // ready
		}
	}()
	s := open(t, "postgres://u:secret@"+l.Addr().String()+"/db?sslmode=disable&read_timeout=50ms")
	_, err = s.Open(t.Context())
	var hint interface{ Hint() string }
	if err == nil || !strings.Contains(err.Error(), "no answer within 50ms") || !errors.As(err, &hint) || !strings.Contains(hint.Hint(), "read_timeout=") {
		t.Error(err)
	}
}

// TestServerErrors: each thing that a server may not have or allow is named,
// with what to do.
func TestServerErrors(t *testing.T) {
	url := pgtest.URL(t)
	g := storetest.NewGenerator(32, 4)
	docs := g.Docs(3)
	storetest.Write(t, open(t, url), g.Settings(), docs...)
	schema := strings.SplitAfter(url, "schema=")[1]
	pgtest.Exec(t, `DROP ROLE IF EXISTS kb_reader_`+schema+`; CREATE ROLE kb_reader_`+schema+` LOGIN PASSWORD 'hidden-word';
		GRANT USAGE ON SCHEMA `+schema+` TO kb_reader_`+schema+`; GRANT SELECT ON ALL TABLES IN SCHEMA `+schema+` TO kb_reader_`+schema)
	t.Cleanup(func() {
		pgtest.Exec(t, `DROP SCHEMA IF EXISTS `+schema+` CASCADE; DROP OWNED BY kb_reader_`+schema+`; DROP ROLE kb_reader_`+schema)
	})
	as := func(user, password string) string {
		return strings.Replace(url, "kb:not-to-be-shown@", user+":"+password+"@", 1)
	}
	reader := as("kb_reader_"+schema, "hidden-word")

	t.Run("who may only read reads", func(t *testing.T) {
		storetest.Check(t, open(t, reader), g, storetest.NewReference(docs...))
	})
	for name, c := range map[string]struct {
		url  string
		want []string
	}{
		"wrong password":  {as("kb", "hidden-word"), []string{"password authentication failed", "hint"}},
		"no database":     {strings.Replace(url, "/postgres?", "/no_such_database?", 1), []string{`"no_such_database" does not exist`, "createdb"}},
		"no right":        {reader, []string{"permission denied", "GRANT"}},
		"no right at all": {pgtest.With(t, reader, "schema", "another_schema"), []string{"permission denied", "GRANT"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, c.url)
			tx, err := s.Begin(t.Context(), true)
			if err == nil {
				defer tx.Rollback()
				tx.Put(t.Context(), docs[0].Document, docs[0].Chunks)
				_, err = tx.Commit(t.Context(), g.Settings())
			}
			for _, err := range []error{err, s.CheckWritable()} {
				wantError(t, err, c.want...)
			}
		})
	}
	t.Run("newer tables", func(t *testing.T) {
		pgtest.Exec(t, `INSERT INTO `+schema+`.migrations VALUES (99, 99)`)
		s := open(t, url)
		for range 2 { // as they are, and with other columns
			if _, err := s.Open(t.Context()); !errors.Is(err, store.ErrNewer) {
				t.Errorf("open: %v", err)
			}
			if _, err := s.Begin(t.Context(), true); !errors.Is(err, store.ErrNewer) {
				t.Errorf("begin: %v", err)
			}
			pgtest.Exec(t, `ALTER TABLE `+schema+`.versions DROP COLUMN IF EXISTS layout, DROP COLUMN IF EXISTS tokens`)
		}
	})
}

func wantError(t *testing.T, err error, wants ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	text := err.Error()
	if h, ok := err.(interface{ Hint() string }); ok {
		text += "\nhint: " + h.Hint()
	}
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nwant %q", text, want)
		}
	}
	if strings.Contains(text, "hidden-word") || strings.Contains(text, "not-to-be-shown") {
		t.Errorf("the password is in %q", text)
	}
}

// TestOldVersions: a version that was replaced stays readable for as long as
// the URL says, and then says that it is gone.
func TestOldVersions(t *testing.T) {
	url := pgtest.URL(t)
	g := storetest.NewGenerator(33, 4)
	docs := g.Docs(8)
	s := open(t, pgtest.With(t, url, "keep", "0s"))
	storetest.Write(t, s, g.Settings(), docs[:4]...)
	r := storetest.Open(t, s)
	storetest.Write(t, s, g.Settings(), docs[4:]...)
	if _, err := r.Lexical(t.Context(), []string{"w1"}, 3, store.Filter{}); err == nil || !strings.Contains(err.Error(), "open the index again") && !strings.Contains(err.Error(), "is gone") {
		t.Errorf("%v", err)
	}
	// What was replaced, and the tables before a reset, are gone, too.
	tx, err := s.Begin(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	tx.Reset()
	if err := tx.Put(t.Context(), docs[0].Document, docs[0].Chunks); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context(), g.Settings()); err != nil {
		t.Fatal(err)
	}
	schema := strings.SplitAfter(url, "schema=")[1]
	for sql, want := range map[string]string{
		`SELECT count(*) FROM ` + schema + `.documents`:                                                       "1",
		`SELECT count(*) FROM ` + schema + `.versions`:                                                        "1",
		`SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = '` + schema + `'::regnamespace`: "6",
	} {
		if got := pgtest.Exec(t, sql)[0][0]; got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}

// TestStalePostings: postings of documents that are gone are made anew before
// they are most of all, and rows of frequent words are joined.
func TestStalePostings(t *testing.T) {
	url := pgtest.URL(t)
	s := open(t, pgtest.With(t, url, "keep", "0s"))
	g := storetest.NewGenerator(34, 0)
	g.Chunks = 20
	docs := g.Docs(40)
	for range 12 {
		for i := range docs {
			docs[i] = g.Doc(docs[i].Path)
		}
		storetest.Write(t, s, g.Settings(), docs...)
	}
	storetest.Check(t, s, g, storetest.NewReference(docs...))
	schema := strings.SplitAfter(url, "schema=")[1]
	table := pgtest.Exec(t, `SELECT 'postings_' || postings_table FROM `+schema+`.versions`)[0][0]
	if table == "postings_1" {
		t.Error("postings were never made anew")
	}
	if n := pgtest.Exec(t, `SELECT max(n) FROM (SELECT count(*) AS n FROM `+schema+`.`+table+` GROUP BY term)`)[0][0]; n != "1" && n != "2" {
		t.Errorf("%s rows of one word", n)
	}
}

// TestServerRestart: reading goes on when the server was started anew.
func TestServerRestart(t *testing.T) {
	server := pgtest.Start(t)
	s := open(t, server.URL)
	g := storetest.NewGenerator(35, 4)
	docs := g.Docs(5)
	storetest.Write(t, s, g.Settings(), docs...)
	r := storetest.Open(t, s)
	server.Kill()
	server.Again()
	if _, err := r.Nearest(t.Context(), g.Query(), 3, store.Filter{}); err != nil {
		t.Error(err)
	}
	storetest.Write(t, s, g.Settings(), docs[0])
	server.Kill()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := r.Nearest(ctx, g.Query(), 3, store.Filter{}); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("%v", err)
	}
	server.Again()
}
