package remote

import "testing"

// FuzzSegment reads a segment and postings that anybody may have written.
func FuzzSegment(f *testing.F) {
	b := newBuilder()
	b.add(&entry{Row: "g/1"})
	b.docs[0].Chunks, b.docs[0].Lens = 2, []int{3, 1}
	b.chunks = 2
	b.post("a", 0, 1)
	b.post("a", 1, 7)
	_, rows, err := b.rows("g/s1", "g")
	if err != nil {
		f.Fatal(err)
	}
	for _, r := range rows {
		content, err := unpack(r.Data)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if s, err := parseSegment(segmentRef{Chunks: 2}, content); err == nil {
			for i, e := range s.docs {
				for range e.blocks() {
				}
				if s.isDead(i) {
					t.Error("a dead document")
				}
			}
			s.find("a")
		}
		for _, list := range terms(content) {
			_ = postings(list, 2, func(chunk, tf int) {
				if chunk < 0 || chunk > 1 || tf < 1 {
					t.Errorf("chunk %d, %d times", chunk, tf)
				}
			})
		}
	})
}
