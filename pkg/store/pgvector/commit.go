package pgvector

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/text"
)

// entry is a document of the version that is being made.
type entry struct {
	id     int64
	tokens int64
	doc    store.Document
	isNew  bool
}

// plan is what a commit writes.
type plan struct {
	docs    []*entry // by path
	gone    []int64  // ids of documents of the old version that are not in this one
	skipped string   // a line for each
	roots   string
	version version
}

// Commit writes the new version. A connection that is lost before the database
// says that it committed leaves the old version; one that is lost just then is
// asked about.
func (t *tx) Commit(ctx context.Context, s store.Settings) (store.Info, error) {
	if t.done {
		return store.Info{}, errDone
	}
	analyzer, err := text.NewAnalyzer(s.Analyzer)
	if err == nil {
		err = t.checkSettings(s)
	}
	if err != nil {
		return store.Info{}, fmt.Errorf("%s: %w", t.store.name, err)
	}
	p, err := t.plan(ctx, s)
	if err != nil {
		return store.Info{}, t.store.explain(ctx, "preparing the change", err)
	}
	if p == nil {
		t.Rollback()
		return t.old.Info(), nil
	}
	info, err := t.write(ctx, p, analyzer)
	if err != nil {
		return store.Info{}, t.store.explain(ctx, "writing the change, of which nothing was kept", err)
	}
	return info, nil
}

func (t *tx) checkSettings(s store.Settings) error {
	var was store.Info
	if t.old != nil && !t.reset {
		was = t.old.Info()
	}
	if err := store.CheckSettings(was, s); err != nil {
		return err
	}
	if t.dim > 0 && t.dim != s.Dim {
		return fmt.Errorf("the settings say %d dimensions, the vectors have %d", s.Dim, t.dim)
	}
	return nil
}

// plan lists what the new version has; nil where that is what the old one has.
func (t *tx) plan(ctx context.Context, s store.Settings) (*plan, error) {
	p := &plan{version: t.next}
	if err := t.keep(ctx, p); err != nil {
		return nil, err
	}
	for _, put := range t.puts {
		p.docs = append(p.docs, &entry{id: put.id, doc: put.doc, isNew: true})
	}
	slices.SortFunc(p.docs, func(a, b *entry) int { return strings.Compare(a.doc.Path, b.doc.Path) })
	was, err := t.lists(ctx, p)
	if err != nil {
		return nil, err
	}
	p.version.info = store.Info{Settings: s, Format: len(ladder), Documents: len(p.docs)}
	p.version.info.Version = store.Version(s, func(yield func(*store.Document) bool) {
		for _, e := range p.docs {
			p.version.info.Chunks += e.doc.Chunks
			p.version.info.Vectors += e.doc.Vectors
			if !yield(&e.doc) {
				return
			}
		}
	})
	if p.version.info.Vectors > 0 && s.Dim == 0 {
		return nil, &Error{msg: t.store.name + ": the settings say 0 dimensions, but there are vectors"}
	}
	same := t.old != nil && !t.reset && len(t.puts) == 0 && p.version.info.Version == t.old.v.info.Version && was == p.skipped+"\x00"+p.roots
	if same {
		return nil, nil
	}
	return p, nil
}

// keep lists the documents of the old version that stay and those that go.
func (t *tx) keep(ctx context.Context, p *plan) error {
	if t.old == nil {
		return nil
	}
	out, err := send(ctx, t.conn, stmt(`SELECT id, tokens, record FROM `+t.store.table("documents")+` WHERE dead = `+alive))
	if err != nil {
		return err
	}
	for _, row := range out[0] {
		e := &entry{id: int64At(row[0]), tokens: int64At(row[1])}
		if err := json.Unmarshal(row[2], &e.doc); err != nil {
			return t.old.damaged(err)
		}
		if t.reset || t.removed[e.doc.Path] || t.puts[e.doc.Path] != nil {
			p.gone = append(p.gone, e.id)
		} else {
			p.docs = append(p.docs, e)
		}
	}
	return nil
}

// lists sets the lists of skipped files and roots, and returns what they were.
func (t *tx) lists(ctx context.Context, p *plan) (was string, err error) {
	if t.old != nil {
		out, err := send(ctx, t.conn, stmt(`SELECT skipped, roots FROM `+t.store.table("versions")+` WHERE generation = $1::bigint`, itoa(t.old.v.generation)))
		if err != nil {
			return "", err
		}
		p.skipped, p.roots = string(out[0][0][0]), string(out[0][0][1])
		was = p.skipped + "\x00" + p.roots
	}
	if t.Skipped != nil {
		if p.skipped, err = lines[record.Skipped](*t.Skipped); err != nil {
			return "", err
		}
	}
	if t.Roots != nil {
		p.roots, err = lines[record.Root](*t.Roots)
	}
	return was, err
}

// lines are records, one a line.
func lines[T any, P interface {
	*T
	record.Record
}](list []T) (string, error) {
	var out []byte
	for i := range list {
		var err error
		if out, err = record.Append(out, P(&list[i])); err != nil {
			return "", err
		}
		out = append(out, '\n')
	}
	return string(out), nil
}

func (t *tx) write(ctx context.Context, p *plan, analyzer text.Analyzer) (store.Info, error) {
	t.next = p.version
	steps := []func() error{
		func() error { return t.flush(ctx) },
		func() error { return t.forget(ctx) },
		func() error { return t.index(ctx, p, analyzer) },
		func() error { return t.writeDocuments(ctx, p) },
		func() error { return t.graph(ctx) },
		func() error { return t.writeVersion(ctx, p) },
		func() error { return t.sweep(ctx) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return store.Info{}, err
		}
	}
	out, err := send(ctx, t.conn, stmt(t.store.versionQuery(), t.store.schema), stmt(`SELECT pg_current_xact_id()::text`))
	if err != nil {
		return store.Info{}, err
	}
	v, err := t.store.parseVersion(out[0][0])
	if err != nil {
		return store.Info{}, err
	}
	if _, err := t.conn.Exec(ctx, `COMMIT`).ReadAll(); err != nil && !t.committed(ctx, first(out[1])) {
		return store.Info{}, err
	}
	t.done = true
	t.store.pool.release(t.conn)
	return v.info, nil
}

// committed asks what became of a transaction whose end was not heard of.
func (t *tx) committed(ctx context.Context, id string) bool {
	out, err := t.store.pool.run(ctx, stmt(`SELECT pg_xact_status($1::xid8)`, id))
	return err == nil && first(out[0]) == "committed"
}

// forget removes the rows of documents that were put and then replaced, and
// tables that a reset left behind.
func (t *tx) forget(ctx context.Context) error {
	var ids, chunks []int64
	for _, d := range t.dropped {
		ids, chunks = append(ids, d.id), append(chunks, int64(d.doc.Chunks))
	}
	if err := t.deleteRows(ctx, t.next.chunksTable, t.next.vectorsTable, ids, chunks); err != nil {
		return err
	}
	if !t.reset {
		return nil
	}
	for kind, table := range map[string]int64{"chunks": t.next.chunksTable, "vectors": t.next.vectorsTable} {
		if t.made[kind] && table == 0 {
			if _, err := send(ctx, t.conn, stmt(`DROP TABLE `+t.store.numbered(kind, t.next.generation))); err != nil {
				return err
			}
		}
	}
	if t.old == nil {
		return nil
	}
	// What came before the reset went into the old tables.
	for kind, table := range map[string]int64{"chunks": t.old.v.chunksTable, "vectors": t.old.v.vectorsTable} {
		if table == 0 {
			continue
		}
		if _, err := send(ctx, t.conn, stmt(`DELETE FROM `+t.store.numbered(kind, table)+` WHERE number >= $1::bigint`, itoa(t.old.v.next))); err != nil {
			return err
		}
	}
	return nil
}

// deleteRows removes the chunks of documents from their tables.
func (t *tx) deleteRows(ctx context.Context, chunksTable, vectorsTable int64, ids, chunks []int64) error {
	if len(ids) == 0 {
		return nil
	}
	for _, table := range []struct {
		kind       string
		generation int64
	}{{"chunks", chunksTable}, {"vectors", vectorsTable}} {
		if table.generation == 0 {
			continue
		}
		_, err := send(ctx, t.conn, stmt(`DELETE FROM `+t.store.numbered(table.kind, table.generation)+` c
			USING unnest($1::bigint[], $2::bigint[]) AS d(id, chunks) WHERE c.number >= d.id AND c.number < d.id + d.chunks`,
			intArray(ids), intArray(chunks)))
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) writeDocuments(ctx context.Context, p *plan) error {
	table := t.store.table("documents")
	if len(p.gone) > 0 {
		if _, err := send(ctx, t.conn, stmt(`UPDATE `+table+` SET dead = $1::bigint WHERE id = ANY($2::bigint[])`,
			itoa(t.next.generation), intArray(p.gone))); err != nil {
			return err
		}
	}
	var rows copier
	for _, e := range p.docs {
		if !e.isNew {
			continue
		}
		rows.row(6)
		rows.int64(e.id)
		rows.text(e.doc.Path)
		rows.int64(t.next.generation)
		rows.int64(e.tokens)
		rows.int64(int64(e.doc.Chunks))
		err := rows.field(func(dst []byte) ([]byte, error) { return appendJSON(dst, &e.doc) })
		if err == nil && len(rows.buf) >= batch {
			err = rows.flush(ctx, t.conn, table+` (id, path, born, tokens, chunks, record)`)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.doc.Path, err)
		}
	}
	return rows.flush(ctx, t.conn, table+` (id, path, born, tokens, chunks, record)`)
}

func appendJSON(dst []byte, v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return append(dst, bytes.TrimSuffix(buf.Bytes(), []byte{'\n'})...), err
}

func (t *tx) writeVersion(ctx context.Context, p *plan) error {
	placed := make([]placed, len(p.docs))
	t.next.tokens = 0
	for i, e := range p.docs {
		placed[i].id, placed[i].chunks = e.id, int64(e.doc.Chunks)
		t.next.tokens += e.tokens
	}
	settings, err := appendJSON(nil, t.next.info.Settings)
	if err != nil {
		return err
	}
	v := &t.next
	_, err = send(ctx, t.conn, statement{`INSERT INTO ` + t.store.table("versions") + ` (generation, version, settings, documents, chunks, vectors,
		tokens, posted, next_number, first_number, chunks_table, vectors_table, postings_table, layout, skipped, roots)
		VALUES ($1::bigint, $2, $3, $4::bigint, $5::bigint, $6::bigint, $7::bigint, $8::bigint, $9::bigint, $10::bigint, $11::bigint, $12::bigint, $13::bigint, $14::bytea, $15, $16)`,
		[]string{itoa(v.generation), v.info.Version, string(settings), itoa(v.info.Documents), itoa(v.info.Chunks), itoa(v.info.Vectors),
			itoa(v.tokens), itoa(v.posted), itoa(v.next), itoa(v.first), itoa(v.chunksTable), itoa(v.vectorsTable), itoa(v.postingsTable),
			`\x` + hex.EncodeToString(newLayout(placed).encode()), p.skipped, p.roots}})
	return err
}

// graph builds the HNSW graph once there are so many vectors that comparing all
// of them is slower. From then on the database keeps it up to date, at several
// times the cost for each vector.
func (t *tx) graph(ctx context.Context) error {
	v := &t.next
	if v.vectorsTable == 0 || v.info.Vectors <= t.store.opt.exactBelow || v.info.Dim > maxHalf || v.approximatable && t.old != nil && v.vectorsTable == t.old.v.vectorsTable {
		return nil
	}
	// The build is several times slower once the graph does not fit into
	// maintenance_work_mem: about 1.3 times the halves, and the neighbours.
	need := int64(v.info.Vectors) * int64(v.info.Dim*2+t.store.opt.m*24+200) * 13 / 10 >> 20
	half := `halfvec(` + itoa(v.info.Dim) + `)`
	table := t.store.numbered("vectors", v.vectorsTable)
	for _, sql := range []string{
		`SELECT set_config('maintenance_work_mem', greatest(pg_size_bytes(current_setting('maintenance_work_mem')) / 1048576, ` +
			itoa(min(need, 1024)) + `)::text || 'MB', true)`,
		`CREATE INDEX ` + ident(fmt.Sprintf("vectors_%d_hnsw", v.vectorsTable)) + ` ON ` + table + ` USING hnsw ((vector::` + half + `) halfvec_cosine_ops) WITH (m = ` +
			itoa(t.store.opt.m) + `, ef_construction = ` + itoa(t.store.opt.efConstruction) + `)`,
		`ANALYZE ` + table,
	} {
		if _, err := send(ctx, t.conn, stmt(sql)); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes what no version needs that is still kept: that was the newest
// one within the last hour, or so.
func (t *tx) sweep(ctx context.Context) error {
	versions := t.store.table("versions")
	out, err := send(ctx, t.conn,
		stmt(`DELETE FROM `+versions+` v WHERE EXISTS (SELECT 1 FROM `+versions+` n WHERE n.generation > v.generation
			AND n.committed < clock_timestamp() - make_interval(secs => $1::float8)) RETURNING 1`, fmt.Sprint(t.store.opt.keep.Seconds())),
		stmt(`SELECT min(generation), min(first_number) FROM `+versions),
		stmt(`SELECT DISTINCT chunks_table, vectors_table FROM `+versions+` WHERE chunks_table > 0`))
	if err != nil || len(out[0]) == 0 {
		return err
	}
	oldest, firstNumber := int64At(out[1][0][0]), int64At(out[1][0][1])
	dead, err := send(ctx, t.conn, stmt(`DELETE FROM `+t.store.table("documents")+` WHERE dead <= $1::bigint RETURNING id, chunks`, itoa(oldest)))
	if err != nil {
		return err
	}
	var ids, chunks []int64
	for _, row := range dead[0] {
		if id := int64At(row[0]); id >= firstNumber {
			ids, chunks = append(ids, id), append(chunks, int64At(row[1]))
		}
	}
	for _, row := range out[2] {
		if err := t.deleteRows(ctx, int64At(row[0]), int64At(row[1]), ids, chunks); err != nil {
			return err
		}
	}
	return t.dropTables(ctx)
}

// dropTables drops the tables that no version names any more. One that somebody
// still looks at is left to the next change.
func (t *tx) dropTables(ctx context.Context) error {
	out, err := send(ctx, t.conn, stmt(`SELECT c.relname FROM pg_class c WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'r'
		AND c.relname ~ '^(chunks|vectors|postings)_[0-9]+$'
		AND NOT EXISTS (SELECT 1 FROM `+t.store.table("versions")+` v WHERE c.relname IN
			('chunks_' || v.chunks_table, 'vectors_' || v.vectors_table, 'postings_' || v.postings_table))`, t.store.schema))
	if err != nil {
		return err
	}
	for _, row := range out[0] {
		_, err := t.conn.Exec(ctx, `SAVEPOINT sweep; SET LOCAL lock_timeout = '1s'; DROP TABLE `+t.store.table(string(row[0]))).ReadAll()
		if err != nil {
			_, err = t.conn.Exec(ctx, `ROLLBACK TO SAVEPOINT sweep`).ReadAll()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// byID are the documents in the order of their numbers.
func byID(docs []*entry) []*entry {
	docs = slices.Clone(docs)
	slices.SortFunc(docs, func(a, b *entry) int { return cmp.Compare(a.id, b.id) })
	return docs
}
