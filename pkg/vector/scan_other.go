//go:build !amd64 || purego

package vector

func scan(sums []int32, codes []byte, n []int16) { scanGo(sums, codes, n) }

func scanChecked(sums, checks []int32, codes []byte, n, m []int16) {
	scanGo(sums, codes, n)
	scanGo(checks, codes, m)
}
