// Package load is the first stage: it finds files and turns them into
// documents.
//
// [Walk] lists what there is to read, [Reader] reads one file, and [Run] joins
// the two: it reads several files at a time, keeps the order of the walk, and
// holds no more files in memory than its window allows. A file that gives no
// document is a [record.Skipped], never an error: errors are for what ends the
// run, which is only a cancelled context.
package load

import (
	"context"
	"fmt"
	"iter"

	"kb/pkg/load/charset"
	"kb/pkg/load/pdf"
	"kb/pkg/record"
)

// MaxSize is the largest file that is read unless the options say otherwise.
const MaxSize = 64 << 20

// Options are settings of the stage. The zero value is usable.
type Options struct {
	MaxSize    int64    // in bytes; 0: [MaxSize]
	Encoding   string   // of text files without a byte order mark; "": look at the bytes
	Hooks      Hooks    // programs that read files of further types
	HookEnv    []string // the environment of these programs, as name=value
	PDFEngine  string   // one of [pdf.Engines]; "": auto
	CacheDir   string   // for extracted and compiled things; "": no cache
	NoCache    bool     // extract anew, and keep nothing of it
	Executable string   // this program, for the child process that reads PDFs; "": the plain engine is off
	// Known lets a caller pass over files that it knows by size and time: the
	// record that it returns takes the file's place. nil: read it. It is called
	// in the order of the walk, but from another goroutine than Run's caller.
	Known func(Entry) record.Record
	// Status gets what is going on where one has to wait, "" at its end, for
	// people who watch. It is called from any goroutine.
	Status func(line string)
	// Warn gets what people should know of files that did give a document, and
	// of the caches. It is called in the order of the walk, from the goroutine
	// that runs the sequence. Skipped records are not repeated here.
	Warn func(msg string)
}

// Validate says which option cannot be used.
func (o Options) Validate() error {
	if o.MaxSize < 0 {
		return fmt.Errorf("maximum size %d is negative", o.MaxSize)
	}
	if o.Encoding != "" && !charset.Known(o.Encoding) {
		return fmt.Errorf("unknown encoding %q, try gb18030, big5, shift_jis, euc-kr, utf-16le or windows-1252", o.Encoding)
	}
	return pdf.ValidEngine(o.PDFEngine)
}

// Run yields a [record.Document] or [record.Skipped] for each file below the
// paths, and a [record.Root] behind each folder that was walked to its end.
func Run(ctx context.Context, paths []string, opt Options) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		if err := opt.Validate(); err != nil {
			yield(nil, err)
			return
		}
		reader := NewReader(opt)
		defer reader.Close()
		counts := make(map[string]*record.Root)
		count := func(root string) *record.Root {
			if counts[root] == nil {
				counts[root] = &record.Root{Path: root}
			}
			return counts[root]
		}
		for res, err := range readOrdered(ctx, Walk(ctx, paths, opt.Hooks), reader, opt.Known) {
			if err != nil {
				yield(nil, err)
				return
			}
			reader.warn(res.warnings)
			r := res.record
			switch s := r.(type) {
			case *record.Skipped:
				count(s.Root).Skipped++
			case *record.Root:
				whole := count(s.Path)
				whole.Other = s.Other
				r = whole
			default:
				count(res.root).Documents++
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}
