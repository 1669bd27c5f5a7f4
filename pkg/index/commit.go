package index

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"kb/pkg/record"
	"kb/pkg/store"
)

// plan is what is to be done to one state of the index.
type plan struct {
	put     []string // complete documents that are new or changed
	remove  []string
	rest    []string // documents of the index that are neither
	report  []*record.Indexed
	result  Result
	reset   bool // the fingerprint or the analyzer changes: everything is written again
	skipped []record.Skipped
	roots   []record.Root
	target  store.Settings
}

func (c *collector) commit(ctx context.Context) ([]record.Record, Result, error) {
	p, err := c.plan(c.known)
	if err != nil {
		return nil, Result{}, err
	}
	if c.tx != nil || c.changes(p, c.known) {
		if p, err = c.write(ctx); err != nil {
			return nil, Result{}, err
		}
	} else {
		p.result.Info = c.known.info
	}
	p.result.Export, p.result.Came = c.export, c.came()
	out := c.passed
	for _, r := range p.report {
		out = append(out, r)
	}
	return out, p.result, nil
}

// came counts the documents of the stream that are complete.
func (c *collector) came() Content {
	var n Content
	for _, d := range c.docs {
		if d.complete() {
			n.Documents++
			n.Chunks += d.of
			n.Vectors += d.meta.Vectors
		}
	}
	return n
}

// write puts what is still waiting, plans on the state that the lock protects,
// and commits.
func (c *collector) write(ctx context.Context) (*plan, error) {
	if err := c.put(ctx); err != nil {
		return nil, err
	}
	p, err := c.plan(c.known)
	if err != nil {
		return nil, err
	}
	c.warnAnalyzer(c.known.info.Settings, p.target)
	if was := c.known.info.Settings; was.Calibration != nil && p.target.Calibration == nil {
		c.opt.Warn("the floor of refusal was fitted to the index as it was: it is dropped; fit it again with kb eval --calibrate")
	}
	if err := c.amend(ctx, p); err != nil {
		return nil, err
	}
	for _, path := range p.remove {
		if err := c.tx.Remove(ctx, path); err != nil {
			return nil, err
		}
	}
	c.tx.SetSkipped(p.skipped)
	c.tx.SetRoots(p.roots)
	if p.result.Info, err = c.tx.Commit(ctx, p.target); err != nil {
		return nil, err
	}
	p.result.Written = true
	return p, nil
}

// warnAnalyzer says that an index gets another analyzer, and at what price.
func (c *collector) warnAnalyzer(was, is store.Settings) {
	if was.Analyzer == "" || was.Analyzer == is.Analyzer {
		return
	}
	c.opt.Warn(fmt.Sprintf("analyzer %s in place of %s: the words of all documents are indexed again", is.Analyzer, was.Analyzer))
}

// amend brings what was put in step with the plan: a reset takes the documents
// that stay along, and a document of which a newer reading did not arrive whole
// is as it was.
func (c *collector) amend(ctx context.Context, p *plan) error {
	carried := p.rest
	if !c.reset && !p.reset {
		carried = nil
		for _, path := range c.written {
			_, stays := slices.BinarySearch(p.put, path)
			_, known := c.known.docs[path]
			switch {
			case stays:
			case known:
				carried = append(carried, path)
			default:
				if err := c.tx.Remove(ctx, path); err != nil {
					return err
				}
			}
		}
	} else if len(p.put) == 0 {
		c.tx.Reset()
	}
	for _, path := range carried {
		if err := carry(ctx, c.tx, c.known.docs[path]); err != nil {
			return err
		}
	}
	return nil
}

// carry writes a document of the old index again as it was.
func carry(ctx context.Context, tx store.Tx, d store.Document) error {
	var chunks []*record.Chunk
	for ch, err := range tx.Reader().Chunks(ctx, d.Path, true) {
		if err != nil {
			return err
		}
		chunks = append(chunks, ch)
	}
	return tx.Put(ctx, d, chunks)
}

func (c *collector) changes(p *plan, st *state) bool {
	return len(p.put) > 0 || len(p.remove) > 0 || p.reset || !st.exists ||
		(p.target.Calibration == nil) != (st.info.Calibration == nil) ||
		!slices.EqualFunc(p.skipped, st.skipped, sameSkipped) ||
		!slices.EqualFunc(p.roots, st.roots, func(a, b record.Root) bool {
			return a.Path == b.Path && a.Documents == b.Documents && a.Skipped == b.Skipped
		})
}

func (c *collector) plan(st *state) (*plan, error) {
	p := &plan{}
	p.result.Skipped, p.result.NewSkipped = len(c.skipped), c.newSkipped(st)
	seen := c.planDocuments(p, st)
	if err := c.planRemovals(p, st, seen); err != nil {
		return nil, err
	}
	if err := c.planSettings(p, st); err != nil {
		return nil, err
	}
	p.skipped = c.mergeSkipped(st)
	p.roots = recount(c.mergeRoots(st), p.paths(st), p.skipped)
	left := len(st.docs) + p.result.Created - p.result.Removed
	if left == 0 && !st.exists && !c.opt.AllowEmpty {
		return nil, c.nothing(p)
	}
	slices.SortFunc(p.report, func(a, b *record.Indexed) int { return cmp.Compare(a.Path, b.Path) })
	return p, nil
}

// nothing explains why no index can be made.
func (c *collector) nothing(p *plan) error {
	switch {
	case p.result.Incomplete > 0:
		return fmt.Errorf("no documents to index: none of %d is complete (%s: %s)",
			p.result.Incomplete, p.report[0].Path, p.report[0].Reason)
	case len(c.skipped) > 0:
		return fmt.Errorf("%w: all %d files were skipped", ErrNothing, len(c.skipped))
	}
	return ErrNothing
}

func (c *collector) planDocuments(p *plan, st *state) map[string]bool {
	seen := map[string]bool{}
	for _, path := range c.same {
		seen[path] = true
		if d, ok := st.docs[path]; ok {
			p.add(record.StatusUnchanged, &record.Indexed{Path: path, Chunks: d.Chunks, Reused: d.Vectors})
		} else {
			p.add(record.StatusIncomplete, &record.Indexed{Path: path, Reason: overtaken})
		}
	}
	for _, path := range c.paths() {
		seen[path] = true
		d := c.docs[path]
		old, known := st.docs[path]
		stats := d.stats
		stats.Path = path
		switch {
		case !d.complete():
			stats.Chunks, stats.Reason = len(d.bySeq), d.missing()
			p.add(record.StatusIncomplete, &stats)
		case d.same && known && sameDocument(old, d.meta):
			stats.Embedded, stats.Reused = 0, d.meta.Vectors
			p.add(record.StatusUnchanged, &stats)
			p.result.Failed += d.failed
		case d.same:
			stats.Reason = overtaken
			p.add(record.StatusIncomplete, &stats)
		case c.refuses(d, st):
			stats.Reason = fmt.Sprintf("%d chunks have no vector, but the index has: put \"kb embed\" before \"kb index\"", d.bare)
			p.add(record.StatusIncomplete, &stats)
		default:
			p.put = append(p.put, path)
			p.result.Failed += d.failed
			status := record.StatusCreated
			if known {
				status = record.StatusUpdated
			}
			p.add(status, &stats)
		}
	}
	return seen
}

const overtaken = "another writer changed it meanwhile; run again"

func (p *plan) add(status string, r *record.Indexed) {
	r.Status = status
	p.report = append(p.report, r)
	switch status {
	case record.StatusCreated:
		p.result.Created++
	case record.StatusUpdated:
		p.result.Updated++
	case record.StatusUnchanged:
		p.result.Unchanged++
	case record.StatusRemoved:
		p.result.Removed++
	case record.StatusIncomplete:
		p.result.Incomplete++
	case record.StatusKept:
		p.result.Kept++
	}
	if status == record.StatusCreated || status == record.StatusUpdated {
		p.result.Embedded += r.Embedded
		p.result.Reused += r.Reused
	}
}

func (c *collector) planRemovals(p *plan, st *state, seen map[string]bool) error {
	paths := make([]string, 0, len(st.docs))
	for path := range st.docs {
		if !seen[path] {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	elsewhere := map[string]bool{}
	for _, path := range paths {
		skip, skipped := c.skipped[path]
		walked := underAny(c.roots, path)
		switch {
		case skipped && record.Transient(skip.Class):
			p.add(record.StatusKept, &record.Indexed{Path: path, Chunks: st.docs[path].Chunks, Reason: skip.Reason})
		case walked && !skipped && c.opt.Keep != nil && c.opt.Keep(path):
			elsewhere[path] = true
			p.report = append(p.report, &record.Indexed{Path: path, Status: record.StatusKept, Chunks: st.docs[path].Chunks, Reason: "its file is not here"})
		case walked || skipped && skip.Root == "":
			p.remove = append(p.remove, path)
			p.add(record.StatusRemoved, &record.Indexed{Path: path, Chunks: st.docs[path].Chunks, Reason: skip.Reason})
		}
	}
	p.result.Elsewhere = len(elsewhere)
	return c.guardEmpty(p, st, seen, elsewhere)
}

// guardEmpty refuses to remove all that the index has of a root: more likely
// than a folder that was emptied on purpose is one that is not mounted, and
// more likely than one whose documents all have other names now is another
// folder of the same name. Documents that were renamed are known by their
// hash; a single one may be replaced. Those that lie elsewhere do not count.
func (c *collector) guardEmpty(p *plan, st *state, seen, elsewhere map[string]bool) error {
	if c.opt.AllowEmpty {
		return nil
	}
	removed, hashes := map[string]bool{}, map[string]bool{}
	for _, path := range p.remove {
		removed[path], hashes[st.docs[path].Hash] = true, true
	}
	for _, root := range c.roots {
		known, left, others := 0, 0, 0
		for path := range st.docs {
			if under(root.Path, path) && !elsewhere[path] {
				known++
				if !removed[path] {
					left++
				}
			}
		}
		for path := range seen {
			d := c.docs[path]
			switch {
			case !under(root.Path, path):
			case d != nil && hashes[d.hash]:
				left++
			default:
				others++
			}
		}
		if known > 0 && left == 0 && (others == 0 || known > 1) {
			return &EmptyRootError{Root: root.Path, Known: known, Others: others}
		}
	}
	return nil
}

func (c *collector) newSkipped(st *state) int {
	known := map[string]record.Skipped{}
	for _, s := range st.skipped {
		known[s.Path] = s
	}
	n := 0
	for _, s := range c.skipped {
		if IsNews(s, known[s.Path]) {
			n++
		}
	}
	return n
}

// planSettings decides what the index will be built with. Other vectors than
// those of the index may replace it as a whole, never mix with it.
func (c *collector) planSettings(p *plan, st *state) error {
	analyzer := c.analyzer(st)
	p.target = st.info.Settings
	p.target.Analyzer = analyzer
	replaced := map[string]bool{}
	for _, path := range slices.Concat(p.put, p.remove) {
		replaced[path] = true
	}
	for path := range st.docs {
		if !replaced[path] {
			p.rest = append(p.rest, path)
		}
	}
	slices.Sort(p.rest)
	putsVectors := c.vectors && len(p.put) > 0
	if putsVectors && c.otherVectors(st) {
		if len(p.rest) > 0 {
			return &MismatchError{Name: c.opt.Store.Name(), Index: st.info.Settings, Stream: c.settings, Missing: len(p.rest), Example: p.rest[0]}
		}
		p.reset = true
		p.target.Calibration = nil // what its vectors told was another model's
	}
	if putsVectors {
		calibration := p.target.Calibration
		p.target = c.settings
		p.target.Analyzer, p.target.Calibration = analyzer, calibration
	}
	if c.otherAnalyzer(st) {
		p.reset = true
		p.target.Calibration = nil // fitted on other scores
	}
	return c.takeCalibration(p)
}

// takeCalibration gives an index without a calibration that of the index that
// the stream comes from, if both have the same analyzer and vectors.
func (c *collector) takeCalibration(p *plan) error {
	if c.export == nil || len(c.export.Calibration) == 0 || p.target.Calibration != nil ||
		c.export.Analyzer != p.target.Analyzer || c.vectors && !sameFingerprint(c.settings, p.target) {
		return nil
	}
	p.target.Calibration = new(store.Calibration)
	if err := json.Unmarshal(c.export.Calibration, p.target.Calibration); err != nil {
		return fmt.Errorf("the calibration of the export: %w", err)
	}
	return nil
}

// mergeSkipped keeps the entries of the ledger that this run says nothing
// about. A file that was named by itself, and not found below a folder, is
// reported but not listed: no later run would take it off the list.
func (c *collector) mergeSkipped(st *state) []record.Skipped {
	var out []record.Skipped
	for _, s := range st.skipped {
		_, again := c.skipped[s.Path]
		_, loaded := c.docs[s.Path]
		if !again && !loaded && !underAny(c.roots, s.Path) {
			out = append(out, s)
		}
	}
	for _, s := range c.skipped {
		if s.Root != "" {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b record.Skipped) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// paths are those of the documents that the index has after the plan.
func (p *plan) paths(st *state) []string {
	after := map[string]bool{}
	for path := range st.docs {
		after[path] = true
	}
	for _, path := range p.remove {
		delete(after, path)
	}
	for _, path := range p.put {
		after[path] = true
	}
	return slices.Collect(maps.Keys(after))
}

// recount sets what roots hold to what the index has of them: the walk of a
// root counts neither what was removed by hand nor what was added by itself.
func recount(roots []record.Root, docs []string, skipped []record.Skipped) []record.Root {
	out := slices.Clone(roots)
	for i := range out {
		root := &out[i]
		root.Documents, root.Skipped = 0, 0
		for _, path := range docs {
			if under(root.Path, path) {
				root.Documents++
			}
		}
		for _, s := range skipped {
			if under(root.Path, s.Path) {
				root.Skipped++
			}
		}
	}
	return out
}

// mergeRoots adds the roots of this run; one that lies below another is part
// of it.
func (c *collector) mergeRoots(st *state) []record.Root {
	byPath := map[string]record.Root{}
	for _, r := range slices.Concat(st.roots, c.roots) {
		r.Other = nil // as of one walk; the index is not written anew for them
		byPath[r.Path] = r
	}
	var out []record.Root
	for _, r := range byPath {
		nested := false
		for _, other := range byPath {
			nested = nested || other.Path != r.Path && under(other.Path, r.Path)
		}
		if !nested {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b record.Root) int { return cmp.Compare(a.Path, b.Path) })
	return out
}
