package pdf

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"kb/pkg/record"
)

// WorkerCommand is the hidden subcommand under which the program has to run
// [Worker].
const WorkerCommand = "__pdfworker"

// plainEngine runs ledongthuc/pdf in a child process, a new one for each file:
// the library follows loops without end and asks for any amount of memory,
// which no recover stops.
type plainEngine struct {
	executable string
	patience   time.Duration
}

func newPlain(executable string, patience time.Duration) *plainEngine {
	return &plainEngine{executable: executable, patience: patience}
}

func (p *plainEngine) close() error { return nil }

// message is one line from the child: a page, or the end.
type message struct {
	Page   *rawPage `json:"page,omitempty"`
	Done   bool     `json:"done,omitempty"`
	Class  string   `json:"class,omitempty"`
	Reason string   `json:"reason,omitempty"`
}

func (p *plainEngine) pages(ctx context.Context, data []byte) ([]rawPage, error) {
	if p.executable == "" {
		return nil, fmt.Errorf("the plain PDF engine %w: it needs the path of the program", errCannotRun)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.executable, WorkerCommand)
	cmd.Env = []string{"GOTRACEBACK=none"}
	cmd.Stdin = io.MultiReader(bytes.NewReader(fmt.Appendf(nil, "%d\n", len(data))), bytes.NewReader(data))
	cmd.WaitDelay = time.Second
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("the plain PDF engine %w: %w", errCannotRun, err)
	}
	timer := time.AfterFunc(p.patience, cancel)
	defer timer.Stop()
	began := time.Now()
	out, end, err := collect(stdout, func(pages int) {
		timer.Reset(time.Until(began.Add(p.patience + time.Duration(pages)*timePerPage)))
	})
	expired := ctx.Err() != nil
	cancel() // what came behind the last message is of no interest
	cmd.Wait()
	switch {
	case end.Class != "":
		return nil, failure(end.Class, "%s", end.Reason)
	case end.Done:
		return out, nil
	case err != nil:
		return nil, err
	case expired:
		return nil, failure(record.ClassTimeout, "gave up after %d s on page %d", int(time.Since(began).Seconds()), len(out)+1)
	}
	return nil, failure(record.ClassCrashed, "the PDF engine broke down on page %d", len(out)+1)
}

// collect reads the child's messages until the last, or until the child ends
// without it; progress gets the number of pages so far.
func collect(stdout io.Reader, progress func(int)) (out []rawPage, end message, err error) {
	dec := json.NewDecoder(bufio.NewReader(io.LimitReader(stdout, 2*maxText)))
	size := 0
	for {
		var m message
		if err := dec.Decode(&m); err != nil {
			return out, message{}, nil // the caller knows why it ended
		}
		if m.Page == nil {
			return out, m, nil
		}
		if size += len(m.Page.Text); size > maxText || len(out) == maxPages {
			return nil, message{}, failure(record.ClassTooLarge, "more than %d pages or %d MiB of text", maxPages, maxText>>20)
		}
		out = append(out, *m.Page)
		progress(len(out))
	}
}

// errorOf is the class and reason of an error for a message.
func errorOf(err error) message {
	var e *Error
	if errors.As(err, &e) {
		return message{Class: e.Class, Reason: e.Reason}
	}
	return message{Class: record.ClassDamaged, Reason: "damaged PDF: " + firstLine(err)}
}
