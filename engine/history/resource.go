package history

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// Bins of the use of resources. They shape the state, so they belong to
// FoldVersion: apart from rows, only windows and detectors of a policy may.
const (
	binActions = 5 // actions in a bin
	maxBins    = 7 // full ones, and the one that fills
)

// bin returns the one that fills.
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

// bytesOf is what a call writes, as far as it says so.
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

// maxUse is where counting ends: an agent may report any number, and policy's
// integers end at 2^53.
const maxUse = 1 << 50

func (b *bin) add(resource int, n int64) {
	b.Use[resource] = addUse(b.Use[resource], n)
}

func addUse(sum, n int64) int64 { return sum + min(max(n, 0), maxUse-sum) }

// foldSpent counts what it did use.
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
