package pgvector

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"kb/pkg/record"
	"kb/pkg/store"
)

// tx is one change: a transaction of the database from Begin to Commit. Chunks
// and vectors are copied into their tables in batches as they come, invisible
// to others; documents, words and the new version follow with the commit.
type tx struct {
	store *Store
	conn  *pgconn.PgConn
	old   *reader // nil if there was no index
	next  version // the version that is being made
	reset bool
	done  bool

	puts    map[string]*put
	removed map[string]bool
	dropped []put // put, and then replaced or removed within this change
	store.Lists
	chunks  copier          // batches on their way
	vectors copier          //
	made    map[string]bool // tables of this generation that exist
	dim     int             // of the vectors that were put; 0 for none yet
}

// put is a document that was put.
type put struct {
	id  int64
	doc store.Document
}

// batch is how many bytes of rows are sent at a time.
const batch = 4 << 20

var errDone = errors.New("the change is over already")

// Begin begins a transaction that holds an advisory lock, so that the lock ends
// with the connection, whatever becomes of the writer.
func (s *Store) Begin(ctx context.Context, wait bool) (store.Tx, error) {
	conn, err := s.writer(ctx)
	if err != nil {
		return nil, s.explain(ctx, "beginning a change", err)
	}
	t := &tx{store: s, conn: conn, puts: map[string]*put{}, removed: map[string]bool{}, made: map[string]bool{}}
	if err := t.begin(ctx, wait); err != nil {
		t.Rollback()
		return nil, s.explain(ctx, "beginning a change", err)
	}
	return t, nil
}

// writer returns a connection with an open transaction.
func (s *Store) writer(ctx context.Context) (*pgconn.PgConn, error) {
	for {
		conn, used, err := s.pool.acquire(ctx)
		if err != nil {
			return nil, err
		}
		if err = s.openTransaction(ctx, conn); err == nil {
			return conn, nil
		}
		broken := conn.IsClosed()
		s.pool.release(conn)
		if !used || !broken || ctx.Err() != nil || !lost(err) {
			return nil, err
		}
		s.pool.close()
	}
}

func (s *Store) openTransaction(ctx context.Context, conn *pgconn.PgConn) error {
	if err := s.checkServer(conn); err != nil {
		return err
	}
	if err := s.extension(ctx, conn); err != nil {
		return err
	}
	// Limits of the server are meant for short statements; waiting for a model
	// in the middle of a change, and building a graph, take long.
	_, err := conn.Exec(ctx, `BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = 0`).ReadAll()
	return err
}

func (t *tx) begin(ctx context.Context, wait bool) error {
	if err := t.lock(ctx, wait); err != nil {
		return err
	}
	if err := t.store.migrate(ctx, t.conn); err != nil {
		return err
	}
	out, err := send(ctx, t.conn, stmt(t.store.versionQuery(), t.store.schema))
	if err != nil {
		return err
	}
	if len(out[0]) == 0 {
		t.next.generation = 1
		return nil
	}
	v, err := t.store.parseVersion(out[0][0])
	if err != nil {
		return t.store.damagedOr(err)
	}
	t.old = &reader{store: t.store, v: v, shared: t.store.share(v.generation)}
	t.next = *v
	t.next.generation++
	if v.info.Vectors == 0 {
		t.next.vectorsTable = 0
	}
	return nil
}

// lockClass marks the advisory locks of kb.
const lockClass = 0x6b62

// lock takes the lock of this schema's writers: a pair of a constant and a hash
// of the name.
func (t *tx) lock(ctx context.Context, wait bool) error {
	if wait {
		_, err := send(ctx, t.conn, stmt(`SELECT pg_advisory_xact_lock($1::int, hashtext($2))`, itoa(lockClass), t.store.schema))
		return err
	}
	out, err := send(ctx, t.conn, stmt(`SELECT pg_try_advisory_xact_lock($1::int, hashtext($2))`, itoa(lockClass), t.store.schema))
	if err == nil && out[0][0][0][0] == 0 {
		return fmt.Errorf("%s: %w", t.store.name, store.ErrLocked)
	}
	return err
}

// Reader is the version that the change starts from.
func (t *tx) Reader() store.Reader {
	if t.old == nil {
		return nil
	}
	return t.old
}

// Reset drops everything: the new documents go into new tables, and the old
// ones are dropped when nobody reads them any more.
func (t *tx) Reset() {
	t.reset = true
	t.next.chunksTable, t.next.vectorsTable, t.next.postingsTable = 0, 0, 0
	t.next.first = t.next.next
	clear(t.puts)
	clear(t.removed)
	t.dropped, t.dim = nil, 0
	t.chunks.buf, t.vectors.buf = nil, nil
	t.Skipped, t.Roots = new([]record.Skipped), new([]record.Root)
}

// Put adds or replaces a document, see [store.Prepare].
func (t *tx) Put(ctx context.Context, doc store.Document, chunks []*record.Chunk) error {
	if t.done {
		return errDone
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	dim := t.dim
	if dim == 0 && t.next.vectorsTable != 0 {
		dim = t.next.info.Dim
	}
	ready, dim, err := store.Prepare(&doc, chunks, dim)
	if err != nil {
		return err
	}
	p := put{id: t.next.next, doc: doc}
	before := len(t.chunks.buf)
	if err := t.rows(p.id, ready); err != nil {
		t.chunks.buf = t.chunks.buf[:before]
		return fmt.Errorf("%s: %w", doc.Path, err)
	}
	if doc.Vectors > 0 {
		t.dim = dim
	}
	t.next.next += max(1, int64(len(ready)))
	t.drop(doc.Path)
	t.puts[doc.Path] = &p
	if len(t.chunks.buf)+len(t.vectors.buf) < batch {
		return nil
	}
	return t.store.explain(ctx, "writing chunks", t.flush(ctx))
}

// rows adds the rows of a document's chunks to the batches.
func (t *tx) rows(id int64, chunks []*record.Chunk) error {
	for i, c := range chunks {
		t.chunks.row(2)
		t.chunks.int64(id + int64(i))
		if err := t.chunks.field(func(dst []byte) ([]byte, error) { return store.AppendLine(dst, c) }); err != nil {
			return fmt.Errorf("chunk %d: %w", c.Seq, err)
		}
	}
	for i, c := range chunks {
		if len(c.Vector) == 0 {
			continue
		}
		t.vectors.row(3)
		t.vectors.int64(id + int64(i))
		t.vectors.int64(id)
		t.vectors.field(func(dst []byte) ([]byte, error) { return appendVector(dst, c.Vector), nil })
	}
	return nil
}

// drop forgets what was put at a path before.
func (t *tx) drop(path string) {
	if p := t.puts[path]; p != nil {
		t.dropped = append(t.dropped, *p)
		delete(t.puts, path)
	}
}

// flush sends the batches.
func (t *tx) flush(ctx context.Context) error {
	if err := t.table(ctx, "chunks", &t.next.chunksTable, `number bigint PRIMARY KEY, record text NOT NULL`); err != nil {
		return err
	}
	if err := t.chunks.flush(ctx, t.conn, t.store.numbered("chunks", t.next.chunksTable)); err != nil {
		return err
	}
	if len(t.vectors.buf) == 0 {
		return nil
	}
	columns := `number bigint PRIMARY KEY, doc bigint NOT NULL, vector vector(` + itoa(t.dim) + `) NOT NULL`
	if err := t.table(ctx, "vectors", &t.next.vectorsTable, columns); err != nil {
		return err
	}
	return t.vectors.flush(ctx, t.conn, t.store.numbered("vectors", t.next.vectorsTable))
}

// table makes the table of a kind, unless the version has one.
func (t *tx) table(ctx context.Context, kind string, generation *int64, columns string) error {
	if *generation != 0 {
		return nil
	}
	*generation = t.next.generation
	name := t.store.numbered(kind, *generation)
	sql := `CREATE TABLE ` + name + ` (` + columns + `)`
	if t.made[kind] { // before a reset
		sql = `DROP TABLE ` + name + `; ` + sql
	}
	t.made[kind] = true
	_, err := t.conn.Exec(ctx, sql).ReadAll()
	return err
}

// Remove drops the document at a path.
func (t *tx) Remove(_ context.Context, path string) error {
	if t.done {
		return errDone
	}
	t.drop(path)
	if storable(path) {
		t.removed[path] = true
	}
	return nil
}

// Rollback ends the transaction, and with it the lock.
func (t *tx) Rollback() {
	if t.done {
		return
	}
	t.done = true
	if !t.conn.IsClosed() {
		ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
		defer cancel()
		_, _ = send(ctx, t.conn, stmt(`ROLLBACK`)) // a connection that fails is closed, and the server rolls back
	}
	t.store.pool.release(t.conn)
}
