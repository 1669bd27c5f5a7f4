// Command chromem drives chromem-go for the benchmark.
//
//	chromem write DIM ROWS FILE FOLDER     store the vectors of a file
//	chromem search FOLDER QUERY-FILE       load them, search once
//	chromem warm DIM ROWS FILE             search in memory
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/philippgille/chromem-go"

	"kb/pkg/record"
	"kb/scripts/bench/data"
)

const k = 10

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "chromem:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command string, args []string) error {
	if command == "search" {
		db, err := chromem.NewPersistentDB(args[0], false)
		if err != nil {
			return err
		}
		return search(ctx, db, args[1])
	}
	dim, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	rows, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	db := chromem.NewDB()
	if command == "write" {
		if db, err = chromem.NewPersistentDB(args[3], false); err != nil {
			return err
		}
	}
	if err := fill(ctx, db, dim, rows, args[2]); err != nil || command == "write" {
		return err
	}
	return warm(ctx, db.GetCollection("notes", noEmbedding), dim, rows)
}

func noEmbedding(context.Context, string) ([]float32, error) {
	return nil, errors.New("all vectors are given")
}

func fill(ctx context.Context, db *chromem.DB, dim, rows int, file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	c, err := db.CreateCollection("notes", nil, noEmbedding)
	if err != nil {
		return err
	}
	docs := make([]chromem.Document, rows)
	for i := range docs {
		docs[i] = chromem.Document{ID: strconv.Itoa(i), Embedding: data.Floats(raw[4*dim*i : 4*dim*(i+1)]), Content: fmt.Sprintf("piece %d", i)}
	}
	return c.AddDocuments(ctx, docs, runtime.GOMAXPROCS(0))
}

func search(ctx context.Context, db *chromem.DB, query string) error {
	raw, err := os.ReadFile(query)
	if err != nil {
		return err
	}
	var q record.Query
	if err := json.Unmarshal(raw, &q); err != nil {
		return err
	}
	found, err := db.GetCollection("notes", noEmbedding).QueryEmbedding(ctx, q.Vector, k, nil, nil)
	for _, f := range found {
		fmt.Println(f.ID)
	}
	return err
}

func warm(ctx context.Context, c *chromem.Collection, dim, rows int) error {
	g := data.NewVectors(dim)
	var times []float64
	for i := range data.Queries {
		q := g.Query(i, rows/data.ChunksADocument)
		began := time.Now()
		if _, err := c.QueryEmbedding(ctx, q, k, nil, nil); err != nil {
			return err
		}
		times = append(times, float64(time.Since(began).Microseconds())/1000)
	}
	slices.Sort(times)
	return json.NewEncoder(os.Stdout).Encode(map[string]float64{"Min": times[0], "Median": times[len(times)/2], "P95": times[len(times)*95/100]})
}
