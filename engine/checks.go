package engine

import (
	"slices"
)

// checkRun is a check that the agent ran, and what was done to it since.
type checkRun struct {
	Print  string `json:"f"`
	Reads  string `json:"r,omitempty"` // digests of the files that its call names, 8 digits each
	Passed bool   `json:"p,omitempty"` // it is known to have found nothing
	Edited bool   `json:"e,omitempty"` // what it judges by was changed since
	Source bool   `json:"s,omitempty"` // the work that it is about was changed since
	Times  int64  `json:"t,omitempty"` // it was run again after an edit of what it judges by alone
}

// foldCheck notes that a check is run, or that what one judges by is changed.
func (h *History) foldCheck(a *agentHistory, r *Record) {
	if r.Action == nil {
		return
	}
	if r.Action.Check {
		a.ranCheck(r.Action)
		return
	}
	for i := range r.Action.Effects {
		if e := &r.Action.Effects[i]; e.Kind == EffectFileWrite || e.Kind == EffectFileDelete {
			p := h.path(truncateKey(e.Place()))
			a.changed(e, p != nil && p.State == ledgerCreated)
		}
	}
}

func (a *agentHistory) ranCheck(act *Action) {
	run := checkRun{Print: boundKey(act.Fingerprint, digestLength), Reads: checkReads(act)}
	if old := a.check(run.Print); old != nil {
		run.Times = old.again()
	}
	a.Checks = slices.DeleteFunc(a.Checks, func(c checkRun) bool { return c.Print == run.Print })
	a.Checks = append(a.Checks, run)
	if len(a.Checks) > maxChecks {
		a.forgetCheck()
	}
}

// forgetCheck forgets the oldest check that nothing was done to, so that others
// do not crowd out one of which much is known.
func (a *agentHistory) forgetCheck() {
	i := max(0, slices.IndexFunc(a.Checks, func(c checkRun) bool { return c.Times == 0 && !c.Edited }))
	a.Checks = slices.Delete(a.Checks, i, i+1)
}

func (a *agentHistory) check(print string) *checkRun {
	for i := range a.Checks {
		if a.Checks[i].Print == print {
			return &a.Checks[i]
		}
	}
	return nil
}

// passed notes that a check found nothing. Of several commands in a call, only
// the last one's failure is reported, if at all: then nothing is known.
func (a *agentHistory) passed(p *past, act *Action) {
	if act == nil || !p.Check || p.Outcome != OutcomeRan {
		return
	}
	other := 0
	for i := range act.Commands {
		if act.Commands[i].Name != "cd" {
			other++
		}
	}
	if c := a.check(p.Print); c != nil && other <= 1 {
		c.Passed = true
	}
}

// again counts one more run of the check. An honest round, in which the work
// itself changed, does not take the others back.
func (c *checkRun) again() int64 {
	if c.Edited && !c.Source {
		return c.Times + 1
	}
	return c.Times
}

// changed notes a change for each check: of what it judges by, or of the work.
// What the session made itself is work, whoever judges it; and who changes tests
// while they pass (to begin with a test, for one) gains nothing by it.
func (a *agentHistory) changed(e *Effect, own bool) {
	key, tests := truncateKey(e.Place()), e.Class == ClassTest || e.Class == ClassCI
	for i := range a.Checks {
		c := &a.Checks[i]
		switch {
		case tests || c.reads(key):
			c.Edited = c.Edited || !own && !(tests && c.Passed)
		case e.Location == LocationInside && e.Class == "":
			c.Source = true
		}
	}
}

func (c *checkRun) reads(key string) bool { return key != "" && hasDigits(c.Reads, keyDigits(key)) }

// checkReads lists the files that a call names and reads; folders as a whole say
// nothing about what is a test and what is the work.
func checkReads(a *Action) string {
	row := ""
	for i := range a.Effects {
		e := &a.Effects[i]
		if e.Kind == EffectFileRead && e.Certainty == CertaintyExact && e.Entry == "file" {
			row = addDigits(row, []string{keyDigits(truncateKey(e.Place()))}, maxCheckReads)
		}
	}
	return row
}

// keyDigits is a digest of a key, as rows of digits hold it.
func keyDigits(key string) string { return hexSum([]byte(key))[:hashDigits] }

// checks says how often a check was run again after an edit of what it judges by
// alone, this run included.
func (a *agentHistory) checks(act *Action) int64 {
	if !act.Check {
		return 0
	}
	if c := a.check(boundKey(act.Fingerprint, digestLength)); c != nil {
		return c.again()
	}
	return 0
}
