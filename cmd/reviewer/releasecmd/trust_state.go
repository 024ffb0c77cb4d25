package releasecmd

import (
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// TrustStatus is the state of the trust file. Every command that reports it does so with
// this one sentence.
type TrustStatus struct {
	State   trust.State `json:"state"`
	File    string      `json:"file,omitempty"` // empty: there never was one
	Version int64       `json:"version,omitempty"`
	Expires string      `json:"expires,omitempty"`
	Problem string      `json:"problem,omitempty"` // why it is not valid, and how to fix that
}

// TrustOf returns the trust file of a machine, nil unless it is active, and its state.
func TrustOf(log *audit.Store, now int64) (active.Trust, TrustStatus) {
	t, _, err := active.TrustInForce(log)
	if err == nil && !t.None() {
		err = t.Current(now)
	}
	s := TrustStatus{State: trust.StateActive, File: t.Path}
	switch {
	case err == nil && t.None():
		return t, TrustStatus{State: trust.StateNone}
	case err != nil:
		s.State, s.Problem = trust.StateUnusable, cli.Masked(err.Error())
		if p := (*trust.FileProblem)(nil); errors.As(err, &p) {
			s.State = p.State
		}
	}
	if !t.None() {
		s.Version, s.Expires = t.Version, t.Expires
	}
	if err != nil && s.State != trust.StateExpired {
		t.Trust = nil
	}
	return t, s
}

// Text is the sentence, with a verdict before it where something is wrong.
func (s TrustStatus) Text(p term.Paint) string {
	switch {
	case s.Problem != "":
		return p.Verdict("fail") + " " + s.Problem
	case s.State == trust.StateNone:
		return "no trust file: signatures are not checked, and only a person at a terminal can activate a policy"
	}
	return fmt.Sprintf("trust file %s, version %d", s.File, s.Version) + term.After(", expires ", s.Expires)
}
