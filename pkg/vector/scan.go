package vector

// scanGo is the plain form of the scan, and what machines without the
// assembly run. Integers make both forms give the same numbers: sums of a
// query fit into 32 bits (see digitScale), and those of a check wrap around.
func scanGo(sums []int32, codes []byte, n []int16) {
	for i := range sums {
		row := codes[i*len(n) : (i+1)*len(n)]
		var a, b, c, d int32
		for j := 0; j+4 <= len(n) && j+4 <= len(row); j += 4 {
			a += int32(n[j]) * int32(row[j])
			b += int32(n[j+1]) * int32(row[j+1])
			c += int32(n[j+2]) * int32(row[j+2])
			d += int32(n[j+3]) * int32(row[j+3])
		}
		sums[i] = a + b + c + d
	}
}
