package history

import (
	"math"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// Bins of the use of resources; they belong to FoldVersion.
const (
	binActions = 5 // actions in a bin, reference/patterns section 3
	maxBins    = 7 // full ones, and the one that fills
	growthBins = 3 // growth is a matter of at least so many
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
	for _, c := range a.Contents {
		b.add(0, c.Bytes)
	}
	for i := range a.Effects {
		b.add(0, a.Effects[i].Bytes)
	}
}

// maxUse is where counting ends: an agent may report any number, and policy's
// integers end at 2^53.
const maxUse = 1 << 50

func (b *bin) add(resource int, n int64) {
	b.Use[resource] += min(max(n, 0), maxUse-b.Use[resource])
}

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
		use := make([]float64, len(full))
		for j := range full {
			use[j] = float64(full[j].Use[i])
		}
		if g, ok := growth(use); ok {
			g.Resource = name
			list = append(list, g)
		}
	}
	return list
}

// growth fits an exponential curve through the end of a series, as far back as
// it grew without a break.
func growth(use []float64) (engine.Growth, bool) {
	from := len(use)
	for from > 0 && use[from-1] > 0 && (from == len(use) || use[from-1] < use[from]) {
		from--
	}
	use = use[from:]
	if len(use) < growthBins {
		return engine.Growth{}, false
	}
	ratio := 0.0
	for i := 1; i < len(use); i++ {
		ratio += use[i] / use[i-1]
	}
	return engine.Growth{
		Last: int64(use[len(use)-1]), Growth: engine.Round6(ratio / float64(len(use)-1)), Fit: engine.Round6(fit(use)), Bins: int64(len(use)),
	}, true
}

// fit is R² of the straight line through the logarithms of a series. Products
// are converted before they are added: else some machines would not round them.
func fit(use []float64) float64 {
	mx, my := float64(len(use)-1)/2, 0.0
	for _, u := range use {
		my += ln(u) / float64(len(use))
	}
	var covariance, vx, vy float64
	for i, u := range use {
		x, y := float64(i)-mx, ln(u)-my
		covariance += float64(x * y)
		vx += float64(x * x)
		vy += float64(y * y)
	}
	if vx <= 0 || vy <= 0 {
		return 0
	}
	return min(1, float64(covariance*covariance)/float64(vx*vy))
}

// ln is the natural logarithm of a positive number, to the last bit the same on
// every machine, which that of package math is not. It sums the series of the
// inverse hyperbolic tangent.
func ln(x float64) float64 {
	const terms = 24 // the fraction lies between 1/√2 and √2, so the last is below 1e-19
	fraction, exponent := math.Frexp(x)
	if fraction < math.Sqrt2/2 {
		fraction, exponent = 2*fraction, exponent-1
	}
	step := (fraction - 1) / (fraction + 1)
	sum, power := 0.0, step
	for k := 1; k < terms; k += 2 {
		sum += power / float64(k)
		power *= float64(step * step)
	}
	return float64(2*sum) + float64(float64(exponent)*math.Ln2)
}
