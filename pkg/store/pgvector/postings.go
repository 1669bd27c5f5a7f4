package pgvector

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
)

// longTerm is how many bytes of a term are kept: an index of PostgreSQL takes no
// more than 2.7 KB.
const longTerm = 200

// termKey is a term as it is kept: of a long one the beginning and a hash. It is
// "" for what cannot be a word of an index.
func termKey(term string) string {
	switch {
	case !storable(term):
		return ""
	case len(term) <= longTerm:
		return term
	}
	sum := sha256.Sum256([]byte(term))
	return strings.ToValidUTF8(term[:longTerm], "") + " " + hex.EncodeToString(sum[:16])
}

// Postings of a term are bytes: for each chunk that holds the term, in the
// order of chunk numbers, three unsigned varints: the gap to the number before,
// how often the chunk holds the term, and the chunk's length in tokens. A gap of
// 0 says that the number itself follows, so that pieces written at different
// times can be joined; each piece begins with one.

// posting is one decoded entry.
type posting struct {
	number     int64
	tf, length int
}

// piece is the postings of a term that are being made.
type piece struct {
	data        []byte
	first, last int64
}

func (p *piece) add(number int64, tf, length int) {
	if len(p.data) == 0 {
		p.first = number
		p.data = binary.AppendUvarint(append(p.data, 0), uint64(number))
	} else {
		p.data = binary.AppendUvarint(p.data, uint64(number-p.last))
	}
	p.last = number
	p.data = binary.AppendUvarint(p.data, uint64(tf))
	p.data = binary.AppendUvarint(p.data, uint64(length))
}

var errPostings = errors.New("postings that cannot be read")

// decodePostings calls f for each posting.
func decodePostings(data []byte, f func(posting)) error {
	p := posting{}
	next := func() uint64 {
		v, n := binary.Uvarint(data)
		if n <= 0 || v > 1<<62 {
			data = nil
			p.number = -1
			return 0
		}
		data = data[n:]
		return v
	}
	for len(data) > 0 {
		if gap := next(); gap > 0 {
			p.number += int64(gap)
		} else {
			p.number = int64(next())
		}
		p.tf, p.length = int(next()), int(next())
		if p.number < 0 || p.tf <= 0 {
			return errPostings
		}
		f(p)
	}
	return nil
}
