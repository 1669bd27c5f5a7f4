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
	}
	return singleByte(key)
}

// singleByte returns the encodings of one byte a character, under the names
// that IANA prefers.
func singleByte(key string) (encoding.Encoding, string, bool) {
	switch key {
	case "iso88591", "latin1", "windows1252", "cp1252":
		return charmap.Windows1252, "windows-1252", true
	case "windows1250", "cp1250":
		return charmap.Windows1250, "windows-1250", true
	case "windows1251", "cp1251":
		return charmap.Windows1251, "windows-1251", true
	case "windows1253", "cp1253":
		return charmap.Windows1253, "windows-1253", true
	case "windows1254", "cp1254":
		return charmap.Windows1254, "windows-1254", true
	case "windows1255", "cp1255":
		return charmap.Windows1255, "windows-1255", true
	case "windows1256", "cp1256":
		return charmap.Windows1256, "windows-1256", true
	case "windows1257", "cp1257":
		return charmap.Windows1257, "windows-1257", true
	case "iso88592", "latin2":
		return charmap.ISO8859_2, "ISO-8859-2", true
	case "iso88595":
		return charmap.ISO8859_5, "ISO-8859-5", true
	case "iso88597":
		return charmap.ISO8859_7, "ISO-8859-7", true
	case "iso88599", "latin5":
		return charmap.ISO8859_9, "ISO-8859-9", true
	case "iso885915", "latin9":
		return charmap.ISO8859_15, "ISO-8859-15", true
	case "koi8r":
		return charmap.KOI8R, "KOI8-R", true
	case "macroman", "macintosh":
		return charmap.Macintosh, "macintosh", true
	case "ibm866", "cp866":
		return charmap.CodePage866, "IBM866", true
	}
	return nil, key, false
}
