package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"kb/pkg/jsonl"
	"kb/pkg/load"
	"kb/pkg/record"
)

const loadLong = `load reads files and folders and writes a document for each file that it can
read (` + load.Types + `), sorted by
path. Hidden files and folders, node_modules, symbolic links and what .kbignore
names are passed over. A file that cannot be read is a "skipped" record and a
line on stderr, never the end of the run. With "-" the paths are read from
standard input, one a line.

KB_LOADER_<extension>=COMMAND lets a program read the files of a further type,
or of one of these: KB_LOADER_py=cat. It gets the path as its last argument, or
in place of {}, without a shell, and prints UTF-8, which is read as plain text;
as Markdown, whose headings become sections, where the command begins with
markdown: (KB_LOADER_rst="markdown: pandoc -t gfm"); form feeds end pages. A
program that fails, or takes more than two minutes, costs its file. The setting
is taken from the environment alone, never from a .env.

Reads:   files
Writes:  {"kind":"document","id":…,"path":…,"root":…,"title":…,"media_type":…,"hash":…,"modified":…,"text":…,"pages":[…],"converted":…,"meta":{…}}
         {"kind":"skipped","path":…,"root":…,"reason":…}
         {"kind":"root","path":…,"documents":…,"skipped":…,"other":{".jpg":9}}`

// loadFlags are the flags of the commands that read files.
type loadFlags struct {
	engine   string
	encoding string
	maxSize  string
	noCache  bool
}

func (f *loadFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.engine, "pdf-engine", "auto", "auto, pdfium or plain")
	cmd.Flags().StringVar(&f.encoding, "encoding", "", "encoding of text files (default: detected), e.g. gb18030, big5, shift_jis")
	cmd.Flags().BoolVar(&f.noCache, "no-cache", false, "extract the text of PDF files anew, and do not keep it")
	cmd.Flags().StringVar(&f.maxSize, "max-size", "64M", "skip files larger than this")
}

func (f *loadFlags) options(e *env, c *console) (load.Options, error) {
	size, err := parseSize(f.maxSize)
	if err != nil {
		return load.Options{}, usagef("--max-size %q: %w", f.maxSize, err)
	}
	opt := load.Options{PDFEngine: f.engine, Encoding: f.encoding, MaxSize: size, NoCache: f.noCache, Warn: c.warn, Status: c.status}
	if err := opt.Validate(); err != nil {
		return load.Options{}, &usageError{err}
	}
	if dir, err := os.UserCacheDir(); err == nil {
		opt.CacheDir = filepath.Join(dir, "kb")
	}
	if exe, err := os.Executable(); err == nil {
		opt.Executable = exe
	}
	return opt, nil
}

func newLoad(e *env, s *settings) *cobra.Command {
	var f loadFlags
	cmd := &cobra.Command{
		Use:         "load PATH…",
		Short:       "files, folders → documents",
		Long:        loadLong,
		Example:     "  kb load notes | jq -r .path\n  find . -name '*.md' | kb load - | kb chunk",
		Args:        args(cobra.MinimumNArgs(1)),
		Annotations: about(exitPartial),
		RunE: func(cmd *cobra.Command, paths []string) error {
			c := e.console("kb load")
			opt, err := f.options(e, c)
			if err != nil {
				return err
			}
			if paths, err = expandStdin(e, paths); err != nil {
				return err
			}
			if err := s.setHooks(&opt); err != nil {
				return err
			}
			skipped, seen := 0, false
			stream := counted(load.Run(cmd.Context(), paths, opt), func(r record.Record) {
				seen = seen || r.Kind() != record.KindRoot
				if s, ok := r.(*record.Skipped); ok {
					skipped++
					c.warn(fmt.Sprintf("%s: %s, skipped", s.Path, s.Reason))
				}
				if root, ok := r.(*record.Root); ok && !seen {
					c.warn(fmt.Sprintf("%s: no %s files in it", root.Path, strings.Replace(loaded(opt.Hooks), " and ", " or ", 1)))
				}
			})
			err = withHeadroom(func() error { return jsonl.NewWriter(e.stdout).WriteAll(stream) })
			if err != nil {
				return err
			}
			switch {
			case skipped == 0:
				return nil
			case !anyThere(paths):
				return &codeError{code: exitFailed}
			}
			return &codeError{code: exitPartial}
		},
	}
	f.register(cmd)
	return cmd
}

// expandStdin replaces "-" by the lines of standard input.
func expandStdin(e *env, paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		if p == "" {
			return nil, usagef("a path is empty")
		}
		if p != "-" {
			out = append(out, p)
			continue
		}
		lines := bufio.NewScanner(e.stdin)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if line := strings.TrimSuffix(lines.Text(), "\r"); line != "" {
				out = append(out, line)
			}
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("stdin: %w", err)
		}
	}
	return out, nil
}

// newPDFWorker is the guarded child process of the plain PDF engine.
func newPDFWorker(e *env) *cobra.Command {
	return &cobra.Command{
		Use:    load.PDFWorkerCommand,
		Hidden: true,
		RunE:   func(*cobra.Command, []string) error { return load.PDFWorker(e.stdin, e.stdout) },
	}
}
