package history

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Limits of the goals that are kept; they belong to FoldVersion. Names, words and
// scope only make policy milder, so the oldest is forgotten.
const (
	maxNames    = 32
	maxWords    = 64
	maxScope    = 16
	maxMentions = 48
)

// foldGoal records what a prompt asks for.
func (h *State) foldGoal(g *engine.Goal) {
	if g == nil {
		return
	}
	s := &h.Goals
	if known := knownWords(g.Intents, engine.Intents()); len(known) > 0 {
		slices.Sort(known)
		s.Intents = slices.Compact(known)
	}
	for _, name := range g.Names {
		s.Names = keepLast(appendOnce(s.Names, truncateKey(h.inFull(name))), maxNames)
	}
	s.Words = addDigits(s.Words, g.Words, maxWords)
	for _, d := range g.Mentions {
		s.Mentions = keepLast(appendOnce(s.Mentions, boundKey(d, mentionLength)), maxMentions)
	}
	h.addMarks(labelPerson, g.Marks)
	s.ask(g.Intents)
	h.agree(g.Agrees)
	if g.Resumes && s.resume() {
		h.forgiveForbidden()
	}
	h.say(g)
	h.forgive(g)
}

// resume ends that nothing was to be done, or changed, yet. It reports whether that was so. What was forbidden with "never"
// stays, and so does what is about something that is named, or what the person wants to be asked about.
func (s *goalState) resume() bool {
	n := len(s.Forbidden)
	s.Forbidden = slices.DeleteFunc(s.Forbidden, func(f heldStatement) bool {
		ends := !f.Never && len(f.Objects) == 0 && f.Until != engine.UntilAsked && (f.Act == "wait" || f.Act == "change")
		if ends {
			s.Lifted = keepLast(append(s.Lifted, f), maxLifted)
		}
		return ends
	})
	return len(s.Forbidden) < n
}

// forbid records what a prompt forbids that nobody typed.
func (h *State) forbid(g *engine.Goal) {
	if g = g.Forbids(); g == nil {
		return
	}
	h.say(g)
}

// foldStanding records what instruction files forbid. What a file says that changed while the session runs wants a question:
// the agent may have written it. It revokes nothing until the next session. What the files name when the session begins comes from no
// stranger, wherever else it occurs.
func (h *State) foldStanding(s *engine.Standing) {
	g := &h.Goals
	if s == nil || s.MAC == "" || h.Knows(s) {
		return
	}
	first := g.StandingMAC == "" && h.Actions == 0
	g.StandingMAC = prefix(s.MAC, digestLength)
	if first {
		h.addMarks(labelPerson, s.Marks)
	}
	for _, st := range s.Statements {
		if st.Kind != engine.Forbids || st.Act == "" {
			continue
		}
		st.Objects = st.Objects[:min(len(st.Objects), engine.MaxStandingObjects)]
		st.From = engine.ClipJSON(st.From, keyLength)
		if st = h.bounded(st); !first && !g.stands(st) {
			st.Until = engine.UntilAsked
		}
		if !g.stands(st) && len(g.Standing) < engine.MaxStanding {
			g.Standing = append(g.Standing, heldStatement{Statement: st})
		}
	}
}

// Knows reports whether the session has read instruction files as they are.
func (h *State) Knows(s *engine.Standing) bool {
	return h.Goals.StandingMAC == prefix(s.MAC, digestLength)
}

// stands reports whether a prohibition of a file is known, or a person lifted it.
func (s *goalState) stands(n engine.Statement) bool {
	return slices.ContainsFunc(slices.Concat(s.Standing, s.Lifted), func(f heldStatement) bool {
		return f.From != "" && f.Act == n.Act && slices.Equal(f.Objects, n.Objects)
	})
}

// inFull writes a path that leads out of the workspace in the form of effects.
func (h *State) inFull(name string) string {
	name = strings.TrimPrefix(name, "./")
	if strings.HasPrefix(name, "../") && strings.HasPrefix(h.Workspace, "/") {
		return path.Join(h.Workspace, name)
	}
	return name
}

// within writes a full path in the workspace in the form of effects.
func (h *State) within(name string) string {
	plain, top := name, h.Workspace
	if len(top) > 2 && top[1] == ':' { // of Windows
		plain, top = strings.ReplaceAll(name, "\\", "/"), strings.ReplaceAll(top, "\\", "/")
	}
	if top = strings.TrimSuffix(top, "/") + "/"; len(top) > 1 && len(plain) > len(top) && strings.EqualFold(plain[:len(top)], top) &&
		(plain[:len(top)] == top || top[1] == ':') && !strings.Contains(plain, "..") {
		return plain[len(top):]
	}
	return name
}

// wantsChanges reports whether a prompt requests work on existing files: what it
// names may be touched again. It shapes what is kept of denials, so it belongs
// to FoldVersion.
func wantsChanges(g *engine.Goal) bool {
	return slices.ContainsFunc(g.Intents, func(i engine.Intent) bool {
		return i == engine.IntentFix || i == engine.IntentAdd || i == engine.IntentRefactor || i == engine.IntentClean ||
			i == engine.IntentMigrate
	})
}

// mentionLength is the length of the digest of a name.
const mentionLength = 16

// mentioned returns the outermost part of an effect's path whose name people wrote, and whether they want what has the name of
// the file, or of a unit, to run at certain times.
func (s *goalState) mentioned(e *engine.Effect) (part string, timed bool) {
	if len(s.Mentions) == 0 || e.Host != "" || e.Certainty != engine.CertaintyExact && e.Certainty != engine.CertaintyGlob {
		return "", false
	}
	if e.Short == "" {
		if e.Kind == engine.EffectSystemCall { // a unit or another part of the machine
			part = engine.Mentioned(s.Mentions, e.Target)
		}
		return part, e.Persistence && engine.Timed(s.Mentions, e.Target)
	}
	return engine.Mentioned(s.Mentions, e.Short), engine.Timed(s.Mentions, e.Short)
}

// namesHost reports whether people named the host that an effect contacts.
func (s *goalState) namesHost(e *engine.Effect) bool {
	return len(s.Mentions) > 0 && e.Kind == engine.EffectNetwork && e.Certainty == engine.CertaintyExact &&
		slices.Contains(s.Mentions, engine.HostMentionOf(engine.HostIn(e.Target)))
}

// known reports whether people said something that an action can be compared
// with.
func (s *goalState) known() bool { return len(s.Intents)+len(s.Names)+len(s.Words) > 0 }

// goalFacts compares an action with what people said.
func (h *State) goalFacts(a *engine.Action) engine.GoalFacts {
	s := &h.Goals
	f := engine.GoalFacts{Known: s.known(), Names: int64(len(s.Names)), Intents: orEmpty(s.Intents), Statements: s.statements(a)}
	f.Constraints = legacyConstraints(f.Statements)
	f.Named = slices.ContainsFunc(a.Effects, func(e engine.Effect) bool { return e.Named })
	if n := len(a.Words); n > 0 {
		f.Words = engine.Round6(float64(shared(a.Words, s.Words)) / float64(n))
	}
	return f
}

// named reports whether a person named the path of an effect, or a folder above
// it: as it is shown, in full, or by parts of it, as people do.
func (s *goalState) named(e *engine.Effect) bool {
	place := e.Place()
	if place == "" {
		return false
	}
	return s.scoped(place) || s.means(place) || e.Host == "" && s.means(e.Target)
}

// given reports whether a person wrote the path of an effect in full, or that of a folder that
// contains it, or whether a new folder is part of the way to what they wrote. A directory just under the root does not count.
func (s *goalState) given(e *engine.Effect) bool {
	if e.Host != "" || e.Short == "" || e.Certainty != engine.CertaintyExact && e.Certainty != engine.CertaintyGlob {
		return false
	}
	if e.Verb == "create" && e.Exists == "no" && slices.ContainsFunc(s.Names, func(n string) bool {
		return strings.HasPrefix(n, e.Short+"/") || strings.HasPrefix(n, e.Target+"/")
	}) && strings.Count(e.Short, "/") > 0 {
		return true
	}
	return slices.ContainsFunc(append(upwards(e.Short), upwards(e.Target)...), func(p string) bool {
		return (strings.HasPrefix(p, "~/") || strings.Count(p, "/") > 1) && slices.ContainsFunc([]string{p, p + "/"}, func(p string) bool {
			return slices.Contains(s.Names, truncateKey(p))
		})
	})
}

// means reports whether a person named a path or a folder above it. A name that
// was cut short stands for the whole path or a folder above it only.
func (s *goalState) means(path string) bool {
	if slices.ContainsFunc(s.Names, func(n string) bool { return namesPath(n, path) }) {
		return true
	}
	return slices.ContainsFunc(upwards(strings.TrimPrefix(path, "./")), func(p string) bool {
		key := truncateKey(p)
		return key != p && slices.Contains(s.Names, key)
	})
}

// scoped reports whether a path is in what a person added to the scope by hand.
func (s *goalState) scoped(path string) bool {
	if len(s.Scope) == 0 {
		return false
	}
	return slices.ContainsFunc(upwards(path), func(p string) bool { return slices.Contains(s.Scope, truncateKey(p)) })
}

// added reports whether an effect stays in what a person added to the scope. A
// target of which only the beginning is known may lead out of it again.
func (s *goalState) added(e *engine.Effect) bool {
	return e.Host == "" && (e.Certainty == engine.CertaintyExact || e.Certainty == engine.CertaintyGlob) && e.Short != "" && s.scoped(e.Short)
}

// addScope records that a path belongs to what the session is about.
func (s *goalState) addScope(path string) {
	if path != "" {
		s.Scope = keepLast(appendOnce(s.Scope, truncateKey(path)), maxScope)
	}
}

// Bounds of what can count again. They belong to FoldVersion.
const (
	maxForgiven = 8 // denials
	maxDropped  = 4 // files of code
)

// Heeds reports whether what people wrote makes policy milder.
func (h *State) Heeds() bool {
	g := &h.Goals
	return h.PromptN > 0 || g.known() || len(g.Mentions)+len(g.Lifted)+len(g.Permitted)+len(h.Forgiven) > 0 || h.Marks[labelPerson] != "" ||
		slices.ContainsFunc(h.Forms, func(f formEntry) bool { return f.Person+f.Approved > 0 }) ||
		slices.ContainsFunc(h.Code, func(w writtenCode) bool { return w.Agreed }) ||
		slices.ContainsFunc(h.Paths, func(p pathEntry) bool { return p.Agreed })
}

// expire ends what makes policy milder. What makes it stricter stays.
func (h *State) expire(mode string) {
	if mode == engine.ExpireNothing {
		return
	}
	h.expireWords()
	if mode == engine.ExpireWords {
		return
	}
	h.dropPermits()
	if mode == engine.ExpirePermits {
		return
	}
	h.Code, h.Dropped = keepLast(append(h.Dropped, h.Code...), maxWritten), nil
	delete(h.Marks, labelOwn)
	h.Trees, h.Hosts, h.Rolled, h.Made = nil, "", nil, nil
	for i := range h.Paths {
		if p := &h.Paths[i]; p.State == engine.LedgerCreated {
			p.State = engine.LedgerWritten
		}
	}
}

func (h *State) expireWords() {
	g := &h.Goals
	g.Intents, g.Names, g.Words, g.Mentions = nil, nil, "", nil
	for i := range g.Forbidden {
		g.Forbidden[i].Later = nil
	}
	for _, s := range g.Lifted {
		if s.From != "" {
			if len(g.Standing) < engine.MaxStanding {
				g.Standing = append(g.Standing, s)
			}
			continue
		}
		g.forbid(s)
	}
	g.Lifted, g.Permitted, g.Asked = nil, nil, nil
	h.Denials = keepLast(append(h.Forgiven, h.Denials...), maxDenials)
	slices.SortStableFunc(h.Denials, func(a, b denial) int { return cmp.Compare(a.N, b.N) })
	h.Forgiven = nil
	delete(h.Marks, labelPerson)
	h.Forms = slices.DeleteFunc(h.Forms, func(f formEntry) bool { return f.Refused == 0 })
	for i := range h.Forms {
		h.Forms[i].Person, h.Forms[i].Approved = 0, 0
	}
	for i := range h.Code {
		h.Code[i].Agreed = false
	}
	for i := range h.Paths {
		h.Paths[i].Agreed = false
	}
	h.FileOps, h.Before = h.FileOps+h.Before, 0
	h.PromptAt, h.PromptN = 0, 0
}

// Limits of the statements that are kept; they belong to FoldVersion. Permissions only make policy
// milder, so the oldest is forgotten. Prohibitions are never forgotten: see goalState.forbid.
const (
	maxForbidden = 24 // and one for each act
	maxPermitted = 12
	maxLifted    = 8   // those before are lifted for good
	maxSaidText  = 160 // bytes of a sentence
)

// say records the statements of a prompt, in their order.
func (h *State) say(g *engine.Goal) {
	for _, s := range append(slices.Clone(g.Statements), statementsOfConstraints(g.Constraints)...) {
		if s.Act == "" {
			continue
		}
		s = h.bounded(s)
		if s.Refers {
			s.Objects, s.Refers = h.Goals.lastNamed(), false
		}
		if s.Kind != engine.Forbids && h.Goals.answers(s) {
			h.forgiveForbidden()
		}
		h.Goals.say(heldStatement{Statement: s, Prompt: h.Prompts})
	}
}

// answers reports whether a statement lifts a prohibition that holds, or orders or permits what one forbids.
func (s *goalState) answers(n engine.Statement) bool {
	return slices.ContainsFunc(s.Forbidden, func(f heldStatement) bool {
		also := f.Act == "only_in" && n.Act == "change" && len(n.Objects) > 0 // besides what changes were limited to
		return lifts(&f, n) || n.Kind != engine.Lifts && (also || f.Act == n.Act && overlap(f.Objects, n.Objects))
	})
}

// lastNamed returns what the latest order to install something named.
func (s *goalState) lastNamed() []string {
	for i := len(s.Permitted) - 1; i >= 0; i-- {
		if p := s.Permitted[i]; p.Act == "install" && len(p.Objects) > 0 {
			return p.Objects
		}
	}
	return nil
}

// bounded returns a statement in the form in which it is kept.
func (h *State) bounded(s engine.Statement) engine.Statement {
	s.Act, s.Until, s.Text = boundKey(s.Act, keyLength), boundKey(s.Until, digestLength), engine.ClipJSON(s.Text, maxSaidText)
	objects := make([]string, 0, len(s.Objects))
	for _, o := range s.Objects {
		if o = h.inFull(o); s.Kind == engine.Orders || s.Kind == engine.Permits {
			o = h.within(o)
		}
		objects = append(objects, truncateKey(o))
	}
	if s.Objects = objects; len(objects) == 0 {
		s.Objects = nil
	}
	return s
}

// ask records for each prohibition what a later prompt asks for. Whether that
// lifts it is for policy to decide.
func (s *goalState) ask(intents []engine.Intent) {
	for _, list := range [][]heldStatement{s.Forbidden, s.Standing} {
		for i := range list {
			f := &list[i]
			f.Later = append(slices.Clone(f.Later), knownWords(intents, engine.Intents())...)
			slices.Sort(f.Later)
			f.Later = slices.Compact(f.Later)
		}
	}
}

func (s *goalState) say(n heldStatement) {
	switch n.Kind {
	case engine.Forbids:
		s.Permitted = slices.DeleteFunc(s.Permitted, func(p heldStatement) bool { return p.Act == n.Act && overlap(p.Objects, n.Objects) })
		s.forbid(n)
	case engine.Orders, engine.Permits:
		s.Permitted = slices.DeleteFunc(s.Permitted, func(p heldStatement) bool { return p.Same(n.Statement) })
		s.Permitted = keepLast(append(s.Permitted, n), maxPermitted)
		if n.Until == engine.UntilSession {
			s.lift(n.Statement)
		}
	case engine.Lifts:
		s.lift(n.Statement)
	}
}

// forbid holds a prohibition; a repeated one applies from now on. Beyond maxForbidden, the oldest that
// names something becomes one that names nothing: since it is forgotten what it is about, it applies to
// everything until a person lifts it.
func (s *goalState) forbid(n heldStatement) {
	s.hold(n)
	if len(s.Forbidden) <= maxForbidden {
		return
	}
	if i := slices.IndexFunc(s.Forbidden, func(f heldStatement) bool { return len(f.Objects) > 0 }); i >= 0 {
		general := s.Forbidden[i]
		s.Forbidden = slices.Delete(s.Forbidden, i, i+1)
		general.Objects = nil
		if general.Act == "only_in" {
			general.Act = "change" // nobody knows any more where changes are in order
		}
		s.hold(general)
		return
	}
	s.Forbidden = s.Forbidden[len(s.Forbidden)-maxForbidden:] // of acts that no table has
}

func (s *goalState) hold(n heldStatement) {
	s.Forbidden = slices.DeleteFunc(s.Forbidden, func(f heldStatement) bool {
		return f.Same(n.Statement) || f.Act == n.Act && len(f.Objects)+len(n.Objects) == 0
	})
	s.Forbidden = append(s.Forbidden, n)
}

// lift ends what was forbidden of an act. Who agrees to go on lifts what made the work wait, unless
// it was forbidden with "never".
func (s *goalState) lift(n engine.Statement) {
	lift := func(f heldStatement) bool {
		lifted := lifts(&f, n)
		if lifted {
			s.Lifted = keepLast(append(s.Lifted, f), maxLifted)
		}
		return lifted
	}
	s.Forbidden, s.Standing = slices.DeleteFunc(s.Forbidden, lift), slices.DeleteFunc(s.Standing, lift)
}

// lifts reports whether a statement that lifts something ends a prohibition.
func lifts(f *heldStatement, n engine.Statement) bool {
	if n.Kind != engine.Lifts && n.Until != engine.UntilSession {
		return false
	}
	waits := n.Act == "wait" && n.Kind == engine.Lifts && len(n.Objects) == 0 && !f.Never && f.Act == "change" && len(f.Objects) == 0
	covered := len(n.Objects) == 0 || len(f.Objects) > 0 && within(f.Objects, n.Objects)
	return waits || covered && (f.Act == n.Act || n.Act == "change" && f.Act == "only_in" && len(n.Objects) == 0)
}

// within reports whether all of some objects are in a list.
func within(objects, list []string) bool {
	return !slices.ContainsFunc(objects, func(o string) bool { return !slices.Contains(list, o) })
}

// drop ends one prohibition.
func (s *goalState) drop(n engine.Statement) {
	same := func(f heldStatement) bool { return f.Same(n) && f.From == n.From }
	s.Forbidden = slices.DeleteFunc(s.Forbidden, same)
	s.Standing = slices.DeleteFunc(s.Standing, func(f heldStatement) bool {
		if same(f) {
			s.Lifted = keepLast(append(s.Lifted, f), maxLifted)
		}
		return same(f)
	})
}

func overlap(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// use records that a call used permissions for one act.
func (s *goalState) use(acts []string, n int64) {
	for _, act := range acts {
		for i := len(s.Permitted) - 1; i >= 0; i-- {
			if p := &s.Permitted[i]; p.Act == act && p.Used == 0 && p.Until != engine.UntilSession {
				p.Used = n
				break
			}
		}
	}
}

// settle gives a permission back that a call used which did not do its act, and forgets it otherwise.
func (s *goalState) settle(pre int64, ran bool) {
	for i := range s.Permitted {
		if p := &s.Permitted[i]; p.Used == pre && pre > 0 && !ran {
			p.Used = 0
		}
	}
}

// Said is a statement of a prompt that holds.
type Said struct {
	Prompt int64 `json:"prompt"` // number of the prompt in the session
	engine.Statement
}

// Prohibitions lists what people forbade, as far as it holds.
func (s *goalState) Prohibitions() []engine.Statement {
	var list []engine.Statement
	for _, held := range slices.Concat(s.Standing, s.Forbidden) {
		list = append(list, held.Statement)
	}
	return list
}

// Statements lists what people forbade, ordered and permitted, as far as it holds.
func (s *goalState) Statements() []Said {
	list := []Said{}
	for _, held := range slices.Concat(s.Standing, s.Forbidden, s.Permitted) {
		if held.Used == 0 {
			list = append(list, Said{held.Prompt, held.Statement})
		}
	}
	return list
}

// statements compares an action with what people said.
func (s *goalState) statements(a *engine.Action) []engine.StatementFacts {
	list := []engine.StatementFacts{}
	for _, held := range slices.Concat(s.Standing, s.Forbidden, s.Permitted) {
		if held.Used > 0 {
			continue
		}
		f := engine.StatementFacts{Kind: held.Kind, Act: held.Act, Objects: held.Objects, Until: held.Until, Never: held.Never,
			Text: held.Text, From: held.From, Prompt: held.Prompt, Later: orEmpty(held.Later)}
		f.Changes, f.Touched, f.Beyond = relation(&held.Statement, a)
		list = append(list, f)
	}
	return list
}

// maxOffers bounds what answers to one question order. It belongs to FoldVersion.
const maxOffers = 8

// foldAsk remembers what the client asks the person, until they answer or write something.
func (h *State) foldAsk(r *engine.Record, denied bool) {
	if r.Event == nil || r.Event.Asked == nil {
		return
	}
	h.Goals.Asked = nil
	if denied || r.Call == "" {
		return
	}
	q := &askedEntry{Call: truncateKey(r.Call), MAC: prefix(r.Event.Asked.MAC, argsLength)}
	for _, o := range r.Event.Asked.Offers {
		if len(q.Offers) < maxOffers {
			q.Offers = append(q.Offers, engine.Offer{Choice: boundKey(o.Choice, digestLength), Statement: h.bounded(o.Statement)})
		}
	}
	h.Goals.Asked = q
}

// foldChoice records the answer to the last question, if it is that to the question which was put.
func (h *State) foldChoice(r *engine.Record, ran bool) {
	q := h.Goals.Asked
	if q == nil || r.Event == nil || r.Event.Asked == nil || q.Call != truncateKey(r.Call) {
		return
	}
	h.Goals.Asked = nil
	if ran && q.MAC == prefix(r.Event.Asked.MAC, argsLength) && r.Event.Goal != nil {
		h.say(r.Event.Goal)
	}
}

// agree records what a prompt agrees to. A question counts until the next prompt, whatever that says.
func (h *State) agree(agrees string) {
	q := h.Goals.Asked
	h.Goals.Asked = nil
	if q == nil || agrees == "" {
		return
	}
	choice, always := strings.CutSuffix(agrees, " always")
	var said []engine.Statement
	for _, o := range q.Offers {
		if o.Choice != choice {
			continue
		}
		if o.Statement.Kind == engine.Orders && always {
			o.Statement.Until = engine.UntilSession
		}
		said = append(said, o.Statement)
	}
	h.say(&engine.Goal{Statements: slices.Clip(said)})
}
