package audit

import (
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// stopByPolicyAt records that policy stopped a session.
func stopByPolicyAt(t *testing.T, s *Store, key engine.SessionKey, at time.Time) {
	t.Helper()
	mustAdd(t, s, key, &engine.Record{Kind: engine.KindAct, T: at.UnixMilli(), Act: &engine.Act{Kind: engine.EmergencyStop, Result: "enough"}})
}

// The log of a session that policy stopped outlives retention and budget, but not
// forever: even a session that is still stopped keeps only its last file then.
func TestAnIncidentIsPreserved(t *testing.T) {
	const day = 24 * time.Hour
	for name, tt := range map[string]struct {
		days   int // IncidentDays
		age    time.Duration
		retain int
		budget int64
		want   string
	}{
		"older than retention":        {0, 20 * day, 10, 0, "[1 2 3]"},
		"over the budget":             {0, 20 * day, 30, 1, "[1 2 3]"},
		"older than the incident may": {5, 20 * day, 10, 0, "[3]"},
		"over it and over the budget": {5, 20 * day, 30, 1, "[3]"},
	} {
		t.Run(name, func(t *testing.T) {
			s := manyFiles(t)
			old := named("old")
			stopByPolicyAt(t, s, old, time.Now().Add(-tt.age))
			age(t, s, old, tt.age)
			fresh := &Store{Dir: s.Dir, Env: testEnv, RetainDays: tt.retain, BudgetBytes: tt.budget, IncidentDays: tt.days}
			fill(t, fresh, named("opening"), 1)
			if got := filesOf(t, s, old); got != tt.want {
				t.Errorf("files are %s, want %s", got, tt.want)
			}
		})
	}
}
