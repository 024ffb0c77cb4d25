package incidentcmd

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/incident"
)

// hostile is text that would act on a page or a terminal.
const hostile = "<script>alert(1)</script>\"'><img src=x>\x1b[2J\u202egnp.\u2066 a/very/long/path/without/any/space/" +
	"in/it/that/does/not/fit/into/a/line/of/eighty/columns\nand a second line"

func hostileIncident() *incident.Incident {
	c := &incident.Choice{Time: "2026-11-23T10:00:00Z", By: hostile, Reason: hostile, Record: "0123abcd-9"}
	return &incident.Incident{
		ID: "0123abcd-4", State: incident.Open, Summary: hostile, Severity: "critical", Session: hostile, Harness: hostile, Agent: hostile,
		Workspace: hostile, Time: "2026-11-23T10:00:00Z", Began: "2026-11-23T09:00:00Z", Duration: 3_600_000, Stopped: true, Resumed: c, Closed: c,
		Cause:   incident.Cause{Issue: hostile, Reason: hostile, Message: hostile, Level: hostile, Harm: hostile, Call: hostile, Evidence: []string{hostile}},
		Factors: []incident.Factor{{Kind: incident.FactorErrors, Text: hostile, Records: []string{hostile}}},
		Impact: incident.Impact{Files: []incident.Path{{Path: hostile, Written: 2, Undo: engine.R5, Outside: true}}, Hosts: []string{hostile},
			Processes: []string{hostile}},
		Timeline: []*incident.TimelineEntry{{ID: "0123abcd-4", What: hostile, Agent: hostile, Answer: engine.Block, Rules: []string{hostile}, Trouble: hostile}},
		Advice: incident.Recommendation{Immediate: []string{hostile + "`" + hostile + "`"}, Preventive: []string{hostile},
			Configuration: map[string]any{"interventions": map[string]any{"disabled": []any{hostile}}}},
	}
}

func TestHostileTextsOnThePage(t *testing.T) {
	var b bytes.Buffer
	if err := WritePage(&b, hostileIncident()); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, bad := range []string{"<script", "<img", "\x1b", "\u202e", "\u2066"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	if found := regexp.MustCompile(`(?i)\s(src|href|on[a-z]+)=`).FindString(regexp.MustCompile(`&lt;.*?&gt;`).ReplaceAllString(page, "")); found != "" {
		t.Errorf("the page refers to something: %q", found)
	}
	if !strings.Contains(page, `default-src &#39;none&#39;`) && !strings.Contains(page, "default-src 'none'") {
		t.Error("the page has no policy of its own")
	}
}

func TestHostileTextsInTheTerminal(t *testing.T) {
	var b bytes.Buffer
	if err := writeText(&b, hostileIncident(), term.Paint{}, 80, true); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > 80 {
			t.Errorf("%d columns: %q", utf8.RuneCountInString(line), line)
		}
		for _, bad := range []string{"\x1b", "\u202e", "\u2066"} {
			if strings.Contains(line, bad) {
				t.Errorf("%q", line)
			}
		}
	}
}
