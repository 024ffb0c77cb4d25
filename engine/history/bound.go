package history

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// bound keeps the state's JSON below MaxKeyframe. It depends only on the state
// and is idempotent.
func (h *State) bound() {
	h.Denials = keepLast(h.Denials, maxDenials)
	h.Allowed = keepLast(h.Allowed, maxAllowed)
	h.boundCalls()
	h.boundErrors()
	h.boundChecks()
	h.boundFired()
	free := engine.MaxKeyframe - h.fixedSize()
	h.boundPaths(min(ledgerBytes, max(free-ringFloor, ledgerFloor)))
	h.boundRings(free - sum(h.Paths, (*pathEntry).size))
}

// questionSize is an upper bound for a question in a keyframe, in bytes.
const questionSize = 160

// fixedSize is an upper bound for a keyframe's line without paths and rings.
func (h *State) fixedSize() int {
	const fields = 2260 // names of all fields, numbers, digests, and the line around the state
	n := fields + engine.JSONLen(h.Workspace) + 2*engine.JSONLen(h.Session) + 2*engine.JSONLen(h.Harness)
	if h.Stop != nil {
		n += engine.JSONLen(h.Stop.Reason) + engine.JSONLen(h.Stop.By) + number(h.Stop.T) + len(h.Stop.Rule) + len(h.Stop.Harm) + 34
	}
	for _, m := range []map[string]int64{h.ByType, h.ByVerdict, h.ByTool, h.Labels, h.Fired} {
		n += countsSize(m)
	}
	for l, row := range h.Marks {
		n += len(l) + len(row) + 6
	}
	for _, a := range h.Agents {
		n += a.fixedSize()
	}
	n += terminalsSize(h.Terminals) + h.Typing.size()
	n += sum(h.Code, (*writtenCode).size) + sum(h.Dropped, (*writtenCode).size) + sum(h.Running, (*startedEntry).size) + listSize(h.Remotes)
	n += sum(h.Made, madeSize)
	n += takenSize(h) + len(h.Questions)*questionSize + h.formsSize()
	n += h.Goals.size() + listSize(h.Trees) + len(h.Hosts) + sum(h.Bins, (*bin).size)
	n += sum(h.Interventions, (*intervention).size) + listSize(h.Closed) + sum(h.Checkpoints, (*checkpoint).size)
	n += sum(h.Denials, (*denial).size) + sum(h.Forgiven, (*denial).size)
	return n + sum(h.Calls, (*callEntry).size) + sum(h.Allowed, (*allowance).size)
}

// fixedSize is an upper bound for the agent without its ring.
func (a *agentState) fixedSize() int {
	const fields = 190
	n := fields + len(a.Name) + digits(a.Events) + digits(a.At) + digits(a.SecretAt) + digits(a.UntrustedAt) +
		countsSize(a.Errors) + sum(a.Checks, (*checkRun).size)
	for id, f := range a.Fired {
		n += len(id) + len(f.Level) + digits(f.At) + digits(f.Told) + len(f.ToldLevel) + number(f.Asked) + 40
	}
	return n
}

func terminalsSize(t *engine.Terminals) int {
	if t == nil {
		return 0
	}
	n := 30
	for _, l := range t.Lines {
		n += 40 + engine.JSONLen(l.Terminal) + engine.JSONLen(l.Before)
		for _, p := range l.Parts {
			n += 3 + engine.JSONLen(p)
		}
	}
	return n
}

func (t *typing) size() int {
	if t == nil {
		return 0
	}
	return 40 + digits(t.Pre) + terminalsSize(t.After)
}

func sum[T any](entries []T, size func(*T) int) int {
	n := 0
	for i := range entries {
		n += size(&entries[i])
	}
	return n
}

func countsSize(m map[string]int64) int {
	n := 0
	for key, count := range m {
		n += len(key) + 4 + digits(count)
	}
	return n
}

// The sizes of entries are what they take in JSON, or a few bytes more; their
// texts are plain.

func (p *pathEntry) size() int {
	n := len(p.Key) + len(p.State) + 30 + digits(p.N) + text(p.Where) + text(p.Maybe) + labelsSize(p.Labels)
	for _, flag := range []bool{p.Apart, p.Agreed} {
		if flag {
			n += 9
		}
	}
	return n
}

func labelsSize(labels []engine.Label) int {
	if len(labels) == 0 {
		return 0
	}
	n := 7
	for _, l := range labels {
		n += len(l) + 3
	}
	return n
}

// takenSize is the size of what the state contains only if the session took over
// something from others.
func takenSize(h *State) int {
	n := sum(h.Taken, (*takenFrom).size)
	if n > 0 {
		n += 12
	}
	if h.Stop != nil && h.Stop.Taken {
		n += 13
	}
	for i := range h.Denials {
		if h.Denials[i].Taken {
			n += 9
		}
	}
	return n
}

func (d *denial) size() int {
	return len(d.Print) + text(d.Kind) + text(d.Verb) + text(d.Target) + text(d.Harm) + 29 + digits(d.N) + digits(d.At)
}

func (c *checkRun) size() int {
	n := len(c.Print) + 75 + text(c.Reads)
	for _, times := range c.Times {
		n += digits(times)
	}
	return n
}

func (b *bin) size() int {
	n := 20 + digits(b.N)
	for _, u := range b.Use {
		n += digits(u) + 1
	}
	return n
}

func (s *goalState) size() int {
	n := 90 + listSize(s.Names) + len(s.Words) + listSize(s.Scope) + listSize(s.Mentions)
	for _, i := range s.Intents {
		n += len(i) + 3
	}
	for _, list := range [][]heldStatement{s.Forbidden, s.Standing, s.Permitted, s.Lifted} {
		n += sum(list, (*heldStatement).size)
	}
	if q := s.Asked; q != nil {
		n += 30 + len(q.Call) + len(q.MAC)
		for _, o := range q.Offers {
			held := heldStatement{Statement: o.Statement}
			n += 30 + len(o.Choice) + held.size()
		}
	}
	return n
}

func (s *heldStatement) size() int {
	n := 70 + len(s.Kind) + len(s.Act) + text(s.Until) + engine.JSONLen(s.Text) + text(s.From) + digits(s.Prompt) + number(s.Used)
	for _, o := range s.Objects {
		n += engine.JSONLen(o) + 3
	}
	for _, i := range s.Later {
		n += len(i) + 3
	}
	return n
}

func listSize(list []string) int {
	n := 0
	for _, s := range list {
		n += len(s) + 3
	}
	return n
}

func (a *allowance) size() int {
	return len(a.Print) + text(a.Dir) + engine.JSONLen(a.By) + 40 + digits(a.N) + number(a.Ends)
}

func (c *callEntry) size() int {
	n := len(c.ID) + len(c.Agent) + 18 + number(c.Pre) + number(c.Post) +
		text(string(c.Decision)) + text(string(c.Enforced)) + text(c.Args) + listSize(c.Trees) + text(string(c.Outcome)) +
		number(c.Kept) + text(c.Form) + text(c.Mode)
	if len(c.Changes) > 0 {
		n += 7
	}
	for _, ch := range c.Changes {
		n += len(ch.State) + len(ch.Key) + 18
	}
	return n
}

func (p *ringEntry) size() int {
	n := digits(p.N) + digits(p.T) + 36 + text(p.Target) + text(p.Class) + text(p.Print) + text(p.Deed) + text(p.Sketch) +
		text(p.Result) + text(p.Error) + text(string(p.Outcome)) + text(p.Tool) + text(string(p.Kind)) + text(p.Verb) +
		text(p.Dir) + text(string(p.Trouble)) + text(p.From) + text(p.Into) + number(p.Rank) + number(p.Missing) + number(p.Words)
	for _, set := range []bool{p.Alters != 0, p.Goal, p.Named, p.News, p.Check, p.Waits, p.Runs} {
		if set {
			n += len(`,"w":true`)
		}
	}
	return n
}

// text is the size of a field of one letter that is left out when empty.
func text(s string) int {
	if s == "" {
		return 0
	}
	return len(s) + 7
}

func number(n int64) int {
	if n == 0 {
		return 0
	}
	return digits(n) + 8
}

// digits is at least the number of digits; times have 13 until the year 2286.
func digits(n int64) int {
	switch {
	case n < 0 || n >= 1e13:
		return 20
	case n >= 1e6:
		return 13
	case n >= 1e4:
		return 6
	}
	return 4
}

// boundPaths forgets the oldest of the milder entries first.
func (h *State) boundPaths(bytes int) {
	size := sum(h.Paths, (*pathEntry).size)
	for len(h.Paths) > maxLedger || size > bytes {
		i := h.mildestPath()
		size -= h.Paths[i].size()
		h.Paths = slices.Delete(h.Paths, i, i+1)
	}
}

func (h *State) mildestPath() int {
	for _, state := range engine.LedgerStates() {
		if i := slices.IndexFunc(h.Paths, func(p pathEntry) bool { return p.State == state }); i >= 0 {
			return i
		}
	}
	return 0
}

// boundCalls forgets, in this order: calls whose outcome is known, except for the latest; what the
// oldest calls would change, since that only makes policy milder; other calls whose outcome is
// known; the oldest.
func (h *State) boundCalls() {
	size := sum(h.Calls, (*callEntry).size)
	full := func() bool { return len(h.Calls) > maxCalls || size > callBytes }
	drop := func(i int) {
		size -= h.Calls[i].size()
		h.Calls = slices.Delete(h.Calls, i, i+1)
	}
	over := func() int {
		return slices.IndexFunc(h.Calls, func(c callEntry) bool {
			return c.Outcome != engine.OutcomePending && c.Outcome != engine.OutcomeUnknown
		})
	}
	for i := over(); full() && i >= 0 && len(h.Calls) > maxCalls/2; i = over() {
		drop(i)
	}
	for i := 0; i < len(h.Calls) && size > callBytes; i++ {
		size -= h.Calls[i].size()
		h.Calls[i].Changes, h.Calls[i].Trees = nil, nil
		size += h.Calls[i].size()
	}
	for full() {
		drop(max(0, over()))
	}
}

// boundErrors removes the rarest error class of the agent with the most of
// them.
func (h *State) boundErrors() {
	for {
		total, most := mostOf(h.Agents, func(a *agentState) int { return len(a.Errors) })
		if total <= totalErrors {
			return
		}
		delete(most.Errors, rarest(most.Errors, ""))
	}
}

// boundChecks removes checks from the agent with the most of them.
func (h *State) boundChecks() {
	for {
		total, most := mostOf(h.Agents, func(a *agentState) int { return len(a.Checks) })
		if total <= totalChecks {
			return
		}
		most.forgetCheck()
	}
}

// boundFired removes the oldest finding of the agent with the most of them.
func (h *State) boundFired() {
	for {
		total, most := mostOf(h.Agents, func(a *agentState) int { return len(a.Fired) })
		if total <= totalFired {
			return
		}
		delete(most.Fired, most.longestAgo())
	}
}

// mostOf counts items over all agents, and finds the agent that has the most.
func mostOf(agents []*agentState, count func(*agentState) int) (total int, most *agentState) {
	for _, a := range agents {
		total += count(a)
		if most == nil || count(a) > count(most) {
			most = a
		}
	}
	return total, most
}

// boundRings keeps the sum of the rings within limits, shortening the longest
// ring first: a busy sub-agent does not push out the history of others.
func (h *State) boundRings(bytes int) {
	entries := 0
	for _, a := range h.Agents {
		entries += len(a.Ring)
		bytes -= sum(a.Ring, (*ringEntry).size)
	}
	for ; entries > 0 && (entries > ringTotal || bytes < 0); entries-- {
		longest := slices.MaxFunc(h.Agents, func(a, b *agentState) int { return len(a.Ring) - len(b.Ring) })
		bytes += longest.Ring[0].size()
		longest.Ring = longest.Ring[1:]
	}
}

// maxClientText bounds each text about the process from which a session's events come, in bytes of JSON.
const maxClientText = 300

// boundClient returns a client as the state keeps it.
func boundClient(c engine.Client) *engine.Client {
	for _, text := range []*string{&c.Boot, &c.Program, &c.Spaces, &c.Missing} {
		*text = engine.ClipJSON(*text, maxClientText)
	}
	return &c
}
