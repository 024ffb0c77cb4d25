package impact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// causes lists the differences between two policies with their effects, one per line:
// settings first, and loosening before tightening. Differences that no decision
// reached are summarised in the last line.
func causes(m *simulate.Impact) []string {
	const most = 20
	var list, never []string
	for _, c := range sortedCauses(m.Causes) {
		if c.Changes() == 0 && c.Met == 0 {
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

// sortedCauses sorts settings first, loosening before tightening, and then by the
// number of changed decisions.
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

// causeText describes a change with its effects.
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

// causeWay describes what happened to a part of a policy, and its direction.
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

// cameOf counts the decisions caused by a change.
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

// dueTo names the change of policy that causes a kind of change, if its rule does not
// show it.
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
