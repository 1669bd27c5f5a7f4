package flat

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/store/storetest"
)

// sameShape returns two indexes that differ in what their chunks say and mean
// and in nothing else, so that many of their frames have the same length.
func sameShape(t *testing.T) (files [2][]byte, q record.Vector) {
	t.Helper()
	const dim = 32
	rng := storetest.NewGenerator(81, dim)
	for i := range files {
		var docs []*storetest.Doc
		for d := range 30 {
			path := fmt.Sprintf("notes/%02d.md", d)
			doc := &storetest.Doc{Document: store.Document{Path: path, ID: record.DocumentID(path), Hash: fmt.Sprintf("%064x", d)}}
			for j := range 10 {
				doc.Chunks = append(doc.Chunks, &record.Chunk{
					ID: record.ChunkID(doc.ID, j+1, j, path), Document: doc.ID, Path: path, Hash: doc.Hash,
					Seq: j + 1, Of: 10, Start: j, End: j + 1, Text: fmt.Sprintf("%c%02d%02d", 'a'+i, d, j), Vector: rng.Query(),
				})
			}
			doc.Finish()
			docs = append(docs, doc)
		}
		path := filepath.Join(t.TempDir(), "index.jsonl.zst")
		storetest.Write(t, New(path), rng.Settings(), docs...)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = data
	}
	return files, rng.Query()
}

// everything is all that a reader says, or its error.
func everything(t *testing.T, data []byte, q record.Vector) (string, error) {
	r, err := newReader(memory(data))
	if err != nil {
		return "", err
	}
	defer r.Close()
	hits, err := r.Nearest(t.Context(), q, 10, store.Filter{})
	if err != nil {
		return "", err
	}
	lex, err := r.Lexical(t.Context(), []string{"a0101", "b0101", "a0707"}, 10, store.Filter{})
	if err != nil {
		return "", err
	}
	out := fmt.Sprintln(hits, lex)
	for c, err := range r.Chunks(t.Context(), "", true) {
		if err != nil {
			return "", err
		}
		line, err := record.Append(nil, c)
		if err != nil {
			return "", err
		}
		out += string(line)
	}
	return out, nil
}

// TestForeignFrame puts each frame of another index, whole and with a right
// checksum, in the place of one of the same length: what a disk does that
// brings back an old block. It is damage, never another answer.
func TestForeignFrame(t *testing.T) {
	t.Parallel()
	files, q := sameShape(t)
	want, err := everything(t, files[0], q)
	if err != nil {
		t.Fatal(err)
	}
	var frames [2][]extent
	for i, data := range files {
		f := memory(data)
		table, ok, err := findSeekTable(f)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if frames[i], err = tableExtents(f, table); err != nil {
			t.Fatal(err)
		}
	}
	tried, codes := 0, false
	for i, e := range frames[0] {
		if i >= len(frames[1]) {
			break
		}
		other := files[1][frames[1][i].off:frames[1][i].end]
		if own := files[0][e.off:e.end]; len(own) != len(other) || bytes.Equal(own, other) {
			continue
		}
		tried++
		codes = codes || bytes.Contains(other, []byte(codesBegin))
		bad := bytes.Clone(files[0])
		copy(bad[e.off:], other)
		got, err := everything(t, bad, q)
		switch {
		case err == nil && got != want:
			t.Errorf("frame %d of %d (%.30q) of another index changes what the index says", i, len(frames[0]), other[min(12, len(other)):])
		case err != nil && !errors.Is(err, store.ErrDamaged):
			t.Errorf("frame %d: %v", i, err)
		case err == nil:
			t.Errorf("frame %d of another index was not noticed", i)
		}
	}
	if tried < 20 || !codes {
		t.Errorf("only %d frames have the same length, codes among them: %v", tried, codes)
	}
}
