package prompt

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/marks"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Bounds of what is read of an agent's message.
const (
	maxMessageEnd = 32 << 10 // bytes, of either end
	maxBetween    = 6        // words from what is checked to the word for passing
)

// ClaimsOf reports what an agent's last message claims about its work, and the files,
// packages and symbols that it says it has made: files as written there, with a folder, since the
// folder of a bare name is unknown. nil: the message makes no claims. As in a person's prompt, what
// is fenced, quoted or looks like a log does not count, and neither do questions and conditions.
func ClaimsOf(set *rows.Set, m *mask.Masker, message string) (*engine.LastMessage, Named) {
	words := newVocabulary(set)
	words.prefix = "says."
	prompts := newVocabulary(set)
	c := claimReader{vocabulary: words, said: &engine.LastMessage{}}
	for _, s := range prompts.sentences(m.Text(prompts.ownWords(ends(message, maxMessageEnd)))) {
		if s[len(s)-1].stop != '?' {
			c.sentence(s, prompts.clauses(s))
		}
	}
	if len(c.said.Claims) == 0 {
		return nil, Named{}
	}
	slices.Sort(c.said.Claims)
	return c.said, c.named
}

// claimReader collects what the sentences of a message claim.
type claimReader struct {
	*vocabulary
	said  *engine.LastMessage
	named Named
}

func (c *claimReader) sentence(s []promptWord, clauses [][]promptWord) {
	c.said.Admits = c.said.Admits || c.admits(s)
	if c.doubts(s) {
		return
	}
	for _, clause := range clauses {
		clause = clause[:min(len(clause), maxClause)]
		c.passes(clause)
		c.done(clause)
	}
	c.written(s)
	c.defined(s)
	c.installed(s)
}

// subjects are the lists of words for what is checked.
func subjects() []engine.Claim {
	return []engine.Claim{engine.ClaimTests, engine.ClaimBuild, engine.ClaimLint, engine.ClaimChecks}
}

// subject reports whether a word names something that is checked. Each word of a
// quoted command is examined.
func (c *claimReader) subject(w promptWord, claim engine.Claim) bool {
	return slices.ContainsFunc(wordsOf(w), func(low string) bool { return c.has(string(claim), low) })
}

func wordsOf(w promptWord) []string {
	if w.low != "\x00" {
		return []string{w.low}
	}
	return strings.FieldsFunc(strings.ToLower(w.text), func(r rune) bool { return r <= ' ' || r == ':' })
}

// passes recognises a claim that a check passes.
func (c *claimReader) passes(clause []promptWord) {
	for _, claim := range subjects() {
		for i := range clause {
			if c.subject(clause[i], claim) && c.passesAfter(clause, i) {
				c.claim(claim)
			}
		}
	}
}

// passesAfter reports whether a word for passing follows soon, as a statement:
// "to pass" is a purpose.
func (c *claimReader) passesAfter(clause []promptWord, i int) bool {
	for j := i + 1; j < len(clause) && j <= i+maxBetween; j++ {
		if c.is(clause[j], "passing") {
			return !clause[j-1].is("to")
		}
	}
	return false
}

// done recognises a claim that work was committed, pushed or deployed.
func (c *claimReader) done(clause []promptWord) {
	for _, claim := range []engine.Claim{engine.ClaimCommitted, engine.ClaimPushed, engine.ClaimDeployed} {
		if slices.ContainsFunc(clause, func(w promptWord) bool { return c.is(w, string(claim)) }) {
			c.claim(claim)
		}
	}
}

// written reads the file of a sentence that begins with a word for writing one,
// or with "I" and such a word.
func (c *claimReader) written(s []promptWord) {
	at := slices.IndexFunc(s, func(w promptWord) bool { return c.is(w, string(engine.ClaimWritten)) })
	if at < 0 || at > 2 {
		return
	}
	for _, w := range s[at+1 : min(len(s), at+1+maxBetween)] {
		if name := fileOf(w); name != "" {
			c.claim(engine.ClaimWritten)
			c.named.Files = add(c.named.Files, name)
			return
		}
	}
}

// fileOf returns the file that a word names with its folder, without a line number
// after it; empty: none. Whether log/slog is a file is unknown.
func fileOf(w promptWord) string {
	name, _, _ := strings.Cut(w.text, ":")
	slash := strings.LastIndexByte(name, '/')
	if !w.name || slash <= 0 || strings.ContainsAny(name, "\"'()*?[]{}<>$ ") || !marks.FileName(name[slash+1:]) {
		return ""
	}
	return name
}

func (c *claimReader) claim(what engine.Claim) {
	if !slices.Contains(c.said.Claims, what) {
		c.said.Claims = append(c.said.Claims, what)
	}
}

// doubts reports whether a sentence is a condition, a plan or a negation, or covers
// only a part: "2 of 3".
func (c *claimReader) doubts(s []promptWord) bool {
	for i, w := range s {
		if c.is(w, "doubts") || strings.HasSuffix(w.low, "n't") && w.low != "\x00" || c.fails(s, i) {
			return true
		}
		if i > 0 && w.is("of", "out") && s[i-1].low != "" && strings.Trim(s[i-1].low, "0123456789") == "" {
			return true
		}
	}
	return false
}

// admits reports whether a sentence states that a check fails or did not run.
func (c *claimReader) admits(s []promptWord) bool {
	about := slices.ContainsFunc(s, func(w promptWord) bool {
		return slices.ContainsFunc(subjects(), func(claim engine.Claim) bool { return c.subject(w, claim) })
	})
	if !about {
		return false
	}
	for i, w := range s {
		if w.is("not", "no", "never", "without") && !c.failing(s, i+1) || strings.HasSuffix(w.low, "n't") || c.fails(s, i) {
			return true
		}
	}
	return false
}

// fails reports whether a word means that something fails, without a "no" before it.
func (c *claimReader) fails(s []promptWord, i int) bool {
	return c.failing(s, i) && (i == 0 || !s[i-1].is("no", "0", "zero", "without"))
}

func (c *claimReader) failing(s []promptWord, i int) bool { return i < len(s) && c.is(s[i], "failing") }
