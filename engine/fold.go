package engine

import (
	"slices"
	"strings"
)

// Append folds one record into the history. Its cost does not grow with the
// length of the session. Order is the order of the log; a record's own time
// only moves the clock.
func (h *History) Append(r *Record) {
	switch r.Kind {
	case KindOpen:
		h.foldOpen(r)
	case KindPrompt:
		h.Prompts++
		h.FileOps = 0
		h.closeCalls("")
	case KindPre:
		h.foldPre(r)
	case KindPost:
		h.foldPost(r)
	case KindStop:
		h.closeCalls(agentOf(r))
	case KindControl:
		h.foldControl(r)
	case KindNote:
		if r.Phase == PhaseEnd {
			h.endAllowed()
		}
	case KindAct:
		h.foldAct(r)
	}
	h.N, h.T = r.N, max(h.T, r.T)
	h.bound()
}

// foldOpen takes over what a chain begins with. A ledger also holds the open
// and control records of other chains: they say nothing about itself.
func (h *History) foldOpen(r *Record) {
	if r.Open != nil && r.Open.Of != "" {
		return
	}
	h.Chain, h.Session, h.Harness, h.Started = r.Chain, r.Session, r.Harness, r.T
	if r.Open == nil {
		return
	}
	h.Workspace = r.Open.Workspace
	if r.Open.Env != nil {
		h.Env = r.Open.Env.Digest()
	}
}

func (h *History) foldControl(r *Record) {
	if r.Control == nil || r.Control.Of != "" {
		return
	}
	switch r.Control.Do {
	case ControlStop:
		h.Stop = &Stopped{N: r.N, Reason: clipJSON(r.Control.Reason, reasonLength), By: clipJSON(r.Control.By, keyLength)}
	case ControlResume:
		h.Stop = nil
		h.DeniedRow = 0
	case ControlAllowOnce, ControlAllowSession:
		h.foldAllow(r)
	}
}

// foldAct makes a stop that policy chose as sticky as one of a person.
func (h *History) foldAct(r *Record) {
	if r.Act != nil && r.Act.Kind == EmergencyStop && h.Stop == nil {
		h.Stop = &Stopped{N: r.N, Reason: clipJSON(r.Act.Result, reasonLength), By: "policy"}
	}
}

// The choices of a person that are recorded as control.
const (
	ControlStop         = "stop"
	ControlResume       = "resume"
	ControlAllowOnce    = "allow_once"    // this very call, one time
	ControlAllowSession = "allow_session" // this very call, until the session ends
)

func (h *History) foldPre(r *Record) {
	denied := answered(r).Strictness() == Block.Strictness()
	h.Actions++
	h.ByVerdict[string(answered(r))]++
	if r.Event != nil {
		count(h.ByTool, truncateKey(r.Event.Tool), maxTools)
	}
	a := h.touchAgent(agentOf(r))
	a.Events++
	p := newPast(r, denied)
	a.Ring = append(a.Ring, p)
	if len(a.Ring) > ringSize {
		a.Ring = a.Ring[1:]
	}
	if denied {
		h.foldDenial(r, p)
	} else {
		h.DeniedRow = 0
		h.spend(r)
		h.foldEffects(r)
	}
	h.foldCall(r, denied)
}

// answered is what the agent was told, which is what decides whether a call
// runs; a record without an answer (an imported one) counts as its decision.
func answered(r *Record) Verdict {
	if r.Answer != nil {
		return known(r.Answer.Effect)
	}
	if r.Decision != nil {
		return known(r.Decision.Enforced)
	}
	return Allow
}

// known turns a word that is no verdict into block, which it counts as.
func known(v Verdict) Verdict { return Verdict(Verdicts()[v.Strictness()]) }

func (h *History) foldDenial(r *Record, p past) {
	h.Denied++
	h.DeniedRow++
	d := denial{N: r.N, Print: p.Print, Target: p.Target}
	if r.Action != nil && len(r.Action.Effects) > 0 {
		d.Kind = boundKey(string(r.Action.Effects[0].Kind), digestLength)
	}
	h.Denials = keepLast(append(h.Denials, d), maxDenials)
}

func (h *History) foldCall(r *Record, denied bool) {
	if r.Call == "" {
		return
	}
	c := callEntry{ID: truncateKey(r.Call), Agent: agentOf(r), Pre: r.N, Enforced: answered(r), Outcome: OutcomePending}
	if denied {
		c.Outcome = OutcomeDenied
	} else {
		c.Creates = creates(r.acts())
	}
	if c.Enforced == Ask {
		h.Asked++
	}
	if r.Decision != nil {
		c.Decision = known(r.Decision.Decision)
	}
	c.Args = prefix(r.approved(), argsLength)
	h.Calls = append(h.Calls, c)
}

// foldEffects notes what an action does to paths. Whatever makes policy
// stricter counts at once, as if the call had run; what makes it milder
// (created, read) waits for the post record.
func (h *History) foldEffects(r *Record) {
	a := r.acts()
	if a == nil {
		return
	}
	for _, t := range a.Types {
		count(h.ByType, truncateKey(string(t)), maxTypes)
	}
	for i := range a.Effects {
		e := &a.Effects[i]
		h.foldLabel(r.N, e)
		switch {
		case e.Kind == EffectFileDelete:
			h.FileOps++
			h.mark(e.Place(), ledgerDeleted, r.N)
		case e.Kind == EffectFileWrite:
			h.FileOps++
			h.foldWrite(r.N, e)
		}
	}
}

func (h *History) foldWrite(n int64, e *Effect) {
	switch {
	case e.Verb == "move":
		h.mark(e.Place(), ledgerMoved, n)
	case e.Exists == "no":
		// waits for the post: foldPost marks it as created
	default:
		h.mark(e.Place(), ledgerWritten, n)
	}
}

func (h *History) foldLabel(n int64, e *Effect) {
	if e.Kind == EffectFileRead && (e.Class == ClassCredential || e.Class == ClassEnvFile) {
		if _, known := h.Labels[LabelSecretRead]; !known {
			h.Labels[LabelSecretRead] = n
		}
	}
}

// LabelSecretRead is earned by reading a credential or env file.
const LabelSecretRead = "secret_read"

// creates lists the paths that will exist only once the action ran.
func creates(a *Action) []string {
	var keys []string
	if a == nil {
		return nil
	}
	for _, e := range a.Effects {
		if e.Kind == EffectFileWrite && e.Exists == "no" && e.Certainty == CertaintyExact && e.Verb != "move" && len(keys) < maxCreates {
			keys = append(keys, truncateKey(e.Short))
		}
	}
	return keys
}

func (h *History) foldPost(r *Record) {
	outcome := outcomeOf(r)
	c := h.call(agentOf(r), r.Call)
	if c == nil {
		h.foldUnreviewed(r, outcome)
		return
	}
	created := c.Creates
	h.settle(c, outcome)
	c.Outcome, c.Post = outcome, r.N
	c.Decision, c.Enforced, c.Args, c.Creates = "", "", "", nil
	h.finishPast(c, r, outcome)
	if outcome != OutcomeRan {
		return
	}
	for _, key := range created {
		h.mark(key, ledgerCreated, r.N)
	}
	h.foldReads(r)
}

// outcomeOf is what a post record says of its call.
func outcomeOf(r *Record) Outcome {
	if res := resultOf(r); res != nil && slices.Contains(Outcomes(), string(res.Outcome)) {
		return res.Outcome
	}
	return OutcomeUnknown
}

// foldUnreviewed notes a call that was never asked about, so that a second
// hook's word about it is known as a duplicate.
func (h *History) foldUnreviewed(r *Record, o Outcome) {
	if r.Call != "" {
		c := callEntry{ID: truncateKey(r.Call), Agent: agentOf(r), Post: r.N, Outcome: o}
		h.Calls = append(h.Calls, c)
	}
}

func (h *History) foldReads(r *Record) {
	if r.Action == nil {
		return
	}
	for i := range r.Action.Effects {
		if e := &r.Action.Effects[i]; e.Kind == EffectFileRead && e.Certainty == CertaintyExact {
			h.mark(e.Short, ledgerRead, r.N)
		}
	}
}

// finishPast completes the ring's entry of a call.
func (h *History) finishPast(c *callEntry, r *Record, o Outcome) {
	a := h.agent(c.Agent)
	if a == nil {
		return
	}
	for i := len(a.Ring) - 1; i >= 0; i-- {
		p := &a.Ring[i]
		if p.N != c.Pre {
			continue
		}
		p.Outcome = o
		if res := resultOf(r); res != nil {
			p.Error = boundKey(res.Class, errorClassLen)
			if res.Content != nil {
				p.Result = prefix(res.Content.MAC, digestLength)
			}
		}
		if o == OutcomeRan {
			p.Sketch = ""
		}
		if p.Error != "" {
			count(a.Errors, p.Error, maxErrors)
		}
		return
	}
}

func resultOf(r *Record) *ResultFacts {
	if r.Event == nil {
		return nil
	}
	return r.Event.Result
}

// closeCalls marks the calls of an agent (all agents where name is empty) that
// nobody heard of again.
func (h *History) closeCalls(name string) {
	for i := range h.Calls {
		c := &h.Calls[i]
		if !c.closes(name) {
			continue
		}
		if c.Outcome = OutcomeUnknown; c.asked() {
			h.Refused++
		}
	}
}

// mark sets a path's state. A state that makes policy stricter is never
// replaced by a milder one.
func (h *History) mark(short, state string, n int64) {
	if short == "" {
		return
	}
	key := truncateKey(short)
	e := pathEntry{Key: key, State: state, N: n}
	if old := h.path(key); old != nil {
		e.Used = old.Used || state == ledgerRead
		if !replaces(old.State, state) {
			e.State, e.N = old.State, old.N
		}
		h.Paths = slices.DeleteFunc(h.Paths, func(p pathEntry) bool { return p.Key == key })
	}
	h.Paths = append(h.Paths, e)
}

// replaces says whether a path in state old becomes state new. Something that
// was moved into stays so; something created stays created however often it is
// read or written, until it is deleted.
func replaces(old, new string) bool {
	switch old {
	case ledgerMoved:
		return false
	case ledgerCreated:
		return new == ledgerMoved || new == ledgerDeleted
	case ledgerDeleted:
		return new != ledgerRead
	}
	return new != ledgerRead
}

// touchAgent returns the agent's history and makes it the most recent one.
func (h *History) touchAgent(name string) *agentHistory {
	i := slices.IndexFunc(h.Agents, func(a *agentHistory) bool { return a.Name == name })
	if i < 0 {
		a := &agentHistory{Name: name, Errors: map[string]int64{}}
		h.Agents = keepLast(append(h.Agents, a), maxAgents)
		return a
	}
	a := h.Agents[i]
	h.Agents = append(slices.Delete(h.Agents, i, i+1), a)
	return a
}

func newPast(r *Record, denied bool) past {
	p := past{N: r.N, T: r.T, Outcome: OutcomePending}
	if denied {
		p.Outcome = OutcomeDenied
	}
	if r.Action == nil {
		return p
	}
	p.Types = knownTypes(r.Action.Types)
	p.Print = boundKey(r.Action.Fingerprint, digestLength)
	p.Sketch = sketch(r.Action.Tokens)
	p.Target, p.Class = target(r.Action)
	p.Writes = slices.ContainsFunc(r.Action.Effects, func(e Effect) bool {
		return e.Kind == EffectFileWrite || e.Kind == EffectFileDelete
	})
	return p
}

// knownTypes turns a word that is no type into unknown.
func knownTypes(types []Type) []Type {
	known, all := slices.Clone(types[:min(len(types), len(Types()))]), Types()
	for i, t := range known {
		if !slices.Contains(all, string(t)) {
			known[i] = TypeUnknown
		}
	}
	return known
}

// target names what an action is mostly about, and its class.
func target(a *Action) (key, class string) {
	if len(a.Effects) == 0 {
		return "", ""
	}
	e := &a.Effects[0]
	if e.Kind == EffectNetwork {
		return truncateKey(e.Target), "host"
	}
	return truncateKey(e.Place()), truncateKey(string(e.Location) + "/" + string(e.Class))
}

// sketch keeps the first sketchSize tokens as 4 digits each.
func sketch(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens[:min(len(tokens), sketchSize)] {
		if len(t) >= 4 && plainASCII(t[:4]) {
			b.WriteString(t[:4])
		}
	}
	return b.String()
}
