package main

import "math"

// Rate is a share of a sample, with the interval in which the true share lies
// with 95 % confidence (Wilson's score interval: it is valid for small samples and for shares
// near 0 and 1).
type Rate struct {
	K    int     `json:"k"` // of N
	N    int     `json:"n"`
	Of1  float64 `json:"rate"` // K/N, from 0 to 1; 0 where N is 0
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// z95 is the quantile of the normal distribution that leaves 2.5 % on each side.
const z95 = 1.959963984540054

// rate returns k of n with its interval, which is 0 to 1 if n is 0.
func rate(k, n int) Rate {
	if n == 0 {
		return Rate{High: 1}
	}
	p, size := float64(k)/float64(n), float64(n)
	z2 := z95 * z95
	middle := (p + z2/(2*size)) / (1 + z2/size)
	half := z95 * math.Sqrt(p*(1-p)/size+z2/(4*size*size)) / (1 + z2/size)
	return Rate{K: k, N: n, Of1: round(p), Low: round(max(0, middle-half)), High: round(min(1, middle+half))}
}

// round keeps four digits: more are noise in samples of thousands.
func round(f float64) float64 { return math.Round(f*1e4) / 1e4 }
