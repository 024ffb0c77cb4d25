package impact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// causes says what differs between two policies and what came of it, one change a
// line: settings first, and what loosens before what tightens. What nothing here
// has met stands together in the last.
func causes(m *simulate.Impact) []string {
	const most = 20
	var list, never []string
	for _, c := range sortedCauses(m.Causes) {
		if !exercised(c) {
			never = append(never, fmt.Sprintf("%s (%s)", causeName(c), causeWay(c)))
			if c.Kind != "setting" {
				continue
			}
		}
		list = append(list, term.PrintableLine(causeText(c)))
	}
	if more := len(list) - most; more > 0 {
		list = append(list[:most], fmt.Sprintf("and %s; `reviewer policy diff` has them all", plural(int64(more), "change more", "changes more")))
	}
	if len(never) > 0 {
		list = append(list, "never met here, so no hits does not mean no effect: "+term.PrintableLine(firstFew(never)))
	}
	return list
}

// exercised says that something here depended on a change of policy.
func exercised(c simulate.Cause) bool { return c.Changes() > 0 || c.Met > 0 }

// sortedCauses puts settings first, what loosens before what tightens, and what has
// changed the most decisions.
func sortedCauses(list []simulate.Cause) []simulate.Cause {
	other := func(c simulate.Cause) int {
		if c.Kind == "setting" {
			return 0
		}
		return 1
	}
	order := []string{"loosened", "mixed", "undecided", "", "tightened"}
	return slices.SortedStableFunc(slices.Values(list), func(a, b simulate.Cause) int {
		return cmp.Or(cmp.Compare(other(a), other(b)), cmp.Compare(slices.Index(order, a.Direction), slices.Index(order, b.Direction)),
			cmp.Compare(b.Changes(), a.Changes()))
	})
}

// causeText is a change with what came of it.
func causeText(c simulate.Cause) string {
	text := causeName(c) + " " + causeWay(c)
	if c.Kind == "setting" {
		text += ": " + becomes(c.Was, c.Is)
	}
	return text + cameOf(c)
}

func causeName(c simulate.Cause) string {
	switch c.Kind {
	case simulate.CauseSeveral:
		return "several changes together"
	case "row", "access":
		return c.Name
	case simulate.CauseRego:
		return "Rego " + c.Name
	}
	return c.Kind + " " + c.Name
}

// causeWay is what happened to a part of a policy, and what that does by itself.
func causeWay(c simulate.Cause) string {
	switch {
	case c.Kind == "setting":
		return effectOf(c.Direction)
	case c.Kind == simulate.CauseSeveral:
		return "at once"
	}
	text := c.Did
	if len(c.Parts) > 0 {
		text += " in " + firstFew(c.Parts)
	}
	if c.Direction == "loosened" || c.Direction == "tightened" {
		text += ", which " + strings.TrimSuffix(c.Direction, "ed") + "s"
	}
	return text
}

// cameOf counts the decisions that a change is the cause of.
func cameOf(c simulate.Cause) string {
	switch n := c.Changes(); {
	case n == 0 && c.Met > 0:
		return fmt.Sprintf("; met in %s, none of which changes", plural(c.Met, "decision", "decisions"))
	case n == 0:
		return "; no decision here depends on it"
	default:
		words := enumerate(split(map[simulate.State]int64{
			simulate.Loosened: c.Loosened, simulate.Tightened: c.Tightened, simulate.Maybe: c.Maybe}))
		text := fmt.Sprintf("; %s (%s)", plural(n, "decision changes", "decisions change"), words)
		if c.After > 0 {
			text += fmt.Sprintf(", %s of them after the first difference of their session", term.Thousands(c.After))
		}
		return text
	}
}

// dueTo says which change of policy a kind of change is due to, where that is not
// what its rule says.
func dueTo(k simulate.Kind) string {
	kind, name, _ := strings.Cut(k.Due, " ")
	switch {
	case k.Due == "" || name == k.Rule:
		return ""
	case kind == simulate.CauseSeveral:
		return ", due to several changes together"
	}
	return ", due to " + term.PrintableLine(causeName(simulate.Cause{Kind: kind, Name: name}))
}
