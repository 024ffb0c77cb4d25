//go:build e2e && linux

package agents

import (
	"encoding/json"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/live"
	"github.com/agent-reviewer/reviewer/engine"
)

// records are what the log says, session after session.
func (s *stage) records() (list []engine.Record) {
	s.Helper()
	var all struct{ Sessions []struct{ Session string } }
	s.must(json.Unmarshal([]byte(s.review("audit", "show", "-f", "json")), &all))
	for _, session := range all.Sessions {
		var shown struct{ Records []engine.Record }
		s.must(json.Unmarshal([]byte(s.review("audit", "show", session.Session, "--all", "-f", "json")), &shown))
		for i := range shown.Records {
			shown.Records[i].Session = session.Session
		}
		list = append(list, shown.Records...)
	}
	return list
}

// reviewed returns the last record before a call.
func (s *stage) reviewed() (last engine.Record, found bool) {
	s.Helper()
	last.Decision = &engine.Decision{}
	for _, r := range s.records() {
		if r.Kind == engine.KindPre && r.Decision != nil {
			last, found = r, true
		}
	}
	return last, found
}

// wantRecord asserts that the log verifies, and contains one of the decisions.
func (s *stage) wantRecord(decisions string) {
	s.Helper()
	s.review("audit", "verify")
	s.review("audit", "replay")
	if decisions == "" {
		return
	}
	if r, found := s.reviewed(); !found || !strings.Contains(" "+decisions+" ", " "+string(r.Decision.Decision)+" ") {
		s.Errorf("the record of the call says %q, want %s", r.Decision.Decision, decisions)
	}
}

// told reports whether the model was told a rule of the last reviewed call.
func (s *stage) told(run live.Run) bool {
	s.Helper()
	r, _ := s.reviewed()
	for _, request := range run.Requests {
		for _, rule := range r.Decision.Rules {
			if strings.Contains(string(request.Body), rule.ID) {
				return true
			}
		}
	}
	return false
}
