// Package store says what kb needs of a place that keeps chunks, their
// vectors and their postings. Package flat, one compressed file, is the
// reference; storetest holds the conformance suite that every store passes.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"

	"kb/pkg/record"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrNotFound = errors.New("no index")         // nothing was stored yet
	ErrDamaged  = errors.New("index is damaged") // see [DamagedError]
	ErrNewer    = errors.New("index is of a newer format")
	ErrLocked   = errors.New("index is being written by another process")
)

// DamagedError says where an index is damaged. It is an [ErrDamaged].
type DamagedError struct {
	Name   string // of the store: a file's path
	Offset int64  // in bytes; -1 where there is no place to name
	Err    error
}

func (e *DamagedError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("%s: damaged: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("%s: damaged at byte %d: %v", e.Name, e.Offset, e.Err)
}
func (e *DamagedError) Unwrap() error        { return e.Err }
func (e *DamagedError) Is(target error) bool { return target == ErrDamaged }

// Settings are what an index was built with. Model, BaseURL and the prefixes
// are its fingerprint: vectors of another fingerprint do not compare.
type Settings struct {
	Model          string       `json:"model"`    // "" where no chunk has a vector
	BaseURL        string       `json:"base_url"` // normalised, without secrets; "" offline
	QueryPrefix    string       `json:"query_prefix"`
	DocumentPrefix string       `json:"document_prefix"`
	Dim            int          `json:"dim"`      // 0 where no chunk has a vector
	Analyzer       string       `json:"analyzer"` // name and version, see package text
	Calibration    *Calibration `json:"calibration,omitempty"`
}

// Calibration is the refusal floor fitted for one index and embedder. For a
// semantic embedder it also says what the vectors tell: Slope and Middle make a
// confidence of how far the nearest chunk stands out.
type Calibration struct {
	Confidence string  `json:"confidence"` // the formula that the floor is for, see package search
	Floor      float64 `json:"floor"`      // confidence below it is refused
	Questions  int     `json:"questions"`  // it was fitted on
	Precision  float64 `json:"precision"`  // of refusals, cross-validated
	Recall     float64 `json:"recall"`     //
	FalseRatio float64 `json:"false_rate"` // answerable questions refused
	Slope      float64 `json:"slope,omitempty"`
	Middle     float64 `json:"middle,omitempty"`
}

// Standout is the confidence that the nearest chunk gives by standing out from
// the others by so much, in cosine: 0.5 at Middle.
func (c *Calibration) Standout(lead float64) float64 {
	return 1 / (1 + math.Exp(-float64(c.Slope*(lead-c.Middle))))
}

// Info describes one version of an index.
type Info struct {
	Settings
	Format    int    // of the store
	Version   string // a hash over all document hashes and the settings: equal content, equal version
	Documents int
	Chunks    int
	Vectors   int // chunks that have a vector
	Size      int64
}

// Document is what a store knows of a document besides its chunks.
type Document struct {
	Path      string          `json:"path"`
	ID        string          `json:"id"`
	Hash      string          `json:"hash"` // of the file's bytes
	Title     string          `json:"title"`
	MediaType string          `json:"media_type,omitempty"`
	Meta      json.RawMessage `json:"meta,omitempty"`
	Chunks    int             `json:"chunks"`
	Vectors   int             `json:"vectors"`
	Sum       string          `json:"sum"` // see [Sum]: equal sums, equal chunks
}

// Ref names a chunk within one open [Reader]. Refs are ordered as chunks are:
// by path, then by their place in the document.
type Ref int64

// Scored is a chunk and its score.
type Scored struct {
	Ref   Ref
	Score float64
}

// Filter restricts a search before anything is ranked. The zero value lets
// everything through; a chunk must pass every part that is set.
type Filter struct {
	Paths []string // see [NewMatcher]; one must match
	Tags  []string // all must be among the document's meta.tags, without # and case
	// Since and Until are the first and the last date of documents that pass,
	// in a form that [ParseDate] reads; "" for no limit. A document's date is
	// that in its meta, see [Date], else what Modified says, which may be nil;
	// a document without either does not pass.
	Since, Until string
	Modified     func(path string) string `json:"-"`
	// MinCosine is the least cosine that [Reader.Nearest] returns; 0 or less
	// is no limit. A limit spares the work of ranking what is not near.
	MinCosine float64
}

// Lexical is the outcome of a BM25 search.
type Lexical struct {
	Hits   []Scored
	N      int            // chunks in the index (not only those that pass the filter)
	AvgLen float64        // tokens of a chunk, on average
	DF     map[string]int // chunks that hold a term, for each term asked for
}

// Reader is one version of an index, unaffected by later writes. It may be
// used by many goroutines at once.
type Reader interface {
	Info() Info
	// Documents lists the documents by path; Skipped and Roots likewise.
	Documents(ctx context.Context) iter.Seq2[Document, error]
	Skipped(ctx context.Context) iter.Seq2[record.Skipped, error]
	Roots(ctx context.Context) iter.Seq2[record.Root, error]
	// Chunks lists the chunks of one document, or with "" of all, in the order
	// of refs, as embed wrote them; without their vectors unless asked for.
	Chunks(ctx context.Context, path string, vectors bool) iter.Seq2[*record.Chunk, error]
	// Fetch returns the chunks of the refs, in the order of the refs.
	Fetch(ctx context.Context, refs []Ref, vectors bool) ([]*record.Chunk, error)
	// Nearest returns the k chunks with the greatest cosine to q, greatest
	// first, ties by ref. q must have unit length and the index's dimension.
	Nearest(ctx context.Context, q record.Vector, k int, f Filter) ([]Scored, error)
	// Lexical returns the k chunks with the greatest BM25 score for the terms,
	// greatest first, ties by ref; chunks that hold no term are not among them.
	Lexical(ctx context.Context, terms []string, k int, f Filter) (Lexical, error)
	Close() error
}

// Store is a place that keeps an index.
type Store interface {
	// Name is for people: a path or a URL without its password.
	Name() string
	// Open returns the newest version, or [ErrNotFound].
	Open(ctx context.Context) (Reader, error)
	// Begin locks the store for one writer. If another holds the lock it
	// waits, or with wait false fails with [ErrLocked].
	Begin(ctx context.Context, wait bool) (Tx, error)
}

// Stamper is a [Store] that can tell, at little cost, whether the index changed
// since it was opened: its stamp is another one whenever that is so, and ""
// where there is no index yet. A stamp that was taken before [Store.Open] may
// be of an older version than the one opened, never of a newer one.
type Stamper interface {
	Stamp(ctx context.Context) (string, error)
}

// Resident is a [Reader] that may keep what it searches in memory; Resident is
// how many bytes it keeps.
type Resident interface{ Resident() int64 }

// WriteChecker is a [Store] that can tell in advance, without waiting for
// another writer, that it could not be written: before vectors are paid for
// that nothing could keep.
type WriteChecker interface{ CheckWritable() error }

// CheckWritable says why the store cannot be written, where that is known.
func CheckWritable(s Store) error {
	if c, ok := s.(WriteChecker); ok {
		return c.CheckWritable()
	}
	return nil
}

// Tx is one change of an index. Nothing is visible before Commit, and then all
// of it. Rollback after Commit does nothing.
type Tx interface {
	// Reader is the version that the change starts from; nil if there is none.
	Reader() Reader
	// Reset drops everything, so that the index may get other settings.
	Reset()
	// Put adds a document with its chunks, or replaces it. Chunks without a
	// vector are found by BM25 only. The store keeps the slice.
	Put(ctx context.Context, doc Document, chunks []*record.Chunk) error
	// Remove drops the document at a path; no error if there is none.
	Remove(ctx context.Context, path string) error
	// SetSkipped and SetRoots replace the lists of skipped files and of roots.
	SetSkipped([]record.Skipped)
	SetRoots([]record.Root)
	// Commit makes the change durable and visible, and returns what the index
	// is now. Unless Reset was called, s must have the fingerprint, dimension
	// and analyzer of the index, if it has a vector.
	Commit(ctx context.Context, s Settings) (Info, error)
	Rollback()
}
