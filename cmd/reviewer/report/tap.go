package report

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// writeTAP writes version 14 of the Test Anything Protocol, with a block of YAML after
// each failed test.
func writeTAP(b *bytes.Buffer, r *Report, _ Options) error {
	suites, n := r.checks(), 0
	for _, s := range suites {
		n += len(s.Tests)
	}
	fmt.Fprintf(b, "TAP version 14\n1..%d\n", n)
	n = 0
	for _, s := range suites {
		fmt.Fprintf(b, "# %s\n", term.PrintableLine(s.Name))
		for _, t := range s.Tests {
			n++
			tapTest(b, n, t)
		}
	}
	return nil
}

func tapTest(b *bytes.Buffer, n int, t Test) {
	word, directive := "ok", ""
	switch {
	case t.Status == Skip:
		directive = " # SKIP " + tapText(t.Message)
	case t.Status == Todo:
		word, directive = "not ok", " # TODO "+tapText(t.Message)
	case t.broke():
		word = "not ok"
	}
	fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf("%s %d - %s%s", word, n, tapText(t.Name), directive), " "))
	if t.broke() {
		tapBlock(b, t)
	}
}

// tapText escapes what begins a directive.
func tapText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(term.PrintableLine(s))
}

func tapBlock(b *bytes.Buffer, t Test) {
	b.WriteString("  ---\n")
	tapField(b, "message", t.headline())
	tapField(b, "severity", string(t.Status))
	if t.File != "" {
		fmt.Fprintf(b, "  at:\n    file: %s\n", yamlText(t.File))
		tapNumber(b, "line", t.Line)
		tapNumber(b, "column", t.Col)
	}
	tapList(b, "rules", t.Rules)
	tapField(b, "expected", t.Expected)
	tapField(b, "got", t.Got)
	tapList(b, "why", t.Why)
	tapField(b, "output", t.Output)
	b.WriteString("  ...\n")
}

func tapField(b *bytes.Buffer, name, text string) {
	if text != "" {
		fmt.Fprintf(b, "  %s: %s\n", name, yamlText(text))
	}
}

func tapNumber(b *bytes.Buffer, name string, n int) {
	if n > 0 {
		fmt.Fprintf(b, "    %s: %d\n", name, n)
	}
}

func tapList(b *bytes.Buffer, name string, list []string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "  %s:\n", name)
	for _, text := range list {
		fmt.Fprintf(b, "    - %s\n", yamlText(text))
	}
}

// yamlText quotes a string: the escapes that Go writes are escapes of YAML too.
func yamlText(s string) string { return strconv.Quote(strings.ToValidUTF8(s, "\uFFFD")) }
