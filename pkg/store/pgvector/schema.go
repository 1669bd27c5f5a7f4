package pgvector

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"kb/pkg/store"
)

// Version ladder of the tables. Each step leads from the one before; a reader
// accepts tables whose field reader is not above its own version.
//
//	1  migrations, versions, documents; chunks_N, vectors_N, postings_N
var ladder = []struct {
	reader int // the oldest version whose readers understand the tables
	sql    string
}{
	{1, `
CREATE TABLE %[1]s.versions (
	generation bigint PRIMARY KEY,
	committed timestamptz NOT NULL DEFAULT clock_timestamp(),
	version text NOT NULL,
	settings text NOT NULL,
	documents bigint NOT NULL,
	chunks bigint NOT NULL,
	vectors bigint NOT NULL,
	tokens bigint NOT NULL,
	posted bigint NOT NULL,
	next_number bigint NOT NULL,
	first_number bigint NOT NULL,
	chunks_table bigint NOT NULL,
	vectors_table bigint NOT NULL,
	postings_table bigint NOT NULL,
	layout bytea NOT NULL,
	skipped text NOT NULL,
	roots text NOT NULL
);
CREATE TABLE %[1]s.documents (
	id bigint PRIMARY KEY,
	path text COLLATE "C" NOT NULL,
	born bigint NOT NULL,
	dead bigint NOT NULL DEFAULT 9223372036854775807,
	tokens bigint NOT NULL,
	chunks bigint NOT NULL,
	record text NOT NULL
);
CREATE UNIQUE INDEX ON %[1]s.documents (path) WHERE dead = 9223372036854775807;
CREATE INDEX ON %[1]s.documents (path, born);
CREATE INDEX ON %[1]s.documents (dead);
CREATE INDEX ON %[1]s.documents (born);`},
}

// alive is the generation in which a document that is part of the index dies.
const alive = "9223372036854775807"

// oldestExtension is the first pgvector whose HNSW scans go on where a filter
// lets too little through (hnsw.iterative_scan), and oldestServer the first
// server that it knows.
const (
	oldestExtension = "0.8"
	oldestServer    = 13
)

// ident quotes an identifier.
func ident(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// table is a table of the schema, quoted.
func (s *Store) table(name string) string { return s.schema + "." + ident(name) }

// numbered is one of the tables that a generation made.
func (s *Store) numbered(kind string, generation int64) string {
	return s.table(fmt.Sprintf("%s_%d", kind, generation))
}

// missing says whether a server answered that there is no such schema or
// table.
func missing(pg *pgconn.PgError) bool { return pg.Code == "42P01" || pg.Code == "3F000" }

// checkServer refuses servers that cannot keep an index.
func (s *Store) checkServer(conn *pgconn.PgConn) error {
	version := conn.ParameterStatus("server_version")
	major := 0
	if _, err := fmt.Sscanf(version, "%d", &major); err == nil && major < oldestServer {
		return &Error{msg: fmt.Sprintf("%s: PostgreSQL %s is too old", s.name, version), hint: fmt.Sprintf("it takes version %d or newer", oldestServer)}
	}
	if encoding := conn.ParameterStatus("server_encoding"); encoding != "" && encoding != "UTF8" {
		return &Error{msg: fmt.Sprintf("%s: the database has the encoding %s, which cannot hold all texts", s.name, encoding),
			hint: "make one for it: createdb --encoding=UTF8 --template=template0 NAME"}
	}
	return nil
}

// extension makes sure that the database has pgvector, new enough. A writer
// does so before its transaction begins, so that others need not wait for its
// end.
func (s *Store) extension(ctx context.Context, conn *pgconn.PgConn) error {
	out, err := send(ctx, conn,
		stmt(`SELECT extversion FROM pg_extension WHERE extname = 'vector'`),
		stmt(`SELECT default_version FROM pg_available_extensions WHERE name = 'vector'`))
	if err != nil {
		return err
	}
	installed, available := first(out[0]), first(out[1])
	switch {
	case installed == "" && available == "":
		return &Error{msg: s.name + ": the server has no extension vector (pgvector)", hint: "install it: https://github.com/pgvector/pgvector"}
	case installed == "" && older(available, oldestExtension):
		return &Error{msg: fmt.Sprintf("%s: the server has pgvector %s, which is too old", s.name, available), hint: "install pgvector " + oldestExtension + " or newer"}
	case installed != "" && older(installed, oldestExtension):
		return &Error{msg: fmt.Sprintf("%s: the database has pgvector %s, which is too old", s.name, installed),
			hint: "install " + oldestExtension + " or newer, then: ALTER EXTENSION vector UPDATE"}
	case installed == "":
		// Two at once would get in each other's way.
		if _, err := send(ctx, conn, stmt(`SELECT pg_advisory_xact_lock($1::int, 0)`, itoa(lockClass)), stmt(`CREATE EXTENSION IF NOT EXISTS vector`)); err != nil {
			return &Error{msg: fmt.Sprintf("%s: the extension vector cannot be created: %s", s.name, s.redact(err.Error())),
				hint: "as a superuser: CREATE EXTENSION vector", err: err}
		}
	}
	return nil
}

func first(r rows) string {
	if len(r) == 0 {
		return ""
	}
	return string(r[0][0])
}

// older compares versions like 0.8 and 0.10.1.
func older(a, b string) bool {
	var x, y [3]int
	fmt.Sscanf(a+".0.0", "%d.%d.%d", &x[0], &x[1], &x[2])
	fmt.Sscanf(b+".0.0", "%d.%d.%d", &y[0], &y[1], &y[2])
	for i := range x {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return false
}

// migrate brings the tables to the newest version, within the transaction of a
// writer, who holds the lock.
func (s *Store) migrate(ctx context.Context, conn *pgconn.PgConn) error {
	exists, err := s.has(ctx, conn, "migrations")
	if err != nil {
		return err
	}
	version := 0
	if exists {
		if version, err = s.formatOf(ctx, conn); err != nil {
			return err
		}
	} else if err := s.makeSchema(ctx, conn); err != nil {
		return err
	}
	for ; version < len(ladder); version++ {
		step := ladder[version]
		if _, err := conn.Exec(ctx, fmt.Sprintf(step.sql, s.schema)).ReadAll(); err != nil {
			return err
		}
		if _, err := send(ctx, conn, stmt(`INSERT INTO `+s.table("migrations")+` (version, reader) VALUES ($1::int, $2::int)`,
			itoa(version+1), itoa(step.reader))); err != nil {
			return err
		}
	}
	return nil
}

// has says whether the schema has a table. It asks the catalogs: to_regclass may
// answer from a cache, as it was before this writer waited for another.
func (s *Store) has(ctx context.Context, conn *pgconn.PgConn, table string) (bool, error) {
	out, err := send(ctx, conn, stmt(`SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2`, s.opt.schema, table))
	return err == nil && len(out[0]) > 0, err
}

func (s *Store) makeSchema(ctx context.Context, conn *pgconn.PgConn) error {
	out, err := send(ctx, conn, stmt(`SELECT 1 FROM pg_namespace WHERE nspname = $1`, s.opt.schema))
	if err != nil {
		return err
	}
	if len(out[0]) == 0 {
		if _, err := send(ctx, conn, stmt(`CREATE SCHEMA `+s.schema)); err != nil {
			return err
		}
	}
	_, err = send(ctx, conn, stmt(`CREATE TABLE `+s.table("migrations")+` (
		version int PRIMARY KEY, reader int NOT NULL, applied timestamptz NOT NULL DEFAULT now())`))
	return err
}

// formatOf returns the version of the tables; tables of which this reader
// understands nothing are an [store.ErrNewer].
func (s *Store) formatOf(ctx context.Context, conn *pgconn.PgConn) (int, error) {
	out, err := send(ctx, conn, stmt(`SELECT max(version), max(reader) FROM `+s.table("migrations")))
	if err != nil {
		return 0, err
	}
	version, reader := int32At(out[0][0][0]), int32At(out[0][0][1])
	return version, s.readable(reader)
}

func (s *Store) readable(reader int) error {
	if reader > len(ladder) {
		return fmt.Errorf("%s: %w: its tables need a reader of version %d, this one reads up to %d", s.name, store.ErrNewer, reader, len(ladder))
	}
	return nil
}

// int32At is a column of type int; 0 for NULL.
func int32At(column []byte) int {
	if len(column) != 4 {
		return 0
	}
	return int(int32(binary.BigEndian.Uint32(column)))
}

// int64At is a column of type bigint; 0 for NULL.
func int64At(column []byte) int64 {
	if len(column) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(column))
}
