package engine

import (
	"net/url"
	pathpkg "path"
	"slices"
	"strings"
)

// How far back facts about a run look; they belong to FoldVersion.
const (
	cycleSpan        = 4 // the longest period of calls that counts as a cycle
	workaroundSpan   = 10
	maxDeniedEffects = 4
	maxChecks        = 6  // per agent
	totalChecks      = 32 // over all agents
	maxCheckReads    = 4
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

// deny keeps the effects of a call that did not run, so that another way to one
// of them is recognised.
func (h *History) deny(n int64, a *Action) {
	d := denial{N: n, At: h.Actions}
	if a == nil {
		h.Denials = append(h.Denials, d)
		return
	}
	d.Print = boundKey(a.Fingerprint, digestLength)
	kept := 0
	for i := range a.Effects {
		if e := &a.Effects[i]; kept < maxDeniedEffects && (e.place() != "" || e.act() != "") {
			d.Kind, d.Verb, d.Target = boundKey(string(e.Kind), digestLength), e.act(), e.place()
			h.Denials = append(h.Denials, d)
			kept++
		}
	}
	if kept == 0 {
		h.Denials = append(h.Denials, d)
	}
}

// refuse keeps what is known of a call to which a person said no.
func (h *History) refuse(c *callEntry) {
	a := h.agent(c.Agent)
	if a == nil {
		return
	}
	if p := a.pastOf(c.Pre); p != nil {
		d := denial{N: p.N, At: h.Actions, Print: p.Print, Kind: string(p.Kind), Verb: p.Verb, Target: p.Target, Person: true}
		if sends(p.Verb) {
			d.Target = truncateKey(hostName(p.Target))
		}
		h.Denials = append(h.Denials, d)
	}
}

// forgive forgets denials about what a person names as they order work: they say
// themselves what they want of it. What they forbid in the same breath stays
// denied, and so does what the rules say of the next call.
func (h *History) forgive(g *Goal) {
	if !g.wantsChanges() {
		return
	}
	h.Denials = slices.DeleteFunc(h.Denials, func(d denial) bool {
		named := slices.ContainsFunc(g.Names, func(n string) bool { return names(n, d.Target) })
		return named && !slices.ContainsFunc(g.Constraints, func(c Constraint) bool {
			return c.Kind != ConstraintLift && (c.What == "" || names(c.What, d.Target))
		})
	})
}

// place names what an effect is about: a path, a host to which data go, an
// address, an object of a service.
func (e *Effect) place() string {
	switch {
	case e.Short != "":
		return truncateKey(e.Place())
	case sends(e.act()):
		return truncateKey(hostName(e.Target))
	}
	return truncateKey(e.Target)
}

// The acts of what leaves the machine, whichever address of a host it is sent
// to: added to what is there, or put in its place.
const (
	actSend  = "send"
	actForce = "force"
)

func sends(act string) bool { return act == actSend || act == actForce }

// act is what is done where the same target can be treated in ways that have
// nothing to do with each other.
func (e *Effect) act() string {
	switch {
	case e.Kind == EffectSystemCall || e.Kind == EffectProcess:
		return boundKey(e.Verb, digestLength)
	case e.Kind == EffectNetwork && e.Egress && e.Forced:
		return actForce
	case e.Kind == EffectNetwork && e.Egress:
		return actSend
	}
	return ""
}

// hostName is the host of an address; what is no address is returned as it is.
func hostName(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return address
	}
	return strings.ToLower(u.Hostname())
}

// deniedFacts says what of an action was denied before: among the latest actions
// of the session, or of the agent itself, since others may act in between.
func (h *History) deniedFacts(agent *agentHistory, a *Action) DeniedFacts {
	f := DeniedFacts{Ago: NeverAgo}
	print := boundKey(a.Fingerprint, digestLength)
	for i := range h.Denials {
		d := &h.Denials[i]
		ago := min(h.Actions-d.At+1, agent.since(d.N))
		if ago > workaroundSpan {
			continue
		}
		same := d.Print == print && print != ""
		effect := !same && d.fits(a)
		if same || effect {
			f.Same, f.Effect, f.Ago = f.Same || same, f.Effect || effect && !d.Person, min(f.Ago, ago)
			f.Refused = f.Refused || effect && d.Person
		}
	}
	return f
}

// since counts the agent's actions since the one of a pre record, that one
// included.
func (a *agentHistory) since(pre int64) int64 {
	for i := len(a.Ring) - 1; i >= 0 && a.Ring[i].N >= pre; i-- {
		if a.Ring[i].N == pre {
			return int64(len(a.Ring) - i)
		}
	}
	return NeverAgo
}

// fits says that an action would do what was denied: as much or more to the same
// target, or to one that holds it.
func (d *denial) fits(a *Action) bool {
	if d.Target == "" && d.Verb == "" {
		return false
	}
	return slices.ContainsFunc(a.Effects, func(e Effect) bool {
		act := e.act()
		if act != d.Verb && !(d.Verb == actSend && act == actForce) || e.Verb == trashVerb || !asStrong(EffectKind(d.Kind), e.Kind) {
			return false
		}
		return e.place() == d.Target || e.Kind != EffectFileRead && d.Target != "" && e.reaches(d.Target)
	})
}

// trashVerb is a deletion that can be taken back: the safer form of one that was
// denied, and no way around it.
const trashVerb = "trash"

// asStrong says that one kind of effect is as much as another one: to write is to
// delete for what was there, and what is moved or changed can be read elsewhere.
func asStrong(denied, now EffectKind) bool {
	change := func(k EffectKind) bool { return k == EffectFileDelete || k == EffectFileWrite }
	return denied == now || change(now) && (change(denied) || denied == EffectFileRead)
}

// reaches says that an effect is about a path, given by its key: about the path
// itself, a pattern that fits it, or a folder that holds it, with all below. Of a
// key that was cut short only the beginning is known; what begins so may be it.
func (e *Effect) reaches(key string) bool {
	place := e.Place()
	if place == "" || key == "" {
		return false
	}
	if truncateKey(place) == key {
		return true
	}
	if all, ok := strings.CutSuffix(place, "/*"); ok && e.Certainty == CertaintyGlob && truncateKey(all) == key {
		return true // all that is in it
	}
	stem, cut := stemOf(key)
	if !e.Recursive {
		return !cut && matches(place, key)
	}
	place = flat(place)
	return cut && strings.HasPrefix(place, stem) ||
		slices.ContainsFunc(upwards(stem), func(p string) bool { return p == place || matches(place, p) })
}

func matches(pattern, path string) bool {
	fits, err := pathpkg.Match(pattern, path)
	return err == nil && fits
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
	case place != "" && e.Entry == "dir":
		place = pathpkg.Clean(place)
	case place != "":
		place = pathpkg.Dir(place)
	}
	if place == "" {
		return ""
	}
	return keyDigits(place)
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
// read or deleted, and that nothing in the session has made. A deletion by force
// takes nothing for there.
func (h *History) missing(a *Action) int64 {
	var n int64
	for i := range a.Effects {
		e := &a.Effects[i]
		needs := e.Kind == EffectFileRead || e.Kind == EffectFileDelete && !e.Forced
		if !needs || e.Exists != "no" || e.Certainty != CertaintyExact || e.Host != "" {
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

// over says that it is known what came of an action.
func (p *past) over() bool { return p.Outcome != OutcomePending && p.Outcome != OutcomeUnknown }

// same counts how often the newest call of a stretch was made, itself included,
// back to where its result was another. Where nobody says what came of a call,
// it was no other.
func same(stretch []past, print string) int64 {
	n, result, known := int64(1), "", false
	for i := len(stretch) - 1; i >= 0 && print != ""; i-- {
		p := &stretch[i]
		if p.Print != print {
			continue
		}
		if p.over() {
			if known && p.Result != result {
				break
			}
			result, known = p.Result, true
		}
		n++
	}
	return n
}

// pollPause is the least pause, in ms, that counts as waiting for something
// rather than as trying again; pollSpan is how many pauses are looked at.
const (
	pollPause = 2000
	pollSpan  = 3
)

// pause is what lies between a call and the same call before it.
type pause struct {
	ms     int64
	waited bool // a call between them waits
}

// polling says that a call which changes nothing here waits, or is made again
// after others that wait, or after pauses that do not shrink.
func (a *agentHistory) polling(act *Action, print string, now int64) bool {
	if changes(act) {
		return false
	}
	if act.Waits {
		return true
	}
	pauses := a.pauses(print, now)
	for i, p := range pauses {
		shrinks := i+1 < len(pauses) && p.ms < pauses[i+1].ms
		if !p.waited && (p.ms < pollPause || shrinks) {
			return false
		}
	}
	return len(pauses) > 1 || len(pauses) == 1 && pauses[0].waited
}

// pauses lists the pauses before a call that is made again, the newest first.
func (a *agentHistory) pauses(print string, now int64) []pause {
	var list []pause
	next := pause{ms: now}
	for i := len(a.Ring) - 1; i >= max(0, len(a.Ring)-repeatSpan) && len(list) < pollSpan; i-- {
		p := &a.Ring[i]
		if p.Print != print {
			next.waited = next.waited || p.Waits
			continue
		}
		next.ms -= p.T
		list = append(list, next)
		next = pause{ms: p.T}
	}
	return list
}

func changes(a *Action) bool {
	return slices.ContainsFunc(a.Effects, func(e Effect) bool {
		return e.Kind == EffectFileWrite || e.Kind == EffectFileDelete || e.Kind == EffectSystemCall
	})
}

// sinces counts the actions since some things were.
func (h *History) sinces(a *agentHistory) SinceFacts {
	f := SinceFacts{
		Failed: NeverAgo, AuthError: NeverAgo, News: h.sinceNews(a),
		Secret:    h.sinceLabel(LabelSecret, h.SecretAt, a.Events, a.SecretAt),
		Untrusted: h.sinceLabel(LabelUntrusted, h.UntrustedAt, a.Events, a.UntrustedAt),
		Prompt:    NeverAgo,
	}
	if h.Prompts > 0 {
		f.Prompt = ago(h.Actions, h.PromptAt)
	}
	for i := range a.Ring {
		p, ago := &a.Ring[i], int64(len(a.Ring)-i)
		if p.Outcome != OutcomeFailed {
			continue
		}
		if f.Failed = ago; p.Trouble == TroubleAuth {
			f.AuthError = ago
		}
	}
	return f
}

// sinceNews counts the agent's actions since one brought news, a prompt came, or
// its history began. Of what nobody says how it came out, nothing is counted.
func (h *History) sinceNews(a *agentHistory) int64 {
	n := int64(1)
	for i := len(a.Ring) - 1; i >= 0 && a.Ring[i].N > h.PromptN; i-- {
		p := &a.Ring[i]
		if p.News {
			break
		}
		if p.over() {
			n++
		}
	}
	return n
}

// sinceLabel counts from when something with a label was read: the agent's own
// actions where it was the one, so that others which act in between hide nothing.
func (h *History) sinceLabel(l Label, at, events, own int64) int64 {
	if _, known := h.Labels[string(l)]; !known {
		return NeverAgo
	}
	if own > 0 {
		return min(ago(h.Actions, at), ago(events, own))
	}
	return ago(h.Actions, at)
}

// ago counts from one number of actions to a later one; 1 is the action before.
func ago(now, then int64) int64 { return min(NeverAgo, now-then+1) }

// failedRank is the reversibility of the latest action that failed.
func (a *agentHistory) failedRank() int64 {
	for i := len(a.Ring) - 1; i >= 0; i-- {
		if a.Ring[i].Outcome == OutcomeFailed {
			return a.Ring[i].Rank
		}
	}
	return 0
}

// fired says when the agent's events had findings last, by their ids, and how
// often any agent's had. So one agent's alarm keeps no other's quiet.
func (h *History) fired(a *agentHistory) map[string]FiredFacts {
	m := map[string]FiredFacts{}
	for id, times := range h.Fired {
		m[id] = FiredFacts{Ago: NeverAgo, Told: NeverAgo, Times: times}
	}
	for id, f := range a.Fired {
		facts := FiredFacts{Ago: ago(a.Events, f.At), Level: f.Level, Told: NeverAgo, ToldLevel: f.ToldLevel, Times: max(1, h.Fired[id])}
		if f.ToldLevel != "" {
			facts.Told = ago(a.Events, f.Told)
		}
		m[id] = facts
	}
	return m
}

// last lists the latest actions in brief.
func (a *agentHistory) last(n int, now int64) []PastFacts {
	list := []PastFacts{}
	for _, p := range a.Ring[max(0, len(a.Ring)-n):] {
		list = append(list, PastFacts{
			Types: p.Types.list(), Tool: p.Tool, Target: p.Target, Outcome: p.Outcome,
			Error: p.Error, Trouble: p.Trouble, Check: p.Check, Ago: max(0, now-p.T),
		})
	}
	return list
}
