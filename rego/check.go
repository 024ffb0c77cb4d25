package rego

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/open-policy-agent/opa/v1/ast"
)

// Sources is the input of Check.
type Sources struct {
	Modules    map[string]string          // layer/path -> source, tests included
	Data       map[string]any             // the data document of the policy
	Words      engine.Vocabulary          // known windows, findings and detectors
	Broken     []string                   // ids of rules whose rows cannot be read
	MayContain func(path []string) bool   // data may contain a value there, even if this policy's does not
	schema     map[string]any             // of the input
	words      map[string]bool            // of facts, and ids of rules
	known      map[string]bool            // paths of all rules that are written, including those that do not compile
	trees      map[string]*ast.Module     // as written
	found      map[string]*engine.Problem // by place, code and message
}

// RuleSet lists the rules that the modules define.
type RuleSet struct {
	IDs  map[string]bool // of `fires` of the base layer, and of `findings` of the others
	Open map[string]bool // layers whose rules fire ids that are not written out

	Forms map[string]bool // layer/id of rules whose calls may run in another form; layer/ alone: ids that are not written out
}

// Check reports every problem in the modules of a policy, and for which rules
// they decide. What does not parse or compile is removed, rule by rule, so that
// the rest is examined too; problems that only follow from others are not
// reported.
func Check(s Sources) ([]*engine.Problem, RuleSet) {
	c := &checker{Sources: s}
	c.found, c.known, c.trees = map[string]*engine.Problem{}, map[string]bool{}, map[string]*ast.Module{}
	c.schema = engine.PolicySchema(s.Words)
	c.words = wordsOf(c.schema, map[string]bool{})
	for id := range c.catalogue() {
		c.words[id] = true
	}
	for _, name := range slices.Sorted(maps.Keys(s.Modules)) {
		c.parse(name)
	}
	sound, typed := c.compile()
	c.walk(c.leniently())
	if !typed {
		c.typed(sound)
	}
	c.annotated()
	c.unused()
	rules := c.ruleHeads()
	return c.sorted(), rules
}

type checker struct {
	Sources
	broken []string               // packages, as data.x.y, of modules that do not parse; "" where it is not known which
	parts  map[string]findingPart // what a finding is made of, by its place
}

func (c *checker) sorted() []*engine.Problem {
	return engine.SortProblems(slices.Collect(maps.Values(c.found)))
}

func (c *checker) report(p *engine.Problem) *engine.Problem {
	key := fmt.Sprint(p.File, "|", p.Line, "|", p.Col, "|", p.Message)
	if old := c.found[key]; old != nil {
		return old
	}
	c.found[key] = p
	return p
}

func (c *checker) wrong(at *ast.Location, code, format string, args ...any) *engine.Problem {
	if at == nil {
		at = &ast.Location{File: "base/"} // not of a particular file
	}
	return c.report(&engine.Problem{File: at.File, Line: at.Row, Col: at.Col, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) remark(at *ast.Location, code, format string, args ...any) *engine.Problem {
	p := c.wrong(at, code, format, args...)
	p.Warning = true
	return p
}

// parse reads a module. One with wrong METADATA is read without it.
func (c *checker) parse(name string) {
	options := ast.ParserOptions{RegoVersion: ast.RegoV1, ProcessAnnotation: true}
	m, err := ast.ParseModuleWithOpts(name, c.Modules[name], options)
	if err != nil {
		c.parseErrors(name, err)
		options.ProcessAnnotation = false
		if m, err = ast.ParseModuleWithOpts(name, c.Modules[name], options); err != nil {
			c.broken = append(c.broken, packageOf(name, c.Modules[name]))
			return
		}
	}
	c.trees[name] = m
	c.inRoot(name, m)
	for _, r := range m.Rules {
		c.know(pathOf(r))
	}
}

// know records a rule's path and those of the packages above it.
func (c *checker) know(path string) {
	for ; path != "" && !c.known[path]; path = path[:max(0, strings.LastIndexByte(path, '/'))] {
		c.known[path] = true
	}
}

func (c *checker) parseErrors(name string, err error) {
	var list ast.Errors
	var one *ast.Error
	switch {
	case errors.As(err, &list):
	case errors.As(err, &one):
		list = ast.Errors{one}
	default:
		c.report(&engine.Problem{File: name, Line: 1, Code: "rego.parse", Message: err.Error()})
		return
	}
	last := -1 // an empty file has its error in row 0
	for _, e := range list {
		if e.Location == nil || e.Location.Row != last { // further errors of a line follow from the first
			c.compileError(e)
		}
		if e.Location != nil {
			last = e.Location.Row
		}
	}
}

// packageOf reads the package of a module that does not parse: its first statement may
// be valid. Empty: it is not.
func packageOf(name, source string) string {
	lines := strings.SplitAfter(source, "\n")
	for i := range lines {
		m, err := ast.ParseModuleWithOpts(name, strings.Join(lines[:i+1], ""), ast.ParserOptions{RegoVersion: ast.RegoV1})
		if err == nil && m != nil {
			return m.Package.Path.String()
		}
	}
	return ""
}

// inRoot keeps the modules of a layer, and its tests, under the layer's root.
func (c *checker) inRoot(name string, m *ast.Module) {
	layer, _, _ := strings.Cut(name, "/")
	root := rootOf(layer)
	if p := m.Package.Path.String(); p != root && !strings.HasPrefix(p, root+".") {
		wrong := c.wrong(m.Package.Location, "rego.root", "package %s is outside the root of the %s layer",
			strings.TrimPrefix(p, "data."), layer)
		wrong.About = strings.TrimPrefix(p, "data.")
		wrong.Expected = fmt.Sprintf("%s, or a package below it", strings.TrimPrefix(root, "data."))
	}
}

// maxRounds limits how often invalid rules are removed. Of a rule with more errors,
// only that many are reported.
const maxRounds = 12

// compile compiles as in production, and returns the modules without the rules that do
// not compile. Rules that only strict mode rejects stay. Without any error, which is usual,
// one compilation checks the types, too.
func (c *checker) compile() (sound map[string]*ast.Module, typed bool) {
	modules := c.apart()
	all := compileQuickly(modules, indices, func(all *ast.Compiler) *ast.Compiler { return c.typing(all).WithStrict(true) })
	if !all.Failed() {
		return modules, true
	}
	compiler := func() *ast.Compiler {
		return ast.NewCompiler().WithCapabilities(Capabilities()).WithSkipStages(append(slices.Clone(indices), ast.StageCheckTypes)...)
	}
	if left := c.rounds(modules, func() *ast.Compiler { return compiler().WithStrict(true) }); maps.Equal(left, modules) {
		return left, false
	}
	return c.rounds(modules, compiler), false
}

// indices are the stages of a compilation that only make evaluations faster.
var indices = []ast.StageID{ast.StageBuildRuleIndices, ast.StageBuildComprehensionIndices}

// typing makes a compiler check types, those of the input included.
func (c *checker) typing(compiler *ast.Compiler) *ast.Compiler {
	schemas := ast.NewSchemaSet()
	schemas.Put(ast.SchemaRootRef, c.schema)
	return compiler.WithCapabilities(Capabilities()).SetErrorLimit(0).WithSchemas(schemas)
}

// leniently compiles as much as possible for examination: including rules that
// use unknown functions, or depend on themselves.
func (c *checker) leniently() *ast.Compiler {
	var last *ast.Compiler
	c.rounds(c.trees, func() *ast.Compiler {
		last = ast.NewCompiler().WithSkipStages(
			ast.StageCheckUndefinedFuncs, ast.StageCheckSafetyRuleHeads, ast.StageCheckSafetyRuleBodies,
			ast.StageCheckRuleConflicts,
			ast.StageCheckRecursion, ast.StageCheckTypes, ast.StageBuildRuleIndices, ast.StageBuildComprehensionIndices,
		).WithStageAfterID(ast.StageResolveRefs, ast.CompilerStageDefinition{Name: "Findings", Stage: func(all *ast.Compiler) *ast.Error {
			c.findings(all.Modules)
			return nil
		}})
		return last
	})
	return last
}

// rounds compiles modules, removes what does not compile, and tries again. In later
// rounds, errors that may follow from the removal do not count. It returns the
// remaining modules.
func (c *checker) rounds(modules map[string]*ast.Module, compiler func() *ast.Compiler) map[string]*ast.Module {
	for round := 0; ; round++ {
		try := compiler().SetErrorLimit(0)
		try.Compile(modules)
		if !try.Failed() {
			return modules
		}
		next := maps.Clone(modules)
		for _, e := range simplest(try.Errors) {
			if round == 0 || !(strings.HasSuffix(e.Message, " unused") && strings.HasPrefix(e.Message, "import ")) {
				c.compileError(e)
			}
			takeOut(next, e)
		}
		if modules = next; round == maxRounds {
			modules = nil
		}
	}
}

// takeOut removes the rule or import with an error, or the module if it is in neither.
func takeOut(modules map[string]*ast.Module, e *ast.Error) {
	if e.Location == nil || modules[e.Location.File] == nil {
		clear(modules) // it is unknown which
		return
	}
	m := modules[e.Location.File]
	at := -1
	for i, r := range m.Rules {
		if r.Location.Row <= e.Location.Row {
			at = i
		}
	}
	rest := *m
	if i := slices.IndexFunc(m.Imports, func(i *ast.Import) bool { return i.Location.Row == e.Location.Row }); i >= 0 {
		rest.Imports = slices.Delete(slices.Clone(m.Imports), i, i+1)
	} else if at >= 0 {
		rest.Rules = slices.Delete(slices.Clone(m.Rules), at, at+1)
	} else {
		delete(modules, e.Location.File)
		return
	}
	modules[e.Location.File] = &rest
}

// missing reports whether a name below data should exist: it is defined somewhere, or
// possibly in a module that does not parse.
func (c *checker) missing(path string) bool {
	if c.known[path] {
		return false
	}
	dotted := strings.ReplaceAll(path, "/", ".")
	return !slices.ContainsFunc(c.broken, func(p string) bool {
		return p == "" || dotted == p || strings.HasPrefix(dotted, p+".") || strings.HasPrefix(p, dotted+".")
	})
}

// typed runs OPA's own type checker, which has the types of built-ins, on the modules
// that compiled.
func (c *checker) typed(modules map[string]*ast.Module) {
	compiler := compileQuickly(modules, indices, c.typing)
	for _, e := range compiler.Errors {
		if e.Code == ast.TypeErr && (e.Location == nil || !c.reportedAt(e.Location)) {
			c.typeError(e)
		}
	}
}

// reportedAt reports whether a problem was already reported for this line.
func (c *checker) reportedAt(at *ast.Location) bool {
	for _, p := range c.found {
		if p.File == at.File && p.Line == at.Row && !p.Warning {
			return true
		}
	}
	return false
}
