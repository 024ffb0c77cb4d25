package mask

import (
	"slices"
	"strings"
)

// typed reads a value after the type of its name, as in var token string = "x"
// and token: str = "x".
func (w namedSecret) typed(t scanned) (assignment, bool) {
	s := t.raw
	a := assignment{name: w.name}
	limit := min(len(s), w.end+maxName)
	at := Run(s, w.end, limit, func(c byte) bool { return Blank(c) || c == ':' || c == '?' })
	sign := Run(s, at, limit, func(c byte) bool { return dotted(c) || strings.IndexByte(" []<>|*&", c) >= 0 })
	if at == w.end || sign == at || sign+1 >= len(s) || s[sign] != '=' || s[sign+1] == '=' || s[sign+1] == '>' {
		return a, false
	}
	a, ok := a.readValue(s, Run(s, sign+1, min(len(s), sign+8), Blank))
	return a, ok && a.quoted
}

// listed reads a value that follows its name in a list of arguments, as in
// setenv("TOKEN", "x") and put('token', 'x').
func (w namedSecret) listed(t scanned) (assignment, bool) {
	s := t.raw
	a := assignment{name: w.name, random: true}
	at := Run(s, w.end, min(len(s), w.end+3), func(c byte) bool { return strings.IndexByte("\\\"'`", c) >= 0 })
	if at == w.end || at >= len(s) || s[at] != ',' {
		return a, false
	}
	a, ok := a.readValue(s, Run(s, at+1, min(len(s), at+8), Blank))
	return a, ok && a.quoted
}

// element reads the text of an XML element with the name, also in a list of
// properties, where the name is an element itself: <key>token</key>.
func (w namedSecret) element(t scanned) (assignment, bool) {
	s := t.raw
	a := assignment{name: w.name, quoted: true}
	at := w.end
	switch {
	case strings.HasPrefix(t.low[at:], "</key>"):
		at = Run(s, at+len("</key>"), min(len(s), at+maxName), spacing)
		if !strings.HasPrefix(t.low[at:], "<string>") {
			return a, false
		}
		at += len("<string")
	case w.before != '<' && w.before != ':':
		return a, false
	case at < len(s) && s[at] == ' ': // attributes
		at = Run(s, at, min(len(s), at+maxName), func(c byte) bool { return c != '>' && c != '\n' && c != '/' })
	}
	if at >= len(s) || s[at] != '>' {
		return a, false
	}
	a.start = Run(s, at+1, min(len(s), at+1+maxName), spacing)
	end := Run(s, a.start, min(len(s), a.start+judged), func(c byte) bool { return c != '<' && c != '\n' })
	a.value = strings.TrimRight(s[a.start:end], " \t\r")
	a.end = a.start + len(a.value)
	rest := Run(s, end, min(len(s), end+maxName), spacing)
	return a, a.value != "" && strings.HasPrefix(s[rest:], "</")
}

// besideUser reports whether XML gives the user whose password this is, as an
// attribute of the same tag or as an element close by: then any word is a
// password.
func (w namedSecret) besideUser(t scanned) bool {
	begin := max(0, w.begin-judged/2)
	lead := t.low[begin:w.begin]
	tag := strings.LastIndexByte(lead, '<')
	if tag < 0 || strings.IndexByte(lead[tag:], '>') >= 0 || !w.ends("password", "passwd", "pass", "pwd") {
		return false
	}
	end := min(len(t.low), w.end+judged/2)
	if !strings.Contains(lead[tag:], "name=\"") && lead[tag+1:] != "" {
		begin += tag
		if i := strings.IndexByte(t.low[w.end:end], '>'); i >= 0 {
			end = w.end + i
		}
	}
	around := t.low[begin:w.begin] + " " + t.low[w.end:end]
	return slices.ContainsFunc(userMarks, func(m string) bool { return strings.Contains(around, m) })
}

func (w namedSecret) ends(words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasSuffix(w.name, word) })
}

// userMarks begin an XML tag or attribute that names a user.
var userMarks = []string{"<user>", "<username>", "<user-name>", "<userid>", "<login>", ` user="`, ` username="`, ` login="`, ` uid="`,
	`name="user`, `name="login"`, `key="user`}

// logsIn reports whether a value can be a password next to a user.
func (a assignment) logsIn(f *Formats) bool {
	return a.quoted && len(a.value) >= 6 && !strings.ContainsAny(a.value, " \t<>/") && !placeholder(a.value) && !f.unissued(a.value) &&
		strings.IndexFunc(a.value, isWord) >= 0 && f.unmasked(a.value) == a.value
}

// block reads the first line of a block of YAML: token: |, token: >-.
func (w namedSecret) block(t scanned) (assignment, bool) {
	s := t.raw
	a := assignment{name: w.name}
	at := Run(s, w.end, min(len(s), w.end+3), func(c byte) bool { return c == '"' || c == '\'' })
	if at >= len(s) || s[at] != ':' {
		return a, false
	}
	mark := Run(s, at+1, min(len(s), at+8), Blank)
	end := Run(s, mark, min(len(s), mark+3), func(c byte) bool { return strings.IndexByte("|>-+", c) >= 0 || Digit(c) })
	if end == mark || s[mark] != '|' && s[mark] != '>' || end >= len(s) || s[end] != '\n' && s[end] != '\r' {
		return a, false
	}
	return a.readValue(s, Run(s, end, min(len(s), end+2*maxName), spacing))
}

// setters are commands that assign the word after a name to it.
var setters = []string{"env ", "setenv ", "setx ", "set ", "set -gx ", "set -x ", "put ", "env:set ", "config "}

// set reads the word after a name that a command sets: ENV TOKEN x.
func (w namedSecret) set(t scanned) (assignment, bool) {
	a := assignment{name: w.name, random: true}
	at := Run(t.raw, w.end, min(len(t.raw), w.end+8), Blank)
	if at == w.end || at >= len(t.raw) || !w.after(t.low, setters) {
		return a, false
	}
	return a.readValue(t.raw, at)
}

// after reports whether one of the words is right before the name.
func (w namedSecret) after(low string, words []string) bool {
	lead := low[max(0, w.begin-maxName):w.begin]
	lead = strings.TrimRight(lead, "/:") // of //registry.example/:_authToken
	if i := strings.LastIndexByte(lead, ' '); i >= 0 {
		lead = lead[:i+1]
	}
	return slices.ContainsFunc(words, func(word string) bool {
		return strings.HasSuffix(lead, word) && (len(lead) == len(word) || !Alnum(lead[len(lead)-len(word)-1]))
	})
}

// said reads a sentence that states the secret: the password is x.
func (w namedSecret) said(t scanned) (assignment, bool) {
	a := assignment{name: w.name, random: true}
	if !strings.HasPrefix(t.low[w.end:], " is ") {
		return a, false
	}
	return a.readValue(t.raw, Run(t.raw, w.end+len(" is "), len(t.raw), Blank))
}

// byPair finds rows of a table by the first two bytes of their words. It is an array
// instead of a map, because it is consulted for each byte of a string.
type byPair[T any] struct {
	group [1 << 16]uint16 // 0: no row
	rows  [][]T
}

// add puts a row below its word, which has two bytes at least.
func (p *byPair[T]) add(word string, row T) {
	at := &p.group[pairOf(word, 0)]
	if *at == 0 {
		p.rows = append(p.rows, nil)
		*at = uint16(len(p.rows))
	}
	p.rows[*at-1] = append(p.rows[*at-1], row)
}

// at returns the rows whose words may begin at i.
func (p *byPair[T]) at(s string, i int) []T {
	if g := p.group[pairOf(s, i)]; g > 0 {
		return p.rows[g-1]
	}
	return nil
}

func pairOf(s string, i int) int { return int(s[i])<<8 | int(s[i+1]) }
