package index

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kb/pkg/record"
	"kb/pkg/store"
)

// NoDocumentError means that a path to remove is neither a document of the
// index nor a folder above one, nor a glob that matches one.
type NoDocumentError struct{ Path string }

func (e *NoDocumentError) Error() string {
	if strings.ContainsAny(e.Path, wildcards) {
		return fmt.Sprintf("%s: no document of the index matches this", e.Path)
	}
	return fmt.Sprintf("%s: no document of the index has this path or lies below it", e.Path)
}

const wildcards = "*?[{"

// Remove drops documents by path. A path may be a folder, and then all below
// it goes, and the folder is no root any more; or a glob as those of
// [store.Filter]. Either all paths are found and removed or nothing is.
func Remove(ctx context.Context, s store.Store, paths []string, wait bool) ([]record.Record, Result, error) {
	known, err := s.Open(ctx)
	if err != nil {
		return nil, Result{}, err
	}
	known.Close()
	tx, err := s.Begin(ctx, wait)
	if err != nil {
		return nil, Result{}, err
	}
	defer tx.Rollback()
	st, err := readState(ctx, tx.Reader())
	if err != nil {
		return nil, Result{}, err
	}
	p := &plan{}
	if err := p.removeAll(st, paths); err != nil {
		return nil, Result{}, err
	}
	gone := func(at string) bool {
		return slices.ContainsFunc(paths, func(p string) bool { return at == p || under(p, at) })
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

// removeAll fills the plan with the documents at or below the paths.
func (p *plan) removeAll(st *state, paths []string) error {
	all := make([]string, 0, len(st.docs))
	for path := range st.docs {
		all = append(all, path)
	}
	slices.Sort(all)
	hit := make([]bool, len(paths))
	globs, err := matchers(paths)
	if err != nil {
		return err
	}
	for _, path := range all {
		match := false
		for i, want := range paths {
			if path == want || under(want, path) || globs[i] != nil && globs[i].Match(path, nil) {
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
			return &NoDocumentError{paths[i]}
		}
	}
	return nil
}

// matchers are those of the paths that are globs, nil for the others.
func matchers(paths []string) ([]*store.Matcher, error) {
	out := make([]*store.Matcher, len(paths))
	for i, p := range paths {
		if !strings.ContainsAny(p, wildcards) {
			continue
		}
		var err error
		if out[i], err = store.NewMatcher(store.Filter{Paths: []string{p}}); err != nil {
			return nil, err
		}
	}
	return out, nil
}
