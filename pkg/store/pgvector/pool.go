package pgvector

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// maxConnections is how many connections a store has at most. A statement
// holds one only while it runs, so that more of them wait for each other; a
// change holds one until its end.
const maxConnections = 16

// pool keeps connections between statements.
type pool struct {
	config *pgconn.Config
	limit  time.Duration // of the statements of one run
	slots  chan struct{}
	mu     sync.Mutex
	idle   []*pgconn.PgConn
}

func newPool(config *pgconn.Config, limit time.Duration) *pool {
	return &pool{config: config, limit: limit, slots: make(chan struct{}, maxConnections)}
}

// acquire returns a connection that is idle, or a new one. used says that it
// served before, so that its server may have gone meanwhile.
func (p *pool) acquire(ctx context.Context) (conn *pgconn.PgConn, used bool, err error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		conn, p.idle = p.idle[n-1], p.idle[:n-1]
	}
	p.mu.Unlock()
	if conn != nil {
		return conn, true, nil
	}
	if conn, err = pgconn.ConnectConfig(ctx, p.config); err != nil {
		<-p.slots
	}
	return conn, false, err
}

// release gives a connection back; one that is in the middle of something is
// closed.
func (p *pool) release(conn *pgconn.PgConn) {
	if conn.IsClosed() || conn.TxStatus() != 'I' {
		closeNow(conn)
	} else {
		p.mu.Lock()
		p.idle = append(p.idle, conn)
		p.mu.Unlock()
	}
	<-p.slots
}

// close closes what is idle.
func (p *pool) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, conn := range idle {
		closeNow(conn)
	}
}

// closeNow closes a connection without waiting for a server that does not
// answer; what it was doing is cancelled by the server.
func closeNow(conn *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	conn.Close(ctx)
}

// statement is SQL with parameters, which go as text: strings, and what
// [intArray] and [textArray] make.
type statement struct {
	sql    string
	params []string
}

func stmt(sql string, params ...string) statement { return statement{sql, params} }

// rows are the rows of a result, their columns in binary form.
type rows [][][]byte

// run sends statements in one go, as one implicit transaction, and returns the
// rows of each. It reads only, so it tries once more where a connection that
// was idle is broken: the server may have been started anew. A server that
// takes them and does not go on, as one does whose disk hangs, gets as long as
// the limit says: an [*stalledError].
func (p *pool) run(parent context.Context, statements ...statement) ([]rows, error) {
	ctx, cancel := context.WithTimeout(parent, p.limit)
	defer cancel()
	for {
		conn, used, err := p.acquire(ctx)
		if err != nil {
			return nil, err
		}
		out, err := send(ctx, conn, statements...)
		broken := conn.IsClosed()
		p.release(conn)
		if err != nil && used && broken && ctx.Err() == nil && lost(err) {
			p.close() // the others are as old
			continue
		}
		if err != nil && ctx.Err() != nil && parent.Err() == nil {
			return nil, &stalledError{p.limit}
		}
		return out, err
	}
}

// stalledError is a server that did not answer in time.
type stalledError struct{ limit time.Duration }

func (e *stalledError) Error() string { return fmt.Sprintf("no answer within %v", e.limit) }

// send runs statements on a connection.
func send(ctx context.Context, conn *pgconn.PgConn, statements ...statement) ([]rows, error) {
	batch := &pgconn.Batch{}
	for _, s := range statements {
		params := make([][]byte, len(s.params))
		for i, v := range s.params {
			params[i] = []byte(v)
		}
		batch.ExecParams(s.sql, params, nil, nil, []int16{1})
	}
	results, err := conn.ExecBatch(ctx, batch).ReadAll()
	if err != nil {
		return nil, err
	}
	out := make([]rows, len(results))
	for i, r := range results {
		if r.Err != nil {
			return nil, r.Err
		}
		out[i] = r.Rows
	}
	return out, nil
}

// lost says whether an error is that of a connection, rather than what a
// server answered; a server that shuts down says so.
func lost(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "57P01" || pg.Code == "57P02" || pg.Code == "57P03" || strings.HasPrefix(pg.Code, "08")
	}
	return true
}

func itoa[T ~int | ~int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// intArray is an array of PostgreSQL as text.
func intArray[T ~int | ~int64](list []T) string {
	out := make([]byte, 0, 2+8*len(list))
	out = append(out, '{')
	for i, n := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, int64(n), 10)
	}
	return string(append(out, '}'))
}

// textArray is an array of PostgreSQL as text; no element may have a zero byte.
func textArray(list []string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, s := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		b.WriteString(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s))
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return b.String()
}
