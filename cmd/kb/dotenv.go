package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/joho/godotenv"
)

// largestDotenv is how many bytes a .env may have.
const largestDotenv = 1 << 20

// readDotenv reads the settings of kb in a file. It belongs to whatever is in the
// folder, so what is no setting of kb need not be in a form that kb can read:
// the warning names the first line that is not, and a file that is too large.
// A line with a setting of kb that cannot be read is an error, which does not
// quote it, as it may hold a key. A folder of that name (of a Python program)
// holds no settings.
func readDotenv(name string) (values map[string]string, warning string, err error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir():
		return nil, "", nil
	case err != nil:
		return nil, "", &usageError{readable(err)}
	case !info.Mode().IsRegular():
		return nil, "", usagef("%s: not a file", name)
	case info.Size() > largestDotenv:
		return nil, fmt.Sprintf("%s: not read, as it has more than %d bytes: no setting of kb is taken from it", name, largestDotenv), nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, "", &usageError{readable(err)}
	}
	if values, warning, err = parseDotenv(name, markDollars(string(data))); err != nil {
		return nil, "", err
	}
	if values, err = expandOwn(values); err != nil {
		return nil, "", usagef("%s: %w", name, err)
	}
	return values, warning, nil
}

// parseDotenv reads what can be read of a text, in which no value names
// another.
func parseDotenv(name, text string) (values map[string]string, warning string, err error) {
	if values, err = godotenv.Unmarshal(text); err == nil {
		return values, "", nil
	}
	kept, strange, err := readableLines(name, strings.SplitAfter(text, "\n"))
	if err != nil {
		return nil, "", err
	}
	values, err = godotenv.Unmarshal(kept)
	if err != nil {
		return nil, "", usagef("%s:%d: not in the form KEY=value", name, strange)
	}
	if strange > 0 {
		warning = strangeLine(name, strange)
	}
	return values, warning, nil
}

// readableLines are the lines of a .env that can be read by themselves, and
// the number of the first that cannot.
func readableLines(name string, lines []string) (kept string, strange int, err error) {
	var b strings.Builder
	for i := 0; i < len(lines); {
		n := valueLines(lines[i:])
		switch {
		case n > 0:
			b.WriteString(strings.Join(lines[i:i+n], ""))
		case ownLine(lines[i]):
			return "", 0, usagef("%s:%d: not in the form KEY=value", name, i+1)
		default:
			n = 1
			if strange == 0 {
				strange = i + 1
			}
		}
		i += n
	}
	return b.String(), strange, nil
}

// valueLines is how many lines the first of them takes with what its quotes
// hold; 0 where they cannot be read. A quote ends at the next of its kind, so
// all lines of a file are looked at twice at most, as there are two kinds.
func valueLines(lines []string) int {
	if parses(lines[:1]) {
		return 1
	}
	quote := opened(lines[0])
	if quote == "" {
		return 0
	}
	for n := 1; n < len(lines) && !ownLine(lines[n]); n++ {
		if strings.Contains(strings.ReplaceAll(lines[n], `\`+quote, ""), quote) {
			if parses(lines[:n+1]) {
				return n + 1
			}
			return 0
		}
	}
	return 0
}

// opened is the quote that the value on a line begins with, "" for none.
func opened(line string) string {
	i := strings.IndexAny(line, "=:")
	value := strings.TrimSpace(line[i+1:])
	if i < 0 || !strings.HasPrefix(value, `"`) && !strings.HasPrefix(value, "'") {
		return ""
	}
	return value[:1]
}

func parses(lines []string) bool {
	_, err := godotenv.Unmarshal(strings.Join(lines, ""))
	return err == nil
}

// ownLine says whether a line sets something of kb.
func ownLine(line string) bool {
	line = strings.TrimSpace(line)
	if rest, ok := strings.CutPrefix(line, "export "); ok {
		line = strings.TrimSpace(rest)
	}
	return strings.HasPrefix(line, "KB_")
}

// strangeLine is the warning of a line that is not kb's to read.
func strangeLine(name string, line int) string {
	return fmt.Sprintf("%s:%d: not in the form KEY=value; of this file kb uses its own settings alone (KB_…)", name, line)
}
