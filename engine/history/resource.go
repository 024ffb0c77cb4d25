package history

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// Bins of the use of resources. They shape the state, so they belong to
// FoldVersion: apart from rows, only windows and detectors of a policy may.
const (
	binActions = 5 // actions in a bin
	maxBins    = 7 // full bins, and the one that is being filled
)

// bin returns the bin that is being filled.
func (h *State) bin() *bin {
	if len(h.Bins) == 0 || h.Bins[len(h.Bins)-1].N >= binActions {
		h.Bins = keepLast(append(h.Bins, bin{}), maxBins)
	}
	return &h.Bins[len(h.Bins)-1]
}

// foldUse counts what an action will use, before it ran.
func (h *State) foldUse(a *engine.Action) {
	b := h.bin()
	b.N++
	b.add(1, fileOps(a))
	if slices.Contains(a.Types, engine.TypeAgentSpawn) {
		b.add(2, 1)
		h.Spawned++
	}
	b.add(0, bytesOf(a))
	h.Bytes = addUse(h.Bytes, bytesOf(a))
}

// bytesOf returns how much a call writes, as far as the call shows it.
func bytesOf(a *engine.Action) int64 {
	var n int64
	for _, c := range a.Contents {
		n = addUse(n, c.Bytes)
	}
	for i := range a.Effects {
		n = addUse(n, a.Effects[i].Bytes)
	}
	return n
}

// maxUse is the largest count: an agent may report any number, and policy's integers end at
// 2^53.
const maxUse = 1 << 50

func (b *bin) add(resource int, n int64) {
	b.Use[resource] = addUse(b.Use[resource], n)
}

func addUse(sum, n int64) int64 { return sum + min(max(n, 0), maxUse-sum) }

// foldSpent counts the resources that a call used.
func (h *State) foldSpent(res *engine.ResultFacts) {
	if res == nil || len(h.Bins) == 0 {
		return
	}
	b := &h.Bins[len(h.Bins)-1]
	if res.Content != nil {
		b.add(3, res.Content.Bytes)
	}
	b.add(4, res.MS)
}

// growing lists the resources whose use grew in each of the latest full bins.
func (h *State) growing() []engine.Growth {
	list := []engine.Growth{}
	full := h.Bins
	if n := len(full); n > 0 && full[n-1].N < binActions {
		full = full[:n-1]
	}
	for i, name := range engine.Resources() {
		use := make([]int64, len(full))
		for j := range full {
			use[j] = full[j].Use[i]
		}
		if g, ok := growth(use); ok {
			g.Resource = name
			list = append(list, g)
		}
	}
	return list
}

// growth looks at the end of a series, as far back as it grew without a break.
func growth(use []int64) (engine.Growth, bool) {
	from := len(use)
	for from > 0 && use[from-1] > 0 && (from == len(use) || use[from-1] < use[from]) {
		from--
	}
	use = use[from:]
	if len(use) < 2 {
		return engine.Growth{}, false
	}
	g := engine.Growth{Last: use[len(use)-1], Bins: int64(len(use)), Ratios: make([]float64, len(use)-1)}
	for i := range g.Ratios {
		g.Ratios[i] = engine.Round6(float64(use[i+1]) / float64(use[i]))
	}
	legacyFit(&g)
	return g, true
}

// spent counts the resources that the session used since the last prompt, as far
// as limits count them, and how far the agent's own record of it was read.
type spent struct {
	Bytes  int64         `json:"bytes,omitempty"`  // written
	Busy   int64         `json:"busy,omitempty"`   // milliseconds that calls took
	Tokens int64         `json:"tokens,omitempty"` // that the model wrote
	Usage  *engine.Usage `json:"usage,omitempty"`  // the latest

	// The agent's list of sub-tasks, which stays from prompt to prompt: how many are
	// done and open, and the ids of those that were closed one by one.
	PlanDone int64    `json:"plan_done,omitempty"`
	PlanOpen int64    `json:"plan_open,omitempty"`
	Closed   []string `json:"closed,omitempty"`
}

// maxClosed limits the ids of sub-tasks that are remembered.
const maxClosed = 40

// foldPlan counts sub-tasks.
func (h *State) foldPlan(p *engine.Plan) {
	switch {
	case p == nil:
	case p.Whole:
		h.PlanDone, h.PlanOpen, h.Closed = addUse(0, p.Done), addUse(0, p.Open), nil
	case p.Task == "":
		h.PlanOpen = addUse(h.PlanOpen, p.Open)
	default:
		h.foldSubTask(boundKey(p.Task, digestLength), p)
	}
}

// foldSubTask moves one sub-task from where it was counted to where it is now.
func (h *State) foldSubTask(id string, p *engine.Plan) {
	if i := slices.Index(h.Closed, id); i >= 0 {
		h.Closed = slices.Delete(h.Closed, i, i+1)
		h.PlanDone = max(0, h.PlanDone-1)
	} else {
		h.PlanOpen = max(0, h.PlanOpen-1)
	}
	if p.Done > 0 {
		h.Closed = keepLast(append(h.Closed, id), maxClosed)
		h.PlanDone++
	} else {
		h.PlanOpen = addUse(h.PlanOpen, p.Open)
	}
}

func (h *State) resetSpent() {
	h.Bytes, h.Busy, h.Tokens = 0, 0, 0
	for _, a := range h.Agents {
		a.Turn = 0
	}
}

// foldUsage counts tokens, and records where the next event continues reading.
func (h *State) foldUsage(r *engine.Record) {
	if r.Event == nil || r.Event.Usage == nil {
		return
	}
	h.Tokens = addUse(h.Tokens, r.Event.Usage.Tokens)
	b := h.bin
	if r.Kind != engine.KindPre && len(h.Bins) > 0 {
		b = func() *bin { return &h.Bins[len(h.Bins)-1] } // what the model wrote after a call belongs to its bin
	}
	b().add(5, r.Event.Usage.Tokens)
	next := *r.Event.Usage
	next.Tokens, next.Skipped, next.Message = 0, 0, boundKey(next.Message, digestLength)
	h.Usage = &next
}

// endTurn starts the agent's next turn. An event without calls before it, such as that of a
// forgotten agent, starts none.
func (h *State) endTurn(r *engine.Record) {
	if a := h.agent(agentOf(r)); a != nil {
		a.Turn, a.Turns, a.Ended = 0, a.Turns || r.Phase == engine.PhaseBatch, r.N
	}
}

// busy returns the time that a call took; 0 for calls that wait for a person or another agent,
// because they take as long as these do, and the calls of that agent count themselves.
func busy(r *engine.Record) int64 {
	res := resultOf(r)
	if res == nil || r.Phase != engine.PhasePost {
		return 0
	}
	if r.Action != nil && slices.ContainsFunc(r.Action.Types, func(t engine.Type) bool {
		return t == engine.TypeAgentSpawn || t == engine.TypeMessage
	}) {
		return 0
	}
	return max(0, res.MS)
}

// spentWith returns the tokens and milliseconds since the last prompt, an event's
// included.
func (h *State) spentWith(r *engine.Record) (tokens, ms int64) {
	tokens = h.Tokens
	if r.Event != nil && r.Event.Usage != nil {
		tokens = addUse(tokens, r.Event.Usage.Tokens)
	}
	return tokens, addUse(h.Busy, busy(r))
}
