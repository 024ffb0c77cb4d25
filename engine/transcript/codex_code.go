package transcript

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// scriptCalls returns the calls of a script. In code mode Codex's model writes one in
// JavaScript that calls the tools:
//
//	const r = await tools.exec_command({cmd: "ls", workdir: "/src"});
//
// Calls are found as far as their values are literals; nothing is run. Where arguments
// come from other values, or a tool is called in another way, the script itself counts
// as a call too, so that nothing is hidden.
func scriptCalls(code string) []nestedCall {
	s := script{text: code, known: map[string]any{}}
	s.shadowed = strings.Contains(code, "=>") || strings.Contains(code, "function")
	var calls []nestedCall
	for s.next() {
		tool, arg, err := s.called()
		switch {
		case err != nil:
			s.partly = true
		case tool != "":
			calls = append(calls, scriptCall(tool, arg))
		}
	}
	if s.partly || len(calls) == 0 || len(calls) > maxTouched {
		whole := nestedCall{calls: []toolCall{encoded("exec", map[string]any{"input": code})}}
		return append([]nestedCall{whole}, calls[:min(len(calls), maxTouched)]...)
	}
	return calls
}

// nestedCall is one call in a script, as the calls of Claude Code that it is equivalent to.
type nestedCall struct {
	key   string // the same for the item that Codex writes about it; empty: the script itself
	calls []toolCall
}

// flat returns the calls of all.
func flat(nested []nestedCall) []toolCall {
	var calls []toolCall
	for _, n := range nested {
		calls = append(calls, n.calls...)
	}
	return calls
}

// scriptCall is a call of a tool in Claude Code's language.
func scriptCall(tool string, arg any) nestedCall {
	args, ok := arg.(map[string]any)
	if !ok {
		args = map[string]any{}
		if arg != nil {
			args["input"] = arg
		}
	}
	if tool == "web__run" {
		return nestedCall{tool, webCalls(args)}
	}
	return nestedCall{nestedKey(tool, args), translate(tool, args)}
}

// webCalls are the searches and pages of the tool that does both.
func webCalls(args map[string]any) []toolCall {
	var calls []toolCall
	for _, q := range parts(args["search_query"], "q") {
		calls = append(calls, encoded("WebSearch", map[string]any{"query": q}))
	}
	for _, page := range parts(args["open"], "ref_id") {
		if webAddress().MatchString(page) {
			calls = append(calls, encoded("WebFetch", map[string]any{"url": page}))
		}
	}
	if len(calls) == 0 { // the page is one of its results
		return []toolCall{encoded("web__run", args)}
	}
	return calls
}

// script parses JavaScript as far as calls with plain values require.
type script struct {
	text   string
	at     int
	word   string         // the name that was read last
	known  map[string]any // constants with plain values
	partly bool           // there is more than what was understood

	shadowed bool // there are functions: a name may be one of their parameters
}

// errNotPlain means that a value is known only when the script runs.
var errNotPlain = errors.New("not a plain value")

// maxNested limits the nesting of values.
const maxNested = 32

// next moves after the next name, skipping strings and comments.
func (s *script) next() bool {
	for s.at < len(s.text) {
		s.blanks()
		switch c := s.peek(); {
		case c == 0:
			return false
		case c == '"' || c == '\'' || c == '`':
			s.pass(c)
		case isNameStart(c):
			s.word = s.name()
			return true
		case c >= '0' && c <= '9':
			s.name()
		default:
			s.at++
		}
	}
	return false
}

// pass skips a string. One that contains the name of the tools may be code between
// quotes of regular expressions, or in a template.
func (s *script) pass(quote byte) {
	begin := s.at
	if _, err := s.value(0); err != nil {
		for s.at++; s.at < len(s.text) && s.text[s.at] != quote; s.at++ {
			if s.text[s.at] == '\\' {
				s.at++
			}
		}
		s.at = min(s.at+1, len(s.text))
	}
	s.partly = s.partly || strings.Contains(s.text[begin:s.at], "tools")
}

// called reads what follows a name: a constant is remembered, and a call of a tool is
// returned.
func (s *script) called() (tool string, arg any, err error) {
	switch s.word {
	case "const":
		s.constant()
		return "", nil, nil
	case "let", "var":
		s.blanks()
		delete(s.known, s.name())
		return "", nil, nil
	case "tools":
	default:
		return "", nil, nil
	}
	if tool, err = s.member(); err != nil {
		return "", nil, err
	}
	if s.blanks(); !s.take("(") {
		return "", nil, errNotPlain
	}
	if s.blanks(); s.take(")") {
		return tool, nil, nil
	}
	if arg, err = s.value(0); err != nil {
		return "", nil, err
	}
	if s.blanks(); s.take(",") {
		s.blanks()
	}
	if !s.take(")") {
		return "", nil, errNotPlain
	}
	return tool, arg, nil
}

// member returns the name after a dot, or in brackets.
func (s *script) member() (string, error) {
	s.blanks()
	if s.take("?."); s.take(".") || isNameStart(s.peek()) {
		s.blanks()
		if name := s.name(); name != "" {
			return name, nil
		}
		return "", errNotPlain
	}
	if !s.take("[") {
		return "", errNotPlain
	}
	v, err := s.value(0)
	name, ok := v.(string)
	if s.blanks(); err != nil || !ok || !s.take("]") {
		return "", errNotPlain
	}
	return name, nil
}

// constant remembers the value of a name, where it is plain.
func (s *script) constant() {
	s.blanks()
	name := s.name()
	delete(s.known, name)
	begin := s.at
	if s.blanks(); name == "" || !s.take("=") {
		s.at = begin
		return
	}
	begin = s.at
	v, err := s.value(0)
	if s.blanks(); err == nil && (s.at >= len(s.text) || strings.ContainsAny(s.text[s.at:s.at+1], ";,\n") || s.lineBefore()) {
		if s.known[name] = v; s.shadowed {
			delete(s.known, name)
		}
		return
	}
	s.at = begin // it may contain a call
}

// lineBefore reports whether what comes next begins a line.
func (s *script) lineBefore() bool {
	before := strings.TrimRight(s.text[:s.at], " \t\r")
	return strings.HasSuffix(before, "\n") && !strings.ContainsAny(s.text[s.at:s.at+1], ".+-*/%?&|=<>([`")
}

// value returns the next plain value; strings may be joined by plus signs.
func (s *script) value(depth int) (any, error) {
	v, err := s.single(depth)
	for err == nil {
		begin := s.at
		if s.blanks(); !s.take("+") {
			s.at = begin
			return v, nil
		}
		text, ok := v.(string)
		var more any
		if more, err = s.single(depth); err != nil {
			return nil, err
		}
		tail, okToo := more.(string)
		if !ok || !okToo {
			return nil, errNotPlain
		}
		v = text + tail
	}
	return nil, err
}

func (s *script) single(depth int) (any, error) {
	if depth > maxNested {
		return nil, errNotPlain
	}
	s.blanks()
	switch c := s.peek(); {
	case c == '"' || c == '\'':
		return s.quoted(c)
	case c == '`':
		return s.template(false)
	case c == '[':
		return s.list(depth)
	case c == '{':
		return s.object(depth)
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case isNameStart(c):
		return s.named()
	}
	return nil, errNotPlain
}

// named returns a literal word, or the value of a constant.
func (s *script) named() (any, error) {
	begin := s.at
	if s.take("String.raw`") {
		s.at--
		return s.template(true)
	}
	switch name := s.name(); name {
	case "true", "false":
		return name == "true", nil
	case "null", "undefined":
		return nil, nil
	default:
		if v, known := s.known[name]; known && !strings.HasPrefix(s.text[s.at:], ".") && !strings.HasPrefix(s.text[s.at:], "[") &&
			!strings.HasPrefix(s.text[s.at:], "(") {
			return v, nil
		}
	}
	s.at = begin
	return nil, errNotPlain
}

func (s *script) number() (any, error) {
	begin := s.at
	for s.at < len(s.text) && strings.ContainsRune("-+.0123456789_eE", rune(s.text[s.at])) {
		s.at++
	}
	text := strings.ReplaceAll(s.text[begin:s.at], "_", "")
	if !json.Valid([]byte(text)) {
		return nil, errNotPlain
	}
	return json.Number(text), nil
}

func (s *script) list(depth int) (any, error) {
	s.at++
	list := []any{}
	for {
		if s.blanks(); s.take("]") {
			return list, nil
		}
		v, err := s.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if s.blanks(); !s.take(",") && s.peek() != ']' {
			return nil, errNotPlain
		}
	}
}

func (s *script) object(depth int) (any, error) {
	s.at++
	object := map[string]any{}
	for {
		if s.blanks(); s.take("}") {
			return object, nil
		}
		key, v, err := s.field(depth)
		if err != nil {
			return nil, err
		}
		object[key] = v
		if s.blanks(); !s.take(",") && s.peek() != '}' {
			return nil, errNotPlain
		}
	}
}

// field is a key and its value; a key alone is the constant of its name.
func (s *script) field(depth int) (string, any, error) {
	var key string
	if c := s.peek(); c == '"' || c == '\'' {
		text, err := s.quoted(c)
		if err != nil {
			return "", nil, err
		}
		key, _ = text.(string)
	} else if key = s.name(); key == "" {
		return "", nil, errNotPlain
	}
	s.blanks()
	if s.take(":") {
		v, err := s.value(depth + 1)
		return key, v, err
	}
	v, known := s.known[key]
	if !known {
		return "", nil, errNotPlain
	}
	return key, v, nil
}

// quoted is a string in quotes.
func (s *script) quoted(quote byte) (any, error) {
	begin := s.at
	var b strings.Builder
	for s.at++; s.at < len(s.text); {
		switch c := s.text[s.at]; c {
		case quote:
			s.at++
			return b.String(), nil
		case '\n':
			s.at = begin
			return nil, errNotPlain
		case '\\':
			s.at++
			b.WriteString(s.escape())
		default:
			b.WriteByte(c)
			s.at++
		}
	}
	s.at = begin
	return nil, errNotPlain
}

// template is a template string; constants in it are replaced.
func (s *script) template(raw bool) (any, error) {
	begin := s.at
	var b strings.Builder
	for s.at++; s.at < len(s.text); {
		switch c := s.text[s.at]; {
		case c == '`':
			s.at++
			return b.String(), nil
		case c == '\\' && !raw:
			s.at++
			b.WriteString(s.escape())
		case strings.HasPrefix(s.text[s.at:], "${"):
			s.at += 2
			v, err := s.value(0)
			text, ok := v.(string)
			if s.blanks(); err != nil || !ok || !s.take("}") {
				s.at = begin
				return nil, errNotPlain
			}
			b.WriteString(text)
		default:
			b.WriteByte(c)
			s.at++
		}
	}
	s.at = begin
	return nil, errNotPlain
}

// escape returns the character for the escape after a backslash.
func (s *script) escape() string {
	if s.at >= len(s.text) {
		return ""
	}
	c := s.text[s.at]
	s.at++
	switch c {
	case 'x':
		return s.code(2)
	case 'u':
		if end := strings.IndexByte(s.text[s.at:], '}'); strings.HasPrefix(s.text[s.at:], "{") && end > 0 {
			s.at++
			text := s.code(end - 1)
			s.at = min(s.at+1, len(s.text))
			return text
		}
		return s.code(4)
	case '\n':
		return ""
	}
	if i := strings.IndexByte("nrtbfv0", c); i >= 0 {
		return "\n\r\t\b\f\v\x00"[i : i+1]
	}
	return s.text[s.at-1 : s.at]
}

// code returns the character whose code has n digits.
func (s *script) code(digits int) string {
	end := min(s.at+digits, len(s.text))
	n, err := strconv.ParseUint(s.text[s.at:end], 16, 32)
	s.at = end
	if err != nil || n > utf8.MaxRune {
		return string(utf8.RuneError)
	}
	return string(rune(n))
}

// blanks skips spaces and comments.
func (s *script) blanks() {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch {
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			s.at += end
		case strings.HasPrefix(rest, "/*"):
			_, after, _ := strings.Cut(rest[2:], "*/")
			s.at = len(s.text) - len(after)
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			s.at++
		default:
			return
		}
	}
}

func (s *script) peek() byte {
	if s.at >= len(s.text) {
		return 0
	}
	return s.text[s.at]
}

func (s *script) take(text string) bool {
	if !strings.HasPrefix(s.text[s.at:], text) {
		return false
	}
	s.at += len(text)
	return true
}

func (s *script) name() string {
	begin := s.at
	for s.at < len(s.text) && (isNameStart(s.text[s.at]) || s.text[s.at] >= '0' && s.text[s.at] <= '9') {
		s.at++
	}
	return s.text[begin:s.at]
}

func isNameStart(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}
