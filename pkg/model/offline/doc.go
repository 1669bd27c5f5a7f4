// Package offline implements the three models without a network: an embedder
// by feature hashing, a reranker by BM25 and what stands close together, and a
// generator that answers with sentences of the passages. They are lexical and
// deterministic, need no configuration and load nothing.
package offline
