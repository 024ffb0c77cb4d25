package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPlurals finds formats with a count and a plural noun: with a count of one they
// are wrong ("1 files"). A count and its noun are written by term.Counted or
// engine.Counted. Limits are fine, since they are constants, and larger; so are errors
// about more than a limit, sizes in bytes, and the tools of maintainers.
func TestPlurals(t *testing.T) {
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == asLibrary || slices.Contains(maintainers, d.Name()) || name != root && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		pluralsIn(t, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// maintainers are folders whose programs only maintainers run.
var maintainers = []string{"e2e", "dev"}

// asLibrary is a package whose messages are those of the schema library, word for word.
const asLibrary = "conform"

func pluralsIn(t *testing.T, name string) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		if !isCall {
			return true
		}
		for i, arg := range call.Args {
			if format := formatText(arg); strings.Contains(format, "%") {
				for _, phrase := range pluralCounts(format, call.Args[i+1:]) {
					t.Errorf("%s: %q is wrong for 1: use term.Counted or engine.Counted", set.Position(arg.Pos()), phrase)
				}
			}
		}
		return true
	})
}

// formatText is the text of a string literal, or of several that are added up.
func formatText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if e.Kind == token.STRING && err == nil {
			return text
		}
	case *ast.BinaryExpr:
		if left := formatText(e.X); left != "" {
			return left + formatText(e.Y)
		}
	}
	return ""
}

var (
	verbs  = regexp.MustCompile(`%[-+# 0]*[0-9]*(?:\.[0-9]+)?([a-zA-Z%])`)
	plural = regexp.MustCompile(`^ ((?:[a-z]+ )?[a-z]{2,}s)\b`)
)

// notNouns are words that end as a plural does, and may follow a number.
var notNouns = []string{"has", "is", "lacks", "does", "was",
	"belongs", "occurs", "this", "its", "as", "needs", "ms", "exists", "us", "across"}

// pluralCounts lists where a format has a count followed by a plural noun.
func pluralCounts(format string, args []ast.Expr) []string {
	var found []string
	arg := 0
	for _, at := range verbs.FindAllStringSubmatchIndex(format, -1) {
		verb := format[at[2]:at[3]]
		if verb == "%" {
			continue
		}
		arg++
		m := plural.FindStringSubmatch(format[at[1]:])
		if verb != "d" || m == nil || len(args) < arg || limit(args[arg-1]) || countless(format[:at[0]]) ||
			m[1] == "bytes" || strings.Contains(format, ", at most %d") || strings.Contains(format, "at most %d and") {
			continue
		}
		words := strings.Fields(m[1])
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(notNouns, w) }) {
			continue
		}
		if neverOne[format] == "" {
			found = append(found, "%d "+m[1])
		}
	}
	return found
}

// countless reports whether a number is the name of a thing, as in "version 2".
func countless(before string) bool {
	words := strings.Fields(before)
	return len(words) > 0 && slices.Contains([]string{"version", "Version", "line", "record", "event", "process", "shard", "part", "number"},
		strings.TrimLeft(words[len(words)-1], "("))
}

// limit reports whether an argument is a constant that says how many there may be.
func limit(e ast.Expr) bool {
	name := ""
	switch e := e.(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
	}
	return strings.HasPrefix(strings.ToLower(name), "max") || strings.HasPrefix(name, "min") || name == "most" || name == "limit"
}

// neverOne are formats whose count is never one, and why.
var neverOne = map[string]string{
	"it needs the earlier part of the session, whose %d records exceed the %d that a case can contain": "the limit is larger",
	"this folder contains %d archives; name one: %s":                                                   "of one, that is taken",
	"there are %d releases; name the tag of one: %s":                                                   "of one, that is taken",
	"found %d layers; expected one":                                                                    "one is right",
	"the statement has %d subjects; expected one":                                                      "one is right",
	"%w of one archive: its statement has %d subjects":                                                 "one is right",
	"simulation: counts must be from 0 to its %d decisions":                                            "a report of one decision is not signed",
	`<p class="faint">The %d sessions with the most changes; %s more are counted above.</p>`:           "a constant of the page",
	"shard %s does not belong to the split of the first part, which has %d shards":                     "a split has two shards or more",
}

// What the test looks for, and what it leaves alone.
func TestPluralCounts(t *testing.T) {
	for format, want := range map[string]int{
		"%d of %d tests failed": 1,
		"%s: %d new files":      1,
		"found %d files":        1,
		"line %d lacks it":      0,
		"version %d has keys":   0,
		"%d%% of all":           0,
		"%d keys, at most %d":   0,
		"%d bytes":              0,
	} {
		args := []ast.Expr{ast.NewIdent("n"), ast.NewIdent("n"), ast.NewIdent("n")}
		if got := len(pluralCounts(format, args)); got != want {
			t.Errorf("%q: %d, want %d", format, got, want)
		}
	}
	if got := pluralCounts("more than %d files", []ast.Expr{ast.NewIdent("maxFiles")}); got != nil {
		t.Errorf("a limit: %v", got)
	}
}
