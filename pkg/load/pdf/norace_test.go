//go:build !race

package pdf

const race = false
