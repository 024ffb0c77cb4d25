package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

var updateAgents = flag.Bool("update-agents", false, "write the table of docs/agents.md again")

const (
	agentsPage  = root + "/docs/agents.md"
	agentsBegin = "<!-- written by go test ./cmd/reviewer -run TestAgentsDoc -update-agents -->\n"
	agentsEnd   = "<!-- end of agents -->\n"
)

// The page says of each agent what the rows of package harness say.
func TestAgentsDoc(t *testing.T) {
	raw, err := os.ReadFile(agentsPage)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begins := strings.Cut(string(raw), agentsBegin)
	_, tail, ends := strings.Cut(rest, agentsEnd)
	if !begins || !ends {
		t.Fatalf("%s has no lines %q and %q", agentsPage, agentsBegin, agentsEnd)
	}
	want := head + agentsBegin + agentTable() + agentsEnd + tail
	if *updateAgents {
		if err := os.WriteFile(agentsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Errorf("%s says something else: go test ./cmd/reviewer -run %s -update-agents", agentsPage, t.Name())
	}
}

// agentTable has a column for each agent and a row for each thing that it offers.
func agentTable() string {
	var b strings.Builder
	agents := harness.Harnesses()
	row := func(name string, cell func(harness.Harness) string) {
		fmt.Fprintf(&b, "| %s |", name)
		for _, h := range agents {
			fmt.Fprintf(&b, " %s |", cell(h))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	row("", func(h harness.Harness) string { return "`" + h.Name + "`" })
	fmt.Fprintf(&b, "|---|%s\n", strings.Repeat("---|", len(agents)))
	row("`reviewer install`", func(h harness.Harness) string {
		if slices.Contains(harness.Installable(), h.Name) {
			return "yes"
		}
		return "not yet"
	})
	for _, w := range engine.Ways() {
		row("`"+string(w)+"`", func(h harness.Harness) string { return string(h.Channels.Of(w).Support) })
	}
	row("time for a hook before a call", func(h harness.Harness) string { return h.Timeout(harness.PreToolUse).String() })
	row("events", func(h harness.Harness) string { return strings.Join(h.Events, ", ") })
	b.WriteByte('\n')
	return b.String()
}
