package docs

import (
	"os"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/approval"
)

// docs/approvals.md has a row for each state of a question, and no other rows in that table.
func TestApprovalsDoc(t *testing.T) {
	page, err := os.ReadFile("approvals.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| state | meaning | the call |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var states []string
	for row := range strings.Lines(table) {
		states = append(states, strings.Trim(strings.Split(row, "|")[1], " `"))
	}
	want := []string{}
	for _, s := range []approval.State{approval.Pending, approval.Approved, approval.Resumed, approval.Denied, approval.Expired,
		approval.Stopped, approval.Changed} {
		want = append(want, string(s))
	}
	if strings.Join(states, " ") != strings.Join(want, " ") {
		t.Errorf("docs/approvals.md has the states %v, want %v", states, want)
	}
}
