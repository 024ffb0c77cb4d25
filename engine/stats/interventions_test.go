package stats

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
)

func TestInterventions(t *testing.T) {
	found := func(r *engine.Record, id string) { r.Findings = []engine.Finding{{ID: id, Level: "low"}} }
	for name, c := range map[string]struct {
		tell        func(s *tale)
		want        []Intervention
		escalations []Escalation
	}{
		"it helped": {func(s *tale) { s.call(engine.Warn, "loop"); s.calls(11, 10) },
			[]Intervention{{"warn", "loop", Helped, 1}}, nil},
		"too few calls to tell": {func(s *tale) { s.call(engine.Warn, "loop"); s.calls(10, 60) },
			[]Intervention{{"warn", "loop", Open, 1}}, nil},
		"too little time to tell": {func(s *tale) { s.call(engine.Warn, "loop"); s.calls(50, 1) },
			[]Intervention{{"warn", "loop", Open, 1}}, nil},
		"found again, and nothing said": {func(s *tale) { s.call(engine.Warn, "loop"); found(s.call(engine.Allow), "loop"); s.calls(12, 10) },
			[]Intervention{{"warn", "loop", Returned, 1}}, nil},
		"found again after a while": {func(s *tale) {
			s.call(engine.Warn, "loop")
			s.calls(12, 10)
			s.call(engine.Warn, "loop")
			s.calls(12, 10)
		},
			[]Intervention{{"warn", "loop", Helped, 2}}, nil},
		"found after the same call": {func(s *tale) {
			call := s.call(engine.Warn, "loop").Call
			post := s.other(engine.KindPost, engine.PhasePost, engine.Warn)
			post.Call, post.Decision.Rules = call, []engine.RuleResult{{ID: "loop", Decision: engine.Warn}}
			s.calls(12, 10)
		}, []Intervention{{"warn", "loop", Helped, 1}}, nil},
		"a correction, then a reminder": {func(s *tale) {
			s.call(engine.Warn, "loop").Decision.Intervention = &engine.Intervention{Kind: engine.SoftCorrection, Issue: "loop"}
			s.call(engine.Warn, "loop").Decision.Intervention = &engine.Intervention{Kind: engine.ContextReinforcement, Issue: "loop"}
			s.calls(12, 10)
		},
			[]Intervention{{"context_reinforcement", "loop", Helped, 1}, {"soft_correction", "loop", Returned, 1}}, []Escalation{{"loop", 1}}},
		"a correction, then a kind of the organisation's own": {func(s *tale) {
			s.call(engine.Warn, "loop").Decision.Intervention = &engine.Intervention{Kind: engine.SoftCorrection, Issue: "loop"}
			s.call(engine.Warn, "loop").Decision.Intervention = &engine.Intervention{Kind: "page_oncall", Issue: "loop"}
			s.calls(12, 10)
		},
			[]Intervention{{"page_oncall", "loop", Helped, 1}, {"soft_correction", "loop", Returned, 1}}, nil},
		"limits, then a question, then a stop, by kinds of the organisation's own": {func(s *tale) {
			s.call(engine.Warn, "loop").Decision.Intervention = &engine.Intervention{Kind: "slow_down", Issue: "loop", Does: []string{engine.DoesRemind, engine.DoesLimit}}
			ask := s.call(engine.Ask, "loop")
			ask.Decision.Rules[0].Decision, ask.Decision.Intervention = engine.Warn, &engine.Intervention{Kind: "ask_us", Issue: "loop", Does: []string{engine.DoesWait}}
			last := s.call(engine.Block, "loop")
			last.Decision.Rules[0].Decision, last.Decision.Intervention = engine.Warn, &engine.Intervention{Kind: "halt", Issue: "loop", Does: []string{engine.DoesStop}}
			s.add(&engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.EmergencyStop, Of: last.ID()}})
		},
			[]Intervention{{"ask_us", "loop", Returned, 1}, {"halt", "loop", Open, 1}, {"slow_down", "loop", Returned, 1}}, []Escalation{{"loop", 2}}},
		"stricter, as it came back": {func(s *tale) {
			s.call(engine.Warn, "loop")
			s.call(engine.Ask, "loop")
			s.call(engine.Block, "loop")
			s.calls(12, 10)
		},
			[]Intervention{{"ask", "loop", Returned, 1}, {"block", "loop", Helped, 1}, {"warn", "loop", Returned, 1}}, []Escalation{{"loop", 2}}},
		"stricter some calls after it came back": {func(s *tale) {
			s.call(engine.Warn, "loop")
			found(s.call(engine.Allow), "loop")
			s.call(engine.Block, "loop")
		}, []Intervention{{"block", "loop", Open, 1}, {"warn", "loop", Returned, 1}}, []Escalation{{"loop", 1}}},
		"milder than before": {func(s *tale) { s.call(engine.Block, "loop"); s.call(engine.Warn, "loop") },
			[]Intervention{{"block", "loop", Returned, 1}, {"warn", "loop", Open, 1}}, nil},
		"another issue": {func(s *tale) { s.call(engine.Warn, "loop"); s.call(engine.Block, "workspace") },
			[]Intervention{{"warn", "loop", Open, 1}, {"block", "workspace", Open, 1}}, nil},
		"another agent": {func(s *tale) { s.call(engine.Warn, "loop"); s.call(engine.Block, "loop").Agent = "reader" },
			[]Intervention{{"block", "loop", Open, 1}, {"warn", "loop", Open, 1}}, nil},
		"an emergency stop of what came back": {func(s *tale) {
			s.call(engine.Block, "exfiltration")
			last := s.call(engine.Block, "exfiltration")
			s.add(&engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: "emergency_stop", Of: last.ID()}})
		}, []Intervention{{"block", "exfiltration", Returned, 1}, {"emergency_stop", "exfiltration", Open, 1}}, []Escalation{{"exfiltration", 1}}},
		"an act that nobody asked for": {func(s *tale) {
			s.add(&engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: "emergency_stop", Of: "cccccccc-99"}})
		}, []Intervention{{"emergency_stop", Other, Open, 1}}, nil},
		"scores alone, twice": {func(s *tale) { s.call(engine.Block); s.call(engine.Block) },
			[]Intervention{{"block", "scores", Open, 1}, {"block", "scores", Returned, 1}}, nil},
		"a rule that only warns next to one that blocks": {func(s *tale) {
			s.call(engine.Block, "softened", "firm").Decision.Rules[0].Enforcement = "warn"
		}, []Intervention{{"block", "firm", Open, 1}}, nil},
		"a rule that only observes next to one that warns": {func(s *tale) {
			r := s.call(engine.Block, "watched", "softened")
			r.Answer.Effect, r.Decision.Rules[0].Enforcement, r.Decision.Rules[1].Enforcement = engine.Warn, "observe", "warn"
		}, []Intervention{{"warn", "softened", Open, 1}}, nil},
		"nothing could be reviewed": {func(s *tale) { s.call(engine.Block).Answer.Mode = engine.ModeDegraded }, nil, nil},
	} {
		s := newTale()
		c.tell(s)
		d := told("", 0, s)
		if diff := cmp.Diff(append([]Intervention{}, c.want...), d.Interventions); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(append([]Escalation{}, c.escalations...), d.Escalations); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Sessions know nothing of each other.
func TestInterventionsEndWithTheSession(t *testing.T) {
	one, two := newTale(), newTale()
	one.call(engine.Warn, "loop")
	two.call(engine.Block, "loop")
	d := told("", 0, one, two)
	if diff := cmp.Diff([]Intervention{{"block", "loop", Open, 1}, {"warn", "loop", Open, 1}}, d.Interventions); diff != "" || len(d.Escalations) > 0 {
		t.Error(diff, d.Escalations)
	}
}

func TestQuestions(t *testing.T) {
	answer := func(s *tale, of *engine.Record, yes bool) {
		s.other(engine.KindPost, engine.PhasePost, engine.Allow).Answer.Approvals = []engine.Approval{{Of: of.ID(), Approved: yes}}
	}
	for name, c := range map[string]struct {
		tell func(s *tale)
		want Questions
	}{
		"none":     {func(s *tale) { s.call(engine.Block) }, Questions{}},
		"open":     {func(s *tale) { s.call(engine.Ask) }, Questions{Asked: 1, Open: 1}},
		"approved": {func(s *tale) { answer(s, s.call(engine.Ask), true) }, Questions{Asked: 1, Approved: 1, ApprovedShare: &Rate{1, 0.2065, 1}}},
		"refused":  {func(s *tale) { answer(s, s.call(engine.Ask), false) }, Questions{Asked: 1, Refused: 1, ApprovedShare: &Rate{0, 0, 0.7935}}},
		"refused, and ran": {func(s *tale) { q := s.call(engine.Ask); answer(s, q, false); answer(s, q, true); answer(s, q, true) },
			Questions{Asked: 1, Approved: 1, ApprovedShare: &Rate{1, 0.2065, 1}}},
		"an answer to nothing": {func(s *tale) { answer(s, &engine.Record{Chain: "dddddddd", N: 3}, true) }, Questions{}},
		"only watched":         {func(s *tale) { s.call(engine.Ask).Answer.Effect = engine.Allow }, Questions{}},
	} {
		s := newTale()
		c.tell(s)
		if d := cmp.Diff(c.want, told("", 0, s).Questions); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// Of very many questions the oldest keep the answer that they have.
func TestQuestionsAreBounded(t *testing.T) {
	s := newTale()
	first := s.call(engine.Ask)
	for range maxQuestions {
		s.call(engine.Ask)
	}
	s.other(engine.KindStop, engine.PhaseStop, engine.Allow).Answer.Approvals = []engine.Approval{{Of: first.ID(), Approved: true}}
	got := told("", 0, s).Questions
	if got.Asked != maxQuestions+1 || got.Open != maxQuestions+1 {
		t.Errorf("%+v", got)
	}
}

// The setting interventions.effectiveness says how soon an issue has returned.
func TestReturnsSoon(t *testing.T) {
	for soon, want := range map[Soon]Outcome{
		{10, 60}: Returned, {2, 60}: Returned, {10, 1}: Returned, {2, 10}: Helped,
	} {
		s := newTale()
		s.call(engine.Warn, "loop")
		s.calls(4, 10)
		s.call(engine.Warn, "loop")
		c, err := NewCollector(0, "", soon)
		if err != nil {
			t.Fatal(err)
		}
		c.Begin("s")
		for _, r := range s.records {
			c.Add(r)
		}
		c.End(false)
		list := c.Document().Interventions
		if !slices.ContainsFunc(list, func(i Intervention) bool { return i.Outcome == want }) {
			t.Errorf("%v: got %v, want %v", soon, list, want)
		}
	}
}
