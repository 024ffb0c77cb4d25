package stats

import "github.com/agent-reviewer/reviewer/engine"

// maxQuestions limits the questions of one session whose answer may still change; older ones
// keep the answer that is known.
const maxQuestions = 4096

// answer is the inferred answer to a question.
type answer int

const (
	unanswered answer = iota
	approved
	refused
	ended // without an answer
)

// questions counts people's answers. They are inferred, and a call that counted as refused may
// turn out to have run: the latest record decides.
type questions struct {
	counts [4]int64 // by answer
	known  map[string]answer
	order  []string // of known, oldest first
	costs  *costs
}

// begin drops the previous session.
func (q *questions) begin() { q.known, q.order = map[string]answer{}, nil }

// see reads what a record shows about questions, or that it is one.
func (q *questions) see(r *engine.Record) {
	for _, a := range r.Answer.Approvals {
		q.answered(a.Of, a.Approved)
	}
	if r.Kind == engine.KindPre && r.Answer.Effect == engine.Ask {
		q.ask(r.ID())
	}
}

// control reads how a question that waited ended. If an approval does not apply any more, it is
// still what the person answered.
func (q *questions) control(c *engine.Control) {
	switch c.Decided.Who {
	case engine.DecidedPerson:
		q.answered(c.Record, c.Do == engine.ControlApprove)
	case engine.DecidedTimeout, engine.DecidedStop:
		q.becomes(c.Record, ended)
	}
}

func (q *questions) answered(id string, yes bool) {
	if yes {
		q.becomes(id, approved)
	} else {
		q.becomes(id, refused)
	}
}

func (q *questions) becomes(id string, a answer) {
	if before, known := q.known[id]; known {
		q.counts[before]--
		q.counts[a]++
		q.known[id] = a
		q.costs.answered(id, before, a)
	}
}

func (q *questions) ask(id string) {
	if len(q.order) >= maxQuestions {
		delete(q.known, q.order[0])
		q.order = q.order[1:]
	}
	q.counts[unanswered]++
	q.known[id] = unanswered
	q.order = append(q.order, id)
}

func (q *questions) document() Questions {
	d := Questions{Approved: q.counts[approved], Refused: q.counts[refused], Ended: q.counts[ended], Open: q.counts[unanswered]}
	d.Asked = d.Approved + d.Refused + d.Ended + d.Open
	if n := d.Approved + d.Refused; n > 0 {
		rate := rateOf(d.Approved, n)
		d.ApprovedShare = &rate
	}
	return d
}
