package watch

import (
	"context"
	"maps"

	"kb/pkg/load"
)

// files is what a walk found, by path.
type files map[string]state

// state is what tells that a file is another one, or none.
type state struct {
	size, modified int64 // bytes, Unix nanoseconds; -1 for what cannot be read
	reason         string
}

func (f files) equal(g files) bool { return maps.Equal(f, g) }

// hasAny says whether one of the names is a file that was found. It matters
// where a file's time is too coarse to show that it was written again.
func (f files) hasAny(names map[string]bool) bool {
	for name := range names {
		if _, ok := f[name]; ok {
			return true
		}
	}
	return false
}

// scan walks the paths. It calls listen for each folder before it is listed.
func scan(ctx context.Context, paths []string, hooks load.Hooks, listen func(folder string)) (files, error) {
	found := files{}
	for item, err := range load.WalkFolders(ctx, paths, hooks) {
		if err != nil {
			return nil, err
		}
		switch {
		case item.Folder != "":
			listen(item.Folder)
		case item.Entry != nil:
			e := item.Entry
			found[e.Path] = state{size: e.Size, modified: e.Modified.UnixNano()}
		case item.Skipped != nil:
			found[item.Skipped.Path] = state{size: -1, modified: -1, reason: item.Skipped.Reason}
		}
	}
	return found, nil
}
