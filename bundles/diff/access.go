package diff

import (
	"slices"

	"github.com/agent-reviewer/reviewer/bundles"
)

// accessRow is an access list, or one of its rules, with its row.
type accessRow struct {
	row
	effect string // of a rule
}

// access compares access lists. The first rule that applies is a list's answer, so a
// rule that denies never makes an answer milder, and one that allows never makes one
// stricter. Of several lists the strictest answer counts.
func (d *differ) access(a, b *bundles.Effective) error {
	before, after := accessLists(a), accessLists(b)
	for _, id := range bothKeys(before, after) {
		was, is := before[id], after[id]
		c := rowChange("access."+id, was.base(), is.base(), Tightened, listJudge)
		if c != nil {
			d.add(*c)
		}
		if was != nil && is != nil {
			d.accessRules(was.AccessList, is.AccessList, was.row.layer, is.row.layer)
		}
	}
	return nil
}

// listRow is an access list with its row.
type listRow struct {
	bundles.AccessList
	row
}

func (l *listRow) base() *row {
	if l == nil {
		return nil
	}
	return &l.row
}

func accessLists(e *bundles.Effective) map[string]*listRow {
	all := map[string]*listRow{}
	for _, layer := range e.Layers {
		for _, l := range layer.Access {
			parts := partsOf(l, "id", "rules")
			parts["layer"] = layer.Layer
			all[l.ID] = &listRow{l, row{KindAccess, layer.Layer, l.Place(), parts}}
		}
	}
	return all
}

func listJudge(part string, x, y any) Direction {
	switch part {
	case "title":
		return Unaffected
	case "default":
		return wordDirection(bundles.Effects(), orWord(x, bundles.EffectDeny), orWord(y, bundles.EffectDeny))
	}
	return Undecided
}

func (d *differ) accessRules(a, b bundles.AccessList, layerA, layerB string) {
	before, after := accessRows(a, layerA), accessRows(b, layerB)
	for _, id := range bothKeys(before, after) {
		was, is := before[id], after[id]
		c := rowChange(id, was.base(), is.base(), came(was, is), accessJudge(was, is))
		if c != nil {
			d.add(*c)
		}
	}
	if moved(ruleIDs(a), ruleIDs(b)) {
		d.add(Change{Kind: KindAccess, Name: "access." + a.ID, Did: Reordered, Direction: orderDirection(a, b)})
	}
}

// orderDirection is the direction of a change in the order of rules: where all have
// the same effect, it does not matter which fires.
func orderDirection(a, b bundles.AccessList) Direction {
	effects := map[string]bool{}
	for _, r := range slices.Concat(a.Rules, b.Rules) {
		effects[r.Effect] = true
	}
	if len(effects) == 1 {
		return Unaffected
	}
	return Undecided
}

func ruleIDs(l bundles.AccessList) []string {
	var ids []string
	for _, r := range l.Rules {
		ids = append(ids, l.FindingID(r.ID))
	}
	return ids
}

func accessRows(l bundles.AccessList, layer string) map[string]*accessRow {
	all := map[string]*accessRow{}
	for _, r := range l.Rules {
		all[l.FindingID(r.ID)] = &accessRow{row{KindAccess, layer, r.Place("", 0), partsOf(r, "id")}, r.Effect}
	}
	return all
}

func (r *accessRow) base() *row {
	if r == nil {
		return nil
	}
	return &r.row
}

// came returns the direction of a rule that was added to a list.
func came(was, is *accessRow) Direction {
	one := is
	if one == nil {
		one = was
	}
	return wider(one.effect)
}

// wider returns the direction of a rule with this effect that applies more often.
func wider(effect string) Direction {
	switch effect {
	case bundles.EffectDeny:
		return Tightened
	case bundles.EffectAllow:
		return Loosened
	}
	return Undecided
}

func accessJudge(was, is *accessRow) judge {
	return func(part string, x, y any) Direction {
		switch part {
		case "description", "message":
			return Unaffected
		case "effect":
			return wordDirection(bundles.Effects(), orWord(x, ""), orWord(y, ""))
		}
		if was.effect != is.effect {
			return Undecided
		}
		switch part {
		case "actions", "commands", "tools":
			return as(wordsDirection(asList(x), asList(y)), was.effect)
		case "when", "expires_at", "schedule.hours", "schedule.weekdays":
			return as(condition(x, y), was.effect)
		}
		return Undecided
	}
}

// as converts a direction in a rule that denies to the direction in a rule with
// another effect.
func as(d Direction, effect string) Direction {
	switch {
	case d == Unaffected || wider(effect) == Tightened:
		return d
	case wider(effect) == Loosened:
		return d.reversed()
	}
	return Undecided
}
