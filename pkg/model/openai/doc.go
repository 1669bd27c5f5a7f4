// Package openai is a client for OpenAI-compatible model servers: embeddings,
// streamed chat and reranking over net/http. A vendor is a base URL.
//
// Servers that call themselves compatible differ in batch limits, in the shape
// of their errors and answers, in how a stream ends, and in what they do with
// a text that is too long. The client trusts none of it. An answer counts only
// after it was checked (number and index of the vectors, finite, not zero, one
// dimension), a stream is complete only with a finish reason or [DONE] and no
// error, a batch that is too big is cut to what the server takes, and a text
// that the server refuses costs that text alone.
//
// No key, password or query value of a URL appears in an error or a warning,
// also where the server repeats it; and none is sent to another host, because
// redirects there are refused.
package openai
