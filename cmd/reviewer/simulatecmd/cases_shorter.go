package simulatecmd

import (
	"context"
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/auditcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// maxJudged bounds the records that are evaluated to shorten one case.
const maxJudged = 4000

// shortening removes the records of a session that a case does not need.
type shortening struct {
	*caseSaver
	ctx    context.Context
	home   string
	kind   simulate.Kind
	last   int64 // number of the record of which something is expected
	judged int
}

// shorter removes the calls, prompts and other events before the last record that do
// not affect the decisions of both policies. An allowed call proves something only if
// the baseline holds it up, so such a case stays whole if the baseline is what was
// recorded.
func (s *caseSaver) shorter(ctx context.Context, home string, records []*engine.Record, k simulate.Kind) []*engine.Record {
	w := &shortening{caseSaver: s, ctx: ctx, home: home, kind: k, last: records[len(records)-1].N}
	groups, count := groupsOf(records)
	kept := make([]int, count)
	for i := range kept {
		kept[i] = i
	}
	if s.before == nil && !tightens(k.Example) || !w.shows(records) {
		return records
	}
	for size := len(kept); size > 0; size /= 2 {
		for at := 0; at < len(kept); {
			rest := slices.Concat(kept[:at], kept[min(at+size, len(kept)):])
			if w.shows(partOf(records, groups, rest)) {
				kept = rest
			} else {
				at += size
			}
		}
	}
	return partOf(records, groups, kept)
}

// groupsOf numbers the parts that can be left out of a session: a call with its
// result, or an event of its own. The opening, the last record and its call have no
// number (-1).
func groupsOf(records []*engine.Record) (groups []int, count int) {
	last := records[len(records)-1]
	of := map[string]int{}
	for _, r := range records {
		n, known := of[r.Call]
		switch {
		case r.Kind == engine.KindOpen || r == last || r.Call != "" && r.Call == last.Call:
			n = -1
		case r.Call == "" || !known:
			n = count
			of[r.Call] = n
			count++
		}
		groups = append(groups, n)
	}
	return groups, count
}

// partOf keeps the records of some groups, and those that are always kept.
func partOf(records []*engine.Record, groups, kept []int) []*engine.Record {
	var part []*engine.Record
	for i, r := range records {
		if groups[i] < 0 || slices.Contains(kept, groups[i]) {
			part = append(part, r)
		}
	}
	return part
}

// shows reports whether a part of the session shows the change.
func (w *shortening) shows(part []*engine.Record) bool {
	if w.judged += len(part); w.judged > maxJudged || w.ctx.Err() != nil {
		return false
	}
	e := w.kind.Example
	if !w.decides(w.runner, part, decided(e.To, e.ToRules)) {
		return false
	}
	return tightens(e) || w.decides(w.before, part, w.expectedBefore())
}

// expectedBefore is the baseline's decision, and the rule to which the change is
// attributed if it is one of the baseline's; others that fired with it may go.
func (w *shortening) expectedBefore() cases.Expect {
	expect := decided(w.kind.Example.From, nil)
	if slices.Contains(w.kind.Example.FromRules, w.kind.Rule) {
		expect.Rules = []string{w.kind.Rule}
	}
	return expect
}

func (w *shortening) decides(runner *trial.Runner, part []*engine.Record, expect cases.Expect) bool {
	x, err := cases.CutExpecting(caseTitle(w.kind), w.home, part, w.last, expect)
	if err != nil {
		return false
	}
	fails, err := auditcmd.Differences(w.ctx, runner, x)
	return err == nil && fails == ""
}

// tightens reports whether the candidate's answer is the stricter one.
func tightens(w simulate.Step) bool { return w.To.Strictness() > w.From.Strictness() }
