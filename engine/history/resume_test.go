package history

import (
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// TestWorkResumes: an order of work ends that nothing was to be done yet, and nothing else.
func TestWorkResumes(t *testing.T) {
	forbids := func(act string, change func(*engine.Statement)) engine.Statement {
		s := engine.Statement{Kind: engine.Forbids, Act: act}
		if change != nil {
			change(&s)
		}
		return s
	}
	for name, c := range map[string]struct {
		said  engine.Statement
		ended bool
	}{
		"to wait":                {forbids("wait", nil), true},
		"to change nothing":      {forbids("change", nil), true},
		"until the person says":  {forbids("wait", func(s *engine.Statement) { s.Until = engine.UntilSaid }), true},
		"with never":             {forbids("wait", func(s *engine.Statement) { s.Never = true }), false},
		"to be asked":            {forbids("change", func(s *engine.Statement) { s.Until = engine.UntilAsked }), false},
		"about something":        {forbids("change", func(s *engine.Statement) { s.Objects = []string{"a.go"} }), false},
		"another act":            {forbids("commit", nil), false},
		"to be asked first":      {forbids("ask_first", nil), false},
		"changes in one place":   {forbids("only_in", func(s *engine.Statement) { s.Objects = []string{"src"} }), false},
		"a freeze, in the state": {forbids("freeze", nil), false},
	} {
		h := &State{}
		h.foldGoal(&engine.Goal{Statements: []engine.Statement{c.said}})
		h.foldGoal(&engine.Goal{Resumes: true})
		if ended := len(h.Goals.Forbidden) == 0; ended != c.ended {
			t.Errorf("%s: ended %v", name, ended)
		}
		h = &State{}
		h.foldGoal(&engine.Goal{Resumes: true, Statements: []engine.Statement{c.said}})
		if len(h.Goals.Forbidden) == 0 {
			t.Errorf("%s: ended in the same prompt", name)
		}
	}
	h := &State{}
	h.foldGoal(&engine.Goal{Statements: []engine.Statement{forbids("wait", nil)}})
	h.forbid(&engine.Goal{Resumes: true, Statements: []engine.Statement{forbids("push", nil)}})
	if len(h.Goals.Forbidden) != 2 {
		t.Errorf("a text that nobody typed ends what was forbidden: %v", h.Goals.Forbidden)
	}
}
