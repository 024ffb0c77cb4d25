package impact

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// caveats lists the reasons not to rely on the numbers, the worst first.
func caveats(m *simulate.Impact, exceeded ...string) []string {
	var list []string
	for _, text := range exceeded {
		list = append(list, "BUDGET: "+text)
	}
	if m.Partial != "" {
		list = append(list, "PARTIAL: "+m.Partial+". All numbers cover only what was read until then.")
	}
	if l := m.Loosening(); l.Decisions > 0 && l.Unknown == l.Decisions {
		list = append(list, "PARTIAL: nothing could be compared, so this shows nothing about the candidate.")
	}
	if text := infidelity(m.Fidelity); text != "" {
		list = append(list, "FIDELITY: "+text)
	}
	if n := failures(m); n > 0 {
		list = append(list, fmt.Sprintf("ERRORS: %s failed with one policy or both, and %s; see below.",
			plural(n, "decision", "decisions"), ifOne(n, "counts as a denial", "count as denials")))
	}
	if m.Sources.Failed > 0 {
		list = append(list, "UNREADABLE: "+unreadable(m))
	}
	if s := m.Shard; s != nil {
		part := fmt.Sprintf("SHARD %d of %d", s.Index, s.Of)
		if s.To > 0 {
			part = fmt.Sprintf("SHARDS %d to %d of %d", s.Index, s.To, s.Of)
		}
		list = append(list, part+": the other sessions are in the other shards; reviewer policy simulate merge combines them.")
	}
	return list
}

func unreadable(m *simulate.Impact) string {
	return plural(m.Sources.Failed, "file", "files") + " could not be read, or only in part."
}

// failures counts the decisions that could not be made.
func failures(m *simulate.Impact) int64 { return m.Calls.Failed + m.Events.Failed }

// infidelity describes the recorded decisions that do not reproduce; empty: all do.
func infidelity(r *simulate.Report) string {
	if r == nil || r.First == nil {
		return ""
	}
	return fmt.Sprintf("%s of %s recorded decisions and states do not reproduce; first divergence: %s. Until this is explained, do not rely "+
		"on the results for these logs.",
		term.Thousands(r.Different), term.Thousands(r.Decisions+r.Keyframes), r.First)
}

// fidelity describes the result of recomputing recorded decisions.
func fidelity(r *simulate.Report) []string {
	if r == nil {
		return nil
	}
	var missing int64
	for _, n := range r.Missing {
		missing += n
	}
	list := []string{fmt.Sprintf("%s of %s reproduced byte for byte; so did their sessions' states at %s.",
		term.Thousands(r.Same), plural(r.Decisions, "recorded decision", "recorded decisions"), plural(r.Keyframes, "keyframe", "keyframes"))}
	switch {
	case r.Decisions == 0:
		list = []string{"There were no recorded decisions to recompute."}
	case r.First != nil:
		list = []string{fmt.Sprintf("%s of %s reproduced byte for byte.", term.Thousands(r.Same),
			plural(r.Decisions, "recorded decision", "recorded decisions"))}
	}
	if r.Incomparable > 0 {
		list = append(list, fmt.Sprintf("%s made by another version of reviewer and cannot be recomputed.",
			plural(r.Incomparable, "was", "were")))
	}
	if missing > 0 {
		digest := slices.Sorted(maps.Keys(r.Missing))[0]
		list = append(list, fmt.Sprintf("%s made under %s not available, such as %s: %s", plural(missing, "was", "were"),
			plural(int64(len(r.Missing)), "policy", "policies"), short(digest), cmp.Or(r.Why[digest], "not found")))
	}
	if r.Degraded > 0 {
		list = append(list, fmt.Sprintf("%s without a decision, because of an error.", plural(r.Degraded, "denial is", "denials are")))
	}
	return list
}

// alarms describes how people answered stops, and what the candidate does with those
// calls. An approval is not called a false alarm: a question may be right and be approved.
func alarms(a simulate.Alarms) []string {
	var list []string
	answered := a.Approved + a.Overruled
	if answered+a.Refused > 0 {
		list = append(list,
			fmt.Sprintf("People approved %s, overruled %s and refused %s.",
				plural(a.Approved, "question", "questions"), plural(a.Overruled, "denial", "denials"), plural(a.Refused, "question", "questions")),
			fmt.Sprintf("The candidate lets through %s of %s that people allowed, and %s of %s that they refused.",
				term.Thousands(a.Lost), plural(answered, "call", "calls"), term.Thousands(a.Missed), plural(a.Refused, "call", "calls")))
	}
	if a.New == 0 {
		return list
	}
	text := fmt.Sprintf("It holds up %s that the baseline allowed and that ran", plural(a.New, "call", "calls"))
	if len(list) == 0 {
		return []string{strings.Replace(text, "It", "The candidate", 1) +
			". Nobody was asked about similar calls, so how many of them people would allow is unknown."}
	}
	return append(list, fmt.Sprintf("%s: people would allow about %s of them, if they answer as before.",
		text, term.Thousands(a.Gained)))
}

// neverFired lists the candidate's rules and patterns that never fired; nil if all
// did.
func neverFired(m *simulate.Impact) []string {
	n, all := int64(len(m.NeverFired)), int64(len(m.Candidate.Rules)+len(m.Candidate.Patterns))
	if n == 0 {
		return nil
	}
	return []string{
		fmt.Sprintf("%s of %s of the candidate never fired", term.Thousands(n), plural(all, "rule or pattern", "rules and patterns")),
		strings.Join(m.NeverFired, ", "),
	}
}

// failed lists the decisions that could not be made.
func failed(m *simulate.Impact) []string {
	var list []string
	for _, e := range m.Errors {
		list = append(list, fmt.Sprintf("%s, %s: %s", e.ID, e.Side, e.Error))
	}
	return list
}

// troubles lists the files that were not read or not understood.
func troubles(m *simulate.Impact) []string {
	var list []string
	for _, t := range m.Sources.Troubles {
		list = append(list, trouble(t))
	}
	return list
}

// trouble describes the problem with a file.
func trouble(t simulate.Trouble) string {
	text := t.Path
	if t.Line > 0 {
		text += ":" + strconv.Itoa(t.Line)
	}
	text += ": " + t.Why
	if t.Count > 1 {
		text += fmt.Sprintf(" (first of %s)", term.Thousands(t.Count))
	}
	if t.Failed {
		text += "; the rest could not be read"
	}
	return text
}
