package rego

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/open-policy-agent/opa/v1/ast"
	opatypes "github.com/open-policy-agent/opa/v1/types"
)

// compileError rewords an error of OPA's parser or compiler so that it describes what to do.
func (c *checker) compileError(e *ast.Error) {
	if name, ok := strings.CutPrefix(e.Message, "undefined function "); ok {
		c.noFunction(e, name)
		return
	}
	switch e.Code {
	case ast.ParseErr:
		c.wrong(e.Location, "rego.parse", "%s", parseText(e.Message))
	case ast.TypeErr:
		c.typeError(e)
	case ast.UnsafeVarErr:
		c.unsafe(e)
	case ast.RecursionErr:
		c.wrong(e.Location, "rego.recursion", "%s; remove one of the steps: a rule cannot depend on itself",
			dotted(strings.TrimPrefix(e.Message, "rule ")))
	default:
		c.wrong(e.Location, "rego.compile", "%s", compileText(e.Message))
	}
}

// parseText shortens the parser's message.
func parseText(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	if first == "empty module" {
		return "the file contains only comments; add a package, or delete it"
	}
	if first == "unexpected eof token" {
		return "the file ends too early; look for an unclosed brace, bracket or quote"
	}
	switch {
	case first == "package expected":
		return "the file begins without a package; write package and the root of the layer, such as package policies.user"
	case strings.Contains(first, "` keyword is required"):
		return first + "; since OPA 1.0 a rule is written name if { … }, and one of several values name contains x if { … }"
	case strings.HasSuffix(first, "cannot be used for rule name"):
		return "no rule can begin here; Rego has no `or`: write the alternative as another rule of the same name"
	}
	if rest, ok := strings.CutPrefix(first, "yaml: line "); ok {
		_, what, _ := strings.Cut(rest, ": ")
		return "METADATA is not valid YAML: " + what
	}
	return strings.TrimSuffix(strings.TrimSpace(first), ":")
}

// compileText rewords the errors of strict mode.
func compileText(message string) string {
	switch {
	case strings.HasPrefix(message, "import ") && strings.HasSuffix(message, " unused"):
		return message + "; remove it"
	case strings.HasPrefix(message, "multiple default rules "):
		name, _, _ := strings.Cut(strings.TrimPrefix(message, "multiple default rules "), " found at ")
		return dotted(name) + " has several defaults; keep one"
	case strings.HasPrefix(message, "assigned var ") && strings.HasSuffix(message, " unused"):
		return message + "; use it, or remove it"
	case strings.HasPrefix(message, "unused argument "):
		name, _, _ := strings.Cut(strings.TrimPrefix(message, "unused argument "), ". (hint")
		return "unused argument " + name + "; write _ instead"
	}
	return dotted(message)
}

// dotted removes the root of the documents from names, since authors do not write it.
func dotted(message string) string {
	return strings.ReplaceAll(strings.ReplaceAll(message, "data.reviewer.", "reviewer."), "data.policies.", "policies.")
}

func (c *checker) unsafe(e *ast.Error) {
	name := strings.TrimSuffix(strings.TrimPrefix(e.Message, "var "), " is unsafe")
	if strings.HasPrefix(name, "__local") || strings.Contains(name, " ") {
		c.wrong(e.Location, "rego.unsafe", "%s", e.Message)
		return
	}
	if !c.missing(c.inPackage(e.Location.File, name)) {
		return // it does not compile, which was reported
	}
	p := c.wrong(e.Location, "rego.unsafe", "%s has no value here", name)
	p.Expected = fmt.Sprintf("some %s in …, %s := …, an import, or a rule of this package", name, name)
	p.Suggestion = engine.Nearest(name, c.namesIn(e.Location.File))
}

// inPackage is the path of a name in the package of a module.
func (c *checker) inPackage(file, name string) string {
	if m := c.trees[file]; m != nil {
		return slashed(m.Package.Path) + "/" + name
	}
	return name
}

// namesIn lists the names that a module can use without a path.
func (c *checker) namesIn(file string) []string {
	m := c.trees[file]
	if m == nil {
		return nil
	}
	names := []string{"input", "data"}
	for _, i := range m.Imports {
		names = append(names, string(i.Name()))
	}
	prefix := slashed(m.Package.Path) + "/"
	for path := range c.known {
		if rest, ok := strings.CutPrefix(path, prefix); ok && !strings.Contains(rest, "/") {
			names = append(names, rest)
		}
	}
	slices.Sort(names)
	return names
}

// noFunction suggests a replacement for an unknown function.
func (c *checker) noFunction(e *ast.Error, name string) {
	if ast.BuiltinMap[name] != nil {
		p := c.wrong(e.Location, "rego.builtin", "%s is not available: a decision that uses it could not be recomputed", name)
		p.Expected = instead(name)
		return
	}
	path := strings.ReplaceAll(name, ".", "/")
	if strings.HasPrefix(path, "data/") {
		if !c.missing(path) {
			return // it does not compile, which was reported
		}
		p := c.wrong(e.Location, "rego.function", "unknown function %s", dotted(name))
		p.Suggestion = engine.Nearest(last(path), c.below(above(path)))
		return
	}
	if !c.missing(c.inPackage(e.Location.File, name)) {
		return
	}
	p := c.wrong(e.Location, "rego.function", "unknown function %s", name)
	p.Suggestion = engine.Nearest(name, append(slices.Sorted(maps.Keys(ast.BuiltinMap)), c.namesIn(e.Location.File)...))
}

// below lists the names one step under a path, of rules and of data.
func (c *checker) below(path string) []string {
	names := map[string]bool{}
	for p := range c.known {
		if rest, ok := strings.CutPrefix(p, path+"/"); ok && !strings.Contains(rest, "/") {
			names[rest] = true
		}
	}
	var at any = map[string]any{"data": c.Data}
	for _, key := range strings.Split(path, "/") {
		m, _ := at.(map[string]any)
		at = m[key]
	}
	if m, ok := at.(map[string]any); ok {
		for k := range m {
			names[k] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// instead suggests an alternative to the clock, random numbers and the network.
func instead(name string) string {
	family, _, _ := strings.Cut(name, ".")
	switch {
	case name == "time.now_ns":
		return "input.time.ms"
	case name == "time.clock":
		return "input.time.hour and input.time.minute, which are UTC"
	case name == "time.weekday":
		return "input.time.weekday, which is UTC"
	case family == "time":
		return "arithmetic on input.time.ms: time zones depend on the machine"
	case family == "rand" || family == "uuid":
		return "no random values"
	case family == "http" || family == "net":
		return "what it would fetch as data of the policy"
	case name == "opa.runtime":
		return "data of the policy: the environment depends on the machine"
	case name == "trace":
		return "print, in a test"
	}
	return "the facts of input, and data of the policy"
}

// typesOf lists the types of a function's arguments, without what it returns.
func typesOf(name string, list []opatypes.Type) string {
	var names []string
	if b := ast.BuiltinMap[name]; b != nil {
		list = list[:min(len(list), b.Decl.Arity())]
	}
	for _, t := range list {
		if t != nil {
			names = append(names, opatypes.Sprint(t))
		}
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// typeError reports an error of OPA's type checker about the use of a value.
func (c *checker) typeError(e *ast.Error) {
	text, _, _ := strings.Cut(e.Message, "\n")
	p := c.wrong(e.Location, "rego.type", "%s", dotted(text))
	switch d := e.Details.(type) {
	case *ast.ArgErrDetail:
		p.Message = strings.Replace(p.Message, "invalid argument(s)", "wrong arguments", 1)
		name, _, _ := strings.Cut(e.Message, ":")
		p.Found, p.Expected = typesOf(name, d.Have), typesOf(name, d.Want.Args)
	case *ast.UnificationErrDetail:
		p.Message = "the two sides can never be equal"
		p.Found = fmt.Sprintf("%v and %v", d.Left, d.Right)
	}
}

// apart returns the modules without the rules that read a document that contains
// themselves: a whole root, or their own package. OPA would report every rule of it as
// recursive.
func (c *checker) apart() map[string]*ast.Module {
	modules := maps.Clone(c.trees)
	for _, name := range slices.Sorted(maps.Keys(c.trees)) {
		if isTestFile(name) {
			continue
		}
		m := *c.trees[name]
		m.Rules = slices.DeleteFunc(slices.Clone(m.Rules), func(r *ast.Rule) bool {
			at := wholeRead(r, m.Package.Path)
			if at != nil {
				wrong := c.wrong(at.Location, "rego.recursion", "this reads all of %s, which contains this rule",
					strings.TrimPrefix(at.String(), "data."))
				wrong.Expected = "the path of the value that is needed, such as data.reviewer.risk"
			}
			return at != nil
		})
		modules[name] = &m
	}
	return modules
}

// wholeRead finds a reference to a document of packages; nil: there is none.
func wholeRead(r *ast.Rule, own ast.Ref) (found *ast.Term) {
	ast.WalkTerms(r, func(t *ast.Term) bool {
		ref, ok := t.Value.(ast.Ref)
		if ok && found == nil && ref.HasPrefix(ast.DefaultRootRef) && (own.HasPrefix(ref) || wholeRoot(ref)) {
			found = t
		}
		return ok && ref.HasPrefix(ast.DefaultRootRef)
	})
	return found
}

// wholeRoot reports whether a reference is to the document of a layer, or of
// several.
func wholeRoot(ref ast.Ref) bool {
	path := slashed(ref)
	return path == "data" || path == "data/reviewer" || path == "data/policies" ||
		strings.HasPrefix(path, "data/policies/") && len(ref) == 3
}

// simplest picks the recursion error to report: each rule of a cycle has its
// own, and all follow from the same mistake.
func simplest(errs ast.Errors) ast.Errors {
	var best *ast.Error
	rest := slices.DeleteFunc(slices.Clone(errs), func(e *ast.Error) bool {
		if e.Code != ast.RecursionErr {
			return false
		}
		if best == nil || steps(e) < steps(best) {
			best = e
		}
		return true
	})
	if best != nil {
		rest = append(rest, best)
	}
	return rest
}

// steps weighs a cycle: by its length, and one through tests comes last.
func steps(e *ast.Error) int {
	n := strings.Count(e.Message, " -> ")
	if strings.Contains(e.Message, "_test.") {
		n += 1000
	}
	return n
}
