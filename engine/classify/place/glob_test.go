package place

import (
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// A pattern that no name on the way matches does not mean a path.
func TestMayMatch(t *testing.T) {
	for short, want := range map[string]bool{
		"/opt/**/shop-*": false, "/opt/*.pyc": false,
		"/opt/**/guard": true, "/opt/gu*": true, "/opt/**/G?ARD": true, "/opt/*": true, "/opt/[f-h]*": true, "/opt/**/key*": true, "/opt/**": true,
	} {
		e := engine.Effect{Target: "/opt", Short: short, Certainty: engine.CertaintyGlob}
		if got := mayMatch(&e, "/opt/guard/keys"); got != want {
			t.Errorf("%s: got %v, want %v", short, got, want)
		}
	}
	if e := (engine.Effect{Target: "/opt", Short: "/opt", Certainty: engine.CertaintyExact}); !mayMatch(&e, "/opt/guard/keys") {
		t.Error("a directory by its name does not hold what is in it")
	}
}
