package engine

import (
	"path"
	"slices"
	"strings"
)

// How far back facts about a run look; they belong to FoldVersion.
const (
	cycleSpan        = 4 // the longest period of calls that counts as a cycle
	workaroundSpan   = 10
	maxDeniedEffects = 3
	maxChecks        = 6
	maxCheckReads    = 4
)

// checkRun is a check that the agent ran, and what was done to it since.
type checkRun struct {
	Print  string   `json:"f"`
	Reads  []string `json:"r,omitempty"` // keys of what it reads, as far as its call names it
	Edited bool     `json:"e,omitempty"` // what it reads was changed since
	Source bool     `json:"s,omitempty"` // …and so was the work that it is about
	Times  int64    `json:"t,omitempty"` // it was run again after an edit of what it reads alone
}

// foldCheck notes that a check is run, or that what one reads is changed.
func (a *agentHistory) foldCheck(r *Record) {
	if r.Action == nil {
		return
	}
	if r.Action.Check {
		a.ranCheck(r.Action)
		return
	}
	for i := range r.Action.Effects {
		if e := &r.Action.Effects[i]; e.Kind == EffectFileWrite || e.Kind == EffectFileDelete {
			a.changed(e)
		}
	}
}

func (a *agentHistory) ranCheck(act *Action) {
	run := checkRun{Print: boundKey(act.Fingerprint, digestLength), Reads: reads(act)}
	if old := a.check(run.Print); old != nil {
		run.Times = old.again()
	}
	a.Checks = slices.DeleteFunc(a.Checks, func(c checkRun) bool { return c.Print == run.Print })
	a.Checks = keepLast(append(a.Checks, run), maxChecks)
}

func (a *agentHistory) check(print string) *checkRun {
	for i := range a.Checks {
		if a.Checks[i].Print == print {
			return &a.Checks[i]
		}
	}
	return nil
}

// again counts one more run of the check. An honest round, in which the work
// itself changed, does not take the others back.
func (c *checkRun) again() int64 {
	if c.Edited && !c.Source {
		return c.Times + 1
	}
	return c.Times
}

// changed notes a change for each check: of what it reads, or of the work.
func (a *agentHistory) changed(e *Effect) {
	key := truncateKey(e.Place())
	for i := range a.Checks {
		c := &a.Checks[i]
		switch {
		case e.Class == ClassTest || e.Class == ClassCI || c.reads(key):
			c.Edited = true
		case e.Location == LocationInside && e.Class == "":
			c.Source = true
		}
	}
}

func (c *checkRun) reads(key string) bool {
	return key != "" && slices.ContainsFunc(c.Reads, func(r string) bool { return key == r || strings.HasPrefix(key, r+"/") })
}

// reads lists the files that a call names and reads; folders as a whole say
// nothing about what is a test and what is the work.
func reads(a *Action) []string {
	var keys []string
	for _, e := range a.Effects {
		if e.Kind == EffectFileRead && e.Certainty == CertaintyExact && e.Entry == "file" && len(keys) < maxCheckReads {
			keys = append(keys, truncateKey(e.Place()))
		}
	}
	return keys
}

// checks says how often a check was run again after an edit of what it reads
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

// deny keeps the effects of a call that did not run, so that another way to one
// of them is recognised.
func (h *History) deny(n int64, a *Action) {
	if a == nil {
		h.Denials = keepLast(append(h.Denials, denial{N: n, At: h.Actions}), maxDenials)
		return
	}
	d := denial{N: n, At: h.Actions, Print: boundKey(a.Fingerprint, digestLength)}
	kept := 0
	for i := range a.Effects {
		if e := &a.Effects[i]; kept < maxDeniedEffects && e.place() != "" {
			d.Kind, d.Verb, d.Target = boundKey(string(e.Kind), digestLength), e.act(), e.place()
			h.Denials = append(h.Denials, d)
			kept++
		}
	}
	if kept == 0 {
		h.Denials = append(h.Denials, d)
	}
	h.Denials = keepLast(h.Denials, maxDenials)
}

// refuse keeps what is known of a call to which a person said no.
func (h *History) refuse(c *callEntry) {
	a := h.agent(c.Agent)
	if a == nil {
		return
	}
	if p := a.pastOf(c.Pre); p != nil {
		h.Denials = keepLast(append(h.Denials, denial{
			N: p.N, At: h.Actions, Print: p.Print, Kind: string(p.Kind), Verb: p.Verb, Target: p.Target,
		}), maxDenials)
	}
}

// place names what an effect is about: a path, a host, an object of a service.
func (e *Effect) place() string {
	if p := e.Place(); p != "" {
		return truncateKey(p)
	}
	return truncateKey(e.Target)
}

// act is the verb where the same target can be treated in ways that have
// nothing to do with each other.
func (e *Effect) act() string {
	if e.Kind == EffectSystemCall || e.Kind == EffectProcess {
		return boundKey(e.Verb, digestLength)
	}
	return ""
}

// deniedFacts says what of an action was denied before.
func (h *History) deniedFacts(a *Action) DeniedFacts {
	f := DeniedFacts{Ago: NeverAgo}
	print := boundKey(a.Fingerprint, digestLength)
	for i := len(h.Denials) - 1; i >= 0; i-- {
		d := &h.Denials[i]
		ago := h.Actions - d.At + 1
		if ago > workaroundSpan {
			break
		}
		same, effect := d.Print == print && print != "", d.fits(a)
		if !same && !effect {
			continue
		}
		f.Same, f.Effect, f.Ago = f.Same || same, f.Effect || effect && !same, min(f.Ago, ago)
	}
	return f
}

// fits says that an action would do what was denied: the same to the same
// target, or to one that holds it. To write is to delete for what was there.
func (d *denial) fits(a *Action) bool {
	if d.Target == "" || d.Print == boundKey(a.Fingerprint, digestLength) {
		return false
	}
	return slices.ContainsFunc(a.Effects, func(e Effect) bool {
		if e.act() != d.Verb || !alikeKinds(EffectKind(d.Kind), e.Kind) {
			return false
		}
		place := e.place()
		return place == d.Target || e.Recursive && e.Kind != EffectFileRead && strings.HasPrefix(d.Target, place+"/")
	})
}

func alikeKinds(denied, now EffectKind) bool {
	change := func(k EffectKind) bool { return k == EffectFileDelete || k == EffectFileWrite }
	return denied == now || change(denied) && change(now)
}

// folder is a digest of where an action mostly happens.
func folder(a *Action) string {
	if len(a.Effects) == 0 {
		return ""
	}
	e := &a.Effects[0]
	place := e.Place()
	switch {
	case place == "" && e.Kind == EffectNetwork:
		place = e.Target
	case e.Entry != "dir":
		place = path.Dir(place)
	}
	if place == "" || place == "." && e.Place() == "" {
		return ""
	}
	return hexSum([]byte(place))[:hashDigits]
}

// rank is the reversibility of the worst effect, as a number.
func rank(a *Action) int64 {
	worst := int64(0)
	for _, e := range a.Effects {
		if i := slices.Index(Reversibilities(), string(e.Reversibility)); i > 0 {
			worst = max(worst, int64(i))
		}
	}
	return worst
}

// missing counts what an action takes for there, and is not: files that are
// read or changed in place, and that nothing in the session has made.
func (h *History) missing(a *Action) int64 {
	var n int64
	for i := range a.Effects {
		e := &a.Effects[i]
		if e.Exists != "no" || e.Certainty != CertaintyExact || e.Host != "" || e.Kind != EffectFileRead && e.Kind != EffectFileDelete {
			continue
		}
		if p := h.path(truncateKey(e.Place())); p == nil || p.State == ledgerRead {
			n++
		}
	}
	return n
}

// turns says what an action makes of its target, and of what, where the call
// itself says so: an edit names both, a write the new content only.
func turns(a *Action) (from, into string) {
	if old, ok := a.Contents["old_string"]; ok {
		return prefix(old.MAC, hashDigits), prefix(a.Contents["new_string"].MAC, hashDigits)
	}
	return "", prefix(a.Contents["content"].MAC, hashDigits)
}

// undoes says that an action brings its target back to what it was before the
// agent changed it.
func (a *agentHistory) undoes(act *Action) bool {
	key, _ := target(act)
	from, into := turns(act)
	if key == "" || into == "" {
		return false
	}
	changed := false
	for i := len(a.Ring) - 1; i >= 0; i-- {
		p := &a.Ring[i]
		if p.Target != key || p.Into == "" || p.Outcome == OutcomeDenied || p.Outcome == OutcomeFailed {
			continue
		}
		if from != "" && p.From == into && p.Into == from {
			return true
		}
		if from == "" && p.From == "" && p.Into == into {
			return changed
		}
		changed = true
	}
	return false
}

// cycle finds the period of calls that the agent is in with one more.
func (a *agentHistory) cycle(print string) CycleFacts {
	var best CycleFacts
	for period := 2; period <= cycleSpan; period++ {
		n := a.periodic(print, period)
		if times := n / period; times >= 2 && times > int(best.Times) {
			best = CycleFacts{Period: int64(period), Times: int64(times)}
		}
	}
	return best
}

// periodic counts the calls from the newest back that lie in a period. A period
// of equal calls is a loop, no cycle.
func (a *agentHistory) periodic(print string, period int) int {
	at := func(i int) string { // counted from the newest, which is print
		switch {
		case i == 0:
			return print
		case i > len(a.Ring):
			return ""
		}
		return a.Ring[len(a.Ring)-i].Print
	}
	n := 0
	for at(n) != "" && (n < period || at(n) == at(n-period)) {
		n++
	}
	for i := 1; i < period; i++ {
		if at(i) != at(0) {
			return n
		}
	}
	return 0
}

// same counts how often the newest call of a stretch was made, itself included,
// back to where its result was another.
func same(stretch []past, print string) int64 {
	n, result, known := int64(1), "", false
	for i := len(stretch) - 1; i >= 0; i-- {
		p := &stretch[i]
		if p.Print != print || p.Outcome == OutcomePending {
			continue
		}
		if known && p.Result != result {
			break
		}
		n, result, known = n+1, p.Result, true
	}
	return n
}

// polling says that a call is made again after pauses that do not shrink, or
// that it or a call between waits.
func (a *agentHistory) polling(act *Action, print string, now int64) bool {
	if act.Waits {
		return true
	}
	times, pause := []int64{now}, int64(-1)
	for i := len(a.Ring) - 1; i >= max(0, len(a.Ring)-repeatSpan) && len(times) < 4; i-- {
		if p := &a.Ring[i]; p.Print == print {
			times = append(times, p.T)
		} else if p.Waits {
			return true
		}
	}
	if len(times) < 3 {
		return false
	}
	for i := len(times) - 1; i > 0; i-- {
		next := times[i-1] - times[i]
		if next < pause || next < pollPause {
			return false
		}
		pause = next
	}
	return true
}

// pollPause is the least pause, in ms, that counts as waiting for something
// rather than as trying again.
const pollPause = 2000

// since counts the actions since some things were.
func (h *History) since(a *agentHistory) SinceFacts {
	f := SinceFacts{
		Failed: NeverAgo, AuthError: NeverAgo, News: NeverAgo,
		Secret: h.ago(h.SecretAt, h.SecretAt > 0), Untrusted: h.ago(h.UntrustedAt, h.UntrustedAt > 0),
		Prompt: h.ago(h.PromptAt, h.Prompts > 0),
	}
	news := int64(0)
	for i := len(a.Ring) - 1; i >= 0; i-- {
		p, ago := &a.Ring[i], int64(len(a.Ring)-i)
		if p.Outcome == OutcomeFailed {
			f.Failed = min(f.Failed, ago)
			if p.Trouble == TroubleAuth {
				f.AuthError = min(f.AuthError, ago)
			}
		}
		if p.Outcome != OutcomePending && p.Outcome != OutcomeUnknown && f.News == NeverAgo {
			if news++; p.News {
				f.News = news
			}
		}
	}
	if f.News == NeverAgo {
		f.News = news + 1 // not since the ring began
	}
	f.News = min(f.News, f.Prompt)
	return f
}

// ago counts from what Actions was when something happened.
func (h *History) ago(at int64, ever bool) int64 {
	if !ever {
		return NeverAgo
	}
	return min(NeverAgo, h.Actions-at+1)
}

// failedRank is the reversibility of the latest action that failed.
func (a *agentHistory) failedRank() int64 {
	for i := len(a.Ring) - 1; i >= 0; i-- {
		if a.Ring[i].Outcome == OutcomeFailed {
			return a.Ring[i].Rank
		}
	}
	return 0
}

// fired says when findings were last, by their ids.
func (h *History) fired() map[string]FiredFacts {
	m := map[string]FiredFacts{}
	for id, f := range h.Fired {
		m[id] = FiredFacts{Ago: min(NeverAgo, h.Actions-f.At+1), Level: f.Level, Times: f.Times}
	}
	return m
}

// last lists the latest actions in brief.
func (a *agentHistory) last(n int, now int64) []PastFacts {
	list := []PastFacts{}
	for _, p := range a.Ring[max(0, len(a.Ring)-n):] {
		list = append(list, PastFacts{
			Types: p.Types.list(), Tool: p.Tool, Target: p.Target, Outcome: p.Outcome,
			Error: p.Error, Trouble: p.Trouble, Check: p.Check, Ago: now - p.T,
		})
	}
	return list
}
