package diff

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
)

// row is a rule, an access rule or a detector in the form that this comparison uses.
type row struct {
	kind  string
	layer string
	place string
	parts map[string]any // by name, such as when or match.signals
}

func (r *row) version() *Version {
	if r == nil {
		return nil
	}
	return &Version{Layers: []string{r.layer}, Place: r.place}
}

// judge returns the direction of a change of one part of a row. A nil value is an
// absent part.
type judge func(part string, was, is any) Direction

// rowChange compares a row of two policies, one of which may not have it; nil: they
// are the same. whole is the direction of an added row.
func rowChange(name string, was, is *row, whole Direction, by judge) *Change {
	c := &Change{Name: name, Did: did(was != nil, is != nil), Before: was.version(), After: is.version()}
	var before, after map[string]any
	if was != nil {
		c.Kind, before = was.kind, was.parts
	}
	if is != nil {
		c.Kind, after = is.kind, is.parts
	}
	both := was != nil && is != nil
	var all []Direction
	for _, part := range bothKeys(before, after) {
		x, y := before[part], after[part]
		if reflect.DeepEqual(x, y) {
			continue
		}
		p := Part{Name: part, Before: x, After: y, Direction: Unaffected}
		if both {
			p.Direction = by(part, x, y)
		}
		c.Parts, all = append(c.Parts, p), append(all, p.Direction)
	}
	switch c.Direction = together(all); {
	case was == nil:
		c.Direction = whole
	case is == nil:
		c.Direction = whole.reversed()
	case len(c.Parts) == 0:
		return nil
	case onlyOrder(c.Parts):
		c.Did = Reordered
	}
	return c
}

// onlyOrder reports whether parts differ in the order of their items alone.
func onlyOrder(parts []Part) bool {
	return !slices.ContainsFunc(parts, func(p Part) bool {
		a, b := asList(p.Before), asList(p.After)
		return a == nil || b == nil || len(items(a, b, Undecided)) > 0
	})
}

// partsOf lists the parts of a row. The keys of match and schedule are separate parts.
func partsOf(v any, but ...string) map[string]any {
	doc, _ := bundles.Normal(v).(map[string]any)
	parts := map[string]any{}
	for key, value := range doc {
		if text, ok := value.(string); ok {
			value = strings.TrimSpace(text) // the line that ends a block
		}
		sub, nested := value.(map[string]any)
		switch {
		case slices.Contains(but, key):
		case nested && (key == "match" || key == "schedule"):
			for name, part := range sub {
				parts[key+"."+name] = part
			}
		case nested && len(sub) == 0, value == "", value == nil, value == false:
		default:
			parts[key] = value
		}
	}
	return parts
}

// ruleRow is a rule with its row.
type ruleRow struct {
	bundles.Rule
	row
}

func ruleRows(e *bundles.Effective) map[string]*ruleRow {
	all := map[string]*ruleRow{}
	for _, l := range e.Layers {
		for _, r := range l.Rules {
			kind := KindRule
			if r.Pattern() {
				kind = KindPattern
			}
			parts := partsOf(r, "id")
			parts["kind"], parts["layer"] = kind, l.Layer
			if r.Harm != "" {
				parts["harm"] = e.Harm(r.Harm)
			}
			if r.Harm == engine.HarmLimit {
				parts["limit"] = true
			}
			all[r.ID] = &ruleRow{r, row{kind, l.Layer, r.Place("id", 0), parts}}
		}
	}
	return all
}

func (r *ruleRow) base() *row {
	if r == nil {
		return nil
	}
	return &r.row
}

func (d *differ) rules(a, b *bundles.Effective) error {
	before, after := ruleRows(a), ruleRows(b)
	for _, id := range bothKeys(before, after) {
		was, is := before[id], after[id]
		whole := Undecided
		if one := cmp.Or(is, was); one.restrains() {
			whole = Tightened
		}
		if c := rowChange(id, was.base(), is.base(), whole, ruleJudge(was, is)); c != nil {
			d.add(*c)
		}
	}
	return nil
}

// restrains reports whether the rule can only make answers stricter: patterns add to
// the risk, and a rule that warns, asks or blocks is one more that fires. A rule that
// modifies may offer the form in which a call passes, and how others use a finding is
// unknown.
func (r *ruleRow) restrains() bool {
	switch engine.Verdict(r.Decision) {
	case engine.Warn, engine.Ask, engine.Block:
		return true
	}
	return r.Decision == "" && r.Pattern()
}

func (r *ruleRow) blocks() bool { return r.Decision == string(engine.Block) }

// ruleJudge returns the judge for parts of a rule that is in both policies.
func ruleJudge(was, is *ruleRow) judge {
	return func(part string, x, y any) Direction {
		switch part {
		case "title", "description", "message", "remediation", "references", "details", "examples":
			return Unaffected
		case "harm", "limit":
			same := part == "harm" && orWord(x, engine.HarmClosed) == orWord(y, engine.HarmClosed)
			if same || !was.blocks() || !is.blocks() {
				return Unaffected // it is used to recognise workarounds of a denial
			}
			return Undecided
		case "decision":
			return decisionDirection(x, y)
		case "enforcement":
			return wordDirection(bundles.Enforcements(), orWord(x, "enforce"), orWord(y, "enforce"))
		case "always":
			return stricter(truth(x), truth(y))
		case "overridable":
			return grown(asList(x), asList(y)).reversed()
		case "hysteresis":
			return lowerIsStricter(x, y)
		}
		if !was.restrains() || !is.restrains() || was.Conditional() != is.Conditional() {
			return partOfUnknown(x, y)
		}
		switch part {
		case "threshold":
			return lowerIsStricter(x, y)
		case "levels":
			return levelsDirection(was.Levels, is.Levels)
		case "when":
			return condition(x, y)
		case "match.phases", "match.tools", "match.types", "match.signals", "match.actions", "match.commands", "match.detected", "match.facts":
			return wordsDirection(asList(x), asList(y))
		}
		return Undecided
	}
}

// partOfUnknown returns the direction of a part with an unknown effect: reordering
// words has none.
func partOfUnknown(x, y any) Direction {
	a, b := asList(x), asList(y)
	if a != nil && b != nil && grown(a, b) == Unaffected {
		return Unaffected
	}
	return Undecided
}

// decisionDirection compares verdicts. Compared with a mere finding, a verdict that
// restrains is stricter.
func decisionDirection(x, y any) Direction {
	was, is := orWord(x, string(engine.Allow)), orWord(y, string(engine.Allow))
	if (x == nil || y == nil) && (was == is || was == string(engine.Modify) || is == string(engine.Modify)) {
		return Undecided
	}
	return wordDirection(engine.Verdicts(), was, is)
}

// wordDirection compares words of a list, mildest first.
func wordDirection(order []string, was, is string) Direction {
	a, b := slices.Index(order, was), slices.Index(order, is)
	if a < 0 || b < 0 {
		return Undecided
	}
	return stricter(float64(a), float64(b))
}

func orWord(v any, absent string) string {
	if word, ok := v.(string); ok {
		return word
	}
	return absent
}

func truth(v any) float64 {
	if v == true {
		return 1
	}
	return 0
}

func lowerIsStricter(x, y any) Direction {
	a, isNumber := x.(float64)
	b, isNumberToo := y.(float64)
	if !isNumber || !isNumberToo {
		return Undecided
	}
	return stricter(b, a)
}

// condition returns the direction of an expression of a rule that restrains: without
// it the rule applies more often.
func condition(x, y any) Direction {
	switch {
	case y == nil:
		return Tightened
	case x == nil:
		return Loosened
	}
	return Undecided
}

// wordsDirection compares the match lists of a rule that restrains. One word in common
// is enough, and an absent list accepts everything.
func wordsDirection(a, b []any) Direction {
	switch {
	case len(a) == 0 && len(b) == 0:
		return Unaffected
	case len(b) == 0:
		return Tightened
	case len(a) == 0:
		return Loosened
	}
	if d := grown(a, b); d != Mixed {
		return d
	}
	return Undecided // a pattern may match what several words match
}

// levelsDirection compares the levels of measures, at every step of either.
func levelsDirection(a, b []bundles.RuleLevel) Direction {
	var all []Direction
	for _, l := range slices.Concat(a, b) {
		all = append(all, stricter(float64(levelAt(a, l.At)), float64(levelAt(b, l.At))))
	}
	unknown := func(l bundles.RuleLevel) bool { return !slices.Contains(bundles.Severities(), l.Level) }
	if len(a) == 0 || len(b) == 0 || slices.ContainsFunc(slices.Concat(a, b), unknown) {
		return Undecided
	}
	return together(all)
}

// levelAt is the place of the level that a measure reaches; -1: none.
func levelAt(levels []bundles.RuleLevel, measure float64) int {
	best, at := -1, 0.0
	for _, l := range levels {
		if l.At <= measure && (best < 0 || l.At > at) {
			best, at = slices.Index(bundles.Severities(), l.Level), l.At
		}
	}
	return best
}

func (d *differ) detectors(a, b *bundles.Effective) error {
	before, after := detectorRows(a), detectorRows(b)
	for _, id := range bothKeys(before, after) {
		c := rowChange(id, before[id], after[id], Undecided, detectorJudge)
		if c != nil {
			d.add(*c)
		}
	}
	ids := func(e *bundles.Effective) (all []string) {
		for _, det := range e.Detectors() {
			all = append(all, det.ID)
		}
		return all
	}
	if moved(ids(a), ids(b)) {
		// If too many detectors find something, the first ones are reported.
		d.add(Change{Kind: KindDetector, Name: "(order of all)", Did: Reordered, Direction: Undecided})
	}
	return nil
}

func detectorJudge(part string, x, y any) Direction {
	switch part {
	case "title", "description", "examples":
		return Unaffected
	}
	return partOfUnknown(x, y)
}

func detectorRows(e *bundles.Effective) map[string]*row {
	all := map[string]*row{}
	for _, l := range e.Layers {
		for _, det := range l.Detectors {
			parts := partsOf(det, "id")
			parts["layer"] = l.Layer
			if det.Pattern != "" { // one pattern is the same in either form
				delete(parts, "pattern")
				parts["patterns"] = []any{det.Pattern}
			}
			all[det.ID] = &row{KindDetector, l.Layer, det.Place(), parts}
		}
	}
	return all
}

// moved reports whether the common items of two lists are in a different order.
func moved(a, b []string) bool {
	in := func(list []string) func(string) bool {
		return func(s string) bool { return !slices.Contains(list, s) }
	}
	return !slices.Equal(slices.DeleteFunc(slices.Clone(a), in(b)), slices.DeleteFunc(slices.Clone(b), in(a)))
}
