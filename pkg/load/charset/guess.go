package charset

import "unicode/utf8"

// sample is how much of a file the detector sees, in bytes; it takes 3 to
// 10 ms for that.
const sample = 64 << 10

// candidates are the encodings that data may be in, likeliest first.
func candidates(data []byte) []string {
	names := make([]string, 0, 6)
	if mostlyGB2312(data) {
		names = append(names, "GB18030")
	}
	if name := detect(data[:min(len(data), sample)]); Known(name) {
		names = append(names, name)
	}
	return append(names, "GB18030", "Big5", "Shift_JIS", "windows-1252")
}

// few is the number of bytes beyond ASCII below which a detector has nothing
// to count.
const few = 30

// mostlyGB2312 says whether data have so few bytes beyond ASCII that a
// detector can only guess, and these are pairs of the common half of GB 2312:
// 3,755 characters in rows 16 to 55, and punctuation in rows 1 and 3. Rows 4
// and 5 are kana, and speak for EUC-JP.
func mostlyGB2312(data []byte) bool {
	pairs, common, kana := 0, 0, 0
	for i := 0; i < len(data); i++ {
		if data[i] < utf8.RuneSelf {
			continue
		}
		if i+1 == len(data) || data[i] < 0xa1 || data[i+1] < 0xa1 {
			return false
		}
		switch row := data[i]; {
		case row >= 0xb0 && row <= 0xd7, row == 0xa1, row == 0xa3:
			common++
		case row == 0xa4, row == 0xa5:
			kana++
		}
		pairs++
		i++
	}
	return pairs > 0 && 2*pairs < few && kana == 0 && common*10 >= pairs*9
}

// utf16Pattern recognises UTF-16 without a byte order mark: by its NULs, which
// stand at even or at odd places only, or by decoding to Chinese. "" if it is
// not UTF-16.
func utf16Pattern(data []byte) string {
	if len(data) < 4 || len(data)%2 != 0 {
		return ""
	}
	even, odd := 0, 0
	for i := 0; i < len(data); i += 2 {
		if data[i] == 0 {
			even++
		}
		if data[i+1] == 0 {
			odd++
		}
	}
	units := len(data) / 2
	switch {
	case odd*10 > units*6 && even == 0:
		return "UTF-16LE"
	case even*10 > units*6 && odd == 0:
		return "UTF-16BE"
	case utf8.Valid(data):
		return ""
	case chinese16(data, 1) && even <= odd:
		return "UTF-16LE"
	case chinese16(data, 0) && odd <= even:
		return "UTF-16BE"
	}
	return ""
}

// chinese16 says whether data are Chinese text in UTF-16 with the high byte of
// each unit at the place given. Nearly all units must be Chinese characters,
// their punctuation or ASCII; at least half of the characters must lie below
// U+8000, where Shift_JIS cannot imitate them; and one byte in five must be
// beyond ASCII, or Latin text would pass.
func chinese16(data []byte, high int) bool {
	const least = 8
	units, good, low, han, wide := 0, 0, 0, 0, 0
	for i := 0; i+1 < len(data); i += 2 {
		h, l := data[i+high], data[i+1-high]
		switch {
		case h >= 0x4e && h <= 0x9f:
			good++
			han++
			if h < 0x80 {
				low++
			}
		case h == 0x30, h == 0xff, h == 0x20, h == 0 && (l >= 0x20 && l < 0x7f || l == '\n' || l == '\r' || l == '\t'):
			good++
		}
		if h >= utf8.RuneSelf {
			wide++
		}
		if l >= utf8.RuneSelf {
			wide++
		}
		units++
	}
	return units >= least && good*20 >= units*19 && low*2 >= han && wide*5 >= len(data)
}
