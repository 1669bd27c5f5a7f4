// Package record holds the nouns that travel between kb's stages as JSON
// Lines: one JSON object a line, with its kind in the field "kind".
//
// The records are a contract between programs, so three rules hold for all of
// them. Field names are snake_case and changes are additive. A stage copies
// through the kinds it does not handle (as [Raw]) and the fields it does not
// know (in the Extra field). And apart from vectors a record holds no more
// than its own document.
package record

import (
	"encoding/json"
	"strings"
)

// Kinds of records, in the order in which the pipeline writes them.
const (
	KindDocument = "document"
	KindSkipped  = "skipped"
	KindRoot     = "root"
	KindChunk    = "chunk"
	KindIndexed  = "indexed"
	KindExport   = "export"
	KindQuery    = "query"
	KindHit      = "hit"
	KindAnswer   = "answer"
	KindDelta    = "delta"
	KindDone     = "done"
)

// Record is one line of a stream: a pointer to one of the structs of this
// package.
type Record interface {
	// Kind is the value of the field "kind"; "" where a line has none.
	Kind() string
}

// Raw is a line that a stage does not handle and copies through unchanged.
type Raw struct {
	RecordKind string
	Line       []byte // without the line end
}

// Extra holds the fields of an object that its struct does not know, in the
// order in which they came.
type Extra []Field

// Field is one unknown field of a record.
type Field struct {
	Key   string
	Value json.RawMessage
}

// Document is one file as load read it.
type Document struct {
	ID        string          `json:"id"`                   // of the path, see [DocumentID]
	Path      string          `json:"path"`                 // reachable from the working directory, / separators
	Root      string          `json:"root,omitempty"`       // the folder that was walked; "" for a file named by itself
	Title     string          `json:"title"`                // front matter, first heading, or the file's name
	MediaType string          `json:"media_type,omitempty"` // text/markdown, text/plain, application/pdf, …
	Hash      string          `json:"hash"`                 // hex sha256 of the file's bytes
	Modified  string          `json:"modified,omitempty"`   // RFC 3339, UTC
	Text      string          `json:"text"`                 // \n line ends; pages of a PDF are joined with [PageBreak]
	Pages     []Page          `json:"pages,omitempty"`      // of PDF, in order, each page of the file
	Converted bool            `json:"converted,omitempty"`  // Text was made from the file, whose lines are others: Markdown unless MediaType is text/plain
	Meta      json.RawMessage `json:"meta,omitempty"`       // front matter, encoding, …: a JSON object
	Extra     Extra           `json:"-"`
}

// Page is one page of a document that has pages.
type Page struct {
	Page   int    `json:"page"`             // from 1
	Text   string `json:"text"`             //
	Status string `json:"status,omitempty"` // "" for text; empty, no_text_layer, unreadable, error
	// Headings on the page, in order: bookmarks, or lines in large type.
	Headings []PageHeading `json:"headings,omitempty"`
}

// PageHeading is a heading on a page.
type PageHeading struct {
	Start int    `json:"start"` // byte offset into the page's text
	Level int    `json:"level"` // from 1
	Title string `json:"title"`
}

// PageBreak stands between the pages in a document's text.
const PageBreak = "\f"

// Skipped is a file that gave no document.
type Skipped struct {
	Path   string `json:"path"`
	Root   string `json:"root,omitempty"`
	Reason string `json:"reason"`          // for people: "not a PDF", "permission denied"
	Class  string `json:"class,omitempty"` // for programs, see the Class constants
	Hash   string `json:"hash,omitempty"`  // of the file's bytes where they could be read
	Extra  Extra  `json:"-"`
}

// Classes of skipped files. A file of a transient class may be whole again in
// the next run, so the index keeps the version that it knows; in every other
// class the file as it stands now has no text to index, and an older version
// is removed.
const (
	ClassUnreadable  = "unreadable"  // the file could not be opened or read (transient)
	ClassTimeout     = "timeout"     // extraction took too long (transient)
	ClassCrashed     = "crashed"     // extraction broke down (transient)
	ClassBinary      = "binary"      // not text
	ClassEncoding    = "encoding"    // text in no encoding that could be read
	ClassEmpty       = "empty"       // no text at all
	ClassTooLarge    = "too_large"   // above --max-size, or it unpacks to too much
	ClassUnsupported = "unsupported" // no file of a type that is read: a pipe, another type named by itself, a name that is not UTF-8
	ClassNotPDF      = "not_pdf"
	ClassDamaged     = "damaged"
	ClassPassword    = "password"
	ClassNoText      = "no_text_layer"   // a scan: needs OCR
	ClassGarbled     = "unreadable_text" // a text layer without usable characters
)

// Transient says whether a file of this class may be whole again next time.
func Transient(class string) bool {
	return class == ClassUnreadable || class == ClassTimeout || class == ClassCrashed
}

// Root closes the walk of one folder: it is written after everything below
// the folder, and only when the walk came to its end.
type Root struct {
	Path      string `json:"path"`
	Documents int    `json:"documents"`
	Skipped   int    `json:"skipped"`
	// Other counts the files that were passed over for their type, by extension
	// in lower case; those without one under [NoExtension], and links, to
	// whatever, under [SymbolicLink].
	Other map[string]int `json:"other,omitempty"`
	Extra Extra          `json:"-"`
}

// NoExtension stands for the extension of files that have none.
const NoExtension = "(none)"

// SymbolicLink stands for the extension of links, which are not followed.
const SymbolicLink = "(symbolic link)"

// Chunk is a passage of a document; after embed it carries a vector.
type Chunk struct {
	ID       string          `json:"id"`
	Document string          `json:"document"` // the document's id
	Path     string          `json:"path"`
	Title    string          `json:"title"`
	Hash     string          `json:"hash"`           // the document's
	Seq      int             `json:"seq"`            // from 1
	Of       int             `json:"of"`             // number of chunks of the document
	Headings []string        `json:"headings"`       // path of headings, outermost first
	Page     int             `json:"page,omitempty"` // from 1; 0 without pages
	Line     int             `json:"line,omitempty"` // first line in the file, from 1; 0 where it has pages or was converted
	Start    int             `json:"start"`          // byte offsets into the document's text,
	End      int             `json:"end"`            // half open
	Text     string          `json:"text"`
	Meta     json.RawMessage `json:"meta,omitempty"` // the document's
	Vector   Vector          `json:"vector,omitempty"`
	Model    string          `json:"model,omitempty"`
	BaseURL  string          `json:"base_url,omitempty"`
	Dim      int             `json:"dim,omitempty"`
	// Prefixes that the model was given; part of the fingerprint.
	QueryPrefix    string `json:"query_prefix,omitempty"`
	DocumentPrefix string `json:"document_prefix,omitempty"`
	Reused         bool   `json:"reused,omitempty"` // the vector was taken from the index instead of asked for
	Error          string `json:"error,omitempty"`  // why embed gave it no vector
	Extra          Extra  `json:"-"`
}

// Indexed says what index did with one document.
type Indexed struct {
	Path     string `json:"path"`
	Status   string `json:"status"` // see the Status constants
	Chunks   int    `json:"chunks"`
	Embedded int    `json:"embedded"`         // chunks whose vector is new to the index
	Reused   int    `json:"reused"`           // chunks whose vector the index had
	Reason   string `json:"reason,omitempty"` // for incomplete and kept
	Extra    Extra  `json:"-"`
}

// Statuses of an [Indexed] record.
const (
	StatusCreated    = "created"
	StatusUpdated    = "updated"
	StatusUnchanged  = "unchanged"
	StatusRemoved    = "removed"
	StatusIncomplete = "incomplete" // not all chunks came: nothing was changed
	StatusKept       = "kept"       // the file could not be read this time, or may lie on another machine: the version known is kept
)

// Export goes ahead of all that an index holds, written out by kb export: what
// is to come, and what no chunk says of the index.
type Export struct {
	Index       string          `json:"index"`   // its name, for people
	Version     string          `json:"version"` // equal content, equal version
	Documents   int             `json:"documents"`
	Chunks      int             `json:"chunks"`
	Vectors     int             `json:"vectors"`
	Analyzer    string          `json:"analyzer,omitempty"`
	Calibration json.RawMessage `json:"calibration,omitempty"` // of the floor of refusal
	Extra       Extra           `json:"-"`
}

// Query is one question; it goes ahead of its hits.
type Query struct {
	ID         string             `json:"id"`
	Text       string             `json:"text"`
	Mode       string             `json:"mode,omitempty"`       // the mode that ran: vector, bm25, hybrid
	Legs       []Leg              `json:"legs,omitempty"`       //
	Confidence *float64           `json:"confidence,omitempty"` // 0..1 that the notes hold an answer; nil when not known
	Floor      float64            `json:"floor,omitempty"`      // below it answer refuses; 0: no floor
	Signals    map[string]float64 `json:"signals,omitempty"`    // what the confidence was made of
	Terms      map[string]float64 `json:"terms,omitempty"`      // idf of each query term, stop words left out
	Analyzer   string             `json:"analyzer,omitempty"`   //
	// Identifiers are those of the terms that name one thing (err-5023,
	// rotate_keys, in a Chinese question also marta) and are in the index: hits
	// that hold them go first.
	Identifiers []string `json:"identifiers,omitempty"`
	// Missing are the names in the question that the notes have nowhere, as the
	// question writes them. Where all its identifiers are, the confidence is 0.
	Missing   []string `json:"missing,omitempty"`
	Chunks    int      `json:"chunks,omitempty"`     // size of what was searched
	Documents int      `json:"documents,omitempty"`  //
	Index     string   `json:"index,omitempty"`      // version of the index searched
	Below     int      `json:"below,omitempty"`      // hits that a limit on the relevance left out
	BestBelow float64  `json:"best_below,omitempty"` // the relevance of the best of them
	Vector    Vector   `json:"vector,omitempty"`
	Model     string   `json:"model,omitempty"`
	BaseURL   string   `json:"base_url,omitempty"`
	// Prefixes that the model of the vector was given, as in a [Chunk].
	QueryPrefix    string `json:"query_prefix,omitempty"`
	DocumentPrefix string `json:"document_prefix,omitempty"`
	Extra          Extra  `json:"-"`
}

// Leg is one way of finding or ordering hits, and whether it took part.
type Leg struct {
	Name   string  `json:"leg"` // vector, bm25, rerank
	Ran    bool    `json:"ran"`
	Why    string  `json:"why,omitempty"`    // why it did not run
	By     string  `json:"by,omitempty"`     // the model or method
	Weight float64 `json:"weight,omitempty"` // in the fusion
	Hits   int     `json:"hits,omitempty"`
	Extra  Extra   `json:"-"`
}

// Hit is one chunk found for a query.
type Hit struct {
	Query    string          `json:"query"` // the query's id
	Rank     int             `json:"rank"`  // from 1
	Score    float64         `json:"score"` // what the rank was made by
	Scores   Scores          `json:"scores"`
	ID       string          `json:"id"` // the chunk's
	Document string          `json:"document,omitempty"`
	Path     string          `json:"path"`
	Title    string          `json:"title"`
	Headings []string        `json:"headings"`
	Page     int             `json:"page,omitempty"`
	Line     int             `json:"line,omitempty"`
	Seq      int             `json:"seq,omitempty"`
	Text     string          `json:"text"`
	Meta     json.RawMessage `json:"meta,omitempty"`
	Extra    Extra           `json:"-"`
}

// Scores are the parts of a hit's score; nil where a part was not computed.
type Scores struct {
	Vector *float64 `json:"vector,omitempty"` // cosine, -1..1
	BM25   *float64 `json:"bm25,omitempty"`   // ≥ 0
	RRF    *float64 `json:"rrf,omitempty"`    // reciprocal rank fusion
	Rerank *float64 `json:"rerank,omitempty"` // the scale is the reranker's own
	Extra  Extra    `json:"-"`
}

// Answer is the reply to one question.
type Answer struct {
	Query      string    `json:"query"`               // the query's id
	Question   string    `json:"question,omitempty"`  // as it was asked
	Rewritten  string    `json:"rewritten,omitempty"` // a follow-up as it was searched, where that differs
	Searches   []string  `json:"searches,omitempty"`  // that the model made to find the passages
	Text       string    `json:"text"`
	Refused    bool      `json:"refused"`
	Reason     string    `json:"reason,omitempty"` // why it was refused or is not complete
	Complete   bool      `json:"complete"`
	Missing    []string  `json:"missing,omitempty"` // as in [Query]
	Passages   []Passage `json:"passages"`          // all that the answer could draw on
	Citations  []Passage `json:"citations"`         // those it cites, by number
	Claims     []Claim   `json:"claims"`
	Invalid    []int     `json:"invalid_citations"` // numbers that name no passage, removed from the text
	Confidence *float64  `json:"confidence,omitempty"`
	Floor      float64   `json:"floor,omitempty"`
	Chunks     int       `json:"chunks,omitempty"` // size of what was searched
	Documents  int       `json:"documents,omitempty"`
	Legs       []Leg     `json:"legs,omitempty"`
	Model      string    `json:"model,omitempty"`
	Usage      *Usage    `json:"usage,omitempty"`
	Cached     bool      `json:"cached,omitempty"` // written before, for the same question and the same notes
	LatencyMS  int64     `json:"latency_ms"`
	Extra      Extra     `json:"-"`
}

// Passage is a numbered hit as the answer saw it.
type Passage struct {
	N        int      `json:"n"` // from 1
	ID       string   `json:"id,omitempty"`
	Path     string   `json:"path"`
	Title    string   `json:"title"`
	Headings []string `json:"headings"`
	Page     int      `json:"page,omitempty"`
	Line     int      `json:"line,omitempty"`
	Text     string   `json:"text"`
	Score    float64  `json:"score"`
}

// Claim is one sentence of an answer and what became of its check.
type Claim struct {
	Text      string `json:"text"`
	Cites     []int  `json:"cites"`
	Supported bool   `json:"supported"`
	Why       string `json:"why,omitempty"` // what the passage does not bear out
}

// Usage is what a model call cost, in tokens.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// Delta is a piece of an answer while it is streamed.
type Delta struct {
	Query string `json:"query"`
	Text  string `json:"text"`
	Extra Extra  `json:"-"`
}

// Done closes a streamed answer: the whole answer under the kind "done".
type Done struct{ Answer }

func (r *Raw) Kind() string      { return r.RecordKind }
func (r *Document) Kind() string { return KindDocument }
func (r *Skipped) Kind() string  { return KindSkipped }
func (r *Root) Kind() string     { return KindRoot }
func (r *Chunk) Kind() string    { return KindChunk }
func (r *Indexed) Kind() string  { return KindIndexed }
func (r *Export) Kind() string   { return KindExport }
func (r *Query) Kind() string    { return KindQuery }
func (r *Hit) Kind() string      { return KindHit }
func (r *Answer) Kind() string   { return KindAnswer }
func (r *Delta) Kind() string    { return KindDelta }
func (r *Done) Kind() string     { return KindDone }

// WhyNothing says why a question was not searched for at all; "" where some
// leg ran.
func (q *Query) WhyNothing() string {
	why := ""
	for _, l := range q.Legs {
		if l.Ran {
			return ""
		}
		if why == "" {
			why = l.Why
		}
	}
	return why
}

// FullText is what embed and the analyzer see of a chunk: the title, the path
// of headings and the text, a line each. A first heading that repeats the
// title is left out.
func (c *Chunk) FullText() string {
	headings := c.Headings
	if len(headings) > 0 && headings[0] == c.Title {
		headings = headings[1:]
	}
	var b strings.Builder
	for _, s := range append([]string{c.Title}, headings...) {
		if s != "" {
			b.WriteString(s)
			b.WriteByte('\n')
		}
	}
	b.WriteString(c.Text)
	return b.String()
}
