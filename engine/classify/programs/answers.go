package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// Input with more lines, or with longer ones, is data, not answers.
const (
	maxAnswers     = 12
	maxAnswerBytes = 40
	maxAskingWords = 4 // operands of a call, and options, in which words are looked for that say what it asks about
)

// consents reports whether the standard input of a call is a few short lines, one of which is a yes. A program reads them as
// the answers to its questions.
func consents(c *shell.Call) bool {
	in := c.Shell.Frame.Stdin
	if in == nil || !in.Known() || len(in.Text) > maxAnswers*maxAnswerBytes {
		return false
	}
	lines, yes := strings.Split(strings.TrimRight(in.Text, "\r\n"), "\n"), false
	for _, line := range lines {
		line = strings.ToLower(strings.Trim(line, " \t\r"))
		if len(line) > maxAnswerBytes {
			return false
		}
		yes = yes || listed(c, "consent", line)
	}
	return yes && len(lines) <= maxAnswers
}

// answersQuestion records that a program is given a yes for a question that it asks before it changes something: the names
// of the program and of what it does say so. Rows record the others.
func answersQuestion(c *shell.Call) {
	if !consents(c) || listed(c, "unasking", c.Name) || readsInput(c) {
		return
	}
	if asksBefore(c, c.Path.Text) || !c.Known && len(c.Opts.Operands) > 0 && endsSomething(c) {
		answer(c)
		return
	}
	words := slices.Clone(c.Opts.Operands[:min(len(c.Opts.Operands), maxAskingWords)])
	for _, opt := range c.Opts.List[:min(len(c.Opts.List), maxAskingWords)] {
		words = append(words, abstract.Word(opt.Name))
	}
	if slices.ContainsFunc(words, func(a abstract.Arg) bool { return a.Known() && !a.HasPrefix("--no-") && asksBefore(c, a.Text) }) {
		answer(c)
	}
}

func endsSomething(c *shell.Call) bool {
	verb, _, _ := operationOf(c, c.Opts.Operands)
	return verb != ""
}

// answer records, once, that a call answers a question of a program.
func answer(c *shell.Call) {
	if slices.ContainsFunc(c.Shell.Out.Effects, func(e abstract.RawEffect) bool { return e.Verb == "answer" && e.Command == c.Index }) {
		return
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "answer"}, abstract.Word(c.Name))
}

// readsInput reports whether an argument says that standard input is data.
func readsInput(c *shell.Call) bool {
	return slices.ContainsFunc(c.Args, func(a abstract.Arg) bool {
		return a.Is("-", "/dev/stdin") || a.HasPrefix("-") && strings.HasSuffix(a.Text, "stdin")
	})
}

// asksBefore reports whether one of the words of a name says that something is changed for others or lost: deploy.sh, db:migrate.
func asksBefore(c *shell.Call, name string) bool {
	words := strings.FieldsFunc(strings.ToLower(path.Base(name)), func(r rune) bool { return r < 'a' || r > 'z' })
	return slices.ContainsFunc(words, func(w string) bool { return listed(c, "protected", w) })
}
