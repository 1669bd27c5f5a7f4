// Package remote keeps an index in a vector database that has neither
// transactions nor locks: all that such databases share is that a row is
// written whole, that a row that was written is found by its key, and that of
// two who create the same collection one is told that it exists. An [Engine] is
// that much of one database; everything else is here, once for all of them.
//
// # Rows
//
// Rows are never changed, so a reader needs no lock. A change of the index
// writes new rows under keys of its own, then one row that names them: the
// manifest. Whoever opens the index reads the newest manifest and sees only
// what it names. The key of a row begins with the group of the change that wrote
// it, 16 random hex digits.
//
//	head/N             the manifest of generation N, as JSON
//	GROUP/n            the chunks of a document, as JSON Lines, up to 32 KB
//	GROUP/n/i          in the table of vectors: the vector of its i-th chunk
//	GROUP/sn           a segment: the documents of a part of the index
//	GROUP/sn/pi        postings of some terms in that segment
//	GROUP/…            which documents of a segment are gone; skipped files and
//	                   roots; what is to be swept
//	change/GROUP       a change that is being made, and in the end its manifest
//	lease/n            until when the holder of a lease holds it
//
// What is longer than a row may be is cut; all but the rows head, change and
// lease are compressed.
//
// # Postings
//
// BM25 counts with numbers of the whole index (how many chunks hold a term,
// their mean length), which every change moves. The sparse vectors of these
// databases have weights that are fixed when a row is written, and where the
// engine counts itself it also counts what is deleted but not yet merged. So
// kb keeps postings of its own, and the scores are those of the flat file, to
// the last bit. They come in segments, as in a log-structured merge tree
// (O'Neil et al. 1996): a change adds a segment, and segments are merged when
// there are more than 8, so that each chunk is written again O(log n) times. A
// search reads one or two rows for each term and segment.
//
// # Vectors
//
// The database finds the nearest vectors by its own index, which knows nothing
// of generations: it also returns rows that are gone, or not there yet. So more
// than k rows are asked for, those of no living document are dropped, and if
// less than k remain, more are asked for. The best are scored again in float64
// from their vectors, so that scores and ties are those of the flat file; only
// what an approximate index never found can be missing. Where all that passes
// the filter is no more than 2,048 chunks, or on request always, the score of
// every one is asked for, and the result is exact.
//
// # Writers
//
// A writer holds a lease for a minute and renews it. One who finds a lease that
// has run out takes it over, but only after it has taken the right to commit
// from the one before: both claim the same name, and one of them gets it.
// So of two writers never more than one commits, whatever stops one of them for
// however long; the other is told to run again. What a writer that died left
// behind is deleted by the next one. Rows that a change replaced are deleted by
// a later change, not before [Grace] is over; a reader that is older finds them
// missing and says so.
package remote

import (
	"context"
	"errors"
	"time"

	"kb/pkg/record"
	"kb/pkg/store"
)

// Row is a text under a key. Its kind is "head", "change" or "lease" for rows
// that are listed, and "" for others; its group is that of the change that wrote
// it. Data is UTF-8 without zero bytes, up to [MaxData] bytes of it.
type Row struct{ Key, Kind, Group, Data string }

// MaxData is how long the data of a row may be: Milvus has texts of up to
// 65,535 bytes.
const MaxData = 60_000

// Vector is a vector of unit length under a key, in a table of such.
type Vector struct {
	Key, Group string
	Vector     record.Vector
}

// Near is a vector that an engine found, and its dot product with the query as
// the engine computes it.
type Near struct {
	Key   string
	Score float64
}

// Limits are what an engine can do.
type Limits struct {
	Nearest int // rows that one search may return; 0 for any number
}

// Engine is what a store needs of a database. Its methods may be used by many
// goroutines at once, retry what is worth retrying, and give errors that name
// the store. A method sees what the same engine has written, or what another had
// when it gave the mark that was handed to Seen; List sees whatever was
// written.
type Engine interface {
	// Name is the URL without its password.
	Name() string
	Limits() Limits
	// Mark stands for what was written through this engine or had been seen.
	Mark() string
	Seen(mark string)
	// Create makes a place for rows, unless there is one.
	Create(ctx context.Context) error
	// List returns the rows of a kind; none where nothing was created.
	List(ctx context.Context, kind string) ([]Row, error)
	// Get returns the data of rows by their keys, without those that are not there.
	Get(ctx context.Context, keys []string) (map[string]string, error)
	// Put writes rows, in the place of those with the same keys.
	Put(ctx context.Context, rows []Row) error
	Delete(ctx context.Context, keys []string) error
	// DeleteGroup deletes the rows of a group, and its vectors in a table; a
	// table of the name "" is none.
	DeleteGroup(ctx context.Context, group, table string) error

	// CreateTable makes a table of vectors; Release tells that it has come into
	// use in the place of all others.
	CreateTable(ctx context.Context, table string, dim int) error
	Release(ctx context.Context, table string) error
	// DropTable drops a table, if there is one.
	DropTable(ctx context.Context, table string) error
	PutVectors(ctx context.Context, table string, vectors []Vector) error
	GetVectors(ctx context.Context, table string, keys []string) (map[string]record.Vector, error)
	DeleteVectors(ctx context.Context, table string, keys []string) error
	// Nearest returns up to n vectors near q, among those with the keys or, if
	// keys is nil, among all.
	Nearest(ctx context.Context, table string, q record.Vector, n int, keys []string) ([]Near, error)

	// Claim gives a name to the one who asks first, and returns who has it.
	Claim(ctx context.Context, name, holder string) (string, error)
	// Unclaim frees a name.
	Unclaim(ctx context.Context, name string) error
}

// Options are what a store is opened with.
type Options struct {
	Now   func() time.Time // the clock; nil is time.Now
	Exact bool             // searches are exact, at the price of scoring every vector
}

// Store is an index in a database.
type Store struct {
	engine Engine
	now    func() time.Time
	exact  bool
}

// New returns the store in a database. No request is made yet.
func New(e Engine, opt Options) *Store {
	s := &Store{engine: e, now: opt.Now, exact: opt.Exact}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// Name is the URL without its password.
func (s *Store) Name() string { return s.engine.Name() }

// Open returns the newest version.
func (s *Store) Open(ctx context.Context) (store.Reader, error) {
	r, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Stamp changes whenever the index has changed. It costs one small request.
func (s *Store) Stamp(ctx context.Context) (string, error) {
	m, err := s.newest(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return m.Group, nil
}
