package charset

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

const chinese = "机房的温度上限为二十六摄氏度，超过该值通知值班人员。\n第二行写着：钥匙在前台，请先登记。\n"

func encode(t *testing.T, e encoding.Encoding, s string) []byte {
	t.Helper()
	b, err := e.NewEncoder().Bytes([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestEncodings(t *testing.T) {
	le, be := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	for name, c := range map[string]struct {
		enc     encoding.Encoding
		text    string
		want    string
		guessed bool
	}{
		"utf-8":              {encoding.Nop, chinese, "UTF-8", false},
		"utf-8 mark":         {unicode.UTF8BOM, chinese, "UTF-8", false},
		"utf-16 le mark":     {unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), chinese, "UTF-16LE", false},
		"utf-16 be mark":     {unicode.UTF16(unicode.BigEndian, unicode.UseBOM), chinese, "UTF-16BE", false},
		"utf-32 le mark":     {utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), chinese, "UTF-32LE", false},
		"utf-16 le":          {le, chinese, "UTF-16LE", true},
		"utf-16 be":          {be, chinese, "UTF-16BE", true},
		"utf-16 le english":  {le, "plain words\n", "UTF-16LE", true},
		"gb18030":            {simplifiedchinese.GB18030, chinese, "GB18030", true},
		"gb18030 four bytes": {simplifiedchinese.GB18030, "𠮷野家与㐂字。" + chinese, "GB18030", true},
		"gbk, 4 characters":  {simplifiedchinese.GBK, "会议纪要\n", "GB18030", true},
		"big5":               {traditionalchinese.Big5, "博物館開放時間為週一至週五，上午九點開門，晚上十點閉館。\n", "Big5", true},
		"shift_jis":          {japanese.ShiftJIS, "図書館は平日の午前九時に開館し、夜十時に閉館します。\n", "Shift_JIS", true},
		"euc-jp":             {japanese.EUCJP, "図書館は平日の午前九時に開館し、夜十時に閉館します。\n", "EUC-JP", true},
		"euc-kr":             {korean.EUCKR, "도서관은 평일 오전 아홉 시에 문을 열고 밤 열 시에 닫습니다.\n", "EUC-KR", true},
		"latin":              {charmap.Windows1252, "Les résultats de l'étude ont été présentés à l'hôtel Élysée.\n", "windows-1252", true},
		"latin, turkish":     {charmap.ISO8859_9, "Kütüphane sabah dokuzda açılır, akşam onda kapanır; girişte kayıt yaptırınız.\n", "ISO-8859-9", true},
		"mac roman":          {charmap.Macintosh, "Les résultats de l’étude ont été présentés à l’hôtel.\n", "macintosh", true},
		"russian":            {charmap.Windows1251, "Библиотека открыта с девяти утра до десяти вечера.\n", "windows-1251", true},
		"russian, koi8":      {charmap.KOI8R, "Библиотека открыта с девяти утра до десяти вечера.\n", "KOI8-R", true},
		"russian, iso":       {charmap.ISO8859_5, "Библиотека открыта с девяти утра до десяти вечера.\n", "ISO-8859-5", true},
		"russian, dos":       {charmap.CodePage866, "Библиотека открыта с девяти утра до десяти вечера.\n", "IBM866", true},
		"greek":              {charmap.ISO8859_7, "Η βιβλιοθήκη ανοίγει στις εννέα το πρωί. Άδεια εισόδου.\n", "ISO-8859-7", true},
		"greek, windows":     {charmap.Windows1253, "Η βιβλιοθήκη ανοίγει στις εννέα το πρωί. Άδεια εισόδου.\n", "windows-1253", true},
		"hebrew":             {charmap.Windows1255, "הספרייה פתוחה מתשע בבוקר עד עשר בערב.\n", "windows-1255", true},
		"one accent":         {charmap.Windows1252, strings.Repeat("A long text in English. ", 40) + "A café.\n", "windows-1252", true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Decode(encode(t, c.enc, c.text), "")
			if err != nil || got.Text != c.text || got.Encoding != c.want || got.Guessed != c.guessed || got.Bad != 0 {
				t.Errorf("%+v, %v; want %s %q", got, err, c.want, c.text)
			}
		})
	}
}

func TestDirt(t *testing.T) {
	for name, c := range map[string]struct {
		data, want string
		bad, nuls  int
	}{
		"line ends":          {"a\r\nb\rc\n", "a\nb\nc\n", 0, 0},
		"nul":                {"前半\x00后半", "前半后半", 0, 1},
		"cut off":            {"检索增强"[:11], "检索增\ufffd", 2, 0},
		"one bad byte":       {"检索增强生成系统的第一步\xff好", "检索增强生成系统的第一步\ufffd好", 1, 0},
		"nothing":            {"", "", 0, 0},
		"only a mark":        {"\xef\xbb\xbf", "", 0, 0},
		"mark behind a mark": {"\xef\xbb\xbf\ufeffa", "a", 0, 0},
		"files joined":       {"\xef\xbb\xbf# a\n\xef\xbb\xbf# b\n", "# a\n# b\n", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Decode([]byte(c.data), "")
			if err != nil || got.Text != c.want || got.Bad != c.bad || got.NULs != c.nuls {
				t.Errorf("%+v, %v; want %q", got, err, c.want)
			}
		})
	}
}

// Files are put together from others, in other encodings.
func TestMixed(t *testing.T) {
	gbk := string(encode(t, simplifiedchinese.GBK, "钥匙在前台，请先登记。\n"))
	latin := string(encode(t, charmap.Windows1252, "Café Élysée\n"))
	for name, c := range map[string]struct {
		data, want, encoding string
		bad, nuls            int
	}{
		"gbk behind utf-8":    {chinese + gbk, chinese + "钥匙在前台，请先登记。\n", "UTF-8 and GB18030", 0, 0},
		"gbk and a nul":       {chinese + "前\x00后\n" + gbk, chinese + "前后\n钥匙在前台，请先登记。\n", "UTF-8 and GB18030", 0, 1},
		"gbk between":         {strings.Repeat(chinese, 9) + gbk + chinese, strings.Repeat(chinese, 9) + "钥匙在前台，请先登记。\n" + chinese, "UTF-8 and GB18030", 0, 0},
		"latin behind utf-8":  {chinese + latin, chinese + "Café Élysée\n", "UTF-8 and windows-1252", 0, 0},
		"gbk and a bad byte":  {chinese + "检索增强生成系统的第一步\xff好\n" + gbk, chinese + "检索增强生成系统的第一步\ufffd好\n钥匙在前台，请先登记。\n", "UTF-8 and GB18030", 1, 0},
		"gbk behind the mark": {"\xef\xbb\xbf" + gbk, "钥匙在前台，请先登记。\n", "GB18030", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Decode([]byte(c.data), "")
			if err != nil || got.Text != c.want || got.Encoding != c.encoding || !got.Guessed || got.Bad != c.bad || got.NULs != c.nuls {
				t.Errorf("%+v, %v; want %s %q", got, err, c.encoding, c.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	var every [256]byte
	for i := range every {
		every[i] = byte(i)
	}
	for name, c := range map[string]struct {
		data string
		want error
	}{
		"every byte":    {string(every[:]), ErrBinary},
		"png":           {"\x89PNG\r\n\x1a\n\x00\x00", ErrBinary},
		"pdf":           {"%PDF-1.7\n", ErrBinary},
		"control bytes": {"a\x01\x02\x03\x04\x05", ErrBinary},
		"no encoding":   {"a \x81 b \x8d c \xff\xff d\n", ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Decode([]byte(c.data), ""); !errors.Is(err, c.want) {
				t.Errorf("%+v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestForced(t *testing.T) {
	data := encode(t, traditionalchinese.Big5, "鑰匙")
	if got, err := Decode(data, "big5"); err != nil || got.Text != "鑰匙" || got.Guessed {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := Decode([]byte("\xef\xbb\xbf好"), "gbk"); err != nil || got.Text != "好" {
		t.Errorf("mark: %+v, %v", got, err)
	}
	if Known("no such thing") || !Known("GBK") || !Known("shift-jis") {
		t.Error("names")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(chinese))
	f.Add([]byte("\xff\xfea\x00"))
	f.Add([]byte("\xbb\xfa\xb7\xbf a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Decode(data, "")
		if err == nil && (!utf8.ValidString(got.Text) || strings.ContainsAny(got.Text, "\x00\r")) {
			t.Errorf("%q from %q", got.Text, data)
		}
	})
}
