package pgvector_test

import (
	"crypto/rand"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strings"
	"testing"

	"kb/pkg/store"
	"kb/pkg/store/pgvector/pgtest"
	"kb/pkg/store/storetest"
)

// TestLackingDatabases: what a database must have is named, with what to do.
func TestLackingDatabases(t *testing.T) {
	server := pgtest.URL(t)
	for _, c := range []struct {
		name, create, prepare string
		options               string // of the connection
		want                  []string
	}{
		{"no pgvector", "", "", "-c extension_control_path=/nowhere", []string{"no extension vector (pgvector)", "install it"}},
		{"an old pgvector", "", "CREATE EXTENSION vector; UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'", "",
			[]string{"pgvector 0.7.4, which is too old", "ALTER EXTENSION vector UPDATE"}},
		{"another encoding", " ENCODING 'LATIN1' TEMPLATE template0", "", "", []string{"the encoding LATIN1", "createdb --encoding=UTF8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := "kb_lacking_" + strings.ToLower(rand.Text()[:8])
			pgtest.Exec(t, "CREATE DATABASE "+base+c.create)
			t.Cleanup(func() { pgtest.Exec(t, "DROP DATABASE "+base+" WITH (FORCE)") })
			url := strings.Replace(server, "/postgres?", "/"+base+"?", 1)
			if c.prepare != "" {
				pgtest.ExecAt(t, url, c.prepare)
			}
			if c.options != "" {
				url = pgtest.With(t, url, "options", c.options)
			}
			s := open(t, url)
			_, err := s.Begin(t.Context(), true)
			for _, err := range []error{err, s.CheckWritable()} {
				wantError(t, err, append(c.want, "127.0.0.1")...)
			}
		})
	}
}

// TestFullDisk: a change that the disk of the server has no room for is not
// made, and the next one that fits is.
func TestFullDisk(t *testing.T) {
	url := pgtest.URL(t)
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("skipped: only root on Linux can make a small disk")
	}
	disk, err := os.MkdirTemp("", "kb-small-disk-") // where the user of the server may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(disk) })
	nobody, err := user.Lookup("nobody") // whom root has run the server
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=12m,uid="+nobody.Uid, "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("skipped: no small disk can be mounted: %s", out)
	}
	t.Cleanup(func() { exec.Command("umount", disk).Run() })
	space := "kb_small_" + strings.ToLower(rand.Text()[:8])
	pgtest.Exec(t, "CREATE TABLESPACE "+space+" LOCATION '"+disk+"'")
	t.Cleanup(func() {
		schema := strings.SplitAfter(url, "schema=")[1]
		pgtest.Exec(t, "SET client_min_messages = warning; DROP SCHEMA IF EXISTS "+schema+" CASCADE")
		pgtest.Exec(t, "DROP TABLESPACE "+space)
	})

	s := open(t, pgtest.With(t, url, "options", "-c default_tablespace="+space))
	g := storetest.NewGenerator(36, 512)
	old := g.Docs(20)
	storetest.Write(t, s, g.Settings(), old...)
	tx, err := s.Begin(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for _, d := range g.Docs(3000) { // 20 MB of vectors
		if err = tx.Put(t.Context(), d.Document, d.Chunks); err != nil {
			break
		}
	}
	if err == nil {
		_, err = tx.Commit(t.Context(), g.Settings())
	}
	wantError(t, err, "No space left on device", "127.0.0.1", "the disk of the server is full")
	tx.Rollback()
	ref := storetest.NewReference(old...)
	storetest.Check(t, s, g, ref)
	pgtest.Exec(t, "VACUUM") // gives back what the change had taken
	changed := append(old[:19:19], g.Doc(old[19].Path))
	storetest.Write(t, s, g.Settings(), changed[19])
	storetest.Check(t, s, g, storetest.NewReference(changed...))
	if _, err := store.Verify(t.Context(), storetest.Open(t, s)); err != nil {
		t.Error(err)
	}
}
