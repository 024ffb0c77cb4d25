package programs

import (
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// wrapping are the functions that read the arguments of a wrapper.
const wrapping = "xargs parallel script nix-shell nix tmux screen coreutils bwrap"

// TestFunctions holds the names that a row may use and the functions there are
// together.
func TestFunctions(t *testing.T) {
	for _, name := range rows.Functions() {
		if escape(name) == nil && !rows.Has(wrapping, name) {
			t.Errorf("rows may name the function %s, which does not exist", name)
		}
	}
	if have, listed := len(here())+len(elsewhere()), len(rows.Functions()); have+9 != listed {
		t.Errorf("%d functions, and 9 for wrappers, but rows may name %d", have, listed)
	}
}
