// Package remotetest gives tests a place in a real server of a vector database.
package remotetest

import (
	"crypto/rand"
	"os"
	"strings"
	"testing"
)

// Server is a server as scripts/services.sh starts it.
type Server struct {
	name     string // for people
	service  string // for services.sh
	variable string // of the environment, with its URL
	home     string // likewise, with the folder of the installation
}

// The servers that tests run on.
var (
	Chroma     = Server{"Chroma", "chroma", "KB_TEST_CHROMA_URL", "KB_TEST_CHROMA_HOME"}
	Milvus     = Server{"Milvus", "milvus", "KB_TEST_MILVUS_URL", ""}
	MilvusLite = Server{"Milvus Lite", "milvuslite", "KB_TEST_MILVUSLITE_URL", "KB_TEST_MILVUSLITE_HOME"}
)

// Secret is the token in the URLs, which no output may show.
const Secret = "not-to-be-shown"

// Need skips a test without the server.
func (s Server) Need(t testing.TB) {
	t.Helper()
	if os.Getenv(s.variable) == "" {
		t.Skipf("skipped: no %s to test with (scripts/services.sh %s -- go test …)", s.name, s.service)
	}
}

// URL returns the URL of an index that does not exist yet.
func (s Server) URL(t testing.TB) string {
	t.Helper()
	s.Need(t)
	return strings.Replace(os.Getenv(s.variable), "://", "://"+Secret+"@", 1) + "/kb_test_" + strings.ToLower(rand.Text()[:12])
}
