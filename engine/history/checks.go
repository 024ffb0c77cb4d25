package history

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// foldCheck records that a check is run, or that its inputs are changed.
func (h *State) foldCheck(a *agentState, r *engine.Record) {
	if r.Action == nil {
		return
	}
	if r.Action.Check {
		a.ranCheck(r.Action)
		return
	}
	for i := range r.Action.Effects {
		if e := &r.Action.Effects[i]; e.Kind == engine.EffectFileWrite || e.Kind == engine.EffectFileDelete {
			p := h.path(truncateKey(e.Place()))
			a.changed(e, p != nil && p.known() && p.State == engine.LedgerCreated)
		}
	}
}

func (a *agentState) ranCheck(act *engine.Action) {
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

// forgetCheck forgets the oldest check whose inputs were not edited, so that
// others do not crowd out one with a history.
func (a *agentState) forgetCheck() {
	i := max(0, slices.IndexFunc(a.Checks, func(c checkRun) bool { return c.Times == [editKinds]int64{} && c.Edited == [editKinds]bool{} }))
	a.Checks = slices.Delete(a.Checks, i, i+1)
}

func (a *agentState) check(print string) *checkRun {
	for i := range a.Checks {
		if a.Checks[i].Print == print {
			return &a.Checks[i]
		}
	}
	return nil
}

// passed records that a check succeeded. Of several commands in a call, only
// the last one's failure is reported, if at all: then nothing is known.
func (a *agentState) passed(p *ringEntry, act *engine.Action) {
	if act == nil || !p.Check || p.Outcome != engine.OutcomeRan {
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

// again counts one more run of the check. A run after a change of the work itself does not
// cancel earlier ones.
func (c *checkRun) again() [editKinds]int64 {
	times := c.Times
	for kind, edited := range c.Edited {
		if edited && !c.Source {
			times[kind]++
		}
	}
	return times
}

// changed records a change of the inputs of each check. Which kinds of edits undermine a check is
// up to policy.
func (a *agentState) changed(e *engine.Effect, own bool) {
	for i := range a.Checks {
		if c := &a.Checks[i]; c.judgesBy(e) {
			c.Edited[c.kind(isTest(e), own)] = true
		}
	}
}

func isTest(e *engine.Effect) bool { return e.Class == engine.ClassTest || e.Class == engine.ClassCI }

// judgesBy reports whether an effect is on an input of the check.
func (c *checkRun) judgesBy(e *engine.Effect) bool {
	key := truncateKey(e.Place())
	return isTest(e) || key != "" && hasDigits(c.Reads, keyDigits(key))
}

// foldSources records that a call changed the work that checks are about, now that it ran.
func (h *State) foldSources(call *callEntry, act *engine.Action) {
	a := h.agent(call.Agent)
	if a == nil || act.Check {
		return
	}
	for i := range act.Effects {
		e := &act.Effects[i]
		if e.Kind != engine.EffectFileWrite && e.Kind != engine.EffectFileDelete || e.Class != "" ||
			e.Location != engine.LocationInside && e.Location != engine.LocationWorktree {
			continue
		}
		for k := range a.Checks {
			if c := &a.Checks[k]; !c.judgesBy(e) {
				c.Source = true
			}
		}
	}
}

// kind returns the kind of an edit: of tests, or of something else that the check
// judges by.
func (c *checkRun) kind(tests, own bool) int {
	switch {
	case own:
		return editOwn
	case tests && c.Passed:
		return editPassing
	}
	return editOther
}

// checks counts how often a check was run again after an edit of its inputs
// alone, this run included.
func (a *agentState) checks(act *engine.Action) engine.CheckFacts {
	c := a.check(boundKey(act.Fingerprint, digestLength))
	if !act.Check || c == nil {
		return engine.CheckFacts{}
	}
	times := c.again()
	return engine.CheckFacts{Edited: times[editOther], Passing: times[editPassing], Own: times[editOwn]}
}

// checkFailed reports whether the agent's latest check, of the actions that are
// kept, is known to have failed.
func (a *agentState) checkFailed() bool {
	for _, p := range slices.Backward(a.Ring) {
		if p.Check && p.ended() {
			return p.Outcome == engine.OutcomeFailed
		}
	}
	return false
}

// maxChanged bounds the files that are listed as changed and not checked.
const maxChanged = 8

// claimFacts compares what an agent's last message claims with what is known about
// the session; nil: it claims nothing.
func (h *State) claimFacts(agent *agentState, r *engine.Record) *engine.ClaimFacts {
	if r.Event == nil || r.Event.Says == nil {
		return nil
	}
	says := r.Event.Says
	f := &engine.ClaimFacts{Changed: agent.unchecked(), Runs: agent.runsSinceCheck(), Missing: h.untouched(says.Missing),
		Elsewhere: len(says.Symbols) > 0 && h.worksElsewhere()}
	if len(says.Commands) > 0 {
		f.Commands = h.untouched(says.Commands)
	}
	return f
}

// untouched lists the names of files to which the session did nothing. Lists of files
// contain nothing else.
func (h *State) untouched(names []string) []string {
	list := []string{}
	for _, name := range names {
		if !h.touched(name) {
			list = append(list, name)
		}
	}
	return list
}

// worksElsewhere reports whether the session changed files outside its workspace, other than
// temporary ones: what is missing in the workspace may be there.
func (h *State) worksElsewhere() bool {
	return slices.ContainsFunc(h.Paths, func(p pathEntry) bool {
		return p.Where != "" && p.Where != string(engine.LocationTemp) && !strings.HasPrefix(p.Key, "./")
	})
}

// touched reports whether the session did something to a file, in whichever
// folder the file is.
func (h *State) touched(name string) bool {
	key := truncateKey(name)
	return slices.ContainsFunc(h.Paths, func(p pathEntry) bool {
		return p.State != ledgerPending && (p.Key == key || namesPath(strings.TrimPrefix(name, "./"), p.Key))
	})
}

// unchecked lists the files of the workspace that the agent changed after the
// latest call that may have checked the work. Names that were cut short are left
// out: it is not known what kind of file they belong to.
func (a *agentState) unchecked() []string {
	list := []string{}
	for _, p := range slices.Backward(a.Ring) {
		if p.mayCheck() || len(list) == maxChanged {
			break
		}
		if _, cut := stemOf(p.Target); !cut && p.changesWork() && !slices.Contains(list, p.Target) {
			list = append(list, p.Target)
		}
	}
	return list
}

// runsSinceCheck counts the calls since the agent's latest check that may have
// checked the work as well.
func (a *agentState) runsSinceCheck() int64 {
	n := int64(0)
	for _, p := range slices.Backward(a.Ring) {
		if !p.ended() {
			continue
		}
		if p.Check {
			break
		}
		if p.mayCheck() {
			n++
		}
	}
	return n
}

// mayCheck reports whether an action may have checked the work: a check, or any action that
// runs something. Actions that only read, send messages or write a file's content do not check
// anything.
func (p *ringEntry) mayCheck() bool {
	if !p.ended() {
		return false
	}
	types := p.Types.list()
	return p.Check || p.Into == "" && p.Kind != engine.EffectFileRead && !slices.Contains(types, engine.TypeMessage) ||
		slices.ContainsFunc(types, func(t engine.Type) bool { return t == engine.TypeUnknown || t == engine.TypeAgentSpawn })
}

// changesWork reports whether an action writes the content of an ordinary file, or of a test,
// in the workspace.
func (p *ringEntry) changesWork() bool {
	where, class, _ := strings.Cut(p.Class, "/")
	return p.Into != "" && p.altered() && (class == "" || class == string(engine.ClassTest)) &&
		(where == string(engine.LocationInside) || where == string(engine.LocationWorktree))
}
