// Package reread finds what a record of a log means for a policy that did not decide it: its detectors search the recorded texts,
// its rows classify the call again, and what the record does not contain is named. What a policy decides then, and comparing
// policies, is not its business.
package reread

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// Policy determines the facts that a policy needs and records of other policies
// lack: raw texts are not stored, so results of other detectors are unknown. It may be
// used by several goroutines at once.
type Policy struct {
	policy    string // digest
	detectors string // digest
	rows      []bundles.Detector
	redact    []string
	known     *rows.Set // what is known about programs
	kept      *active.PolicyFinder
	detector  engine.Detector // nil: the policy has none
	places    func(tool, argument string) []engine.Place
	Readers   func(id string) simulate.Readers // what reads the result of a detector

	mu   sync.Mutex
	than map[engine.By]*missingUnder // env and config left out
}

// missingUnder is the facts that are missing under one recorded policy.
type missingUnder struct {
	rows    []bundles.Detector
	unknown string   // why this is unknown; empty: it is known
	masked  []string // kinds of personal data that were masked then, and are not now
	open    []string // and the other way around

	reread  *rereading                           // nil: the rows are the same, or the former are unknown
	all     bool                                 // words or tokens have changed, which any call may need
	changed func(program string) bool            // the rows of a program have changed; nil: none has
	tool    func(name string) bool               // likewise, of a tool
	places  bool                                 // rows of places have changed
	path    func(home, workspace, p string) bool // a path is of another class now
	unread  string                               // why the former rows are unknown; empty: they are known
}

// New returns a policy that reads the records of others, which are among the kept ones.
func New(e *bundles.Effective, p *review.Policy, kept *active.PolicyFinder) *Policy {
	l := &Policy{policy: e.Digest, detectors: p.Detectors, rows: e.Detectors(), redact: e.Redact, kept: kept,
		known: classify.NewRows(e.RowLayers()), than: map[engine.By]*missingUnder{}, detector: p.Detector, Readers: readersIn(e)}
	l.places = classify.Places(l.known)
	return l
}

// Missing describes what a record lacks. For one that this policy decided it is empty.
func (l *Policy) Missing(r *engine.Record, workspace string) simulate.Missing {
	if r.By == nil || r.Event == nil || r.Note != nil || !r.Phase.Reviewed() || r.By.Policy == l.policy {
		return simulate.Missing{}
	}
	f := l.under(*r.By)
	m := l.search(r, f.rows)
	if m.Fact = f.personal(r.Event.Args); m.Fact == "" {
		m.Action, m.Fact = f.read(r, workspace)
	}
	switch {
	case len(m.Detectors) == 0:
	case m.Fact != "":
		m.Detectors = nil
	case f.unknown != "":
		m.Fact = f.unknown
	default:
		m.Fact = "contents were not searched for " + someIDs(m.Detectors) + ", which this policy detects"
	}
	return m
}

// read classifies a call again if rows for it have changed, and returns what it means now, if that is something else, or
// why that is unknown.
func (f *missingUnder) read(r *engine.Record, workspace string) (a *engine.Action, why string) {
	why = f.rowsChanged(r)
	if r.Action == nil || f.reread == nil || why == "" && (r.Phase != engine.PhasePre || !f.all && !f.places) {
		return nil, why
	}
	switch {
	case f.places && slices.ContainsFunc(r.Action.Effects, matches):
		return nil, "what kinds of files a pattern matches: classes have changed since the call was recorded, which does not list them"
	case f.places && slices.ContainsFunc(r.Action.Commands, guessed):
		return nil, "what kinds of files an unknown program gets: classes have changed since the call was recorded, which shows no links"
	}
	a, reason := f.reread.action(r, workspace)
	switch {
	case reason != "" && why == "" && !f.all:
		return nil, "" // its files have the same classes
	case reason != "":
		return nil, cmp.Or(why, "what the call means: rows have changed since it was recorded") + ", and " + reason
	case slices.ContainsFunc(r.Action.Effects, func(e engine.Effect) bool { return f.renamed(r, &e) && (a == nil || holds(a, &e)) }):
		return nil, why // by its name alone, the file is in another class now
	case a != nil && r.Phase == engine.PhasePost:
		return nil, why // what its result means was not recorded
	}
	return a, ""
}

// matches reports whether an effect is on the files that match a pattern.
func matches(e engine.Effect) bool { return ofFile(&e) && e.Certainty == engine.CertaintyGlob }

// guessed reports whether only the class of an operand, or of what it links to, shows that a command reads it as a file.
func guessed(c engine.Command) bool { return c.Unlisted && len(c.Operands) > 0 }

// holds reports whether an action has an effect on a file in the same class.
func holds(a *engine.Action, e *engine.Effect) bool {
	return slices.ContainsFunc(a.Effects, func(o engine.Effect) bool { return o.Target == e.Target && o.Class == e.Class })
}

// renamed reports whether the file of an effect is in another class now.
func (f *missingUnder) renamed(r *engine.Record, e *engine.Effect) bool {
	return e.Target != "" && ofFile(e) && f.path(homeOf(r, r.Event.CWD), r.Event.CWD, e.Target)
}

// Again returns what a recorded call means by the rows of another policy; nil: what was recorded, or it is unknown.
func (l *Policy) Again(r *engine.Record, workspace string, known engine.Rows) *engine.Action {
	set, ok := known.(*rows.Set)
	if !ok || r.By == nil || r.Event == nil || r.Action == nil {
		return nil
	}
	f := l.under(*r.By)
	if f.reread == nil || f.reread.then.RowsDigest() == set.RowsDigest() {
		return nil
	}
	other := *f.reread
	other.now = set
	a, _ := other.action(r, workspace)
	return a
}

// rowsChanged reports whether rows for the tool, a program or a path of the call have
// changed since its facts were computed.
func (f *missingUnder) rowsChanged(r *engine.Record) string {
	if r.Action == nil || f.changed == nil {
		return ""
	}
	if f.tool(r.Event.Tool) {
		return cmp.Or(f.unread, "what the tool "+r.Event.Tool+" does: its row has changed since the call was recorded")
	}
	for _, c := range r.Action.Commands {
		for _, name := range append(slices.Clone(c.Wrappers), c.Name) {
			if f.changed(name) {
				return cmp.Or(f.unread, "what "+name+" does: its row has changed since the call was recorded")
			}
		}
	}
	for _, e := range r.Action.Effects {
		if f.renamed(r, &e) {
			return cmp.Or(f.unread, "what kind of file it is: its name is in a different class than when the call was recorded")
		}
	}
	return ""
}

// someIDs lists the first few.
func someIDs(ids []string) string {
	const most = 3
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}

// under compares with the policy that decided, once for each.
func (l *Policy) under(by engine.By) *missingUnder {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := engine.By{Policy: by.Policy, Detectors: by.Detectors, Rows: by.Rows}
	if l.than[key] == nil {
		l.than[key] = l.compare(key)
	}
	return l.than[key]
}

func (l *Policy) compare(by engine.By) *missingUnder {
	then := l.kept.Get(by.Policy)
	if then == nil {
		return l.withoutPolicy(by)
	}
	f := &missingUnder{masked: without(then.Redact, l.redact), open: without(l.redact, then.Redact)}
	if by.Detectors != l.detectors {
		f.rows = l.read(added(then.Detectors(), l.rows))
	}
	if by.Rows != l.known.RowsDigest() {
		was := classify.NewRows(then.RowLayers())
		f.reread = &rereading{was, l.known, then.Redact, l.redact}
		f.places = rows.Differ(was, l.known, rows.PlacesFolder)
		f.all = rows.Differ(was, l.known, rows.WordsFolder) || rows.Differ(was, l.known, rows.TokensFolder)
		f.changed, f.tool = rows.Changed(was, l.known, rows.ProgramsFolder), rows.Changed(was, l.known, rows.ToolsFolder)
		f.path = classify.Reclassed(was, l.known)
	}
	return f
}

// withoutPolicy describes what is missing if the policy that decided is gone.
func (l *Policy) withoutPolicy(by engine.By) *missingUnder {
	f := &missingUnder{}
	if by.Rows != l.known.RowsDigest() {
		anything := func(string) bool { return true }
		f.changed, f.tool, f.path = anything, anything, func(string, string, string) bool { return true }
		f.unread = fmt.Sprintf("the facts about programs are unknown: the policy %.12s that decided was not kept", by.Policy)
	}
	if by.Detectors == l.detectors {
		return f
	}
	f.rows = l.read(l.rows)
	if by.Detectors != "" {
		f.unknown = fmt.Sprintf("the detectors at the time are unknown: the policy %.12s that decided was not kept", by.Policy)
	}
	return f
}

// added lists the detectors that others do not have, or that find something else.
func added(then, now []bundles.Detector) []bundles.Detector {
	type finds struct {
		Patterns, In, Tools []string
		Max                 int64
	}
	what := func(d bundles.Detector) finds { return finds{d.All(), d.In, d.Tools, d.Max} }
	before := map[string]finds{}
	for _, d := range then {
		before[d.ID] = what(d)
	}
	return slices.DeleteFunc(slices.Clone(now), func(d bundles.Detector) bool {
		old, ok := before[d.ID]
		return ok && reflect.DeepEqual(old, what(d))
	})
}

func without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(others, s) })
}

func hasResult(r *engine.ResultFacts) bool {
	return r != nil && (r.Class != "" || r.Content != nil && r.Content.Bytes > 0)
}

// anyText calls a function for each text of a value; for one that is not stored, with
// its size.
func anyText(v any, ask func(string) bool) bool {
	switch v := v.(type) {
	case string:
		return ask(v)
	case []any:
		return slices.ContainsFunc(v, func(v any) bool { return anyText(v, ask) })
	case map[string]any:
		if size, stored := v["bytes"]; stored && v["lines"] != nil {
			return fmt.Sprint(size) != "0" && ask("(not stored)")
		}
		for _, v := range v {
			if anyText(v, ask) {
				return true
			}
		}
	}
	return false
}

// personal reports whether arguments contain personal data that is masked differently.
func (f *missingUnder) personal(args map[string]any) string {
	for _, kind := range f.masked {
		if anyText(args, func(text string) bool { return strings.Contains(text, "REDACTED_"+kind+"_") }) {
			return "personal data (" + kind + ") was replaced in the record, and this policy would see it"
		}
	}
	if len(f.open) > 0 && anyText(args, func(text string) bool { return classify.HasPersonal(text, f.open) }) {
		return "personal data (" + strings.Join(f.open, ", ") + ") is in the record, and this policy would not see it"
	}
	return ""
}
