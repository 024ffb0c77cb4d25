package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// meaning describes what the words of a command line say about an operation of a
// service, whichever tool it is.
type meaning struct {
	verb, object string // of an end
	names        int    // number of words that name it
	reads        bool
	sent         string // money, or a message to people
	change       change
	removes      bool // by an option
}

// meaningOf interprets the words after the names of subcommands that have a row.
func meaningOf(c *shell.Call, words []abstract.Arg) *meaning {
	m := meaning{sent: sentBy(vocabulary(c), words), change: optionChanges(c, c.Opts.Operands), removes: optionVerb(c) != ""}
	m.verb, m.object, m.names = operationOf(c, words)
	m.reads = m.names > 0 && vocabulary(c).Reads(words[m.names-1].Text)
	if m.names == 0 {
		m.names = plainWords(words)
	}
	m.names = min(m.names, 3)
	return &m
}

// plainWords returns the number of leading words that are not paths, addresses or settings.
func plainWords(words []abstract.Arg) int {
	for i, a := range words {
		if i == 3 || !a.Known() || strings.ContainsAny(a.Text, "/@=. ") {
			return i
		}
	}
	return len(words)
}

// sentBy returns the noun of what is paid or sent to people: refunds create,
// messages:create.
func sentBy(w *operation.Words, words []abstract.Arg) string {
	if len(words) == 0 || !words[0].Known() {
		return ""
	}
	if len(words) > 1 && w.Makes(words[1].Text) && w.Paid(words[0].Text) != "" {
		return w.Paid(words[0].Text)
	}
	return w.Sent(words[0].Text)
}

// says reports whether the words have one of the meanings that a row requires.
func (m *meaning) says(what string) bool {
	switch what {
	case rows.End:
		return m.verb != ""
	case rows.Reads:
		return m.reads
	case rows.Sends:
		return m.sent != ""
	case rows.Changes:
		return m.change.verb != ""
	}
	return what == rows.Removes && m.removes
}

// doesMeant records the effect that the words mean.
func (r *rowReader) doesMeant(e abstract.RawEffect, to abstract.Arg) {
	switch m := r.meaning; r.meant {
	case rows.End:
		ends(r.Call, m.verb, m.object, e.Recursive, e.Forced, to)
	case rows.Removes:
		ends(r.Call, "remove", m.object, e.Recursive, e.Forced, to)
	case rows.Sends:
		r.SendsObject("send", m.sent, to)
	case rows.Changes:
		changed(r.Call, m.change, e.Forced, to)
	}
}

// operationOf returns what the words of a command line end, wherever the verb is among the
// first words: instances delete web, delete-db-instance shop, pg:reset. n is the number of
// words up to the verb.
func operationOf(c *shell.Call, words []abstract.Arg) (verb, object string, n int) {
	w := vocabulary(c)
	for i, a := range words[:min(len(words), 6)] {
		if !a.Known() || (w.Reads(a.Text) || w.Makes(a.Text)) && !thingToo(c, a.Text, words[i+1:]) {
			return "", "", i + 1
		}
		if strings.ContainsAny(a.Text, "/@=. ") || strings.Contains(a.Text, "::") {
			continue // a name
		}
		if verb, object = w.Ending(a.Text); verb == "" {
			continue
		}
		switch {
		case object != "":
		case i > 0:
			object = operation.PlainNoun(operation.Singular(words[i-1].Text))
		case len(words) > 2: // delete volume 7
			object = operation.PlainNoun(operation.Singular(words[1].Text))
		}
		return verb, object, i + 1
	}
	return "", "", 0
}

// thingToo reports whether a word that could be an operation names an object here: auth
// disable, restore delete, log-analytics workspace delete.
func thingToo(c *shell.Call, word string, behind []abstract.Arg) bool {
	first, _, several := strings.Cut(word, "-")
	if several && listed(c, "thing_starts", first) {
		return true
	}
	return listed(c, "things", word) && len(behind) > 0 && endsOf(c, behind[0]) != ""
}

func endsOf(c *shell.Call, op abstract.Arg) string {
	verb, _ := vocabulary(c).Ending(op.Text)
	return verb
}

// optionVerb returns the end that an option requests, if the subcommand names none: sync
// --delete, unlock --remove-all.
func optionVerb(c *shell.Call) string {
	for _, opt := range c.Opts.List {
		first, _, _ := strings.Cut(strings.TrimLeft(opt.Name, "-"), "-")
		if listed(c, "removing", first) && !opt.Value.Is("false", "no", "0") {
			return "remove"
		}
	}
	return ""
}

// unlisted handles an unknown program, about which only its words are known. A noun with a
// verb that ends it, as clients of services use them (flags delete beta, delete-job
// nightly), matters; `remove x` alone does not, since every package manager has it.
func unlisted(c *shell.Call) {
	words := c.Opts.Operands
	givesSecrets(c)
	verb, object, n := operationOf(c, words)
	if verb == "" || object == "" || c.Local() || n == 1 && !verbFirst(c, words[0].Text) {
		c.Process()
		return
	}
	if c.On(true, "--dry-run", "--dryrun") {
		c.Signal(engine.SignalDryRun)
		c.Process()
		return
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: verb, Object: object, Recursive: everything(c), Forced: unasked(c)},
		abstract.Word(c.Name))
}

// consents reports whether the standard input of a call answers yes.
func consents(c *shell.Call) bool {
	in := c.Shell.Frame.Stdin
	return in != nil && in.Known() && operation.Consents(in.Text, c.Shell.In.Rows.Words("programs.consent"))
}

// maxAsking limits the operands, and the options, in which words are looked for that say what a program asks about.
const maxAsking = 4

// answersQuestion records that a program is given a yes for a question that it asks before it changes something: the names of the
// program and of what it does say so. Rows record the others.
func answersQuestion(c *shell.Call) {
	data := func(a abstract.Arg) bool {
		return a.Is("-", "/dev/stdin") || a.HasPrefix("-") && strings.HasSuffix(a.Text, "stdin")
	}
	if !consents(c) || listed(c, "unasking", c.Name) || slices.ContainsFunc(c.Args, data) {
		return
	}
	names := []string{c.Path.Text}
	for _, a := range c.Opts.Operands[:min(len(c.Opts.Operands), maxAsking)] {
		names = append(names, a.Text)
	}
	for _, opt := range c.Opts.List[:min(len(c.Opts.List), maxAsking)] {
		if !strings.HasPrefix(opt.Name, "--no-") {
			names = append(names, opt.Name)
		}
	}
	verb, _, _ := operationOf(c, c.Opts.Operands)
	if operation.AnyPart(names, c.Shell.In.Rows.Words("programs.protected")) || !c.Known && verb != "" {
		answer(c)
	}
}

// answer records, once, that a call answers a question of a program.
func answer(c *shell.Call) {
	if !slices.ContainsFunc(c.Shell.Out.Effects, func(e abstract.RawEffect) bool { return e.Verb == "answer" && e.Command == c.Index }) {
		c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "answer"}, abstract.Word(c.Name))
	}
}
