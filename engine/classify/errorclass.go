package classify

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/prompt"
)

// maxClass bounds an error class, in bytes.
const maxClass = 80

// errorClass returns the class of an error text: its first meaningful line, without what
// differs from one time to the next (paths, numbers, hexadecimal digits, quoted text,
// times). The same mistake made twice has the same class.
func errorClass(text string) string {
	lead := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if rest, ok := cutExitCode(line); ok {
			if lead, line = "exit code", rest; rest == "" {
				continue
			}
		}
		class := normaliseLine(line)
		if class == "" {
			continue
		}
		if strings.HasPrefix(class, "Traceback most recent call last") { // Python reports the error at the end
			class = cmp.Or(lastClass(text), class)
		}
		if lead != "" {
			class = lead + ": " + class
		}
		return abstract.Clip(class, maxClass)
	}
	return lead
}

// lastClass returns the class of the last line that has one.
func lastClass(text string) string {
	lines := strings.Split(strings.TrimSpace(text[max(0, len(text)-maxLast):]), "\n")
	for _, line := range slices.Backward(lines) {
		if class := normaliseLine(strings.TrimSpace(line)); class != "" {
			return class
		}
	}
	return ""
}

// maxLast limits the end of an error in which its last line is searched for, in
// bytes.
const maxLast = 4 << 10

// cutExitCode removes the "Exit code N" with which Claude Code begins its errors.
func cutExitCode(line string) (string, bool) {
	low := mask.Lower(line)
	for _, lead := range []string{"exit code ", "error: exit code ", "command failed with exit code "} {
		if strings.HasPrefix(low, lead) {
			rest := strings.TrimLeft(line[len(lead):], "-0123456789")
			return strings.TrimLeft(rest, ":. "), true
		}
	}
	return "", false
}

func normaliseLine(line string) string {
	line = withoutQuoted(prompt.WithoutTags(line))
	var out []string
	for _, w := range strings.Fields(line) {
		if w = normaliseWord(w); w != "" && (w != "…" || len(out) == 0 || out[len(out)-1] != "…") {
			out = append(out, w)
		}
	}
	class := strings.Join(out, " ")
	if !strings.ContainsFunc(class, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7f && r != '…' }) {
		return ""
	}
	return class
}

// withoutQuoted replaces quoted text; an apostrophe inside a word is not one.
func withoutQuoted(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c == '"' || c == '\'' || c == '`') && (i == 0 || !mask.Alnum(s[i-1])) {
			if j := strings.IndexByte(s[i+1:], c); j >= 0 {
				b.WriteString("…")
				i += j + 1
				continue
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

// normaliseWord drops a word that is a path, URL, number or time, and keeps the punctuation
// after it.
func normaliseWord(w string) string {
	core := strings.TrimRight(w, ":;,.)]!?")
	tail := w[len(core):]
	core = strings.TrimLeft(core, "([")
	switch {
	case core == "":
		return ""
	case strings.Contains(core, mask.Redacted), strings.ContainsAny(core, `/\`), strings.HasPrefix(core, "~"):
		return "…" + colon(tail)
	case fileLike(core):
		return "…" + colon(tail)
	case mask.HasDigit(core) && strings.Trim(core, "0123456789abcdefABCDEFxX.:,+-TZ%_#") == "":
		return ""
	}
	if strings.Count(core, "(") > strings.Count(core, ")") && strings.HasPrefix(tail, ")") {
		core += ")"
	}
	core = strings.Map(mask.DropDigit, core)
	return core + colon(tail)
}

func colon(tail string) string {
	if strings.Contains(tail, ":") {
		return ":"
	}
	return ""
}

// fileLike reports whether a word is a file name, perhaps followed by a position.
func fileLike(w string) bool {
	name, _, _ := strings.Cut(w, ":")
	i := strings.LastIndexByte(name, '.')
	return i > 0 && len(name)-i-1 >= 1 && len(name)-i-1 <= 4 && strings.Trim(name[i+1:], "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}
