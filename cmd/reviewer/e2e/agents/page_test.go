package agents

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/agents.md again")

const (
	page      = "../../../../docs/agents.md"
	pageBegin = "<!-- tried: written by go test ./cmd/reviewer/e2e/agents -run TestPage -update -->\n"
	pageEnd   = "<!-- end of tried -->\n"
)

// The page says what the matrix expects of each client.
func TestPage(t *testing.T) {
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begins := strings.Cut(string(raw), pageBegin)
	_, tail, ends := strings.Cut(rest, pageEnd)
	if !begins || !ends {
		t.Fatalf("%s has no lines %q and %q", page, pageBegin, pageEnd)
	}
	want := head + pageBegin + renderPage() + pageEnd + tail
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Errorf("%s says something else: go test ./cmd/reviewer/e2e/agents -run %s -update", page, t.Name())
	}
}

// A denial by reviewer holds in every client, and whatever runs has a reason.
func TestRowsAreComplete(t *testing.T) {
	for _, c := range clients() {
		for _, cell := range cells() {
			if got := c.want(cell); cell.Denial && (got == Ran || got == Informed) {
				t.Errorf("%s: %s lets the call run", c.Name, cell.Name)
			}
		}
		for name, d := range c.Differs {
			if d.Why == "" || !slices.ContainsFunc(cells(), func(cell Cell) bool { return cell.Name == name && cell.Want != d.Outcome }) {
				t.Errorf("%s: %s has no reason, or is not a cell with another outcome", c.Name, name)
			}
		}
	}
	if _, err := chosen("codex,other"); err == nil {
		t.Error("an unknown name in AGENTS is taken")
	}
}

func renderPage() string {
	var b strings.Builder
	b.WriteByte('\n')
	row := func(first string, cell func(Client) string) {
		fmt.Fprintf(&b, "| %s |", first)
		for _, c := range clients() {
			fmt.Fprintf(&b, " %s |", cell(c))
		}
		b.WriteByte('\n')
	}
	row("", func(c Client) string { return "`" + c.Name + "`" })
	b.WriteString("|---|" + strings.Repeat("---|", len(clients())) + "\n")
	row("version", func(c Client) string { return c.Version })
	row("tried on", func(c Client) string { return c.Tested })
	row("in CI", func(c Client) string { return map[bool]string{true: "yes", false: "–"}[c.CI] })
	for _, cell := range cells() {
		row(cell.What, func(c Client) string { return emphasis(cell, c.want(cell)) })
	}
	b.WriteByte('\n')
	renderReasons(&b)
	b.WriteByte('\n')
	return b.String()
}

// emphasis makes what is not wanted stand out.
func emphasis(cell Cell, got Outcome) string {
	if got == Ran && cell.Name != "allow" {
		return "**" + string(got) + "**"
	}
	return string(got)
}

// renderReasons lists the reasons of differences, and where each holds.
func renderReasons(b *strings.Builder) {
	var reasons []string
	where := map[string][]string{}
	for _, c := range clients() {
		for _, cell := range cells() {
			d, differs := c.Differs[cell.Name]
			if !differs {
				continue
			}
			if where[d.Why] == nil {
				reasons = append(reasons, d.Why)
			}
			where[d.Why] = append(where[d.Why], fmt.Sprintf("`%s` %s", c.Name, cell.Name))
		}
	}
	for _, why := range reasons {
		fmt.Fprintf(b, "- %s: %s.\n", strings.ToUpper(why[:1])+why[1:], strings.Join(where[why], ", "))
	}
}
