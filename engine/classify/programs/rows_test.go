package programs

import (
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// TestFunctions holds the names that a row may use and the functions there are
// together.
func TestFunctions(t *testing.T) {
	for _, name := range rows.Functions() {
		if escape(name) == nil && oddWrappers()[name] == nil {
			t.Errorf("rows may name the function %s, which does not exist", name)
		}
	}
	if have, listed := len(here())+len(elsewhere())+len(oddWrappers()), len(rows.Functions()); have != listed {
		t.Errorf("%d functions, but rows may name %d", have, listed)
	}
}
