package flat

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"

	"kb/pkg/store"
)

// extent is a frame, or bytes that are no whole frame.
type extent struct {
	off, end int64
	content  int64 // length of the text, -1 if it is unknown
	cut      bool  // the file ends before the frame does
}

// walk yields every line of a file that can be trusted, and an error for every
// frame that cannot; it goes on behind a bad frame. Frames are found by the
// seek table, or without one by their own structure and, behind damage, by
// their magic number.
func walk(ctx context.Context, f *file, dec *decoders) iter.Seq2[walked, error] {
	return func(yield func(walked, error) bool) {
		table, ok, _ := findSeekTable(f)
		if ok {
			all, err := tableExtents(f, table)
			if err == nil {
				walkExtents(ctx, f, dec, all, yield)
				return
			}
			if !yield(walked{off: table.start}, f.damaged(table.start, err)) {
				return
			}
		}
		walkStructure(ctx, f, dec, yield)
	}
}

// walked is the content of one frame.
type walked struct {
	off  int64
	text []byte // whole lines, valid until the next one
	more bool   // the frame goes on in the next one: it is longer than maxLine
}

func tableExtents(f *file, table seekTable) ([]extent, error) {
	entries, err := table.read(f, 0, table.frames)
	if err != nil {
		return nil, err
	}
	all := make([]extent, len(entries))
	at := int64(0)
	for i, e := range entries {
		all[i] = extent{off: at, end: at + int64(e.compressed), content: int64(e.content)}
		at = all[i].end
	}
	if at != table.start {
		return nil, errors.New("the seek table does not cover the file")
	}
	return all, nil
}

func walkExtents(ctx context.Context, f *file, dec *decoders, all []extent, yield func(walked, error) bool) {
	var s slot
	for _, e := range all {
		if err := ctx.Err(); err != nil {
			yield(walked{}, err)
			return
		}
		text, err := readFrame(f, dec, e, &s)
		if err != nil {
			err = f.damaged(e.off, err)
		}
		if !yield(walked{off: e.off, text: text}, err) {
			return
		}
	}
}

func readFrame(f *file, dec *decoders, e extent, s *slot) ([]byte, error) {
	if e.end-e.off > maxLine+maxLine/8 {
		return nil, errors.New("the frame is longer than any frame may be")
	}
	if n := int(e.end - e.off); cap(s.in) < n {
		s.in = make([]byte, n)
	}
	s.in = s.in[:e.end-e.off]
	if err := f.readAt(s.in, e.off); err != nil {
		return nil, err
	}
	out, err := dec.decode(s.in, s.out[:0])
	if err != nil {
		return nil, err
	}
	s.out = out
	if e.content >= 0 && e.content != int64(len(out)) {
		return nil, errors.New("the seek table has another length of its text")
	}
	if len(out) == 0 || out[len(out)-1] != '\n' {
		return nil, errors.New("the frame does not end with a line")
	}
	return out, nil
}

// walkStructure walks a file without a seek table.
func walkStructure(ctx context.Context, f *file, dec *decoders, yield func(walked, error) bool) {
	var s slot
	for off := int64(0); off < f.size; {
		if err := ctx.Err(); err != nil {
			yield(walked{}, err)
			return
		}
		e, skip, err := frameExtent(f, off)
		if skip && err == nil {
			off = e.end
			continue
		}
		done := false
		if err == nil && !e.cut {
			if text, ferr := readFrame(f, dec, e, &s); ferr == nil {
				if !yield(walked{off: off, text: text}, nil) {
					return
				}
				off, done = e.end, true
			}
		}
		if done {
			continue
		}
		if err == nil {
			// Not a frame of ours: long, without a checksum, or cut off.
			err = streamFrame(f, e, yield)
			if err == errStopped {
				return
			}
			if err == nil {
				off = e.end
				continue
			}
		}
		if !yield(walked{off: off}, f.damaged(off, err)) {
			return
		}
		off = nextMagic(f, off+1)
	}
}

var errStopped = errors.New("stopped")

// streamFrame yields the lines of a frame of any length. A first pass makes
// sure of its checksum. The lines before the end of a file that is cut off are
// as they were written; those of a frame that was altered are not known to be.
func streamFrame(f *file, e extent, yield func(walked, error) bool) error {
	pass := func() (*zstd.Decoder, error) {
		return zstd.NewReader(io.NewSectionReader(f.r, e.off, e.end-e.off), zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindowSize), zstd.WithDecoderMaxMemory(maxWindowSize))
	}
	z, err := pass()
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, &limitedReader{z, relayoutSlack + relayoutRatio*f.size})
	z.Close()
	if err != nil && !(e.cut && errors.Is(err, io.ErrUnexpectedEOF)) {
		return err
	}
	if z, err = pass(); err != nil {
		return err
	}
	defer z.Close()
	buf := make([]byte, 0, 1<<20)
	for {
		if len(buf) == cap(buf) {
			if len(buf) >= maxLine {
				return errors.New("a line is longer than any line may be")
			}
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
		n, err := z.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if end := bytes.LastIndexByte(buf, '\n') + 1; end > 0 {
			if !yield(walked{off: e.off, text: buf[:end], more: true}, nil) {
				return errStopped
			}
			buf = buf[:copy(buf, buf[end:])]
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return errCut
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// frameExtent finds the end of the frame at an offset from its own structure;
// skip is true for a skippable frame.
func frameExtent(f *file, off int64) (e extent, skip bool, err error) {
	buf := make([]byte, min(zstd.HeaderMaxSize, f.size-off))
	if err := f.readAt(buf, off); err != nil {
		return extent{}, false, err
	}
	var h zstd.Header
	if err := h.Decode(buf); err != nil {
		return extent{}, false, err
	}
	at := off + int64(h.HeaderSize)
	if h.Skippable {
		e = extent{off: off, end: at + int64(h.SkippableSize)}
		if e.end > f.size {
			return e, true, errCut
		}
		return e, true, nil
	}
	for last := false; !last; {
		var head [blockHead]byte
		if err := f.readAt(head[:], at); err != nil {
			return extent{off: off, end: f.size, content: -1, cut: true}, false, nil
		}
		b := uint32(head[0]) | uint32(head[1])<<8 | uint32(head[2])<<16
		last = b&1 != 0
		size := int64(b >> 3)
		switch b >> 1 & 3 {
		case 1: // one byte, repeated
			size = 1
		case 3:
			return extent{}, false, errors.New("a block of a reserved type")
		}
		at += blockHead + size
	}
	if h.HasCheckSum {
		at += checksumSize
	}
	if at > f.size {
		return extent{off: off, end: f.size, content: -1, cut: true}, false, nil
	}
	return extent{off: off, end: at, content: -1}, false, nil
}

// nextMagic returns the offset of the next frame, or the end of the file.
func nextMagic(f *file, off int64) int64 {
	magic := le.AppendUint32(nil, frameMagic)
	buf := make([]byte, 256<<10)
	for off < f.size {
		n := min(int64(len(buf)), f.size-off)
		if f.readAt(buf[:n], off) != nil {
			return f.size
		}
		if i := bytes.Index(buf[:n], magic); i >= 0 {
			return off + int64(i)
		}
		if n < int64(len(buf)) {
			return f.size
		}
		off += n - int64(len(magic)-1)
	}
	return f.size
}

// asDamage returns an error as the damage it names; nil if it is another one.
func asDamage(err error) *store.DamagedError {
	var d *store.DamagedError
	errors.As(err, &d)
	return d
}
