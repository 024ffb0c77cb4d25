// Package reuse finds the documents of a policy that have the same values as in another
// evaluation: of another policy, or for another input. Simulations decide each event under
// policies that differ in little, and most of a decision is the same for all of them.
//
// A document is the value of a rule, or of several with one name, that is not a function. Its
// value is determined by the text of its rules and of the functions that they call, by the
// data and the parts of the input that these read, and by the documents that they refer to.
// If all of these are equal in two evaluations, its value is, too. What cannot be
// determined counts as different.
//
// Out of scope: evaluation itself, and the choice of what is compared.
package reuse

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Plan is what the documents of a policy depend on.
type Plan struct {
	docs   []*document // a document comes after those that it refers to
	number map[string]int
	root   *node
	inputs []ast.Ref // parts of the input that documents read
}

// document is one document, without its value.
type document struct {
	path   string
	own    [sha256.Size]byte // identifies the rules, functions and data that it is computed with
	deps   []int             // documents that it refers to
	inputs []int             // parts of the input that it reads itself, numbers in Plan.inputs
}

// node is a part of the paths of documents.
type node struct {
	below map[string]*node
	doc   int // 1 is the first; 0: none ends here
}

// NewPlan examines compiled modules and the data that they read.
func NewPlan(c *ast.Compiler, data ast.Object) *Plan {
	w := newWork(c, data)
	for _, path := range w.alone {
		w.plan.visit(w, path)
	}
	return w.plan
}

// visit adds a document after those that it refers to. Rules are never recursive.
func (p *Plan) visit(w *work, path string) int {
	if n, known := p.number[path]; known {
		return n
	}
	reads := w.reads(path)
	d := &document{path: path, own: w.fingerprint(reads)}
	for _, other := range sortedKeys(reads.docs) {
		d.deps = append(d.deps, p.visit(w, other))
	}
	for _, name := range sortedKeys(reads.inputs) {
		d.inputs = append(d.inputs, w.input(name, reads.inputs[name]))
	}
	p.number[path] = len(p.docs)
	p.docs = append(p.docs, d)
	p.root.add(groundPath(w.rules[path][0]), len(p.docs))
	return len(p.docs) - 1
}

func (n *node) add(ref ast.Ref, doc int) {
	for _, t := range ref[1:] {
		name := string(t.Value.(ast.String))
		next := n.below[name]
		if next == nil {
			next = &node{}
			if n.below == nil {
				n.below = map[string]*node{}
			}
			n.below[name] = next
		}
		n = next
	}
	n.doc = doc
}

// find returns the number of the document at exactly this path; -1: there is none.
func (n *node) find(ref ast.Ref) int {
	if head, is := ref[0].Value.(ast.Var); !is || !head.Equal(ast.DefaultRootDocument.Value) {
		return -1
	}
	for _, t := range ref[1:] {
		name, is := t.Value.(ast.String)
		if !is {
			return -1
		}
		if n = n.below[string(name)]; n == nil {
			return -1
		}
	}
	return n.doc - 1
}

// work is the examination of a policy.
type work struct {
	plan     *Plan
	compiler *ast.Compiler
	data     ast.Object
	rules    map[string][]*ast.Rule // of each path; functions are among them
	paths    map[*ast.Rule]string
	alone    []string        // paths of documents
	document map[string]bool // the same as a set
	aliases  map[string]ast.Ref
	inputs   map[string]int
	found    map[string]*readSet
	direct   map[string]*readSet          // of one path alone; docs are all paths that its rules refer to
	texts    map[string][sha256.Size]byte // digests of the rules of a path
	datas    map[string][sha256.Size]byte // digests of data
}

// readSet is what a document reads, except through other documents.
type readSet struct {
	rules  map[string]bool // paths: its own, and those that are not documents
	docs   map[string]bool
	inputs map[string]ast.Ref
	datas  map[string]ast.Ref
	with   bool // some of it is evaluated under `with`
}

func newReadSet() *readSet {
	return &readSet{rules: map[string]bool{}, docs: map[string]bool{}, inputs: map[string]ast.Ref{}, datas: map[string]ast.Ref{}}
}

func newWork(c *ast.Compiler, data ast.Object) *work {
	w := &work{plan: &Plan{number: map[string]int{}, root: &node{}}, compiler: c, data: data,
		rules: map[string][]*ast.Rule{}, paths: map[*ast.Rule]string{}, document: map[string]bool{}, aliases: map[string]ast.Ref{},
		inputs: map[string]int{}, found: map[string]*readSet{}, direct: map[string]*readSet{},
		texts: map[string][sha256.Size]byte{}, datas: map[string][sha256.Size]byte{}}
	for _, name := range sortedKeys(c.Modules) {
		for _, r := range c.Modules[name].Rules {
			path := groundPath(r).String()
			w.rules[path] = append(w.rules[path], r)
			for ; r != nil; r = r.Else {
				w.paths[r] = path
			}
		}
	}
	w.chooseDocuments()
	w.chooseAliases()
	return w
}

// chooseDocuments leaves out functions, paths with variables, and paths that contain others
// or are contained: the documents of these are merged.
func (w *work) chooseDocuments() {
	paths := sortedKeys(w.rules)
	merged := map[string]bool{}
	for i, path := range paths {
		ref := groundPath(w.rules[path][0])
		for _, other := range paths[i+1:] {
			if !strings.HasPrefix(other, path) {
				break
			}
			if groundPath(w.rules[other][0]).HasPrefix(ref) {
				merged[path], merged[other] = true, true
			}
		}
	}
	for _, path := range paths {
		if !merged[path] && !slices.ContainsFunc(w.rules[path], noDocument) {
			w.alone, w.document[path] = append(w.alone, path), true
		}
	}
}

func noDocument(r *ast.Rule) bool { return len(r.Head.Args) > 0 || !constant(groundPath(r)) }

// chooseAliases finds documents that are names for a part of the data, such as `_cfg :=
// data.settings.scores`. A reference to a part of one reads that part of the data.
func (w *work) chooseAliases() {
	for _, path := range w.alone {
		if target := aliasOf(w.rules[path]); target != nil && w.onlyData(target) {
			w.aliases[path] = target
		}
	}
}

// aliasOf returns the reference that is the whole value of a document; nil: it is computed.
func aliasOf(rules []*ast.Rule) ast.Ref {
	r := rules[0]
	plain := len(rules) == 1 && r.Else == nil && !r.Default && r.Head.Key == nil && r.Head.Value != nil && r.Head.Ref().IsGround()
	if !plain || len(r.Body) != 1 || len(r.Body[0].With) > 0 || r.Body[0].Negated {
		return nil
	}
	body := r.Body[0]
	if ref, is := r.Head.Value.Value.(ast.Ref); is && body.Equal(ast.NewExpr(ast.BooleanTerm(true))) {
		return ref
	}
	if !body.IsEquality() || !body.Operand(0).Equal(r.Head.Value) {
		return nil
	}
	ref, _ := body.Operand(1).Value.(ast.Ref)
	return ref
}

// onlyData reports whether no rule is at, above or below a reference, which is constant.
func (w *work) onlyData(ref ast.Ref) bool {
	if !ref[0].Equal(ast.DefaultRootDocument) || len(ref) < 2 || !constant(ref) {
		return false
	}
	for _, rules := range w.rules {
		if other := groundPath(rules[0]); other.HasPrefix(ref) || ref.HasPrefix(other) {
			return false
		}
	}
	return true
}

func constant(ref ast.Ref) bool {
	return !slices.ContainsFunc(ref[1:], func(t *ast.Term) bool { _, is := t.Value.(ast.String); return !is })
}

func groundPath(r *ast.Rule) ast.Ref {
	return r.Module.Package.Path.Extend(r.Head.Ref().GroundPrefix())
}

// reads returns what a document reads. Under `with`, other documents have other values, so
// all that they read counts as its own.
func (w *work) reads(path string) *readSet {
	if known := w.found[path]; known != nil {
		return known
	}
	set := newReadSet()
	w.follow(path, set)
	if set.with {
		for len(set.docs) > 0 {
			for other := range set.docs {
				delete(set.docs, other)
				w.follow(other, set)
			}
		}
	}
	w.resolve(set)
	w.found[path] = set
	return set
}

// resolve replaces references to aliases by what they stand for. An alias that is part of
// something larger that is read stays a document.
func (w *work) resolve(set *readSet) {
	for _, path := range sortedKeys(set.docs) {
		target := w.aliases[path]
		if target == nil {
			continue
		}
		own, whole := groundPath(w.rules[path][0]), false
		for name, ref := range set.datas {
			switch {
			case ref.HasPrefix(own):
				delete(set.datas, name)
				part := target.Concat(ref[len(own):])
				set.datas[part.String()] = part
			case own.HasPrefix(ref):
				whole = true
			}
		}
		if !whole {
			delete(set.docs, path)
		}
	}
}

// follow adds what the rules of a path read, and those of functions that they call.
func (w *work) follow(path string, set *readSet) {
	if set.rules[path] {
		return
	}
	set.rules[path] = true
	own := w.readsOf(path)
	maps.Copy(set.inputs, own.inputs)
	maps.Copy(set.datas, own.datas)
	set.with = set.with || own.with
	for other := range own.docs {
		switch {
		case set.rules[other]:
		case w.document[other]:
			set.docs[other] = true
		default:
			w.follow(other, set)
		}
	}
}

// readsOf is what the rules of a path read themselves. Many documents call the same functions, so it is kept.
func (w *work) readsOf(path string) *readSet {
	if known := w.direct[path]; known != nil {
		return known
	}
	own := newReadSet()
	for _, r := range w.rules[path] {
		w.visit(r, own)
		for ; r != nil; r = r.Else {
			for node := range w.compiler.Graph.Dependencies(r) {
				own.docs[w.paths[node.(*ast.Rule)]] = true
			}
		}
	}
	w.direct[path] = own
	return own
}

// visit adds the input and data that a part of a rule reads. A variable that is in no
// reference is the whole document.
func (w *work) visit(part any, set *readSet) {
	ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case *ast.With:
			set.with = true
		case ast.Ref:
			set.reference(x)
			for _, t := range x[1:] { // other references, such as in input.paths[input.n]
				w.visit(t, set)
			}
			if _, is := x[0].Value.(ast.Var); !is {
				w.visit(x[0], set)
			}
			return true
		case ast.Var:
			set.reference(ast.Ref{ast.NewTerm(x)})
		}
		return false
	}).Walk(part)
}

func (s *readSet) reference(ref ast.Ref) {
	n := 1
	for n < len(ref) && constant(ref[:n+1]) {
		n++
	}
	switch prefix := ref[:n]; {
	case ref[0].Equal(ast.InputRootDocument):
		s.inputs[prefix.String()] = prefix
	case ref[0].Equal(ast.DefaultRootDocument):
		s.datas[prefix.String()] = prefix
	}
}

func (w *work) input(name string, ref ast.Ref) int {
	n, known := w.inputs[name]
	if !known {
		n = len(w.plan.inputs)
		w.inputs[name], w.plan.inputs = n, append(w.plan.inputs, ref)
	}
	return n
}

// fingerprint identifies rules and data. Functions are called by many documents, so the digest of each text is kept.
func (w *work) fingerprint(set *readSet) [sha256.Size]byte {
	h := sha256.New()
	for _, path := range sortedKeys(set.rules) {
		digest, known := w.texts[path]
		if !known {
			var text strings.Builder
			for _, r := range w.rules[path] {
				fmt.Fprintf(&text, "%q", ruleText(r))
			}
			digest = sha256.Sum256([]byte(text.String()))
			w.texts[path] = digest
		}
		fmt.Fprintf(h, "%q %x", path, digest)
	}
	for _, name := range sortedKeys(set.datas) {
		fmt.Fprintf(h, "%q %x", name, w.dataDigest(name, set.datas[name]))
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func (w *work) dataDigest(name string, ref ast.Ref) [sha256.Size]byte {
	digest, known := w.datas[name]
	if !known {
		text := "undefined"
		if v, err := w.data.Find(ref[1:]); err == nil {
			text = v.String()
		}
		digest = sha256.Sum256([]byte(text))
		w.datas[name] = digest
	}
	return digest
}

// generated are the names of variables that a compiler numbers through all modules.
var generated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`__local[0-9]+__`) })

// ruleText is a rule with its own numbers for generated variables. A rule that mentions
// such a name in a string keeps all names, and is hardly ever equal to another.
func ruleText(r *ast.Rule) string {
	text := fmt.Sprint(r.Default, r.Head.DocKind(), " ", r.String())
	mentioned := false
	ast.WalkTerms(r, func(t *ast.Term) bool {
		s, is := t.Value.(ast.String)
		mentioned = mentioned || is && strings.Contains(string(s), "__local")
		return mentioned
	})
	if mentioned {
		return text
	}
	numbers := map[string]string{}
	return generated().ReplaceAllStringFunc(text, func(name string) string {
		if numbers[name] == "" {
			numbers[name] = fmt.Sprintf("__local%d__", len(numbers))
		}
		return numbers[name]
	})
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
