package remote

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// blob is compressed text in one or several rows: under its key, and under
// key.1, key.2 and so on. The zero blob is empty.
type blob struct {
	Key    string `json:"key"`
	Pieces int    `json:"n,omitempty"` // 0 for one
}

const (
	maxContent = 1 << 30 // of a blob: a segment of millions of documents
	getAtOnce  = 256     // rows of up to 60 KB
)

func (b blob) keys(dst []string) []string {
	if b.Key == "" {
		return dst
	}
	dst = append(dst, b.Key)
	for i := 1; i < b.Pieces; i++ {
		dst = append(dst, fmt.Sprintf("%s.%d", b.Key, i))
	}
	return dst
}

var coders = sync.OnceValue(func() (c struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}) {
	c.enc, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)) // cannot fail: the options are right
	c.dec, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxContent))
	return c
})

// pack cuts a compressed content into rows.
func pack(key, group string, content []byte) (blob, []Row) {
	text := base64.StdEncoding.EncodeToString(coders().enc.EncodeAll(content, nil))
	b := blob{Key: key, Pieces: (len(text) + MaxData - 1) / MaxData}
	var rows []Row
	for _, k := range b.keys(nil) {
		n := min(len(text), MaxData)
		rows = append(rows, Row{Key: k, Group: group, Data: text[:n]})
		text = text[n:]
	}
	if b.Pieces == 1 {
		b.Pieces = 0
	}
	return b, rows
}

func unpack(text string) ([]byte, error) {
	frame, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	return coders().dec.DecodeAll(frame, nil)
}

// blobs reads the contents of blobs.
func (s *Store) blobs(ctx context.Context, list []blob) ([][]byte, error) {
	var keys []string
	for _, b := range list {
		keys = b.keys(keys)
	}
	rows, err := s.rows(ctx, keys)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(list))
	for i, b := range list {
		if b.Key == "" {
			continue
		}
		var text strings.Builder
		for _, k := range b.keys(nil) {
			text.WriteString(rows[k])
		}
		if out[i], err = unpack(text.String()); err != nil {
			return nil, s.damaged(fmt.Errorf("row %s: %w", b.Key, err))
		}
	}
	return out, nil
}

// rows reads rows that must be there.
func (s *Store) rows(ctx context.Context, keys []string) (map[string]string, error) {
	out := make(map[string]string, len(keys))
	for len(keys) > 0 {
		n := min(len(keys), getAtOnce)
		got, err := s.engine.Get(ctx, keys[:n])
		if err != nil {
			return nil, err
		}
		for _, k := range keys[:n] {
			data, ok := got[k]
			if !ok {
				return nil, s.damaged(fmt.Errorf("row %s: %w", k, errGone))
			}
			out[k] = data
		}
		keys = keys[n:]
	}
	return out, nil
}

var errGone = errors.New("it is gone: later changes swept this version of the index, or another program did; open it again")
