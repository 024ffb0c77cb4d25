package classify

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/prompt"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"mvdan.cc/sh/v3/syntax"
)

const (
	maxPromptDigests = 4096 // of one call
	maxJoined        = 32   // words of one command
	promptDigest     = 16   // hexadecimal digits
	longParagraph    = 40   // characters of a paragraph that counts without the rest of the text
)

// PromptDigests returns keyed digests of a text as a whole, and of each of its paragraphs that is long enough not to be the same
// by chance. White space, capital letters, letters that look like others, characters that cannot be seen, and punctuation at the end make
// no difference. Lines with which clients enclose what they pass on, tags and rules, end a paragraph.
func PromptDigests(mac func([]byte) string, text string) []string {
	var list []string
	add := func(part string, shortest int) {
		part = strings.TrimRight(strings.Join(strings.Fields(strings.ToLower(prompt.Plain(part))), " "), " .!?…,;:。！？")
		if len([]rune(part)) < shortest {
			return
		}
		if d := mac([]byte("prompt\x00" + part))[:promptDigest]; len(list) == 0 || list[0] != d {
			list = append(list, d)
		}
	}
	add(text, 1)
	var paragraph strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(text, "\r", "\n") + "\n\n") {
		if !encloses(strings.TrimSpace(line)) {
			paragraph.WriteString(line)
			continue
		}
		add(paragraph.String(), longParagraph)
		paragraph.Reset()
	}
	return list
}

// encloses reports whether a line only separates texts: it is empty, a tag, a fence or a rule.
func encloses(line string) bool {
	return strings.HasPrefix(line, "<") && strings.HasSuffix(line, ">") || strings.HasPrefix(line, "```") ||
		strings.Trim(line, "-=*_~") == ""
}

// promptTexts returns digests of the texts of a call that can become prompts; nil: none can. If there are too many, parts of
// each text are kept: whoever passes on a text passes on all of its parts.
func (r *toolReader) promptTexts(mac func([]byte) string) *engine.PromptTexts {
	texts, days := r.promptArgs()
	var found [][]string
	for _, text := range append(texts, r.spoken...) {
		found = append(found, PromptDigests(mac, text))
	}
	p := &engine.PromptTexts{Days: days}
	for i, more := 0, true; more; i++ {
		more = false
		for _, digests := range found {
			if i < len(digests) && len(p.MACs) < maxPromptDigests {
				more, p.MACs = true, append(p.MACs, digests[i])
			}
		}
	}
	if len(p.MACs) == 0 {
		return nil
	}
	return p
}

// promptArgs returns the arguments that can become prompts by the rows of the tool, and within how many days; 0: any number.
func (r *toolReader) promptArgs() (texts []string, days int64) {
	limited := true // also of code that the tool runs
	for _, row := range append([]rows.Tool{r.tool.row}, r.tool.added...) {
		if row.Prompts == nil {
			continue
		}
		for _, name := range strings.Fields(row.Prompts.Args) {
			texts = appendTexts(texts, r.args[name])
		}
		days, limited = max(days, row.Prompts.Days), limited && row.Prompts.Days > 0
	}
	if !limited {
		return texts, 0
	}
	return texts, days
}

// givenFiles returns the texts of the files that a call reads, where it starts a program that takes texts for a person's, or where the
// file is code that names one.
func (c *Classifier) givenFiles(a *engine.Action, set *rows.Set) []string {
	started := func(e engine.Effect) bool { return e.Kind == engine.EffectProcess && e.Verb == "exec" }
	if c.World.ReadFile == nil || !slices.ContainsFunc(a.Effects, started) {
		return nil
	}
	receivers, drivers := set.Words("prompt.receivers"), set.Words("prompt.drivers")
	receiver := func(e engine.Effect) bool { return started(e) && slices.Contains(receivers, path.Base(e.Target)) }
	receives, limit := slices.ContainsFunc(a.Effects, receiver), int64(maxDriver)
	if receives {
		limit = maxGiven
	}
	var list []string
	for _, e := range a.Effects {
		if e.Kind != engine.EffectFileRead || e.Certainty != engine.CertaintyExact || e.Host != "" {
			continue
		}
		raw, err := c.World.ReadFile(e.Target, limit)
		if err != nil {
			continue // a folder, a device, or a file that is too long
		}
		text := string(raw)
		if receives || slices.ContainsFunc(drivers, func(d string) bool { return strings.Contains(text, d) }) {
			list = append(append(list, text), quotedIn(text)...)
		}
	}
	return list
}

// Bounds of a file whose texts are kept, in bytes, and of the strings in one text.
const (
	maxGiven  = 1 << 20  // is passed to an agent
	maxDriver = 64 << 10 // code
	maxQuoted = 512
)

var quotedText = engine.Regexp(`"(?:[^"\\\n]|\\.)+"|'(?:[^'\\\n]|\\.)+'`)

// quotedIn returns the strings in code or JSON, without the key at their end that submits them.
func quotedIn(text string) []string {
	list := quotedText().FindAllString(text, maxQuoted)
	for i, q := range list {
		list[i] = withoutEnter(q[1 : len(q)-1])
	}
	return list
}

// withoutEnter removes a key at the end of what is typed, as terminals and code write it.
func withoutEnter(text string) string {
	for _, end := range []string{"^M", "^J", `\n`, `\r`} {
		text = strings.TrimSuffix(text, end)
	}
	return text
}

// promptsIn returns the texts of code that types into something, or starts it, that takes them for a person's.
func promptsIn(set *rows.Set, s abstract.Script) []string {
	receivers := set.Words("prompt.receivers")
	named := slices.ContainsFunc(s.Commands, func(c engine.Command) bool { return slices.Contains(receivers, c.Name) })
	started := func(e abstract.RawEffect) bool {
		return e.Kind == engine.EffectProcess && e.Verb == "exec" && slices.Contains(receivers, e.Target.Text)
	}
	if !named && !slices.ContainsFunc(s.Effects, started) {
		return nil
	}
	var list []string
	for _, c := range s.Commands {
		switch {
		case slices.Contains(c.Via, "expect"): // what it types
			list = append(list, strings.Join(append([]string{c.Name}, c.Operands...), " "))
		case slices.Contains(receivers, c.Name):
			list = append(append(list, c.Operands...), joined(c.Operands)...)
		case onlyPrints(c.Name): // it can be its input
			list = append(append(list, c.Operands...), strings.Join(c.Operands, " "))
			for _, o := range c.Operands {
				list = append(list, quotedIn(o)...)
			}
		default:
			continue
		}
		for _, flag := range c.Flags {
			if _, value, ok := strings.Cut(flag, "="); ok {
				list = append(list, value)
			}
		}
	}
	for _, o := range s.Origins {
		if !slices.Contains(receivers, path.Base(o.Name.Text)) {
			continue
		}
		for _, a := range o.Args {
			list = append(list, a.Text)
		}
	}
	for _, stmt := range s.Tree {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			if redirect, ok := n.(*syntax.Redirect); ok {
				list = append(list, plainText(redirect.Hdoc), plainText(redirect.Word))
			}
			return true
		})
	}
	for i, text := range list {
		list[i] = withoutEnter(text)
		if strings.HasPrefix(text, "-") || len(list[i]) < 2 {
			list[i] = ""
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// joined returns what a program makes of several words when it joins them, to the last or the one before, which may be a key.
func joined(words []string) []string {
	words = words[:min(len(words), maxJoined)]
	var list []string
	for end := max(0, len(words)-1); end <= len(words); end++ {
		for begin := range end {
			list = append(list, strings.Join(words[begin:end], " "), strings.Join(words[begin:end], ""))
		}
	}
	return list
}

// plainText returns the parts of a word that mean themselves.
func plainText(w *syntax.Word) string {
	var b strings.Builder
	if w == nil {
		return ""
	}
	syntax.Walk(w, func(n syntax.Node) bool {
		switch part := n.(type) {
		case *syntax.Lit:
			b.WriteString(part.Value)
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		}
		return true
	})
	return b.String()
}
