package simulatecmd

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
)

// neutral replaces the words of texts. Words that occur in the policy, such as names
// of programs, stay, because the decision depends on them.
type neutral struct{ known map[string]bool }

func newNeutral(policies ...*bundles.Effective) *neutral {
	n := &neutral{known: map[string]bool{}}
	for _, e := range policies {
		if e == nil {
			continue
		}
		for _, l := range e.Layers {
			for _, text := range l.Files {
				n.learn(string(text))
			}
		}
	}
	return n
}

// learn adds the words of a file, and whole host names.
func (n *neutral) learn(text string) {
	for part := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !inHost(r) }) {
		if part = strings.Trim(part, ".-"); strings.Contains(part, ".") {
			n.known[part] = true
		}
		for word := range strings.FieldsFuncSeq(part, func(r rune) bool { return !inWord(r) }) {
			n.known[word] = true
		}
	}
}

func inHost(r rune) bool { return inWord(r) || r == '.' || r == '-' }

// splitWords splits a string into words and separators.
func splitWords(text string, part func(text string, isWord bool)) {
	for text != "" {
		end := strings.IndexFunc(text, func(r rune) bool { return !inWord(r) })
		if end < 0 {
			end = len(text)
		}
		if end > 0 {
			part(text[:end], true)
			text = text[end:]
		}
		end = strings.IndexFunc(text, inWord)
		if end < 0 {
			end = len(text)
		}
		if end > 0 {
			part(text[:end], false)
			text = text[end:]
		}
	}
}

func inWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r > 0x7f
}

// renaming is the replacements of one example: equal words stay equal.
type renaming struct {
	*neutral
	words, hosts map[string]string
}

// events returns events in which all free text has other words.
func (n *neutral) events(events []engine.Event) []engine.Event {
	r := &renaming{n, map[string]string{}, map[string]string{}}
	own := make([]engine.Event, len(events))
	for i, e := range events {
		e.CWD, e.Project, e.Prompt = r.text(e.CWD), r.text(e.Project), r.text(e.Prompt)
		e.Args = r.raw(e.Args)
		if e.Result != nil {
			res := *e.Result
			res.Error, res.Output = r.text(res.Error), r.raw(res.Output)
			e.Result = &res
		}
		if !n.known[strings.ToLower(e.Tool)] && strings.HasPrefix(e.Tool, "mcp__") {
			e.Tool = "mcp__" + r.text(strings.TrimPrefix(e.Tool, "mcp__"))
		}
		own[i] = e
	}
	return own
}

// raw changes the texts in a JSON value, and not its keys.
func (r *renaming) raw(raw json.RawMessage) json.RawMessage {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return raw
	}
	out, err := json.Marshal(r.value(v))
	if err != nil {
		return raw // unreachable: it was JSON
	}
	return out
}

func (r *renaming) value(v any) any {
	switch v := v.(type) {
	case string:
		return r.text(v)
	case []any:
		for i := range v {
			v[i] = r.value(v[i])
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) { // the order determines the numbers
			v[k] = r.value(v[k])
		}
	}
	return v
}

// text replaces whole hosts of addresses, removes credentials, and then replaces every
// word that is in no policy. Schemes and ports stay.
func (r *renaming) text(s string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "://")
		if !found {
			r.wordsOf(&b, s)
			return b.String()
		}
		scheme := len(strings.TrimRight(before, "abcdefghijklmnopqrstuvwxyz+"))
		r.wordsOf(&b, before[:scheme])
		end := strings.IndexFunc(rest, func(c rune) bool { return !inHost(c) && c != '@' && c != ':' })
		if end < 0 {
			end = len(rest)
		}
		name := rest[strings.LastIndexByte(rest[:end], '@')+1 : end]
		name, port, ported := strings.Cut(name, ":")
		b.WriteString(before[scheme:] + "://" + r.host(name))
		if ported {
			b.WriteString(":" + r.word(port))
		}
		s = rest[end:]
	}
}

func (r *renaming) host(name string) string {
	switch {
	case name == "", name == "localhost", strings.HasPrefix(name, "127."), r.known[strings.ToLower(name)]:
		return name
	case r.hosts[name] == "":
		r.hosts[name] = fmt.Sprintf("host%d.example", len(r.hosts)+1)
	}
	return r.hosts[name]
}

func (r *renaming) wordsOf(b *strings.Builder, s string) {
	splitWords(s, func(text string, isWord bool) {
		if isWord {
			text = r.word(text)
		}
		b.WriteString(text)
	})
}

// word returns the replacement of a word that is in no policy. Numbers of a few digits
// stay.
func (r *renaming) word(w string) string {
	const short = 3
	digits := strings.Trim(w, "0123456789") == ""
	switch {
	case r.known[strings.ToLower(w)] && !digits, len(w) <= 1, digits && len(w) <= short, strings.HasPrefix(w, "REDACTED"):
		return w
	case digits:
		return strings.Repeat("1", len(w))
	case r.words[w] == "":
		r.words[w] = fmt.Sprintf("name%d", len(r.words)+1)
	}
	return r.words[w]
}
