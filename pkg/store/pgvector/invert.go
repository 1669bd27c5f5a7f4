package pgvector

import (
	"context"
	"maps"
	"slices"
	"strings"

	"kb/pkg/record"
	"kb/pkg/text"
)

const (
	// maxInverted is how many bytes of postings are collected before they are
	// written: about 300,000 chunks.
	maxInverted = 64 << 20
	// fullRow is the size from which a row of postings is left alone, and new
	// ones of its term go into another.
	fullRow = 8000
	// maxStale is the share of postings, of chunks that are gone, from which
	// all are made anew, in a new table.
	maxStale = 0.5
)

// index adds the words of the new documents to the postings, or makes all
// postings anew: with another analyzer, or where most are of documents that are
// gone. The texts are read back, as it is only known now which analyzer the
// index will have.
func (t *tx) index(ctx context.Context, p *plan, analyzer text.Analyzer) error {
	v := &t.next
	alive := int64(v.info.Chunks)
	anew := v.postingsTable == 0 || t.old != nil && !t.reset && t.old.v.info.Analyzer != v.info.Analyzer ||
		float64(v.posted-alive) > 1000+maxStale*float64(v.posted)
	if anew {
		v.postingsTable, v.posted = 0, 0
		if err := t.table(ctx, "postings", &v.postingsTable, `term text COLLATE "C", first bigint, data bytea STORAGE EXTERNAL NOT NULL, PRIMARY KEY (term, first)`); err != nil {
			return err
		}
	}
	i := inverter{tx: t, anew: anew, analyzer: analyzer, pieces: map[string]*piece{}}
	var docs []*entry
	chunks := 0
	for _, e := range byID(p.docs) {
		if !e.isNew && !anew {
			continue
		}
		docs = append(docs, e)
		if chunks += e.doc.Chunks; chunks >= page {
			if err := i.add(ctx, docs); err != nil {
				return err
			}
			docs, chunks = docs[:0], 0
		}
	}
	if err := i.add(ctx, docs); err != nil {
		return err
	}
	if err := i.flush(ctx); err != nil {
		return err
	}
	return i.recount(ctx)
}

// inverter turns texts into postings.
type inverter struct {
	*tx
	anew      bool
	analyzer  text.Analyzer
	pieces    map[string]*piece
	size      int
	temporary bool     // the temporary table exists
	recounted []*entry // old documents that have another number of tokens now
}

// add inverts some documents, in the order of their numbers.
func (i *inverter) add(ctx context.Context, docs []*entry) error {
	numbers := make([]int64, 0, 2*page)
	for _, e := range docs {
		for n := range int64(e.doc.Chunks) {
			numbers = append(numbers, e.id+n)
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	out, err := send(ctx, i.conn, stmt(`SELECT number, record FROM `+i.store.numbered("chunks", i.next.chunksTable)+
		` WHERE number = ANY($1::bigint[]) ORDER BY number`, intArray(numbers)))
	if err != nil {
		return err
	}
	i.next.posted += int64(len(numbers))
	at := 0
	for _, e := range docs {
		before := e.tokens
		e.tokens = 0
		for ; at < len(out[0]) && int64At(out[0][at][0]) < e.id+int64(e.doc.Chunks); at++ {
			c := new(record.Chunk)
			if err := record.Decode(out[0][at][1], c); err != nil {
				return err
			}
			e.tokens += i.chunk(int64At(out[0][at][0]), c)
		}
		if !e.isNew && e.tokens != before {
			i.recounted = append(i.recounted, e)
		}
	}
	if i.size >= maxInverted {
		return i.flush(ctx)
	}
	return nil
}

// chunk adds the words of one chunk, and returns how many there are.
func (i *inverter) chunk(number int64, c *record.Chunk) int64 {
	tokens := i.analyzer.Tokens(c.FullText())
	tf := make(map[string]int, len(tokens))
	for _, token := range tokens {
		tf[token]++
	}
	for token, n := range tf {
		if token = termKey(token); token == "" {
			continue
		}
		p := i.pieces[token]
		if p == nil {
			token = strings.Clone(token)
			p = &piece{}
			i.pieces[token] = p
			i.size += len(token) + 64
		}
		before := len(p.data)
		p.add(number, n, len(tokens))
		i.size += len(p.data) - before
	}
	return int64(len(tokens))
}

// flush writes the postings that were collected.
func (i *inverter) flush(ctx context.Context) error {
	if len(i.pieces) == 0 {
		return nil
	}
	target := i.store.numbered("postings", i.next.postingsTable)
	if !i.anew {
		target = "pg_temp.kb_pieces"
		if !i.temporary {
			if _, err := send(ctx, i.conn, stmt(`CREATE TEMPORARY TABLE kb_pieces (term text COLLATE "C" PRIMARY KEY, first bigint, data bytea) ON COMMIT DROP`)); err != nil {
				return err
			}
			i.temporary = true
		}
	}
	var rows copier
	for _, term := range slices.Sorted(maps.Keys(i.pieces)) {
		p := i.pieces[term]
		rows.row(3)
		rows.text(term)
		rows.int64(p.first)
		rows.bytes(p.data)
		if len(rows.buf) >= batch {
			if err := rows.flush(ctx, i.conn, target); err != nil {
				return err
			}
		}
	}
	if err := rows.flush(ctx, i.conn, target); err != nil {
		return err
	}
	clear(i.pieces)
	i.size = 0
	if i.anew {
		return nil
	}
	return i.join(ctx)
}

// join appends pieces to the last row of their terms, so that a term does not
// get a row with each change, and begins new rows where the last one is full.
func (i *inverter) join(ctx context.Context) error {
	table := i.store.numbered("postings", i.next.postingsTable)
	_, err := send(ctx, i.conn, stmt(`ANALYZE pg_temp.kb_pieces`),
		stmt(`WITH last AS (
	SELECT n.term, (SELECT p.first FROM `+table+` p WHERE p.term = n.term ORDER BY p.first DESC LIMIT 1) AS first FROM pg_temp.kb_pieces n
), joined AS (
	UPDATE `+table+` p SET data = p.data || n.data FROM last l JOIN pg_temp.kb_pieces n USING (term)
	WHERE p.term = l.term AND p.first = l.first AND octet_length(p.data) < `+itoa(fullRow)+` RETURNING p.term
)
INSERT INTO `+table+` SELECT term, first, data FROM pg_temp.kb_pieces WHERE term NOT IN (SELECT term FROM joined)`),
		stmt(`TRUNCATE pg_temp.kb_pieces`))
	return err
}

// recount notes how many tokens old documents have under another analyzer.
func (i *inverter) recount(ctx context.Context) error {
	if len(i.recounted) == 0 {
		return nil
	}
	var ids, tokens []int64
	for _, e := range i.recounted {
		ids, tokens = append(ids, e.id), append(tokens, e.tokens)
	}
	_, err := send(ctx, i.conn, stmt(`UPDATE `+i.store.table("documents")+` d SET tokens = n.tokens
		FROM unnest($1::bigint[], $2::bigint[]) AS n(id, tokens) WHERE d.id = n.id`, intArray(ids), intArray(tokens)))
	return err
}
