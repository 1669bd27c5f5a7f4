package charset

import (
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// byName returns the encoding of a name, nil for UTF-8, and its canonical
// name. Subsets of an encoding are read as the whole.
func byName(name string) (encoding.Encoding, string, bool) {
	key := strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
	switch key {
	case "utf8", "utf8sig", "ascii", "usascii":
		return nil, "UTF-8", true
	case "utf16", "utf16le":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "UTF-16LE", true
	case "utf16be":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "UTF-16BE", true
	case "utf32", "utf32le":
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), "UTF-32LE", true
	case "utf32be":
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), "UTF-32BE", true
	case "gb18030", "gbk", "gb2312", "cp936", "euccn":
		return simplifiedchinese.GB18030, "GB18030", true
	case "big5", "cp950", "big5hkscs":
		return traditionalchinese.Big5, "Big5", true
	case "shiftjis", "sjis", "cp932", "windows31j":
		return japanese.ShiftJIS, "Shift_JIS", true
	case "eucjp":
		return japanese.EUCJP, "EUC-JP", true
	case "euckr", "cp949", "uhc":
		return korean.EUCKR, "EUC-KR", true
	case "iso88591", "latin1", "cp1252":
		return charmap.Windows1252, "windows-1252", true
	}
	return singleByte(key)
}

func singleByte(key string) (encoding.Encoding, string, bool) {
	var m *charmap.Charmap
	switch key {
	case "windows1250":
		m = charmap.Windows1250
	case "windows1251", "cp1251":
		m = charmap.Windows1251
	case "windows1252":
		m = charmap.Windows1252
	case "windows1253":
		m = charmap.Windows1253
	case "windows1254":
		m = charmap.Windows1254
	case "windows1255":
		m = charmap.Windows1255
	case "windows1256":
		m = charmap.Windows1256
	case "windows1257":
		m = charmap.Windows1257
	case "iso88592", "latin2":
		m = charmap.ISO8859_2
	case "iso88595":
		m = charmap.ISO8859_5
	case "iso88597":
		m = charmap.ISO8859_7
	case "iso88599":
		m = charmap.ISO8859_9
	case "iso885915":
		m = charmap.ISO8859_15
	case "koi8r":
		m = charmap.KOI8R
	case "macroman", "macintosh":
		m = charmap.Macintosh
	case "ibm866", "cp866":
		m = charmap.CodePage866
	default:
		return nil, key, false
	}
	return m, strings.ReplaceAll(m.String(), " ", "-"), true
}
