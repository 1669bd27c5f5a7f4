package main

import (
	"errors"
	"strconv"
	"strings"
)

// parseSize reads a size in bytes: 500, 64K, 64M, 2G (powers of 1024; a B or
// iB at the end is allowed).
func parseSize(s string) (int64, error) {
	number := strings.ToUpper(strings.TrimSpace(s))
	number = strings.TrimSuffix(strings.TrimSuffix(number, "B"), "I")
	shift := 0
	for i, unit := range []string{"K", "M", "G"} {
		if rest, ok := strings.CutSuffix(number, unit); ok {
			number, shift = rest, 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || n < 1 || n > 1<<62>>shift {
		return 0, errors.New("not a size; write for example 500K, 64M or 2G")
	}
	return n << shift, nil
}
