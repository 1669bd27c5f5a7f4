package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"kb/pkg/load/charset"
	"kb/pkg/record"
)

// Hooks are the programs that read files in place of kb, by the extension of
// the files in lower case, like ".rst".
type Hooks map[string]Hook

// Hook is a program that reads files. It gets a file's path as its last
// argument, or in place of {} in its arguments. No shell is involved. It prints
// the text in UTF-8; form feeds in it are the ends of pages. Its exit status
// must be 0.
type Hook struct {
	Argv     []string // the program and its arguments
	Markdown bool     // what it prints is Markdown, whose headings become sections; otherwise plain text
}

// markdownMark begins the command of a program that prints Markdown.
const markdownMark = "markdown:"

// Limits of a program.
const (
	hookTime   = 2 * time.Minute
	hookOutput = 64 << 20 // bytes of standard output
	hookErrors = 1 << 10  // bytes of standard error that are shown
)

// of returns the program for a file, if there is one.
func (h Hooks) of(name string) (hook Hook, ok bool) {
	hook, ok = h[strings.ToLower(filepath.Ext(name))]
	return hook, ok
}

// ParseHook reads a command: "markdown:" in front of it where it prints
// Markdown, then the program and its arguments, which end at white space
// outside of quotes. Nothing else is special: there is no shell.
func ParseHook(command string) (Hook, error) {
	command, markdown := strings.CutPrefix(strings.TrimSpace(command), markdownMark)
	argv, err := words(command)
	switch {
	case err != nil:
		return Hook{}, err
	case len(argv) == 0 || argv[0] == "":
		return Hook{}, errors.New("no program is named")
	}
	return Hook{Argv: argv, Markdown: markdown}, nil
}

func words(command string) ([]string, error) {
	var argv []string
	var word strings.Builder
	quote, inWord := rune(0), false
	for _, r := range command {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if inWord {
				argv = append(argv, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if inWord {
		argv = append(argv, word.String())
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quotation mark %c is not closed", quote)
	}
	return argv, nil
}

// withPath is the command line for a file. A name that begins with - must not
// be taken for an option.
func withPath(argv []string, name string) []string {
	name = filepath.FromSlash(name)
	if strings.HasPrefix(name, "-") {
		name = "." + string(filepath.Separator) + name
	}
	out := make([]string, len(argv), len(argv)+1)
	placed := false
	for i, arg := range argv {
		if out[i] = arg; i > 0 && strings.Contains(arg, "{}") {
			out[i] = strings.ReplaceAll(arg, "{}", name)
			placed = true
		}
	}
	if !placed {
		out = append(out, name)
	}
	return out
}

// readHook lets a program read the file.
func (r *Reader) readHook(ctx context.Context, f *file, hook Hook) (record.Record, error) {
	program := hook.Argv[0]
	out, failed := runHook(ctx, withPath(hook.Argv, f.Path), r.opt.HookEnv)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case failed != nil:
		return f.skip(failed.class, failed.reason), nil
	case !utf8.Valid(out):
		return f.skip(record.ClassEncoding, program+" printed text that is not UTF-8"), nil
	}
	t, err := charset.Decode(out, "utf-8")
	switch {
	case err != nil:
		return f.skip(record.ClassEncoding, err.Error()), nil
	case strings.TrimSpace(t.Text) == "":
		return f.skip(record.ClassEmpty, program+" printed no text"), nil
	}
	doc := f.document(t.Text)
	doc.Converted = true
	doc.MediaType = "text/plain"
	meta := make(map[string]any)
	if pages := strings.Split(strings.TrimSuffix(t.Text, record.PageBreak), record.PageBreak); len(pages) > 1 {
		doc.Text = strings.Join(pages, record.PageBreak)
		for i, text := range pages {
			doc.Pages = append(doc.Pages, record.Page{Page: i + 1, Text: text})
		}
	} else if hook.Markdown {
		doc.MediaType = "text/markdown"
		f.markdown(doc, meta)
	}
	meta[metaConverted] = filepath.Base(program)
	f.setMeta(doc, meta)
	return doc, nil
}

// hookFailure says why a program gave no text.
type hookFailure struct{ class, reason string }

func runHook(ctx context.Context, argv, env []string) ([]byte, *hookFailure) {
	limited, cancel := context.WithTimeout(ctx, hookTime)
	defer cancel()
	out, errs := &bounded{most: hookOutput, full: cancel}, &bounded{most: hookErrors}
	cmd := exec.CommandContext(limited, argv[0], argv[1:]...)
	cmd.Env = append([]string{}, env...)
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	err := cmd.Run()
	switch {
	case out.over:
		return nil, &hookFailure{record.ClassTooLarge, fmt.Sprintf("%s printed more than %s", argv[0], mebibytes(hookOutput))}
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return nil, &hookFailure{record.ClassTimeout, fmt.Sprintf("%s took more than %s", argv[0], hookTime)}
	case err != nil:
		reason := fmt.Sprintf("%s failed: %v", argv[0], hookError(err))
		if said := strings.Join(strings.Fields(strings.ToValidUTF8(errs.String(), "\ufffd")), " "); said != "" {
			reason += ": " + said
		}
		return nil, &hookFailure{record.ClassCrashed, reason}
	}
	return out.Bytes(), nil
}

// hookError leaves out what the message says anyway.
func hookError(err error) error {
	var start *exec.Error
	if errors.As(err, &start) {
		return start.Err
	}
	return err
}

// bounded keeps the first bytes that are written to it.
type bounded struct {
	bytes.Buffer
	most int
	over bool
	full func() // called when there are more; may be nil
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.most - b.Len()
	if len(p) > room {
		b.Buffer.Write(p[:room])
		b.over = true
		if b.full != nil {
			b.full()
		}
		return len(p), nil
	}
	return b.Buffer.Write(p)
}
