package prompt

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

// BenchmarkPrompt measures what reading 4 KiB of a prompt costs.
func BenchmarkPrompt(b *testing.B) {
	m := askedMasker()
	text := strings.Repeat("Please don't push before the tests in src/a.go pass, and leave tools/ alone. ", 54)[:4096]
	for b.Loop() {
		GoalOf(classifytest.Rows(), m, text, goalMarker(), "", nil)
	}
}
