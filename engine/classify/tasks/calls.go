package tasks

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// The kinds of calls in a string of an unknown language.
const (
	callRuns    = "run"
	callDeletes = "delete"
	callReads   = "read"
	callSends   = "send"
)

// maxPairs bounds how many files are paired with the hosts that they may go to.
const maxPairs = 4

// callText searches a string for calls with literals. It recognises names, brackets, comments and
// literals of any language; values that are computed at run time
// are not seen.
type callText struct {
	r     Reader
	text  string
	at    int
	open  []openCall
	done  []openCall
	fresh bool              // only spaces precede it in the line
	last  []string          // the words of the path that was named last
	set   map[string]string // names of literals
}

// openCall is a call whose bracket is still open.
type openCall struct {
	name  string
	does  string
	words []string
}

// calls lists the calls in a string as equivalent command lines.
func (r Reader) calls(text string) []string {
	t := r.read(text)
	list := t.commands()
	for _, m := range generates().FindAllStringSubmatch(text, maxLines) {
		list = append(list, m[1])
	}
	return list
}

// started lists the programs that the calls in a string start.
func (r Reader) started(text string) []string {
	t := r.read(text)
	t.done = slices.DeleteFunc(t.done, func(c openCall) bool { return c.does != callRuns })
	return t.commands()
}

func (r Reader) read(text string) *callText {
	t := &callText{r: r, text: text, set: map[string]string{}}
	for _, m := range constant().FindAllStringSubmatch(text, maxLines) {
		if t.set[m[1]] = m[2]; m[2] == "" {
			t.set[m[1]] = "~"
		}
	}
	for t.at < len(t.text) && len(t.done) < maxLines {
		t.step()
	}
	for len(t.open) > 0 {
		t.close()
	}
	return t
}

var (
	generates = engine.Regexp(`(?m)^//go:generate\s+(.*)$`)
	constant  = engine.Regexp(`(\w+)(?:\s*,\s*_)?(?:\s*:\s*&?\w+)?\s*:?=\s*(?:"([^"\\\n]+)"|os\.UserHomeDir\(\)|dirs::home_dir\(\))`)
)

func (t *callText) step() {
	rest := t.text[t.at:]
	switch c := rest[0]; {
	case c == '\n':
		t.fresh = true
		t.at++
		return
	case c == ' ' || c == '\t':
		t.at++
		return
	case strings.HasPrefix(rest, "//"), c == '#' && t.fresh && !strings.HasPrefix(rest, "#["):
		t.skip("\n")
	case strings.HasPrefix(rest, "/*"):
		t.skip("*/")
	case c == '"' || c == '`' || c == '\'':
		t.literal(c)
	case c == '(' || c == '[' || c == '{':
		t.enter(c)
	case c == ')' || c == ']' || c == '}':
		t.close()
		t.at++
	case nameByte(c) && len(t.open) > 0:
		t.name()
	default:
		t.at++
	}
	t.fresh = t.at > 0 && t.text[t.at-1] == '\n'
}

// name adds the literal with a name as a word of the enclosing call.
func (t *callText) name() {
	start := t.at
	for t.at < len(t.text) && nameByte(t.text[t.at]) {
		t.at++
	}
	if value, ok := t.set[t.text[start:t.at]]; ok && !t.beside(start-1, -1) && !t.beside(t.at, 1) {
		t.add(len(t.open)-1, value)
	}
}

func (t *callText) skip(end string) {
	i := strings.Index(t.text[t.at:], end)
	if i < 0 {
		t.at = len(t.text)
		return
	}
	t.at += i + len(end)
}

// literal adds a quoted text as a word of the enclosing call. A string that is
// concatenated with something else does not count.
func (t *callText) literal(quote byte) {
	start := t.at
	end := t.quoteEnd(quote)
	if end < 0 { // a lifetime of Rust, an apostrophe
		t.at++
		return
	}
	t.at = end + 1
	rest := t.text[t.at:]
	if strings.HasPrefix(rest, ".!") || strings.HasPrefix(rest, ".execute(") {
		t.done = append(t.done, openCall{does: callRuns, words: []string{escaped.Replace(t.text[start+1 : end])}})
		return
	}
	if len(t.open) == 0 || t.beside(start-1, -1) || t.beside(end+1, 1) {
		return
	}
	t.add(len(t.open)-1, escaped.Replace(t.text[start+1:end]))
}

// maxWords bounds the words of one call.
const maxWords = 64

// add adds words to a call that is open.
func (t *callText) add(n int, words ...string) {
	call := &t.open[n]
	call.words = append(call.words, words[:min(len(words), max(0, maxWords-len(call.words)))]...)
}

// quoteEnd returns where a literal ends; below 0: it does not end on its line.
func (t *callText) quoteEnd(quote byte) int {
	for i := t.at + 1; i < len(t.text); i++ {
		switch c := t.text[i]; {
		case c == '\\' && quote != '`':
			i++
		case c == quote:
			return i
		case c == '\n' && quote != '`':
			return -1
		}
	}
	return -1
}

// beside reports whether a plus is next to a literal.
func (t *callText) beside(i, step int) bool {
	for ; i >= 0 && i < len(t.text); i += step {
		if c := t.text[i]; c != ' ' && c != '\t' && c != '\n' {
			return c == '+'
		}
	}
	return false
}

// enter opens a bracket: of a call, or of a list in one.
func (t *callText) enter(c byte) {
	call := openCall{}
	if c == '(' {
		call.name = t.nameBefore()
		call.does = t.does(call.name)
	}
	t.open = append(t.open, call)
	t.at++
}

// nameBefore is the name that is before a bracket, with dots between its parts.
func (t *callText) nameBefore() string {
	end := len(strings.TrimRight(t.text[:t.at], " !"))
	start := end
	for start > 0 && end-start < 80 && nameByte(t.text[start-1]) {
		start--
	}
	return strings.ReplaceAll(strings.Trim(t.text[start:end], ":."), "::", ".")
}

func nameByte(c byte) bool {
	return c == '_' || c == '.' || c == ':' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// does looks up the name, its last two parts and its last one.
func (t *callText) does(name string) string {
	parts := strings.Split(name, ".")
	for _, n := range []int{len(parts), 2, 1} {
		if n > len(parts) || parts[0] == "" {
			continue
		}
		if does := t.r.Does(strings.Join(parts[len(parts)-n:], ".")); does != "" {
			return does
		}
	}
	return ""
}

// passes reports whether the words of a call belong to the enclosing call: lists, and
// conversions of a string to a path.
func (c *openCall) passes() bool {
	last := c.name[strings.LastIndexByte(c.name, '.')+1:]
	return c.name == "" || slices.Contains([]string{"File", "Path", "String", "of", "get", "from", "to_string", "into", "PathBuf",
		"vec", "arrayOf", "listOf", "List", "asList"}, last)
}

// close ends the innermost bracket.
func (t *callText) close() {
	n := len(t.open) - 1
	if n < 0 {
		return
	}
	call := t.open[n]
	t.open = t.open[:n]
	last := call.name[strings.LastIndexByte(call.name, '.')+1:]
	switch {
	case (last == "arg" || last == "args" || last == "arguments") && len(t.done) > 0:
		of := &t.done[len(t.done)-1]
		of.words = append(of.words, call.words[:min(len(call.words), max(0, maxWords-len(of.words)))]...)
	case home(&call) && n > 0:
		t.add(n-1, "~")
	case last == "Join" || last == "join":
		if t.last = []string{strings.Join(call.words, "/")}; n > 0 && len(call.words) > 0 {
			t.add(n-1, t.last...)
		}
	case call.does == callDeletes && len(call.words) == 0:
		call.words = t.last
		t.done = append(t.done, call)
	case call.does != "":
		t.done = append(t.done, call)
	case call.passes() && n == 0:
		t.last = call.words
	case call.passes():
		t.last = call.words
		t.add(n-1, call.words...)
	}
}

// home reports whether a call returns the home directory.
func home(c *openCall) bool {
	return len(c.words) == 1 && (c.words[0] == "HOME" || c.words[0] == "user.home") ||
		strings.HasSuffix(c.name, "UserHomeDir") || strings.HasSuffix(c.name, "home_dir")
}

// commands returns the calls as command lines.
func (t *callText) commands() []string {
	var list, read, sent []string
	for _, c := range t.done {
		if len(c.words) == 0 {
			continue
		}
		switch c.does {
		case callRuns:
			list = append(list, runLine(c.words), strings.Join(c.words, " "))
		case callDeletes:
			list = append(list, "rm -rf -- "+pathWord(c.words[0]))
		case callReads:
			read = append(read, pathWord(c.words[0]))
		case callSends:
			sent = append(sent, c.words...)
		}
	}
	return append(list, pairs(read, sent)...)
}

// pathWord returns a word as a path.
func pathWord(word string) string {
	if word == "~" {
		return word
	}
	if rest, ok := strings.CutPrefix(word, "~/"); ok {
		return "~/" + shell.Quote(rest)
	}
	return shell.Quote(word)
}

// runLine is a program with its arguments, or a line for a shell.
func runLine(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	if len(words) > 2 && words[0][strings.LastIndexByte(words[0], '/')+1:] == words[1] {
		words = words[1:] // execl names the program twice
	}
	return quoteAll(words)
}

// pairs combines the files that are read with the addresses to which something is
// sent, since any of the files may be sent to any of them.
func pairs(read, sent []string) []string {
	var list []string
	for _, file := range read {
		for _, url := range sent {
			if strings.Contains(url, "://") && len(list) < maxPairs {
				list = append(list, "curl --data-binary @"+file+" "+shell.Quote(url))
			}
		}
	}
	return list
}
