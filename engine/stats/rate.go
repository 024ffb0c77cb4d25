package stats

import "math"

// Rate is a share of a sample, with the interval in which the true share lies
// with 95 % confidence (Wilson's score interval: it is valid for small samples and for shares
// near 0 and 1).
type Rate struct {
	Rate float64 `json:"rate"` // from 0 to 1
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// z95 is the quantile of the normal distribution that leaves 2.5 % on each side.
const z95 = 1.959963984540054

// rateOf returns k of n, at least 1, with its interval.
func rateOf(k, n int64) Rate {
	p, size := float64(k)/float64(n), float64(n)
	z2 := z95 * z95
	middle := (p + z2/(2*size)) / (1 + z2/size)
	half := z95 * math.Sqrt(p*(1-p)/size+z2/(4*size*size)) / (1 + z2/size)
	return Rate{Rate: places(p, 4), Low: places(max(0, middle-half), 4), High: places(min(1, middle+half), 4)}
}

// places rounds to so many decimal places.
func places(f float64, n int) float64 {
	scale := math.Pow10(n)
	return math.Round(f*scale) / scale
}
