package prompt

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Limits of the names in a message.
const (
	maxTold  = 24 // command lines
	maxNamed = 8  // packages, and symbols
)

// Named contains the results of its work that an agent's last message names, as written
// there.
type Named struct {
	Files, Packages, Symbols []string
}

// ToldCommands lists the command lines that a message tells the person to run: those of
// fenced blocks of a shell, and code spans after a word for running. Of a block whose
// later lines depend on what an earlier one does, only the first lines count.
func ToldCommands(set *rows.Set, m *mask.Masker, message string) []string {
	words := newVocabulary(set)
	words.prefix = "says."
	t := toldReader{vocabulary: words}
	for line := range strings.Lines(strings.ReplaceAll(m.Text(ends(message, maxMessageEnd)), "\r\n", "\n")) {
		t.line(strings.TrimSpace(line))
	}
	return t.list[:min(len(t.list), maxTold)]
}

// toldReader collects command lines.
type toldReader struct {
	*vocabulary
	list  []string
	block []string
	fence string // what closes the block; empty: in none
	shell bool   // the block is one of a shell
}

func (t *toldReader) line(line string) {
	switch {
	case t.fence != "" && strings.HasPrefix(line, t.fence):
		t.list = append(t.list, commandsOf(t.block)...)
		t.fence, t.block = "", nil
	case t.fence != "" && t.shell:
		t.block = append(t.block, line)
	case t.fence != "":
	case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
		t.fence, t.shell = line[:3], t.has("shells", strings.ToLower(strings.Trim(line, "`~ ")))
	default:
		t.spans(line)
	}
}

// spans reads the code spans of a line that follow a word for running.
func (t *toldReader) spans(line string) {
	parts := strings.Split(line, "`")
	for i := 1; i+1 < len(parts); i += 2 {
		before := strings.Fields(strings.ToLower(strings.TrimRight(parts[i-1], " *_:(")))
		if len(before) > 0 && t.has("run", strings.Trim(before[len(before)-1], "*_:(")) && strings.Contains(parts[i], " ") {
			t.list = append(t.list, commandsOf([]string{parts[i]})...)
		}
	}
}

// commandsOf lists the first command of each line of a block, as far as it is known where
// they run.
func commandsOf(block []string) []string {
	var list []string
	prompts := slices.ContainsFunc(block, func(s string) bool { return strings.HasPrefix(s, "$ ") })
	for _, line := range block {
		bare, asked := strings.CutPrefix(line, "$ ")
		if bare == "" || strings.HasPrefix(bare, "#") || prompts && !asked {
			continue
		}
		if moves(bare) {
			break
		}
		if end := strings.IndexAny(bare, "&|;#"); end >= 0 {
			bare = bare[:end]
		}
		if bare = strings.TrimSpace(bare); bare != "" && !strings.ContainsAny(bare, "<>{}()$…\"'`*?\\[]") && !strings.Contains(bare, "...") {
			list = append(list, bare)
		}
	}
	return list
}

// moves reports whether a line makes it unknown where later commands run, or what they
// mean: another folder or machine, a longer string.
func moves(line string) bool {
	first, _, _ := strings.Cut(line, " ")
	return slices.Contains([]string{"cd", "pushd", "git", "ssh", "docker", "podman", "kubectl", "alias", "function"}, first) ||
		strings.Contains(line, "<<") || strings.HasSuffix(line, "\\") || strings.Contains(line, "cd ")
}

// defined reads the function or type that was added according to a sentence: "Added the function
// `parseCart`".
func (c *claimReader) defined(s []promptWord) {
	at := slices.IndexFunc(s, func(w promptWord) bool { return c.is(w, string(engine.ClaimDefined)) })
	if at < 0 || at > 2 {
		return
	}
	near := s[at+1 : min(len(s), at+1+maxBetween)]
	kind := slices.IndexFunc(near, func(w promptWord) bool { return c.is(w, "symbols") })
	for i, w := range near {
		if kind >= 0 && (i == kind+1 || i == kind-1) {
			if name := symbolOf(w); name != "" {
				c.claim(engine.ClaimDefined)
				c.named.Symbols = add(c.named.Symbols, name)
				return
			}
		}
	}
}

// symbolOf returns the identifier that a quoted word is, without its parameters; empty: it
// is not an identifier that can only be written this way.
func symbolOf(w promptWord) string {
	name, _, _ := strings.Cut(w.text, "(")
	if w.low != "\x00" || len(name) < 4 || strings.Trim(name, letters+"0123456789_") != "" || strings.IndexByte(letters+"_", name[0]) < 0 {
		return ""
	}
	return name
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// installed reads the package that was installed according to a sentence: "Installed `left-pad`".
func (c *claimReader) installed(s []promptWord) {
	at := slices.IndexFunc(s, func(w promptWord) bool { return c.is(w, string(engine.ClaimInstalled)) })
	if at < 0 || at > 2 || at+1 >= len(s) {
		return
	}
	if name := packageOf(s[at+1]); name != "" {
		c.claim(engine.ClaimInstalled)
		c.named.Packages = add(c.named.Packages, name)
	}
}

// packageOf returns the name of a package that a quoted word is, without its version.
func packageOf(w promptWord) string {
	name := w.text
	if i := strings.LastIndexAny(name, "@="); i > 0 {
		name = strings.TrimRight(name[:i], "@=~^<>")
	}
	if w.low != "\x00" || len(name) < 2 || strings.Trim(name, letters+"0123456789_-./@") != "" || strings.HasPrefix(name, ".") ||
		strings.HasPrefix(name, "/") || strings.Count(name, "/") > 0 && name[0] != '@' && !strings.Contains(name, ".") {
		return ""
	}
	return name
}

// add adds a name that is not in a list, up to a bound.
func add(list []string, name string) []string {
	if slices.Contains(list, name) || len(list) >= maxNamed {
		return list
	}
	return append(list, name)
}
