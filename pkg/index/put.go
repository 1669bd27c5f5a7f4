package index

import (
	"cmp"
	"context"
	"errors"

	"kb/pkg/store"
	"kb/pkg/text"
)

// spill puts the documents that wait once they are many. Where the index has
// vectors and none has come yet, it is not known whether they compare, and the
// documents wait; without vectors they are small.
func (c *collector) spill(ctx context.Context) error {
	if c.tx == nil && c.held <= c.maxHeld || !c.vectors && c.known.info.Dim > 0 {
		return nil
	}
	return c.put(ctx)
}

// put hands the documents that wait to the transaction, and begins it with the
// first. It leaves out those that will not be part of the index.
func (c *collector) put(ctx context.Context) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	for _, d := range c.waiting {
		path := d.meta.Path
		if c.docs[path] == d && !c.refuses(d, c.known) && !c.dropSame(d) { // another writer may have put it while this one waited
			if !c.reset && (c.otherAnalyzer(c.known) || c.vectors && c.otherVectors(c.known)) {
				c.tx.Reset()
				c.reset = true
			}
			if err := c.tx.Put(ctx, d.meta, d.chunks); err != nil {
				return err
			}
			c.written = append(c.written, path)
		}
		d.chunks = nil
	}
	c.waiting, c.held = nil, 0
	return nil
}

// begin locks the store, unless that is done, and looks at what it has now.
func (c *collector) begin(ctx context.Context) error {
	if c.tx != nil {
		return nil
	}
	var err error
	c.tx, err = c.opt.Store.Begin(ctx, false)
	if errors.Is(err, store.ErrLocked) && !c.opt.NoWait {
		c.opt.Warn("waiting for another build of " + c.opt.Store.Name())
		c.tx, err = c.opt.Store.Begin(ctx, true)
	}
	if err != nil {
		return err
	}
	c.known, err = readState(ctx, c.tx.Reader())
	return err
}

// close gives up what was not committed.
func (c *collector) close() {
	if c.tx != nil {
		c.tx.Rollback()
	}
}

// refuses says whether a complete document lacks the vectors that the index has.
func (c *collector) refuses(d *document, st *state) bool { return st.info.Dim > 0 && d.bare > 0 }

// otherVectors says whether vectors of the stream and of the index do not
// compare; there must be some in the stream.
func (c *collector) otherVectors(st *state) bool {
	return st.info.Dim > 0 && !sameFingerprint(c.settings, st.info.Settings)
}

// analyzer is the one that the index will have.
func (c *collector) analyzer(st *state) string {
	exported := ""
	if c.export != nil {
		exported = c.export.Analyzer
	}
	return cmp.Or(c.opt.Analyzer, st.info.Analyzer, exported, text.DefaultAnalyzer)
}

func (c *collector) otherAnalyzer(st *state) bool {
	return st.exists && st.info.Analyzer != c.analyzer(st)
}
