package browser

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

var (
	binary   = flag.String("kb", "../../kb", "the kb `binary` to test")
	pictures = flag.String("shots", "", "`folder` for pictures of the page")
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	path, err := filepath.Abs(*binary)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err, "(make build makes it)")
		return 1
	}
	*binary = path
	stop, err := startChrome()
	defer stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "browser: Chromium does not start:", err)
		return 1
	}
	return m.Run()
}
