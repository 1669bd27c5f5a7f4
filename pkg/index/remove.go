package index

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"kb/pkg/record"
	"kb/pkg/store"
)

// NoDocumentError means that a path to remove is neither a document of the
// index nor a folder above one, nor a glob that matches one.
type NoDocumentError struct {
	Path string
	Glob bool // it was taken for a glob
}

func (e *NoDocumentError) Error() string {
	if e.Glob {
		return fmt.Sprintf("%s: no document of the index matches this", e.Path)
	}
	return fmt.Sprintf("%s: no document of the index has this path or lies below it", e.Path)
}

// RemoveOptions say how documents are removed.
type RemoveOptions struct {
	// Globs lets a path be a glob as those of [store.Filter], if the index knows
	// no file, folder or root by that very name: what is called a[1].md is that,
	// and not a1.md.
	Globs  bool
	NoWait bool // fail with [store.ErrLocked] rather than wait for another writer
}

// Remove drops documents by path. A path may be a folder, and then all below
// it goes, and the folder is no root any more. Either all paths are found and
// removed or nothing is.
func Remove(ctx context.Context, s store.Store, paths []string, o RemoveOptions) ([]record.Record, Result, error) {
	known, err := s.Open(ctx)
	if err != nil {
		return nil, Result{}, err
	}
	known.Close()
	tx, err := s.Begin(ctx, !o.NoWait)
	if err != nil {
		return nil, Result{}, err
	}
	defer tx.Rollback()
	st, err := readState(ctx, tx.Reader())
	if err != nil {
		return nil, Result{}, err
	}
	globs := make([]*store.Matcher, len(paths))
	if o.Globs {
		if globs, err = st.matchers(paths); err != nil {
			return nil, Result{}, err
		}
	}
	p := &plan{}
	if err := p.removeAll(st, paths, globs); err != nil {
		return nil, Result{}, err
	}
	gone := func(at string) bool {
		return slices.ContainsFunc(paths, func(p string) bool { return atOrUnder(p, at) })
	}
	for _, path := range p.remove {
		if err := tx.Remove(ctx, path); err != nil {
			return nil, Result{}, err
		}
	}
	skipped := slices.DeleteFunc(st.skipped, func(s record.Skipped) bool { return gone(s.Path) })
	roots := slices.DeleteFunc(st.roots, func(r record.Root) bool { return gone(r.Path) })
	tx.SetSkipped(skipped)
	tx.SetRoots(recount(roots, p.paths(st), skipped))
	if p.result.Info, err = tx.Commit(ctx, st.info.Settings); err != nil {
		return nil, Result{}, err
	}
	p.result.Written = true
	out := make([]record.Record, len(p.report))
	for i, r := range p.report {
		out[i] = r
	}
	return out, p.result, nil
}

// removeAll fills the plan with the documents at or below the paths, or that
// match the globs, of which each belongs to the path of its number and may be nil.
func (p *plan) removeAll(st *state, paths []string, globs []*store.Matcher) error {
	hit := make([]bool, len(paths))
	for _, path := range slices.Sorted(maps.Keys(st.docs)) {
		match := false
		for i, want := range paths {
			if atOrUnder(want, path) || globs[i] != nil && globs[i].Match(path, nil) {
				hit[i], match = true, true
			}
		}
		if match {
			p.remove = append(p.remove, path)
			p.add(record.StatusRemoved, &record.Indexed{Path: path, Chunks: st.docs[path].Chunks})
		}
	}
	for i, ok := range hit {
		if !ok {
			return &NoDocumentError{Path: paths[i], Glob: globs[i] != nil}
		}
	}
	return nil
}

// matchers are those of the paths that are globs, nil for the others.
func (st *state) matchers(paths []string) ([]*store.Matcher, error) {
	out := make([]*store.Matcher, len(paths))
	for i, p := range paths {
		if !store.IsGlob(p) || st.knows(p) {
			continue
		}
		var err error
		if out[i], err = store.NewMatcher(store.Filter{Paths: []string{p}}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// knows says whether the index has something at or below a path.
func (st *state) knows(p string) bool {
	for at := range st.docs {
		if atOrUnder(p, at) {
			return true
		}
	}
	return slices.ContainsFunc(st.roots, func(r record.Root) bool { return atOrUnder(p, r.Path) }) ||
		slices.ContainsFunc(st.skipped, func(s record.Skipped) bool { return atOrUnder(p, s.Path) })
}

func atOrUnder(p, at string) bool { return at == p || under(p, at) }
