// Command load puts kb serve under load: clients that search an index without a
// pause, while documents are uploaded and while other clients ask and never
// read. It prints Markdown, and fails if a request did.
//
// Questions are embedded by an endpoint of its own, which costs next to nothing,
// so that what is measured is kb. See make load.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/store/flat"
	"kb/scripts/bench/data"
)

const model = "bench"

func main() {
	l := &load{}
	flag.StringVar(&l.kb, "kb", "", "the `program` to measure")
	flag.IntVar(&l.rows, "rows", 100_000, "chunks of the index")
	flag.IntVar(&l.dim, "dim", 384, "dimensions of its vectors")
	flag.DurationVar(&l.time, "time", 30*time.Second, "of each number of clients")
	flag.DurationVar(&l.every, "upload-every", 2*time.Second, "between two uploads")
	flag.Parse()
	if err := l.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// load is one run.
type load struct {
	kb          string
	rows, dim   int
	time, every time.Duration
	dir         string
	vectors     *data.Vectors
	embed       string // base URL of the endpoint
	url         string // of kb
	server      *exec.Cmd
	uploads     int
}

func (l *load) run(ctx context.Context) (err error) {
	if l.dir, err = os.MkdirTemp("", "kb-load-"); err != nil {
		return err
	}
	defer os.RemoveAll(l.dir)
	l.vectors = data.NewVectors(l.dim)
	if err := l.endpoint(); err != nil {
		return err
	}
	if err := l.index(ctx); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	if err := l.start(); err != nil {
		return err
	}
	defer l.server.Process.Kill()
	fmt.Printf("%d chunks of %d dimensions, %s for each row, an upload every %s; %s\n\n", l.rows, l.dim, l.time, l.every, time.Now().UTC().Format(time.DateOnly))
	fmt.Println("| clients | never read | searches a second | p50 ms | p95 ms | p99 ms | longest | errors | uploads (median ms) | resident MB, before → after |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	failed := 0
	for _, p := range []phase{{8, 0}, {64, 0}, {64, 32}, {8, 0}} {
		r := l.phase(p)
		failed += len(r.errors)
		for _, e := range r.errors[:min(3, len(r.errors))] {
			fmt.Fprintln(os.Stderr, "load:", e)
		}
	}
	if err := l.server.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := l.server.Wait(); err != nil {
		return fmt.Errorf("kb serve: %w", err)
	}
	if failed > 0 {
		return fmt.Errorf("%d requests failed", failed)
	}
	return nil
}

// endpoint serves vectors: of a question, one of those that the index is made
// for; of a document, any.
func (l *load) endpoint() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	l.embed = "http://" + listener.Addr().String() + "/v1"
	queries := make([][]float32, data.Queries)
	for i := range queries {
		queries[i] = l.vectors.Query(i, l.rows/data.ChunksADocument)
	}
	var n atomic.Int64
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		type item struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		items := make([]item, len(body.Input))
		for i := range items {
			items[i] = item{i, queries[int(n.Add(1))%len(queries)]}
		}
		json.NewEncoder(w).Encode(map[string]any{"data": items})
	}))
	return nil
}

// index writes the index.
func (l *load) index(ctx context.Context) error {
	texts, err := data.Texts(filepath.Join(goroot(), "src"), l.rows, 900)
	if err != nil {
		return err
	}
	tx, err := flat.New(l.indexFile()).Begin(ctx, true)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	vectors := make([]float32, data.ChunksADocument*l.dim)
	for i := range l.rows / data.ChunksADocument {
		l.vectors.Document(vectors, i)
		path := fmt.Sprintf("pieces/%06d.md", i)
		chunks := make([]*record.Chunk, data.ChunksADocument)
		for j := range chunks {
			text := texts[i*data.ChunksADocument+j]
			id := record.DocumentID(path)
			chunks[j] = &record.Chunk{ID: record.ChunkID(id, j+1, 0, text), Document: id, Path: path, Title: "Pieces", Hash: path, Seq: j + 1, Of: len(chunks),
				Text: text, Vector: slices.Clone(vectors[j*l.dim : (j+1)*l.dim]), Model: model, BaseURL: l.embed}
		}
		doc := store.Document{Path: path, ID: record.DocumentID(path), Hash: path, Title: "Pieces", Chunks: len(chunks), Vectors: len(chunks), Sum: store.Sum(chunks)}
		if err := tx.Put(ctx, doc, chunks); err != nil {
			return err
		}
	}
	_, err = tx.Commit(ctx, store.Settings{Model: model, BaseURL: l.embed, Dim: l.dim, Analyzer: "ngram-2"})
	return err
}

func (l *load) indexFile() string { return filepath.Join(l.dir, "index.jsonl.zst") }

func goroot() string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// start starts kb serve, and waits until it answers.
func (l *load) start() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := listener.Addr().String()
	listener.Close()
	l.url = "http://" + address
	l.server = exec.Command(l.kb, "serve", "--addr", address, "--index", l.indexFile(), "--log", "off")
	l.server.Dir, l.server.Stderr = l.dir, os.Stderr
	l.server.Env = append(os.Environ(), "KB_EMBED_BASE_URL="+l.embed, "KB_EMBED_MODEL="+model, "KB_EMBED_QUERY_PREFIX=", "KB_EMBED_DOCUMENT_PREFIX=", "XDG_CACHE_HOME="+l.dir)
	if err := l.server.Start(); err != nil {
		return err
	}
	for range 600 {
		if res, err := http.Get(l.url + "/health"); err == nil {
			res.Body.Close()
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("kb serve does not answer")
}

// phase is a number of clients, and of others that do not read.
type phase struct{ clients, deaf int }

// result is what came of it.
type result struct {
	mu      sync.Mutex
	took    []time.Duration
	uploads []time.Duration
	errors  []error
}

func (r *result) add(list *[]time.Duration, took time.Duration, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.errors = append(r.errors, err)
		return
	}
	*list = append(*list, took)
}

func (l *load) phase(p phase) *result {
	r := &result{}
	before := l.resident()
	ctx, stop := context.WithTimeout(context.Background(), l.time)
	defer stop()
	for range p.deaf {
		conn, err := l.deaf()
		if err != nil {
			r.errors = append(r.errors, err)
			continue
		}
		defer conn.Close()
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: p.clients}}
	var all sync.WaitGroup
	for n := range p.clients {
		all.Go(func() {
			for i := n; ctx.Err() == nil; i += p.clients {
				began := time.Now()
				err := l.search(client, i)
				r.add(&r.took, time.Since(began), err)
			}
		})
	}
	all.Go(func() {
		for ctx.Err() == nil {
			began := time.Now()
			err := l.upload(client)
			r.add(&r.uploads, time.Since(began), err)
			select {
			case <-ctx.Done():
			case <-time.After(l.every):
			}
		}
	})
	all.Wait()
	client.CloseIdleConnections()
	fmt.Printf("| %d | %d | %.0f | %s | %s | %s | %s | %d | %d (%s) | %d → %d |\n", p.clients, p.deaf, float64(len(r.took))/l.time.Seconds(),
		share(r.took, 0.5), share(r.took, 0.95), share(r.took, 0.99), share(r.took, 1), len(r.errors), len(r.uploads), share(r.uploads, 0.5), before, l.resident())
	return r
}

// share is the duration that so much of all are not longer than, in ms.
func share(all []time.Duration, part float64) string {
	if len(all) == 0 {
		return "–"
	}
	slices.Sort(all)
	d := all[min(int(part*float64(len(all))), len(all)-1)]
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', 1, 64)
}

func (l *load) search(client *http.Client, i int) error {
	res, err := client.Get(fmt.Sprintf("%s/search?q=which+pieces+are+near+%d", l.url, i))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var body struct{ Hits []json.RawMessage }
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil || res.StatusCode != http.StatusOK || len(body.Hits) == 0 {
		return fmt.Errorf("search: %s, %d hits, %w", res.Status, len(body.Hits), err)
	}
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

// upload adds a document of a name of its own, until there are ten, and
// replaces these after that.
func (l *load) upload(client *http.Client) error {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("file", fmt.Sprintf("note-%d.md", l.uploads%10))
	if err != nil {
		return err
	}
	l.uploads++
	fmt.Fprintf(part, "# Note\n\nThis is upload %d, and it says where the pieces are.\n", l.uploads)
	w.Close()
	res, err := client.Post(l.url+"/documents", w.FormDataContentType(), &b)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK && res.StatusCode != http.StatusCreated {
		return fmt.Errorf("upload: %s: %s, %w", res.Status, text, err)
	}
	return nil
}

// deaf is a client that asks for much and reads nothing.
func (l *load) deaf() (net.Conn, error) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(l.url, "http://"))
	if err != nil {
		return nil, err
	}
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	for range 20 {
		if _, err := io.WriteString(conn, "GET /documents HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			return nil, err
		}
	}
	return conn, nil
}

// resident is the memory of kb in MB.
func (l *load) resident() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", l.server.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kb, _ := strconv.Atoi(fields[0])
	return kb >> 10
}
