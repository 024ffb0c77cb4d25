package shell

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// Case clauses of three arms, with all terminators and patterns that match or do not: the
// commands that the machine runs, and what it prints, are what bash runs and prints.
func TestCaseClausesRunAsInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || exec.Command(bash, "-c", "((BASH_VERSINFO[0] >= 4))").Run() != nil {
		t.Skip("needs bash 4 or later")
	}
	patterns, ends := []string{"b", "c", "[a-b]", "$p"}, []string{";;", ";&", ";;&"}
	bodies := []string{"echo", "p=b; echo", "p=z; echo"}
	var clauses []string
	for n := range 64 * 27 * 3 {
		var arms strings.Builder
		for arm, code := 0, n; arm < 3; arm++ {
			pattern, end := patterns[code%4], ends[code/4%3]
			code /= 12
			fmt.Fprintf(&arms, "%s) %s %d$p %s ", pattern, bodies[(n/1728+arm)%3], arm, end)
		}
		clauses = append(clauses, "p=c; case b in "+arms.String()+"esac; echo end$p")
	}
	want := printedBy(t, bash, clauses)
	for i, src := range clauses {
		in := Input{Cwd: abstract.Value{Sure: abstract.Literal, Text: "/srv/shop"}, Home: "/home/ana"}
		var got []string
		for _, c := range Interpret(src, in).Commands {
			got = append(got, strings.Join(c.Operands, " "))
		}
		if text := strings.Join(got, " "); text != want[i] {
			t.Errorf("%s: runs %q, bash prints %q", src, text, want[i])
		}
	}
}

// printedBy returns what bash prints for each of the programs, with spaces for line ends.
func printedBy(t *testing.T, bash string, programs []string) []string {
	t.Helper()
	cmd := exec.Command(bash)
	cmd.Stdin = strings.NewReader(strings.Join(programs, "; echo /\n") + "; echo /\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Split(strings.TrimSuffix(string(out), "/\n"), "/\n")
	if len(list) != len(programs) {
		t.Fatalf("bash ran %d of %d programs", len(list), len(programs))
	}
	for i, text := range list {
		list[i] = strings.Join(strings.Fields(text), " ")
	}
	return list
}
