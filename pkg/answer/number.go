package answer

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Numbers of a claim must occur in the passage by value, and where both have a
// unit that is known, with the same unit: 45 分钟 is 四十五分钟 and 45 min but not
// 45 小时, 1.5万 is 15,000, 2024-05-01 is 2024年5月1日, 两级 is not 三级. Numbers
// inside identifiers (v2.10.1, ERR-5023) belong to these.
//
// Han numerals are everywhere in Chinese (一般, 万一, 十分). Those of a passage are
// all taken for numbers, those of a claim only with a measure word or where
// they are of two characters and more.

type number struct {
	value   float64
	raw     float64 // without 万 and the like behind it; NaN if there is none
	unit    string  // one name for equal units; "" if there is none that is known
	literal string  // as written, with its unit
}

// hasNumber says whether the source has a number.
func (s *source) hasNumber(n number) bool {
	if s.hasLiteral(n.literal) {
		return true
	}
	for _, m := range s.numbers {
		equal := m.value == n.value || m.raw == n.value || n.raw == m.value
		if equal && (m.unit == n.unit || m.unit == "" || n.unit == "") {
			return true
		}
	}
	return false
}

// hasLiteral says whether the source has a number as it is written in the
// claim, not as a part of a longer one.
func (s *source) hasLiteral(literal string) bool {
	word := dense(literal)
	if literal != word {
		return false
	}
	for at := 0; ; {
		i := strings.Index(s.dense[at:], word)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(s.dense[:at])
		after, _ := utf8.DecodeRuneInString(s.dense[at+len(word):])
		last, _ := utf8.DecodeLastRuneInString(word)
		if !isNumeral(before) && !(isNumeral(last) && isNumeral(after)) {
			return true
		}
		at += len(word)
	}
}

func isNumeral(r rune) bool { return r >= '0' && r <= '9' || hanDigit(r) >= 0 || hanPower(r) > 0 }

// findNumbers reads the numbers of a folded text; strict is for claims.
func findNumbers(s string, strict bool) []number {
	var out []number
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r >= '0' && r <= '9':
			if end := identifierEnd(s, i); end > 0 {
				i = end
				continue
			}
			n, end := readDigits(s, i)
			out = append(out, dated(s, i, end, n))
			i = end
		case hanDigit(r) >= 0 || hanPower(r) > 0 || strings.HasPrefix(s[i:], "百分之"):
			n, end, ok := readHan(s, i, strict)
			if ok {
				out = append(out, n)
			}
			i = end
		case isNameRune(r):
			word := nameAt(s[i:])
			if v := englishNumber(word); v > 0 {
				n := number{value: v, raw: math.NaN(), literal: word}
				n.unit, _ = unitOf(strings.TrimLeft(s[i+len(word):], " -"))
				out = append(out, n)
			}
			i += len(word)
		default:
			i += size
		}
	}
	return out
}

// identifierEnd is the end of the identifier that the digits at i belong to; 0
// if they are a number.
func identifierEnd(s string, i int) int {
	if word := nameAt(s[i:]); isIdentifier(word) {
		return i + len(word)
	}
	return 0
}

// readDigits reads 45, 1,000.5, 1.5万, 50%, with what unit stands behind.
func readDigits(s string, i int) (number, int) {
	end := i
	for end < len(s) {
		c := s[end]
		switch {
		case c >= '0' && c <= '9':
		case c == ',' && thousands(s, i, end):
		case c == '.' && isDigitAt(s, end+1) && !strings.Contains(s[i:end], "."):
		default:
			c = 0
		}
		if c == 0 {
			break
		}
		end++
	}
	value, err := strconv.ParseFloat(strings.ReplaceAll(s[i:end], ",", ""), 64)
	if err != nil {
		value = math.NaN()
	}
	return finish(s, i, end, value)
}

func thousands(s string, start, i int) bool {
	first := strings.IndexByte(s[start:i], ',')
	if first < 0 {
		first = i - start
	}
	return first <= 3 && isDigitAt(s, i+1) && isDigitAt(s, i+2) && isDigitAt(s, i+3) && !isDigitAt(s, i+4)
}

func isDigitAt(s string, i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }

// finish reads 万 and the like and the unit behind a number.
func finish(s string, start, end int, value float64) (number, int) {
	n := number{value: value, raw: math.NaN()}
	at := end
	for {
		rest := strings.TrimLeft(s[at:], " ")
		r, size := utf8.DecodeRuneInString(rest)
		power := hanPower(r)
		if power < 100 {
			break
		}
		if math.IsNaN(n.raw) {
			n.raw = value
		}
		n.value *= power
		at = len(s) - len(rest) + size
	}
	end = at
	rest := strings.TrimLeft(s[at:], " -")
	for _, filler := range []string{"多", "余", "几", "来", "个"} {
		rest = strings.TrimPrefix(rest, filler)
	}
	if unit, size := unitOf(rest); size > 0 {
		n.unit = unit
		at = len(s) - len(rest) + size
	} else if r, size := utf8.DecodeRuneInString(s[at:]); isMeasure(r) {
		at += size
	}
	n.literal = s[start:at]
	return n, end
}

// dated gives the numbers of 2024-05-01 and 9:30 their units.
func dated(s string, start, end int, n number) number {
	left := start > 1 && isDigitAt(s, start-2)
	right := isDigitAt(s, end+1)
	switch {
	case right && s[end] == ':' && !left:
		n.unit = "hour"
	case left && s[start-1] == ':' && n.unit == "":
		n.unit = "minute"
	case right && end-start == 4 && isDateMark(s[end]) && n.unit == "":
		n.unit = "year"
	}
	return n
}

func isDateMark(c byte) bool { return c == '-' || c == '/' || c == '.' }

// readHan reads 四十五, 两千零三, 二〇二四, 百分之五十, 三分之一.
func readHan(s string, i int, strict bool) (n number, end int, ok bool) {
	if rest, percent := strings.CutPrefix(s[i:], "百分之"); percent {
		at := len(s) - len(rest)
		if n, end, ok = readHan(s, at, false); ok && end > at {
			n.unit, n.literal = "%", s[i:end]
			return n, end, true
		}
		return number{}, at, false
	}
	end = i
	for end < len(s) {
		r, size := utf8.DecodeRuneInString(s[end:])
		if hanDigit(r) < 0 && hanPower(r) == 0 {
			break
		}
		end += size
	}
	if end == i {
		return number{}, i, false
	}
	run := s[i:end]
	if rest, ok := strings.CutPrefix(s[end:], "分之"); ok {
		if n, after, ok := readHan(s, len(s)-len(rest), false); ok {
			return number{value: n.value / hanValue(run), raw: math.NaN(), literal: s[i:after]}, after, true
		}
	}
	n, _ = finish(s, i, end, hanValue(run))
	return n, end, !strict || isHanNumber(run, s[end:])
}

// isHanNumber says whether numerals of a claim, with rest behind them, mean a
// number.
func isHanNumber(run, rest string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimPrefix(rest, "个"))
	measured := isMeasure(r) || strings.HasPrefix(rest, "个")
	if unit, _ := unitOf(strings.TrimPrefix(rest, "个")); unit != "" {
		measured = true
	}
	switch run {
	case "一":
		first, _ := utf8.DecodeRuneInString(rest)
		return strings.ContainsRune("级倍折成票轮", first)
	case "十":
		return measured && (r != '分' || strings.HasPrefix(rest, "分钟"))
	case "万一", "一一", "千万", "百", "千", "万", "亿", "零", "百万", "千百":
		return false
	}
	if utf8.RuneCountInString(run) == 1 {
		return measured
	}
	return true
}

// isMeasure says whether a character counts things.
func isMeasure(r rune) bool {
	return r != utf8.RuneError && strings.ContainsRune("级天日周月年次人元分时点个种条项步章节页层倍折成名位台件份张本篇段行列组批轮期届岁米克吨升秒字词星号楼门角块类家座部只辆艘架颗", r)
}

func hanDigit(r rune) int {
	switch r {
	case '零', '〇':
		return 0
	case '一':
		return 1
	case '二', '两':
		return 2
	case '三':
		return 3
	case '四':
		return 4
	case '五':
		return 5
	case '六':
		return 6
	case '七':
		return 7
	case '八':
		return 8
	case '九':
		return 9
	}
	return -1
}

func hanPower(r rune) float64 {
	switch r {
	case '十':
		return 10
	case '百':
		return 100
	case '千':
		return 1000
	case '万':
		return 1e4
	case '亿':
		return 1e8
	}
	return 0
}

// hanValue is the value of Han numerals: digits one after the other, or with
// their powers of ten.
func hanValue(run string) float64 {
	if !strings.ContainsAny(run, "十百千万亿") {
		v := 0.0
		for _, r := range run {
			v = v*10 + float64(hanDigit(r))
		}
		return v
	}
	total, section, digit := 0.0, 0.0, -1.0
	for _, r := range run {
		power := hanPower(r)
		switch {
		case power == 0:
			digit = float64(hanDigit(r))
		case power < 1e4:
			if digit < 0 {
				digit = 1
			}
			section += digit * power
			digit = -1
		default:
			section += max(digit, 0)
			total = (total + max(section, 1)) * power
			section, digit = 0, -1
		}
	}
	return total + section + max(digit, 0)
}

func englishNumber(word string) float64 {
	switch word {
	case "two", "twice":
		return 2
	case "three":
		return 3
	case "four":
		return 4
	case "five":
		return 5
	case "six":
		return 6
	case "seven":
		return 7
	case "eight":
		return 8
	case "nine":
		return 9
	case "ten":
		return 10
	case "eleven":
		return 11
	case "twelve":
		return 12
	case "fifteen":
		return 15
	case "twenty":
		return 20
	case "thirty":
		return 30
	case "forty":
		return 40
	case "fifty":
		return 50
	case "sixty":
		return 60
	case "ninety":
		return 90
	}
	return 0
}

// unitOf names the unit that a folded text begins with, and says how long it
// is written. Units that only count (个, 条) are none.
func unitOf(s string) (string, int) {
	r, size := utf8.DecodeRuneInString(s)
	if r < utf8.RuneSelf && unicode.IsLetter(r) {
		word := s[:len(s)-len(strings.TrimLeftFunc(s, func(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }))]
		if name := latinUnit(word); name != "" {
			return name, len(word)
		}
		return "", 0
	}
	for _, u := range hanUnits() {
		if strings.HasPrefix(s, u.written) {
			return u.name, len(u.written)
		}
	}
	if r == '%' || r == '‰' {
		return string(r), size
	}
	return "", 0
}

func latinUnit(word string) string {
	switch word {
	case "s", "sec", "secs", "second", "seconds":
		return "second"
	case "min", "mins", "minute", "minutes":
		return "minute"
	case "h", "hr", "hrs", "hour", "hours":
		return "hour"
	case "d", "day", "days":
		return "day"
	case "week", "weeks", "month", "months", "year", "years", "level", "levels", "page", "pages":
		return strings.TrimSuffix(word, "s")
	case "ms", "kb", "mb", "gb", "tb", "cm", "mm", "km", "kg":
		return word
	case "percent":
		return "%"
	}
	return ""
}

type unitName struct{ written, name string }

// hanUnits lists the longer ones first where one begins another.
func hanUnits() []unitName {
	return []unitName{
		{"分钟", "minute"}, {"小时", "hour"}, {"钟头", "hour"}, {"毫秒", "ms"}, {"秒", "second"},
		{"工作日", "day"}, {"天", "day"}, {"日", "day"}, {"星期", "week"}, {"周", "week"}, {"礼拜", "week"},
		{"月", "month"}, {"年", "year"}, {"公里", "km"}, {"千米", "km"}, {"厘米", "cm"}, {"毫米", "mm"},
		{"公斤", "kg"}, {"千克", "kg"}, {"级", "level"}, {"页", "page"}, {"元", "yuan"}, {"倍", "times"},
	}
}
