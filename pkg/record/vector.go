package record

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
)

// Vector is an embedding. On the wire it is base64 (RFC 4648, padded) of
// little-endian float32; a JSON array of numbers is accepted as well.
type Vector []float32

// MarshalJSON writes the vector as a base64 string.
func (v Vector) MarshalJSON() ([]byte, error) {
	return append(AppendFloats([]byte{'"'}, v), '"'), nil
}

// UnmarshalJSON reads either form. It does not judge the numbers; see [Vector.Check].
func (v *Vector) UnmarshalJSON(data []byte) error {
	switch {
	case bytes.Equal(data, []byte("null")):
		*v = nil
		return nil
	case data[0] == '"':
		data = data[1 : len(data)-1]
		if bytes.IndexByte(data, '\\') >= 0 { // some encoders write / as \/
			data = bytes.ReplaceAll(data, []byte(`\/`), []byte("/"))
		}
		raw := make([]byte, base64.StdEncoding.DecodedLen(len(data)))
		n, err := base64.StdEncoding.Decode(raw, data)
		if err != nil {
			return fmt.Errorf("vector: not base64: %w", err)
		}
		if *v, err = VectorFromBytes(raw[:n]); err != nil {
			return fmt.Errorf("vector: %w", err)
		}
		return nil
	}
	var numbers []*float64
	if err := json.Unmarshal(data, &numbers); err != nil {
		return fmt.Errorf("vector: neither base64 nor an array of numbers: %w", err)
	}
	out := make(Vector, len(numbers))
	for i, x := range numbers {
		if x == nil {
			return fmt.Errorf("vector: element %d is null", i)
		}
		out[i] = float32(*x)
	}
	*v = out
	return nil
}

// Bytes is the vector as little-endian float32.
func (v Vector) Bytes() []byte {
	raw := make([]byte, 4*len(v))
	for i, x := range v {
		b := math.Float32bits(x)
		raw[4*i], raw[4*i+1], raw[4*i+2], raw[4*i+3] = byte(b), byte(b>>8), byte(b>>16), byte(b>>24)
	}
	return raw
}

// VectorFromBytes reads little-endian float32.
func VectorFromBytes(raw []byte) (Vector, error) {
	if len(raw)%4 != 0 {
		return nil, fmt.Errorf("%d bytes are no whole number of float32", len(raw))
	}
	v := make(Vector, len(raw)/4)
	for i := range v {
		v[i] = math.Float32frombits(uint32(raw[4*i]) | uint32(raw[4*i+1])<<8 | uint32(raw[4*i+2])<<16 | uint32(raw[4*i+3])<<24)
	}
	return v, nil
}

// infinity has all bits of the exponent set, and NaN some below them, too.
const infinity = 0x7F800000

// Check says why a vector cannot be searched: it is empty, has a NaN or an
// infinite element, or is zero.
func (v Vector) Check() error {
	if len(v) == 0 {
		return fmt.Errorf("vector is empty")
	}
	some, carry := uint32(0), uint32(0)
	for _, x := range v {
		b := math.Float32bits(x) &^ (1 << 31)
		some |= b
		carry |= b + 1<<23 // into the sign, if all bits of the exponent are set
	}
	switch {
	case some == 0:
		return fmt.Errorf("vector is zero")
	case carry>>31 == 0:
		return nil
	}
	for i, x := range v {
		switch b := math.Float32bits(x) &^ (1 << 31); {
		case b > infinity:
			return fmt.Errorf("vector element %d is NaN", i)
		case b == infinity:
			return fmt.Errorf("vector element %d is infinite", i)
		}
	}
	return nil
}
