package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode"

	"kb/pkg/index"
	"kb/pkg/load"
	"kb/pkg/search"
	"kb/pkg/store"
)

// Exit codes, the same for all commands.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitMismatch    = 3
	exitGate        = 4
	exitDamaged     = 5
	exitPartial     = 6
	exitNothing     = 7
	exitInterrupted = 130
)

var exitMeaning = map[int]string{
	exitOK:          "done",
	exitFailed:      "failed",
	exitUsage:       "wrong usage",
	exitMismatch:    "the index does not match the configuration (rebuild it)",
	exitGate:        "below the evaluation gate",
	exitDamaged:     "the index is damaged",
	exitPartial:     "partial: some files or chunks failed and are listed",
	exitNothing:     "nothing found or refused (only with --exit-status)",
	exitInterrupted: "interrupted",
}

// exitStatus is the section EXIT STATUS of a command's help.
func exitStatus(codes ...int) string {
	var b strings.Builder
	b.WriteString("EXIT STATUS\n")
	for _, c := range append(append([]int{exitOK, exitFailed, exitUsage}, codes...), exitInterrupted) {
		fmt.Fprintf(&b, "  %-3d  %s\n", c, exitMeaning[c])
	}
	return strings.TrimRight(b.String(), "\n")
}

// usageError is a command line or a setting that cannot be right.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// codeError ends the command with a code; it prints nothing when err is nil.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}
func (e *codeError) Unwrap() error { return e.err }

// hintError adds a second line: the likely next step.
type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }

func withHint(err error, format string, args ...any) error {
	return &hintError{err, fmt.Sprintf(format, args...)}
}

// exitCode maps an error to the exit code, in this one place.
func exitCode(err error) int {
	var (
		usage    *usageError
		code     *codeError
		vectors  *search.MismatchError
		replaced *index.MismatchError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &code):
		return code.code
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &vectors), errors.As(err, &replaced), errors.Is(err, store.ErrNewer):
		return exitMismatch
	case errors.Is(err, store.ErrDamaged):
		return exitDamaged
	}
	return exitFailed
}

// hintFor is the second line of an error message; "" for none.
func hintFor(err error) string {
	var (
		hint     *hintError
		own      interface{ Hint() string } // errors of packages that know the next step
		vectors  *search.MismatchError
		replaced *index.MismatchError
		empty    *index.EmptyRootError
		damaged  *store.DamagedError
	)
	switch {
	case errors.As(err, &hint):
		return hint.hint
	case errors.As(err, &own):
		return own.Hint()
	case errors.As(err, &vectors) && vectors.Index.BaseURL != "" && vectors.Config.BaseURL == "":
		return `set KB_EMBED_BASE_URL and KB_EMBED_MODEL as they were when it was built, or search without vectors: "kb search --mode bm25"`
	case errors.As(err, &vectors):
		return `run "kb build" to embed again, or "kb search --mode bm25" to search without vectors`
	case errors.As(err, &replaced):
		return `run "kb build" to embed all roots of the index again, or "kb rm" the documents that are left over`
	case errors.As(err, &empty) && empty.Others > 0:
		return "is it another folder of the same name? If all of its files were replaced on purpose, add --allow-empty"
	case errors.As(err, &empty):
		return fmt.Sprintf("is %s mounted? If it is empty on purpose, add --allow-empty", empty.Root)
	case errors.Is(err, index.ErrNothing):
		return "kb reads " + load.Types + " files; \"kb load FOLDER\" shows what it finds"
	case errors.Is(err, store.ErrNotFound):
		return buildIt(err)
	case errors.As(err, &damaged) && isURL(damaged.Name):
		return `something else than kb changed what it keeps there: restore the database, or name a new place and run "kb build"`
	case errors.Is(err, store.ErrDamaged):
		return `"kb index --verify" lists the damage, "kb index --repair" saves what is whole; or remove the file and run "kb build"`
	case errors.Is(err, store.ErrNewer):
		return "use a newer kb, or build the index again with this one"
	case errors.Is(err, store.ErrLocked):
		return "wait for it, or leave --no-wait out"
	}
	return ""
}

// buildIt names the command that makes the index which is not there, or the
// index of a folder above. The name of a file is what the error begins with; a
// URL may be one without its password.
func buildIt(err error) string {
	folder := "FOLDER"
	if notesHere() {
		folder = defaultNotes
	}
	name, ok := strings.CutSuffix(err.Error(), ": "+store.ErrNotFound.Error())
	if name == defaultIndex {
		if above := indexAbove(); above != "" {
			return fmt.Sprintf("there is one above: --index %s, or build one here: kb build %s", above, folder)
		}
	}
	if !ok || name == defaultIndex || isURL(name) {
		return fmt.Sprintf("build it with: kb build %s", folder)
	}
	return fmt.Sprintf("build it with: kb build --index %s %s", shellQuoted(name), folder)
}

// indexAbove is the nearest index of the usual name in a folder above this one;
// "" where there is none.
func indexAbove() string {
	const highest = 8
	name := defaultIndex
	for range highest {
		name = "../" + name
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// shellQuoted is an argument as a POSIX shell reads it: in quotes, unless no
// character of it means anything to a shell.
func shellQuoted(arg string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./:@%+=,", r)
	}
	if arg != "" && !strings.ContainsFunc(arg, special) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
