package flat

import "errors"

// The seek table is the last frame of the file, in the zstd seekable format
// (facebook/zstd, contrib/seekable_format): a skippable frame with the
// compressed and the decompressed size and the checksum of every frame, and a
// footer. The checksum is the one that ends the frame; that it stands here too
// binds the frame to its file, so that one of another index, or of an earlier
// version, is not taken for it.
const (
	skippableMagic = 0x184D2A5E
	seekMagic      = 0x8F92EAB1
	skippableHead  = 8
	seekEntry      = 12
	seekFooter     = 9
	seekDescriptor = 0x80 // entries have checksums
)

// frameEntry is what the table says of a frame.
type frameEntry struct{ compressed, content, checksum uint32 }

// entryOf is the entry of a frame with its content size.
func entryOf(frame []byte, content int) frameEntry {
	return frameEntry{uint32(len(frame)), uint32(content), le.Uint32(frame[len(frame)-checksumSize:])}
}

// appendSeekTable appends the frame.
func appendSeekTable(dst []byte, entries []frameEntry) []byte {
	dst = le.AppendUint32(dst, skippableMagic)
	dst = le.AppendUint32(dst, uint32(len(entries)*seekEntry+seekFooter))
	for _, e := range entries {
		dst = le.AppendUint32(dst, e.compressed)
		dst = le.AppendUint32(dst, e.content)
		dst = le.AppendUint32(dst, e.checksum)
	}
	dst = le.AppendUint32(dst, uint32(len(entries)))
	dst = append(dst, seekDescriptor)
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
	if le.Uint32(foot[5:]) != seekMagic || foot[4] == 0 {
		return seekTable{}, false, nil // a table without checksums is of another program
	}
	frames := int64(le.Uint32(foot[:]))
	start := f.size - seekFooter - frames*seekEntry - skippableHead
	var head [skippableHead]byte
	if foot[4] != seekDescriptor || frames < 2 || frames > maxFrames || start < 0 {
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
func (t seekTable) read(f *file, frame, n int) ([]frameEntry, error) {
	raw := make([]byte, n*seekEntry)
	if err := f.readAt(raw, t.start+skippableHead+int64(frame)*seekEntry); err != nil {
		return nil, err
	}
	entries := make([]frameEntry, n)
	for i := range entries {
		e := raw[i*seekEntry:]
		entries[i] = frameEntry{le.Uint32(e), le.Uint32(e[4:]), le.Uint32(e[8:])}
	}
	return entries, nil
}

// framePlace is where a frame begins, and its checksum.
type framePlace struct {
	offset   int64
	checksum uint32
}

// places returns the places of n frames, and one more for where the last one
// ends, which must be end.
func (t seekTable) places(f *file, frame, n int, from, end int64) ([]framePlace, error) {
	entries, err := t.read(f, frame, n)
	if err != nil {
		return nil, err
	}
	at := make([]framePlace, n+1)
	at[0].offset = from
	for i, e := range entries {
		at[i].checksum = e.checksum
		at[i+1].offset = at[i].offset + int64(e.compressed)
	}
	if at[n].offset != end {
		return nil, errors.New("the seek table and the directory contradict each other")
	}
	return at, nil
}
