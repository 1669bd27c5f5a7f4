package flat

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"sync"
)

// Arrays of numbers are decoded from base64 by tables that hold what each of
// four characters contributes to three little-endian bytes: three times as
// fast as encoding/base64, which would be a tenth of a search.
type base64Tables [4][256]uint32

const notBase64 = 1 << 31

var base64Table = sync.OnceValue(func() *base64Tables {
	t := new(base64Tables)
	for i := range t {
		for c := range t[i] {
			t[i][c] = notBase64
		}
	}
	for v := range uint32(64) {
		c := digits[v]
		t[0][c] = v << 2
		t[1][c] = v>>4 | v&15<<12
		t[2][c] = v>>2<<8 | v&3<<22
		t[3][c] = v << 16
	}
	return t
})

// words decodes base64 of little-endian 32-bit words into dst, whose length
// must fit.
func words(dst []uint32, text []byte) error {
	if len(text) != base64.StdEncoding.EncodedLen(4*len(dst)) {
		return fmt.Errorf("%d characters where %d numbers were expected", len(text), len(dst))
	}
	t := base64Table()
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
		dst[i] = le.Uint32(raw[4*i:])
	}
	return nil
}

// floats decodes base64 of float32 into dst, which has the right length; every
// value must be finite. It returns scratch memory to use again.
func floats(dst []float32, text []byte, scratch []uint32) ([]uint32, error) {
	scratch, err := intoScratch(scratch, len(dst), text)
	if err != nil {
		return scratch, err
	}
	for i, bits := range scratch {
		if bits&0x7F800000 == 0x7F800000 {
			return scratch, fmt.Errorf("number %d is not finite", i)
		}
		dst[i] = math.Float32frombits(bits)
	}
	return scratch, nil
}

// integers decodes base64 of 32-bit integers into dst.
func integers(dst []int32, text []byte, scratch []uint32) ([]uint32, error) {
	scratch, err := intoScratch(scratch, len(dst), text)
	if err != nil {
		return scratch, err
	}
	for i, bits := range scratch {
		dst[i] = int32(bits)
	}
	return scratch, nil
}

func intoScratch(scratch []uint32, n int, text []byte) ([]uint32, error) {
	if cap(scratch) < n {
		scratch = make([]uint32, n)
	}
	scratch = scratch[:n]
	return scratch, words(scratch, text)
}
