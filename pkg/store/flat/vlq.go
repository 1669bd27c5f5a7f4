package flat

import "errors"

// Postings and lengths are sequences of unsigned integers in base 32 with the
// 64 digits of base64, least digit first, 32 added to each digit but the last
// of a number (a "variable-length quantity", as in ECMA-426 source maps, but
// without a sign). Characters that are whole digits suit the entropy coder of
// zstd: 7 to 9 percent less than base64 of byte varints after compression,
// and nothing to decode in between.
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

const maxDigits = 7 // 35 bits: enough for any row

var errDigits = errors.New("a number is not made of base64 digits, or is too long")

func appendNumber(dst []byte, v uint64) []byte {
	for v >= 32 {
		dst = append(dst, digits[32+v&31])
		v >>= 5
	}
	return append(dst, digits[v])
}

// digitValues has 1 more than the value of each digit, and 0 for all other
// characters.
var digitValues = [256]byte{
	'A': 1, 'B': 2, 'C': 3, 'D': 4, 'E': 5, 'F': 6, 'G': 7, 'H': 8, 'I': 9, 'J': 10, 'K': 11, 'L': 12, 'M': 13,
	'N': 14, 'O': 15, 'P': 16, 'Q': 17, 'R': 18, 'S': 19, 'T': 20, 'U': 21, 'V': 22, 'W': 23, 'X': 24, 'Y': 25, 'Z': 26,
	'a': 27, 'b': 28, 'c': 29, 'd': 30, 'e': 31, 'f': 32, 'g': 33, 'h': 34, 'i': 35, 'j': 36, 'k': 37, 'l': 38, 'm': 39,
	'n': 40, 'o': 41, 'p': 42, 'q': 43, 'r': 44, 's': 45, 't': 46, 'u': 47, 'v': 48, 'w': 49, 'x': 50, 'y': 51, 'z': 52,
	'0': 53, '1': 54, '2': 55, '3': 56, '4': 57, '5': 58, '6': 59, '7': 60, '8': 61, '9': 62, '+': 63, '/': 64,
}

// number reads one number at the start of s and returns how long it is; 0 if
// there is none.
func number(s []byte) (v uint64, n int) {
	for n < len(s) && n < maxDigits {
		d := digitValues[s[n]] - 1
		if d > 63 {
			return 0, 0
		}
		v |= uint64(d&31) << (5 * n)
		n++
		if d < 32 {
			return v, n
		}
	}
	return 0, 0
}
