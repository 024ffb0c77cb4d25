package impact

import (
	"bytes"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// The ids of results that are not about a rule.
const (
	partialID    = "simulate.partial"
	unreadableID = "simulate.unreadable"
	fidelityID   = "simulate.fidelity"
	errorID      = "simulate.error"
	settingID    = "simulate.setting"
)

func writeSARIF(b *bytes.Buffer, m *simulate.Impact, o Options) error {
	rules := []report.Rule{
		{ID: partialID, Title: "The simulation did not read everything"},
		{ID: unreadableID, Title: "Files could not be read"},
		{ID: fidelityID, Title: "Recorded decisions do not reproduce"},
		{ID: errorID, Title: "A decision could not be made"},
		{ID: settingID, Title: "The candidate changes a setting"},
		{ID: ruleID(simulate.ByScores), Title: "The scores, not a rule, decide differently"},
		{ID: ruleID(simulate.ByEnforcement), Title: "Both decide the same, but one enforces it less"},
		{ID: ruleID(simulate.ByOthers), Title: "Someone decided differently then: a transcript does not record who"},
	}
	for _, k := range m.Kinds {
		if id := ruleID(k.Rule); id == k.Rule {
			rules = append(rules, report.Rule{ID: id, Title: "The rule " + id + " decides differently"})
		}
	}
	return report.WriteSARIF(b, "policy simulate", rules, findings(m), report.Options{Version: o.Version})
}

// findings lists the caveats, and then one finding per kind of change.
func findings(m *simulate.Impact) []report.Finding {
	var list []report.Finding
	doubt := func(id, key, text string) {
		list = append(list, report.Finding{Place: folder(m), Level: "error", Text: text, Rule: id, Key: key})
	}
	if m.Partial != "" {
		doubt(partialID, "", "Partial: "+m.Partial+". The results cover only what was read.")
	}
	if m.Sources.Failed > 0 {
		doubt(unreadableID, "", unreadable(m))
	}
	if text := infidelity(m.Fidelity); text != "" {
		doubt(fidelityID, "", text)
	}
	for _, c := range sortedCauses(m.Causes) {
		if c.Kind == "setting" {
			list = append(list, settingFinding(m, c))
		}
	}
	for _, e := range m.Errors {
		doubt(errorID, e.ID+" "+e.Side, fmt.Sprintf("%s of the %s: %s. It counts as a denial.", e.ID, e.Side, e.Error))
	}
	for _, k := range m.Kinds {
		list = append(list, finding(m, k))
	}
	return list
}

// settingFinding describes a setting that differs, whether or not a decision does.
func settingFinding(m *simulate.Impact, c simulate.Cause) report.Finding {
	level := "note"
	if c.Direction == "loosened" || c.Direction == "mixed" {
		level = "warning"
	}
	return report.Finding{Place: folder(m), Level: level, Rule: settingID, Key: c.Key(), Text: term.PrintableLine(causeText(c)),
		Properties: map[string]string{"setting": c.Name, "before": c.Was, "after": c.Is, "direction": c.Direction, "count": fmt.Sprint(c.Changes())}}
}

// finding describes one kind of change. Loosening is more severe than tightening.
func finding(m *simulate.Impact, k simulate.Kind) report.Finding {
	level := "note"
	if k.State == simulate.Loosened {
		level = "warning"
	}
	change := string(k.State) + " " + arrow(k.From, k.To)
	f := report.Finding{
		Place: folder(m), Level: level, Rule: ruleID(k.Rule), Key: strings.TrimSpace(string(k.Phase) + " " + change + " " + k.Due),
		Text: fmt.Sprintf("%s: %s by %s\n%s", change, times(k), cause(k), strings.Join(witness(k.Example), "\n")),
		Properties: map[string]string{
			"phase": string(k.Phase), "state": string(k.State), "from": string(k.From), "to": string(k.To),
			"count": fmt.Sprint(k.Count), "after": fmt.Sprint(k.After), "record": k.Example.ID, "session": k.Example.Session,
		},
	}
	if k.Due != "" {
		f.Properties["due"] = k.Due
	}
	return f
}

// times describes how often a kind of change occurs.
func times(k simulate.Kind) string {
	text := plural(k.Count, "decision", "decisions")
	if k.After > 0 {
		text += fmt.Sprintf(" (and %s after the first difference in their session)", term.Thousands(k.After))
	}
	return text
}

// ruleID returns a rule's id, or an id of the same form for causes that are not rules.
func ruleID(rule string) string {
	switch rule {
	case simulate.ByScores:
		return "simulate.scores"
	case simulate.ByEnforcement:
		return "simulate.enforcement"
	case simulate.ByOthers, "":
		return "simulate.others"
	}
	return rule
}

// folder is the candidate's folder if it has one below this; code scanning
// refuses a result without a place.
func folder(m *simulate.Impact) report.Place {
	name := path.Clean(m.Candidate.Name)
	u, err := url.Parse(name)
	if err != nil || u.IsAbs() || path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") ||
		!strings.Contains(m.Candidate.Name, "/") {
		return report.Place{File: "."}
	}
	return report.Place{File: name}
}
