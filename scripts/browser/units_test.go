package browser

import (
	_ "embed"
	"testing"
)

//go:embed testdata/units.js
var units string

// TestUnits runs the tests of the page's own functions, in the page.
func TestUnits(t *testing.T) {
	k := serve(t, nil)
	p := open(t, k.origin, desktop)
	for _, failure := range eval[[]string](p, units) {
		t.Error(failure)
	}
}
