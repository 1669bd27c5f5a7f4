package flat

import "github.com/cespare/xxhash/v2"

// Segments end where their content says so, not at fixed numbers: a segment
// ends behind a document whose path hashes below a limit. A change therefore
// moves the borders next to it and no others, the untouched segments are
// copied byte for byte, and yet the same documents always give the same
// segments, whether they came at once or one by one.
//
// A document counts as its chunks, or 1. A segment has 512 before a hash may
// end it, ends after 512 more on average, and never exceeds 2,048 (which 5
// percent reach). A document that is longer than that is cut every 1,024
// chunks and shares no segment.
const (
	segmentLeast = 512
	segmentSpan  = 512
	segmentCut   = 1024
)

// piece is a document, or a part of a long one, in a segment.
type piece struct {
	doc      int // number of the document
	from, to int // of its chunks
}

// cutSegments distributes the documents, whose paths and numbers of chunks are
// given in the order of the paths.
func cutSegments(n int, path func(int) string, chunks func(int) int) [][]piece {
	var out [][]piece
	var current []piece
	weight := 0
	end := func() {
		if len(current) > 0 {
			out = append(out, current)
		}
		current, weight = nil, 0
	}
	for doc := range n {
		c := chunks(doc)
		w := max(c, 1)
		if weight+w > maxRows {
			end()
		}
		if w > maxRows {
			for from := 0; from < c; from += segmentCut {
				current = append(current, piece{doc, from, min(from+segmentCut, c)})
				end()
			}
			continue
		}
		current = append(current, piece{doc, 0, c})
		if weight += w; weight >= segmentLeast && endsSegment(path(doc), w) {
			end()
		}
	}
	end()
	return out
}

// endsSegment is true for w of segmentSpan paths.
func endsSegment(path string, w int) bool {
	return w >= segmentSpan || xxhash.Sum64String(path)>>32 < uint64(w)<<32/segmentSpan
}
