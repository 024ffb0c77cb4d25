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
		h.foldPrompt(r)
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

func (h *History) foldPrompt(r *Record) {
	h.closeCalls("")
	h.Prompts++
	h.FileOps = 0
	h.PromptAt, h.PromptN = h.Actions, r.N
	if r.Event != nil {
		h.foldGoal(r.Event.Goal)
	}
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
	case ControlScope:
		h.Goals.addScope(r.Control.Path)
	case ControlUnscope:
		h.Goals.dropScope(r.Control.Path)
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
	ControlScope        = "scope"         // a path belongs to what the session is about
	ControlUnscope      = "unscope"       // it does no longer
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
	a.At = h.Actions
	p := h.newPast(r, denied)
	p.Alters = a.alters(&p, r.Action)
	a.Ring = append(a.Ring, p)
	if len(a.Ring) > ringSize {
		a.Ring = a.Ring[1:]
	}
	h.foldFindings(r)
	if denied {
		h.foldDenial(r)
	} else {
		h.DeniedRow = 0
		h.spend(r)
		h.foldCheck(a, r)
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

func (h *History) foldDenial(r *Record) {
	h.Denied++
	h.DeniedRow++
	h.deny(r.N, r.Action)
}

func (h *History) foldCall(r *Record, denied bool) {
	if r.Call == "" {
		return
	}
	c := callEntry{ID: truncateKey(r.Call), Agent: agentOf(r), Pre: r.N, Enforced: answered(r), Outcome: OutcomePending}
	if denied {
		c.Outcome = OutcomeDenied
	}
	c.Creates = creates(r.acts())
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
		switch {
		case e.Kind == EffectFileDelete:
			h.FileOps++
			h.foldDelete(r.N, e)
		case e.Kind == EffectFileWrite:
			h.FileOps++
			h.foldWrite(r.N, e)
		}
	}
	h.foldFlow(r, a)
	h.foldHosts(a)
	h.foldUse(a)
}

func (h *History) foldDelete(n int64, e *Effect) {
	if p := h.path(truncateKey(e.Place())); p == nil || p.State != ledgerCreated {
		h.Deleted++
	}
	h.mark(e.Place(), ledgerDeleted, n)
	h.place(e)
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
	h.place(e)
}

// place notes where a path lies that is written or deleted.
func (h *History) place(e *Effect) {
	key := truncateKey(e.Place())
	if key == "" {
		return
	}
	if h.path(key) == nil {
		h.Paths = append(h.Paths, pathEntry{Key: key, State: ledgerPending, N: h.N + 1})
	}
	p := h.path(key)
	if p.Where = boundKey(string(e.Location), digestLength); h.Goals.named(e) {
		p.Where = whereNamed
	}
}

// whereNamed is the place of what a person named, wherever it lies.
const whereNamed = "named"

// creates lists the paths that will exist only once the action ran.
func creates(a *Action) []string {
	var keys []string
	if a == nil {
		return nil
	}
	for _, e := range a.Effects {
		if e.Kind == EffectFileWrite && e.Exists == "no" && e.Certainty == CertaintyExact && e.Verb != "move" && len(keys) < maxCreates {
			keys = append(keys, truncateKey(e.Place()))
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
	h.foldFate(c, r, outcome)
	news := outcome == OutcomeRan && h.foldRan(c, r)
	c.Outcome, c.Post = outcome, r.N
	c.Decision, c.Enforced, c.Args, c.Creates = "", "", "", nil
	h.finishPast(c, r, news)
	h.foldFindings(r)
	h.foldOutput(r, outcome)
	h.foldSpent(resultOf(r))
}

// foldFate notes what a person said to a call, as far as its outcome tells: one
// that was taken for refused and ran was not, and one that was let through and did
// not run was refused elsewhere. A denied call that ran all the same was let
// through by somebody: what it does counts from now on, and is no longer to be
// worked around. That one failed shows nothing: clients call a denial a failure.
func (h *History) foldFate(c *callEntry, r *Record, o Outcome) {
	h.settle(c, o)
	switch {
	case o == OutcomeDenied && c.Outcome == OutcomePending:
		h.refuse(c)
	case o != OutcomeDenied && c.Outcome == OutcomeUnknown:
		h.forgetDenial(c.Pre)
	case o == OutcomeRan && c.Outcome == OutcomeDenied && c.Pre > 0 && c.Post == 0:
		h.forgetDenial(c.Pre)
		if a := h.agent(c.Agent); a != nil {
			h.foldCheck(a, r)
		}
		h.foldEffects(r)
	}
}

func (h *History) forgetDenial(pre int64) {
	h.Denials = slices.DeleteFunc(h.Denials, func(d denial) bool { return d.N == pre })
}

// foldRan notes the paths that exist, and that were read, now that a call ran.
// It says whether there are any that were not known.
func (h *History) foldRan(c *callEntry, r *Record) bool {
	before := len(h.Paths)
	for _, key := range c.Creates {
		h.mark(key, ledgerCreated, r.N)
	}
	h.foldReads(r)
	return len(h.Paths) > before || len(c.Creates) > 0
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
	h.foldOutput(r, o)
}

func (h *History) foldReads(r *Record) {
	if r.Action == nil {
		return
	}
	for i := range r.Action.Effects {
		if e := &r.Action.Effects[i]; e.Kind == EffectFileRead && e.Certainty == CertaintyExact {
			h.mark(e.Place(), ledgerRead, r.N)
		}
	}
}

// finishPast completes the ring's entry of a call that is over. News says that
// it found a path; a result or a content that the ring does not hold is news too.
func (h *History) finishPast(c *callEntry, r *Record, news bool) {
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
	if p.Outcome == OutcomeRan {
		p.Sketch = ""
	}
	a.passed(p, r.Action)
	if p.Error != "" {
		count(a.Errors, p.Error, maxErrors)
	}
}

// pastOf returns the action of a pre record, nil where it was forgotten.
func (a *agentHistory) pastOf(pre int64) *past {
	for i := len(a.Ring) - 1; i >= 0; i-- {
		if a.Ring[i].N == pre {
			return &a.Ring[i]
		}
	}
	return nil
}

// newResult says that no other action of the ring had the same result.
func (a *agentHistory) newResult(p *past) bool {
	return p.Result != "" && !slices.ContainsFunc(a.Ring, func(o past) bool { return o.N != p.N && o.Result == p.Result })
}

// newContent says that no other action of the ring gave its target such content.
func (a *agentHistory) newContent(p *past) bool {
	return p.Into != "" && p.Outcome == OutcomeRan && !slices.ContainsFunc(a.Ring, func(o past) bool {
		return o.N != p.N && o.Target == p.Target && o.Into == p.Into
	})
}

func knownTrouble(t Trouble) Trouble {
	if slices.Contains(Troubles(), string(t)) {
		return t
	}
	return ""
}

// Bounds of the findings that are remembered: how often the session had them,
// and when each agent had, over all agents. One that is forgotten is new again.
const (
	maxFired   = 24
	totalFired = 32
)

// foldFindings notes which findings with a level an event had, and whether a rule
// of that id spoke.
func (h *History) foldFindings(r *Record) {
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
			a.Fired = map[string]firedEntry{}
		}
		level := boundKey(f.Level, digestLength)
		entry := firedEntry{a.Events, level, a.Fired[id].Told, a.Fired[id].ToldLevel}
		if d := r.Decision; d != nil && slices.Contains(d.RuleIDs(), f.ID) {
			entry.Told, entry.ToldLevel = a.Events, level
		}
		a.Fired[id] = entry
	}
}

// longestAgo names the finding that the agent had longest ago.
func (a *agentHistory) longestAgo() string {
	oldest, found := "", false
	for id, f := range a.Fired {
		if o := a.Fired[oldest]; !found || f.At < o.At || f.At == o.At && id < oldest {
			oldest, found = id, true
		}
	}
	return oldest
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
			h.refuse(c)
		}
		if a := h.agent(c.Agent); a != nil {
			a.lose(c.Pre)
		}
	}
}

// lose notes that nothing will be heard of a call.
func (a *agentHistory) lose(pre int64) {
	if p := a.pastOf(pre); p != nil {
		p.Outcome = OutcomeUnknown
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
		e.Used, e.Where, e.Labels, e.Apart = old.Used || state == ledgerRead, old.Where, old.Labels, old.Apart
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
	case ledgerPending:
		return true
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
	a := &agentHistory{Name: name, Errors: map[string]int64{}}
	i := slices.IndexFunc(h.Agents, func(o *agentHistory) bool { return o.Name == name })
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

// leastAgent returns the index of the agent that makes room for another one: the
// one longest silent, if it is at rest, else the one that did least, of equals the
// newest. See History.
func (h *History) leastAgent() int {
	least := -1
	for i, a := range h.Agents {
		switch {
		case a.Name == MainAgent:
		case h.Actions-a.At > agentRest:
			return i
		case least < 0 || a.Events <= h.Agents[least].Events:
			least = i
		}
	}
	return least
}

func (h *History) newPast(r *Record, denied bool) past {
	p := past{N: r.N, T: r.T, Outcome: OutcomePending}
	if denied {
		p.Outcome = OutcomeDenied
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
	if len(r.Action.Effects) > 0 {
		e := &r.Action.Effects[0]
		p.Kind, p.Verb = EffectKind(boundKey(string(e.Kind), digestLength)), e.act()
	}
	p.Dir, p.Check, p.Waits = folder(r.Action), r.Action.Check, r.Action.Waits
	p.Rank = rank(r.Action)
	p.Missing = h.missing(r.Action)
	p.From, p.Into = turns(r.Action)
	h.compareGoal(&p, r.Action)
	return p
}

// compareGoal notes how an action lies to what people said.
func (h *History) compareGoal(p *past, a *Action) {
	if p.Goal = h.Goals.known(); !p.Goal {
		return
	}
	p.Named = slices.ContainsFunc(a.Effects, func(e Effect) bool { return h.Goals.named(&e) })
	if n := len(a.Words); n > 0 {
		p.Words = int64(100 * shared(a.Words, h.Goals.Words) / n)
	}
}

// toolLength is how much of a tool's name an action keeps.
const toolLength = 24

// target names what an action is mostly about, and its class.
func target(a *Action) (key, class string) {
	if len(a.Effects) == 0 {
		return "", ""
	}
	e := &a.Effects[0]
	if e.Kind == EffectNetwork {
		return truncateKey(e.Target), "host"
	}
	return e.place(), truncateKey(string(e.Location) + "/" + string(e.Class))
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
