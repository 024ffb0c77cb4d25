package history

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
)

// foldAllow records a person's permission. A permission for the session is not
// shortened by one for a single call, and two for a single call count as one.
func (h *State) foldAllow(r *engine.Record) {
	h.Overruled++
	a := allowance{
		N: r.N, Print: boundKey(r.Control.Print, digestLength), Dir: truncateKey(r.Control.CWD),
		Once: r.Control.Do == engine.ControlAllowOnce, By: engine.ClipJSON(r.Control.By, keyLength),
	}
	if a.Print == "" {
		return // a call that cannot be recognised
	}
	if s := r.Control.Signed; s != nil {
		a.Ends = s.Expires
	}
	if i := h.allowedAt(a.Print, a.Dir); i >= 0 {
		if a.Once && !h.Allowed[i].Once {
			a.Once, a.Ends = false, h.Allowed[i].Ends
		}
		h.Allowed = slices.Delete(h.Allowed, i, i+1)
	}
	h.Allowed = keepLast(append(h.Allowed, a), maxAllowed)
}

// useAllowance uses up a permission for a single call once such a call is allowed. A
// call that is denied anyway leaves it.
func (h *State) useAllowance(r *engine.Record) {
	if i := h.allowanceFor(r); i >= 0 && h.Allowed[i].Once {
		h.Allowed = slices.Delete(h.Allowed, i, i+1)
	}
}

// dropKeys makes no earlier key of a session count, nor what was permitted with it.
func (h *State) dropKeys() {
	if h.Session == "" {
		return // the ledger's keys follow each other
	}
	h.Person, h.Keys = nil, nil
	h.dropPermits()
}

// dropPermits makes no permission, approval or addition to the scope count.
func (h *State) dropPermits() {
	h.Allowed, h.Goals.Scope = nil, nil
	for i := range h.Questions {
		if h.Questions[i].State == approval.Approved {
			h.Questions[i].State = approval.Denied
		}
	}
}

// dropExpired removes the permissions that have expired. The time of a log never goes back, whatever the clock does.
func (h *State) dropExpired() {
	h.Allowed = slices.DeleteFunc(h.Allowed, func(a allowance) bool { return a.expired(h.T) })
}

func (a *allowance) expired(t int64) bool { return a.Ends > 0 && t > a.Ends }

// Once returns the ids of the records of the permissions for a single call that were not used yet.
func (h *State) Once() []string {
	var list []string
	for i := range h.Allowed {
		if h.Allowed[i].Once {
			list = append(list, engine.RecordID(h.Chain, h.Allowed[i].N))
		}
	}
	return list
}

// Permit is what a person permitted in a session, as far as it is kept.
type Permit struct {
	Do   string // the choice
	What string // call, path or question
	Ends int64  // Unix milliseconds; 0: with the session
}

// PermitOf returns what a choice permits. The zero value: nothing that a session keeps.
func PermitOf(c *engine.Control) Permit {
	switch c.Do {
	case engine.ControlAllowOnce, engine.ControlAllowSession:
		p := Permit{Do: c.Do, What: boundKey(c.Print, digestLength) + " " + truncateKey(c.CWD)}
		if c.Signed != nil {
			p.Ends = c.Signed.Expires
		}
		return p
	case engine.ControlScope:
		return Permit{Do: c.Do, What: truncateKey(c.Path)}
	case engine.ControlApprove:
		return Permit{Do: c.Do, What: c.Record}
	}
	return Permit{}
}

// Permits returns what people permitted and what still counts. Whoever read the state from a cache compares it with what
// they signed.
func (h *State) Permits() []Permit {
	var list []Permit
	for i := range h.Allowed {
		a := &h.Allowed[i]
		do := engine.ControlAllowSession
		if a.Once {
			do = engine.ControlAllowOnce
		}
		list = append(list, Permit{do, a.Print + " " + a.Dir, a.Ends})
	}
	for _, path := range h.Goals.Scope {
		list = append(list, Permit{Do: engine.ControlScope, What: path})
	}
	for _, q := range h.Questions {
		if q.State == approval.Approved {
			list = append(list, Permit{Do: engine.ControlApprove, What: engine.RecordID(h.Chain, q.N)})
		}
	}
	return list
}

// foldUsed removes a permission for a single call that was used, although this chain does not show it.
func (h *State) foldUsed(id string) {
	h.Allowed = slices.DeleteFunc(h.Allowed, func(a allowance) bool { return a.Once && engine.RecordID(h.Chain, a.N) == id })
}

// allowanceFor returns the index of the permission for a record's call, or -1.
func (h *State) allowanceFor(r *engine.Record) int {
	if len(h.Allowed) == 0 || r.Phase != engine.PhasePre {
		return -1
	}
	key, ok := r.CallKey()
	if !ok {
		return -1
	}
	i := h.allowedAt(boundKey(key.Print, digestLength), truncateKey(key.CWD))
	if i >= 0 && h.Allowed[i].expired(max(r.T, h.T)) {
		return -1
	}
	return i
}

func (h *State) allowedAt(print, dir string) int {
	return slices.IndexFunc(h.Allowed, func(a allowance) bool { return a.Print == print && a.Dir == dir })
}

// Approvals returns the answers that an event shows to the questions before it,
// for at most maxApprovals of the newest. A call that ran was approved; one
// without any result by the next prompt or stop was refused.
func (h *State) Approvals(r *engine.Record) []engine.Approval {
	switch r.Kind {
	case engine.KindPost:
		if c := h.call(agentOf(r), r.Call); c.asked() {
			return []engine.Approval{h.approval(c, outcomeOf(r) != engine.OutcomeDenied)}
		}
	case engine.KindPrompt:
		return h.refusals("")
	case engine.KindStop:
		return h.refusals(agentOf(r))
	}
	return nil
}

func (h *State) refusals(agent string) []engine.Approval {
	var list []engine.Approval
	for i := range h.Calls {
		if c := &h.Calls[i]; c.asked() && c.closes(agent) {
			list = append(list, h.approval(c, false))
		}
	}
	return keepLast(list, maxApprovals)
}

func (h *State) approval(c *callEntry, approved bool) engine.Approval {
	return engine.Approval{Of: engine.RecordID(h.Chain, c.Pre), Approved: approved, By: engine.ByInference}
}

// asked reports whether a person was asked about a call whose outcome no post
// record has shown yet.
func (c *callEntry) asked() bool {
	return c != nil && c.Pre > 0 && c.Enforced == engine.Ask && !c.Agreed
}

// closes reports whether the end of an agent's turn (of any agent if name is
// empty) ends the wait for a call's result.
func (c *callEntry) closes(name string) bool {
	return c.Outcome == engine.OutcomePending && (name == "" || c.Agent == name)
}

// settle counts the outcome of a question when its call has ended. A call that
// was assumed to be refused may have run anyway.
func (h *State) settle(c *callEntry, o engine.Outcome) (approved bool) {
	if c.Agreed {
		return o != engine.OutcomeDenied
	}
	if !c.asked() {
		return false
	}
	if c.Outcome == engine.OutcomeUnknown {
		h.Refused--
	}
	if o == engine.OutcomeDenied {
		h.Refused++
		return false
	}
	h.Approved++
	return true
}

// approve records that a person agreed to the places that an action writes to: they count as
// named. So do the names that the action repeats from responses from outside, such as a package:
// a person saw the name and let the call run.
func (h *State) approve(a *engine.Action, o engine.Outcome) {
	if a == nil {
		return
	}
	if o == engine.OutcomeRan {
		h.addMarks(labelPerson, h.read(a.Marks))
	}
	for i := range a.Effects {
		e := &a.Effects[i]
		if p := h.path(truncateKey(e.Place())); p != nil && p.Where != "" {
			p.Where = engine.LocationNamed
			p.Agreed = o == engine.OutcomeRan && e.Kind == engine.EffectFileWrite && e.Certainty == engine.CertaintyExact
		}
	}
}

// read returns those of the marks that occurred in a response from outside.
func (h *State) read(marks []string) []string {
	return slices.DeleteFunc(slices.Clone(marks), func(m string) bool {
		return !hasDigits(h.Marks[engine.LabelUntrusted], m) && !hasDigits(h.Marks[engine.LabelService], m)
	})
}

// agreed reports how far a person's approval of an earlier write goes: the same file, or
// another one of its folder with the same extension.
func (h *State) agreed(e *engine.Effect) string {
	if e.Kind != engine.EffectFileWrite || e.Certainty != engine.CertaintyExact {
		return ""
	}
	key := truncateKey(e.Place())
	if p := h.path(key); p != nil && p.Agreed {
		return engine.AgreedFile
	}
	dir := path.Dir(key)
	if dir == "~" || strings.Count(dir, "/") < 2 && !strings.HasPrefix(dir, "~/") && !strings.HasPrefix(dir, "./") {
		return "" // a home directory, and a directory just under a root, contain too much for one approval
	}
	if slices.ContainsFunc(h.Paths, func(p pathEntry) bool { return p.Agreed && path.Dir(p.Key) == dir && path.Ext(p.Key) == path.Ext(key) }) {
		return engine.AgreedFolder
	}
	return ""
}

// foldQuestions follows the questions that wait for a person outside the agent.
func (h *State) foldQuestions(r *engine.Record) {
	if len(h.Questions) == 0 && (r.Answer == nil || r.Answer.Pending == nil) {
		return
	}
	h.Questions = h.Questions.Fold(r, h.Chain, h.Stop != nil)
	if r.Control == nil || r.Control.Decided == nil {
		return
	}
	for _, q := range h.Questions {
		if q.At == r.N {
			h.foldAnswer(q, r)
		}
	}
}

// foldAnswer counts the answer to a question. A call that is denied in the end counts as one
// that policy denied; only a person's answer counts as a refusal.
func (h *State) foldAnswer(q approval.Question, r *engine.Record) {
	c := h.callOf(q.N)
	if c == nil {
		return
	}
	unknown := c.Outcome == engine.OutcomeUnknown // it was assumed to be refused
	if q.State == approval.Approved {
		h.Approved++
		if c.Agreed = true; unknown {
			h.Refused--
		}
		h.answerOutside(c, r.T, unknown, formEntry{Person: 1})
		return
	}
	if person := r.Control.Decided.Who == engine.DecidedPerson; !unknown {
		h.refuse(c, person)
		if person {
			h.Refused++
			h.answerOutside(c, r.T, false, formEntry{Refused: 1})
		}
	}
	c.Outcome, c.Enforced = engine.OutcomeDenied, engine.Block
	if a := h.agent(c.Agent); a != nil {
		if p := a.pastOf(c.Pre); p != nil {
			p.Outcome = engine.OutcomeDenied
		}
	}
}

// answerOutside counts an answer that a person gave outside the agent to calls of a form. The
// call's outcome says no more about it.
func (h *State) answerOutside(c *callEntry, t int64, refused bool, count formEntry) {
	if c.Form == "" {
		return
	}
	if refused {
		count.Refused--
	}
	if h.countForm(c, t, count); count.Refused > 0 {
		h.DeniedAt = h.Actions
	}
	c.Form, c.Mode = "", ""
}

// callOf returns the call of a record.
func (h *State) callOf(pre int64) *callEntry {
	for i := range h.Calls {
		if h.Calls[i].Pre == pre {
			return &h.Calls[i]
		}
	}
	return nil
}

// maxForms bounds the forms of calls whose answers are remembered. It belongs to FoldVersion.
const maxForms = 40

// formEntry counts what people answered to calls of one form, in one permission mode. A full
// list forgets approvals before refusals.
type formEntry struct {
	Form     string `json:"f"`
	Mode     string `json:"m,omitempty"`
	T        int64  `json:"t"`           // of the first answer
	Last     int64  `json:"l"`           // of the latest one
	Person   int64  `json:"p,omitempty"` // approvals outside the agent
	Approved int64  `json:"a,omitempty"` // others, which were inferred
	Refused  int64  `json:"r,omitempty"`
}

func (f *formEntry) size() int {
	return len(f.Form) + text(f.Mode) + 20 + digits(f.T) + digits(f.Last) + number(f.Person) + number(f.Approved) + number(f.Refused)
}

// formsSize is the size of what the state contains only if people were asked about
// calls.
func (h *State) formsSize() int {
	n := sum(h.Forms, (*formEntry).size)
	if n > 0 {
		n += 12
	}
	if h.FormsLost {
		n += 18
	}
	if h.DeniedAt > 0 {
		n += 14 + digits(h.DeniedAt)
	}
	return n
}

// FormOf returns the form of a call: 16 hexadecimal digits that are the same for calls with the
// same tool, programs, subcommands and options, the same words, and paths of the same classes in
// the same places. Empty: the call is not understood completely, so it has none.
func FormOf(tool string, a *engine.Action) string {
	if a == nil || len(a.Effects)+len(a.Commands) == 0 || len(a.Opaque)+len(a.Possible) > 0 {
		return ""
	}
	parts := []string{tool, a.Name}
	for i := range a.Commands {
		parts = append(parts, formOfCommand(a, i)...)
	}
	var effects []string
	for i := range a.Effects {
		effects = append(effects, formOfEffect(&a.Effects[i]))
	}
	slices.Sort(effects)
	for _, s := range a.Signals {
		parts = append(parts, "signal "+string(s))
	}
	return engine.HexSum([]byte(strings.Join(append(parts, slices.Compact(effects)...), "\x00")))[:digestLength]
}

// formOfCommand lists the words of a command. A path whose class the effects show is left
// out, unless the command runs what is there.
func formOfCommand(a *engine.Action, i int) []string {
	c := &a.Commands[i]
	options := slices.Clone(c.Flags)
	slices.Sort(options)
	words := slices.Concat([]string{"command", c.Name}, c.Sub, options, c.Wrappers, c.Via)
	for _, word := range c.Operands {
		if !isPlace(a, i, word) {
			words = append(words, "="+word)
		}
	}
	return words
}

// isPlace reports whether a word of a command is a path that the command only reads or changes.
func isPlace(a *engine.Action, i int, word string) bool {
	found := false
	for k := range a.Effects {
		e := &a.Effects[k]
		if e.Command != i || e.Short == "" || path.Base(e.Short) != path.Base(word) {
			continue
		}
		if e.Run || e.Kind == engine.EffectProcess {
			return false
		}
		found = true
	}
	return found
}

func formOfEffect(e *engine.Effect) string {
	target := e.Target
	if e.Short != "" {
		target = "" // the place and the class stand for the path
	}
	if e.Run {
		target = e.Short
	}
	words := []string{"effect", string(e.Kind), e.Verb, e.Object, string(e.Certainty), string(e.Location), string(e.Class), e.Host, e.Mode,
		e.Guard, target}
	for _, flag := range []struct {
		set  bool
		name string
	}{
		{e.Recursive, "recursive"}, {e.Forced, "forced"}, {e.Privileged, "privileged"}, {e.Egress, "egress"},
		{e.Loopback, "loopback"}, {e.Persistence, "persistence"}, {e.Repository, "repository"},
	} {
		if flag.set {
			words = append(words, flag.name)
		}
	}
	return strings.Join(words, "\x01")
}

// foldRequest records that the agent asks a person about a call. No person answers about a
// call that reviewer grants.
func (h *State) foldRequest(r *engine.Record) {
	c := h.call(agentOf(r), r.Call)
	if c == nil || c.Pre == 0 || c.Outcome != engine.OutcomePending {
		return
	}
	if c.Form, c.Mode = "", ""; r.Answer == nil || r.Answer.Granted == nil {
		h.asks(c, r)
	}
}

// asks records the form of a call that a person is asked about.
func (h *State) asks(c *callEntry, r *engine.Record) {
	if r.Event != nil {
		c.Form, c.Mode = FormOf(r.Event.Tool, r.Action), engine.ClipJSON(r.Event.Mode, digestLength)
	}
}

// answerForm counts a person's answer to a call, as far as its outcome shows it. A failure shows
// nothing. A call that was assumed to be refused and ran was not refused.
func (h *State) answerForm(c *callEntry, o engine.Outcome, t int64) {
	if c.Form == "" {
		return
	}
	if c.Outcome == engine.OutcomeUnknown {
		h.countForm(c, t, formEntry{Refused: -1})
	}
	switch o {
	case engine.OutcomeRan:
		h.countForm(c, t, formEntry{Approved: 1})
	case engine.OutcomeDenied, engine.OutcomeUnknown:
		h.countForm(c, t, formEntry{Refused: 1})
		h.DeniedAt = h.Actions
	}
}

func (h *State) countForm(c *callEntry, t int64, count formEntry) {
	f := formEntry{Form: c.Form, Mode: c.Mode, T: t}
	if i := slices.IndexFunc(h.Forms, func(o formEntry) bool { return o.Form == f.Form && o.Mode == f.Mode }); i >= 0 {
		f = h.Forms[i]
		h.Forms = slices.Delete(h.Forms, i, i+1)
	}
	f.Last, f.Person, f.Approved, f.Refused = t, f.Person+count.Person, f.Approved+count.Approved, max(f.Refused+count.Refused, 0)
	if h.Forms = append(h.Forms, f); len(h.Forms) > maxForms {
		h.dropForm()
	}
}

// dropForm forgets the oldest form without a refusal. If all were refused, the session no
// longer knows what was, and reports that.
func (h *State) dropForm() {
	i := slices.IndexFunc(h.Forms, func(f formEntry) bool { return f.Refused == 0 })
	h.FormsLost = h.FormsLost || i < 0
	i = max(i, 0)
	h.Forms = slices.Delete(h.Forms, i, i+1)
}

// Answers returns what people answered in the session to calls of a form, by permission mode.
// A session that forgot refusals counts as one that refused the form. That a call ran shows no approval in a session whose
// client is not known to be a person's: any program can report its events.
func (h *State) Answers(form string) []engine.FormAnswers {
	var list []engine.FormAnswers
	id := prefix(h.Chain, 8)
	for _, f := range h.Forms {
		if f.Form == form && form != "" {
			if h.Client != nil && !h.Client.Verified() {
				f.Approved = 0
			}
			list = append(list, engine.FormAnswers{Session: id, Mode: f.Mode, Person: f.Person, Inferred: f.Approved,
				Refused: f.Refused, First: f.T, Last: f.Last})
		}
	}
	if h.FormsLost {
		list = append(list, engine.FormAnswers{Session: id, Refused: 1, First: h.T, Last: h.T})
	}
	return list
}

// Requested returns the call about which the agent asks a person, as far as its tool and its
// arguments show it: the latest such call that waits for its result. Agents give a request no id.
func (h *State) Requested(agent, tool, args string) (call string, pre int64) {
	a := h.agent(truncateKey(agent))
	if a == nil || args == "" {
		return "", 0
	}
	for i := len(h.Calls) - 1; i >= 0; i-- {
		c := &h.Calls[i]
		if c.Agent != a.Name || c.Outcome != engine.OutcomePending || c.Pre == 0 || c.Args != prefix(args, argsLength) {
			continue
		}
		if p := a.pastOf(c.Pre); p != nil && p.Tool == boundKey(tool, toolLength) {
			return c.ID, c.Pre
		}
	}
	return "", 0
}

// requestFacts joins what the record of a request says with the call that it is about.
func (h *State) requestFacts(r *engine.Record) *engine.RequestFacts {
	f := &engine.RequestFacts{Denied: engine.NeverHappened, Answers: []engine.FormAnswerFacts{}}
	if h.DeniedAt > 0 {
		f.Denied = ago(h.Actions, h.DeniedAt)
	}
	if c := h.call(agentOf(r), r.Call); c != nil {
		f.Decision, f.Enforced = c.Decision, c.Enforced
	}
	if r.Note == nil || r.Note.Request == nil {
		return f
	}
	q := r.Note.Request
	f.Form, f.Checkpoint, f.Left = q.Form, q.Checkpoint, q.Left
	for _, a := range q.Answers {
		f.Answers = append(f.Answers, engine.FormAnswerFacts{Session: a.Session, Mode: a.Mode, Person: a.Person, Inferred: a.Inferred,
			Refused: a.Refused, MS: max(r.T, h.T) - a.First, RefusedMS: max(r.T, h.T) - a.Last})
	}
	return f
}

// accepts reports whether a choice counts. A session's chain learns the person's key from the ledger: its
// reader refuses a chain with a key that the ledger never had. The ledger's first key needs no
// signature, and each later one that of the one before.
func (h *State) accepts(r *engine.Record) bool {
	switch {
	case !r.Control.Loosens() || h.Lenient:
		return true
	case r.Control.Do == engine.ControlKey && (h.Person == nil || h.Session != ""):
		return r.Control.Key != nil
	case r.Control.Do == engine.ControlResume && r.Control.Mode != "" && h.Stop == nil && h.Resumed == "":
		return true // a copy of a session that was resumed has the same conditions: this only adds them
	}
	return h.Trusts(r) && (r.Control.Signed.Expires == 0 || r.T <= r.Control.Signed.Expires)
}

// Trusts reports whether a person signed a choice.
func (h *State) Trusts(r *engine.Record) bool { return h.Lenient || r.SignedBy(h.Person) }

// maxKeys bounds the keys of one chain; it belongs to FoldVersion.
const maxKeys = 16

// foldKey adopts a key; nil: none counts. A chain with too many adopts no other: what is signed with it changes nothing.
func (h *State) foldKey(k *engine.PersonKey) {
	if k == nil {
		h.dropKeys()
		return
	}
	if f := k.Fingerprint(); !slices.Contains(h.Keys, f) {
		if len(h.Keys) == maxKeys {
			return
		}
		h.Keys = append(h.Keys, f)
	}
	own := *k
	h.Person = &own
}
