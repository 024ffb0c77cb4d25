package history

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// Append folds one record into the history. Its cost does not grow with the
// length of the session. Order is the order of the log; a record's own time
// only moves the clock.
//
// A choice that makes policy milder and is not signed by the person changes nothing.
func (h *State) Append(r *engine.Record) {
	if r.Control != nil && !h.accepts(r) {
		h.Unsigned++
		h.N, h.T = r.N, max(h.T, r.T)
		h.dropExpired()
		return
	}
	h.foldUsage(r)
	switch r.Kind {
	case engine.KindOpen:
		h.foldOpen(r)
	case engine.KindPrompt:
		h.foldPrompt(r)
	case engine.KindPre:
		h.foldPre(r)
	case engine.KindPost:
		h.foldPost(r)
	case engine.KindStop:
		h.closeCalls(agentOf(r))
		h.endTurn(r)
		h.foldInterventions(r)
	case engine.KindControl:
		h.foldControl(r)
	case engine.KindNote:
		h.foldNote(r)
	case engine.KindAct:
		h.foldAct(r)
	}
	h.foldQuestions(r)
	h.N, h.T = r.N, max(h.T, r.T)
	h.dropExpired()
	h.bound()
}

func (h *State) foldNote(r *engine.Record) {
	if r.Event != nil {
		h.forbid(r.Event.Goal)
		h.foldStanding(r.Event.Standing)
	}
	switch r.Phase {
	case engine.PhaseEnd:
		// Permissions for the session end with it: if it is resumed, the person is asked
		// again.
		h.Allowed = slices.DeleteFunc(h.Allowed, func(a allowance) bool { return !a.Once })
	case engine.PhaseBatch:
		h.endTurn(r)
	case engine.PhaseRequest:
		h.foldRequest(r)
	}
}

func (h *State) foldPrompt(r *engine.Record) {
	h.closeCalls("")
	h.Prompts++
	h.Before += h.FileOps
	h.FileOps = 0
	h.resetSpent()
	h.PromptAt, h.PromptN = h.Actions, r.N
	if r.Event != nil {
		h.foldGoal(r.Event.Goal)
	}
}

// foldOpen records the start of a chain. A ledger also contains the open and
// control records of other chains, which do not concern the ledger itself.
func (h *State) foldOpen(r *engine.Record) {
	if r.Open != nil && r.Open.Of != "" {
		return
	}
	h.Chain, h.Session, h.Harness, h.Started = r.Chain, r.Session, r.Harness, r.T
	if r.Open == nil {
		return
	}
	h.Workspace = r.Open.Workspace
	if r.Open.Client != nil {
		h.Client = boundClient(*r.Open.Client)
	}
	if r.Open.Env != nil {
		h.Env = r.Open.Env.Digest()
	}
}

func (h *State) foldControl(r *engine.Record) {
	if r.Control == nil || r.Control.Of != "" {
		return
	}
	switch r.Control.Do {
	case engine.ControlKey:
		h.foldKey(r.Control.Key)
	case engine.ControlExpire:
		h.expire(r.Control.Mode)
		if r.Control.Client != nil {
			h.Client = boundClient(*r.Control.Client)
		}
	case engine.ControlUsed:
		h.foldUsed(r.Control.Record)
	case engine.ControlStop, engine.ControlAbort:
		if h.Stop == nil || !h.Stop.Final {
			h.Stop = &Stopped{N: r.N, T: max(h.T, r.T), Reason: engine.ClipJSON(r.Control.Reason, reasonLength),
				By: engine.ClipJSON(r.Control.By, keyLength), Final: r.Control.Do == engine.ControlAbort,
				Anyone: !r.SignedBy(h.Person)}
		}
	case engine.ControlResume:
		h.resume(r.Control.Mode)
	case engine.ControlRestore:
		h.Restored = true
	case engine.ControlAllowOnce, engine.ControlAllowSession:
		h.foldAllow(r)
	case engine.ControlLift:
		if r.Control.Statement != nil {
			h.Goals.drop(*r.Control.Statement)
		}
	case engine.ControlScope:
		h.Goals.addScope(r.Control.Path)
	case engine.ControlUnscope:
		path := r.Control.Path
		h.Goals.Scope = slices.DeleteFunc(h.Goals.Scope, func(p string) bool { return p == path || p == truncateKey(path) })
	}
}

// resume ends a stop, under a person's conditions. An aborted session stays stopped, and an
// unknown condition counts as the strictest.
func (h *State) resume(mode string) {
	if h.Stop != nil && h.Stop.Final {
		return
	}
	if mode != "" && mode != engine.ResumeLimits {
		mode = engine.ResumeSupervise
	}
	if h.Stop != nil {
		h.Stop, h.DeniedRow = nil, 0
	}
	h.Resumed = mode
}

// foldAct makes a stop that came from another session as persistent as one by a person,
// and records checkpoints, rollbacks and what was taken from other sessions.
func (h *State) foldAct(r *engine.Record) {
	switch {
	case r.Act == nil:
	case r.Act.Kind == engine.EmergencyStop:
		h.stop(r, r.Act.Result)
		if r.Act.Taken != nil {
			h.foldTaken(r)
		}
	case r.Act.Kind == engine.ActTaken && r.Act.Taken != nil:
		h.foldTaken(r)
	case r.Act.Kind == engine.ActCheckpoint && r.Act.Checkpoint != nil:
		h.foldCheckpoint(r)
	case r.Act.Kind == engine.CheckpointRollback && r.Act.Rollback != nil:
		h.foldRolledBack(r)
	case r.Act.Kind == engine.ActLateReview && r.Act.Late != nil:
		h.foldLate(r)
	}
}

// foldStop does the same for a stop that policy chose: from its decision on, whether or
// not the record that it was carried out could still be written.
func (h *State) foldStop(r *engine.Record) {
	if r.Decision != nil && r.Decision.Stops() && h.Stop == nil {
		h.stop(r, r.Decision.Intervention.Reason)
		h.Stop.Rule, h.Stop.Harm = truncateKey(r.Decision.Intervention.Issue), boundKey(harmOf(r), digestLength)
	}
}

func (h *State) stop(r *engine.Record, reason string) {
	if h.Stop == nil {
		h.Stop = &Stopped{N: r.N, T: max(h.T, r.T), Reason: engine.ClipJSON(reason, reasonLength), By: "policy"}
	}
}

func (h *State) foldPre(r *engine.Record) {
	denied := answered(r).Strictness() == engine.Block.Strictness()
	h.Actions++
	h.Restored = h.Restored && h.Stop != nil // one call reports it, after the session was resumed
	h.foldEarly(r)
	h.ByVerdict[string(answered(r))]++
	if r.Event != nil {
		count(h.ByTool, truncateKey(r.Event.Tool), maxTools)
	}
	a := h.touchAgent(agentOf(r))
	a.Events++
	a.At = h.Actions
	p := h.newPast(r, denied)
	p.Alters = a.alters(&p, r.Action)
	a.Ring = append(a.Ring, p)
	if len(a.Ring) > ringSize {
		a.Ring = a.Ring[1:]
	}
	h.foldFindings(r)
	h.foldInterventions(r)
	h.foldStop(r)
	h.foldRollback(r)
	if denied {
		h.Denied++
		h.DeniedRow++
		h.DeniedAt = h.Actions
		h.countHarm(harmOf(r))
		h.deny(r.N, r.Action, harmOf(r))
	} else {
		h.DeniedRow = 0
		a.Turn++
		if r.Decision != nil {
			h.Goals.use(r.Decision.Uses, r.N)
		}
		h.useAllowance(r)
		h.foldCheck(a, r)
		h.foldTerminals(r)
		h.foldEffects(r)
	}
	h.foldAsk(r, denied)
	h.foldCall(r, denied)
}

// foldTerminals records the lines that a call leaves in terminals. Until its result shows that it
// ran, what it ended or removed there may still be there.
func (h *State) foldTerminals(r *engine.Record) {
	a := r.ExecutedAction()
	if a == nil || a.Terminals == nil {
		return
	}
	before := h.Terminals
	h.Terminals, h.Typing = before.Or(a.Terminals), nil
	if !h.Terminals.Equal(a.Terminals) && terminalsSize(a.Terminals) <= typingBytes {
		h.Typing = &typing{Pre: r.N, After: a.Terminals}
	}
}

// foldTyped records the lines in terminals now that a call ran, if it was the latest there.
func (h *State) foldTyped(c *callEntry) {
	if h.Typing != nil && h.Typing.Pre == c.Pre {
		h.Terminals, h.Typing = h.Typing.After, nil
	}
}

func (h *State) foldCall(r *engine.Record, denied bool) {
	if r.Call == "" {
		return
	}
	c := callEntry{ID: truncateKey(r.Call), Agent: agentOf(r), Pre: r.N, Enforced: answered(r), Outcome: engine.OutcomePending}
	if denied {
		c.Outcome = engine.OutcomeDenied
	}
	c.Changes, c.Trees = changes(r.ExecutedAction()), madeTrees(r.ExecutedAction())
	if c.Enforced == engine.Ask {
		h.Asked++
		h.asks(&c, r)
	}
	if r.Decision != nil {
		c.Decision = knownVerdict(r.Decision.Decision)
	}
	c.Args = prefix(r.ApprovedArgs(), argsLength)
	h.Calls = append(h.Calls, c)
}

// foldEffects records what an action does. Whatever makes policy stricter counts at once, as if
// the call had run. What makes it milder counts only once a result shows that it ran: see
// foldRan. A call that was asked about and refused has no result.
func (h *State) foldEffects(r *engine.Record) {
	a := r.ExecutedAction()
	if a == nil {
		return
	}
	for _, t := range a.Types {
		count(h.ByType, truncateKey(string(t)), maxTypes)
	}
	for i := range a.Effects {
		e := &a.Effects[i]
		switch {
		case e.Kind == engine.EffectFileDelete:
			h.FileOps++
			h.foldDelete(r.N, e)
		case e.Kind == engine.EffectFileWrite:
			h.FileOps++
			h.foldWrite(r.N, e)
		}
	}
	h.foldPlan(a.Plan)
	h.followDenied(r.N, a)
	h.foldCode(r, a)
	h.foldRemotes(a)
	h.foldFlow(r, a)
	h.foldOwn(a)
	h.foldUse(a)
}

func (h *State) foldPost(r *engine.Record) {
	outcome := outcomeOf(r)
	h.Busy = addUse(h.Busy, busy(r))
	c := h.call(agentOf(r), r.Call)
	if c == nil {
		h.foldUnreviewed(r, outcome)
		return
	}
	h.foldChoice(r, outcome == engine.OutcomeRan)
	h.foldOutcome(c, r, outcome)
	h.countCheckpoint(r.T, outcome)
	news := outcome == engine.OutcomeRan && h.foldRan(c, r)
	h.Goals.settle(c.Pre, outcome == engine.OutcomeRan || outcome == engine.OutcomeUnknown)
	c.Outcome, c.Post = outcome, r.N
	c.Decision, c.Enforced, c.Args, c.Changes, c.Trees, c.Form, c.Mode = "", "", "", nil, nil, "", ""
	h.finishPast(c, r, news)
	h.foldFindings(r)
	h.foldInterventions(r)
	h.foldStop(r)
	h.foldRollback(r)
	if outcome != engine.OutcomeDenied {
		h.foldStarted(r)
		res := resultOf(r)
		h.foldMade(r.Action, outcome == engine.OutcomeRan && res != nil && !res.Interrupted && res.Trouble == "")
	}
	h.foldOutput(r, outcome)
	h.foldSpent(resultOf(r))
}

// foldOutcome records a person's answer to a call, as far as its outcome shows it:
// a call that was assumed to be refused and ran was not refused, and one that was
// allowed and did not run was refused elsewhere. A denied call that ran anyway was
// allowed by someone: its effects count from now on, and are no longer denied. A
// failure shows nothing: clients report a denial as a failure.
func (h *State) foldOutcome(c *callEntry, r *engine.Record, o engine.Outcome) {
	h.answerForm(c, o, max(h.T, r.T))
	if h.settle(c, o) && (o == engine.OutcomeRan || c.Agreed) {
		h.approve(r.ExecutedAction(), o)
		h.agreeCode(r.ExecutedAction())
	}
	switch {
	case o == engine.OutcomeDenied && c.Outcome == engine.OutcomePending:
		h.refuse(c, true)
	case o == engine.OutcomeRan && c.Outcome == engine.OutcomeUnknown:
		h.forgetDenial(c.Pre)
	case o == engine.OutcomeRan && c.Outcome == engine.OutcomeDenied && c.Pre > 0 && c.Post == 0:
		h.forgetDenial(c.Pre)
		if a := h.agent(c.Agent); a != nil {
			h.foldCheck(a, r)
		}
		h.foldEffects(r)
	}
}

func (h *State) forgetDenial(pre int64) {
	h.Denials = slices.DeleteFunc(h.Denials, func(d denial) bool { return d.N == pre })
}

// foldRan records what makes policy milder, now that a call ran: what the session did to paths and
// in terminals, hosts that it reached, objections that no longer apply. It reports whether any of
// the paths were new.
func (h *State) foldRan(c *callEntry, r *engine.Record) bool {
	before, made := len(h.Paths), false
	for _, ch := range c.Changes {
		h.mark(ch.Key, ch.State, r.N)
		made = made || ch.State == engine.LedgerCreated
	}
	for _, key := range c.Trees {
		h.addTree(key)
	}
	h.foldTyped(c)
	h.foldTold(c)
	h.dropCode(c.Pre, r.Action)
	h.foldReads(r)
	if a := r.Action; a != nil {
		h.foldSources(c, a)
		h.foldAsked(a)
		h.dropRemotes(a)
		h.Hosts = addDigits(h.Hosts, hostDigits(a), maxHosts)
	}
	return len(h.Paths) > before || made
}

// foldUnreviewed records a call that was never reviewed, so that a second
// hook's report of it is recognised as a duplicate.
func (h *State) foldUnreviewed(r *engine.Record, o engine.Outcome) {
	if r.Call != "" {
		c := callEntry{ID: truncateKey(r.Call), Agent: agentOf(r), Post: r.N, Outcome: o}
		h.Calls = append(h.Calls, c)
	}
	h.foldOutput(r, o)
}

// finishPast completes the ring's entry of a call that is over. news records that the call
// found a path; a result or a content that the ring does not contain is news too.
func (h *State) finishPast(c *callEntry, r *engine.Record, news bool) {
	a := h.agent(c.Agent)
	if a == nil {
		return
	}
	p := a.pastOf(c.Pre)
	if p == nil {
		return
	}
	p.Outcome = c.Outcome
	if res := resultOf(r); res != nil {
		p.Error, p.Trouble = boundKey(res.Class, errorClassLen), knownTrouble(res.Trouble)
		if res.Content != nil {
			p.Result = prefix(res.Content.MAC, digestLength)
		}
	}
	p.News = news || a.newResult(p) || a.newContent(p)
	if p.Outcome == engine.OutcomeRan {
		p.Sketch = ""
	}
	a.passed(p, r.Action)
	if p.Error != "" {
		p.Report, p.Turn = r.N, a.turn()
		count(a.Errors, p.Error, maxErrors)
	}
}

// pastOf returns the action of a pre record, nil where it was forgotten.
func (a *agentState) pastOf(pre int64) *ringEntry {
	for i := len(a.Ring) - 1; i >= 0; i-- {
		if a.Ring[i].N == pre {
			return &a.Ring[i]
		}
	}
	return nil
}

// newResult reports whether no other action of the ring had the same result.
func (a *agentState) newResult(p *ringEntry) bool {
	return p.Result != "" && !slices.ContainsFunc(a.Ring, func(o ringEntry) bool { return o.N != p.N && o.Result == p.Result })
}

// newContent reports whether no other action of the ring gave its target such
// content.
func (a *agentState) newContent(p *ringEntry) bool {
	return p.Into != "" && p.Outcome == engine.OutcomeRan && !slices.ContainsFunc(a.Ring, func(o ringEntry) bool {
		return o.N != p.N && o.Target == p.Target && o.Into == p.Into
	})
}

// Bounds of the findings that are remembered: how often the session had them, and when each
// agent had, over all agents. A finding that is forgotten counts as new again.
const (
	maxFired   = 24
	totalFired = 32
)

// foldFindings notes which findings with a level an event had, and whether the agent got the
// message of a rule of that id. A question counts as told when its call has run: see foldTold.
func (h *State) foldFindings(r *engine.Record) {
	a := h.agent(agentOf(r))
	for _, f := range r.Findings {
		if f.Level == "" {
			continue
		}
		id := truncateKey(f.ID)
		count(h.Fired, id, maxFired)
		if a == nil {
			continue
		}
		if a.Fired == nil {
			a.Fired = map[string]findingEntry{}
		}
		level := boundKey(f.Level, digestLength)
		entry := findingEntry{At: a.Events, Level: level, Told: a.Fired[id].Told, ToldLevel: a.Fired[id].ToldLevel}
		switch d := r.Decision; {
		case d == nil || !slices.Contains(d.MessageRuleIDs(), f.ID):
		case answered(r) == engine.Ask:
			entry.Asked = r.N
		default:
			entry.Told, entry.ToldLevel = a.Events, level
		}
		a.Fired[id] = entry
	}
}

// foldTold records that a person let a call run that they were asked about because of a finding.
func (h *State) foldTold(c *callEntry) {
	a := h.agent(c.Agent)
	if a == nil || c.Pre == 0 {
		return
	}
	for id, f := range a.Fired {
		if f.Asked == c.Pre {
			f.Told, f.ToldLevel, f.Asked = a.Events, f.Level, 0
			a.Fired[id] = f
		}
	}
}

// longestAgo names the finding that the agent had longest ago.
func (a *agentState) longestAgo() string {
	oldest, found := "", false
	for id, f := range a.Fired {
		if o := a.Fired[oldest]; !found || f.At < o.At || f.At == o.At && id < oldest {
			oldest, found = id, true
		}
	}
	return oldest
}

// closeCalls closes the calls of an agent (all agents if name is empty) whose
// result was never reported.
func (h *State) closeCalls(name string) {
	for i := range h.Calls {
		c := &h.Calls[i]
		if !c.closes(name) {
			continue
		}
		h.answerForm(c, engine.OutcomeUnknown, h.T)
		if c.Outcome = engine.OutcomeUnknown; c.asked() {
			h.Refused++
			h.refuse(c, true)
		}
		if a := h.agent(c.Agent); a != nil {
			if p := a.pastOf(c.Pre); p != nil {
				p.Outcome = engine.OutcomeUnknown // no result will be reported
			}
		}
	}
}

// touchAgent returns the agent's history and makes it the most recent one.
func (h *State) touchAgent(name string) *agentState {
	a := &agentState{Name: name, Errors: map[string]int64{}}
	i := slices.IndexFunc(h.Agents, func(o *agentState) bool { return o.Name == name })
	if i >= 0 {
		a = h.Agents[i]
	} else if len(h.Agents) >= maxAgents {
		i = h.leastAgent()
	}
	if i >= 0 {
		h.Agents = slices.Delete(h.Agents, i, i+1)
	}
	h.Agents = append(h.Agents, a)
	return a
}

// leastAgent returns the index of the agent that is dropped for another one: the one idle
// longest, if it was idle for agentRest actions, else the one with the fewest actions; among
// equals the newest. See State.
func (h *State) leastAgent() int {
	least := -1
	for i, a := range h.Agents {
		switch {
		case a.Name == engine.MainAgent:
		case h.Actions-a.At > agentRest:
			return i
		case least < 0 || a.Events <= h.Agents[least].Events:
			least = i
		}
	}
	return least
}

func (h *State) newPast(r *engine.Record, denied bool) ringEntry {
	p := ringEntry{N: r.N, T: r.T, Outcome: engine.OutcomePending}
	if denied {
		p.Outcome = engine.OutcomeDenied
	}
	if r.Event != nil {
		p.Tool = boundKey(r.Event.Tool, toolLength)
	}
	if r.Action == nil {
		return p
	}
	p.Types = typesOf(r.Action.Types)
	p.Print = boundKey(r.Action.Fingerprint, digestLength)
	p.Sketch = sketch(r.Action.Tokens)
	p.Target, p.Class = target(r.Action)
	p.Deed = actionDigest(r.Action)
	if len(r.Action.Effects) > 0 {
		e := &r.Action.Effects[0]
		p.Kind, p.Verb = engine.EffectKind(boundKey(string(e.Kind), digestLength)), actOf(e)
	}
	p.Dir, p.Check, p.Waits = folder(r.Action), r.Action.Check, r.Action.Waits
	p.Runs = len(r.Action.Commands) > 0
	p.Rank = rank(r.Action)
	p.Missing = h.missing(r.Action)
	p.From, p.Into = turns(r.Action)
	h.compareGoal(&p, r.Action)
	return p
}

// compareGoal records how an action relates to what people asked for.
func (h *State) compareGoal(p *ringEntry, a *engine.Action) {
	if p.Goal = h.Goals.known(); !p.Goal {
		return
	}
	p.Named = slices.ContainsFunc(a.Effects, func(e engine.Effect) bool { return h.Goals.named(&e) })
	if n := len(a.Words); n > 0 {
		p.Words = int64(100 * shared(a.Words, h.Goals.Words) / n)
	}
}
