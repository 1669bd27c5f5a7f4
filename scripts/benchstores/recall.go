package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"kb/pkg/store"
	"kb/pkg/store/pgvector"
	"kb/pkg/store/storetest"
)

// recalls builds graphs with some settings, and searches each with some numbers
// of candidates.
func recalls(ctx context.Context, name, raw string, g *storetest.Generator, docs []*storetest.Doc, asked []question, ideal [][]store.Ref) error {
	switch name {
	case "postgres":
		return recallsOfPostgres(ctx, raw, g, docs, asked, ideal)
	case "chroma", "milvus":
		return recallsOfRemote(ctx, name, raw, g, docs, asked, ideal)
	}
	return fmt.Errorf("no graph in store %q", name)
}

// recallsOfRemote makes an index for each graph. Chroma keeps the number of
// candidates with the graph, so there each number has an index, too, and there
// are fewer.
func recallsOfRemote(ctx context.Context, name, raw string, g *storetest.Generator, docs []*storetest.Doc, asked []question, ideal [][]store.Ref) error {
	candidates := []int{64, 100, 200, 400}
	if name == "chroma" {
		candidates = []int{64, 200}
	}
	for _, graph := range [][2]int{{8, 64}, {16, 64}, {16, 100}, {16, 200}} {
		built := time.Duration(0)
		for i, ef := range candidates {
			index := fmt.Sprintf("%s_%d_%d", raw, graph[0], graph[1])
			if name == "chroma" {
				index += fmt.Sprintf("_%d", ef)
			}
			s, err := open(name, fmt.Sprintf("%s?m=%d&ef_construction=%d&ef=%d", index, graph[0], graph[1], ef))
			if err != nil {
				return err
			}
			if name == "chroma" || i == 0 {
				if built, err = build(ctx, name, index, s, g, docs); err != nil {
					return err
				}
			}
			recall, took, err := searchGraph(ctx, s, asked, ideal)
			if err != nil {
				return err
			}
			printRecall(name, graph, built, ef, recall, took)
		}
	}
	return nil
}

// build loads an index, and waits for its graph.
func build(ctx context.Context, name, url string, s store.Store, g *storetest.Generator, docs []*storetest.Doc) (took time.Duration, err error) {
	began := time.Now()
	if _, err = load(ctx, s, g, docs); err == nil && name == "milvus" {
		err = indexed(ctx, url, vectors(docs))
	}
	return time.Since(began), err
}

func printRecall(name string, graph [2]int, built time.Duration, ef int, recall float64, took []time.Duration) {
	fmt.Printf("| %s | %d | %d | %.0f | %d | %.3f | %s / %s |\n", name, graph[0], graph[1], built.Seconds(), ef, recall, ms(took, 0.5), ms(took, 0.95))
}

// recallsOfPostgres builds all graphs over one load.
func recallsOfPostgres(ctx context.Context, raw string, g *storetest.Generator, docs []*storetest.Doc, asked []question, ideal [][]store.Ref) error {
	s, err := pgvector.New(raw)
	if err != nil {
		return err
	}
	if _, err := load(ctx, s, g, docs); err != nil {
		return err
	}
	u, err := url.Parse(raw)
	if err != nil {
		return err
	}
	schema := u.Query().Get("schema")
	u.RawQuery = ""
	conn, err := pgconn.Connect(ctx, u.String())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, graph := range [][2]int{{8, 64}, {16, 64}, {16, 128}, {24, 128}, {32, 200}} {
		began := time.Now()
		sql := fmt.Sprintf(`SET maintenance_work_mem = '1GB'; DROP INDEX %[1]s.vectors_1_hnsw; CREATE INDEX vectors_1_hnsw ON %[1]s.vectors_1
			USING hnsw ((vector::halfvec(%[2]d)) halfvec_cosine_ops) WITH (m = %[3]d, ef_construction = %[4]d)`, schema, *dim, graph[0], graph[1])
		if _, err := conn.Exec(ctx, sql).ReadAll(); err != nil {
			return err
		}
		built := time.Since(began)
		for _, ef := range []int{40, 100, 200, 400} {
			searched, err := pgvector.New(raw + "&ef_search=" + strconv.Itoa(ef))
			if err != nil {
				return err
			}
			recall, took, err := searchGraph(ctx, searched, asked, ideal)
			searched.Close()
			if err != nil {
				return err
			}
			printRecall("postgres", graph, built, ef, recall, took)
		}
	}
	return nil
}

// searchGraph asks all questions twice, and measures the second time.
func searchGraph(ctx context.Context, s store.Store, asked []question, ideal [][]store.Ref) (recall float64, took []time.Duration, err error) {
	r, err := s.Open(ctx)
	if err != nil {
		return 0, nil, err
	}
	found, err := nearest(ctx, r, asked)
	if err != nil {
		return 0, nil, err
	}
	for _, q := range asked {
		began := time.Now()
		if _, err := r.Nearest(ctx, q.vector, 10, store.Filter{}); err != nil {
			return 0, nil, err
		}
		took = append(took, time.Since(began))
	}
	return share(found, ideal), took, nil
}
