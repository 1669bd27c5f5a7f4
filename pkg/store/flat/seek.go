package flat

import "errors"

// The seek table is the last frame of the file, in the zstd seekable format
// (facebook/zstd, contrib/seekable_format): a skippable frame with the
// compressed and the decompressed size of every frame, and a footer. It has no
// checksums of its own, since each frame has one and a wrong size finds no
// frame.
const (
	skippableMagic = 0x184D2A5E
	seekMagic      = 0x8F92EAB1
	skippableHead  = 8
	seekEntry      = 8
	seekFooter     = 9
)

// sizes are an entry of the seek table.
type sizes struct{ compressed, content uint32 }

// appendSeekTable appends the frame.
func appendSeekTable(dst []byte, entries []sizes) []byte {
	dst = le.AppendUint32(dst, skippableMagic)
	dst = le.AppendUint32(dst, uint32(len(entries)*seekEntry+seekFooter))
	for _, e := range entries {
		dst = le.AppendUint32(dst, e.compressed)
		dst = le.AppendUint32(dst, e.content)
	}
	dst = le.AppendUint32(dst, uint32(len(entries)))
	dst = append(dst, 0)
	return le.AppendUint32(dst, seekMagic)
}

// seekTable is where the table lies. It is never read as a whole for a search:
// a lookup reads the entries of one segment.
type seekTable struct {
	start  int64 // of its frame, which is the end of all others
	frames int
}

// findSeekTable returns false for a file without one.
func findSeekTable(f *file) (seekTable, bool, error) {
	var foot [seekFooter]byte
	if f.size < skippableHead+seekFooter {
		return seekTable{}, false, nil
	}
	if err := f.readAt(foot[:], f.size-seekFooter); err != nil {
		return seekTable{}, false, err
	}
	if le.Uint32(foot[5:]) != seekMagic {
		return seekTable{}, false, nil
	}
	frames := int64(le.Uint32(foot[:]))
	start := f.size - seekFooter - frames*seekEntry - skippableHead
	var head [skippableHead]byte
	if foot[4] != 0 || frames < 2 || frames > maxFrames || start < 0 {
		return seekTable{}, false, errors.New("the seek table is broken")
	}
	if err := f.readAt(head[:], start); err != nil {
		return seekTable{}, false, err
	}
	if le.Uint32(head[:]) != skippableMagic || int64(le.Uint32(head[4:])) != frames*seekEntry+seekFooter {
		return seekTable{}, false, errors.New("the seek table is broken")
	}
	return seekTable{start: start, frames: int(frames)}, true, nil
}

// read returns the entries of n frames.
func (t seekTable) read(f *file, frame, n int) ([]sizes, error) {
	raw := make([]byte, n*seekEntry)
	if err := f.readAt(raw, t.start+skippableHead+int64(frame)*seekEntry); err != nil {
		return nil, err
	}
	entries := make([]sizes, n)
	for i := range entries {
		entries[i] = sizes{le.Uint32(raw[i*seekEntry:]), le.Uint32(raw[i*seekEntry+4:])}
	}
	return entries, nil
}

// offsets returns where each of n frames begins, and where the last one ends,
// which must be end.
func (t seekTable) offsets(f *file, frame, n int, from, end int64) ([]int64, error) {
	entries, err := t.read(f, frame, n)
	if err != nil {
		return nil, err
	}
	at := make([]int64, n+1)
	at[0] = from
	for i, e := range entries {
		at[i+1] = at[i] + int64(e.compressed)
	}
	if at[n] != end {
		return nil, errors.New("the seek table and the directory contradict each other")
	}
	return at, nil
}
