package classify

import (
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

// TestTroubleOfResult: what ran has no trouble, whatever it printed.
func TestTroubleOfResult(t *testing.T) {
	m := &mask.Masker{Mac: classifytest.MAC, Formats: mask.FormatsOf(classifytest.Rows(), nil)}
	fault := "bash: foo: command not found"
	if f := result(classifytest.Rows(), m, &engine.Result{Error: fault}, nil, nil); f.Trouble != "" {
		t.Errorf("ran, and trouble %q", f.Trouble)
	}
	if f := result(classifytest.Rows(), m, &engine.Result{Failed: true, Error: fault}, nil, nil); f.Trouble != engine.TroubleCommand {
		t.Errorf("trouble %q", f.Trouble)
	}
}
