package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// indexed has Milvus build the graph over all vectors of an index now, as it
// does by itself ten minutes after the last write, and waits until searches use it.
// Until then it searches what is in memory.
func indexed(ctx context.Context, raw string, vectors int) error {
	u, err := url.Parse(raw)
	if err != nil {
		return err
	}
	call := caller(u.Host)
	collection := strings.Trim(u.Path, "/")
	const names, name = 3, 3 // the fields of the two requests
	if _, err := call(ctx, "Flush", text(names, collection)); err != nil {
		return err
	}
	for {
		answer, err := call(ctx, "GetQuerySegmentInfo", text(name, collection))
		if err != nil {
			return err
		}
		if indexedRows(answer) >= vectors {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// caller makes calls of gRPC without the client of kb, which has only those
// that an index needs.
func caller(host string) func(ctx context.Context, method string, request []byte) ([]byte, error) {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Protocols: protocols}}
	return func(ctx context.Context, method string, request []byte) ([]byte, error) {
		framed := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(request))), request...)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+host+"/milvus.proto.milvus.MilvusService/"+method, bytes.NewReader(framed))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/grpc")
		req.Header.Set("Te", "trailers")
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil || len(answer) < 5 {
			return nil, errors.Join(err, fmt.Errorf("%s: %s %s", method, resp.Status, resp.Trailer.Get("Grpc-Message")))
		}
		return answer[5:], nil
	}
}

// text is a field of a message that is a text.
func text(field int, s string) []byte {
	return append(binary.AppendUvarint([]byte{byte(field<<3 | 2)}, uint64(len(s))), s...)
}

// indexedRows are the rows of segments that are searched by an index: the sum
// of num_rows (5) of the messages in field 2 that have an indexID (7).
func indexedRows(answer []byte) (rows int) {
	for _, info := range fields(answer)[2] {
		segment := fields(info)
		if len(segment[7]) > 0 && len(segment[5]) > 0 {
			n, _ := binary.Uvarint(segment[5][0])
			rows += int(n)
		}
	}
	return rows
}

// fields are the fields of a message by their numbers; of numbers the varint.
func fields(b []byte) map[int][][]byte {
	out := map[int][][]byte{}
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		length, m := binary.Uvarint(b[max(n, 0):])
		if n <= 0 || m <= 0 {
			break
		}
		value := b[n:][:m]
		if b = b[n+m:]; tag&7 == 2 {
			size := min(length, uint64(len(b)))
			value, b = b[:size], b[size:]
		}
		out[int(tag>>3)] = append(out[int(tag>>3)], value)
	}
	return out
}
