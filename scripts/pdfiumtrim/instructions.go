package main

import "fmt"

// reader reads what a module is made of; it panics at its end.
type reader struct {
	b  []byte
	at int
}

func (r *reader) byte() byte {
	r.at++
	return r.b[r.at-1]
}

// number reads an unsigned number; of a signed one it only finds the end.
func (r *reader) number() int {
	v := 0
	for shift := 0; ; shift += 7 {
		c := r.byte()
		v |= int(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
}

func (r *reader) bytes() []byte {
	n := r.number()
	r.at += n
	return r.b[r.at-n : r.at]
}

func (r *reader) numbers(n int) {
	for range n {
		r.number()
	}
}

// calls reports the functions that a body calls or takes the address of. It
// knows the instructions of WebAssembly 3.0 but for garbage collection:
// https://webassembly.github.io/spec/core/binary/instructions.html
func calls(body []byte, report func(function int)) {
	r := &reader{b: body}
	for range r.number() { // variables
		r.number()
		r.byte()
	}
	for r.at < len(body) {
		switch op := r.byte(); {
		case op == 0x10, op == 0x12, op == 0xd2: // call, return_call, ref.func
			report(r.number())
		case op == 0x0e: // br_table
			r.numbers(r.number() + 1)
		case op == 0x1c: // select of types
			r.numbers(r.number())
		case op == 0x1f: // try_table
			r.number()
			for range r.number() {
				if kind := r.byte(); kind < 2 {
					r.number()
				}
				r.number()
			}
		case op == 0x43: // f32.const
			r.at += 4
		case op == 0x44: // f64.const
			r.at += 8
		case op == 0xfc:
			r.numbers(bulkOperands(r.number()))
		case op == 0xfd:
			vector(r, r.number())
		default:
			r.numbers(operands(op))
		}
	}
}

// operands is how many numbers follow an instruction.
func operands(op byte) int {
	switch {
	case op >= 0x02 && op <= 0x04, // block, loop, if
		op == 0x08, op == 0x0c, op == 0x0d, // throw, br, br_if
		op >= 0x20 && op <= 0x26,             // variables, tables
		op >= 0x3f && op <= 0x42, op == 0xd0: // memory.size, memory.grow, constants, ref.null
		return 1
	case op == 0x11, op == 0x13, // call_indirect
		op >= 0x28 && op <= 0x3e: // load, store
		return 2
	case op <= 0x01, op == 0x05, op == 0x0a, op == 0x0b, op == 0x0f, op == 0x1a, op == 0x1b,
		op >= 0x45 && op <= 0xc4, op == 0xd1:
		return 0
	}
	panic(fmt.Sprintf("instruction %#x", op))
}

func bulkOperands(op int) int {
	switch {
	case op < 8: // saturating conversions
		return 0
	case op == 9, op == 11, op == 13, op >= 15: // data.drop, memory.fill, elem.drop, table.*
		return 1
	}
	return 2
}

func vector(r *reader, op int) {
	switch {
	case op <= 11, op == 92, op == 93: // load, store
		r.numbers(2)
	case op == 12, op == 13: // v128.const, shuffle
		r.at += 16
	case op >= 21 && op <= 34: // lanes
		r.at++
	case op >= 84 && op <= 91: // load and store lanes
		r.numbers(2)
		r.at++
	}
}
