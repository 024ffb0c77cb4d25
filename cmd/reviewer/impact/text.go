package impact

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// named describes a side.
func named(n simulate.Named) string {
	switch {
	case n.Recorded:
		return n.Name + " (as recorded)"
	case n.Digest == "":
		return n.Name
	}
	return n.Name + " (digest " + short(n.Digest) + ")"
}

func short(digest string) string { return digest[:min(len(digest), 12)] }

// policyDifferences lists the settings that differ, loosening first, and the rules and
// patterns that only one of two policies has.
func policyDifferences(m *simulate.Impact) []string {
	switch {
	case m.Baseline.Recorded && changed(m.Calls)+changed(m.Events) > 0:
		return []string{"to see which setting or rule causes a change, compare two policies: add --baseline, such as --baseline active"}
	case m.Baseline.Recorded || m.Candidate.Recorded:
		return nil
	case len(m.Causes) > 0:
		return causes(m)
	}
	list := settings(m.Candidate.Settings)
	for _, x := range []struct {
		what      string
		old, next []string
	}{{"rule", m.Baseline.Rules, m.Candidate.Rules}, {"pattern", m.Baseline.Patterns, m.Candidate.Patterns}} {
		if only := without(x.next, x.old); len(only) > 0 {
			list = append(list, plural(int64(len(only)), x.what+" added", x.what+"s added")+": "+firstFew(only))
		}
		if only := without(x.old, x.next); len(only) > 0 {
			list = append(list, plural(int64(len(only)), x.what+" removed", x.what+"s removed")+": "+firstFew(only))
		}
	}
	return append(list, unexercised(m)...)
}

// unexercised lists rules and patterns of only one policy that no session exercised:
// no hits do not mean no effect.
func unexercised(m *simulate.Impact) []string {
	met := map[string]bool{}
	for _, r := range m.Rules {
		met[r.ID] = r.Baseline+r.Candidate > 0
	}
	var never []string
	for _, x := range [][2][]string{{m.Candidate.Rules, m.Baseline.Rules}, {m.Candidate.Patterns, m.Baseline.Patterns}} {
		for _, id := range append(without(x[0], x[1]), without(x[1], x[0])...) {
			if !met[id] {
				never = append(never, id)
			}
		}
	}
	if len(never) == 0 {
		return nil
	}
	return []string{"not in these sessions, so no hits does not mean no effect: " + firstFew(never)}
}

// settings lists those that differ, one per line; of many, the first ones.
func settings(all []simulate.Setting) []string {
	const most = 12
	var list []string
	for _, s := range all[:min(len(all), most)] {
		text := fmt.Sprintf("setting %s %s: %s", s.Key, effectOf(s.Direction), becomes(s.Before, s.After))
		list = append(list, term.PrintableLine(text))
	}
	if more := len(all) - most; more > 0 {
		list = append(list, fmt.Sprintf("and %s; `reviewer policy diff` has them all", plural(int64(more), "setting more", "settings more")))
	}
	return list
}

// effectOf describes the effect of a setting's change.
func effectOf(direction string) string {
	switch direction {
	case "none":
		return "changed"
	case "undecided":
		return "changed, which may loosen or tighten"
	case "mixed":
		return "loosened and tightened"
	}
	return direction
}

// becomes shows the old and the new value of a setting; of a list, only the
// removed and added items.
func becomes(was, is string) string {
	var before, after []any
	if json.Unmarshal([]byte(was), &before) != nil || json.Unmarshal([]byte(is), &after) != nil || len(before)*len(after) == 0 {
		return settingText(was) + " -> " + settingText(is)
	}
	var items []string
	for _, x := range []struct {
		sign        string
		list, other []any
	}{{"-", before, after}, {"+", after, before}} {
		for _, v := range x.list {
			if !slices.ContainsFunc(x.other, func(o any) bool { return reflect.DeepEqual(o, v) }) {
				text, _ := json.Marshal(v)
				items = append(items, x.sign+settingText(string(text)))
			}
		}
	}
	if len(items) == 0 {
		return "another order"
	}
	return firstFew(items)
}

// settingText shows a setting's value, cut where it is long.
func settingText(text string) string {
	const most = 60
	if text == "" {
		return "not set"
	}
	return term.Cut(text, most)
}

func without(list, other []string) []string {
	held := map[string]bool{}
	for _, s := range other {
		held[s] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return held[s] })
}

// firstFew lists the first of many.
func firstFew(list []string) string {
	const most = 8
	text := strings.Join(list[:min(len(list), most)], ", ")
	if more := len(list) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// selected describes the selected part of the sessions; empty: all.
func selected(s simulate.Selection) string {
	var words []string
	if s.Since > 0 {
		words = append(words, "since "+clock(s.Since))
	}
	if len(s.Sessions) > 0 {
		words = append(words, "sessions "+firstFew(s.Sessions))
	}
	if s.Until > 0 {
		words = append(words, "until "+clock(s.Until))
	}
	for _, x := range []struct {
		what string
		list []string
	}{{"tools", s.Tools}, {"workspaces", s.Workspaces}, {"users", s.Users}, {"agents", s.Agents}, {"rules", s.Rules}, {"answers", s.Answers}} {
		if len(x.list) > 0 {
			words = append(words, x.what+" "+firstFew(x.list))
		}
	}
	if s.Sample != "" {
		words = append(words, s.Sample+" of the sessions")
	}
	return strings.Join(words, ", ")
}

// read summarises which sources were read and which were not.
func read(m *simulate.Impact) []string {
	s := m.Sources
	text := fmt.Sprintf("%s in %s", plural(m.Sessions.Total, "session", "sessions"), plural(s.Files, "file", "files"))
	var formats []string
	for _, f := range slices.Sorted(maps.Keys(s.Formats)) {
		formats = append(formats, fmt.Sprintf("%s %s", term.Thousands(s.Formats[f]), f))
	}
	if len(formats) > 0 {
		text += " (" + strings.Join(formats, ", ") + ")"
	}
	list := []string{text}
	if n := m.Sessions.Unattended; n > 0 {
		list = append(list, fmt.Sprintf("in %s of them nobody could be asked: ask becomes block there", term.Thousands(n)))
	}
	if m.First > 0 {
		list = append(list, clock(m.First)+" to "+clock(m.Last)+" UTC")
	}
	if s.Bad > 0 {
		list = append(list, fmt.Sprintf("%s of %s not understood", term.Thousands(s.Bad), plural(s.Lines, "line", "lines")))
	}
	var calls []string
	for _, x := range []struct {
		n    int64
		what string
	}{{s.Copied, "in several sessions, counted once"}, {s.Unpaired, "without a result"},
		{s.Unasked, "rejected by the agent itself before anyone was asked"}} {
		if x.n > 0 {
			calls = append(calls, plural(x.n, "call", "calls")+" "+x.what)
		}
	}
	if len(calls) > 0 {
		list = append(list, strings.Join(calls, "; "))
	}
	return list
}

// countText writes a count, and how many more are hypothetical.
func countText(n, after int64) string {
	if after == 0 {
		return term.Count(n).Text
	}
	return term.Thousands(n) + " +" + term.Thousands(after)
}

func orNone(n int64) string {
	if n == 0 {
		return "None"
	}
	return term.Thousands(n)
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return term.Thousands(n) + " " + many
}

// clock formats a time in UTC, so that a report is the same everywhere. A transcript
// may have no times.
func clock(ms int64) string {
	if ms == 0 {
		return "no time recorded"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04")
}

func value(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

func ifOne[T int | int64](n T, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
