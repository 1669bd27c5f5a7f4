package flat

import (
	"fmt"
	"math"

	"kb/pkg/record"
)

// floats decodes base64 of float32 into dst, which has the right length; every
// value must be finite.
func floats(dst []float32, text []byte) error {
	if err := record.DecodeFloats(dst, text); err != nil {
		return err
	}
	for i, x := range dst {
		if math.Float32bits(x)&0x7F800000 == 0x7F800000 {
			return fmt.Errorf("number %d is not finite", i)
		}
	}
	return nil
}

// integers decodes base64 of 32-bit integers into dst. It returns scratch
// memory to use again.
func integers(dst []int32, text []byte, scratch []uint32) ([]uint32, error) {
	if cap(scratch) < len(dst) {
		scratch = make([]uint32, len(dst))
	}
	scratch = scratch[:len(dst)]
	err := record.DecodeWords(scratch, text)
	for i, bits := range scratch {
		dst[i] = int32(bits)
	}
	return scratch, err
}
