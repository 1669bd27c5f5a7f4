// Benchstores measures the stores beside each other, in one run, and prints
// Markdown: scripts/bench-stores.sh starts them.
//
//	benchstores -n 100000 -dim 384 flat=/tmp/x.jsonl.zst postgres=postgres://…
//
// It writes generated documents (vectors with topics as those of a language
// model have) and asks generated questions.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/store/chroma"
	"kb/pkg/store/flat"
	"kb/pkg/store/milvus"
	"kb/pkg/store/pgvector"
	"kb/pkg/store/storetest"
)

var (
	chunks  = flag.Int("n", 100_000, "chunks, about")
	dim     = flag.Int("dim", 384, "dimensions")
	queries = flag.Int("queries", 100, "questions, one after the other; and as many for each of 8 clients")
	data    = flag.String("data", "", "folders that the stores keep their data in, with commas between")
	recall  = flag.Bool("recall", false, "recall of HNSW graphs by their settings instead")
)

func open(name, url string) (store.Store, error) {
	switch name {
	case "flat":
		return flat.New(url), nil
	case "flat-resident":
		return flat.New(url, flat.Resident(4<<30)), nil
	case "postgres", "postgres-exact":
		return pgvector.New(url)
	case "chroma":
		return chroma.New(url, chroma.Options{})
	case "milvus", "milvus-indexed", "milvus-lite":
		return milvus.New(url, milvus.Options{})
	}
	return nil, fmt.Errorf("no store %q in scripts/benchstores", name)
}

// question is what one search asks of a store.
type question struct {
	vector record.Vector
	terms  []string
}

const top = 20

func main() {
	log.SetFlags(0)
	flag.Parse()
	g := storetest.NewGenerator(1, *dim)
	g.Words = 60
	docs := g.Docs(*chunks * 2 / 7) // 1 to 6 chunks each
	asked := make([]question, *queries)
	rng := rand.New(rand.NewPCG(2, 3))
	for i := range asked {
		asked[i] = question{vector: g.Query()}
		for range 5 { // some frequent, some rare
			asked[i].terms = append(asked[i].terms, fmt.Sprintf("w%d", 1+2*rng.IntN(1<<rng.IntN(11))))
		}
	}
	ctx := context.Background()
	ideal := exact(g, docs, asked)
	if *recall {
		fmt.Println("| store | m | ef_construction | build s | ef | recall@10 | p50 / p95 ms |")
		fmt.Println("| --- | --- | --- | --- | --- | --- | --- |")
		for _, arg := range flag.Args() {
			name, url, _ := strings.Cut(arg, "=")
			if err := recalls(ctx, name, url, g, docs, asked, ideal); err != nil {
				log.Fatal(err)
			}
		}
		return
	}
	fmt.Println("| store | chunks | load s | size MB | disk MB | vectors p50 / p95 ms | BM25 p50 / p95 ms | fetch 4, p50 ms | 8 clients: searches/s, p50 / p95 ms | recall@10 |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, arg := range flag.Args() {
		name, url, _ := strings.Cut(arg, "=")
		if err := measure(ctx, name, url, g, docs, asked, ideal); err != nil {
			log.Fatal(err)
		}
	}
}

// exact are the ten nearest of each question, by an index in a file.
func exact(g *storetest.Generator, docs []*storetest.Doc, asked []question) [][]store.Ref {
	dir, err := os.MkdirTemp("", "benchstores")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s := flat.New(filepath.Join(dir, "exact.jsonl.zst"))
	if _, err := load(context.Background(), s, g, docs); err != nil {
		log.Fatal(err)
	}
	r, err := s.Open(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	out, err := nearest(context.Background(), r, asked)
	if err != nil {
		log.Fatal(err)
	}
	return out
}

func vectors(docs []*storetest.Doc) (n int) {
	for _, d := range docs {
		n += d.Vectors
	}
	return n
}

func nearest(ctx context.Context, r store.Reader, asked []question) ([][]store.Ref, error) {
	var out [][]store.Ref
	for _, q := range asked {
		hits, err := r.Nearest(ctx, q.vector, 10, store.Filter{})
		if err != nil {
			return nil, err
		}
		var refs []store.Ref
		for _, h := range hits {
			refs = append(refs, h.Ref)
		}
		out = append(out, refs)
	}
	return out, nil
}

// share is how many of the ideal hits were found.
func share(found, ideal [][]store.Ref) float64 {
	n, all := 0, 0
	for i := range ideal {
		for _, ref := range ideal[i] {
			all++
			if slices.Contains(found[i], ref) {
				n++
			}
		}
	}
	return float64(n) / float64(max(all, 1))
}

func load(ctx context.Context, s store.Store, g *storetest.Generator, docs []*storetest.Doc) (store.Info, error) {
	tx, err := s.Begin(ctx, true)
	if err != nil {
		return store.Info{}, err
	}
	defer tx.Rollback()
	for _, d := range docs {
		if err := tx.Put(ctx, d.Document, d.Chunks); err != nil {
			return store.Info{}, err
		}
	}
	return tx.Commit(ctx, g.Settings())
}

func measure(ctx context.Context, name, url string, g *storetest.Generator, docs []*storetest.Doc, asked []question, ideal [][]store.Ref) error {
	s, err := open(name, url)
	if err != nil {
		return err
	}
	loaded, disk := "–", "–" // by the line before: the same index, opened in another way
	before := used()
	began := time.Now()
	if r, err := s.Open(ctx); err == nil {
		r.Close()
	} else if _, err := load(ctx, s, g, docs); err != nil {
		return err
	} else {
		loaded = fmt.Sprintf("%.0f", time.Since(began).Seconds())
	}
	if name == "milvus-indexed" {
		if err := indexed(ctx, url, vectors(docs)); err != nil {
			return err
		}
		loaded = fmt.Sprintf("+ %.0f", time.Since(began).Seconds())
	}
	if loaded != "–" {
		disk = fmt.Sprintf("%.0f", float64(used()-before)/1e6)
	}
	r, err := s.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	found, err := nearest(ctx, r, asked) // and what the first searches load is loaded
	if err != nil {
		return err
	}
	var vectors, words, fetches, both []time.Duration
	for _, q := range asked {
		v, w, f, err := ask(ctx, r, q)
		if err != nil {
			return err
		}
		vectors, words, fetches = append(vectors, v), append(words, w), append(fetches, f)
	}
	began = time.Now()
	if both, err = clients(ctx, r, asked, 8); err != nil {
		return err
	}
	rate := float64(len(both)) / time.Since(began).Seconds()
	info := r.Info()
	fmt.Printf("| %s | %d | %s | %.0f | %s | %s / %s | %s / %s | %s | %.0f, %s / %s | %.3f |\n", name, info.Chunks, loaded, float64(info.Size)/1e6, disk,
		ms(vectors, 0.5), ms(vectors, 0.95), ms(words, 0.5), ms(words, 0.95), ms(fetches, 0.5), rate, ms(both, 0.5), ms(both, 0.95), share(found, ideal))
	return nil
}

// used is how many bytes the folders of the stores take on the disk.
func used() (bytes int64) {
	if *data == "" {
		return 0
	}
	args := append([]string{"--summarize", "--block-size=1"}, strings.Split(*data, ",")...)
	out, err := exec.Command("du", args...).Output() // a file that vanished meanwhile is no fault
	if len(out) == 0 {
		log.Fatal("du: ", err)
	}
	for line := range strings.Lines(string(out)) {
		n, _, _ := strings.Cut(line, "\t")
		size, _ := strconv.ParseInt(n, 10, 64)
		bytes += size
	}
	return bytes
}

// ask does what a search of both legs does.
func ask(ctx context.Context, r store.Reader, q question) (vectors, words, fetch time.Duration, err error) {
	began := time.Now()
	hits, err := r.Nearest(ctx, q.vector, top, store.Filter{})
	if err != nil {
		return 0, 0, 0, err
	}
	vectors = time.Since(began)
	began = time.Now()
	if _, err = r.Lexical(ctx, q.terms, top, store.Filter{}); err != nil {
		return 0, 0, 0, err
	}
	words = time.Since(began)
	began = time.Now()
	var refs []store.Ref
	for _, h := range hits[:min(4, len(hits))] {
		refs = append(refs, h.Ref)
	}
	_, err = r.Fetch(ctx, refs, false)
	return vectors, words, time.Since(began), err
}

func clients(ctx context.Context, r store.Reader, asked []question, n int) (took []time.Duration, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for _, q := range asked {
				v, w, f, failed := ask(ctx, r, q)
				mu.Lock()
				took = append(took, v+w+f)
				err = cmp.Or(err, failed)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return took, err
}

func ms(list []time.Duration, quantile float64) string {
	sorted := slices.Sorted(slices.Values(list))
	return fmt.Sprintf("%.1f", sorted[int(quantile*float64(len(sorted)-1))].Seconds()*1000)
}
