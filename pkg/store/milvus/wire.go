package milvus

import (
	"encoding/binary"
	"errors"
	"iter"
	"math"
)

// Messages are those of milvus.proto, schema.proto and common.proto in
// github.com/milvus-io/milvus-proto, written and read by field number in the
// wire format of Protocol Buffers: 20 of them, of which kb needs a few fields
// each.

// message is a message that is being written. Fields with zero values are left
// out, as the format has it.
type message []byte

const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

func (m message) tag(field, wire int) message {
	return binary.AppendUvarint(m, uint64(field)<<3|uint64(wire))
}

func (m message) number(field int, v uint64) message {
	if v == 0 {
		return m
	}
	return binary.AppendUvarint(m.tag(field, wireVarint), v)
}

func (m message) flag(field int, v bool) message {
	if !v {
		return m
	}
	return m.number(field, 1)
}

func (m message) text(field int, s string) message {
	if s == "" {
		return m
	}
	return m.element(field, s)
}

// element is one of a repeated field of texts, which may be empty.
func (m message) element(field int, s string) message {
	return append(binary.AppendUvarint(m.tag(field, wireBytes), uint64(len(s))), s...)
}

func (m message) message(field int, sub []byte) message {
	return append(binary.AppendUvarint(m.tag(field, wireBytes), uint64(len(sub))), sub...)
}

// pairs are key-value pairs: key, value, key, value and so on.
func (m message) pairs(field int, kv ...string) message {
	for i := 0; i < len(kv); i += 2 {
		m = m.message(field, message(nil).text(1, kv[i]).text(2, kv[i+1]))
	}
	return m
}

// field is a field that was read.
type field struct {
	number int
	value  uint64 // of a number
	bytes  []byte // of a text, a message or packed numbers
}

var errWire = errors.New("a message that cannot be read")

// fields lists the fields of a message. What does not parse comes as a field
// with the number 0, the last.
func fields(b []byte) iter.Seq[field] {
	return func(yield func(field) bool) {
		for len(b) > 0 {
			f, rest, ok := cutField(b)
			if !ok {
				yield(field{})
				return
			}
			if !yield(f) {
				return
			}
			b = rest
		}
	}
}

func cutField(b []byte) (f field, rest []byte, ok bool) {
	tag, n := binary.Uvarint(b)
	if n <= 0 || tag>>3 == 0 || tag>>3 > math.MaxInt32 {
		return f, nil, false
	}
	b = b[n:]
	f.number = int(tag >> 3)
	size := 0
	switch tag & 7 {
	case wireVarint:
		f.value, size = binary.Uvarint(b)
		if size <= 0 {
			return f, nil, false
		}
	case wire64:
		size = 8
	case wire32:
		size = 4
	case wireBytes:
		length, n := binary.Uvarint(b)
		if n <= 0 || length > uint64(len(b)-n) {
			return f, nil, false
		}
		f.bytes, size = b[n:n+int(length)], n+int(length)
	default:
		return f, nil, false
	}
	if size > len(b) {
		return f, nil, false
	}
	return f, b[size:], true
}

// find is the content of the field that a path of numbers leads to; nil if
// there is none.
func find(b []byte, path ...int) []byte {
	for _, number := range path {
		var found []byte
		for f := range fields(b) {
			if f.number == number && f.bytes != nil {
				found = f.bytes
			}
		}
		b = found
	}
	return b
}

// texts are the elements of a repeated field of texts.
func texts(b []byte, number int) ([]string, error) {
	var out []string
	for f := range fields(b) {
		switch f.number {
		case 0:
			return nil, errWire
		case number:
			out = append(out, string(f.bytes))
		}
	}
	return out, nil
}

// floats reads packed numbers of 32 bits.
func floats(b []byte) ([]float32, error) {
	if len(b)%4 != 0 {
		return nil, errWire
	}
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out, nil
}
