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
//	ef_search        candidates of a search in the HNSW graph, 1 to 1000; 100
//	exact            1: compare with every vector, always
//	m                neighbours in the graph, when it is built; 16
//	ef_construction  candidates for them; 64
//	keep             how long a version stays readable once it is replaced; 1h
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
// # Writing
//
// A change is one transaction from Begin to Commit, under an advisory lock that
// ends with it: what is not committed is gone, whatever happens to the writer,
// the connection or the server. Rows come by COPY in its binary form. A
// connection that is lost while the server commits is followed by the question
// what became of that transaction.
package pgvector
