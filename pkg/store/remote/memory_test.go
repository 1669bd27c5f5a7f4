package remote_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"kb/pkg/record"
	"kb/pkg/store/remote"
	"kb/pkg/vector"
)

// database is what the engines of some clients share.
type database struct {
	mu     sync.Mutex
	rows   map[string]remote.Row
	tables map[string]map[string]remote.Vector
	claims map[string]string
}

func newDatabase() *database {
	return &database{rows: map[string]remote.Row{}, tables: map[string]map[string]remote.Vector{}, claims: map[string]string{}}
}

// memory is an engine in memory. Each call is a step; from the step fail on,
// none is made any more, and the step before may be made without an answer.
type memory struct {
	*database
	limits remote.Limits
	steps  int
	fail   int  // 0 for never
	late   bool // the first step that fails is made, but fails
	blind  int  // every so many vectors are never found by Nearest
}

var errDown = errors.New("memory: no connection")

func (m *memory) step(ctx context.Context, do func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	m.steps++
	if m.fail > 0 && m.steps >= m.fail {
		if m.steps == m.fail && m.late {
			do()
		}
		return errDown
	}
	do()
	return nil
}

func (m *memory) Name() string                     { return "memory" }
func (m *memory) Limits() remote.Limits            { return m.limits }
func (m *memory) Mark() string                     { return "" }
func (m *memory) Seen(string)                      {}
func (m *memory) Create(ctx context.Context) error { return m.step(ctx, func() {}) }

func (m *memory) List(ctx context.Context, kind string) (out []remote.Row, err error) {
	err = m.step(ctx, func() {
		for _, k := range slices.Sorted(maps.Keys(m.rows)) {
			if r := m.rows[k]; r.Kind == kind {
				out = append(out, r)
			}
		}
	})
	return out, err
}

func (m *memory) Get(ctx context.Context, keys []string) (map[string]string, error) {
	out := map[string]string{}
	err := m.step(ctx, func() {
		for _, k := range keys {
			if r, ok := m.rows[k]; ok {
				out[k] = r.Data
			}
		}
	})
	return out, err
}

func (m *memory) Put(ctx context.Context, rows []remote.Row) error {
	return m.step(ctx, func() {
		for _, r := range rows {
			if len(r.Data) > remote.MaxData {
				panic(fmt.Sprintf("row %s is too long", r.Key))
			}
			m.rows[r.Key] = r
		}
	})
}

func (m *memory) Delete(ctx context.Context, keys []string) error {
	return m.step(ctx, func() {
		for _, k := range keys {
			delete(m.rows, k)
		}
	})
}

func (m *memory) DeleteGroup(ctx context.Context, group, table string) error {
	return m.step(ctx, func() {
		maps.DeleteFunc(m.rows, func(_ string, r remote.Row) bool { return r.Group == group })
		maps.DeleteFunc(m.tables[table], func(_ string, v remote.Vector) bool { return v.Group == group })
	})
}

func (m *memory) CreateTable(ctx context.Context, table string, _ int) error {
	return m.step(ctx, func() { m.tables[table] = map[string]remote.Vector{} })
}

func (m *memory) Release(ctx context.Context, _ string) error { return m.step(ctx, func() {}) }

func (m *memory) DropTable(ctx context.Context, table string) error {
	return m.step(ctx, func() { delete(m.tables, table) })
}

func (m *memory) PutVectors(ctx context.Context, table string, vectors []remote.Vector) error {
	return m.step(ctx, func() {
		for _, v := range vectors {
			m.tables[table][v.Key] = v
		}
	})
}

func (m *memory) GetVectors(ctx context.Context, table string, keys []string) (map[string]record.Vector, error) {
	out := map[string]record.Vector{}
	err := m.step(ctx, func() {
		for _, k := range keys {
			if v, ok := m.tables[table][k]; ok {
				out[k] = v.Vector
			}
		}
	})
	return out, err
}

func (m *memory) DeleteVectors(ctx context.Context, table string, keys []string) error {
	return m.step(ctx, func() {
		for _, k := range keys {
			delete(m.tables[table], k)
		}
	})
}

func (m *memory) Nearest(ctx context.Context, table string, q record.Vector, n int, keys []string) (out []remote.Near, err error) {
	err = m.step(ctx, func() {
		for i, k := range slices.Sorted(maps.Keys(m.tables[table])) {
			if (keys == nil || slices.Contains(keys, k)) && (m.blind == 0 || i%m.blind > 0) {
				out = append(out, remote.Near{Key: k, Score: float64(float32(vector.Score(q, m.tables[table][k].Vector)))})
			}
		}
		slices.SortFunc(out, func(a, b remote.Near) int { return cmp.Compare(b.Score, a.Score) })
		out = out[:min(n, len(out))]
	})
	return out, err
}

func (m *memory) Claim(ctx context.Context, name, holder string) (who string, err error) {
	err = m.step(ctx, func() {
		if _, ok := m.claims[name]; !ok {
			m.claims[name] = holder
		}
		who = m.claims[name]
	})
	if err != nil {
		who = ""
	}
	return who, err
}

func (m *memory) Unclaim(ctx context.Context, name string) error {
	return m.step(ctx, func() { delete(m.claims, name) })
}
