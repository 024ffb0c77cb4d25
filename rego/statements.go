package rego

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"
)

// Differences compares what two sets of modules (name -> source) state. By the
// path of a rule or a package, such as data.reviewer.risk.level, it returns the
// texts of the definitions that only the first set has, and that only the second
// has; nil, and not merely empty, where a set has no definition of it at all.
// It compares and prints what OPA has parsed: comments and layout do not
// count, while METADATA and the imports that a rule uses do. An error
// names the set and the module.
func Differences(before, after map[string]string) (map[string][2][]string, error) {
	same := func(name string) bool {
		text, both := after[name]
		return both && text == before[name]
	}
	a, err := statements(before, same)
	if err != nil {
		return nil, fmt.Errorf("in the first: %w", err)
	}
	b, err := statements(after, same)
	if err != nil {
		return nil, fmt.Errorf("in the second: %w", err)
	}
	differ := map[string][2][]string{}
	names := maps.Clone(a)
	maps.Copy(names, b)
	for name := range names {
		was, is := beyond(a[name], b[name]), beyond(b[name], a[name])
		if len(was)+len(is) > 0 {
			differ[name] = [2][]string{was, is}
		}
	}
	return differ, nil
}

// Definitions returns the texts of all definitions of the rule at a path, such
// as data.policies.user.exceptions, as Differences prints them.
func Definitions(modules map[string]string, path string) ([]string, error) {
	all, err := statements(modules, func(string) bool { return false })
	if err != nil {
		return nil, err
	}
	return beyond(all[path], nil), nil
}

// statement is a definition of a rule, or the METADATA of a package.
type statement struct {
	lead string // METADATA and imports
	tree string
	rule *ast.Rule // nil: of a package
}

// text prints a statement.
func (s statement) text() string {
	if s.rule == nil {
		return s.lead + s.tree
	}
	return s.lead + printed(s.rule, s.tree)
}

// beyond prints the items of a list that another lacks, as often as they are
// missing; nil if there is no list.
func beyond(list, others []statement) []string {
	if list == nil {
		return nil
	}
	count := map[string]int{}
	for _, s := range others {
		count[s.lead+s.tree]++
	}
	texts := []string{}
	for _, s := range list {
		if count[s.lead+s.tree]--; count[s.lead+s.tree] < 0 {
			texts = append(texts, s.text())
		}
	}
	slices.Sort(texts)
	return texts
}

// statements are those of all modules, by path. Of a module that is the same on both sides of a comparison, only
// the paths are added: its statements are missing on neither.
func statements(modules map[string]string, same func(name string) bool) (map[string][]statement, error) {
	all := map[string][]statement{}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		m, err := ast.ParseModuleWithOpts(name, modules[name], ast.ParserOptions{RegoVersion: ast.RegoV1, ProcessAnnotation: true})
		if err != nil {
			return nil, err
		}
		addStatements(m, same(name), all)
	}
	return all, nil
}

func addStatements(m *ast.Module, pathsOnly bool, all map[string][]statement) {
	pkg := m.Package.Path.String()
	named := func(path string) {
		if all[path] == nil {
			all[path] = []statement{} // it is there, and lacks nothing
		}
	}
	for _, r := range m.Rules {
		path := pkg + "." + r.Head.Ref().GroundPrefix().String()
		if pathsOnly {
			named(path)
			continue
		}
		bare := r.Copy()
		bare.Annotations = nil // in the lead
		all[path] = append(all[path], statement{usedImports(m, r) + metadataOf(r.Annotations), treeOf(bare), bare})
	}
	var others []*ast.Annotations
	for _, a := range m.Annotations {
		if a.Scope != "rule" {
			others = append(others, a)
		}
	}
	switch lead := metadataOf(others); {
	case lead == "":
	case pathsOnly:
		named(pkg)
	default:
		all[pkg] = append(all[pkg], statement{lead, m.Package.String(), nil})
	}
}

// usedImports lists the imports by whose names a rule calls something: under
// another one the same words mean something else.
func usedImports(m *ast.Module, r *ast.Rule) string {
	names := map[ast.Var]bool{}
	ast.WalkVars(r, func(v ast.Var) bool {
		names[v] = true
		return false
	})
	var lines []string
	for _, i := range m.Imports {
		if names[i.Name()] && !ast.RegoV1CompatibleRef.Equal(i.Path.Value) {
			lines = append(lines, i.String()+"\n")
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// metadataOf prints annotations, each as one comment.
func metadataOf(list []*ast.Annotations) string {
	var lines []string
	for _, a := range list {
		raw, err := json.Marshal(a)
		if err != nil {
			raw = []byte(a.String())
		}
		lines = append(lines, fmt.Sprintf("# METADATA %s\n", raw))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// printed is a rule in OPA's layout, without the comments in it. Where that would
// have another meaning, such as without the parentheses of a == (b == c), it is
// what the author wrote.
func printed(r *ast.Rule, tree string) string {
	alone := &ast.Module{Package: &ast.Package{Path: ast.MustParseRef("data.p")}, Rules: []*ast.Rule{r}}
	out, err := format.AstWithOpts(alone, format.Opts{RegoVersion: ast.RegoV1})
	if text := strings.TrimSpace(strings.TrimPrefix(string(out), head)); err == nil && statesSame(text, tree) {
		return text
	}
	return string(r.Location.Text)
}

// head turns the text of a rule into a module.
const head = "package p\n\n"

// statesSame reports whether the text of a rule has this tree.
func statesSame(text, tree string) bool {
	m, err := parse("rule", []byte(head+text))
	return err == nil && len(m.Rules) == 1 && treeOf(m.Rules[0]) == tree
}

// wildcard is the name that the parser gives to a _, numbered in the module. It is
// compiled when it is first used: a hook compares nothing.
var wildcard = engine.Regexp(`"type":"var","value":"\$[0-9]+"`)

// treeOf is all that OPA has understood of a rule, as JSON. A rule without a
// body is one whose body is true.
func treeOf(r *ast.Rule) string {
	raw, err := json.Marshal(r)
	if err != nil {
		return r.String()
	}
	numbers := map[string]string{}
	text := strings.ReplaceAll(string(raw), `"generated":true,`, "")
	return wildcard().ReplaceAllStringFunc(text, func(name string) string {
		if numbers[name] == "" {
			numbers[name] = fmt.Sprintf(`"type":"var","value":"$%d"`, len(numbers))
		}
		return numbers[name]
	})
}

// Exception is an exception in the Rego of a layer, with the parts that are written out.
type Exception struct {
	Layer     string
	File      string // layer/path
	Line, Col int    // of its end if it has one, else of the whole
	Rule      string // empty: it is computed
	Reason    string
	Owner     string
	ExpiresAt string
}

// Exceptions lists the exceptions in modules, by file and line. Modules that do not parse are left out.
func Exceptions(modules map[string]string) []Exception {
	var all []Exception
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		if isTestFile(name) || !strings.Contains(modules[name], "exceptions") {
			continue
		}
		m, err := ast.ParseModule(name, modules[name])
		if err != nil {
			continue // `policy check` reports it
		}
		layer, _, _ := strings.Cut(name, "/")
		for _, r := range m.Rules {
			if ref := r.Head.Ref(); len(ref) == 0 || ref[0].Value.Compare(ast.Var("exceptions")) != 0 {
				continue
			}
			if o, isObject := objectOf(r.Head.Key); isObject {
				all = append(all, exceptionOf(layer, name, r, o))
			}
		}
	}
	return all
}

func exceptionOf(layer, name string, r *ast.Rule, o ast.Object) Exception {
	text := func(key string) string {
		s, _ := stringOf(o.Get(ast.InternedTerm(key)))
		return s
	}
	x := Exception{Layer: layer, File: name, Line: r.Location.Row, Col: r.Location.Col, Rule: text("rule"), Reason: text("reason"),
		Owner: text("owner"), ExpiresAt: text("expires_at")}
	if _, at := stringOf(o.Get(ast.InternedTerm("expires_at"))); at != nil && x.ExpiresAt != "" {
		x.Line, x.Col = at.Row, at.Col
	}
	return x
}
