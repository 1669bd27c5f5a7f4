package live

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// NameError means that a file cannot be kept under the name it came with.
type NameError struct{ Name, Why string }

func (e *NameError) Error() string {
	return fmt.Sprintf("the name %q cannot be used: %s", e.Name, e.Why)
}

// maxName is the greatest length of a file's name, in bytes: file systems take
// 255, and names for temporary use are longer.
const maxName = 200

// baseName is the name under which a file is kept: the last part of the one
// that a client sent, whose folders are the client's own. Both kinds of slashes
// separate. Names that mean something else somewhere are refused: hidden files,
// devices of Windows, escaped separators, which the next program might resolve.
func baseName(sent string) (string, error) {
	name := norm.NFC.String(sent[strings.LastIndexAny(sent, `/\`)+1:])
	refuse := func(why string) (string, error) { return "", &NameError{sent, why} }
	switch {
	case !utf8.ValidString(sent):
		return refuse("it is not UTF-8")
	case name == "" || name == "." || name == "..":
		return refuse("it names no file")
	case len(name) > maxName:
		return refuse(fmt.Sprintf("it is longer than %d bytes", maxName))
	case strings.ContainsFunc(sent, unicode.IsControl):
		return refuse("it holds control characters")
	case strings.ContainsFunc(name, turnsText):
		return refuse("it holds characters that turn the direction of text, so that it looks like another name")
	case strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~$"):
		return refuse("hidden files are not indexed")
	case strings.HasSuffix(name, ".") || strings.TrimSpace(name) != name:
		return refuse("it begins or ends with a space, or ends with a dot")
	case escapes(name):
		return refuse("it holds an escaped separator or dot")
	case isDevice(name):
		return refuse("Windows has a device of this name")
	case strings.ContainsAny(name, `<>:"|?*`):
		return refuse(`< > : " | ? * are not possible everywhere`)
	}
	return name, nil
}

func turnsText(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }

// escapes says whether a name holds / \ . or NUL in the form of URLs.
func escapes(name string) bool {
	lower := strings.ToLower(name)
	for _, s := range []string{"%2f", "%5c", "%2e", "%00"} {
		if strings.Contains(lower, s) {
			return true
		}
	}
	return false
}

func isDevice(name string) bool {
	base, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch base = strings.TrimSpace(base); base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	if n := len(base); n < 4 || base[:3] != "COM" && base[:3] != "LPT" {
		return false
	}
	switch base[3:] {
	case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
		return true
	}
	return false
}

// random is a name that nobody else has.
func random() string {
	var raw [8]byte
	rand.Read(raw[:])
	return hex.EncodeToString(raw[:])
}
