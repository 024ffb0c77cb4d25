package simulate

import (
	"cmp"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// SessionDuty counts the decisions of a session that ask for the same thing besides their answer.
type SessionDuty struct {
	Session   string `json:"session"`
	What      string `json:"what"`           // limit, wait, restore or stop; offered: a person is asked to restore or to stop
	Kind      string `json:"kind,omitempty"` // of the intervention that asks for it; absent: a rule or the scores do
	Baseline  int64  `json:"baseline"`
	Candidate int64  `json:"candidate"`
}

// offered is what a decision asks for that leaves a rollback or a stop to a person.
const offered = "offered"

// Vocabulary lists the values that a field may have; nil: any.
func (SessionDuty) Vocabulary(field string) []string {
	if field == "what" {
		return []string{engine.DoesLimit, engine.DoesWait, engine.DoesRestore, engine.DoesStop, offered}
	}
	return nil
}

type dutyKey struct{ what, kind string }

// duty counts what both sides ask for.
func (t *sessionTally) duty(base, now sideAnswer) {
	for _, key := range base.duties() {
		t.dutyOf(key).Baseline++
	}
	for _, key := range now.duties() {
		t.dutyOf(key).Candidate++
	}
}

func (t *sessionTally) dutyOf(key dutyKey) *SessionDuty {
	d := t.duties[key]
	if d == nil {
		d = &SessionDuty{Session: t.change.Session, What: key.what, Kind: key.kind}
		t.duties[key] = d
	}
	return d
}

// duties lists what a side asks for. A session that is stopped already is not stopped again.
func (s sideAnswer) duties() []dutyKey {
	var list []dutyKey
	var made engine.Intervention
	if s.decision != nil && s.decision.Intervention != nil {
		made = *s.decision.Intervention
	}
	if s.verdict == engine.Ask {
		wait := dutyKey{what: engine.DoesWait}
		if slices.Contains(made.Does, engine.DoesWait) {
			wait.kind = made.Kind
		}
		list = append(list, wait)
	}
	if made.Issue == "" || s.verdict == engine.Allow {
		return list
	}
	for _, one := range []struct {
		what string
		is   bool
	}{
		{engine.DoesLimit, made.Factor > 0},
		{engine.DoesRestore, s.decision.RollsBack()},
		{engine.DoesStop, s.decision.Stops()},
		{offered, made.Asks},
	} {
		if one.is {
			list = append(list, dutyKey{one.what, made.Kind})
		}
	}
	return list
}

func (d *SessionDuty) plus(o SessionDuty) {
	d.Baseline, d.Candidate = d.Baseline+o.Baseline, d.Candidate+o.Candidate
}

func (d SessionDuty) compare(o SessionDuty) int {
	return cmp.Or(cmp.Compare(d.Session, o.Session), cmp.Compare(d.What, o.What), cmp.Compare(d.Kind, o.Kind))
}
