package charset

import (
	"bytes"
	"unicode/utf8"
)

// mixedLeast is how many characters of three bytes and more the lines in UTF-8
// of a mixed file must have. Text in another encoding looks like one of them
// now and then, hardly ever like a whole line of them.
const mixedLeast = 8

// decodeMixed reads a file of which some lines are UTF-8 and the others in one
// other encoding, as files become that are put together from several, or that
// two programs write to. As a whole such a file decodes in no encoding, or
// wrongly. A line that is UTF-8 but for a few bytes stays UTF-8.
//
// No encoding that is told apart here has the byte of a line end within a
// character.
func decodeMixed(data []byte) (Text, bool) {
	if isBinary(data, true) {
		return Text{}, false
	}
	var foreign []byte
	wide := 0
	for line := range bytes.Lines(data) {
		switch {
		case !nearlyUTF8(line):
			foreign = append(foreign, line...)
		default:
			wide += countWide(line)
		}
	}
	if len(foreign) == 0 || wide < mixedLeast {
		return Text{}, false
	}
	for _, name := range candidates(foreign) {
		if t, err := decodeAs(foreign, name); err == nil && t.Bad == 0 {
			return decodeLines(data, t.Encoding), true
		}
	}
	return Text{}, false
}

// decodeLines reads what is not UTF-8 in the encoding of the name, in which it
// was decoded without a fault.
func decodeLines(data []byte, name string) Text {
	enc, name, _ := byName(name)
	decoder := enc.NewDecoder()
	var joined []byte
	for line := range bytes.Lines(data) {
		if !nearlyUTF8(line) {
			line, _ = decoder.Bytes(line)
		}
		joined = append(joined, line...)
	}
	t, _ := decodeAs(joined, "UTF-8")
	t.Encoding, t.Guessed = "UTF-8 and "+name, true
	return t
}

func countWide(line []byte) int {
	wide := 0
	for len(line) > 0 {
		_, n := utf8.DecodeRune(line)
		if n >= 3 {
			wide++
		}
		line = line[n:]
	}
	return wide
}
