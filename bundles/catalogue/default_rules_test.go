package catalogue

import (
	"net/url"
	"regexp"
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
)

// control is an entry of a framework that a rule is a part of.
var control = regexp.MustCompile(`^(OWASP-ASI(0[1-9]|10)|ATLAS-AML\.T\d{4}(\.\d{3})?|ATTACK-T\d{4}(\.\d{3})?|SOC2-(CC[1-9]|A1)\.\d)$`)

// shipped returns the built-in policy alone.
func shipped(t *testing.T) *bundles.Effective {
	t.Helper()
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	e, err := bundles.Assemble(base)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Each rule that ships says all that a person needs to decide about it: what it
// saw, what to do instead, where to read on, and which controls it is a part of.
func TestDefaultRulesAreComplete(t *testing.T) {
	e := shipped(t)
	rules := Of(e)
	if len(rules) < 80 {
		t.Fatalf("only %d rules", len(rules))
	}
	for _, r := range rules {
		if r.Decision == "" {
			continue // a finding that other rules use
		}
		for what, text := range map[string]string{"title": r.Title, "severity": r.Severity, "message": r.Message, "remediation": r.Remediation} {
			if text == "" {
				t.Errorf("%s:%d: rule %s has no %s", r.File, r.Line, r.ID, what)
			}
		}
		holds := slices.Contains([]string{"modify", "ask", "block"}, r.Decision)
		if known := slices.Contains(append(engine.Harms(), engine.HarmNone), r.Harm); holds && !known || !holds && r.Harm != "" {
			t.Errorf("%s:%d: rule %s says %s, and its harm is %q", r.File, r.Line, r.ID, r.Decision, r.Harm)
		}
		if !slices.ContainsFunc(r.Tags, control.MatchString) {
			t.Errorf("%s:%d: rule %s names no control", r.File, r.Line, r.ID)
		}
		for _, tag := range r.Tags {
			if tag != "essential" && !control.MatchString(tag) {
				t.Errorf("%s:%d: rule %s has the tag %q, which is not a control", r.File, r.Line, r.ID, tag)
			}
		}
		for _, page := range r.References {
			if u, err := url.Parse(page); err != nil || u.Scheme != "https" || u.Host == "" {
				t.Errorf("%s:%d: rule %s refers to %q, which is not a page", r.File, r.Line, r.ID, page)
			}
		}
	}
}

// Two rules that say the same could not be told apart.
func TestDefaultRulesSayDifferentThings(t *testing.T) {
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, r := range base.Rules {
		for _, text := range []string{r.Title, r.Message} {
			if other := said[text]; text != "" && other != "" && other != r.ID {
				t.Errorf("%s and %s both say %q", other, r.ID, text)
			}
			said[text] = r.ID
		}
	}
}

// The policy explains each earlier word for a harm by one of today, and each of today is the harm of a rule.
func TestFormerHarms(t *testing.T) {
	e := shipped(t)
	today := append(engine.Harms(), engine.HarmNone)
	for _, word := range engine.FormerHarms() {
		if now := e.Harm(word); now == word || !slices.Contains(today, now) {
			t.Errorf("%s means %q; want one of %q", word, now, today)
		}
	}
	for _, word := range today {
		if now := e.Harm(word); now != word {
			t.Errorf("%s is a word of today, and means %q", word, now)
		}
		if !slices.ContainsFunc(e.Rules(), func(r bundles.Rule) bool { return r.Harm == word }) {
			t.Errorf("no rule has the harm %s", word)
		}
	}
}
