package mcp

import (
	"context"
	"io"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio serves one client, a message a line, until in ends. Nothing else is
// written to out.
func (s *Server) Stdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	srv := s.server(true)
	go s.tellChanges(ctx, srv)
	c := newConn(ctx, in, out)
	return srv.Run(ctx, &sdk.IOTransport{Reader: (*requests)(c), Writer: (*replies)(c)})
}

// changesEvery is how often the index is looked at for a newer version.
const changesEvery = 2 * time.Second

// tellChanges tells the client when the index has a newer version.
func (s *Server) tellChanges(ctx context.Context, srv *sdk.Server) {
	tick := time.NewTicker(changesEvery)
	defer tick.Stop()
	for last := s.stamp(ctx); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now := s.stamp(ctx); now != last {
			last = now
			s.addDocuments(srv)
		}
	}
}

// stamp names the version of the index; "" where there is none.
func (s *Server) stamp(ctx context.Context) string {
	l, err := s.o.Index.Acquire(ctx)
	if err != nil {
		return ""
	}
	defer l.Release()
	return l.Stamp()
}
