package embed

import (
	"context"
	"fmt"
	"io"
	"strings"

	"kb/pkg/model"
	"kb/pkg/record"
)

// maxWaiting is how many bytes of lines may wait behind a chunk whose batch is
// not full: what is no chunk can be as large as a whole document.
const maxWaiting = 16 << 20

// stage is one run. All of it belongs to the goroutine of the caller; requests
// run in goroutines of their own and touch their batch only, until its done is
// closed.
type stage struct {
	o      Options
	yield  func(record.Record, error) bool
	info   model.Info
	caller *caller

	queue   []item // records that have not left, in order
	waiting int    // bytes of the lines among them
	open    map[model.Purpose]*batch
	cache   cache
	left    int // records that have left
}

// item is a record that waits to leave.
type item struct {
	rec  record.Record
	slot *slot // its vector; nil if nothing is to be done
}

func newStage(ctx context.Context, o Options, yield func(record.Record, error) bool) *stage {
	if o.Concurrency <= 0 {
		o.Concurrency = DefaultConcurrency
	}
	if o.Stats == nil {
		o.Stats = new(Stats)
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	info := o.Embedder.Info()
	return &stage{o: o, yield: yield, info: info, caller: newCaller(ctx, o), open: map[model.Purpose]*batch{}, cache: newCache(info)}
}

func (s *stage) close() {
	s.caller.close()
	if c, ok := s.o.Reuse.(io.Closer); ok {
		c.Close()
	}
}

// batchSize is asked for each time: an embedder learns what its server takes.
func (s *stage) batchSize() int {
	n := max(s.o.Embedder.Batch(), 1)
	if s.o.Batch > 0 {
		n = min(n, s.o.Batch)
	}
	return n
}

// add puts a record at the end of the queue.
func (s *stage) add(r record.Record) {
	it := item{rec: r}
	switch r := r.(type) {
	case *record.Chunk:
		s.o.Stats.Chunks++
		if r.QueryPrefix != s.info.QueryPrefix || r.DocumentPrefix != s.info.DocumentPrefix || !s.keeps(r.Vector, r.Model, r.BaseURL) {
			it.slot = s.chunkSlot(r)
		}
	case *record.Query:
		s.o.Stats.Queries++
		if r.QueryPrefix != s.info.QueryPrefix || r.DocumentPrefix != s.info.DocumentPrefix || !s.keeps(r.Vector, r.Model, r.BaseURL) {
			it.slot = s.slotFor(model.Query, r, strings.ReplaceAll(r.Text, "\x00", ""))
		}
	case *record.Raw:
		s.waiting += len(r.Line)
	}
	s.queue = append(s.queue, it)
}

// keeps says whether a record has a vector of this model already.
func (s *stage) keeps(v record.Vector, name, baseURL string) bool {
	if len(v) == 0 || name != s.info.Model || baseURL != s.info.BaseURL || v.Check() != nil {
		return false
	}
	s.o.Stats.Kept++
	return true
}

func (s *stage) chunkSlot(c *record.Chunk) *slot {
	if strings.TrimSpace(strings.ReplaceAll(c.Text, "\x00", "")) == "" {
		return &slot{err: ErrNoText}
	}
	text := document(c)
	if v := s.reused(text); v != nil {
		s.o.Stats.Reused++
		return &slot{vector: v, reused: true}
	}
	return s.slotFor(model.Document, c, text)
}

// reused is the vector that the index has for a text, or nil. An index that
// cannot be read costs requests, not the run.
func (s *stage) reused(text string) record.Vector {
	if s.o.Reuse == nil {
		return nil
	}
	v, ok, err := s.o.Reuse.Vector(s.caller.ctx, text)
	if err != nil && s.caller.ctx.Err() == nil {
		s.o.Warn(fmt.Sprintf("vectors of the index cannot be reused: %v", err))
		s.o.Reuse = nil
	}
	if err != nil || !ok || v.Check() != nil {
		return nil
	}
	return v
}

// slotFor finds the slot of an equal text, or makes one in the open batch.
func (s *stage) slotFor(purpose model.Purpose, r record.Record, text string) *slot {
	if strings.TrimSpace(text) == "" {
		return &slot{err: ErrNoText}
	}
	key := keyOf(purpose, text)
	if known := s.cache.get(key); known != nil {
		s.o.Stats.Shared++
		return known
	}
	b := s.open[purpose]
	if b == nil {
		b = newBatch(purpose, r)
		s.open[purpose] = b
	}
	made := b.add(text)
	s.cache.put(key, made)
	if len(b.slots) >= s.batchSize() {
		s.launch(b)
	}
	return made
}

func (s *stage) launch(b *batch) {
	delete(s.open, b.purpose)
	s.o.Stats.Requests++
	s.o.Stats.Requested += len(b.slots)
	s.caller.launch(b)
}

// drain lets records leave from the head of the queue: those that are ready,
// and if all is set or too many wait, the others too as their batches finish.
// It returns false when the sequence has ended.
func (s *stage) drain(all bool) bool {
	if all {
		for _, p := range []model.Purpose{model.Document, model.Query} {
			if b := s.open[p]; b != nil {
				s.launch(b)
			}
		}
	}
	for len(s.queue) > 0 {
		head := s.queue[0]
		if b := head.batch(); b != nil && !b.finished() {
			if !all && !s.full() {
				return true
			}
			if s.open[b.purpose] == b {
				s.launch(b)
			}
			<-b.done
		}
		if !s.leave(head) {
			return false
		}
	}
	return true
}

func (it item) batch() *batch {
	if it.slot == nil {
		return nil
	}
	return it.slot.batch
}

func (s *stage) full() bool {
	return s.waiting > maxWaiting || len(s.queue) >= 2*s.o.Concurrency*max(s.batchSize(), 16)
}

func (s *stage) leave(head item) bool {
	s.queue[0] = item{}
	s.queue = s.queue[1:]
	if raw, ok := head.rec.(*record.Raw); ok {
		s.waiting -= len(raw.Line)
	}
	if b := head.batch(); b != nil && b.err != nil {
		s.yield(nil, &AskError{Texts: len(b.slots), First: place(b.first), Err: b.err})
		return false
	}
	if head.slot != nil {
		head.rec = s.finish(head.rec, head.slot)
	}
	s.left++
	s.o.Progress(s.left, s.caller.answered())
	return s.yield(head.rec, nil)
}

// finish is the record with its vector, or with the reason why it has none.
func (s *stage) finish(r record.Record, got *slot) record.Record {
	if got.err != nil {
		s.o.Stats.Failed++
		s.o.Warn(fmt.Sprintf("%s: no vector: %v", place(r), got.err))
	}
	switch r := r.(type) {
	case *record.Chunk:
		c := *r
		c.Vector, c.Model, c.BaseURL, c.Dim, c.Error = got.vector, s.info.Model, s.info.BaseURL, len(got.vector), ""
		c.QueryPrefix, c.DocumentPrefix, c.Reused = s.info.QueryPrefix, s.info.DocumentPrefix, got.reused
		if got.err != nil {
			c.Model, c.BaseURL, c.QueryPrefix, c.DocumentPrefix, c.Error = "", "", "", "", got.err.Error()
		}
		return &c
	case *record.Query:
		q := *r
		q.Vector, q.Model, q.BaseURL = got.vector, s.info.Model, s.info.BaseURL
		q.QueryPrefix, q.DocumentPrefix = s.info.QueryPrefix, s.info.DocumentPrefix
		if got.err != nil {
			q.Model, q.BaseURL, q.QueryPrefix, q.DocumentPrefix = "", "", "", ""
		}
		return &q
	}
	return r
}

// document is the text that is embedded for a chunk. NUL ends a string in
// some servers.
func document(c *record.Chunk) string { return strings.ReplaceAll(c.FullText(), "\x00", "") }

// place is where a person finds the record.
func place(r record.Record) string {
	switch r := r.(type) {
	case *record.Chunk:
		switch {
		case r.Page > 0:
			return fmt.Sprintf("%s p.%d", r.Path, r.Page)
		case r.Line > 0:
			return fmt.Sprintf("%s:%d", r.Path, r.Line)
		}
		return r.Path
	case *record.Query:
		return fmt.Sprintf("query %.60q", r.Text)
	}
	return r.Kind()
}
