package openai

import "strings"

// provider is what is known of a server by its host: limits that cost a
// refused request to find out, and fields that go by another name. Sources:
// the vendors' API references, November 2026.
type provider struct {
	batch     int    // texts in one embedding request
	tokens    int    // summed over one embedding request, estimated
	documents int    // documents in one rerank request
	keyHeader string // "" is Authorization: Bearer

	format     string // value of encoding_format; "" leaves it out
	dimensions string // name of the field
	purpose    string // name of the field that tells question from passage; "" for none
	query      string // its values
	document   string
}

// Unknown servers get the limit of text-embeddings-inference, the smallest
// default among the servers that people run themselves, and half of its
// payload limit of 2 MB.
func unknownProvider() provider {
	return provider{batch: 32, tokens: 200_000, documents: 100, format: "float", dimensions: "dimensions"}
}

func providerOf(host string) provider {
	p := unknownProvider()
	switch {
	case host == "api.openai.com":
		p.batch, p.tokens = 256, 250_000 // 2048 texts, 300,000 tokens
	case strings.HasSuffix(host, ".azure.com"):
		p.batch, p.tokens, p.keyHeader = 256, 250_000, "api-key"
	case isDashScope(host):
		p.batch, p.tokens, p.documents = 10, 8_000, 500
	case host == "open.bigmodel.cn" || host == "api.z.ai":
		p.batch, p.tokens = 64, 8_000
	case host == "api.voyageai.com":
		p.batch, p.tokens, p.documents = 256, 100_000, 1000
		p.format, p.dimensions = "", "output_dimension"
		p.purpose, p.query, p.document = "input_type", "query", "document"
	case host == "api.jina.ai":
		p.batch, p.format = 256, ""
		p.purpose, p.query, p.document = "task", "retrieval.query", "retrieval.passage"
	case host == "api.cohere.com" || host == "api.cohere.ai":
		p.batch, p.documents = 96, 1000
	}
	return p
}
