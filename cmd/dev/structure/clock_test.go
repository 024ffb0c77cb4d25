package main

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Tests that wait or measure with the machine's clock, and why they must.
var clockTests = map[string]string{
	"bundles/releases/kill_test.go":                killed,
	"engine/audit/process_test.go":                 killed,
	"engine/checkpoint/robust_test.go":             killed,
	"engine/notify/kill_unix_test.go":              killed,
	"cmd/reviewer/hooks_test.go":                   killed,
	"cmd/reviewer/trash/trash_test.go":             killed,
	"engine/audit/lock_test.go":                    "nothing shows that another goroutine waits for a lock of the system",
	"engine/osfile/cpu_test.go":                    "it shows that waiting takes no processor time",
	"engine/classify/oracle_sandbox_linux_test.go": "it ends processes in a sandbox that run too long",
	"cmd/reviewer/script_test.go":                  "commands of scripts that wait for a process",
	"cmd/reviewer/script_questions_test.go":        "a command of scripts that waits for a process",
	"cmd/reviewer/script_tools_windows_test.go":    "a program that is called sleep",
}

const killed = "it kills a process at any point; nothing depends on how far that got"

const instead = "wait for what happens (package await), use a clock of the test (testing/synctest), or count; limits are of processor time (osfile.ProcessTime)"

// No test waits for a time, or fails because something took long: on a busy machine it would
// fail, and in a hurry it would not. Benchmarks and files with the build
// tag bench measure, and fail for ratios.
func TestNoClock(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "testdata" {
			if err == nil {
				return filepath.SkipDir
			}
			return err
		}
		if d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator)))
		for _, problem := range clockUses(set, f) {
			used[name] = true
			if clockTests[name] == "" {
				t.Errorf("%s:%s; %s", name, problem, instead)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(clockTests)) {
		if !used[name] {
			t.Errorf("%s does not use the machine's clock, and need not be listed", name)
		}
	}
}

// clockUses lists where a file sleeps, and where it compares a time that has passed.
func clockUses(set *token.FileSet, f *ast.File) []string {
	if measures(f) || slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing/synctest"` }) {
		return nil
	}
	var list []string
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil || benchmarks(fn) {
			continue
		}
		c := clock{now: map[string]bool{}, passed: map[string]bool{}}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				c.assign(n)
			case *ast.CallExpr:
				if selects(n.Fun, "time", "Sleep") {
					list = append(list, fmt.Sprintf("%d: %s calls time.Sleep", set.Position(n.Pos()).Line, fn.Name.Name))
				}
			case *ast.BinaryExpr:
				compares := slices.Contains([]token.Token{token.LSS, token.GTR, token.LEQ, token.GEQ, token.EQL, token.NEQ}, n.Op)
				if compares && (c.duration(n.X) || c.duration(n.Y)) {
					list = append(list, fmt.Sprintf("%d: %s compares how long something took", set.Position(n.Pos()).Line, fn.Name.Name))
				}
			}
			return true
		})
	}
	return list
}

// benchmarks reports whether a function has a parameter of the type *testing.B.
func benchmarks(fn *ast.FuncDecl) bool {
	return slices.ContainsFunc(fn.Type.Params.List, func(p *ast.Field) bool {
		star, ok := p.Type.(*ast.StarExpr)
		return ok && selects(star.X, "testing", "B")
	})
}

// measures reports whether a file needs the build tag bench.
func measures(f *ast.File) bool {
	for _, group := range f.Comments {
		for _, c := range group.List {
			if expr, err := constraint.Parse(c.Text); err == nil && c.Pos() < f.Package {
				return strings.Contains(" "+expr.String(), " bench")
			}
		}
	}
	return false
}

// A clock knows the variables of a function that are a time of the clock, and those that are
// the time since then.
type clock struct{ now, passed map[string]bool }

func (c clock) assign(s *ast.AssignStmt) {
	for i, left := range s.Lhs {
		name, ok := left.(*ast.Ident)
		if !ok || len(s.Lhs) != len(s.Rhs) {
			continue
		}
		if c.duration(s.Rhs[i]) {
			c.passed[name.Name] = true
		} else if call, ok := s.Rhs[i].(*ast.CallExpr); ok && selects(call.Fun, "time", "Now") {
			c.now[name.Name] = true
		}
	}
}

// duration reports whether an expression is made of a time that has passed.
func (c clock) duration(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.Ident:
			found = found || c.passed[n.Name]
		case *ast.CallExpr:
			sub, ok := n.Fun.(*ast.SelectorExpr)
			between := ok && sub.Sel.Name == "Sub" && len(n.Args) == 1 && (c.isNow(sub.X) || c.isNow(n.Args[0]))
			found = found || between || selects(n.Fun, "time", "Since")
		}
		return !found
	})
	return found
}

func (c clock) isNow(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return c.now[e.Name]
	case *ast.CallExpr:
		return selects(e.Fun, "time", "Now")
	}
	return false
}

func selects(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg
}

func TestClockUses(t *testing.T) {
	for body, want := range map[string]int{
		"time.Sleep(time.Second)":                                                   1,
		"go func() { time.Sleep(d) }()":                                             1,
		"if time.Since(began) > 5*time.Second { t.Error() }":                        1,
		"if took := time.Since(began); took > limit { t.Error() }":                  1,
		"took := time.Since(began).Milliseconds(); if n == 1 && 5000 < took {}":     1,
		"start := time.Now(); if time.Now().Sub(start) >= limit {}":                 1,
		"start := time.Now(); f(); end := time.Now(); if end.Sub(start) > limit {}": 1,
		"start := time.Now(); if r.Ended().Sub(start).Abs() != 0 {}":                1,
		"t.Logf(\"%s\", time.Since(began))":                                         0,
		"if osfile.ProcessTime()-start > 20*time.Second {}":                         0,
		"if a.T.Sub(b.T) > time.Minute {}":                                          0,
		"if seconds < time.Now().Unix() {}":                                         0,
		"n := count(time.Now()); if n > 3 {}":                                       0,
	} {
		for head, skipped := range map[string]bool{
			"package p\n": false, "//go:build !windows\n\npackage p\n": false, "//go:build bench && unix\n\npackage p\n": true,
			"package p\nimport \"testing/synctest\"\n": true,
		} {
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, "p_test.go", head+"func TestX(t *testing.T) { "+body+" }\n", parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			wanted := want
			if skipped {
				wanted = 0
			}
			if got := clockUses(set, f); len(got) != wanted {
				t.Errorf("%s%s: %q, want %d", head, body, got, wanted)
			}
		}
	}
}
