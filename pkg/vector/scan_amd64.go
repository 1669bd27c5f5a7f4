//go:build !purego

package vector

import "golang.org/x/sys/cpu"

func scan(sums []int32, codes []byte, n []int16) {
	if len(sums) == 0 {
		return
	}
	if !cpu.X86.HasAVX2 || len(n)%align != 0 || len(n) == 0 {
		scanGo(sums, codes, n)
		return
	}
	_ = codes[len(sums)*len(n)-1]
	scanAVX2(&sums[0], &codes[0], &n[0], len(sums), len(n))
}

func scanChecked(sums, checks []int32, codes []byte, n, m []int16) {
	if len(sums) == 0 {
		return
	}
	if !cpu.X86.HasAVX2 || len(n)%align != 0 || len(n) == 0 {
		scanGo(sums, codes, n)
		scanGo(checks, codes, m)
		return
	}
	_, _, _ = codes[len(sums)*len(n)-1], checks[len(sums)-1], m[len(n)-1]
	scanCheckedAVX2(&sums[0], &checks[0], &codes[0], &n[0], &m[0], len(sums), len(n))
}

// The assembly needs rows ≥ 1 and a stride that is a multiple of 64.

//go:noescape
func scanAVX2(sums *int32, codes *byte, n *int16, rows, stride int)

//go:noescape
func scanCheckedAVX2(sums, checks *int32, codes *byte, n, m *int16, rows, stride int)
