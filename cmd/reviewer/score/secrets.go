package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// masked matches what stands in a secret's place, with its kind.
var masked = regexp.MustCompile(`REDACTED_([A-Za-z0-9_]*)_[0-9a-f]{8}`)

// seen is what redaction did to a sample.
type seen struct {
	Touched bool   // something of it was replaced
	Leaked  bool   // the whole value is still there, or nothing was replaced
	Partly  bool   // the second half of the value is still there
	As      string // kind that it was taken for
}

// redact passes a sample as what a shell is to run, the one argument that is
// recorded as text whatever its length, and reads what would be recorded.
func redact(ctx context.Context, s Sample) (seen, error) {
	e, err := call(Row{ID: s.ID, Tool: "bash", Command: s.Text, CWD: workspace})
	if err != nil {
		return seen{}, fmt.Errorf("sample %s: %w", s.ID, err)
	}
	c := classifier(workspace)
	c.Limit = 1 << 20 // all of it is to be seen
	facts, err := c.Classify(ctx, e, workspace)
	if err != nil {
		return seen{}, fmt.Errorf("sample %s: %w", s.ID, err)
	}
	text, ok := facts.Event.Args["command"].(string)
	if !ok {
		return seen{}, fmt.Errorf("sample %s: the argument is recorded as %T, not as text", s.ID, facts.Event.Args["command"])
	}
	return compare(s, text), nil
}

func compare(s Sample, text string) seen {
	out := seen{Touched: text != s.Text}
	if m := masked.FindStringSubmatch(text); m != nil {
		out.As = m[1]
	}
	out.Leaked = !out.Touched || s.Value != "" && strings.Contains(text, s.Value)
	half := s.Value[len(s.Value)/2:]
	out.Partly = !out.Leaked && len(half) >= 4 && strings.Contains(text, half)
	return out
}
