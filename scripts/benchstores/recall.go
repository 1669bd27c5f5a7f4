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

// recalls builds graphs with some settings over one load, and searches each
// with some numbers of candidates.
func recalls(ctx context.Context, g *storetest.Generator, docs []*storetest.Doc, asked []question, raw string) error {
	ideal := exact(g, docs, asked)
	fmt.Println("| m | ef_construction | build s | graph MB | ef_search | recall@10 | p50 / p95 ms |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- |")
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
			USING hnsw ((vector::halfvec(%[2]d)) halfvec_cosine_ops) WITH (m = %[3]d, ef_construction = %[4]d);
			SELECT pg_relation_size('%[1]s.vectors_1_hnsw')`, schema, *dim, graph[0], graph[1])
		results, err := conn.Exec(ctx, sql).ReadAll()
		if err != nil {
			return err
		}
		built := time.Since(began)
		size, _ := strconv.ParseInt(string(results[len(results)-1].Rows[0][0]), 10, 64)
		for _, ef := range []int{40, 100, 200, 400} {
			recall, took, err := searchGraph(ctx, raw, ef, asked, ideal)
			if err != nil {
				return err
			}
			fmt.Printf("| %d | %d | %.0f | %d | %d | %.3f | %s / %s |\n", graph[0], graph[1], built.Seconds(), size>>20, ef, recall, ms(took, 0.5), ms(took, 0.95))
		}
	}
	return nil
}

// searchGraph asks all questions twice, and measures the second time.
func searchGraph(ctx context.Context, raw string, ef int, asked []question, ideal [][]store.Ref) (recall float64, took []time.Duration, err error) {
	s, err := pgvector.New(raw + "&ef_search=" + strconv.Itoa(ef))
	if err != nil {
		return 0, nil, err
	}
	defer s.Close()
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
