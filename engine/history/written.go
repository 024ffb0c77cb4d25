package history

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// Bounds of what is kept of code that the session wrote and policy objected to.
const (
	maxWritten  = 16
	kindsLength = 32 // bytes of the kinds of one file
	rulesLength = 96 // bytes of the rules that object to it
)

// writtenCode is a file with code that policy objected to. After a person's approval it is not
// asked about again until the file does something else.
type writtenCode struct {
	Key    string `json:"k"`
	Kinds  string `json:"t"`           // with spaces between
	Rules  string `json:"r,omitempty"` // with spaces between
	Digest string `json:"d"`
	N      int64  `json:"n"` // record of the call that wrote it
	Agreed bool   `json:"y,omitempty"`
}

func (w *writtenCode) size() int {
	return len(w.Key) + len(w.Kinds) + text(w.Rules) + len(w.Digest) + digits(w.N) + 45
}

// foldCode records the code that a call writes, as if it had run: code that
// policy objected to, and files that may be copies of it under other names.
func (h *State) foldCode(r *engine.Record, a *engine.Action) {
	h.carryCode(r.N, a)
	for i := range a.Code {
		c := &a.Code[i]
		if v := verdictOf(r, c.Path); v != nil {
			h.keepCode(writtenCode{Key: truncateKey(c.Path), Kinds: boundKey(strings.Join(c.Kinds, " "), kindsLength),
				Rules: joinIDs(v.Rules), Digest: boundKey(c.Digest, digestLength), N: r.N}, c.Part)
		}
	}
}

func verdictOf(r *engine.Record, path string) *engine.CodeVerdict {
	if r.Decision == nil {
		return nil
	}
	for i := range r.Decision.Code {
		if v := &r.Decision.Code[i]; v.Path == path {
			return v
		}
	}
	return nil
}

// joinIDs puts whole ids together, as many as there is room for.
func joinIDs(ids []string) string {
	var all string
	for _, id := range ids {
		if next := strings.TrimSpace(all + " " + id); plain(id) && len(next) <= rulesLength {
			all = next
		}
	}
	return all
}

// keepCode replaces the known facts about a file. If only a part of the file is
// known, it is added.
func (h *State) keepCode(w writtenCode, part bool) {
	if i := h.codeAt(w.Key); i >= 0 {
		old := h.Code[i]
		if w.Agreed = old.Agreed && old.Digest == w.Digest; part {
			w.Rules = joinIDs(union(strings.Fields(old.Rules), strings.Fields(w.Rules)))
		}
		h.Code = slices.Delete(h.Code, i, i+1)
	}
	h.Code = append(h.Code, w)
	if len(h.Code) > maxWritten {
		i := max(0, slices.IndexFunc(h.Code, func(o writtenCode) bool { return o.Agreed }))
		h.Code = slices.Delete(h.Code, i, i+1)
	}
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

func (h *State) codeAt(key string) int {
	return slices.IndexFunc(h.Code, func(w writtenCode) bool { return w.Key == key })
}

// carryCode follows code to another name: copied, moved, linked.
func (h *State) carryCode(n int64, a *engine.Action) {
	if len(h.Code) == 0 {
		return
	}
	for _, w := range slices.Clone(h.Code) {
		for i := range a.Effects {
			if from := &a.Effects[i]; from.Command >= 0 && reaches(from, w.Key) {
				h.copyCode(w, n, from, a)
			}
		}
	}
}

// copyCode notes what the command writes that touches a file of code, except for those
// that print or change text.
func (h *State) copyCode(w writtenCode, n int64, from *engine.Effect, a *engine.Action) {
	for i := range a.Effects {
		to := &a.Effects[i]
		key := truncateKey(to.Place())
		if to.Kind != engine.EffectFileWrite || to.Command != from.Command || key == w.Key || key == "" {
			continue
		}
		if to.Verb == "move" || to.Verb == "copy" || to.Verb == "link" || to.Verb == "write" {
			if to.Entry == "dir" {
				key = truncateKey(to.Place() + "/" + path.Base(w.Key))
			}
			moved := w
			moved.Key, moved.N = key, n
			h.keepCode(moved, false)
		}
	}
}

// dropCode forgets code that was deleted or overwritten, now that the call ran.
// In a line with several commands it is unknown which of them ran, except for those that write
// code to which nothing objects.
func (h *State) dropCode(pre int64, a *engine.Action) {
	if a == nil || len(h.Code) == 0 {
		return
	}
	h.Code = slices.DeleteFunc(h.Code, func(w writtenCode) bool {
		dropped := w.N < pre && (slices.ContainsFunc(a.Code, func(c engine.Code) bool {
			return c.Digest == "" && !c.Part && w.Key == truncateKey(c.Path)
		}) || len(a.Commands) <= 1 && slices.ContainsFunc(a.Effects, func(e engine.Effect) bool {
			return e.Certainty == engine.CertaintyExact && truncateKey(e.Place()) == w.Key && replaced(&e)
		}))
		if dropped {
			h.Dropped = keepLast(append(h.Dropped, w), maxDropped)
		}
		return dropped
	})
}

// replaced reports whether nothing of a file is left.
func replaced(e *engine.Effect) bool {
	return e.Kind == engine.EffectFileDelete ||
		e.Kind == engine.EffectFileWrite && (e.Verb == "write" || e.Verb == "truncate" || e.Verb == "rename")
}

// inherits lists the code of the session that an action may run and that nobody has
// agreed to.
func (h *State) inherits(a *engine.Action) []engine.Inherited {
	var list []engine.Inherited
	for i := range h.Code {
		w := &h.Code[i]
		if runs, named := w.runBy(a); runs && !w.Agreed {
			list = append(list, engine.Inherited{Path: w.Key, Rules: orEmpty(strings.Fields(w.Rules)), Named: named})
		}
	}
	return list
}

// agreeCode records the person's approval of the code that a call ran after a question.
func (h *State) agreeCode(a *engine.Action) {
	if a == nil {
		return
	}
	for i := range h.Code {
		if runs, _ := h.Code[i].runBy(a); runs {
			h.Code[i].Agreed = true
		}
	}
}

// runBy reports whether an action may run a file, and whether it names it.
func (w *writtenCode) runBy(a *engine.Action) (runs, named bool) {
	kinds := strings.Fields(w.Kinds)
	for _, what := range a.Loads {
		name, module := strings.CutPrefix(what, "=")
		script, given := strings.CutPrefix(what, engine.ScriptMark)
		runs = runs || what == engine.CodeAny && !quiet(kinds) || slices.Contains(kinds, what)
		named = named || module && w.goesBy(name) || given && (names(script, w.Key) ||
			w.becomes(a, func(place string) bool { return names(script, truncateKey(place)) }))
	}
	named = named || w.calledBy(a) || w.becomes(a, func(place string) bool { return calls(a, path.Base(place)) }) ||
		(runs || slices.Contains(a.Loads, engine.CodeNamed)) && w.namedBy(a)
	return runs || named, named
}

// quiet reports whether files of these kinds are not code for a program that runs
// the files it finds.
func quiet(kinds []string) bool {
	return !slices.ContainsFunc(kinds, func(k string) bool {
		return k != engine.CodeText && k != engine.CodeData && k != engine.CodeMarkdown
	})
}

// goesBy reports whether a name is that of the file as a module, or that of a
// folder above it.
func (w *writtenCode) goesBy(name string) bool {
	parts := strings.Split(w.Key, "/")
	last := parts[len(parts)-1]
	parts[len(parts)-1] = strings.TrimSuffix(last, path.Ext(last))
	return slices.Contains(parts, name) || last == name
}

// namedBy reports whether a command has the file's name among its words, as it
// is or as a pattern; or that the call reads a file of code, which may come to an
// interpreter by a pipe.
func (w *writtenCode) namedBy(a *engine.Action) bool {
	if slices.ContainsFunc(a.Effects, func(e engine.Effect) bool { return w.readBy(a, &e) }) {
		return true
	}
	return !w.data() && slices.ContainsFunc(a.Commands, func(c engine.Command) bool {
		return slices.ContainsFunc(c.Operands, w.named) || slices.ContainsFunc(c.Flags, w.named)
	})
}

// calledBy reports whether a command of an action has the file's name. A known program
// may have it, too; which of the two runs depends on the search path.
func (w *writtenCode) calledBy(a *engine.Action) bool { return calls(a, path.Base(w.Key)) }

// calls reports whether a command of an action has a name.
func calls(a *engine.Action, name string) bool {
	return slices.ContainsFunc(a.Commands, func(c engine.Command) bool { return c.Name == name })
}

// becomes reports whether the call itself copies, moves or links the file to a script or program that it runs.
func (w *writtenCode) becomes(a *engine.Action, run func(place string) bool) bool {
	return slices.ContainsFunc(a.Effects, func(to engine.Effect) bool {
		return to.Kind == engine.EffectFileWrite && to.Verb != "rename" && run(to.Place()) &&
			slices.ContainsFunc(a.Effects, func(from engine.Effect) bool {
				linked := to.Verb == "link" && from.Run
				return (from.Command == to.Command || linked) && from.Place() != to.Place() && truncateKey(from.Place()) == w.Key
			})
	})
}

// data reports whether the file is data by its name: a command that merely names it
// does not run it.
func (w *writtenCode) data() bool { return slices.Contains(strings.Fields(w.Kinds), engine.CodeData) }

// readBy reports whether a command reads the file from its input: any command
// of the call if the file is code by its name, else one without operands.
func (w *writtenCode) readBy(a *engine.Action, e *engine.Effect) bool {
	if e.Kind != engine.EffectFileRead || truncateKey(e.Place()) != w.Key {
		return false
	}
	if w.Kinds != engine.CodeText && !w.data() || e.Command < 0 {
		return true
	}
	return e.Command < len(a.Commands) && !slices.ContainsFunc(a.Commands[e.Command].Operands, func(o string) bool { return o != "-" })
}

// named reports whether a word is the file's name, or contains several words,
// one of which is.
func (w *writtenCode) named(word string) bool {
	if names(word, w.Key) {
		return true
	}
	return strings.ContainsAny(word, " (=") && slices.ContainsFunc(strings.FieldsFunc(word, notInName), func(part string) bool {
		return path.Ext(part) != "" && names(part, w.Key)
	})
}

// notInName reports whether a sign ends a name in a word that is code:
// source("a.R").
func notInName(r rune) bool { return strings.ContainsRune(" \t\n\"'(),;=", r) }

// names reports whether a word is a file's name, with or without its
// extension, or a pattern that matches it.
func names(word, file string) bool {
	if _, value, ok := strings.Cut(word, "="); ok {
		word = value
	}
	base, last := path.Base(file), path.Base(word)
	stem := strings.TrimSuffix(base, path.Ext(base))
	if last == "*" { // all of a folder
		dir := path.Base(path.Dir(file))
		return dir != "." && dir == path.Base(path.Dir(word))
	}
	return last == base || strings.Contains(word, "/") && last == stem ||
		strings.ContainsAny(last, "*?[") && wildcard.Match(last, base)
}
