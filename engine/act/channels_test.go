package act

import (
	"context"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

// offers returns the channels of an agent that offers some ways at all phases.
func offers(ways ...engine.Way) engine.Channels {
	c := engine.Channels{}
	for _, w := range ways {
		var phases []engine.Phase
		for _, p := range engine.Phases() {
			phases = append(phases, engine.Phase(p))
		}
		c = append(c, engine.Channel{Way: w, Support: engine.SupportEnforced, Phases: phases})
	}
	return c
}

// Each answer becomes the strongest one that the agent carries out, and the record says
// what the agent does not offer.
func TestChannels(t *testing.T) {
	stop := say(engine.Block)
	stop.Intervention = &engine.Intervention{Kind: engine.EmergencyStop, Reason: "a loop"}
	modify := say(engine.Modify)
	modify.Otherwise = &engine.Fallback{Effect: engine.Ask, Text: "instead: {why}"}
	all := engine.Ways()
	unmet := func(pairs ...engine.Way) []engine.Unmet {
		var list []engine.Unmet
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, engine.Unmet{Want: pairs[i], Used: pairs[i+1]})
		}
		return list
	}
	for name, c := range map[string]struct {
		channels engine.Channels
		decision engine.Decision
		phase    engine.Phase
		effect   engine.Verdict
		unmet    []engine.Unmet
	}{
		"everything is offered":       {offers(all...), say(engine.Ask), engine.PhasePre, engine.Ask, nil},
		"nobody knows the agent":      {nil, say(engine.Ask), engine.PhasePre, engine.Ask, nil},
		"allowed":                     {offers(), say(engine.Allow), engine.PhasePre, engine.Allow, nil},
		"no question":                 {offers(engine.WayDeny), say(engine.Ask), engine.PhasePre, engine.Block, unmet(engine.WayAsk, engine.WayDeny)},
		"no change, but a question":   {offers(engine.WayDeny, engine.WayAsk), modify, engine.PhasePre, engine.Ask, unmet(engine.WayModify, engine.WayAsk)},
		"neither":                     {offers(engine.WayDeny), modify, engine.PhasePre, engine.Block, unmet(engine.WayModify, engine.WayAsk, engine.WayAsk, engine.WayDeny)},
		"no denial":                   {offers(engine.WayContext), say(engine.Block), engine.PhasePre, engine.Block, unmet(engine.WayDeny, engine.WayContext)},
		"nothing at all":              {offers(), say(engine.Block), engine.PhasePre, engine.Block, unmet(engine.WayDeny, "")},
		"no text":                     {offers(engine.WayDeny), say(engine.Warn), engine.PhasePost, engine.Warn, unmet(engine.WayContext, "")},
		"a stop":                      {offers(all...), stop, engine.PhasePre, engine.Block, nil},
		"no stop, but a process":      {offers(engine.WayDeny, engine.WayKill), stop, engine.PhasePre, engine.Block, unmet(engine.WayStop, engine.WayKill)},
		"a stop is only a denial":     {offers(engine.WayDeny), stop, engine.PhasePre, engine.Block, unmet(engine.WayStop, engine.WayDeny)},
		"a notice to the person":      {offers(), say(engine.Warn), engine.PhaseStop, engine.Warn, nil},
		"a stop that nothing carries": {offers(), stop, engine.PhaseBatch, engine.Block, unmet(engine.WayStop, "")},
	} {
		l := newMemoryLog()
		r := newReviewer(l, always(c.decision))
		r.Agent.Channels = c.channels
		answer, err := r.Handle(context.Background(), event(c.phase, "c1"))
		if err != nil {
			t.Fatal(name, err)
		}
		rec := l.records[1]
		if answer.Effect != c.effect || rec.Answer.Effect != c.effect {
			t.Errorf("%s: answered %s, recorded %s, want %s", name, answer.Effect, rec.Answer.Effect, c.effect)
		}
		if d := cmp.Diff(c.unmet, rec.Answer.Unmet); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		denied := strings.Contains(answer.Text, "Nobody can be asked about a call in this agent")
		if want := c.effect == engine.Block && c.decision.Enforced != engine.Block; denied != want {
			t.Errorf("%s: the agent is told %q", name, answer.Text)
		}
	}
}
