package languages

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// codeReader evaluates expressions of languages with similar call syntax. It knows names,
// strings, lists, functions and calls, and skips everything else, so that no syntax can
// stop it.
type codeReader struct {
	c       *shell.Call
	lang    string
	lexis   lexis
	tokens  []Token
	close   []int // for an opening bracket: the index of its closing bracket, else 0
	vars    map[string]codeValue
	funcs   map[string]*codeFunc
	order   []*codeFunc // in the order in which they were found
	current *codeFunc
	stars   []string // modules whose names are all imported
	depth   int
	inside  int  // number of enclosing brackets: line ends have no meaning inside them
	more    bool // the list that was read last may have any number of elements
	socket  bool // the code has opened a connection of its own, without a request
	call    func(r *codeReader, fn codeValue, args []codeValue, named map[string]codeValue) codeValue
	attr    func(v codeValue, name string) codeValue
}

// maxCodeDepth limits the nesting of calls and lists.
const maxCodeDepth = 64

func newReader(c *shell.Call, lang, code string, l lexis) *codeReader {
	r := &codeReader{c: c, lang: lang, lexis: l, vars: map[string]codeValue{}, funcs: map[string]*codeFunc{}}
	r.load(Tokenize(code, l))
	return r
}

// load stores tokens and matches their brackets.
func (r *codeReader) load(tokens []Token) {
	r.tokens, r.close = tokens, make([]int, len(tokens))
	var open []int
	nesting, follows := 0, false
	for i, t := range tokens {
		tokens[i].nesting, tokens[i].follows = nesting, follows
		switch {
		case t.Kind == tokenLine:
			follows = false
		case t.Kind == TokenName && branches(t.Text):
			follows = true
		case t.Kind == tokenPunct && t.Text == "{":
			nesting++
			open = append(open, i)
		case t.Kind == tokenPunct && (t.Text == "}" || t.Text == ";") && r.lang == "node":
			follows = false
		}
		switch {
		case t.Kind != tokenPunct:
		case t.Text == "(" || t.Text == "[":
			open = append(open, i)
		case len(open) > 0 && (t.Text == ")" || t.Text == "]" || t.Text == "}"):
			r.close[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
		if t.Kind == tokenPunct && t.Text == "}" {
			nesting--
		}
	}
}

// branches reports whether what follows a word on its line might not run.
func branches(word string) bool {
	return slices.Contains([]string{"if", "elif", "else", "for", "while", "try", "except", "catch", "case", "switch"}, word)
}

// behind returns the token after the one at i, or after the brackets that open there.
func (r *codeReader) behind(i int) int {
	if i >= 0 && i < len(r.close) && r.close[i] > i {
		return r.close[i] + 1
	}
	return i + 1
}

func (r *codeReader) at(i int) Token {
	if i >= 0 && i < len(r.tokens) {
		return r.tokens[i]
	}
	return Token{}
}

func (r *codeReader) punct(i int, text string) bool {
	t := r.at(i)
	return t.Kind == tokenPunct && t.Text == text
}

func (r *codeReader) named(i int, text string) bool {
	t := r.at(i)
	return t.Kind == TokenName && t.Text == text
}

// program evaluates all of the code, and then the functions that nothing in it called:
// something else may call them.
func (r *codeReader) program() {
	before := len(r.c.Shell.Out.Commands)
	r.run(0, len(r.tokens))
	for i := 0; i < len(r.order); i++ {
		if f := r.order[i]; f.calls == 0 {
			r.enter(f, nil, nil)
		}
	}
	if r.socket && slices.ContainsFunc(r.c.Shell.Out.Commands[before:], listening) {
		r.c.Signal(engine.SignalReverseShell)
	}
}

// connects adds a connection that the code itself opens.
func (r *codeReader) connects(host abstract.Arg) {
	r.socket = true
	r.c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Egress: true}, host)
}

// listening reports whether a command is a shell that reads its commands from its input.
func listening(c engine.Command) bool {
	return shell.IsShell(c.Name) && len(c.Operands) == 0 && !slices.Contains(c.Flags, "-c")
}

// run evaluates the code from token i to the token end.
func (r *codeReader) run(i, end int) {
	for i < end && r.c.Shell.Spend(1) {
		i = r.statement(i)
	}
}

// statement evaluates the statement that starts at i, at least one token.
func (r *codeReader) statement(i int) int {
	t := r.at(i)
	r.modifier(i)
	if t.Kind == TokenName || r.sigil(i) {
		for _, read := range []func(int) int{r.loop, r.definition, r.importing, r.returning, r.assignment} {
			if n := read(i); n > i {
				return n
			}
		}
		if codeKeyword(t.Text) {
			return i + 1
		}
	}
	if !r.starts(i) {
		return i + 1
	}
	v, n := r.expression(i)
	if r.named(n, "as") && r.at(n+1).Kind == TokenName { // with open(…) as f
		r.vars[r.at(n+1).Text] = v
		n += 2
	}
	return max(n, i+1)
}

// codeKeyword reports whether a name is a keyword that cannot start a value.
func codeKeyword(name string) bool {
	switch name {
	case "if", "elif", "else", "while", "with", "try", "except", "finally", "catch", "class", "async", "in", "of", "is", "and", "or", "assert", "raise", "throw", "del", "lambda",
		"pass", "break", "continue", "nonlocal", "then", "do", "end", "begin", "unless", "until", "case", "switch", "default", "export", "static", "public", "private", "function", "fn", "sub", "elsif", "elseif", "rescue", "ensure", "local", "our", "void", "typeof", "foreach", "const", "let", "var", "my":
		return true
	}
	return false
}

// starts reports whether a value may start at i.
func (r *codeReader) starts(i int) bool {
	return startsValue(r.at(i)) || r.sigil(i) || r.punct(i, "$") && r.at(i+1).raw
}

// sigil reports whether a variable with a leading $ or @ starts at i.
func (r *codeReader) sigil(i int) bool {
	return r.lexis.sigils && (r.punct(i, "$") || r.punct(i, "@")) && (r.at(i+1).Kind == TokenName || r.punct(i+1, "{") || r.punct(i+1, "$"))
}

func startsValue(t Token) bool {
	switch t.Kind {
	case TokenName, TokenString, tokenNumber:
		return true
	case tokenPunct:
		return t.Text == "(" || t.Text == "["
	}
	return false
}

// loop evaluates for x in [..], for (const x of [..]) and foreach ($list as $x).
func (r *codeReader) loop(i int) int {
	if !r.named(i, "for") && !r.named(i, "foreach") {
		return i
	}
	j := i + 1
	for r.punct(j, "(") || r.named(j, "const") || r.named(j, "let") || r.named(j, "var") || r.named(j, "my") || r.punct(j, "$") {
		j++
	}
	if r.lang == "php" && r.named(i, "foreach") {
		return r.phpLoop(i + 2)
	}
	var names []string
	for k := j; ; k++ {
		switch t := r.at(k); {
		case t.Kind == TokenName && (t.Text == "in" || t.Text == "of") && len(names) > 0:
			v, n := r.expression(k + 1)
			r.bindLoop(names, v)
			return n
		case t.Kind == TokenName && !codeKeyword(t.Text):
			names = append(names, t.Text)
		case t.Kind == tokenPunct && (t.Text == "," || t.Text == "(" || t.Text == "[" || t.Text == ")" || t.Text == "]" || t.Text == "$"):
		default:
			return r.perlLoop(i, j)
		}
		if k > j+16 {
			return i
		}
	}
}

// bindLoop sets the variables of a loop: destructured variables are known only if each
// element is a list.
func (r *codeReader) bindLoop(names []string, list codeValue) {
	item := list.element()
	if len(names) == 1 {
		r.vars[names[0]] = item
		return
	}
	for i, name := range names {
		v := unknownValue()
		for k, choice := range choices(item) {
			part := unknownValue()
			if choice.isList {
				part = choice.at(i)
			}
			if k == 0 {
				v = part
			} else {
				v = either(v, part)
			}
		}
		r.vars[name] = v
	}
}

// phpLoop evaluates foreach (LIST as $x), where the list comes first.
func (r *codeReader) phpLoop(i int) int {
	v, n := r.expression(i)
	for k := n; k < n+8; k++ {
		if r.at(k).Kind == TokenName && r.at(k).Text != "as" {
			r.vars[r.at(k).Text] = v.element()
		}
		if r.punct(k, ")") {
			return k + 1
		}
	}
	return max(n, i)
}

// perlLoop evaluates foreach my $x (LIST).
func (r *codeReader) perlLoop(i, name int) int {
	if r.lang != "perl" || r.at(name).Kind != TokenName || !r.punct(name+1, "(") {
		return i
	}
	v, n := r.primary(name + 1)
	r.vars[r.at(name).Text] = v.element()
	return n
}

// importing binds the names of a Python import, in the order of the code, and skips Perl's
// use.
func (r *codeReader) importing(i int) int {
	if r.lang == "perl" && r.named(i, "use") {
		for i < len(r.tokens) && !r.punct(i, ";") {
			i++
		}
		return i
	}
	if r.lang != "python" || r.punct(i-1, ".") {
		return i
	}
	switch {
	case r.named(i, "import"):
		return r.pythonImport(i+1, "")
	case r.named(i, "from") && r.at(i+1).Kind == TokenName:
		module, n := r.dotted(i + 1)
		if r.named(n, "import") {
			return r.pythonImport(n+1, module+".")
		}
	}
	return i
}

// assignment evaluates NAME = value, a, b = value, self.name = value and NAME += value.
func (r *codeReader) assignment(i int) int {
	names, n := r.targets(i)
	if len(names) == 0 || r.punct(i-1, ".") {
		return i
	}
	switch {
	case r.punct(n, "=~"):
		r.vars[names[0]] = unknownValue() // $x =~ s/…/…/
		return n + 1
	case r.punct(n, "="), r.punct(n, ":") && r.punct(n+1, "="), r.lang == "rscript" && r.punct(n, "<") && r.punct(n+1, "-"):
		if !r.punct(n, "=") {
			n++
		}
	case r.punct(n, "+=") || r.lexis.joins && r.punct(n, ".") && r.punct(n+1, "="):
		if r.punct(n, ".") {
			n++
		}
		v, k := r.expression(n + 1)
		sum := plus(r.lookup(names[0]), v, false)
		r.c.Shell.Spend(sum.size())
		r.vars[names[0]] = sum
		return max(k, n+1)
	default:
		return i
	}
	v, k := r.values(n+1, len(names) > 1)
	for at, name := range names {
		item := v
		if len(names) > 1 {
			item = unknownValue()
			if v.isList {
				item = v.at(at)
			}
		}
		r.assign(name, item, i)
	}
	return max(k, n+1)
}

// targets returns the names on the left of an assignment. The first may be followed by a
// type.
func (r *codeReader) targets(i int) ([]string, int) {
	var names []string
	for i < len(r.tokens) && len(names) < 16 {
		for r.punct(i, "$") || r.punct(i, "@") {
			i++
		}
		if r.at(i).Kind != TokenName {
			return nil, i
		}
		name, n := r.dotted(i)
		names, i = append(names, name), n
		if !r.punct(i, ",") {
			break
		}
		i++
	}
	if len(names) == 1 && (r.lang == "python" || r.lang == "node") && r.punct(i, ":") && r.at(i+1).Kind == TokenName {
		for k := i + 1; k < i+8 && (r.at(k).Kind == TokenName || r.punct(k, "[") || r.punct(k, "]") || r.punct(k, "|")); k++ {
			if r.punct(k+1, "=") {
				return names, k + 1
			}
		}
	}
	return names, i
}

// values evaluates an expression, or a sequence of several as a list.
func (r *codeReader) values(i int, several bool) (codeValue, int) {
	v, n := r.expression(i)
	if !several || !r.punct(n, ",") {
		return v, n
	}
	list := []codeValue{v}
	for r.punct(n, ",") {
		v, n = r.expression(n + 1)
		list = append(list, v)
	}
	return listValue(list), n
}

// assign sets a variable. If the statement might not run, the variable may also keep its
// old value.
func (r *codeReader) assign(name string, v codeValue, at int) {
	if old, ok := r.vars[name]; ok && !r.sure(at) && !old.empty() {
		v = either(old, v)
	}
	v.from = ""
	r.vars[name] = v
}

// sure reports whether the statement at i runs whenever the program does: it is not in a
// block.
func (r *codeReader) sure(i int) bool {
	switch r.lang {
	case "python":
		return r.at(i).indent == 0 && !r.at(i).follows
	case "node":
		return r.at(i).nesting == 0 && !r.at(i).follows
	}
	return false
}

func (r *codeReader) lookup(name string) codeValue {
	if v, ok := r.vars[name]; ok {
		return v
	}
	return unknownValue()
}

// deeper increments the depth, and reports whether the limit is exceeded.
func (r *codeReader) deeper() bool {
	r.depth++
	if r.depth <= maxCodeDepth && r.c.Shell.Spend(1) {
		return true
	}
	r.c.Shell.OverBudget("code")
	return false
}

func skipsName(name string) bool {
	return slices.Contains([]string{"await", "async", "new", "return", "not", "const", "let", "var", "yield", "my", "our", "local",
		"void", "typeof", "in", "of"}, name)
}

// arguments evaluates a list up to its closing bracket and returns the index after it.
func (r *codeReader) arguments(i int, end string) ([]codeValue, map[string]codeValue, int) {
	r.inside++
	defer func() { r.inside-- }()
	var list []codeValue
	more := false
	named := map[string]codeValue{}
	for i < len(r.tokens) {
		switch {
		case r.punct(i, end):
			r.more = more
			return list, named, i + 1
		case r.punct(i, ",") || r.at(i).Kind == tokenLine:
			i++
			continue
		case r.at(i).Kind == TokenName && r.punct(i+1, "=") && !r.lexis.sigils, r.lang != "node" && r.punct(i+1, "=>") && (r.at(i).Kind == TokenName || r.at(i).Kind == TokenString),
			r.lang == "ruby" && r.at(i).Kind == TokenName && r.punct(i+1, ":"):
			v, n := r.expression(i + 2)
			named[r.at(i).Text] = v
			i = r.skipRest(max(n, i+2), end)
			continue
		case r.lang == "python" && r.comprehension(i, end):
			v, n := r.expression(i)
			list, more = append(list, v), true
			i = r.skipRest(max(n, i+1), end)
			continue
		}
		spread, k := r.spread(i)
		v, n := r.expression(k)
		switch {
		case n <= k:
			n = k + 1
		case spread && v.isList:
			list = append(list, v.list...)
		case spread && v.fields != nil:
			for name, f := range v.fields {
				named[name] = f
			}
		default:
			list = append(list, v)
		}
		i = r.skipRest(n, end)
	}
	return list, named, i
}

// spread skips the star or the dots before a list whose elements are arguments.
func (r *codeReader) spread(i int) (bool, int) {
	switch {
	case r.punct(i, "*") || r.punct(i, "**"):
		return true, i + 1
	case r.punct(i, ".") && r.punct(i+1, ".") && r.punct(i+2, "."):
		return true, i + 3
	}
	return false, i
}

// comprehension binds the variables of [f(x) for x in list], whose loops follow the
// expression.
func (r *codeReader) comprehension(i int, end string) bool {
	found := false
	for j := i; j < len(r.tokens) && !r.punct(j, ",") && !r.punct(j, end); j = r.behind(j) {
		if r.named(j, "lambda") {
			return found
		}
		if r.named(j, "for") && j > i {
			found = r.loop(j) > j || found
		}
	}
	return found
}

// object evaluates {…}: the entries of an object or dictionary, or a block of statements.
func (r *codeReader) object(i int) (map[string]codeValue, int) {
	fields := map[string]codeValue{}
	inside := r.inside
	r.inside = 0
	defer func() { r.inside = inside; r.depth-- }()
	if !r.deeper() {
		return fields, len(r.tokens)
	}
	for i++; i < len(r.tokens) && !r.punct(i, "}"); {
		key := r.at(i)
		spread, k := r.spread(i)
		switch {
		case (key.Kind == TokenName || key.Kind == TokenString) && (r.punct(i+1, ":") || r.punct(i+1, "=>") && r.lang != "node"):
			v, n := r.expression(i + 2)
			fields[key.Text] = v
			i = r.skipRest(max(n, i+2), "}")
		case spread:
			v, n := r.expression(k)
			for name, f := range v.fields {
				fields[name] = f
			}
			i = max(n, k)
		case key.Kind == TokenName && (r.punct(i+1, ",") || r.punct(i+1, "}")):
			fields[key.Text], i = r.lookup(key.Text), i+1
		case r.punct(i, "{"):
			_, i = r.object(i)
		default:
			i = r.statement(i)
		}
	}
	return fields, i + 1
}

// skipRest evaluates the rest of an argument, such as what follows an operator, up to the
// next comma or bracket.
func (r *codeReader) skipRest(i int, end string) int {
	for i < len(r.tokens) && !r.punct(i, ",") && !r.punct(i, end) {
		if r.punct(i, "{") {
			_, i = r.object(i)
			continue
		}
		i = r.statement(i)
	}
	return i
}
