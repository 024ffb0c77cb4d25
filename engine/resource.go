package engine

import "math"

// Resources lists what a session's use is counted of.
func Resources() []string { return []string{"bytes", "files", "agents", "output", "time"} }

// Bins of the use of resources; they belong to FoldVersion.
const (
	BinActions = 5 // actions in a bin, reference/patterns section 3
	maxBins    = 7 // full ones, and the one that fills
	growthBins = 3 // growth is a matter of at least so many
)

// bin is what some actions used: bytes written, files changed, agents started,
// bytes of output, milliseconds.
type bin struct {
	N   int64    `json:"n"` // actions
	Use [5]int64 `json:"u"` // by the order of Resources
}

// use returns the bin that fills.
func (h *History) bin() *bin {
	if len(h.Bins) == 0 || h.Bins[len(h.Bins)-1].N >= BinActions {
		h.Bins = keepLast(append(h.Bins, bin{}), maxBins)
	}
	return &h.Bins[len(h.Bins)-1]
}

// foldUse counts what an action will use, before it ran.
func (h *History) foldUse(a *Action) {
	b := h.bin()
	b.N++
	b.Use[1] += fileOps(a)
	for _, t := range a.Types {
		if t == TypeAgentSpawn {
			b.Use[2]++
			h.Spawned++
		}
	}
	for _, c := range a.Contents {
		b.Use[0] += max(c.Bytes, 0)
	}
}

// foldSpent counts what it did use.
func (h *History) foldSpent(res *ResultFacts) {
	if res == nil || len(h.Bins) == 0 {
		return
	}
	b := &h.Bins[len(h.Bins)-1]
	if res.Content != nil {
		b.Use[3] += max(res.Content.Bytes, 0)
	}
	b.Use[4] += max(res.MS, 0)
}

// growing lists the resources whose use grew in each of the latest full bins.
func (h *History) growing() []Growth {
	list := []Growth{}
	full := h.Bins
	if n := len(full); n > 0 && full[n-1].N < BinActions {
		full = full[:n-1]
	}
	for i, name := range Resources() {
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
func growth(use []float64) (Growth, bool) {
	from := len(use)
	for from > 0 && use[from-1] > 0 && (from == len(use) || use[from-1] < use[from]) {
		from--
	}
	use = use[from:]
	if len(use) < growthBins {
		return Growth{}, false
	}
	ratio := 0.0
	for i := 1; i < len(use); i++ {
		ratio += use[i] / use[i-1]
	}
	return Growth{
		Last: int64(use[len(use)-1]), Growth: Round6(ratio / float64(len(use)-1)), Fit: Round6(fit(use)), Bins: int64(len(use)),
	}, true
}

// fit is R² of the straight line through the logarithms of a series.
func fit(use []float64) float64 {
	n := float64(len(use))
	var sx, sy, sxx, sxy, syy float64
	for i, u := range use {
		x, y := float64(i), math.Log(u)
		sx, sy, sxx, sxy, syy = sx+x, sy+y, sxx+x*x, sxy+x*y, syy+y*y
	}
	covariance, vx, vy := n*sxy-sx*sy, n*sxx-sx*sx, n*syy-sy*sy
	if vx <= 0 || vy <= 0 {
		return 0
	}
	return covariance * covariance / (vx * vy)
}
