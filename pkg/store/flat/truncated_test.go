package flat_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"kb/pkg/store"
	"kb/pkg/store/flat"
	"kb/pkg/store/storetest"
)

// TestTruncated cuts an index of several segments as an interrupted copy does.
// Every door says where, within the file, and a repair keeps what there is.
func TestTruncated(t *testing.T) {
	g, docs := many(t, false)
	path := filepath.Join(t.TempDir(), "index.jsonl.zst")
	s := flat.New(path)
	storetest.Write(t, s, g.Settings(), docs...)
	whole := read(t, path)
	for _, percent := range []int{0, 1, 25, 50, 90, 99} {
		cut := whole[:len(whole)*percent/100]
		os.WriteFile(path, cut, 0o600)
		_, openErr := s.Open(t.Context())
		_, beginErr := s.Begin(t.Context(), false)
		for door, err := range map[string]error{"open": openErr, "begin": beginErr} {
			var d *store.DamagedError
			if !errors.As(err, &d) || d.Name != path || d.Offset < 0 || d.Offset > int64(len(cut)) {
				t.Errorf("%d %%: %s: %v", percent, door, err)
			}
		}
		if percent != 25 && percent != 90 {
			continue
		}
		out, err := s.Repair(t.Context(), true)
		if err != nil || !out.Written || out.Kept < len(docs)*(percent-5)/100*9/10 {
			t.Errorf("%d %%: repair kept %d of %d documents: %v", percent, out.Kept, len(docs), err)
		}
		if report, err := s.Verify(t.Context()); err != nil || len(report.Faults) > 0 {
			t.Errorf("%d %%: after the repair: %v, %v", percent, report.Faults, err)
		}
	}
}
