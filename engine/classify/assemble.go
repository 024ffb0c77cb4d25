package classify

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
)

// assemble builds an action from what was read. Its strings are still raw.
func assemble(r *toolReader, res *place.Resolver) *engine.Action {
	a := &engine.Action{Name: r.tool.action, Commands: r.script.Commands, Opaque: r.script.Opaque,
		Terminals: r.script.Terminals}
	seen := map[engine.Effect]bool{}
	for _, raw := range byKind(landings(slices.Concat(r.script.Effects, r.script.Guarded))) {
		e := res.Effect(raw)
		e.Class = r.editorClass(res, &e)
		if e.Kind == engine.EffectFileRead && e.Host == "" {
			e.Unread = r.script.Unread[e.Target]
		}
		switch {
		case r.onlyMinor(res, &e):
			e.Guard = place.GuardMinor
		case r.onlyWidens(res, &e):
			e.Guard = place.GuardWidens
		}
		if !seen[e] && !(raw.Guessed && !secret(&e)) && !(raw.ForGuard && res.Guard(&e) == "") {
			seen[e] = true
			a.Effects = append(a.Effects, e)
		}
		if raw.Parents {
			a.Effects = append(a.Effects, res.Above(e)...)
		}
	}
	keepMoves(a.Effects)
	sortEffects(a.Effects)
	a.Flows = flowsOf(r, res)
	a.Paths, a.Hosts = pathsOf(a.Effects), hostsOf(r.script)
	signals := r.script.Signals
	derive(a, res, signals)
	r.elsewhere(a.Effects, res)
	res.SettlePorts(a.Effects, fmt.Sprint(r.args))
	a.Signals = sortedSignals(signals)
	possible(a, r, res)
	if blind(a.Effects) {
		addOpaque(a, "target", "")
	}
	a.Types = typesOf(r, a)
	a.Intent = intentOf(r, a.Types)
	a.Check, a.Waits, a.Watches = checks(a, r.in.Rows), waits(r, a), watches(r, a)
	a.Plan, a.ToolVerb = planOf(r.tool.row.Plan, r.args), r.verb
	a.Starts, a.Remotes = startsOf(r, a), r.script.Remotes[:min(len(r.script.Remotes), maxRemotes)]
	if !leavesRunning(r) && len(a.Opaque) == 0 {
		a.Makes = r.script.Makes
	}
	if a.Commands == nil {
		a.Commands = []engine.Command{}
	}
	if a.Effects == nil {
		a.Effects = []engine.Effect{}
	}
	if a.Opaque == nil {
		a.Opaque = []engine.Opaque{}
	}
	return a
}

// maxRemotes limits the remotes that a record keeps for a call.
const maxRemotes = 8

// maxPossible limits the possible effects and commands that a record keeps.
const maxPossible = 8

// possible adds the commands that are arguments of unknown programs, and their effects.
func possible(a *engine.Action, r *toolReader, res *place.Resolver) {
	a.PossibleCommands = r.script.PossibleRuns[:min(len(r.script.PossibleRuns), maxPossible)]
	if len(r.script.Possible) == 0 && len(r.script.PossibleSignals) == 0 {
		return
	}
	maybe := engine.Action{}
	for _, raw := range byKind(landings(r.script.Possible)) {
		if e := res.Effect(raw); !(raw.Guessed && !secret(&e)) && !slices.Contains(maybe.Effects, e) {
			maybe.Effects = append(maybe.Effects, e)
		}
	}
	sortEffects(maybe.Effects)
	signals := maps.Clone(r.script.PossibleSignals)
	if signals == nil {
		signals = map[engine.Signal]bool{}
	}
	derive(&maybe, res, signals)
	res.SettlePorts(maybe.Effects, fmt.Sprint(r.args))
	a.Possible, a.PossibleSignals = maybe.Effects[:min(len(maybe.Effects), maxPossible)], sortedSignals(signals)
}

// landings separates the two ends of a move: the source, which is renamed or moved away, and
// the file that is overwritten at the destination. There, "move" means that the only copy may
// now be at the target.
func landings(list []abstract.RawEffect) []abstract.RawEffect {
	moving := map[int]bool{}
	for _, e := range list {
		if e.Verb == "move" && e.Command >= 0 {
			moving[e.Command] = true
		}
	}
	list = slices.Clone(list)
	for i := range list {
		switch e := &list[i]; {
		case e.Kind != engine.EffectFileWrite || !moving[e.Command]:
		case e.Verb == "move":
			e.Verb = "rename"
		case e.Verb == "write":
			e.Verb = "move"
		}
	}
	return list
}

// byKind sorts raw effects, the worst kinds first, so that the limited number of disk
// accesses is spent on those.
func byKind(list []abstract.RawEffect) []abstract.RawEffect {
	slices.SortStableFunc(list, func(a, b abstract.RawEffect) int { return cmp.Compare(kindRank(a.Kind), kindRank(b.Kind)) })
	return slices.Compact(list)
}

func kindRank(k engine.EffectKind) int { return slices.Index(engine.EffectKinds(), string(k)) }

// sortEffects sorts effects, the worst first: by kind, by what is lost there, and then in
// an arbitrary but fixed order.
func sortEffects(list []engine.Effect) {
	slices.SortStableFunc(list, func(a, b engine.Effect) int {
		return cmp.Or(
			cmp.Compare(kindRank(a.Kind), kindRank(b.Kind)),
			-cmp.Compare(weight(a), weight(b)),
			cmp.Compare(a.Command, b.Command),
			cmp.Compare(a.Target, b.Target),
			cmp.Compare(a.Verb, b.Verb),
		)
	})
}

// weight orders effects of the same kind, in case not all of them can be kept.
func weight(e engine.Effect) int {
	w := 4 * place.Rank(e.Location)
	if e.Class != "" && e.Class != engine.ClassGenerated && e.Class != engine.ClassTest {
		w += 32
	}
	if e.Recursive || e.Egress || e.Persistence {
		w += 2
	}
	if e.Forced || e.Privileged {
		w++
	}
	return w
}

func pathsOf(effects []engine.Effect) []string {
	list := []string{}
	for _, e := range effects {
		if e.Short != "" && e.Location != engine.LocationNull {
			list = append(list, e.Place())
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func hostsOf(s abstract.Script) []string {
	list := []string{}
	for _, e := range s.Effects {
		if e.Kind == engine.EffectNetwork {
			if h := place.HostOf(e.Target); h != "" && !remoteName(s.Commands, e) {
				list = append(list, h)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// remoteName reports whether a target is git's name for a remote ("origin") and not a host.
func remoteName(commands []engine.Command, e abstract.RawEffect) bool {
	return e.Command >= 0 && e.Command < len(commands) && commands[e.Command].Name == "git" && !strings.ContainsAny(e.Target.Text, ":/.@")
}

// derive adds what only resolved paths show: properties of effects, and signals with the
// names that other tools (SafeClaw) use. Everything else is up to policy.
func derive(a *engine.Action, res *place.Resolver, signals map[engine.Signal]bool) {
	for i := range a.Effects {
		e := &a.Effects[i]
		if (e.Exists == "no" || e.Reversibility == engine.R1 || e.Reversibility == engine.R3) && place.Arrives(e, a.Effects) {
			e.Exists, e.Reversibility = "", ""
		}
		if known := res.Guard(e); known == "" || e.Guard != place.GuardMinor && e.Guard != place.GuardWidens {
			e.Guard = known
		}
		whole := e.Certainty == engine.CertaintyExact // for a pattern the class shows it
		e.Repository = whole && e.Object != engine.ObjectWorktree && res.HoldsGit(e)
		if broad(e) {
			signals[engine.SignalBroadDelete] = true
		}
		if e.Class == engine.ClassCredential || e.Class == engine.ClassEnvFile {
			signals[engine.SignalCredential] = true
		}
		if persistent(e) {
			signals[engine.SignalPersistence] = true
		}
	}
}

// secret reports whether a file with secrets is read, or is in another place afterwards.
func secret(e *engine.Effect) bool {
	return (e.Class == engine.ClassCredential || e.Class == engine.ClassEnvFile) && (e.Kind == engine.EffectFileRead || place.Displaced(e))
}

// broad reports whether a root, a home, a system directory or a parent of the workspace is
// deleted, moved away or made accessible.
func broad(e *engine.Effect) bool {
	opens := e.Kind == engine.EffectFileWrite && e.Recursive &&
		slices.Contains([]string{"chmod", "chown", "chgrp", "chattr", "setfacl"}, e.Verb)
	if !place.Gone(e) && !opens {
		return false
	}
	deep := e.Recursive || place.Displaced(e)
	switch e.Location {
	case engine.LocationRoot, engine.LocationHomeRoot, engine.LocationAncestor:
		return true
	case engine.LocationSelf:
		return deep && !opens && e.Verb != "discard" // git keeps tracked files, and its own data
	case engine.LocationSystem:
		return deep || e.Entry == "dir"
	}
	return false
}

func persistent(e *engine.Effect) bool {
	if e.Persistence {
		return true
	}
	return e.Kind == engine.EffectFileWrite && (e.Class == engine.ClassStartup || e.Class == engine.ClassGitHook)
}

func sortedSignals(set map[engine.Signal]bool) []engine.Signal {
	list := []engine.Signal{}
	for id, on := range set {
		if on {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

// blind reports whether something unknown is deleted or overwritten.
func blind(effects []engine.Effect) bool {
	return slices.ContainsFunc(effects, func(e engine.Effect) bool {
		return place.Alters(&e) && e.Certainty == engine.CertaintyUnknown && e.Reversibility != engine.R2
	})
}

func addOpaque(a *engine.Action, reason, where string) {
	for _, o := range a.Opaque {
		if o.Reason == reason {
			return
		}
	}
	a.Opaque = append(a.Opaque, engine.Opaque{Reason: reason, Where: where})
}

// typesOf returns the types of the action.
func typesOf(r *toolReader, a *engine.Action) []engine.Type {
	set := map[engine.Type]bool{}
	if r.tool.typ != "" {
		set[r.tool.typ] = true
	}
	for i := range a.Effects {
		if t := typeOf(&a.Effects[i]); t != "" {
			set[t] = true
		}
	}
	for _, o := range a.Opaque {
		switch o.Reason {
		case "syntax", "budget", "tool", "arguments", "encoding":
			set[engine.TypeUnknown] = true
		case "command", "code":
			set[engine.TypeSystemCommand] = true
		}
	}
	if len(set) == 0 {
		set[engine.TypeFileRead] = true
	}
	list := make([]engine.Type, 0, len(set))
	for t := range set {
		list = append(list, t)
	}
	slices.Sort(list)
	return list
}

func typeOf(e *engine.Effect) engine.Type {
	switch e.Kind {
	case engine.EffectFileDelete:
		return engine.TypeFileDeletion
	case engine.EffectFileWrite:
		return writeType(e)
	case engine.EffectNetwork:
		return engine.TypeNetworkRequest
	case engine.EffectSystemCall, engine.EffectResource:
		return engine.TypeSystemCommand
	case engine.EffectProcess:
		if e.Privileged {
			return engine.TypeSystemCommand
		}
	}
	return engine.TypeFileRead
}

// writeType distinguishes creation from modification: by whether the file exists or, if
// that is unknown, by the verb.
func writeType(e *engine.Effect) engine.Type {
	switch {
	case e.Location == engine.LocationNull:
		return engine.TypeFileRead
	case e.Location == engine.LocationDevice:
		return engine.TypeSystemCommand
	case e.Exists == "yes" && e.Verb != "mkdir":
		return engine.TypeFileModification
	case e.Exists == "no" || e.Verb == "mkdir":
		return engine.TypeFileCreation
	case slices.Contains([]string{"create", "write", "copy", "link", "download", "extract", "install", "move"}, e.Verb):
		return engine.TypeFileCreation
	}
	return engine.TypeFileModification
}

// intents lists the types by how much they say about an action.
var intents = []engine.Type{
	engine.TypeFileDeletion, engine.TypeUnknown, engine.TypeSystemCommand, engine.TypeNetworkRequest, engine.TypeFileModification,
	engine.TypeFileCreation, engine.TypeFileRead, engine.TypeMessage,
}

func intentOf(r *toolReader, types []engine.Type) engine.Type {
	if r.tool.typ == engine.TypeMCPCall || r.tool.typ == engine.TypeAgentSpawn {
		return r.tool.typ
	}
	for _, t := range intents {
		if slices.Contains(types, t) {
			return t
		}
	}
	return engine.TypeUnknown
}

// sketchSize is the number of hashes that represent the words of a call: enough to estimate
// a Jaccard similarity to about a tenth.
const sketchSize = 16

// sketch returns the smallest hashes of the arguments' words. The words are masked first: a
// short hash of a secret could be guessed.
func sketch(args map[string]any) []string {
	var hashes []uint32
	for _, text := range appendTexts(nil, args) {
		for _, w := range strings.FieldsFunc(strings.ToLower(text), func(c rune) bool {
			return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80 || c == '_')
		}) {
			h := fnv.New32a()
			h.Write([]byte(w))
			hashes = append(hashes, h.Sum32())
		}
	}
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	hashes = hashes[:min(len(hashes), sketchSize)]
	var out []string
	for _, h := range hashes {
		out = append(out, fmt.Sprintf("%08x", h))
	}
	return out
}
