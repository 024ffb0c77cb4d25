package main

import (
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
)

// masked matches the replacement of a secret: its kind, and its tag, which is the same
// everywhere.
var masked = engine.Regexp(`REDACTED_([A-Za-z0-9_]*)_([0-9a-f]{8})`)

// seen is the result of redaction for a sample.
type seen struct {
	Touched  bool     // a part of it was replaced
	Leaked   bool     // the whole value is still there, or nothing was replaced
	Partly   bool     // the second half of the value is still there
	Mistaken bool     // what the sample names as its value is not one: another part was replaced, and that counts as found
	As       string   // kind that it was taken for
	Tags     []string // of all that was replaced
}

// redact masks a sample as a plain text. The tests of classify show that all fields of
// an event are masked by the same code.
func redact(s Sample) seen {
	c := classify.Classifier{MAC: mac, Secrets: bundles.BuiltInTokens()}
	return compare(s, c.Mask(s.Text))
}

func compare(s Sample, text string) seen {
	out := seen{Touched: text != s.Text}
	for _, m := range masked().FindAllStringSubmatch(text, -1) {
		if out.As == "" {
			out.As = m[1]
		}
		out.Tags = append(out.Tags, m[2])
	}
	stands := s.Value != "" && strings.Contains(text, s.Value)
	out.Mistaken = out.Touched && stands && s.mistaken()
	out.Leaked = !out.Touched || stands && !out.Mistaken
	half := s.Value[len(s.Value)/2:]
	out.Partly = !out.Leaked && !out.Mistaken && len(half) >= 4 && strings.Contains(text, half)
	return out
}

// mistaken reports whether the value of a sample is not its secret: values are guessed
// (the longest word of the text), and that may be an address without a login, a line
// of one character, or the name to which the secret is assigned.
func (s Sample) mistaken() bool {
	if i := strings.Index(s.Value, "://"); i >= 0 {
		return !strings.Contains(s.Value[i:], "@")
	}
	return strings.Trim(s.Value, s.Value[:1]) == "" || s.isName()
}

// isName reports whether the value is where names are: before a sign or a bracket, or
// after a comparison.
func (s Sample) isName() bool {
	if strings.Trim(s.Value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.:") != "" {
		return false
	}
	before, after, ok := strings.Cut(s.Text, s.Value)
	before, after = strings.TrimRight(before, " "), strings.TrimLeft(after, " \"'[]")
	return ok && (strings.HasSuffix(s.Value, ":") || after != "" && strings.IndexByte("=:!(", after[0]) >= 0 ||
		strings.HasSuffix(before, "=="))
}

// secretTags are the tags of everything that was replaced in samples of secrets.
func secretTags(samples []Sample, all []seen) map[string]bool {
	tags := map[string]bool{}
	for i, s := range samples {
		for _, tag := range all[i].Tags {
			tags[tag] = tags[tag] || s.Secret
		}
	}
	return tags
}

// disputed reports whether all that was replaced in a look-alike is a secret in
// another sample: the corpus distinguishes them by facts outside the text, such as the
// type of the file.
func (g seen) disputed(told map[string]bool) bool {
	for _, tag := range g.Tags {
		if !told[tag] {
			return false
		}
	}
	return len(g.Tags) > 0
}
