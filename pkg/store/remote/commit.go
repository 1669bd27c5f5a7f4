package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kb/pkg/store"
	"kb/pkg/text"
)

// Commit makes the change visible: all of it, by one row.
func (t *tx) Commit(ctx context.Context, s store.Settings) (store.Info, error) {
	if t.done {
		return store.Info{}, errDone
	}
	info, err := t.commit(ctx, s)
	if err != nil {
		return store.Info{}, fmt.Errorf("writing %s: %w", t.Name(), err)
	}
	return info, nil
}

func (t *tx) commit(ctx context.Context, s store.Settings) (store.Info, error) {
	was := store.Info{}
	if t.old != nil && !t.reset {
		was = t.old.Info()
	}
	if err := store.CheckSettings(was, s); err != nil {
		return store.Info{}, err
	}
	analyzer, err := text.NewAnalyzer(s.Analyzer)
	if err != nil {
		return store.Info{}, err
	}
	c := &change{tx: t, garbage: &garbage{Table: t.table}}
	if err := c.plan(ctx, s); err != nil {
		return store.Info{}, err
	}
	if c.unchanged() {
		t.Rollback()
		return t.old.Info(), nil
	}
	if err := c.writeSegments(ctx, analyzer); err != nil {
		return store.Info{}, err
	}
	if err := c.writeRest(ctx); err != nil {
		return store.Info{}, err
	}
	if err := c.publish(ctx); err != nil {
		return store.Info{}, err
	}
	return c.m.info(), nil
}

// change is a change that is being committed.
type change struct {
	*tx
	m       *manifest
	docs    []*entry        // of the new generation, by path
	live    map[*entry]bool // those
	parts   []*part
	garbage *garbage
}

// part is a segment of the new generation.
type part struct {
	ref  segmentRef
	docs []*entry
	seg  *segment // nil if it is new
}

// garbage is what a generation no longer needs.
type garbage struct {
	Rows    []string `json:"rows,omitempty"`
	Table   string   `json:"table,omitempty"` // that the vectors are in
	Vectors []string `json:"vectors,omitempty"`
	Drop    []string `json:"drop,omitempty"` // tables
}

// plan decides what the new generation has.
func (c *change) plan(ctx context.Context, s store.Settings) error {
	c.m = &manifest{Format: formatVersion, Reader: oldestReader, Generation: 1, Group: c.group, Settings: s, Table: c.table}
	old, err := c.oldDirectory(ctx)
	if err != nil {
		return err
	}
	dead := slices.Clone(c.spent)
	if old != nil {
		c.m.Generation = c.old.m.Generation + 1
		for _, e := range old.docs {
			if c.reset || c.removed[e.Path] {
				dead = append(dead, e)
			} else {
				c.docs = append(c.docs, e)
			}
		}
		if !c.reset {
			for _, seg := range old.segs {
				c.parts = append(c.parts, &part{ref: seg.ref, docs: seg.docs, seg: seg})
			}
		} else {
			for _, seg := range old.segs {
				c.garbage.segment(seg)
			}
		}
	}
	for _, e := range c.tx.docs {
		c.docs = append(c.docs, e)
	}
	slices.SortFunc(c.docs, func(a, b *entry) int { return strings.Compare(a.Path, b.Path) })
	c.count()
	if c.m.Vectors > 0 && s.Dim == 0 || c.dim > 0 && s.Dim != c.dim {
		return fmt.Errorf("the settings say %d dimensions, the vectors have %d", s.Dim, c.dim)
	}
	c.bury(dead)
	return nil
}

func (c *change) oldDirectory(ctx context.Context) (*directory, error) {
	if c.old == nil {
		return nil, ctx.Err()
	}
	return c.old.directory(ctx)
}

// count fills in the sums of the manifest.
func (c *change) count() {
	c.live = make(map[*entry]bool, len(c.docs))
	for _, e := range c.docs {
		c.live[e] = true
		c.m.Documents++
		c.m.Chunks += e.Chunks
		c.m.Vectors += e.Vectors
		c.m.Bytes += int64(e.Bytes)
	}
	c.m.Version = store.Version(c.m.Settings, func(yield func(*store.Document) bool) {
		for _, e := range c.docs {
			if !yield(&e.Document) {
				return
			}
		}
	})
}

// bury makes garbage of documents, with their vectors unless the whole table
// of those goes.
func (c *change) bury(dead []*entry) {
	kept := c.old == nil || c.old.m.Table == c.table
	for _, e := range dead {
		for b := range e.blocks() {
			c.garbage.Rows = b.keys(c.garbage.Rows)
		}
		for i := range e.Chunks {
			if e.hasVector(i) && (kept || strings.HasPrefix(e.Row, c.group)) {
				c.garbage.Vectors = append(c.garbage.Vectors, e.vectorKey(i))
			}
		}
	}
	if !kept && c.old.m.Table != "" {
		c.garbage.Drop = append(c.garbage.Drop, c.old.m.Table)
	}
}

// segment makes garbage of a segment, but not of its documents.
func (g *garbage) segment(s *segment) {
	g.Rows = s.ref.Dead.keys(s.ref.Blob.keys(g.Rows))
	for i := range s.head.Rows {
		g.Rows = s.postingsBlob(i).keys(g.Rows)
	}
}

// unchanged says whether the generation would be as the one before. A document
// that was put counts as changed: that its chunks are the same does not prove
// that its vectors are.
func (c *change) unchanged() bool {
	return c.old != nil && !c.reset && len(c.tx.docs) == 0 && c.Skipped == nil && c.Roots == nil &&
		c.m.Version == c.old.m.Version
}

// writeSegments writes the last segment, and merges segments if there are many.
func (c *change) writeSegments(ctx context.Context, analyzer text.Analyzer) error {
	if err := c.closeSegment(); err != nil {
		return err
	}
	c.parts = append(c.parts, c.tx.parts...)
	if analyzer.Name() != c.analyzer.Name() {
		if err := c.invertAgain(ctx, analyzer); err != nil {
			return err
		}
	}
	c.m.Analyzer = c.analyzer.Name()
	if err := c.discard(ctx, c.dropped); err != nil {
		return err
	}
	if err := c.merge(ctx); err != nil {
		return err
	}
	for _, p := range c.parts {
		if err := c.markDead(p); err != nil {
			return err
		}
		c.m.Segments = append(c.m.Segments, p.ref)
		c.m.Bytes += int64(p.ref.Bytes)
	}
	for _, e := range c.docs {
		for _, n := range e.Lens {
			c.m.Tokens += int64(n)
		}
	}
	return nil
}

// invertAgain makes all segments anew, by another analyzer.
func (c *change) invertAgain(ctx context.Context, analyzer text.Analyzer) error {
	if err := c.discard(ctx, c.parts); err != nil {
		return err
	}
	c.parts, c.tx.parts, c.analyzer = nil, nil, analyzer
	r := &reader{Store: c.Store, m: c.m}
	for docs := range slices.Chunk(c.docs, readAhead) {
		chunks, err := r.readLines(ctx, docs, nil)
		if err != nil {
			return err
		}
		for i, e := range docs {
			again := *e // the old generation has it, too
			delete(c.live, e)
			c.live[&again] = true
			c.invert(c.seg, &again, chunks[i])
		}
		if c.seg.bytes >= maxSegment {
			if err := c.closeSegment(); err != nil {
				return err
			}
		}
		if err := c.flush(ctx); err != nil {
			return err
		}
	}
	if err := c.closeSegment(); err != nil {
		return err
	}
	c.parts, c.docs = c.tx.parts, nil
	for _, p := range c.parts {
		c.docs = append(c.docs, p.docs...)
	}
	return nil
}

// discard makes garbage of segments.
func (c *change) discard(ctx context.Context, parts []*part) error {
	if err := c.load(ctx, parts); err != nil {
		return err
	}
	for _, p := range parts {
		c.garbage.segment(p.seg)
	}
	return nil
}

// load reads the segments of parts that were written in this change.
func (c *change) load(ctx context.Context, parts []*part) error {
	if err := c.flush(ctx); err != nil {
		return err
	}
	for _, p := range parts {
		if p.seg != nil {
			continue
		}
		segs, err := c.segments(ctx, []segmentRef{p.ref})
		if err != nil {
			return err
		}
		p.seg = segs[0]
	}
	return nil
}

// merge merges the smallest segments while there are too many of them, with
// all that are not much larger than those together, and any of which most is
// gone.
func (c *change) merge(ctx context.Context) error {
	slices.SortStableFunc(c.parts, func(a, b *part) int { return c.living(b) - c.living(a) })
	var kept, small, merged []*part
	for _, p := range c.parts {
		switch n := c.living(p); {
		case 2*n < p.ref.Chunks+len(p.docs):
			merged = append(merged, p)
		case n > maxMergeChunks:
			kept = append(kept, p)
		default:
			small = append(small, p)
		}
	}
	if len(small) > maxSegments {
		from, sum := len(small), 0
		for from > 0 && (len(small)-from < 2 || c.living(small[from-1]) <= 2*sum) {
			from--
			sum += c.living(small[from])
		}
		small, merged = small[:from], append(merged, small[from:]...)
	}
	c.parts = append(kept, small...)
	if len(merged) == 0 {
		return nil
	}
	p, err := c.mergeParts(ctx, merged)
	if p != nil {
		c.parts = append(c.parts, p)
	}
	return err
}

// living is how many documents and chunks of a part live.
func (c *change) living(p *part) (n int) {
	for _, e := range p.docs {
		if c.live[e] {
			n += e.Chunks + 1
		}
	}
	return n
}

// mergeParts writes what lives of some segments as one; nil if nothing does.
func (c *change) mergeParts(ctx context.Context, parts []*part) (*part, error) {
	if err := c.discard(ctx, parts); err != nil {
		return nil, err
	}
	b := newBuilder()
	for _, p := range parts {
		if err := c.mergeInto(ctx, b, p); err != nil {
			return nil, err
		}
	}
	if len(b.docs) == 0 {
		return nil, nil
	}
	return c.writeSegment(b)
}

// mergeInto adds what lives of a segment to another.
func (c *change) mergeInto(ctx context.Context, b *builder, p *part) error {
	number := make([]int, 0, p.ref.Chunks) // of each chunk in b, -1 if it is gone
	for _, e := range p.docs {
		live := c.live[e]
		for i := range e.Chunks {
			if live {
				number = append(number, b.chunks+i)
			} else {
				number = append(number, -1)
			}
		}
		if live {
			b.add(e)
		}
	}
	for from := 0; from < len(p.seg.head.Rows); from += getAtOnce {
		var rows []blob
		for i := from; i < min(from+getAtOnce, len(p.seg.head.Rows)); i++ {
			rows = append(rows, p.seg.postingsBlob(i))
		}
		contents, err := c.blobs(ctx, rows)
		if err != nil {
			return err
		}
		for i, content := range contents {
			for term, list := range terms(content) {
				if err := postings(list, len(number), func(chunk, tf int) {
					if number[chunk] >= 0 {
						b.post(term, number[chunk], tf)
					}
				}); err != nil {
					return c.damaged(fmt.Errorf("row %s: %w", rows[i].Key, err))
				}
			}
		}
	}
	return nil
}

// markDead writes which documents of a segment are gone, if that has changed.
func (c *change) markDead(p *part) error {
	bits := make([]byte, (len(p.docs)+7)/8)
	some := false
	for i, e := range p.docs {
		if !c.live[e] {
			bits[i/8] |= 1 << (i % 8)
			some = true
		}
	}
	if !some || p.seg != nil && string(bits) == string(p.seg.dead) {
		return nil
	}
	c.garbage.Rows = p.ref.Dead.keys(c.garbage.Rows)
	p.ref.Dead = c.pack("d", bits)
	return nil
}

// pack holds a content back as rows of this change.
func (t *tx) pack(kind string, content []byte) blob {
	b, rows := pack(t.key(kind), t.group, content)
	t.out.add(rows)
	return b
}

// writeRest writes the lists and the garbage, and all that is held back.
func (c *change) writeRest(ctx context.Context) error {
	if err := c.writeLists(ctx); err != nil {
		return err
	}
	if c.created != "" && c.table == "" { // a Reset came after it
		c.garbage.Drop = append(c.garbage.Drop, c.created)
	}
	if err := c.sweep(ctx); err != nil {
		return err
	}
	if len(c.garbage.Rows)+len(c.garbage.Vectors)+len(c.garbage.Drop) > 0 {
		list, err := json.Marshal(c.garbage)
		if err != nil {
			return err
		}
		c.m.Swept = append(c.m.Swept, sweep{At: c.now().Unix(), Rows: c.pack("g", list)})
	}
	return c.flush(ctx)
}

func (c *change) writeLists(ctx context.Context) error {
	l := &lists{}
	if c.old != nil {
		if c.Skipped == nil && c.Roots == nil {
			c.m.Lists = c.old.m.Lists
			return nil
		}
		var err error
		if l, err = c.old.lists(ctx); err != nil {
			return err
		}
		c.garbage.Rows = c.old.m.Lists.keys(c.garbage.Rows)
	}
	if c.Skipped != nil {
		l.Skipped = *c.Skipped
	}
	if c.Roots != nil {
		l.Roots = *c.Roots
	}
	content, err := json.Marshal(l)
	if err != nil {
		return err
	}
	c.m.Lists = c.pack("l", content)
	return nil
}

// sweep deletes what earlier changes replaced long enough ago.
func (c *change) sweep(ctx context.Context) error {
	if c.old == nil {
		return nil
	}
	for _, old := range c.old.m.Swept {
		if c.now().Sub(time.Unix(old.At, 0)) < Grace {
			c.m.Swept = append(c.m.Swept, old)
			continue
		}
		if err := c.sweepOne(ctx, old); err != nil {
			return err
		}
		c.garbage.Rows = old.Rows.keys(c.garbage.Rows)
	}
	return nil
}

func (c *change) sweepOne(ctx context.Context, old sweep) error {
	contents, err := c.blobs(ctx, []blob{old.Rows})
	if err != nil {
		return err
	}
	var g garbage
	if err := json.Unmarshal(contents[0], &g); err != nil {
		return c.damaged(fmt.Errorf("row %s: %w", old.Rows.Key, err))
	}
	for keys := range slices.Chunk(g.Rows, maxBatchRows) {
		if err := c.engine.Delete(ctx, keys); err != nil {
			return err
		}
	}
	if g.Table == c.old.m.Table { // else it was dropped with all in it
		for keys := range slices.Chunk(g.Vectors, maxBatchRows) {
			if err := c.engine.DeleteVectors(ctx, g.Table, keys); err != nil {
				return err
			}
		}
	}
	for _, table := range g.Drop {
		if err := c.engine.DropTable(ctx, table); err != nil {
			return err
		}
	}
	return nil
}

// publish writes the manifest: first beside the note of the change, then, once
// nobody else can give the change up, as the head.
func (c *change) publish(ctx context.Context) error {
	c.m.Mark = c.engine.Mark()
	head, err := c.m.row()
	if err != nil {
		return err
	}
	if err := c.engine.Put(ctx, []Row{{Key: changeKey(c.group), Kind: kindChange, Group: c.group, Data: head.Data}}); err != nil {
		return err
	}
	c.wrote = true
	if err := c.stillNewest(ctx); err != nil {
		return err
	}
	holder, err := c.engine.Claim(ctx, commitName(c.group), c.group)
	if err != nil {
		if holder = c.settle(); holder == "" {
			c.wrote = false // the next writer finds out, and finishes or deletes
			return fmt.Errorf("it is not known whether the change was made: %w", err)
		}
	}
	if holder != c.group {
		return cmp.Or(err, errTaken)
	}
	// From here on the change is committed, whatever happens.
	c.wrote = false
	finish, cancel := cleanup()
	defer cancel()
	if err := c.engine.Put(finish, []Row{head}); err != nil {
		c.Rollback()
		return fmt.Errorf("the change is safe, but readers will see it only after the next one: %w", err)
	}
	c.tidy(finish)
	return nil
}

// settle finds out what became of a claim that was not answered, and gives the
// change up if nothing did; "" if that fails, too.
func (c *change) settle() string {
	ctx, cancel := cleanup()
	defer cancel()
	holder, _ := c.engine.Claim(ctx, commitName(c.group), givenUp)
	return holder
}

var errTaken = fmt.Errorf("%w, which took the lease over because it was not renewed in time; run again", store.ErrLocked)

// stillNewest refuses to commit on top of another version than the one that
// the change started from.
func (c *change) stillNewest(ctx context.Context) error {
	m, err := c.newest(ctx)
	switch {
	case c.old == nil && m == nil:
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return nil
	case err != nil:
		return err
	case c.old == nil || m.Group != c.old.m.Group:
		return errTaken
	}
	return nil
}

// tidy removes what led to the head; what fails the next writer does.
func (c *change) tidy(ctx context.Context) {
	if c.m.Table != "" && (c.old == nil || c.old.m.Table != c.m.Table) {
		_ = c.engine.Release(ctx, c.m.Table)
	}
	gone := []string{changeKey(c.group)}
	if c.old != nil {
		gone = append(gone, headKey(c.old.m.Generation))
	}
	_ = c.engine.Delete(ctx, gone)
	c.Rollback()
	_ = c.engine.Unclaim(ctx, commitName(c.group))
}
