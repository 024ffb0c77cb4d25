package docs

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
)

var updateAgents = flag.Bool("update-agents", false, "write the table of docs/agents.md again")

const (
	agentsPage  = "agents.md"
	agentsBegin = "<!-- written by go test ./docs -run TestAgentsDoc -update-agents -->\n"
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
	want := head + agentsBegin + agentTable() + installNotes() + agentsEnd + tail
	if *updateAgents {
		if err := os.WriteFile(agentsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Errorf("docs/%s says something else: go test ./docs -run %s -update-agents", agentsPage, t.Name())
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
		if slices.Contains(settings.Names(), h.Name) {
			return "yes"
		}
		return "not yet"
	})
	for _, w := range engine.Ways() {
		row("`"+string(w)+"`", func(h harness.Harness) string { return string(h.Channels.Of(w).Support) })
	}
	row("time for a hook before a call", func(h harness.Harness) string { return h.Timeout(h.EventAt(engine.PhasePre)).String() })
	row("events", func(h harness.Harness) string { return strings.Join(h.Events, ", ") })
	b.WriteByte('\n')
	return b.String()
}

// installNotes says for each agent where its hooks are written, and what that does not prevent.
func installNotes() string {
	var b strings.Builder
	b.WriteString("Where `reviewer install` writes hooks, on Linux, and what they do not cover:\n\n")
	for _, a := range settings.Agents() {
		fmt.Fprintf(&b, "- `%s`: %s.", a.Name, strings.Join(placesOf(a), "; "))
		if a.Off != "" {
			fmt.Fprintf(&b, " A repository can turn off or bypass hooks that are not managed (%s).", a.Off)
		}
		for _, limit := range a.Limits {
			fmt.Fprintf(&b, " %s%s.", strings.ToUpper(limit[:1]), limit[1:])
		}
		b.WriteByte('\n')
	}
	b.WriteString("\nNot supported:\n\n")
	for _, u := range harness.Without() {
		fmt.Fprintf(&b, "- %s: %s.\n", u.Name, u.Why)
	}
	b.WriteByte('\n')
	return b.String()
}

// placesOf lists the files of an agent by layer, or their folder if there are several in it.
func placesOf(a settings.Agent) []string {
	var list []string
	for _, layer := range []string{settings.LayerUser, settings.LayerProject, settings.LayerManaged} {
		var files []string
		for _, l := range a.Targets(settings.Places{OS: "linux", Home: "~"}, layer) {
			files = append(files, "`"+filepath.ToSlash(l.Path)+"`")
		}
		if len(files) > 2 {
			files = []string{strings.TrimSuffix(filepath.ToSlash(filepath.Dir(strings.Trim(files[0], "`"))), "/")}
			files[0] = "`" + files[0] + "/`"
		}
		if len(files) > 0 {
			list = append(list, layer+" "+strings.Join(files, " and "))
		}
	}
	return list
}
