package store

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Dates are texts of the form 2026-09-15, 2026-09 or 2026, as far as they are
// known. So they are compared as texts, and need no time zone.

// Date returns the date in a document's meta, as its front matter has it in
// "date"; "" where there is none that can be read. A time behind it is left
// out; 2026/9/15, 2026.9.15, 20260915, 2026年9月15日, 15.9.2026, 15 Sep 2026,
// September 15, 2026 and a link to a day, [[2026-09-15]], are read, too, and
// 15/9/2026 where the day cannot be the month.
func Date(meta json.RawMessage) string {
	var m struct {
		Date any `json:"date"`
	}
	if len(meta) == 0 || json.Unmarshal(meta, &m) != nil {
		return ""
	}
	switch d := unlinked(m.Date).(type) {
	case string:
		date, _ := ParseDate(d)
		return date
	case float64:
		date, _ := ParseDate(fmt.Sprintf("%.0f", d))
		return date
	}
	return ""
}

// unlinked is what YAML takes for a list in a list, [[2026-09-15]], as its one
// element.
func unlinked(v any) any {
	if outer, ok := v.([]any); ok && len(outer) == 1 {
		if inner, ok := outer[0].([]any); ok && len(inner) == 1 {
			return inner[0]
		}
	}
	return v
}

// ParseDate reads a date as [Date] does.
func ParseDate(s string) (string, error) {
	bad := fmt.Errorf("%q is not a date: want 2026-09-15, 2026-09 or 2026", s)
	s = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(s), "[["), "]]")
	if turned, ok := yearFirst(s); ok {
		s = turned
	}
	if digits := strings.TrimSpace(s); len(digits) == 8 && strings.Trim(digits, "0123456789") == "" {
		s = digits[:4] + "-" + digits[4:6] + "-" + digits[6:]
	}
	numbers := strings.FieldsFunc(day(s), func(r rune) bool { return strings.ContainsRune("-/.年月日", r) || unicode.IsSpace(r) })
	if len(numbers) == 0 || len(numbers) > 3 || len(numbers[0]) != 4 {
		return "", bad
	}
	for i, n := range numbers {
		value := 0
		for _, c := range n {
			if c < '0' || c > '9' || len(n) > 4 {
				return "", bad
			}
			value = 10*value + int(c-'0')
		}
		if most := []int{9999, 12, 31}[i]; value < 1 || value > most {
			return "", bad
		}
		numbers[i] = fmt.Sprintf("%0*d", []int{4, 2, 2}[i], value)
	}
	return strings.Join(numbers, "-"), nil
}

// day cuts the time of day from a time.
func day(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, "Tt"); i >= 0 {
		return s[:i]
	}
	if i := strings.IndexByte(s, ':'); i >= 0 { // 2026-09-15 10:30
		return s[:max(strings.LastIndexByte(s[:i], ' '), 0)]
	}
	return s
}

// within says whether a date lies between two others, each "" for no limit.
// A limit that has no day, or no month, means all of the month or year.
func within(date, since, until string) bool {
	return date != "" && (since == "" || date >= since[:min(len(since), len(date))]) &&
		(until == "" || date[:min(len(date), len(until))] <= until)
}

// yearFirst turns a date that ends with its year, 15.9.2026 or September 15,
// 2026, into year, month and day.
func yearFirst(s string) (string, bool) {
	if f := strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == '.' }); len(f) == 3 {
		day, month, year := f[0], monthOf(f[1]), f[2]
		if month == 0 {
			day, month = f[1], monthOf(f[0])
		}
		if day = strings.TrimRight(day, "stndrh"); month > 0 && len(year) == 4 && day != "" && len(day) <= 2 {
			return fmt.Sprintf("%s-%d-%s", year, month, day), true
		}
	}
	s = day(s)
	for _, separator := range []string{".", "/", "-"} {
		if f := strings.Split(s, separator); len(f) == 3 && len(f[2]) == 4 && len(f[0]) <= 2 && len(f[1]) <= 2 {
			return dayAndMonth(f, separator == ".")
		}
	}
	return "", false
}

// dayAndMonth puts day, month and year into the order year, month, day. Without
// dayFirst the month may be first; what can be read both ways is no date.
func dayAndMonth(f []string, dayFirst bool) (string, bool) {
	first, err1 := strconv.Atoi(f[0])
	second, err2 := strconv.Atoi(f[1])
	switch {
	case err1 != nil || err2 != nil:
		return "", false
	case dayFirst || first > 12 || first == second:
		return fmt.Sprintf("%s-%d-%d", f[2], second, first), true
	case second > 12:
		return fmt.Sprintf("%s-%d-%d", f[2], first, second), true
	}
	return "", false
}

// monthOf is the number of an English month, also of one cut to three letters or
// more; 0 for any other word.
func monthOf(name string) int {
	name = strings.ToLower(name)
	for m := time.January; m <= time.December && len(name) >= 3; m++ {
		if strings.HasPrefix(strings.ToLower(m.String()), name) {
			return int(m)
		}
	}
	return 0
}
