// Package chroma keeps an index in a Chroma server, by its HTTP API v2 over
// plain net/http. How an index lies in a database without transactions, and
// what is exact, says package remote; this is its engine for Chroma.
//
//	chroma://[TOKEN@]HOST[:8000]/[TENANT/DATABASE/]COLLECTION[?tls=true&exact=true&m=16&ef_construction=200&ef=200]
//
// chromas:// is the same with TLS. A token is sent as Authorization: Bearer and
// as x-chroma-token; USER:PASSWORD@ is basic authentication. With
// exact=true a search scores every vector. m (max_neighbors), ef_construction and
// ef (ef_search) are of the graph of a new index.
//
// # Collections
//
// COLLECTION holds the rows: id, and in the metadata kind, group and data.
// Chroma wants an embedding for each; it gets two numbers made of the id, as
// HNSW is slow on many equal ones (1,000 rows in 0.7 s against 1.0 s).
// COLLECTION-vGROUP is a table of vectors. The data is no document of Chroma's:
// those go into a full-text index, which makes a row four times as slow to
// write. COLLECTION-lease-N and COLLECTION-change-GROUP are claims: empty
// collections, because the server refuses a second one of the same name.
//
// New rows and vectors are written with "add", which leaves alone what is there,
// so that it may be repeated. "upsert" would do the same, but the server applies
// what it has not yet put into its index file once more when it reads the log
// again, and to HNSW an upsert of what is there costs ten times an add: after a
// load of 4,988 vectors the next call took 11 s of CPU time, and 0.3 with "add".
//
// # Distance
//
// Vectors have unit length, and the space is "ip", whose distance is 1 minus
// the dot product: the cosine distance, to the bit. The space "cosine" would
// divide each vector by its length again: of 1,500 vectors 493 came back with
// other bits than they were written with, in "ip" none.
//
// Tested with Chroma 1.5.9.
package chroma

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"sync"

	"kb/pkg/record"
	"kb/pkg/store/remote"
)

// Options are what a store is opened with.
type Options = remote.Connection

// New returns the store that a URL names. No request is made yet.
func New(rawURL string, opt Options) (*remote.Store, error) {
	a, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	e := &engine{client: newClient(a, opt), address: a, ids: map[string]string{}}
	return remote.New(e, remote.Options{Now: opt.Now, Exact: a.Exact}), nil
}

// engine is a remote.Engine.
type engine struct {
	*client
	address
	mu  sync.Mutex
	ids map[string]string // of collections by name
}

// Limits are those of a single node; Chroma Cloud has quotas of its own.
func (e *engine) Limits() remote.Limits { return remote.Limits{} }

// Mark is nothing: a single node shows what was written at once.
func (e *engine) Mark() string { return "" }

// Seen does nothing.
func (e *engine) Seen(string) {}

// hnsw is the configuration of the index of a collection.
type hnsw struct {
	Space          string `json:"space"`
	EfConstruction int    `json:"ef_construction"`
	EfSearch       int    `json:"ef_search"`
	MaxNeighbors   int    `json:"max_neighbors"`
}

type collection struct {
	ID       string            `json:"id"`
	Metadata map[string]string `json:"metadata"`
}

// create creates a collection; an error of status 409 says that it is there.
func (e *engine) create(ctx context.Context, name string, metadata map[string]string, index hnsw) error {
	var c collection
	err := e.do(ctx, http.MethodPost, "", map[string]any{
		"name": name, "metadata": metadata, "configuration": map[string]any{"hnsw": index},
	}, &c)
	if err == nil {
		e.remember(name, c.ID)
	}
	return err
}

// rowIndex is the least index there can be: rows are found by their ids.
var rowIndex = hnsw{Space: "l2", EfConstruction: 16, EfSearch: 10, MaxNeighbors: 4}

// Create makes the collection of rows.
func (e *engine) Create(ctx context.Context) error {
	if _, err := e.id(ctx, e.collection); !isStatus(err, http.StatusNotFound) {
		return err
	}
	err := e.create(ctx, e.collection, map[string]string{"about": "an index of kb"}, rowIndex)
	if isStatus(err, http.StatusConflict) {
		return nil
	}
	return err
}

func (e *engine) remember(name, id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if id == "" {
		delete(e.ids, name)
	} else {
		e.ids[name] = id
	}
}

// id is the id of a collection.
func (e *engine) id(ctx context.Context, name string) (string, error) {
	e.mu.Lock()
	id := e.ids[name]
	e.mu.Unlock()
	if id != "" {
		return id, nil
	}
	c, err := e.describe(ctx, name)
	if err != nil {
		return "", err
	}
	e.remember(name, c.ID)
	return c.ID, nil
}

func (e *engine) describe(ctx context.Context, name string) (*collection, error) {
	c := &collection{}
	if err := e.do(ctx, http.MethodGet, "/"+name, nil, c); err != nil {
		return nil, err
	}
	if c.ID == "" {
		return nil, fmt.Errorf("%s: collection %s has no id", e.Name(), name)
	}
	return c, nil
}

// on makes a call of a collection. If the collection was made anew by somebody
// else, it has another id now.
func (e *engine) on(ctx context.Context, name, call string, in, out any) error {
	for again := true; ; again = false {
		id, err := e.id(ctx, name)
		if err != nil {
			return err
		}
		err = e.do(ctx, http.MethodPost, "/"+id+"/"+call, in, out)
		if !isStatus(err, http.StatusNotFound) || !again {
			return err
		}
		e.remember(name, "")
	}
}

// records are what add, upsert and get take and give.
type records struct {
	IDs        []string            `json:"ids"`
	Embeddings []record.Vector     `json:"embeddings"` // written as base64 of little-endian float32
	Metadatas  []map[string]string `json:"metadatas"`
}

// List returns the rows of a kind.
func (e *engine) List(ctx context.Context, kind string) ([]remote.Row, error) {
	rows, err := e.get(ctx, map[string]any{"where": map[string]any{"kind": kind}, "include": []string{"metadatas"}})
	if isStatus(err, http.StatusNotFound) {
		return nil, nil
	}
	return rows, err
}

// Get returns the data of rows.
func (e *engine) Get(ctx context.Context, keys []string) (map[string]string, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	rows, err := e.get(ctx, map[string]any{"ids": keys, "include": []string{"metadatas"}})
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r.Key] = r.Data
	}
	return out, err
}

func (e *engine) get(ctx context.Context, query map[string]any) ([]remote.Row, error) {
	var got records
	if err := e.on(ctx, e.collection, "get", query, &got); err != nil {
		return nil, err
	}
	if len(got.Metadatas) != len(got.IDs) {
		return nil, e.strange("get")
	}
	rows := make([]remote.Row, len(got.IDs))
	for i, m := range got.Metadatas {
		rows[i] = remote.Row{Key: got.IDs[i], Kind: m["kind"], Group: m["group"], Data: m["data"]}
	}
	return rows, nil
}

func (e *engine) strange(call string) error {
	return fmt.Errorf("%s: %s: an answer that is none of Chroma's API v2", e.Name(), call)
}

// Put writes rows. Those of a kind may be there already.
func (e *engine) Put(ctx context.Context, rows []remote.Row) error {
	var fresh, others records
	for _, row := range rows {
		m := map[string]string{"group": row.Group, "data": row.Data}
		to := &fresh
		if row.Kind != "" {
			m["kind"], to = row.Kind, &others
		}
		to.add(row.Key, scattered(row.Key), m)
	}
	if err := e.write(ctx, e.collection, "add", fresh); err != nil {
		return err
	}
	return e.write(ctx, e.collection, "upsert", others)
}

func (r *records) add(key string, v record.Vector, metadata map[string]string) {
	r.IDs, r.Embeddings, r.Metadatas = append(r.IDs, key), append(r.Embeddings, v), append(r.Metadatas, metadata)
}

func (e *engine) write(ctx context.Context, name, call string, r records) error {
	if len(r.IDs) == 0 {
		return nil
	}
	return e.on(ctx, name, call, r, nil)
}

// scattered is a vector of two numbers that few other keys have.
func scattered(key string) record.Vector {
	h := fnv.New32a()
	h.Write([]byte(key))
	n := h.Sum32()
	return record.Vector{float32(n & 0xFFFF), float32(n >> 16)}
}

// Delete deletes rows.
func (e *engine) Delete(ctx context.Context, keys []string) error {
	return e.deleteIDs(ctx, e.collection, keys)
}

func (e *engine) deleteIDs(ctx context.Context, name string, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	return e.on(ctx, name, "delete", map[string]any{"ids": keys}, nil)
}

// DeleteGroup deletes what a change wrote.
func (e *engine) DeleteGroup(ctx context.Context, group, table string) error {
	names := []string{e.collection}
	if table != "" {
		names = append(names, e.member(table))
	}
	for _, name := range names {
		err := e.on(ctx, name, "delete", map[string]any{"where": map[string]any{"group": group}}, nil)
		if err != nil && !isStatus(err, http.StatusNotFound) {
			return err
		}
	}
	return nil
}

// member is the name of a collection beside that of the rows.
func (e *engine) member(name string) string { return e.collection + "-" + name }

// CreateTable makes a collection of vectors.
func (e *engine) CreateTable(ctx context.Context, table string, _ int) error {
	err := e.create(ctx, e.member(table), map[string]string{"about": "vectors of " + e.collection},
		hnsw{Space: "ip", EfConstruction: e.Graph.EfConstruction, EfSearch: e.Graph.Ef, MaxNeighbors: e.Graph.M})
	if isStatus(err, http.StatusConflict) { // a call that was repeated
		return nil
	}
	return err
}

// Release does nothing: Chroma has no aliases.
func (e *engine) Release(context.Context, string) error { return nil }

// DropTable drops a collection of vectors.
func (e *engine) DropTable(ctx context.Context, table string) error {
	return e.drop(ctx, e.member(table))
}

func (e *engine) drop(ctx context.Context, name string) error {
	e.remember(name, "")
	err := e.do(ctx, http.MethodDelete, "/"+name, nil, nil)
	if isStatus(err, http.StatusNotFound) {
		return nil
	}
	return err
}

// PutVectors writes vectors.
func (e *engine) PutVectors(ctx context.Context, table string, vectors []remote.Vector) error {
	var r records
	for _, v := range vectors {
		r.add(v.Key, v.Vector, map[string]string{"group": v.Group})
	}
	return e.write(ctx, e.member(table), "add", r)
}

// GetVectors reads vectors.
func (e *engine) GetVectors(ctx context.Context, table string, keys []string) (map[string]record.Vector, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	var got struct {
		IDs        []string        `json:"ids"`
		Embeddings []record.Vector `json:"embeddings"`
	}
	err := e.on(ctx, e.member(table), "get", map[string]any{"ids": keys, "include": []string{"embeddings"}}, &got)
	if err != nil {
		return nil, err
	}
	if len(got.Embeddings) != len(got.IDs) {
		return nil, e.strange("get")
	}
	out := make(map[string]record.Vector, len(got.IDs))
	for i, id := range got.IDs {
		out[id] = got.Embeddings[i]
	}
	return out, nil
}

// DeleteVectors deletes vectors.
func (e *engine) DeleteVectors(ctx context.Context, table string, keys []string) error {
	return e.deleteIDs(ctx, e.member(table), keys)
}

// Nearest asks for near vectors.
func (e *engine) Nearest(ctx context.Context, table string, q record.Vector, n int, keys []string) ([]remote.Near, error) {
	query := map[string]any{"query_embeddings": [][]float32{q}, "n_results": n, "include": []string{"distances"}}
	if keys != nil {
		query["ids"] = keys
	}
	var got struct {
		IDs       [][]string   `json:"ids"`
		Distances [][]*float64 `json:"distances"`
	}
	if err := e.on(ctx, e.member(table), "query", query, &got); err != nil {
		return nil, err
	}
	if len(got.IDs) != 1 || len(got.Distances) != 1 || len(got.IDs[0]) != len(got.Distances[0]) {
		return nil, e.strange("query")
	}
	out := make([]remote.Near, 0, len(got.IDs[0]))
	for i, d := range got.Distances[0] {
		if d == nil {
			return nil, e.strange("query")
		}
		out = append(out, remote.Near{Key: got.IDs[0][i], Score: 1 - *d})
	}
	return out, nil
}

// Claim creates a collection that says whose it is.
func (e *engine) Claim(ctx context.Context, name, holder string) (string, error) {
	for {
		err := e.create(ctx, e.member(name), map[string]string{"holder": holder}, rowIndex)
		if !isStatus(err, http.StatusConflict) {
			return holder, err
		}
		c, err := e.describe(ctx, e.member(name))
		if err == nil {
			return c.Metadata["holder"], nil
		}
		if !isStatus(err, http.StatusNotFound) { // freed a moment ago
			return "", err
		}
	}
}

// Unclaim drops the collection.
func (e *engine) Unclaim(ctx context.Context, name string) error { return e.drop(ctx, e.member(name)) }
