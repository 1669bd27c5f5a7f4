// Package build is load, chunk, embed and index as one call. Where nothing
// changed since the last build it reads no file: it compares sizes and times
// with those of a cache, and losing the cache costs one reading of the files.
package build

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"kb/pkg/chunk"
	"kb/pkg/embed"
	"kb/pkg/index"
	"kb/pkg/load"
	"kb/pkg/model"
	"kb/pkg/record"
	"kb/pkg/store"
)

// Options say how to build.
type Options struct {
	Store    store.Store
	Load     load.Options // Known is set here
	Chunk    chunk.Options
	Embedder model.Embedder
	Embed    embed.Options // Embedder is set here
	Index    index.Options // Store and Warn are set here
	// CacheFile keeps the sizes and times of the files for the next build; ""
	// for none. It belongs to one index and one working directory.
	CacheFile string
	// Shared means that other machines write to the store, too, and may have
	// files in folders of the same names: a document whose file is missing is
	// removed only if the cache knows that the file was here.
	Shared bool
	// Tx is a change of the store that was begun already, and is made here. With
	// Lock, one is begun before a file is read: where another writer holds the
	// lock, nothing has been embedded in vain. Else it is begun late, and an
	// embedding run keeps no other writer out.
	Tx   store.Tx
	Lock bool
	// Check reads the whole index and says whether it is damaged. It is called
	// where something else than the last build wrote it: a build by itself reads
	// little of what did not change. May be nil.
	Check func(context.Context) error
	// Keeping is called, in a goroutine of its own, when the ctx of a build ends
	// that goes on to keep vectors that cost requests; may be nil.
	Keeping func()
	// Program is the version of kb: another one reads everything again.
	Program string
	Now     func() time.Time
	Warn    func(string)
	// Note is called for each record that load gives, but not for a skipped
	// file that is no news (see [index.IsNews]); may be nil.
	Note func(record.Record)
}

// Run brings the store in step with the files and folders at the paths. It
// returns what [index.Run] does. Where the vectors cost requests, and the model
// cannot be asked any more (an [*embed.AskError]) or ctx ends, the documents that
// had all their vectors by then are kept, as behind a pipe that was cut: the next
// build asks for the rest. With a Tx nothing is kept, as its owner takes the
// whole change back.
func Run(ctx context.Context, paths []string, o Options) ([]record.Record, index.Result, error) {
	b := &builder{o: o, hashes: map[string]string{}, entries: map[string]load.Entry{}}
	if err := b.open(ctx); err != nil {
		return nil, index.Result{}, err
	}
	if err := b.checkTouched(ctx); err != nil {
		return nil, index.Result{}, err
	}
	if same, err := b.untouched(ctx, paths); err != nil || same {
		reports, result := b.unchanged()
		return reports, result, err
	}
	o.Index.Store = o.Store
	keep := o.Tx == nil && o.Embedder.Info().BaseURL != ""
	if o.Tx == nil && o.Lock {
		var err error
		if o.Tx, err = b.lock(ctx); err != nil {
			return nil, index.Result{}, err
		}
		defer o.Tx.Rollback()
	}
	if o.Tx != nil {
		o.Index.Store = store.Held(o.Store, o.Tx)
	}
	o.Load.Known = b.known
	o.Embed.Embedder = o.Embedder
	o.Index.Warn = o.Warn
	if o.Shared {
		o.Index.Keep = func(path string) bool { return !b.last.saw(path) }
	}
	documents := b.watch(load.Run(ctx, paths, o.Load))
	chunks := embed.Run(ctx, chunk.Run(documents, o.Chunk), o.Embed)
	k := &keeper{ctx: ctx}
	indexing := ctx
	if keep {
		chunks, indexing = k.until(chunks), k.index()
		if o.Keeping != nil { // also where nothing is left but to write the index
			defer context.AfterFunc(ctx, o.Keeping)()
		}
	}
	reports, result, err := index.Run(indexing, chunks, o.Index)
	switch {
	case k.why != nil:
		b.warnKept(result, err)
		return nil, result, k.why
	case err == nil:
		b.save(ctx, paths, reports, result)
	}
	return reports, result, err
}

type builder struct {
	o       Options
	info    store.Info
	docs    map[string]string         // hash by path, of what the index has
	skipped map[string]record.Skipped // by path, the skipped files that the index lists
	last    *cache                    // of the last build, whatever its settings; may be nil
	cache   *cache                    // the same, if its settings are those of this build
	began   time.Time

	mu      sync.Mutex
	entries map[string]load.Entry // of this walk
	hashes  map[string]string     // of what was loaded or known
}

// lock begins the change, and looks at what others wrote until then.
func (b *builder) lock(ctx context.Context) (store.Tx, error) {
	tx, err := b.o.Store.Begin(ctx, !b.o.Index.NoWait)
	if err != nil {
		return nil, err
	}
	if err := b.open(ctx); err != nil {
		tx.Rollback()
		return nil, err
	}
	return tx, nil
}

// open looks at the index and at the cache.
func (b *builder) open(ctx context.Context) error {
	b.began = b.o.Now()
	b.info, b.docs, b.skipped, b.last, b.cache = store.Info{}, nil, map[string]record.Skipped{}, nil, nil
	r, err := b.o.Store.Open(ctx)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	defer r.Close()
	b.info = r.Info()
	for s, err := range r.Skipped(ctx) {
		if err != nil {
			return err
		}
		b.skipped[s.Path] = s
	}
	b.last = readCache(b.o.CacheFile)
	if b.last == nil || b.last.settings != b.settings() {
		return nil
	}
	b.cache = b.last
	if b.cache.version == b.info.Version {
		return nil // the cache knows the documents
	}
	b.docs = map[string]string{}
	for d, err := range r.Documents(ctx) {
		if err != nil {
			return err
		}
		b.docs[d.Path] = d.Hash
	}
	return nil
}

// stamp is that of the index as it is now.
func (b *builder) stamp(ctx context.Context) string {
	s, ok := b.o.Store.(store.Stamper)
	if !ok {
		return ""
	}
	stamp, err := s.Stamp(ctx)
	if err != nil {
		return "" // another than any that is known: the index is checked once more
	}
	return stamp
}

// checkTouched checks an index that something else than the last build wrote,
// and notes that it was found whole.
func (b *builder) checkTouched(ctx context.Context) error {
	if b.o.Check == nil || b.info.Version == "" {
		return nil
	}
	stamp := b.stamp(ctx)
	known := b.last != nil && b.last.version == b.info.Version
	if known && stamp == b.last.stamp {
		return nil
	}
	if err := b.o.Check(ctx); err != nil {
		return err
	}
	if known {
		b.last.stamp = stamp
		b.keep(b.last)
	}
	return nil
}

// settings is everything but the files that decides what the documents of the
// index hold. The analyzer is none of it: the index changes it by itself.
func (b *builder) settings() string {
	o := b.o
	return fmt.Sprintf("%q %q %q %q %d %q %d %d %q %q", o.Program, o.Load.Encoding, fmt.Sprintf("%#v", o.Load.Hooks), o.Load.PDFEngine, o.Load.MaxSize,
		o.Chunk.Strategy, o.Chunk.Size, o.Chunk.Overlap, fmt.Sprint(o.Embedder.Info()), b.o.Store.Name())
}

// untouched says whether the files are those of the last build, all of them
// documents of the index as it is.
func (b *builder) untouched(ctx context.Context, paths []string) (bool, error) {
	if b.cache == nil || b.cache.version != b.info.Version || !b.cache.whole || !slices.Equal(b.cache.paths, paths) {
		return false, nil
	}
	if a := b.o.Index.Analyzer; a != "" && a != b.info.Analyzer {
		return false, nil
	}
	n := 0
	for item, err := range load.Walk(ctx, paths, b.o.Load.Hooks) {
		if err != nil {
			return false, err
		}
		switch {
		case item.Entry != nil && b.cache.has(*item.Entry):
			n++
		case item.Root != nil:
		default:
			return false, nil
		}
	}
	return n == len(b.cache.files), nil
}

func (b *builder) unchanged() ([]record.Record, index.Result) {
	if b.cache == nil {
		return nil, index.Result{}
	}
	var reports []record.Record
	for _, path := range slices.Sorted(maps.Keys(b.cache.files)) {
		f := b.cache.files[path]
		reports = append(reports, &record.Indexed{Path: path, Status: record.StatusUnchanged, Chunks: f.chunks, Reused: f.reused})
	}
	return reports, index.Result{Info: b.info, Unchanged: len(reports)}
}

// known passes over a file that the index has as it is. It is called from
// another goroutine than the rest.
func (b *builder) known(e load.Entry) record.Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries[e.Path] = e
	if b.cache == nil || !b.cache.has(e) {
		return nil
	}
	hash := b.cache.files[e.Path].hash
	if b.docs != nil && b.docs[e.Path] != hash {
		return nil
	}
	b.hashes[e.Path] = hash
	return &record.Indexed{Path: e.Path, Status: record.StatusUnchanged}
}

// watch notes the hashes of the documents that come by.
func (b *builder) watch(in iter.Seq2[record.Record, error]) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		for r, err := range in {
			if d, ok := r.(*record.Document); ok {
				b.mu.Lock()
				b.hashes[d.Path] = d.Hash
				b.mu.Unlock()
			}
			if err == nil && b.o.Note != nil && b.news(r) {
				b.o.Note(r)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func (b *builder) news(r record.Record) bool {
	s, ok := r.(*record.Skipped)
	return !ok || index.IsNews(*s, b.skipped[s.Path])
}

// save writes the cache for the next build.
func (b *builder) save(ctx context.Context, paths []string, reports []record.Record, result index.Result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := &cache{version: result.Info.Version, stamp: b.stamp(ctx), settings: b.settings(), paths: paths, files: map[string]seen{}}
	c.whole = result.Skipped+result.Incomplete+result.Kept+result.Failed == 0
	for _, r := range reports {
		i, ok := r.(*record.Indexed)
		if !ok || i.Status == record.StatusRemoved || i.Status == record.StatusIncomplete {
			continue
		}
		if i.Status == record.StatusKept {
			if b.last.saw(i.Path) {
				c.files[i.Path] = unsure
			}
			continue
		}
		e, ok := b.entries[i.Path]
		missing := result.Info.Vectors > 0 && i.Embedded+i.Reused < i.Chunks // to be embedded again
		if !ok || b.hashes[i.Path] == "" || missing || tooFresh(e.Modified, b.began) {
			c.whole = false
			c.files[i.Path] = unsure
			continue
		}
		c.files[i.Path] = seen{size: e.Size, modified: e.Modified.UnixNano(), hash: b.hashes[i.Path], chunks: i.Chunks, reused: i.Reused + i.Embedded}
	}
	b.keep(c)
}

func (b *builder) keep(c *cache) {
	if err := c.write(b.o.CacheFile); err != nil && b.o.Warn != nil {
		b.o.Warn(fmt.Sprintf("the next build will read all files again: %v", err))
	}
}

// tooFresh says whether a file could have been written again after it was
// read without its time showing it. Times are coarse: some file systems count
// in seconds, others by the kernel's tick.
func tooFresh(modified, began time.Time) bool {
	window := 50 * time.Millisecond
	if modified.Nanosecond() == 0 {
		window = 2 * time.Second
	}
	return modified.After(began.Add(-window))
}
