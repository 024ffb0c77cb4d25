package bundles

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// Effective is the result of merging several layers: everything that a host
// needs to compile, and the digests under which decisions are recorded.
type Effective struct {
	Layers   []*Bundle
	Data     map[string]any      // the whole data document, settings merged, catalogues in place
	Document map[string]any      // the merged settings, as policy sees them
	Settings settings.Settings   // those of them that the program reads itself
	Origin   map[string]string   // settings path -> layer of its last change, for those that are not base's
	Sources  map[string][]string // settings path -> layers whose values are in it, for the same
	View     engine.View         // the part of the history that policy can read
	Redact   []string            // kinds of personal data to mask
	Digest   string              // over the ordered (layer, digest) pairs and Config
	Config   string              // of the merged settings
	Notice   string              // for the person: which changes of their own policy are not active; empty: none
}

// Assemble joins layers, the base layer first.
func Assemble(layers ...*Bundle) (*Effective, error) {
	if err := checkOrder(layers); err != nil {
		return nil, err
	}
	merged, sources, err := mergeSettings(layers)
	if err != nil {
		return nil, err
	}
	return assemble(layers, merged, sources)
}

// Reassemble assembles the layers of a policy that was checked before, perhaps by an older version, which may have had other settings
// and merged them differently: nothing is checked again. The settings are the result that they had; nil: they are merged.
func Reassemble(layers []*Bundle, settings map[string]any) (*Effective, error) {
	for _, l := range layers {
		l.checked = true
	}
	if settings == nil {
		return Assemble(layers...)
	}
	if err := checkOrder(layers); err != nil {
		return nil, err
	}
	merged, sources, err := mergeSettings(layers)
	if err != nil || !reflect.DeepEqual(Normal(merged), Normal(settings)) {
		sources = nil // unknown
	}
	return assemble(layers, settings, sources)
}

// assemble joins layers whose settings are merged.
func assemble(layers []*Bundle, merged map[string]any, sources map[string][]string) (*Effective, error) {
	e := &Effective{Layers: layers, Sources: sources, Origin: map[string]string{}}
	for path, from := range sources {
		e.Origin[path] = from[len(from)-1]
	}
	var err error
	if e.Config, err = engine.Digest(merged); err != nil {
		return nil, fmt.Errorf("digest settings: %w", err)
	}
	e.Document = maps.Clone(merged)
	if e.Settings, err = settings.Read(e.Document); err != nil {
		return nil, err
	}
	if err := errors.Join(e.join(merged), e.checkNames()); err != nil {
		return nil, err
	}
	if e.View, err = viewOf(&e.Settings); err != nil {
		return nil, err
	}
	e.Redact = slices.Sorted(slices.Values(e.Settings.Redact.PII))
	e.Digest = e.sum()
	return e, nil
}

// checkOrder rejects layers in the wrong order: how settings merge depends on
// it.
func checkOrder(layers []*Bundle) error {
	if len(layers) == 0 || layers[0].Layer != Base {
		return fmt.Errorf("the first layer of a policy must be %s", Base)
	}
	for i, l := range layers[1:] {
		if slices.Index(Layers(), l.Layer) <= slices.Index(Layers(), layers[i].Layer) {
			return fmt.Errorf("layer %q may not follow %q; expected the order %s, each at most once", l.Layer, layers[i].Layer,
				strings.Join(Layers(), ", "))
		}
	}
	return nil
}

func (e *Effective) sum() string {
	h := sha256.New()
	for _, l := range e.Layers {
		fmt.Fprintf(h, "%s %s\n", l.Layer, l.Digest)
	}
	fmt.Fprintf(h, "config %s\n", e.Config)
	return hex.EncodeToString(h.Sum(nil))
}

// AllBuiltIn reports whether all Rego comes with the program, whose tests compile
// it.
func (e *Effective) AllBuiltIn() bool {
	return !slices.ContainsFunc(e.Layers, func(l *Bundle) bool { return len(l.Modules) > 0 && !l.shipped })
}

// Layer returns a layer of the policy; nil if it has none.
func (e *Effective) Layer(name string) *Bundle {
	for _, l := range e.Layers {
		if l.Layer == name {
			return l
		}
	}
	return nil
}

// Modules returns the Rego sources of all layers by layer/path.
func (e *Effective) Modules() map[string]string {
	all := map[string]string{}
	for _, l := range e.Layers {
		for name, src := range l.Modules {
			all[l.Layer+"/"+name] = src
		}
	}
	return all
}

// Rules returns the rows of all layers in order.
func (e *Effective) Rules() []Rule {
	var all []Rule
	for _, l := range e.Layers {
		all = append(all, l.Rules...)
	}
	return all
}

// Broken lists the ids of invalid rows: since they are meant to exist,
// references to them are not reported.
func (e *Effective) Broken() []string {
	var ids []string
	for _, l := range e.Layers {
		ids = append(ids, l.broken...)
	}
	return ids
}

// EffectiveRules returns the rows of all layers after the settings are applied: without patterns
// that are switched off, and with thresholds as they are set, scaled by the sensitivity.
func (e *Effective) EffectiveRules() []Rule {
	patterns := &e.Settings.Patterns
	factor, limited := factorOf(patterns, patterns.Sensitivity), factorOf(patterns, e.Settings.Interventions.Resume.Sensitivity)
	var all []Rule
	for _, r := range e.Rules() {
		off := !patterns.Enabled || slices.Contains(e.Settings.Rules.Disabled, r.ID) || !looksAt(patterns.EnabledPatterns, r.ID)
		if r.Pattern() && !r.Always && off {
			continue
		}
		r = r.scaled(factor * r.moved(patterns))
		if r.Pattern() && !r.Fixed {
			r.Limited = min(limited, factor) / factor
		}
		all = append(all, r)
	}
	return all
}

// looksAt reports whether a list of patterns contains an id, or a word for all. Earlier
// policies have no list.
func looksAt(enabled []string, id string) bool {
	return enabled == nil || slices.ContainsFunc(enabled, func(v string) bool { return v == "*" || v == "all" || v == id })
}

// moved is the factor on a row's threshold that makes it the one of the settings.
func (r Rule) moved(patterns *settings.Patterns) float64 {
	if own := patterns.Thresholds[r.ID]; own > 0 && r.Threshold != nil && *r.Threshold > 0 {
		return own / *r.Threshold
	}
	return 1
}

// factorOf is the factor on the thresholds of patterns for a sensitivity.
func factorOf(patterns *settings.Patterns, sensitivity string) float64 {
	f := patterns.Factors
	return cmp.Or(map[string]float64{"low": f.Low, "medium": f.Medium, "high": f.High}[sensitivity], 1)
}

// scaled returns the row with its threshold and levels multiplied.
func (r Rule) scaled(factor float64) Rule {
	if !r.Pattern() || r.Fixed || factor == 1 || r.Threshold == nil {
		return r
	}
	threshold := *r.Threshold * factor
	r.Threshold, r.Levels = &threshold, slices.Clone(r.Levels)
	for i := range r.Levels {
		r.Levels[i].At *= factor
	}
	return r
}

// Access returns the access lists of all layers in order.
func (e *Effective) Access() []AccessList {
	var all []AccessList
	for _, l := range e.Layers {
		all = append(all, l.Access...)
	}
	return all
}

// join builds the data document: base's with the merged settings, and each
// layer's data and catalogue under its root.
func (e *Effective) join(merged map[string]any) error {
	policies := map[string]any{}
	e.Data = map[string]any{"reviewer": merged, "policies": policies}
	owner, detectors := map[string]string{}, map[string]string{}
	var errs []error
	for _, l := range e.Layers {
		at := merged
		if l.Layer != Base {
			at = maps.Clone(l.OwnData()) // other policies have the same layer
			policies[l.Layer] = at
		}
		catalogue := map[string]any{}
		for _, r := range l.Rules {
			other, taken := owner[r.ID]
			if taken && other == l.Layer {
				continue // reported where the layer was read
			}
			if taken {
				errs = append(errs,
					r.at("id").in(l.Layer).as("row.id").wrong("rule %q of the %s layer has the same id as a rule of the %s layer; give it another id",
						r.ID, l.Layer, other))
				continue
			}
			owner[r.ID] = l.Layer
			catalogue[r.ID] = l.row(r)
		}
		at[CatalogueKey] = catalogue
		errs = append(errs, l.joinAccess(at, owner), l.joinDetectors(at, detectors))
		if !l.checked && !l.rowsOK {
			errs = append(errs, l.checkRows())
		}
	}
	return errors.Join(append(errs, e.checkDetected())...)
}

// Remarks lists valid but suspicious parts, each as file:line: message. Rules
// are compared with each other, which is too slow for a hook.
func (e *Effective) Remarks() []string {
	var all []string
	for _, l := range e.Layers {
		for _, name := range l.unread {
			all = append(all,
				fmt.Sprintf("%s/%s is not read: it is hidden, or its name does not end in .yaml, .yml, .json or .rego",
					l.Layer, name))
		}
		for _, list := range l.Access {
			for _, remark := range list.remarks() {
				all = append(all, l.Layer+"/"+remark)
			}
		}
	}
	return all
}

// CatalogueKey is the key of the rows of rules in a layer's data.
const CatalogueKey = "catalog"

// AccessKey is the key of the access lists in a layer's data. The package
// reviewer.access is next to it: rules cannot walk the data of their own
// package.
const AccessKey = "access_lists"

// joinAccess puts a layer's access lists under its root. Their findings must not
// collide with those of other rules.
func (l *Bundle) joinAccess(at map[string]any, owner map[string]string) error {
	lists := map[string]any{}
	var errs []error
	for _, list := range l.Access {
		for _, id := range list.FindingIDs() {
			if other, taken := owner[id]; taken {
				at := position{l.Layer, list.file, list.line, list.col, "row.id"}
				errs = append(errs,
					at.wrong("access list %q of the %s layer: %q is already used in the %s layer; give the list another id", list.ID,
						l.Layer, id, other))
				break
			}
			owner[id] = l.Layer
		}
		lists[list.ID] = list.document()
	}
	if len(lists) > 0 {
		at[AccessKey] = lists
	}
	return errors.Join(errs...)
}

// OwnData returns the data of a layer above the base. It is the bundle's own, which
// several policies share.
func (b *Bundle) OwnData() map[string]any {
	if p, ok := b.Data["policies"].(map[string]any); ok {
		if m, ok := p[b.Layer].(map[string]any); ok {
			return m
		}
	}
	return map[string]any{}
}

// row is the row of one of the layer's rules that policy sees.
func (b *Bundle) row(r Rule) map[string]any {
	row := r.row()
	if slices.Contains(b.disabled(), r.ID) {
		row["disabled"] = true
	}
	return row
}

// WithoutOrganisation reports whether there is a layer above that of the organisation, but not that one, whose rules the
// cases and exceptions of the upper one may be about.
func (e *Effective) WithoutOrganisation() bool {
	return len(e.Layers) > 1 && e.Layers[1].Layer != Organisation
}

// disabled lists the rules that the settings of a layer above the base disable.
func (b *Bundle) disabled() []string {
	rules, _ := b.Settings["rules"].(map[string]any)
	list, _ := rules["disabled"].([]any)
	var ids []string
	for _, item := range list {
		if id, ok := item.(string); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// row is the form of a rule that policy sees, as JSON would be decoded: everything but its
// condition and examples.
func (r Rule) row() map[string]any {
	row := map[string]any{"id": r.ID, "tags": orEmpty(r.Tags), "overridable": orEmpty(r.Overridable), "always": r.Always}
	for _, field := range [][2]string{
		{"title", r.Title}, {"severity", r.Severity}, {"decision", r.Decision}, {"message", r.Message},
		{"remediation", r.Remediation}, {"enforcement", r.Enforcement}, {"harm", r.Harm}, {"unattended", r.Unattended},
	} {
		if field[1] != "" {
			row[field[0]] = field[1]
		}
	}
	if r.Limit {
		row["limit"] = true
	}
	if r.expires > 0 {
		row["expires"] = float64(r.expires)
	}
	if r.Hysteresis != nil {
		row["hysteresis"] = float64(*r.Hysteresis)
	}
	return row
}

func orEmpty(words []string) []any {
	list := make([]any, len(words))
	for i, w := range words {
		list[i] = w
	}
	return list
}

// viewOf reads the windows of history that a policy sees, and the number of single
// earlier actions. Throttling has its own window.
func viewOf(s *settings.Settings) (engine.View, error) {
	windows, err := windowsOf(s.Windows)
	if seconds := s.Interventions.MetricsWindowSeconds; seconds > 0 {
		windows = append(windows, engine.Window{Name: "metrics", For: time.Duration(seconds) * time.Second})
	}
	return engine.View{Windows: windows, Last: min(int(s.History.Last), engine.MaxLast), Similar: s.History.Similar}, err
}

// windowsOf reads {recent: {last: 10}, five_minutes: {for: 5m}}.
func windowsOf(set map[string]settings.Window) ([]engine.Window, error) {
	var windows []engine.Window
	for name, s := range set {
		w := engine.Window{Name: name, Last: int(s.Last)}
		if s.For != "" {
			d, err := time.ParseDuration(s.For)
			if err != nil {
				return nil, fmt.Errorf("windows.%s.for: %q is not a duration such as 5m: %w", name, s.For, err)
			}
			w.For = d
		}
		if (w.Last > 0) == (w.For > 0) {
			return nil, fmt.Errorf("windows.%s: set one of last (a number of events) and for (a duration such as 5m)", name)
		}
		windows = append(windows, w)
	}
	slices.SortFunc(windows, func(a, b engine.Window) int { return strings.Compare(a.Name, b.Name) })
	return windows, nil
}

// TimeDependent reports whether the policy's decisions may depend on the time of a
// call: a rule or an exception expires, an access rule has a schedule, or a condition or Rego above the
// base reads the time. It may report true unnecessarily.
func (e *Effective) TimeDependent() bool {
	for _, l := range e.Access() {
		if slices.ContainsFunc(l.Rules, func(r AccessRule) bool { return !r.constant() || namesTime(r.When) }) {
			return true
		}
	}
	for _, l := range e.Layers {
		if slices.ContainsFunc(l.Rules, func(r Rule) bool { return r.expires > 0 || namesTime(r.When+" "+r.Measure) }) {
			return true
		}
		for _, source := range l.Modules {
			if l.Layer != Base && (namesTime(source) || strings.Contains(source, "expires_at")) {
				return true
			}
		}
	}
	return false
}

func namesTime(source string) bool { return strings.Contains(source, "time.") }
