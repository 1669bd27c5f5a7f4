// Package milvus keeps an index in Milvus 2.3 or newer. How an index lies in a
// database without transactions, and what is exact, says package remote; this
// is its engine for Milvus.
//
//	milvus://[USER:PASSWORD@]HOST[:19530]/[DATABASE/]COLLECTION[?tls=true&exact=true&m=16&ef_construction=200&ef=200]
//
// milvuss:// is the same with TLS; TOKEN@ is a token. With
// exact=true a search scores every vector. m and ef_construction are of the graph
// of a new index, ef is how many candidates a search looks at.
//
// # Client
//
// Milvus speaks gRPC everywhere, REST not everywhere: version 2.3 has no REST
// v2, and Milvus Lite none at all. The Go SDK brings 557 modules, and gRPC
// stubs google.golang.org/grpc and protobuf. The calls that kb needs have one
// request and one answer, and such a call is a POST in HTTP/2, so net/http and
// 14 hand-written messages (see wire.go) do: no dependency, and nothing at
// start-up.
//
// # Collections
//
// COLLECTION_rows holds the rows; Milvus wants a vector in each, which has two
// numbers. COLLECTION_vGROUP is a table of vectors, with an HNSW index of inner
// products: vectors have unit length. COLLECTION is an alias of the table in
// use, for other clients, and moves when the index is built anew.
// COLLECTION_lease_N and COLLECTION_change_GROUP are claims: empty collections
// that name their holder, because the server does not create a second one of
// the same name with other fields.
//
// # Consistency
//
// Reading the newest manifest waits for all writes of the past ("strong"), 0.2
// s. What it names was written before it, up to a time stamp of the server that
// it has noted, and reading that waits for this time stamp only, as a rule not
// at all.
//
// Tested with Milvus 2.3.5 and Milvus Lite 3.2.2.
package milvus

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

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
	return remote.New(&engine{client: newClient(a, opt), address: a}, remote.Options{Now: opt.Now, Exact: a.Exact}), nil
}

// address is what a URL says.
type address struct {
	remote.Address
	database, collection string
}

var collectionName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]{0,99}$`)
})

func parse(rawURL string) (a address, err error) {
	if a.Address, err = remote.ParseURL(rawURL, "milvus", "19530"); err != nil {
		return a, err
	}
	switch p := a.Path; len(p) {
	case 1:
		a.collection = p[0]
	case 2:
		a.database, a.collection = p[0], p[1]
	default:
		return a, errors.New("a milvus:// URL ends with /COLLECTION or /DATABASE/COLLECTION")
	}
	if !collectionName().MatchString(a.collection) {
		return a, fmt.Errorf("%q cannot be the name of a collection: want up to 100 letters, digits and _, no digit first", a.collection)
	}
	return a, nil
}

// engine is a remote.Engine.
type engine struct {
	*client
	address
	mark atomic.Uint64 // a time stamp of the server; later reads see what was written up to it
}

// maxNearest is how many rows a search may return, by default.
const maxNearest = 16_384

// Name is the URL without user and password.
func (e *engine) Name() string { return e.client.name }

// Limits are those of a server as it comes.
func (e *engine) Limits() remote.Limits { return remote.Limits{Nearest: maxNearest} }

// Mark tells up to when this engine has written or seen.
func (e *engine) Mark() string { return strconv.FormatUint(e.mark.Load(), 10) }

// Seen makes later reads see what was written up to a mark.
func (e *engine) Seen(mark string) {
	if stamp, err := strconv.ParseUint(mark, 10, 64); err == nil {
		e.advance(stamp)
	}
}

func (e *engine) advance(stamp uint64) {
	for {
		was := e.mark.Load()
		if stamp <= was || e.mark.CompareAndSwap(was, stamp) {
			return
		}
	}
}

// Data types and a consistency level of the protocol.
const (
	typeVarChar     = 21
	typeFloatVector = 101
	levelStrong     = 0
	levelCustomized = 4
)

// Fields of the collections.
const (
	fieldKey    = "key"
	fieldKind   = "kind"
	fieldGroup  = "grp"
	fieldData   = "data"
	fieldVector = "vector"
)

// column is a field of a schema.
type column struct {
	name string
	kind uint64
	size int // of a text at most, or the dimension of a vector
}

// columns are those of a table of vectors of a dimension.
func vectorColumns(dim int) []column {
	return []column{{fieldKey, typeVarChar, 128}, {fieldGroup, typeVarChar, 64}, {fieldVector, typeFloatVector, dim}}
}

const rowDim = 2

func rowColumns() []column {
	return append(vectorColumns(rowDim), column{fieldKind, typeVarChar, 16}, column{fieldData, typeVarChar, 65_535})
}

// member is the name of a collection of this index.
func (e *engine) member(name string) string {
	return e.collection + "_" + strings.ReplaceAll(name, "-", "_")
}

func (e *engine) rows() string { return e.member("rows") }

// create creates a collection. If there is one with the same schema, nothing
// happens; with another it is an error.
func (e *engine) create(ctx context.Context, name string, columns []column) error {
	schema := message(nil).text(1, name)
	for i, c := range columns {
		limit := "max_length"
		if c.kind == typeFloatVector {
			limit = "dim"
		}
		schema = schema.message(4, message(nil).number(1, uint64(100+i)).text(2, c.name).flag(3, i == 0).
			number(5, c.kind).pairs(6, limit, strconv.Itoa(c.size)))
	}
	_, err := e.call(ctx, "CreateCollection", e.request(name).message(4, schema).number(5, 1))
	return err
}

// request begins a request about a collection.
func (e *engine) request(name string) message {
	return message(nil).text(2, e.database).text(3, name)
}

// createOne creates a collection unless there is one, and returns the name of
// the first field of the one that is there then. Of two who create it at once one
// may be refused a moment before it can be seen, or see it and find it freed.
func (e *engine) createOne(ctx context.Context, name string, columns []column) (string, error) {
	for attempt := 0; ; attempt++ {
		created := e.create(ctx, name, columns)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		first, err := e.firstField(ctx, name)
		if !isMissing(err) {
			return first, err
		}
		refused := new(statusError)
		if attempt == 20 || created != nil && !errors.As(created, &refused) {
			return "", cmp.Or(created, err)
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return "", err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Create makes the collection of rows, or ends what another began.
func (e *engine) Create(ctx context.Context) error {
	_, err := e.firstField(ctx, e.rows())
	if isMissing(err) {
		_, err = e.createOne(ctx, e.rows(), rowColumns())
	}
	if err != nil {
		return err
	}
	if loaded, err := e.isLoaded(ctx, e.rows()); err != nil || loaded {
		return err
	}
	return e.ready(ctx, e.rows(), "FLAT", "L2", nil)
}

// firstField returns the name of the first field of a collection.
func (e *engine) firstField(ctx context.Context, name string) (string, error) {
	answer, err := e.call(ctx, "DescribeCollection", e.request(name))
	if err != nil {
		return "", err
	}
	for f := range fields(find(answer, 2)) {
		if f.number == 4 {
			return string(find(f.bytes, 2)), nil
		}
	}
	return "", e.strange("DescribeCollection")
}

// ready makes the index of a new collection and loads it.
func (e *engine) ready(ctx context.Context, name, kind, metric string, params map[string]int) error {
	index := e.request(name).text(4, fieldVector).pairs(5, "index_type", kind, "metric_type", metric)
	if params != nil {
		index = index.pairs(5, "params", jsonOf(params))
	}
	if _, err := e.call(ctx, "CreateIndex", index.text(6, fieldVector)); err != nil {
		return err
	}
	return e.load(ctx, name)
}

func jsonOf(params map[string]int) string {
	b, _ := json.Marshal(params) // cannot fail
	return string(b)
}

// load loads a collection and waits for it.
func (e *engine) load(ctx context.Context, name string) error {
	if _, err := e.call(ctx, "LoadCollection", e.request(name).number(4, 1)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for {
		if loaded, err := e.isLoaded(ctx, name); err != nil || loaded {
			return err
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

func (e *engine) isLoaded(ctx context.Context, name string) (bool, error) {
	answer, err := e.call(ctx, "GetLoadState", message(nil).text(2, name).text(4, e.database))
	const loaded = 3
	for f := range fields(answer) {
		if f.number == 2 && f.value == loaded {
			return true, err
		}
	}
	return false, err
}

// query reads the rows that an expression selects.
func (e *engine) query(ctx context.Context, name, expression string, strong bool, out ...string) (map[string][]byte, error) {
	request := message(nil).text(2, e.database).text(3, name).text(4, expression)
	for _, f := range out {
		request = request.element(5, f)
	}
	stamp, level := e.consistency(strong)
	answer, err := e.loaded(ctx, name, "Query", request.number(8, stamp).number(11, level))
	if err != nil {
		return nil, err
	}
	columns := map[string][]byte{}
	for f := range fields(answer) {
		if f.number == 2 {
			columns[string(find(f.bytes, 2))] = f.bytes
		}
	}
	return columns, nil
}

func (e *engine) consistency(strong bool) (stamp, level uint64) {
	if strong {
		return 0, levelStrong
	}
	return max(e.mark.Load(), 1), levelCustomized
}

// loaded makes a call, and loads the collection first if somebody released it.
func (e *engine) loaded(ctx context.Context, name, method string, request message) ([]byte, error) {
	answer, err := e.call(ctx, method, request)
	if !isNotLoaded(err) {
		return answer, err
	}
	if err := e.load(ctx, name); err != nil {
		return nil, err
	}
	return e.call(ctx, method, request)
}

// List returns the rows of a kind, the newest.
func (e *engine) List(ctx context.Context, kind string) ([]remote.Row, error) {
	columns, err := e.query(ctx, e.rows(), fmt.Sprintf("%s == %q", fieldKind, kind), true, fieldKey, fieldGroup, fieldData)
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	keys, err1 := textColumn(columns[fieldKey])
	groups, err2 := textColumn(columns[fieldGroup])
	data, err3 := textColumn(columns[fieldData])
	if err := errors.Join(err1, err2, err3); err != nil || len(keys) != len(groups) || len(keys) != len(data) {
		return nil, e.strange("Query")
	}
	rows := make([]remote.Row, len(keys))
	for i, k := range keys {
		rows[i] = remote.Row{Key: k, Kind: kind, Group: groups[i], Data: data[i]}
	}
	return rows, nil
}

func (e *engine) strange(call string) error { return fmt.Errorf("%s: %s: %w", e.Name(), call, errWire) }

func textColumn(b []byte) ([]string, error) { return texts(find(b, 3, 6), 1) }

// Get returns the data of rows.
func (e *engine) Get(ctx context.Context, keys []string) (map[string]string, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	columns, err := e.query(ctx, e.rows(), among(keys), false, fieldKey, fieldData)
	if err != nil {
		return nil, err
	}
	found, err1 := textColumn(columns[fieldKey])
	data, err2 := textColumn(columns[fieldData])
	if err := errors.Join(err1, err2); err != nil || len(found) != len(data) {
		return nil, e.strange("Query")
	}
	out := make(map[string]string, len(found))
	for i, k := range found {
		out[k] = data[i]
	}
	return out, nil
}

// among is an expression that selects keys. Keys have letters, digits and / only.
func among(keys []string) string { return fieldKey + ` in ["` + strings.Join(keys, `","`) + `"]` }

// Put writes rows. Those of a kind may be there already.
func (e *engine) Put(ctx context.Context, rows []remote.Row) error {
	var fresh, others []remote.Row
	for _, r := range rows {
		if r.Kind == "" {
			fresh = append(fresh, r)
		} else {
			others = append(others, r)
		}
	}
	if err := e.putRows(ctx, "Insert", fresh); err != nil {
		return err
	}
	return e.putRows(ctx, "Upsert", others)
}

func (e *engine) putRows(ctx context.Context, method string, rows []remote.Row) error {
	var keys, groups, kinds, data []string
	for _, r := range rows {
		keys, groups, kinds, data = append(keys, r.Key), append(groups, r.Group), append(kinds, r.Kind), append(data, r.Data)
	}
	return e.write(ctx, e.rows(), method, len(rows),
		textField(fieldKey, keys), textField(fieldGroup, groups), textField(fieldKind, kinds), textField(fieldData, data),
		vectorField(fieldVector, rowDim, len(rows), func(int) []float32 { return []float32{1, 0} }))
}

// write writes columns of n rows. A second attempt to insert may find the rows
// of the first, which an upsert replaces.
func (e *engine) write(ctx context.Context, name, method string, n int, columns ...message) error {
	if n == 0 {
		return nil
	}
	request := e.request(name)
	for _, c := range columns {
		request = request.message(5, c)
	}
	request = request.number(7, uint64(n))
	answer, err := e.callWith(ctx, func(attempt int) (string, message) {
		if attempt > 0 {
			return "Upsert", request
		}
		return method, request
	})
	if err != nil {
		return err
	}
	e.noteStamp(answer)
	return nil
}

// noteStamp takes the time stamp from the answer to a change of rows.
func (e *engine) noteStamp(answer []byte) {
	for f := range fields(answer) {
		if f.number == 9 {
			e.advance(f.value)
		}
	}
}

func textField(name string, values []string) message {
	var array message
	for _, v := range values {
		array = array.element(1, v)
	}
	return message(nil).number(1, typeVarChar).text(2, name).message(3, message(nil).message(6, array))
}

func vectorField(name string, dim, n int, vector func(int) []float32) message {
	packed := make([]byte, 0, 4*dim*n)
	for i := range n {
		packed = appendFloats(packed, vector(i))
	}
	array := message(nil).number(1, uint64(dim)).message(2, message(nil).message(1, packed))
	return message(nil).number(1, typeFloatVector).text(2, name).message(4, array)
}

func appendFloats(dst []byte, v []float32) []byte {
	for _, x := range v {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}

// Delete deletes rows.
func (e *engine) Delete(ctx context.Context, keys []string) error {
	return e.deleteKeys(ctx, e.rows(), keys)
}

func (e *engine) deleteKeys(ctx context.Context, name string, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	return e.delete(ctx, name, among(keys))
}

func (e *engine) delete(ctx context.Context, name, expression string) error {
	answer, err := e.loaded(ctx, name, "Delete", e.request(name).text(5, expression))
	if err != nil {
		return err
	}
	e.noteStamp(answer)
	return nil
}

// DeleteGroup deletes what a change wrote.
func (e *engine) DeleteGroup(ctx context.Context, group, table string) error {
	names := []string{e.rows()}
	if table != "" {
		names = append(names, e.member(table))
	}
	for _, name := range names {
		if err := e.delete(ctx, name, fmt.Sprintf("%s == %q", fieldGroup, group)); err != nil && !isMissing(err) {
			return err
		}
	}
	return nil
}

// CreateTable makes a collection of vectors.
func (e *engine) CreateTable(ctx context.Context, table string, dim int) error {
	if err := e.create(ctx, e.member(table), vectorColumns(dim)); err != nil {
		return err
	}
	return e.ready(ctx, e.member(table), "HNSW", "IP", map[string]int{"M": e.Graph.M, "efConstruction": e.Graph.EfConstruction})
}

// Release makes the alias name a table.
func (e *engine) Release(ctx context.Context, table string) error {
	request := e.request(e.member(table)).text(4, e.collection)
	if _, err := e.call(ctx, "AlterAlias", request); err == nil {
		return nil
	}
	_, err := e.call(ctx, "CreateAlias", request)
	return err
}

// DropTable drops a collection of vectors; the alias must not name it.
func (e *engine) DropTable(ctx context.Context, table string) error {
	return e.drop(ctx, e.member(table))
}

func (e *engine) drop(ctx context.Context, name string) error {
	_, err := e.call(ctx, "DropCollection", e.request(name))
	if isMissing(err) {
		return nil
	}
	return err
}

// PutVectors writes vectors.
func (e *engine) PutVectors(ctx context.Context, table string, vectors []remote.Vector) error {
	if len(vectors) == 0 {
		return nil
	}
	var keys, groups []string
	for _, v := range vectors {
		keys, groups = append(keys, v.Key), append(groups, v.Group)
	}
	return e.write(ctx, e.member(table), "Insert", len(vectors), textField(fieldKey, keys), textField(fieldGroup, groups),
		vectorField(fieldVector, len(vectors[0].Vector), len(vectors), func(i int) []float32 { return vectors[i].Vector }))
}

// GetVectors reads vectors.
func (e *engine) GetVectors(ctx context.Context, table string, keys []string) (map[string]record.Vector, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	columns, err := e.query(ctx, e.member(table), among(keys), false, fieldKey, fieldVector)
	if err != nil {
		return nil, err
	}
	found, err1 := textColumn(columns[fieldKey])
	all, err2 := floats(find(columns[fieldVector], 4, 2, 1))
	if err := errors.Join(err1, err2); err != nil || len(found) == 0 && len(all) > 0 || len(found) > 0 && len(all)%len(found) != 0 {
		return nil, e.strange("Query")
	}
	out := make(map[string]record.Vector, len(found))
	for i, k := range found {
		dim := len(all) / len(found)
		out[k] = all[i*dim : (i+1)*dim : (i+1)*dim]
	}
	return out, nil
}

// DeleteVectors deletes vectors.
func (e *engine) DeleteVectors(ctx context.Context, table string, keys []string) error {
	return e.deleteKeys(ctx, e.member(table), keys)
}

// Nearest asks for near vectors.
func (e *engine) Nearest(ctx context.Context, table string, q record.Vector, n int, keys []string) ([]remote.Near, error) {
	placeholder := message(nil).text(1, "$0").number(2, typeFloatVector).message(3, appendFloats(nil, q))
	request := e.request(e.member(table)) // which fields 2 and 3 are, as everywhere
	if keys != nil {
		request = request.text(5, among(keys))
	}
	stamp, level := e.consistency(false)
	answer, err := e.loaded(ctx, e.member(table), "Search", request.message(6, message(nil).message(1, placeholder)).number(7, 1).
		pairs(9, "anns_field", fieldVector, "topk", strconv.Itoa(n), "metric_type", "IP", "round_decimal", "-1",
			"params", jsonOf(map[string]int{"ef": min(max(e.Graph.Ef, n), 32_768)})).
		number(11, stamp).number(12, 1).number(14, level))
	if err != nil {
		return nil, err
	}
	found := find(answer, 2)
	ids, err1 := texts(find(found, 5, 2), 1)
	scores, err2 := floats(find(found, 4))
	if err := errors.Join(err1, err2); err != nil || len(ids) != len(scores) {
		return nil, e.strange("Search")
	}
	out := make([]remote.Near, len(ids))
	for i, id := range ids {
		out[i] = remote.Near{Key: id, Score: float64(scores[i])}
	}
	return out, nil
}

// claimPrefix begins the name of the first field of a claim; the holder is the
// rest, with _ for -. Milvus Lite does not keep descriptions.
const claimPrefix = "held_by_"

// Claim creates a collection that says whose it is.
func (e *engine) Claim(ctx context.Context, name, holder string) (string, error) {
	columns := vectorColumns(rowDim)
	columns[0].name = claimPrefix + strings.ReplaceAll(holder, "-", "_")
	first, err := e.createOne(ctx, e.member(name), columns)
	if err != nil {
		return "", err
	}
	who, ok := strings.CutPrefix(first, claimPrefix)
	if !ok {
		return "", e.strange("DescribeCollection")
	}
	return strings.ReplaceAll(who, "_", "-"), nil
}

// Unclaim drops the collection.
func (e *engine) Unclaim(ctx context.Context, name string) error { return e.drop(ctx, e.member(name)) }
