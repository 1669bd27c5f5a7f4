// Package pgvector keeps an index in a PostgreSQL database with the extension
// pgvector: for many writers, more than one machine, and what operators of
// databases know how to do.
//
//	postgres://user:password@host:5432/database?sslmode=require&schema=kb
//
// All tables of an index are in one schema (kb), so that a database can hold
// several. Parameters of the URL, besides those of libpq:
//
//	schema           of the tables; kb
//	ef_search        candidates of a search in the HNSW graph, 1 to 1000; 200
//	exact            1: compare with every vector, always
//	m                neighbours in the graph, when it is built; 16
//	ef_construction  candidates for them; 64
//	keep             how long a version stays readable once it is replaced; 1h
//	read_timeout     how long statements that only read may take; 5m
//
// It takes PostgreSQL 13 and pgvector 0.8, which goes on with a search of the
// graph where a filter lets too few hits through (hnsw.iterative_scan). Neither
// prepared statements nor settings or locks of a session are used, so that it
// works behind a pooler like PgBouncer that gives each transaction another
// connection.
//
// # Versions
//
// A reader must see one version, however long it lives, while others write. A
// transaction of isolation REPEATABLE READ would give it that, but for a process
// that answers questions all day it would also keep a connection busy, for one
// question at a time, and keep the server from cleaning up any table of the
// database. So versions are data. Each commit makes a generation. A document is
// a row with the generation that it was born in and the one in which it died;
// its chunks belong to that row, and never change. A reader at generation G sees
// the documents with born <= G < dead, by short statements on any connection,
// and holds nothing in between. What no longer belongs to a version that was the
// newest one within the last hour (keep) is deleted by a later commit. With each
// statement a reader asks whether its version is still kept, so that it gets a
// clear error, and never a part.
//
// # Tables
//
//	migrations    version of the tables, and of the oldest reader that
//	              understands them; see the ladder
//	versions      one row a generation: settings (model, base URL, prefixes,
//	              dimension, analyzer, calibration), counts, layout (see there),
//	              lists of skipped files and roots
//	documents     id, path, born, dead, tokens, chunks, record (store.Document)
//	chunks_N      number, record: the line that embed writes, without the vector
//	vectors_N     number, doc, vector
//	postings_N    term, first, data: see postings.go
//
// Records are text, not json: JSON escapes the zero byte, which no type of
// PostgreSQL can hold. N is the generation that made the table. A reset, or
// another analyzer, makes new ones and lets the old ones be until nobody reads
// them, so that a graph is built over new vectors alone and old rows cost nobody
// anything.
//
// # Words
//
// BM25 must give the scores of the flat store, with its tokens and the counts of
// the version. 100,208 chunks of 60 words (10.2 million pairs of chunk and term),
// a question of five terms of which two are in most chunks, on a busy machine:
//
//	                                  MB    load s   question ms
//	a row for each term and chunk    751       79         4,600
//	tsvector with a GIN index        176       36        21,300   unnest of each match
//	sparsevec, all compared           89       11           190   N and the average are frozen
//	packed postings (postings.go)     39        –            15   the scores to the bit
//
// The last line is from scripts/bench-stores.sh: as part of a whole index, the
// median of 100 questions of five terms.
//
// So a term has its postings in one row, or in rows of 8 KB where it came with
// many changes; they are fetched and scored here. Postings of chunks that are
// gone are passed over, until they are half of all: then they are made anew.
//
// # Vectors
//
// Up to 10,000 vectors are all compared. For more there is an HNSW graph of
// half precision, whose hits are scored from the vectors, so that each score is
// exact. m = 16 and ef_construction = 64 find .989 of the ten nearest of 100,371
// vectors of 384 dimensions with ef_search = 100, and .999 with 200; comparing all
// takes ten times as long. More is in eval/results.md. A filter is evaluated
// here, as globs and dates mean the same in all stores, and goes into the
// search as a list of documents: the scan of the graph goes on until enough
// hits pass (20,000 vectors at most), or, where few chunks pass, all of them are
// compared.
//
// # Writing
//
// A change is one transaction from Begin to Commit, under an advisory lock that
// ends with it: what is not committed is gone, whatever happens to the writer,
// the connection or the server. Rows come by COPY in its binary form. A
// connection that is lost while the server commits is followed by the question
// what became of that transaction.
package pgvector
