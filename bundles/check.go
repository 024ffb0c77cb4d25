package bundles

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// Inspect reads a bundle as Load does, but continues after errors: it returns
// everything that can be read, and every problem with its place. Such a bundle
// is only for inspection; what Load rejects must not decide anything.
func Inspect(fsys fs.FS, layer string) (*Bundle, []*engine.Problem) {
	files, unread, unreadable := readFiles(fsys)
	b, err := fromFiles(files, layer)
	b.unread = unread
	var sum error
	b.Digest, sum = digest(b.Files)
	return b, problems("file.unreadable", errors.Join(unreadable, err, sum), layer)
}

// AssembleAll joins layers as Assemble does, but continues after errors. If
// settings cannot be merged, it takes those of the base layer.
func AssembleAll(layers ...*Bundle) (*Effective, []*engine.Problem) {
	merged, sources, err := mergeSettings(layers)
	found := problems("settings.value", errors.Join(checkOrder(layers), err), Base)
	if err != nil {
		base, _ := layers[0].Data["reviewer"].(map[string]any)
		merged, _ = Normal(base).(map[string]any)
		sources = nil
	}
	e := &Effective{Layers: layers, Sources: sources, Origin: map[string]string{}, Document: maps.Clone(merged)}
	e.Settings, _ = settings.Read(e.Document) // what is wrong was found when they were merged
	found = append(found, problems("row.id", e.join(merged), Base)...)
	found = append(found, problems("rule.unknown", e.checkNames(), Base)...)
	if e.View, err = viewOf(&e.Settings); err != nil {
		found = append(found, problems("settings.value", layers[0].where("windows").wrong("%w", err), Base)...)
	}
	e.Redact, e.Digest = slices.Sorted(slices.Values(e.Settings.Redact.PII)), e.sum()
	return e, found
}

// Problems splits the joined errors of a layer's files. Files are named
// layer/file.
func Problems(code string, err error, layer string) []*engine.Problem {
	return problems(code, err, layer)
}

func problems(code string, err error, layer string) []*engine.Problem {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var list []*engine.Problem
		for _, e := range joined.Unwrap() {
			list = append(list, problems(code, e, layer)...)
		}
		return list
	}
	p, isPlaced := err.(*positionedError)
	if !isPlaced {
		if inner := errors.Unwrap(err); inner != nil && (has[*positionedError](inner) || has[interface{ Unwrap() []error }](inner)) {
			return problems(code, inner, layer)
		}
		return []*engine.Problem{{File: layer + "/", Code: code, Message: err.Error()}}
	}
	if p.layer != "" {
		layer = p.layer
	}
	return []*engine.Problem{{File: layer + "/" + p.file, Line: p.line, Col: p.col, Code: cmp.Or(p.code, kindOf(p.file, code)),
		Message: p.what}}
}

func has[T any](err error) bool {
	_, ok := err.(T)
	return ok
}

// Vocabulary returns the words of the policy.
func (e *Effective) Vocabulary() engine.Vocabulary {
	v := engine.Vocabulary{Lengths: map[string]int{}}
	for _, w := range e.View.Windows {
		if v.Windows = append(v.Windows, w.Name); w.Last > 0 {
			v.Lengths[w.Name] = w.Last
		}
	}
	for _, r := range e.Rules() {
		if r.Conditional() {
			v.Findings = append(v.Findings, r.ID)
		}
	}
	for _, l := range e.Access() {
		for _, r := range l.Rules {
			v.Findings = append(v.Findings, l.FindingID(r.ID))
		}
	}
	for _, d := range e.Detectors() {
		v.Detectors = append(v.Detectors, d.ID)
	}
	return v
}

// MayContain reports whether a policy's data may contain a value at a path, though
// this one's does not: an optional setting, a row that a layer may add, or a
// layer that is missing.
func (e *Effective) MayContain(path []string) bool {
	if len(path) > 0 && path[0] == "policies" {
		return e.layerMayHold(path[1:])
	}
	tree, err := SettingsSchema()
	if err != nil || len(path) == 0 || path[0] != "reviewer" {
		return false
	}
	for i, key := range path[1:] {
		if i == 0 && (key == AccessKey || key == DetectorsKey) {
			return true
		}
		if !tree.section() && tree.Properties == nil && tree.Others.SchemaNode == nil {
			return len(path) > 2
		}
		if tree = tree.Child(key); tree == nil {
			return false
		}
	}
	return tree.Unavailable == ""
}

func (e *Effective) layerMayHold(path []string) bool {
	if len(path) == 0 {
		return true
	}
	present := slices.ContainsFunc(e.Layers, func(l *Bundle) bool { return l.Layer == path[0] })
	made := []string{"findings", "exceptions", "operations", "ladders", CatalogueKey, AccessKey, DetectorsKey}
	return slices.Contains(Layers()[1:], path[0]) && (!present || len(path) > 1 && slices.Contains(made, path[1]))
}

// CheckRules reports rules that can never fire, and references to rules that do
// not exist, as far as the rows alone show that.
func (e *Effective) CheckRules() []*engine.Problem {
	var list []*engine.Problem
	for _, l := range e.Layers {
		list = append(list, l.CheckManifest()...)
		for _, name := range l.unread {
			list = append(list, warning(position{l.Layer, name, 0, 0, ""}, "file.unread",
				"this file is not read: it is hidden, or its name does not end in .yaml, .yml, .json or .rego"))
		}
		for _, r := range l.Rules {
			if why := r.Match.never(); why != "" {
				list = append(list, problem(r.at("match").in(l.Layer), "rule.never", "rule %s can never fire: %s",
					r.ID, why))
			}
			if why := r.mayNotRun(); why != "" {
				list = append(list, problem(r.at("unattended").in(l.Layer), "rule.unattended",
					"rule %s cannot have unattended: allow: %s", r.ID, why))
			}
			list = append(list, e.checkHarm(l, r)...)
		}
		for _, a := range l.Access {
			list = append(list, a.check(l)...)
		}
	}
	return append(list, e.PointlessSettings()...)
}

// checkHarm reports a harm that is missing, has no meaning, or is named by an earlier word. The built-in
// policy names the harm of each rule that can hold up a call; at run time other rules without one count
// as closed.
func (e *Effective) checkHarm(l *Bundle, r Rule) []*engine.Problem {
	at := r.at(cmp.Or(map[bool]string{true: "harm"}[r.Harm != ""], "decision")).in(l.Layer)
	now := e.Harm(r.Harm)
	switch {
	case r.Harm == "" && slices.Contains(holding(), engine.Verdict(r.Decision)):
		p := problem(at, "rule.no_harm", "rule %s can hold up a call and names no harm, so it counts as %s; add harm, one of %s",
			r.ID, engine.HarmClosed, strings.Join(engine.Harms(), ", "))
		p.Warning = l.Layer != Base
		return []*engine.Problem{p}
	case r.Harm != "" && r.Decision != string(engine.Warn) && !slices.Contains(holding(), engine.Verdict(r.Decision)):
		return []*engine.Problem{problem(at, "rule.harm",
			"rule %s names a harm, but only a rule whose decision is warn, modify, ask or block may have one", r.ID)}
	case r.Limit && now != "" && now != engine.HarmClosed && now != engine.HarmForbidden:
		return []*engine.Problem{problem(r.at("limit").in(l.Layer), "rule.harm",
			"rule %s is a limit, which excludes calls whatever they do, but names the harm %s; write harm: closed or forbidden, or remove limit",
			r.ID, r.Harm)}
	case now != r.Harm:
		write := now
		if r.Harm == engine.HarmLimit && !r.Limit {
			write += ", and below it limit: true"
		}
		return []*engine.Problem{warning(at, "rule.former_harm", "harm: %s is an earlier word; write harm: %s", r.Harm, write)}
	}
	return nil
}

// holding lists the decisions by which a rule can hold up a call: a call that cannot run in a safer form
// is asked about.
func holding() []engine.Verdict { return []engine.Verdict{engine.Modify, engine.Ask, engine.Block} }

// Harm returns today's word for the harm that a rule names.
func (e *Effective) Harm(word string) string {
	return cmp.Or(e.Settings.FormerHarms[word], word)
}

func problem(at position, code, format string, args ...any) *engine.Problem {
	return &engine.Problem{File: at.layer + "/" + at.file, Line: at.line, Col: at.col, Code: code, Message: fmt.Sprintf(format,
		args...)}
}

func warning(at position, code, format string, args ...any) *engine.Problem {
	p := problem(at, code, format, args...)
	p.Warning = true
	return p
}

// mayNotRun reports why a rule cannot let a call run if nobody can be asked about it; empty:
// it can, or does not claim to. The effects of a call are examined when it arrives (known, can
// be undone, in scope, nothing sent); this is about rules for which that would never be true.
func (r Rule) mayNotRun() string {
	of := func(list []string, words ...string) string {
		for _, w := range words {
			if slices.Contains(list, w) {
				return w
			}
		}
		return ""
	}
	sent := of(r.Match.Types, string(engine.TypeNetworkRequest), string(engine.TypeMCPCall), string(engine.TypeUnknown))
	unclear := of(r.Match.Facts, "not_understood", "secret_out", "denied_before")
	switch {
	case r.Unattended == "":
		return ""
	case r.Decision != string(engine.Ask):
		return "its decision is not ask"
	case r.Always:
		return "it always applies (always: true)"
	case r.Severity == "critical":
		return "its severity is critical"
	case sent != "":
		return "it is about actions of type " + sent + ", whose effects are not known to stay in the workspace"
	case unclear != "":
		return "it is about actions with the fact " + unclear
	}
	return ""
}

// never reports why no event can meet all lists of a match; empty: one can.
func (m RuleMatch) never() string {
	given := func(signal string) bool { return !slices.Contains(engine.LegacySignals(), signal) }
	if len(m.Signals) > 0 && !slices.ContainsFunc(m.Signals, given) {
		return fmt.Sprintf("%s is no longer produced; match on facts, and name the effects in when",
			strings.Join(m.Signals, ", "))
	}
	if len(m.Phases) == 0 {
		return ""
	}
	calls := []string{string(engine.PhasePre), string(engine.PhasePost)}
	if slices.ContainsFunc(m.Phases, func(p string) bool { return slices.Contains(calls, p) }) {
		return ""
	}
	for _, list := range []struct {
		name  string
		words []string
	}{{"tools", m.Tools}, {"types", m.Types}, {"signals", m.Signals}, {"actions", m.Actions}, {"commands", m.Commands}} {
		if len(list.words) > 0 && !anyWord(list.words) {
			return fmt.Sprintf("its phases are %s, and only a tool call (pre, post) has %s", strings.Join(m.Phases, ", "),
				list.name)
		}
	}
	return ""
}

// check finds access rules that an earlier one shadows, and restrictions that
// expire and leave calls allowed.
func (l AccessList) check(layer *Bundle) []*engine.Problem {
	var list []*engine.Problem
	for i, r := range l.Rules {
		if before := slices.IndexFunc(l.Rules[:i], func(o AccessRule) bool { return o.Covers(r) }); before >= 0 {
			list = append(list, problem(r.at("id").in(layer.Layer), "rule.shadowed",
				"access rule %s can never fire: rule %s before it applies wherever this one does; move it first, or remove it",
				l.FindingID(r.ID), l.Rules[before].ID))
		}
		if then := l.allowsAfter(i); then != "" && r.Effect != EffectAllow && !r.constant() {
			list = append(list, warning(r.at("id").in(layer.Layer), "rule.lapses",
				"access rule %s stops applying %s; then %s allows what it holds up",
				l.FindingID(r.ID), r.lapse(), then))
		}
	}
	return list
}

// PointlessSettings finds names in settings of rules and patterns that the setting cannot change.
func (e *Effective) PointlessSettings() []*engine.Problem {
	var all []*engine.Problem
	rules := map[string]Rule{}
	for _, r := range e.Rules() {
		rules[r.ID] = r
	}
	for _, l := range e.Layers {
		report := func(at, code, format string, args ...any) {
			all = append(all, problem(l.where(at).in(l.Layer), code, format, args...))
		}
		always := func(setting, at, id string) {
			if rules[id].Always {
				report(at, "rule.always", "%s: rule %s always applies, regardless of this setting; remove it", setting, id)
			}
		}
		settings := l.ownSettings()
		for i, id := range list(objectAt(settings, "rules")["disabled"]) {
			always("rules.disabled", fmt.Sprintf("rules.disabled.%d", i), fmt.Sprint(id))
		}
		for _, id := range slices.Sorted(maps.Keys(objectAt(settings, "rules", "enforcement"))) {
			always("rules.enforcement", "rules.enforcement."+id, id)
		}
		places := objectAt(settings, "rules", "disabled_in")
		for _, place := range slices.Sorted(maps.Keys(places)) {
			for _, v := range list(places[place]) {
				const at = "rules.disabled_in"
				id := fmt.Sprint(v)
				always(at, at, id)
				if r := rules[id]; r.ID != "" && !r.Always && !slices.Contains(r.Overridable, User) {
					report(at, "rule.firm",
						"%s: rule %s fires everywhere, since its row does not allow the user exceptions (overridable)", at, id)
				}
			}
		}
		for _, id := range slices.Sorted(maps.Keys(objectAt(settings, "patterns", "thresholds"))) {
			if r := rules[id]; r.Pattern() && (r.Fixed || r.Threshold == nil) {
				report("patterns.thresholds."+id, "rule.fixed",
					"patterns.thresholds: the threshold of %s is fixed: one occurrence is enough; remove it", id)
			}
		}
		e.deadRungs(l, rules, func(id, why string) {
			report("interventions.ladders."+id, "settings.ladder", "interventions.ladders.%s: %s", id, why)
		})
		if tree, err := SettingsSchema(); err == nil { // else the settings could not be read
			tree.forms("", settings, tree, func(path, at, why string) { report(at, "settings.value", "%s: %s", path, why) })
		}
	}
	return all
}

// forms reports items of lists that the setting compares with something of another form (x-form), with the paths of the
// list and of the item. The settings of single workspaces are those of the top.
func (s *SchemaNode) forms(path string, v any, top *SchemaNode, report func(path, at, why string)) {
	section, _ := v.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(section)) {
		node := s.Child(key)
		if path == workspacesKey {
			node = top
		}
		if node != nil {
			node.forms(below(path, key), section[key], top, report)
		}
	}
	if s.Items == nil {
		return
	}
	for i, item := range list(v) {
		text, _ := item.(string)
		if why := otherForm(s.Items.Form, text); why != "" {
			report(path, below(path, strconv.Itoa(i)), why)
		}
	}
}

// urlHost finds the host in a URL, or in a host with a path.
var urlHost = engine.Regexp(`^(?:[A-Za-z][A-Za-z0-9+.-]*://(?:[^/@]*@)?([^/:?#]*)|([^/:]+)/)`)

// otherForm reports why an item never equals what it is compared with; empty: it may.
func otherForm(form, text string) string {
	switch found := urlHost().FindStringSubmatch(text); {
	case form == "host" && found != nil:
		return fmt.Sprintf("%q is not the name of a host, which this is compared with, so it never applies; write %s", text,
			cmp.Or(found[1], found[2], "the name of the host"))
	case engine.ControlIn(text) != "":
		return fmt.Sprintf(engine.ControlMessage, engine.ControlIn(text), "the text in single quotes")
	case form == "path" && strings.HasPrefix(text, "^"):
		return fmt.Sprintf("%q is a regular expression, and this takes paths such as packages/*/src and **/*.md", text)
	case form == "word" && strings.ContainsAny(text, " \t\n"):
		return fmt.Sprintf("%q is more than one word, and this is compared with single words, so it never applies; write %s", text,
			strings.Join(strings.Fields(text), ", "))
	}
	return ""
}

// CheckManifest finds fields of a manifest that prevent building a release. A
// layer in a folder works without them.
func (b *Bundle) CheckManifest() []*engine.Problem {
	raw := b.Files[manifestFile]
	var given struct {
		Rego     *int `json:"rego_version"`
		Metadata struct {
			Name     *string `json:"name"`
			Version  *string `json:"version"`
			Sequence *int64  `json:"sequence"`
			Created  *string `json:"created"`
		} `json:"metadata"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &given) != nil {
		return nil // which is reported for the file
	}
	whole := Manifest{Metadata: ManifestMetadata{Name: "a", Version: "1.0.0", Sequence: 1}}
	d := given.Metadata
	var list []*engine.Problem
	check := func(key string, change func(m *Manifest)) {
		m := whole
		change(&m)
		if err := m.releasable(); err != nil {
			what, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), manifestFile+": "), "\n")
			list = append(list, problem(b.manifestSpot(key).in(b.Layer), "manifest.field", "%s", what))
		}
	}
	if d.Name != nil {
		check("name", func(m *Manifest) { m.Metadata.Name = *d.Name })
	}
	if d.Version != nil {
		check("version", func(m *Manifest) { m.Metadata.Version = *d.Version })
	}
	if d.Sequence != nil {
		check("sequence", func(m *Manifest) { m.Metadata.Sequence = *d.Sequence })
	}
	if d.Created != nil {
		check("created", func(m *Manifest) { m.Metadata.Created = *d.Created })
	}
	if given.Rego != nil && *given.Rego != 1 {
		at := b.manifestSpot("rego_version").in(b.Layer)
		list = append(list, problem(at, "manifest.field", "rego_version is %d; expected 1, the version that reviewer reads", *given.Rego))
	}
	if released := d.Version != nil || d.Sequence != nil || d.Created != nil; released && d.Name == nil && len(list) == 0 {
		list = append(list, warning(b.manifestSpot("metadata").in(b.Layer), "manifest.field",
			"metadata has no name, which a release needs; write one such as \"name\": \"acme/agents\" next to its version"))
	}
	return list
}
