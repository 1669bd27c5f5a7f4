package pgvector

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// options are what the URL of a store says besides how to connect.
type options struct {
	schema         string        // that holds the tables
	exact          bool          // compare with every vector
	efSearch       int           // candidates of a search in the HNSW graph
	m              int           // neighbours of a vector in the graph,
	efConstruction int           // and candidates for them, when it is built
	keep           time.Duration // that a version stays readable after it was replaced
	readTimeout    time.Duration // that statements which only read may take
	exactBelow     int           // so many vectors are all compared, without a graph
}

const (
	defaultSchema         = "kb"
	defaultEfSearch       = 200
	defaultM              = 16
	defaultEfConstruction = 64
	defaultKeep           = time.Hour
	defaultExactBelow     = 10_000 // see the package comment
	connectTimeout        = 10 * time.Second
	defaultReadTimeout    = 5 * time.Minute // such statements take milliseconds, exact searches of millions of vectors seconds
)

// parseURL reads postgres://user:password@host:port/database?… Parameters that
// are not of this package are those of libpq: sslmode, connect_timeout, … What
// is missing comes from PGHOST, PGUSER, PGPASSWORD and so on, or from ~/.pgpass.
// Errors do not quote the URL, which may hold a password.
func parseURL(raw string) (name string, cfg *pgconn.Config, opt options, err error) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", nil, opt, errors.New("not a URL of the form postgres://user:password@host:port/database; are special characters in it written as %XX?")
	}
	q := u.Query()
	if opt, err = takeOptions(q); err != nil {
		return "", nil, opt, err
	}
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20") // as libpq, pgconn takes no + for a space
	if cfg, err = pgconn.ParseConfig(u.String()); err != nil {
		return "", nil, opt, fmt.Errorf("the URL cannot be used: %s", behindQuote(err.Error()))
	}
	if q.Get("connect_timeout") == "" && (cfg.ConnectTimeout == 0 || cfg.ConnectTimeout > connectTimeout) {
		cfg.ConnectTimeout = connectTimeout
	}
	dialer := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}}
	cfg.DialFunc = dialer.DialContext
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "kb"
	}
	cfg.RuntimeParams["client_encoding"] = "UTF8"
	return displayName(u, cfg, opt), cfg, opt, nil
}

// behindQuote is what a message of pgconn says behind the URL that it quotes.
func behindQuote(text string) string {
	if _, reason, ok := strings.Cut(text, "`: "); ok {
		return reason
	}
	return "its host, port or one of its parameters"
}

// displayName is the URL without password, and of its parameters only the
// schema.
func displayName(u *url.URL, cfg *pgconn.Config, opt options) string {
	shown := url.URL{Scheme: "postgres", Host: u.Host, Path: "/" + cfg.Database}
	if shown.Host == "" {
		shown.Host = cfg.Host
	}
	if cfg.User != "" {
		shown.User = url.User(cfg.User)
	}
	if opt.schema != defaultSchema {
		shown.RawQuery = "schema=" + url.QueryEscape(opt.schema)
	}
	return shown.String()
}

// takeOptions removes this package's parameters from q.
func takeOptions(q url.Values) (options, error) {
	opt := options{schema: defaultSchema, efSearch: defaultEfSearch, m: defaultM, efConstruction: defaultEfConstruction, keep: defaultKeep, readTimeout: defaultReadTimeout, exactBelow: defaultExactBelow}
	var err error
	if q.Has("schema") {
		opt.schema = q.Get("schema")
		if opt.schema == "" || len(opt.schema) > 63 || strings.IndexByte(opt.schema, 0) >= 0 {
			err = errors.New("schema: a name of 1 to 63 bytes")
		}
	}
	for _, p := range []struct {
		name     string
		value    *int
		min, max int
	}{
		{"ef_search", &opt.efSearch, 1, 1000},
		{"m", &opt.m, 2, 100},
		{"ef_construction", &opt.efConstruction, 4, 1000},
	} {
		if !q.Has(p.name) {
			continue
		}
		n, bad := strconv.Atoi(q.Get(p.name))
		if bad != nil || n < p.min || n > p.max {
			err = fmt.Errorf("%s=%s in the URL: it must be a number from %d to %d", p.name, q.Get(p.name), p.min, p.max)
		}
		*p.value = n
	}
	if opt.efConstruction < 2*opt.m {
		opt.efConstruction = 2 * opt.m // as pgvector demands
	}
	if q.Has("exact") {
		var bad error
		if opt.exact, bad = strconv.ParseBool(q.Get("exact")); bad != nil {
			err = fmt.Errorf("exact=%s in the URL: it must be 0 or 1", q.Get("exact"))
		}
	}
	for _, p := range []struct {
		name  string
		value *time.Duration
		least time.Duration
	}{
		{"keep", &opt.keep, 0},
		{"read_timeout", &opt.readTimeout, time.Millisecond},
	} {
		if !q.Has(p.name) {
			continue
		}
		var bad error
		if *p.value, bad = time.ParseDuration(q.Get(p.name)); bad != nil || *p.value < p.least {
			err = fmt.Errorf("%s=%s in the URL: it must be a time like 1h or 10m", p.name, q.Get(p.name))
		}
	}
	for _, name := range []string{"schema", "ef_search", "m", "ef_construction", "exact", "keep", "read_timeout"} {
		q.Del(name)
	}
	return opt, err
}
