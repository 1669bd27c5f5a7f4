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

// longestValue is how many lines the value of a setting may have in a .env
// that cannot be read as a whole.
const longestValue = 100

// readDotenv reads the settings in a file. It belongs to whatever is in the
// folder, so what is no setting of kb need not be in a form that kb can read:
// strange is the number of the first line that is not, 0 where there is none.
// A line with a setting of kb that cannot be read is an error, which does not
// quote it, as it may hold a key. A folder of that name (of a Python program)
// holds no settings.
func readDotenv(name string) (values map[string]string, strange int, err error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir():
		return nil, 0, nil
	case err != nil:
		return nil, 0, &usageError{readable(err)}
	case !info.Mode().IsRegular() || info.Size() > largestDotenv:
		return nil, 0, usagef("%s: not a small file", name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, 0, &usageError{readable(err)}
	}
	text := string(data)
	if values, err = godotenv.Unmarshal(text); err == nil {
		return values, 0, nil
	}
	kept, strange, err := readableLines(name, strings.SplitAfter(text, "\n"))
	if err != nil {
		return nil, 0, err
	}
	values, err = godotenv.Unmarshal(kept)
	if err != nil {
		return nil, 0, usagef("%s:%d: not in the form KEY=value", name, strange)
	}
	return values, strange, nil
}

// readableLines are the lines of a .env that can be read by themselves, and
// the number of the first that cannot.
func readableLines(name string, lines []string) (kept string, strange int, err error) {
	for i := 0; i < len(lines); {
		n := valueLines(lines[i:])
		switch {
		case n > 0:
			kept += strings.Join(lines[i:i+n], "")
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
	return kept, strange, nil
}

// valueLines is how many lines the first of them takes with what its quotes
// hold; 0 where they cannot be read.
func valueLines(lines []string) int {
	for n := 1; n <= min(longestValue, len(lines)); n++ {
		switch {
		case n > 1 && ownLine(lines[n-1]):
			return 0
		case parses(lines[:n]):
			return n
		case !strings.ContainsAny(lines[0], "\"'"):
			return 0
		}
	}
	return 0
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
