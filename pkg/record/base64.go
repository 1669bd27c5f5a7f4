package record

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// Arrays of 32-bit numbers travel as base64 of their little-endian bytes. Both
// ways go by tables, three numbers and sixteen characters at a time, which takes
// a third of the time of encoding/base64; that serves for what is left at the end.

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// fourDigits holds what each of four characters contributes to three
// little-endian bytes.
type fourDigits [4][256]uint32

const notBase64 = 1 << 31

var decodeTable = sync.OnceValue(func() *fourDigits {
	t := new(fourDigits)
	for i := range t {
		for c := range t[i] {
			t[i][c] = notBase64
		}
	}
	for v := range uint32(64) {
		c := base64Digits[v]
		t[0][c] = v << 2
		t[1][c] = v>>4 | v&15<<12
		t[2][c] = v>>2<<8 | v&3<<22
		t[3][c] = v << 16
	}
	return t
})

// DecodeWords decodes base64 of little-endian 32-bit words into dst, whose length
// must fit.
func DecodeWords(dst []uint32, text []byte) error {
	if len(text) != base64.StdEncoding.EncodedLen(4*len(dst)) {
		return fmt.Errorf("%d characters where %d numbers were expected", len(text), len(dst))
	}
	t := decodeTable()
	wrong := uint32(0)
	for len(dst) >= 3 && len(text) >= 16 {
		s := text[:16]
		a := t[0][s[0]] | t[1][s[1]] | t[2][s[2]] | t[3][s[3]]
		b := t[0][s[4]] | t[1][s[5]] | t[2][s[6]] | t[3][s[7]]
		c := t[0][s[8]] | t[1][s[9]] | t[2][s[10]] | t[3][s[11]]
		d := t[0][s[12]] | t[1][s[13]] | t[2][s[14]] | t[3][s[15]]
		wrong |= a | b | c | d
		dst[0], dst[1], dst[2] = a|b<<24, b>>8&0xFFFF|c<<16, c>>16&0xFF|d<<8
		dst, text = dst[3:], text[16:]
	}
	var raw [8]byte
	n, err := base64.StdEncoding.Decode(raw[:], text)
	if err != nil || n != 4*len(dst) || wrong&notBase64 != 0 {
		return errors.New("an array of numbers is not base64")
	}
	for i := range dst {
		dst[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return nil
}

// DecodeFloats decodes base64 of little-endian float32 into dst, whose length
// must fit. It does not judge the numbers.
func DecodeFloats(dst []float32, text []byte) error {
	var words [96]uint32
	const digits = 4 * len(words) / 3 * 4
	for len(dst) > len(words) && len(text) > digits {
		if err := DecodeWords(words[:], text[:digits]); err != nil {
			return err
		}
		for i, w := range words {
			dst[i] = math.Float32frombits(w)
		}
		dst, text = dst[len(words):], text[digits:]
	}
	if len(dst) > len(words) {
		return errors.New("an array of numbers is too short")
	}
	if err := DecodeWords(words[:len(dst)], text); err != nil {
		return err
	}
	for i := range dst {
		dst[i] = math.Float32frombits(words[i])
	}
	return nil
}

// encodeTable holds the two characters of each number of 12 bits, the first in
// the low byte.
var encodeTable = sync.OnceValue(func() *[1 << 12]uint16 {
	t := new([1 << 12]uint16)
	for i := range t {
		t[i] = uint16(base64Digits[i>>6]) | uint16(base64Digits[i&63])<<8
	}
	return t
})

// AppendFloats appends base64 of little-endian float32.
func AppendFloats(dst []byte, v []float32) []byte {
	n := base64.StdEncoding.EncodedLen(4 * len(v))
	dst = slices.Grow(dst, n)
	out := dst[len(dst) : len(dst)+n]
	t := encodeTable()
	pairs := func(a, b, c, d uint64) uint64 {
		return uint64(t[a&0xFFF]) | uint64(t[b&0xFFF])<<16 | uint64(t[c&0xFFF])<<32 | uint64(t[d&0xFFF])<<48
	}
	for len(v) >= 3 && len(out) >= 16 {
		x := uint64(bytesOf(v[0]))<<32 | uint64(bytesOf(v[1]))
		y := uint64(bytesOf(v[2]))
		binary.LittleEndian.PutUint64(out, pairs(x>>52, x>>40, x>>28, x>>16))
		binary.LittleEndian.PutUint64(out[8:], pairs(x>>4, x<<8|y>>24, y>>12, y))
		v, out = v[3:], out[16:]
	}
	var raw [8]byte
	for i, x := range v {
		binary.LittleEndian.PutUint32(raw[4*i:], math.Float32bits(x))
	}
	base64.StdEncoding.Encode(out, raw[:4*len(v)])
	return dst[:len(dst)+n]
}

// bytesOf is the number whose digits in base 256 are the bytes as they are stored.
func bytesOf(x float32) uint32 { return bits.ReverseBytes32(math.Float32bits(x)) }
