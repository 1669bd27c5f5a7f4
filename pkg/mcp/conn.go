package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// conn stands between a client's lines and the SDK, which ends the session at a
// line that is no message, and leaves requests unanswered when the input ends:
// here the first is answered with an error, and the second waits.
type conn struct {
	ctx context.Context
	in  *bufio.Reader
	out io.Writer

	line []byte // what is left of a message

	mu      sync.Mutex
	pending map[jsonrpc.ID]bool // requests without a reply
	settled chan struct{}       // closed when there is none, after the end of the input
	ended   bool
}

func newConn(ctx context.Context, in io.Reader, out io.Writer) *conn {
	return &conn{ctx: ctx, in: bufio.NewReader(in), out: out, pending: map[jsonrpc.ID]bool{}, settled: make(chan struct{})}
}

// requests is the side that the SDK reads.
type requests conn

func (r *requests) Read(p []byte) (int, error) {
	c := (*conn)(r)
	for len(c.line) == 0 {
		line, err := readLine(c.in)
		if err != nil {
			c.settle()
			return 0, err
		}
		m, fault := parse(line)
		if fault != nil {
			if err := c.refuse(fault); err != nil {
				return 0, err
			}
			continue
		}
		c.expect(m)
		c.line = line
	}
	n := copy(p, c.line)
	c.line = c.line[n:]
	return n, nil
}

// Close is for the SDK; the input belongs to the caller.
func (r *requests) Close() error { return nil }

// replies is the side that the SDK writes: a message at a time.
type replies conn

func (r *replies) Write(p []byte) (int, error) {
	c := (*conn)(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.out.Write(p)
	if m, bad := jsonrpc.DecodeMessage(p); bad == nil {
		if reply, ok := m.(*jsonrpc.Response); ok {
			c.done(reply.ID)
		}
	}
	return n, err
}

// Close is for the SDK; the output belongs to the caller.
func (r *replies) Close() error { return nil }

// expect notes what has to be answered. A request that the client has given up
// is not.
func (c *conn) expect(m jsonrpc.Message) {
	req, ok := m.(*jsonrpc.Request)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if req.IsCall() {
		c.pending[req.ID] = true
	}
	if req.Method == "notifications/cancelled" {
		var params struct {
			RequestID any `json:"requestId"`
		}
		if json.Unmarshal(req.Params, &params) == nil {
			if id, err := jsonrpc.MakeID(params.RequestID); err == nil {
				c.done(id)
			}
		}
	}
}

// done notes a reply. The caller holds the lock.
func (c *conn) done(id jsonrpc.ID) {
	delete(c.pending, id)
	if c.ended && len(c.pending) == 0 {
		c.ended = false
		close(c.settled)
	}
}

// settle waits, at the end of the input, until all is answered.
func (c *conn) settle() {
	c.mu.Lock()
	c.ended = len(c.pending) > 0
	wait := c.ended
	c.mu.Unlock()
	if !wait {
		return
	}
	select {
	case <-c.settled:
	case <-c.ctx.Done():
	}
}

// maxLine is how long a message may be, in bytes.
const maxLine = 16 << 20

// readLine returns the next line that is not blank, with a line end. Of one
// that is too long, the beginning is returned, which is no message.
func readLine(r *bufio.Reader) ([]byte, error) {
	for {
		var line []byte
		for more := true; more; {
			part, err := r.ReadSlice('\n')
			if len(line) <= maxLine {
				line = append(line, part...)
			}
			more = errors.Is(err, bufio.ErrBufferFull)
			if err != nil && !more && len(line) == 0 {
				return nil, err
			}
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return append(line, '\n'), nil
		}
	}
}

// parse reads a line as a message, or says why it is none.
func parse(line []byte) (jsonrpc.Message, *jsonrpc.Error) {
	fault := func(code int64, why string) (jsonrpc.Message, *jsonrpc.Error) {
		return nil, &jsonrpc.Error{Code: code, Message: why}
	}
	switch {
	case len(line) > maxLine:
		return fault(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes", maxLine))
	case !json.Valid(line):
		return fault(jsonrpc.CodeParseError, "the line is not JSON; a message is one line")
	case line[0] == '[':
		return fault(jsonrpc.CodeInvalidRequest, "batches are not supported; send one message a line")
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return fault(jsonrpc.CodeInvalidRequest, "not a JSON-RPC message: "+err.Error())
	}
	return m, nil
}

// refuse answers a line that is no message; its id is not known.
func (c *conn) refuse(fault *jsonrpc.Error) error {
	line, err := json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      any            `json:"id"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", nil, fault})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.out.Write(append(line, '\n'))
	return err
}
