package docs

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

var updateAPI = flag.Bool("update-api", false, "write the tables of docs/api.md again")

// The page lists the operations and errors that there are.
func TestAPIDoc(t *testing.T) {
	const page = "api.md"
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := string(raw)
	for name, table := range map[string]string{"operations": operationTable(), "errors": errorTable(t)} {
		begin := "<!-- " + name + ": written by go test ./docs -run TestAPIDoc -update-api -->\n"
		end := "<!-- end of " + name + " -->\n"
		head, rest, begins := strings.Cut(want, begin)
		_, tail, ends := strings.Cut(rest, end)
		if !begins || !ends {
			t.Fatalf("%s has no lines %q and %q", page, begin, end)
		}
		want = head + begin + table + end + tail
	}
	if *updateAPI {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Errorf("docs/%s says something else: go test ./docs -run %s -update-api", page, t.Name())
	}
	for _, kind := range api.EventKinds() {
		if !strings.Contains(want, "| `"+kind+"` |") {
			t.Errorf("%s does not describe the event %s", page, kind)
		}
	}
}

func operationTable() string {
	var b strings.Builder
	b.WriteString("| request | does | needs | can refuse with |\n|---|---|---|---|\n")
	for _, op := range api.Operations() {
		needs := "token"
		if op.Code {
			needs = "token, approval code"
		}
		if op.Open {
			needs = "nothing"
		}
		var statuses []string
		for _, status := range op.Refuses {
			statuses = append(statuses, strconv.Itoa(status))
		}
		fmt.Fprintf(&b, "| `%s %s` | %s | %s | %s |\n", op.Method, op.Path, op.Summary, needs, strings.Join(statuses, ", "))
	}
	b.WriteString("\nEach request can also be refused with 401 (no token), 403 (another host, a page, no code), 405 and 500.\n")
	return b.String()
}

// errorTable lists the codes of errors with the comments of their constants.
func errorTable(t *testing.T) string {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), "../engine/serve/api/errors.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	ast.Inspect(tree, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 && v.Comment != nil {
			if value, ok := v.Values[0].(*ast.BasicLit); ok {
				said[strings.Trim(value.Value, `"`)] = strings.TrimSpace(v.Comment.Text())
			}
		}
		return true
	})
	var b strings.Builder
	b.WriteString("| code | meaning |\n|---|---|\n")
	for _, name := range api.Codes() {
		if said[name] == "" {
			t.Errorf("the code %s has no comment", name)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, said[name])
	}
	return b.String()
}
