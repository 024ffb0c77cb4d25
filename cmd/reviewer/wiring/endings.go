package wiring

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/rego"
)

// SoonDays is the number of days before the end of a rule or an exception from which it is announced.
const SoonDays = 14

// Ending is a rule or an exception that has ended, or is about to.
type Ending struct {
	Layer     string
	File      string // in the layer
	Line, Col int
	Over      bool
	What      string // such as: exception to rule git_force_push
	At        string // as it was written
	Days      int    // until it ends, rounded up; 0: it is over
	Owner     string
	Reason    string
	Loosens   bool // its end allows what it held up; otherwise its end holds up what it allowed, or neither
}

// String describes it, with what to do.
func (e Ending) String() string {
	by := ""
	if e.Owner != "" {
		by = " (owner: " + e.Owner + ")"
	}
	if e.Over {
		return fmt.Sprintf("%s expired on %s and no longer applies%s; remove it, or set a later date", e.What, e.At, by)
	}
	then := "then what it allows is held up again"
	if e.Loosens {
		then = "then what it holds up passes"
	}
	return fmt.Sprintf("%s expires on %s, in %s%s: %s; set a later date if it must stay", e.What, e.At,
		engine.Counted(int64(e.Days), "day", "days"), by, then)
}

// Endings lists the rules and exceptions of a policy that have ended, or will within [SoonDays].
func Endings(e *bundles.Effective, now int64) []Ending {
	var all []Ending
	add := func(end Ending, at int64) {
		left := at - now
		if at <= 0 || left > SoonDays*24*time.Hour.Milliseconds() {
			return
		}
		day := 24 * time.Hour.Milliseconds()
		end.Over, end.Days = left <= 0, int(max(0, (left+day-1)/day))
		all = append(all, end)
	}
	for _, l := range e.Layers {
		for _, r := range l.Rules {
			file, line, col := r.Spot("expires_at", 0, 0)
			add(Ending{Layer: l.Layer, File: file, Line: line, Col: col, What: "rule " + r.ID, At: r.ExpiresAt, Owner: r.Owner, Reason: r.Reason,
				Loosens: true}, r.Expires())
		}
		for _, list := range l.Access {
			for _, r := range list.Rules {
				file, line, col := r.Spot("expires_at", 0, 0)
				add(Ending{Layer: l.Layer, File: file, Line: line, Col: col, What: "access rule " + list.FindingID(r.ID), At: r.ExpiresAt,
					Owner: r.Owner, Reason: r.Reason, Loosens: r.Effect != bundles.EffectAllow}, r.Expires())
			}
		}
	}
	if !slices.ContainsFunc(e.Layers[1:], func(l *bundles.Bundle) bool { return len(l.Modules) > 0 }) {
		return all
	}
	for _, x := range rego.Exceptions(e.Modules()) {
		if at, err := engine.Moment(x.ExpiresAt); err == nil {
			what := "exception to a rule"
			if x.Rule != "" {
				what = "exception to rule " + x.Rule
			}
			_, file, _ := strings.Cut(x.File, "/")
			add(Ending{Layer: x.Layer, File: file, Line: x.Line, Col: x.Col, What: what, At: x.ExpiresAt, Owner: x.Owner, Reason: x.Reason}, at)
		}
	}
	return all
}
