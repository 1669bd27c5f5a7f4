package flat

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"kb/pkg/record"
	"kb/pkg/vector"
)

// The codes frame is written by hand: a zstd frame of raw blocks, so that the
// codes lie in the file as they are scanned. Entropy coding would save 5
// percent of the file and cost 2.9 times the search (100,000 rows of 1024).
//
//	4  magic number, 1 descriptor (single segment, checksum, 4-byte size),
//	4  content size
//	   block 0: the line up to and with `"codes":"`
//	   blocks of as many whole rows as fit into 128 KiB
//	   last block: `"}` and the line end
//	4  checksum: the low half of xxh64 of the content
//
// A block is a head of 3 bytes (last, type, size) and its content.
//
// The checksum is for zstd and for Verify. A search proves what it reads by the
// checks that stand in the line itself, since those come out of the scan for
// little more than nothing: of the array before the codes by "head", and of
// each row by "check" (see vector.Weights.ScanChecked). At 100,000 rows the
// checksum would be a quarter of the search.
const (
	frameHead       = 9
	blockHead       = 3
	checksumSize    = 4
	frameMagic      = 0xFD2FB528
	codesDescriptor = 0xA4
	maxBlock        = 128 << 10
	codesBegin      = `","codes":"`
	codesEnd        = "\"}\n"
)

func rowsABlock(stride int) int { return maxBlock / stride }

// codesPrefix is the line up to its first array.
func codesPrefix(rows, dim int) string {
	return `{"kind":"codes","rows":` + strconv.Itoa(rows) + `,"dim":` + strconv.Itoa(dim) + `,"base":"`
}

const (
	stepBegin  = `","step":"`
	errBegin   = `","err":"`
	checkBegin = `","check":"`
	headBegin  = `","head":"`
	headDigits = 8
)

// codesArrays is the length of what stands between the prefix and the codes.
func codesArrays(rows, dim int) int {
	n, m := base64.StdEncoding.EncodedLen(4*dim), base64.StdEncoding.EncodedLen(4*rows)
	return n + len(stepBegin) + n + len(errBegin) + m + len(checkBegin) + m + len(headBegin) + headDigits
}

// appendCodes appends the frame of a block.
func appendCodes(dst []byte, b *vector.Block) []byte {
	stride := vector.Stride(b.Dim)
	head := codesHead(b)
	size := len(head) + len(b.Codes) + len(codesEnd)
	dst = slices.Grow(dst, int(codesFrameSize(b.Rows, b.Dim)))
	dst = le.AppendUint32(dst, frameMagic)
	dst = append(dst, codesDescriptor)
	dst = le.AppendUint32(dst, uint32(size))
	dst = appendRaw(dst, head, false)
	for rest := b.Codes; len(rest) > 0; {
		n := min(len(rest), rowsABlock(stride)*stride)
		dst = appendRaw(dst, rest[:n], false)
		rest = rest[n:]
	}
	dst = appendRaw(dst, []byte(codesEnd), true)
	sum := xxhash.New()
	sum.Write(head)
	sum.Write(b.Codes)
	sum.WriteString(codesEnd)
	return le.AppendUint32(dst, uint32(sum.Sum64()))
}

// codesHead is the line up to its codes.
func codesHead(b *vector.Block) []byte {
	var head []byte
	head = append(head, codesPrefix(b.Rows, b.Dim)...)
	head = record.AppendFloats(head, b.Base)
	head = append(head, stepBegin...)
	head = record.AppendFloats(head, b.Step)
	head = append(head, errBegin...)
	head = record.AppendFloats(head, b.Err)
	head = append(head, checkBegin...)
	raw := make([]byte, 0, 4*len(b.Check))
	for _, x := range b.Check {
		raw = le.AppendUint32(raw, uint32(x))
	}
	head = base64.StdEncoding.AppendEncode(head, raw)
	return append(append(append(head, headBegin...), headCheck(head)...), codesBegin...)
}

// headCheck is the low half of xxh64 in hex digits.
func headCheck(head []byte) []byte {
	var raw [4]byte
	binary.BigEndian.PutUint32(raw[:], uint32(xxhash.Sum64(head)))
	return hex.AppendEncode(nil, raw[:])
}

func appendRaw(dst, content []byte, last bool) []byte {
	dst = append(dst, rawHead(len(content), last)...)
	return append(dst, content...)
}

// rawHead is the head of a raw block.
func rawHead(size int, last bool) []byte {
	h := uint32(size) << 3
	if last {
		h |= 1
	}
	return []byte{byte(h), byte(h >> 8), byte(h >> 16)}
}

// codesReader streams one codes frame after the other through small buffers
// that it reuses: in a short process the first touch of memory costs more than
// reading the file. One goroutine at a time.
type codesReader struct {
	buf             []byte
	scratch         []uint32
	base, step, err []float32
	check           []int32
}

// codeRows are some rows of a codes frame, valid until the next ones.
type codeRows struct {
	first int // row in the segment
	codes []byte
	err   []float32
	check []int32
}

var errCodes = errors.New("the codes do not match their checks")

// run reads the frame of n rows at an offset, and calls begin with base and
// step, then rows with the codes of some rows after the other, which must say
// whether their checks are right. With these and the check of the head nothing
// is left that hashing the frame would add; that it is the frame of this file,
// and whole, its checksum says by being the one of the seek table.
func (c *codesReader) run(f *file, off int64, n, dim int, checksum uint32, begin func(base, step []float32), rows func(codeRows) bool) error {
	stride := vector.Stride(dim)
	head := len(codesPrefix(n, dim)) + codesArrays(n, dim) + len(codesBegin)
	if size := max(frameHead+blockHead+head, min(n, rowsABlock(stride))*stride) + blockHead; cap(c.buf) < size {
		c.buf = make([]byte, size)
	}
	// Each read takes the head of the next block along.
	buf := c.buf[:frameHead+blockHead+head+blockHead]
	if err := f.readAt(buf, off); err != nil {
		return err
	}
	next, err := c.head(buf, n, dim, head)
	if err != nil {
		return err
	}
	begin(c.base, c.step)
	at := off + int64(len(buf))
	for first := 0; first < n; {
		m := min(n-first, rowsABlock(stride))
		if !bytes.Equal(next, rawHead(m*stride, false)) {
			return errors.New("a block of codes has a wrong size")
		}
		buf = c.buf[:m*stride+blockHead]
		if err := f.readAt(buf, at); err != nil {
			return err
		}
		if !rows(codeRows{first, buf[:m*stride], c.err[first : first+m], c.check[first : first+m]}) {
			return errCodes
		}
		next = buf[m*stride:]
		at += int64(len(buf))
		first += m
	}
	return codesTail(f, at, next, checksum)
}

// head reads everything before the codes and returns the head of the first
// block of them.
func (c *codesReader) head(buf []byte, rows, dim, head int) ([]byte, error) {
	var want [frameHead]byte
	le.PutUint32(want[:], frameMagic)
	want[4] = codesDescriptor
	le.PutUint32(want[5:], uint32(head+rows*vector.Stride(dim)+len(codesEnd)))
	if !bytes.Equal(buf[:frameHead], want[:]) || !bytes.Equal(buf[frameHead:frameHead+blockHead], rawHead(head, false)) {
		return nil, errors.New("not a frame of codes")
	}
	if len(c.base) != dim {
		c.base, c.step = make([]float32, dim), make([]float32, dim)
	}
	if cap(c.err) < rows {
		c.err, c.check = make([]float32, rows), make([]int32, rows)
	}
	c.err, c.check = c.err[:rows], c.check[:rows]
	if err := c.parse(buf[frameHead+blockHead:frameHead+blockHead+head], rows, dim); err != nil {
		return nil, err
	}
	return buf[len(buf)-blockHead:], nil
}

// parse reads the arrays from the line up to its codes.
func (c *codesReader) parse(line []byte, rows, dim int) error {
	rest, bad := line, false
	take := func(n int) []byte {
		part := rest[:n]
		rest = rest[n:]
		return part
	}
	expect := func(s string) { bad = string(take(len(s))) != s || bad }
	numbers, perRow := base64.StdEncoding.EncodedLen(4*dim), base64.StdEncoding.EncodedLen(4*rows)
	expect(codesPrefix(rows, dim))
	base := take(numbers)
	expect(stepBegin)
	step := take(numbers)
	expect(errBegin)
	errs := take(perRow)
	expect(checkBegin)
	check := take(perRow)
	hashed := line[:len(line)-len(rest)]
	expect(headBegin)
	bad = !bytes.Equal(take(headDigits), headCheck(hashed)) || bad
	expect(codesBegin)
	if bad {
		return errors.New("the head of the codes does not match its check")
	}
	for _, a := range []struct {
		dst  []float32
		text []byte
	}{{c.base, base}, {c.step, step}, {c.err, errs}} {
		if err := floats(a.dst, a.text); err != nil {
			return err
		}
	}
	var err error
	c.scratch, err = integers(c.check, check, c.scratch)
	return err
}

// codesTail checks the end of the frame.
func codesTail(f *file, at int64, next []byte, checksum uint32) error {
	want := append(rawHead(len(codesEnd), true), codesEnd...)
	got := append(make([]byte, 0, len(want)+checksumSize), next...)[:len(want)+checksumSize]
	if err := f.readAt(got[blockHead:], at); err != nil {
		return err
	}
	if !bytes.Equal(got[:len(want)], want) {
		return errors.New("the frame of codes does not end where it should")
	}
	if le.Uint32(got[len(want):]) != checksum {
		return errForeign
	}
	return nil
}

// codesChecksum is what the seek table says of the codes of a segment, which
// are its last frame.
func (r *reader) codesChecksum(s *segment) (uint32, error) {
	entries, err := r.table.read(r.f, s.frame+s.frames()-1, 1)
	if err != nil {
		return 0, err
	}
	return entries[0].checksum, nil
}
