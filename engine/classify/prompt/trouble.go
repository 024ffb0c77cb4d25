package prompt

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// WithoutTags drops markup around an error, such as <tool_use_error>.
func WithoutTags(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			break
		}
		j := strings.IndexByte(s[i:min(len(s), i+maxTag)], '>')
		if j < 0 {
			b.WriteString(s[:i+1])
			s = s[i+1:]
			continue
		}
		b.WriteString(s[:i] + " ")
		s = s[i+j+1:]
	}
	b.WriteString(s)
	return b.String()
}

// maxTag bounds what counts as markup, in bytes.
const maxTag = 40

// maxTrouble limits what is examined of an error from either end, in bytes: the
// error itself is at the beginning or, after what went well, at the end.
const maxTrouble = 4 << 10

// byExactness are the kinds of errors in the order in which they are looked for: the
// most specific kinds come first. Their words are rows, in lower case; a number in
// them must be a whole word (see saysOnce).
func byExactness() []engine.Trouble {
	return []engine.Trouble{engine.TroubleRate, engine.TroubleCommand, engine.TroubleAuth, engine.TroubleImport, engine.TroubleSyntax,
		engine.TroubleUsage, engine.TroubleTime, engine.TroubleNetwork, engine.TroubleDenied, engine.TroubleMissing}
}

// TroubleOf reports what kind of error a string reports; check: the call checks the
// work, so its failure is most likely a finding.
func TroubleOf(set *rows.Set, text string, check bool) engine.Trouble {
	text, code := exitCode(text)
	text = mask.Lower(ends(text, maxTrouble)) + "\n"
	if code == 127 || code == 9009 {
		return engine.TroubleCommand
	}
	kind := worded(set, text)
	signs := set.Words("trouble." + string(engine.TroubleCheck))
	if check && (kind == "" || says(text, signs) || kind == engine.TroubleMissing && code == 1) && kind != engine.TroubleCommand {
		return engine.TroubleCheck
	}
	switch {
	case kind != "":
		return kind
	case code == 126:
		return engine.TroubleDenied
	case code == 124:
		return engine.TroubleTime
	}
	return ""
}

// worded looks for the words of an error.
func worded(set *rows.Set, text string) engine.Trouble {
	for _, kind := range byExactness() {
		if says(text, set.Words("trouble."+string(kind))) {
			return kind
		}
	}
	return ""
}

func says(text string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return saysOnce(text, p) })
}

// saysOnce reports whether a string contains a phrase that is not part of a longer
// number or word at the end at which it has a digit: "error 401", not "error
// 4013".
func saysOnce(text, p string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], p)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(p)
		before := start > 0 && mask.Digit(p[0]) && mask.Alnum(text[start-1])
		after := end < len(text) && mask.Digit(p[len(p)-1]) && mask.Alnum(text[end])
		if !before && !after && !(start > 0 && mask.Alnum(p[0]) && mask.Alnum(text[start-1]) && len(p) <= 10 && !strings.Contains(p, " ")) {
			return true
		}
		from = start + 1
	}
}

// exitCode removes "Exit code N" from an error; -1: it does not begin that way.
func exitCode(text string) (rest string, code int) {
	line, rest, _ := strings.Cut(text, "\n")
	low := mask.Lower(strings.TrimSpace(line))
	for _, lead := range []string{"exit code ", "error: exit code ", "command failed with exit code "} {
		if n, ok := strings.CutPrefix(low, lead); ok {
			number := n[:mask.Run(n, 0, len(n), mask.Digit)]
			if code, err := strconv.Atoi(number); err == nil {
				return strings.TrimSpace(line)[len(lead)+len(number):] + "\n" + rest, code
			}
		}
	}
	return text, -1
}

// ends are the beginning and the end of a string, at most n bytes of each.
func ends(text string, n int) string {
	if len(text) <= 2*n {
		return text
	}
	tail := text[len(text)-n:]
	for len(tail) > 0 && tail[0]&0xC0 == 0x80 {
		tail = tail[1:]
	}
	return abstract.Clip(text, n) + "\n" + tail
}
