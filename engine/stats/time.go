package stats

import (
	"maps"
	"math"
	"slices"
)

const (
	cellGrowth = 1.05     // of the fine cells that quantiles are read from
	minTime    = 0.01     // milliseconds: the shortest time that a record shows
	maxTime    = 86400000 // a day; a longer time means that the clock jumped
)

// bounds are the upper bounds of the buckets that are written, in milliseconds:
// closest around 100, the time that a review may take; at 2000, agents give up.
func bounds() []float64 {
	return []float64{1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000}
}

// times is a histogram of review times. It has at most about 470 cells.
type times struct {
	count   int64
	sum     float64
	max     float64
	cells   map[int]int64 // by the logarithm of the time
	buckets []int64       // by bounds; not cumulative
}

func newTimes() *times {
	return &times{cells: map[int]int64{}, buckets: make([]int64, len(bounds()))}
}

// add counts a time in milliseconds; 0 means that none was measured.
func (t *times) add(ms float64) {
	if !(ms > 0) {
		return
	}
	ms = min(max(ms, minTime), maxTime)
	t.count, t.sum, t.max = t.count+1, t.sum+ms, max(t.max, ms)
	// Cell n ends at minTime * cellGrowth^n.
	t.cells[int(math.Ceil(math.Log(ms/minTime)/math.Log(cellGrowth)-1e-9))]++
	if i, _ := slices.BinarySearch(bounds(), ms); i < len(t.buckets) {
		t.buckets[i]++
	}
}

// quantile returns the time below which a share q of the reviews falls: the middle of its
// cell.
func (t *times) quantile(q float64) float64 {
	rank := int64(math.Ceil(q * float64(t.count)))
	for _, cell := range slices.Sorted(maps.Keys(t.cells)) {
		if rank -= t.cells[cell]; rank <= 0 {
			end := minTime * math.Pow(cellGrowth, float64(cell))
			return places(min(end*(1+1/cellGrowth)/2, t.max), 2)
		}
	}
	return 0
}

func (t *times) document() ReviewTime {
	d := ReviewTime{Count: t.count, SumMS: places(t.sum, 2), P50: t.quantile(0.5), P90: t.quantile(0.9), P99: t.quantile(0.99),
		Max: places(t.max, 2), Buckets: []Bucket{}}
	var sum int64
	for i, le := range bounds() {
		sum += t.buckets[i]
		d.Buckets = append(d.Buckets, Bucket{MS: le, Count: sum})
	}
	return d
}
