package engine

import "testing"

func TestStrictness(t *testing.T) {
	for i, v := range Verdicts() {
		if got := Verdict(v).Strictness(); got != i {
			t.Errorf("%s has strictness %d, want %d", v, got, i)
		}
	}
	for _, v := range []Verdict{"", "deny", "Allow"} {
		if v.Strictness() != Block.Strictness() {
			t.Errorf("%q is milder than block", v)
		}
	}
}

// What an organisation's own kind does counts as what the built-in kind does.
func TestOwnKinds(t *testing.T) {
	own := func(asks bool, does ...string) *Intervention {
		return &Intervention{Kind: "own", Checkpoint: "s-1", Asks: asks, Does: does}
	}
	for name, tt := range map[string]struct {
		enforced               Verdict
		i                      *Intervention
		stops, rolls, corrects bool
		offered                string
	}{
		"none":                           {Block, nil, false, false, false, ""},
		"a stop":                         {Block, own(false, DoesStop), true, false, false, ""},
		"a built-in stop":                {Block, &Intervention{Kind: EmergencyStop}, true, false, false, ""},
		"a stop that is not enforced":    {Warn, own(false, DoesStop), false, false, false, ""},
		"a denial by another":            {Block, own(false, DoesWait), false, false, false, ""},
		"a rollback":                     {Warn, own(false, DoesRestore), false, true, false, ""},
		"a rollback, and a stop to make": {Warn, own(true, DoesRestore), false, true, false, ""},
		"a rollback, or else a question": {Ask, own(false, DoesWait, DoesRestore), false, true, false, ""},
		"the same where nobody answers":  {Block, own(false, DoesWait, DoesRestore), false, true, false, ""},
		"a rollback to make":             {Warn, own(true), false, false, false, "s-1"},
		"a built-in one":                 {Warn, &Intervention{Kind: CheckpointRollback, Checkpoint: "s-1"}, false, true, false, ""},
		"a built-in one to make":         {Warn, &Intervention{Kind: CheckpointRollback, Checkpoint: "s-1", Asks: true}, false, false, false, "s-1"},
		"a rollback by who only watches": {Allow, own(false, DoesRestore), false, false, false, ""},
		"a reminder":                     {Warn, own(false, DoesRemind, DoesLimit), false, false, true, ""},
		"limits":                         {Warn, own(false, DoesLimit), false, false, false, ""},
	} {
		d := &Decision{Enforced: tt.enforced, Intervention: tt.i}
		if d.Stops() != tt.stops || d.RollsBack() != tt.rolls || d.corrects() != tt.corrects || tt.i.Offered() != tt.offered {
			t.Errorf("%s: stops %v, rolls back %v, corrects %v, offers %q", name, d.Stops(), d.RollsBack(), d.corrects(), tt.i.Offered())
		}
	}
}
