package milvus

import (
	"slices"
	"testing"
)

func TestWire(t *testing.T) {
	m := message(nil).number(1, 300).text(2, "中文").flag(3, true).element(4, "").element(4, "b").
		message(5, message(nil).message(1, appendFloats(nil, []float32{1.5, -2}))).pairs(6, "k", "v").number(7, 0).text(8, "")
	var numbers []int
	for f := range fields(m) {
		numbers = append(numbers, f.number)
	}
	if !slices.Equal(numbers, []int{1, 2, 3, 4, 4, 5, 6}) {
		t.Errorf("%v", numbers)
	}
	if got, err := texts(m, 4); err != nil || !slices.Equal(got, []string{"", "b"}) || string(find(m, 2)) != "中文" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := floats(find(m, 5, 1)); err != nil || !slices.Equal(got, []float32{1.5, -2}) {
		t.Errorf("%v, %v", got, err)
	}
	if string(find(m, 6, 2)) != "v" || find(m, 9, 1) != nil {
		t.Error("find")
	}
}

// FuzzWire reads anything without a panic, and nothing beyond its end.
func FuzzWire(f *testing.F) {
	f.Add([]byte(message(nil).text(1, "a").number(2, 1<<40).message(3, []byte{8, 1})))
	f.Add([]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Add([]byte{0x0d, 1, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		for f := range fields(b) {
			n += len(f.bytes)
		}
		if n > len(b) {
			t.Errorf("%d bytes in %d", n, len(b))
		}
		_, _ = texts(b, 1)
		_, _ = floats(find(b, 2, 1))
		_ = status("Query", b)
	})
}
