package pgvector

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"kb/pkg/store"
)

// Error is what went wrong with a database, and what to do next.
type Error struct {
	msg, hint string
	err       error
}

func (e *Error) Error() string { return e.msg }
func (e *Error) Unwrap() error { return e.err }

// Hint is the likely next step; "" where none is known.
func (e *Error) Hint() string { return e.hint }

// explain makes an error of this store of one of the driver: with the store's
// name, what was done, and never with the password. Cancellation stays what it
// is.
func (s *Store) explain(ctx context.Context, doing string, err error) error {
	var own *Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %s: %w", s.name, doing, ctx.Err())
	case errors.As(err, &own), errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrNewer), errors.Is(err, store.ErrLocked):
		return err
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		reason, hint := s.answered(pg)
		return &Error{fmt.Sprintf("%s: %s: %s", s.name, doing, s.redact(reason)), hint, err}
	}
	var stalled *stalledError
	if errors.As(err, &stalled) {
		return &Error{fmt.Sprintf("%s: %s: %v", s.name, doing, stalled), "is the server overloaded, or its disk? read_timeout=10m in the URL waits longer", err}
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		reason, hint := s.unreachable(connect)
		return &Error{fmt.Sprintf("%s: cannot connect: %s", s.name, s.redact(reason)), hint, err}
	}
	return &Error{fmt.Sprintf("%s: %s: the connection was lost: %s", s.name, doing, s.redact(err.Error())), "is the server running? If so, run the command again", err}
}

// answered explains what a server said.
func (s *Store) answered(pg *pgconn.PgError) (reason, hint string) {
	reason = pg.Message
	switch pg.Code {
	case "28P01", "28000":
		hint = "check user and password of the URL, and pg_hba.conf of the server"
	case "3D000":
		hint = fmt.Sprintf("create it: createdb %s", s.config.Database)
	case "42501":
		hint = fmt.Sprintf("the user %s may not do this; an owner can give the right: GRANT ALL ON SCHEMA %s TO %s, and on its tables, or for a new index GRANT CREATE ON DATABASE %s TO %s",
			s.config.User, s.schema, ident(s.config.User), ident(s.config.Database), ident(s.config.User))
	case "0A000", "58P01":
		if strings.Contains(reason, "vector") {
			hint = "install pgvector on the server: https://github.com/pgvector/pgvector"
		}
	case "25006":
		hint = "this server only reads, as a replica does: write to the primary"
	case "53100":
		hint = "the disk of the server is full; nothing was written"
	case "53200", "53000":
		hint = "the server ran out of memory; nothing was written"
	case "53300":
		hint = "the server has no connection left: raise max_connections, or use a pooler"
	case "57014":
		hint = "a time limit of the server (statement_timeout, lock_timeout) ended it"
	case "57P01", "57P02", "57P03":
		hint = "the server is starting or stopping; run the command again"
	}
	if pg.Detail != "" && pg.Code != "28P01" {
		reason += " (" + pg.Detail + ")"
	}
	return reason, hint
}

// unreachable explains why there is no connection.
func (s *Store) unreachable(err *pgconn.ConnectError) (reason, hint string) {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return s.answered(pg)
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Sprintf("no answer within %v", s.config.ConnectTimeout), "is the host right, and does no firewall stand between? connect_timeout=30 in the URL waits longer"
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error(), "is the server running, and are host and port of the URL right?"
	}
	lines := strings.Split(strings.TrimSpace(errors.Unwrap(err).Error()), "\n")
	return strings.TrimSpace(lines[len(lines)-1]), ""
}

// redact takes the password out of a text, should anybody have put it there.
func (s *Store) redact(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if s.config.Password != "" {
		text = strings.ReplaceAll(text, s.config.Password, "********")
	}
	return text
}
