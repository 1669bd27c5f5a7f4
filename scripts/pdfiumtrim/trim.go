package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Sections of a module, https://webassembly.github.io/spec/core/binary/modules.html
const (
	sectionImport  = 2
	sectionExport  = 7
	sectionStart   = 8
	sectionElement = 9
	sectionCode    = 10
)

// trim leaves of a module's exported functions only those named, and puts a
// single "unreachable" in place of each function that is reached neither from
// them nor through the table, that is, by a pointer. Numbers stay as they are,
// and so does what the remaining functions do.
func trim(whole []byte, keep []string) (small []byte, err error) {
	defer func() { // the reader below trusts the module's lengths
		if p := recover(); p != nil {
			err = fmt.Errorf("not a module that this program understands: %v", p)
		}
	}()
	m := &trimmer{keep: keep}
	r := &reader{b: whole, at: 8}
	for r.at < len(whole) {
		m.sections = append(m.sections, section{id: r.byte(), body: r.bytes()})
	}
	for _, s := range m.sections {
		if err := m.read(s); err != nil {
			return nil, err
		}
	}
	if m.kept != len(keep) {
		return nil, fmt.Errorf("%d of %d functions are exported", m.kept, len(keep))
	}
	m.follow()
	small = slices.Clone(whole[:8])
	for _, s := range m.sections {
		switch s.id {
		case sectionExport:
			s.body = m.exports
		case sectionCode:
			s.body = m.code()
		}
		small = appendBytes(append(small, s.id), s.body)
	}
	return small, nil
}

type section struct {
	id   byte
	body []byte
}

type trimmer struct {
	keep      []string
	sections  []section
	kept      int      // of keep
	exports   []byte   // the section, with what is kept
	imported  int      // functions, which have the first numbers
	functions [][]byte // bodies of the others
	reached   []bool   // by number
	todo      []int    // reached, but not yet looked at
}

func (m *trimmer) reach(number int) {
	for len(m.reached) <= number {
		m.reached = append(m.reached, false)
	}
	if !m.reached[number] {
		m.reached[number] = true
		m.todo = append(m.todo, number)
	}
}

func (m *trimmer) read(s section) error {
	r := &reader{b: s.body}
	switch s.id {
	case sectionImport:
		return m.readImports(r)
	case sectionExport:
		m.readExports(r)
	case sectionStart:
		m.reach(r.number())
	case sectionElement:
		return m.readElements(r)
	case sectionCode:
		for range r.number() {
			m.functions = append(m.functions, r.bytes())
		}
	}
	return nil
}

func (m *trimmer) readImports(r *reader) error {
	const function = 0
	for range r.number() {
		r.bytes()
		r.bytes()
		if r.byte() != function {
			return errors.New("it imports more than functions")
		}
		r.number()
		m.imported++
	}
	return nil
}

// readExports keeps everything but functions that are not named.
func (m *trimmer) readExports(r *reader) {
	const function = 0
	var kept []byte
	count := uint64(0)
	for range r.number() {
		name, kind, number := r.bytes(), r.byte(), r.number()
		if kind == function {
			if !slices.Contains(m.keep, string(name)) {
				continue
			}
			m.kept++
			m.reach(number)
		}
		kept = binary.AppendUvarint(append(appendBytes(kept, name), kind), uint64(number))
		count++
	}
	m.exports = append(binary.AppendUvarint(nil, count), kept...)
}

func (m *trimmer) readElements(r *reader) error {
	const active, end = 0, 0x0b
	for range r.number() {
		if r.number() != active {
			return errors.New("a table of another kind")
		}
		for r.byte() != end {
		}
		for range r.number() {
			m.reach(r.number())
		}
	}
	return nil
}

func (m *trimmer) follow() {
	for len(m.todo) > 0 {
		number := m.todo[len(m.todo)-1]
		m.todo = m.todo[:len(m.todo)-1]
		if number >= m.imported {
			calls(m.functions[number-m.imported], m.reach)
		}
	}
}

func (m *trimmer) code() []byte {
	trap := []byte{0, 0x00, 0x0b} // no variables, unreachable, end
	out := binary.AppendUvarint(nil, uint64(len(m.functions)))
	for i, body := range m.functions {
		if n := m.imported + i; n >= len(m.reached) || !m.reached[n] {
			body = trap
		}
		out = appendBytes(out, body)
	}
	return out
}

func appendBytes(to, b []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(b))), b...)
}
