package mcp

import (
	"context"
	"errors"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/pkg/live"
	"kb/pkg/store"
)

// scheme begins the URI of a document; its id is behind it, or its path.
const scheme = "kb://document/"

// pageSize is how many documents a page of the list of resources has.
const pageSize = 100

// addDocuments makes every document a resource. As there may be many, and they
// change, they are not added one by one: one template reads them all, and
// [Server.listing] lists them. A template that is added again tells clients
// that the list has changed.
func (s *Server) addDocuments(srv *sdk.Server) {
	srv.AddResourceTemplate(&sdk.ResourceTemplate{
		Name:        "document",
		Title:       "A document of the notes",
		Description: "The whole text of one document, by its id or its path. The tool get_document reads long ones in parts.",
		URITemplate: scheme + "{+id}",
	}, s.read)
}

func (s *Server) read(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	l, err := s.o.Index.Acquire(ctx)
	if err != nil {
		return nil, s.o.Explain(err)
	}
	defer l.Release()
	d, err := l.Document(ctx, strings.TrimPrefix(uri, scheme))
	if errors.Is(err, live.ErrNotFound) {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	if err != nil {
		return nil, s.o.Explain(err)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: textType(d.Document), Text: d.Text}}}, nil
}

// textType is the type of a document's text, which is no longer that of its
// file where it was taken out of a PDF or a word processor's file.
func textType(d store.Document) string {
	if d.MediaType == "text/markdown" {
		return d.MediaType
	}
	return "text/plain"
}

// listing answers resources/list from the index, page by page.
func (s *Server) listing(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if r, ok := req.(*sdk.ListResourcesRequest); ok {
			return s.listResources(ctx, r)
		}
		return next(ctx, method, req)
	}
}

// listResources begins behind the path that is the cursor, so that nothing is
// left out or there twice when documents come and go between two pages.
func (s *Server) listResources(ctx context.Context, req *sdk.ListResourcesRequest) (*sdk.ListResourcesResult, error) {
	l, err := s.o.Index.Acquire(ctx)
	if err != nil {
		return nil, s.o.Explain(err)
	}
	defer l.Release()
	docs, err := l.Documents(ctx)
	if err != nil {
		return nil, s.o.Explain(err)
	}
	after := ""
	if req.Params != nil {
		after = req.Params.Cursor
	}
	out := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}, Cacheable: sdk.Cacheable{CacheScope: private}}
	for _, d := range docs {
		if d.Path <= after {
			continue
		}
		if len(out.Resources) == pageSize {
			out.NextCursor = out.Resources[pageSize-1].Name
			break
		}
		out.Resources = append(out.Resources, &sdk.Resource{URI: scheme + d.ID, Name: d.Path, Title: d.Title, MIMEType: textType(d)})
	}
	return out, nil
}
