package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// Dates are texts of the form 2026-09-15, 2026-09 or 2026, as far as they are
// known. So they are compared as texts, and need no time zone.

// Date returns the date in a document's meta, as its front matter has it in
// "date"; "" where there is none that can be read. A time behind it is left
// out; 2026/9/15, 2026.9.15, 20260915 and 2026年9月15日 are read, too.
func Date(meta json.RawMessage) string {
	var m struct {
		Date any `json:"date"`
	}
	if len(meta) == 0 || json.Unmarshal(meta, &m) != nil {
		return ""
	}
	switch d := m.Date.(type) {
	case string:
		date, _ := ParseDate(d)
		return date
	case float64:
		date, _ := ParseDate(fmt.Sprintf("%.0f", d))
		return date
	}
	return ""
}

// ParseDate reads a date as [Date] does.
func ParseDate(s string) (string, error) {
	bad := fmt.Errorf("%q is not a date: want 2026-09-15, 2026-09 or 2026", s)
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
