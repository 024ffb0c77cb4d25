package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Quantiles are those of the sorted times, up to half a cell.
func TestQuantiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 10, 5000} {
		h, all := newTimes(), []float64{}
		for range n {
			ms := places(max(minTime, math.Exp(random.NormFloat64()*2+2)), 2)
			h.add(ms)
			all = append(all, ms)
		}
		slices.Sort(all)
		for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 1} {
			want := all[int(math.Ceil(q*float64(n)))-1]
			if got := h.quantile(q); math.Abs(got-want) > 0.026*want+0.005 {
				t.Errorf("quantile %v of %d times is %v, want %v", q, n, got, want)
			}
		}
		d := h.document()
		for _, b := range d.Buckets {
			want := int64(len(all))
			if i := slices.IndexFunc(all, func(ms float64) bool { return ms > b.MS }); i >= 0 {
				want = int64(i)
			}
			if b.Count != want {
				t.Errorf("%d of %d times are at most %v ms, want %d", b.Count, n, b.MS, want)
			}
		}
		if d.Max != all[n-1] || d.Count != int64(n) {
			t.Errorf("max %v of %d, want %v of %d", d.Max, d.Count, all[n-1], n)
		}
	}
}

// Whatever a log holds, a time is a number, and the cells are few.
func TestUglyTimes(t *testing.T) {
	h := newTimes()
	for _, ms := range []float64{0, -1, math.NaN(), math.Inf(-1)} {
		h.add(ms)
	}
	if h.count != 0 || h.quantile(0.5) != 0 {
		t.Errorf("%d times were counted where none was taken", h.count)
	}
	for ms := 1e-300; ms < 1e300; ms *= 1.01 {
		h.add(ms)
	}
	h.add(math.Inf(1))
	if d := h.document(); len(h.cells) > 480 || d.Max != maxTime || d.P50 <= 0 || math.IsInf(d.SumMS, 0) || math.IsNaN(d.P99) {
		t.Errorf("%d cells, %+v", len(h.cells), d)
	}
}

func TestRateOf(t *testing.T) {
	for _, c := range []struct {
		k, n int64
		want Rate
	}{
		{0, 1, Rate{0, 0, 0.7935}}, {1, 1, Rate{1, 0.2065, 1}}, {1, 20, Rate{0.05, 0.0089, 0.2361}}, {500, 1000, Rate{0.5, 0.4691, 0.5309}},
	} {
		if got := rateOf(c.k, c.n); got != c.want {
			t.Errorf("%d of %d: %+v, want %+v", c.k, c.n, got, c.want)
		}
	}
}
