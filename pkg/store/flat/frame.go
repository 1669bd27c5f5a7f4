package flat

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

var le = binary.LittleEndian

// Every frame of the file is a zstd frame (RFC 8878) with its content size
// and a checksum of the content.

// encoder makes frames. The tables of its two halves are made when they are
// first needed: in a short process their page faults cost more than the
// encoding. One goroutine at a time.
type encoder struct {
	text, digits *zstd.Encoder
}

// lines makes a frame of text.
func (e *encoder) lines(dst, content []byte) ([]byte, error) {
	return e.encode(&e.text, zstd.SpeedDefault, dst, content)
}

// numbers makes a frame of base64 or digits, in which there is nothing to find
// but the shape of the lines.
func (e *encoder) numbers(dst, content []byte) ([]byte, error) {
	return e.encode(&e.digits, zstd.SpeedFastest, dst, content)
}

func (e *encoder) encode(enc **zstd.Encoder, level zstd.EncoderLevel, dst, content []byte) ([]byte, error) {
	if *enc == nil {
		var err error
		*enc, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1),
			zstd.WithSingleSegment(true), zstd.WithAllLitEntropyCompression(true), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return nil, err
		}
	}
	return (*enc).EncodeAll(content, dst), nil
}

// frameSet is a run of frames that were made together.
type frameSet struct {
	enc     *encoder
	data    []byte
	entries []frameEntry
}

// text appends a frame of text, and numbers one of base64 or digits.
func (f *frameSet) text(content []byte) error    { return f.add(f.enc.lines, content) }
func (f *frameSet) numbers(content []byte) error { return f.add(f.enc.numbers, content) }

func (f *frameSet) add(encode func(dst, content []byte) ([]byte, error), content []byte) error {
	before := len(f.data)
	var err error
	if f.data, err = encode(f.data, content); err != nil {
		return err
	}
	f.entries = append(f.entries, entryOf(f.data[before:], len(content)))
	return nil
}

// grouped appends lines as frames of text of at most limit bytes, or one line,
// and returns how many frames there were.
func (f *frameSet) grouped(lines [][]byte, limit int) (frames int, err error) {
	var content []byte
	for i, line := range lines {
		content = append(append(content, line...), '\n')
		if i+1 < len(lines) && len(content)+len(lines[i+1]) < limit {
			continue
		}
		if err := f.text(content); err != nil {
			return frames, err
		}
		frames++
		content = content[:0]
	}
	return frames, nil
}

// decodeSlack is room behind what is decoded, in bytes: with less of it the
// decoder checks each of its copies and is slower.
const decodeSlack = 32

// decoders decode frames; for many goroutines at once.
type decoders struct{ z *zstd.Decoder }

func newDecoders(concurrency int) (*decoders, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(concurrency), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxLine), zstd.WithDecoderMaxWindow(maxLine), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, err
	}
	return &decoders{z}, nil
}

// decode appends the content of exactly one frame to dst.
func (d *decoders) decode(frame, dst []byte) ([]byte, error) {
	size, err := contentSize(frame)
	if err != nil {
		return nil, err
	}
	start, end := len(dst), len(dst)+size+decodeSlack
	if cap(dst) < end {
		grown := make([]byte, start, end)
		copy(grown, dst)
		dst = grown
	}
	out, err := d.z.DecodeAll(frame, dst[:start:end])
	if err != nil {
		return nil, err
	}
	if len(out)-start != size {
		return nil, errors.New("the frame is not as long as it says")
	}
	return out, nil
}

func (d *decoders) close() { d.z.Close() }

// contentSize reads the size from the head of a frame.
func contentSize(frame []byte) (int, error) {
	var h zstd.Header
	if err := h.Decode(frame); err != nil {
		return 0, fmt.Errorf("not a zstd frame: %w", err)
	}
	if h.Skippable || !h.HasFCS || !h.HasCheckSum || h.DictionaryID != 0 {
		return 0, errors.New("not a frame with size and checksum")
	}
	// A block is at least 4 bytes and at most 128 KiB decoded, so a size beyond
	// that is a lie and nothing is allocated for it.
	if h.FrameContentSize > maxLine || h.FrameContentSize > uint64(len(frame))<<15 {
		return 0, fmt.Errorf("the frame has %d bytes of content, which is too much", h.FrameContentSize)
	}
	return int(h.FrameContentSize), nil
}
