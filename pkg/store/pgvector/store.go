package pgvector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"kb/pkg/store"
)

// Store is an index in a schema of a PostgreSQL database.
type Store struct {
	name   string
	schema string // quoted
	opt    options
	config *pgconn.Config
	pool   *pool

	mu   sync.Mutex
	last *shared // of the version that was opened last
}

// New returns the store at a URL, see the package comment; it does not connect.
func New(url string) (*Store, error) {
	name, config, opt, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	return &Store{name: name, schema: ident(opt.schema), opt: opt, config: config, pool: newPool(config, opt.readTimeout)}, nil
}

// Name is the URL without its password.
func (s *Store) Name() string { return s.name }

// Close closes the connections that are idle.
func (s *Store) Close() error {
	s.pool.close()
	return nil
}

// versionQuery is one row of the table of versions, with what else
// [Store.Open] wants to know.
func (s *Store) versionQuery() string {
	return `SELECT v.generation, v.version, v.settings, v.documents, v.chunks, v.vectors, v.tokens, v.posted, v.next_number,
	v.first_number, v.chunks_table, v.vectors_table, v.postings_table,
	(SELECT max(reader) FROM ` + s.table("migrations") + `), (SELECT max(version) FROM ` + s.table("migrations") + `),
	(SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'r'),
	(SELECT count(*) FROM pg_class c WHERE c.relnamespace = to_regnamespace($1) AND c.relname = 'vectors_' || v.vectors_table || '_hnsw')
FROM ` + s.table("versions") + ` v ORDER BY v.generation DESC LIMIT 1`
}

// version is a row of the table of versions.
type version struct {
	generation     int64
	info           store.Info
	tokens         int64 // of all chunks
	posted         int64 // chunks whose terms were ever added to the table of postings
	next           int64 // number of the next chunk
	first          int64 // number of the first chunk that the tables may have
	chunksTable    int64 // the generations that made the tables; 0 for none
	vectorsTable   int64
	postingsTable  int64
	approximatable bool // the vectors have an HNSW graph
}

func (s *Store) parseVersion(row [][]byte) (*version, error) {
	if err := s.readable(int32At(row[13])); err != nil {
		return nil, err
	}
	v := &version{
		generation: int64At(row[0]), tokens: int64At(row[6]), posted: int64At(row[7]), next: int64At(row[8]), first: int64At(row[9]),
		chunksTable: int64At(row[10]), vectorsTable: int64At(row[11]), postingsTable: int64At(row[12]),
		approximatable: int64At(row[16]) > 0,
	}
	v.info = store.Info{
		Format: int32At(row[14]), Version: string(row[1]),
		Documents: int(int64At(row[3])), Chunks: int(int64At(row[4])), Vectors: int(int64At(row[5])), Size: int64At(row[15]),
	}
	if err := json.Unmarshal(row[2], &v.info.Settings); err != nil {
		return nil, fmt.Errorf("the settings of the index: %w", err)
	}
	return v, nil
}

// Open returns the newest version. It holds no connection, and no snapshot of
// the database: see the package comment.
func (s *Store) Open(ctx context.Context) (store.Reader, error) {
	out, err := s.pool.run(ctx, stmt(s.versionQuery(), s.schema))
	if err != nil {
		return nil, s.openError(ctx, err)
	}
	if len(out[0]) == 0 {
		return nil, fmt.Errorf("%s: %w", s.name, store.ErrNotFound)
	}
	v, err := s.parseVersion(out[0][0])
	if err != nil {
		return nil, s.damagedOr(err)
	}
	return &reader{store: s, v: v, shared: s.share(v.generation)}, nil
}

func (s *Store) damagedOr(err error) error {
	if errors.Is(err, store.ErrNewer) {
		return err
	}
	return &store.DamagedError{Name: s.name, Offset: -1, Err: err}
}

// openError tells an index that does not exist, or is of a newer format, from
// other errors.
func (s *Store) openError(ctx context.Context, err error) error {
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg) && missing(pg):
		return fmt.Errorf("%s: %w", s.name, store.ErrNotFound)
	case errors.As(err, &pg) && pg.Code == "42703": // a column that is gone: are the tables newer?
		if out, again := s.pool.run(ctx, stmt(`SELECT max(reader) FROM `+s.table("migrations"))); again == nil {
			if newer := s.readable(int32At(out[0][0][0])); newer != nil {
				return newer
			}
		}
	}
	return s.explain(ctx, "opening the index", err)
}

// Stamp changes whenever the index changes, see [store.Stamper].
func (s *Store) Stamp(ctx context.Context) (string, error) {
	out, err := s.pool.run(ctx, stmt(`SELECT generation, version FROM `+s.table("versions")+` ORDER BY generation DESC LIMIT 1`))
	if err != nil {
		err = s.openError(ctx, err)
	}
	if errors.Is(err, store.ErrNotFound) || err == nil && len(out[0]) == 0 {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %s", int64At(out[0][0][0]), out[0][0][1]), nil
}

// CheckWritable says why the index could not be written: rights, the extension,
// a server that only reads.
func (s *Store) CheckWritable() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*connectTimeout)
	defer cancel()
	conn, _, err := s.pool.acquire(ctx)
	if err != nil {
		return s.explain(context.Background(), "looking at the database", err)
	}
	defer s.pool.release(conn)
	return s.explain(context.Background(), "looking at the database", s.checkWritable(ctx, conn))
}

func (s *Store) checkWritable(ctx context.Context, conn *pgconn.PgConn) error {
	if err := s.checkServer(conn); err != nil {
		return err
	}
	out, err := send(ctx, conn, stmt(`SELECT pg_is_in_recovery()`))
	if err != nil {
		return err
	}
	exists, err := s.has(ctx, conn, "versions")
	if err != nil {
		return err
	}
	if out[0][0][0][0] == 1 {
		return &Error{msg: s.name + ": this server only reads, as a replica", hint: "write to the primary"}
	}
	// What a change does first, and then take it back.
	if _, err := send(ctx, conn, stmt(`BEGIN`), stmt(`SET LOCAL lock_timeout = '2s'`)); err != nil {
		return err
	}
	defer send(context.WithoutCancel(ctx), conn, stmt(`ROLLBACK`))
	if exists {
		_, err = send(ctx, conn, stmt(`DELETE FROM `+s.table("versions")+` WHERE generation < 0`), stmt(`CREATE TABLE `+s.table("may_write")+` ()`))
	} else if err = s.extension(ctx, conn); err == nil {
		err = s.migrate(ctx, conn)
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) && slices.Contains([]string{"55P03", "23505", "42P06", "42P07", "40P01"}, pg.Code) {
		return nil // another writer locks it, or made it just now: so it can be done
	}
	return err
}

// shared is what readers of one version keep in memory together.
type shared struct {
	generation int64
	layout     lazy[*layout]
	documents  lazy[[]store.Document]
}

// share returns what the readers of a version share.
func (s *Store) share(generation int64) *shared {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil || s.last.generation != generation {
		s.last = &shared{generation: generation}
	}
	return s.last
}

// lazy is a value that is loaded when it is first asked for, and again after
// an error.
type lazy[T any] struct {
	mu    sync.Mutex
	done  bool
	value T
}

func (l *lazy[T]) get(load func() (T, error)) (T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return l.value, nil
	}
	value, err := load()
	if err == nil {
		l.value, l.done = value, true
	}
	return value, err
}
