package review

import (
	"math"

	"github.com/agent-reviewer/reviewer/engine"
)

// measure notes the CPU time of a review, and whether it is more than the policy expects. It
// never changes an answer: load is not a reason to deny.
func (r *Reviewer) measure(a *engine.AnswerFacts, p *Policy) {
	if r.CPU == nil {
		return
	}
	ms := r.CPU()
	a.CPU = math.Floor(ms*100) / 100
	a.Slow = p != nil && p.MaxCPU > 0 && ms > p.MaxCPU
}
