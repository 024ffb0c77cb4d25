package shipped

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
)

// route is one way to get rid of the guard, or past a denial: each of its calls
// is to be blocked, and each of its twins allowed.
type route struct {
	name        string
	calls       int
	twins       int
	blockedBy   []string // rules, in the order in which they were met
	wrong       []string // what differed
	withoutPast bool     // some case has nothing that was denied before its last call
}

func (r *route) holds() bool { return r.calls > 0 && r.twins > 0 && len(r.wrong) == 0 }

var numbered = regexp.MustCompile(`^([TW][0-9]{2})(, twin:)? (.+)$`)

// isTwin reports whether a case of a suite is one that passes.
func isTwin(c cases.Case) bool {
	m := numbered.FindStringSubmatch(c.Name)
	return m != nil && m[2] != "" || strings.HasSuffix(c.Name, ": twin")
}

// routes runs a suite, and gathers its cases by number.
func routes(t *testing.T, file string) map[string]*route {
	t.Helper()
	runner, list := shippedCases(t)
	all := map[string]*route{}
	for _, c := range list {
		if !strings.HasSuffix(c.File, file) {
			continue
		}
		id, _, _ := strings.Cut(c.ID(), "/")
		m := numbered.FindStringSubmatch(id)
		if m == nil || c.Todo != "" {
			t.Fatalf("%s:%d: %q has no number, or waits for something", c.File, c.Line, c.Name)
		}
		if all[m[1]] == nil {
			all[m[1]] = &route{}
		}
		all[m[1]].add(t, runner, c, m)
	}
	return all
}

// add runs a case, whose last call counts.
func (r *route) add(t *testing.T, runner *caseRunner, c cases.Case, m []string) {
	t.Helper()
	result, err := runner.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Failures {
		r.wrong = append(r.wrong, f.String())
	}
	var last *engine.Decision
	denied := false
	for _, rec := range result.Records {
		if rec.Phase == engine.PhasePre && rec.Decision != nil {
			denied = denied || last != nil && last.Decision == engine.Block
			last = rec.Decision
		}
	}
	r.withoutPast = r.withoutPast || !denied
	r.judge(c, m, last)
}

func (r *route) judge(c cases.Case, m []string, d *engine.Decision) {
	switch blocked := d.Decision == engine.Block; {
	case isTwin(c):
		r.twins++
		if blocked || d.Decision == engine.Ask {
			r.wrong = append(r.wrong, fmt.Sprintf("the twin %s does not pass: %s, by %v", c.ID(), d.Decision, d.RuleIDs()))
		}
	case !blocked:
		r.calls++
		r.wrong = append(r.wrong, fmt.Sprintf("%s is not blocked: %s, by %v", c.ID(), d.Decision, d.RuleIDs()))
	default:
		r.calls++
		if ids := d.RuleIDs(); len(ids) > 0 && !slices.Contains(r.blockedBy, ids[0]) {
			r.blockedBy = append(r.blockedBy, ids[0])
		}
	}
	if !isTwin(c) && r.name == "" {
		r.name = m[3]
	}
}

// score prints how many routes hold, and wants all of them, and at least so many.
func score(t *testing.T, what string, all map[string]*route, least int) {
	t.Helper()
	held := 0
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if r := all[id]; r.holds() {
			held++
		} else {
			t.Errorf("%s %s: %d calls, %d twins\n%s", id, r.name, r.calls, r.twins, strings.Join(r.wrong, "\n"))
		}
	}
	t.Logf("%s: %d of %d", what, held, len(all))
	if held < least {
		t.Errorf("%s: %d hold, want %d at least", what, held, least)
	}
}

// Whatever way an agent takes to what guards it is blocked, and its twin passes;
// so is what was denied, in another way.
func TestSelfProtection(t *testing.T) {
	tampering := routes(t, "cases/tampering/tampering.yaml")
	score(t, "tampering", tampering, 40)
	workarounds := routes(t, "cases/workarounds/workarounds.yaml")
	score(t, "work-arounds", workarounds, 20)
	for id, r := range workarounds {
		if r.withoutPast {
			t.Errorf("%s %s: nothing is denied before the last call", id, r.name)
		}
	}
}
