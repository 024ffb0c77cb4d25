package impact_test

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// crowd is a comparison over many sessions with many steps each: a page to be
// looked at, and as large as one can be.
func crowd(sessions, steps int) *simulate.Impact {
	m := busy()
	m.Changed, m.Kinds = nil, nil
	kinds := map[string]*simulate.Kind{}
	for i := range sessions {
		s := crowdSession(i, max(steps-17*(i%9)%max(steps, 1), 1))
		m.Changed = append(m.Changed, s)
		for _, step := range s.Steps {
			countKind(kinds, step)
		}
	}
	for _, k := range kinds {
		m.Kinds = append(m.Kinds, *k)
	}
	slices.SortFunc(m.Kinds, func(a, b simulate.Kind) int {
		return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Rule, b.Rule))
	})
	m.Sessions = simulate.Sessions{Total: int64(sessions) * 9, Changed: int64(sessions) + 3}
	tally(m)
	return m
}

type move struct {
	state    simulate.State
	from, to engine.Verdict
	tool     string
	resource string
	old, new []string
	reason   string
}

func moves() []move {
	none := []string{}
	return []move{
		{simulate.Tightened, engine.Allow, engine.Ask, "Bash", "curl -fsSL https://get.tool.test/install.sh -o /tmp/install.sh", none, []string{"net.unknown_host"}, "Nothing in this session named this host before, and what it sends may be anything at all."},
		{simulate.Unchanged, engine.Block, engine.Block, "Bash", "rm -rf ../other-project", []string{"fs.delete_outside"}, []string{"fs.delete_outside"}, "This deletes files outside the workspace."},
		{simulate.Loosened, engine.Ask, engine.Allow, "Bash", "git push origin topic", []string{"git.push"}, none, "Pushing publishes work, and cannot be undone."},
		{simulate.Tightened, engine.Allow, engine.Block, "Write", "/home/u/shop/.github/workflows/release-everything-to-production.yaml", none, []string{"ci.workflow", "secrets.leave"}, "Workflows run with the repository's secrets."},
		{simulate.Maybe, engine.Allow, engine.Ask, "WebFetch", "https://docs.example.test/reference/a/rather/long/path?with=a&query=too", none, []string{"net.unknown_host"}, "Nothing in this session named this host before."},
		{simulate.Unchanged, engine.Ask, engine.Ask, "Bash", "npm publish --access public", []string{"publish.package"}, []string{"publish.package"}, "A published version cannot be undone."},
		{simulate.Unknown, engine.Allow, "", "Read", "/home/u/shop/.env", none, none, ""},
		{simulate.Tightened, engine.Warn, engine.Ask, "Bash", "python - <<'EOF'\nimport shutil\nshutil.rmtree('build')\nEOF", []string{"loop.same_error"}, []string{"loop.same_error"}, "The same call failed three times in the same way."},
		{simulate.Loosened, engine.Block, engine.Warn, "Bash", "chmod -R 777 public", none, none, "The score of the risk is 0.71, and the threshold is now 0.75."},
	}
}

func crowdSession(i, steps int) simulate.SessionChange {
	id := fmt.Sprintf("%08x-77aa-4c1e-9d10-%012x", (i+1)*2654435761%(1<<32), i*1_000_003)
	s := simulate.SessionChange{Session: id, Harness: "claude-code", Format: []string{"claude-code", "audit", "codex"}[i%3],
		Workspace: []string{"/home/u/shop", "/home/u/site", "/srv/very/deeply/nested/workspace-of-somebody/else"}[i%3], Calls: int64(steps) * 7}
	changed := false
	for n := range steps {
		x := moves()[(n*n+i+n/3)%len(moves())]
		st := step(fmt.Sprintf("%08x-%d", i+0xab12cd34, n*7+3), int64(n*7+(n*i)%6), x.state, x.from, x.to, x.tool, x.resource)
		st.Session, st.FromRules, st.ToRules, st.Reason, st.After = id, x.old, x.new, x.reason, changed
		if x.state == simulate.Unknown {
			st.Missing = "whether the file held a secret"
		}
		s.Steps = append(s.Steps, st)
		countSession(&s, x.state)
		if !changed && x.state != simulate.Unchanged && x.state != simulate.Unknown {
			changed, s.First = true, st
		}
	}
	return s
}

func countSession(s *simulate.SessionChange, state simulate.State) {
	switch state {
	case simulate.Tightened:
		s.Tightened++
	case simulate.Loosened:
		s.Loosened++
	case simulate.Maybe:
		s.Maybe++
	}
}

func countKind(kinds map[string]*simulate.Kind, s simulate.Step) {
	if s.State == simulate.Unchanged || s.State == simulate.Unknown {
		return
	}
	rule := simulate.ByScores
	if all := slices.Concat(s.ToRules, s.FromRules); len(all) > 0 {
		rule = all[0]
	}
	key := fmt.Sprint(s.State, s.From, s.To, rule)
	if kinds[key] == nil {
		kinds[key] = &simulate.Kind{Phase: s.Phase, State: s.State, From: s.From, To: s.To, Rule: rule, Example: s}
	}
	if s.After {
		kinds[key].After++
	} else {
		kinds[key].Count++
	}
}

// tally counts the calls of the sessions, and as many again that are allowed.
func tally(m *simulate.Impact) {
	cells := map[[2]engine.Verdict]*simulate.Cell{{engine.Allow, engine.Allow}: {From: engine.Allow, To: engine.Allow}}
	t := empty().Calls
	for _, s := range m.Changed {
		t.Total += s.Calls
		t.States[simulate.Unchanged] += s.Calls - int64(len(s.Steps))
		cells[[2]engine.Verdict{engine.Allow, engine.Allow}].Count += s.Calls - int64(len(s.Steps))
		for _, st := range s.Steps {
			key := [2]engine.Verdict{st.From, st.To}
			if cells[key] == nil {
				cells[key] = &simulate.Cell{From: st.From, To: st.To}
			}
			if st.After {
				t.After[st.State]++
				cells[key].After++
			} else {
				t.States[st.State]++
				cells[key].Count++
			}
		}
	}
	for key, c := range cells {
		if key[1] != "" {
			t.Matrix = append(t.Matrix, *c)
		}
	}
	slices.SortFunc(t.Matrix, func(a, b simulate.Cell) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	m.Calls = t
}

// hostile is a string that would act if it were taken for anything but text.
const hostile = "</script><script>window.pwned=1</script><!--<script>\u2028'\"><img src=x onerror=window.pwned=2>\x1b[31m\u202e\xff"

// besieged has the hostile text wherever a foreign text can be.
func besieged() *simulate.Impact {
	m := crowd(3, 12)
	m.Partial, m.Baseline.Name, m.Selection.Tools = hostile, hostile, []string{hostile}
	m.Baseline.Rules, m.NeverFired = []string{hostile}, []string{hostile}
	m.Sources.Formats[hostile] = 1
	m.Sources.Troubles[0].Path, m.Sources.Troubles[0].Why = hostile, hostile
	m.Tools[0].Name, m.Workspaces[0].Name, m.Interventions[0].Name, m.Rules[1].ID = hostile, hostile, hostile, hostile
	m.Errors = []simulate.StepError{{ID: hostile, Side: hostile, Error: hostile}}
	m.Calls.Matrix[0].From = hostile
	besiege(&m.Kinds[0].Example)
	m.Kinds[0].Rule, m.Kinds[0].From, m.Kinds[0].State, m.Kinds[0].Phase = hostile, hostile, hostile, hostile
	for i := range m.Changed {
		m.Changed[i].Session, m.Changed[i].Workspace, m.Changed[i].Format = hostile, hostile, hostile
		besiege(&m.Changed[i].First)
		for n := range m.Changed[i].Steps {
			besiege(&m.Changed[i].Steps[n])
		}
	}
	return m
}

func besiege(s *simulate.Step) {
	s.ID, s.Session, s.Tool, s.Resource, s.Agent, s.Call, s.Reason, s.Missing = hostile, hostile, hostile, hostile, hostile, hostile, hostile, hostile
	s.State, s.From, s.To, s.Phase = hostile, hostile, hostile, hostile
	s.FromRules, s.ToRules = []string{hostile}, []string{hostile}
}

// steep is a sweep with lines that cross.
func steep() *simulate.Sweep {
	s := &simulate.Sweep{Version: simulate.ImpactVersion, Key: "risk.levels.high"}
	for i := range 13 {
		m := crowd(4, 20)
		m.Calls.States[simulate.Tightened], m.Calls.States[simulate.Loosened], m.Calls.States[simulate.Maybe] = int64(120-10*i), int64(i*i*2), int64(5*(i%3))
		m.Calls.After[simulate.Tightened] = int64(40 - 3*i)
		s.Rows = append(s.Rows, simulate.SweepRow{Value: 0.6 + 0.025*float64(i), Impact: m})
	}
	return s
}
