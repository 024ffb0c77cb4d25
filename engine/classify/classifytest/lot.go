package classifytest

import (
	"math/rand/v2"
	"slices"
)

const lotLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// Lot draws a secret of n letters and digits, with some of each.
func Lot(rng *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = lotLetters[rng.IntN(len(lotLetters))]
	}
	for i, c := range "aZ7" {
		b[(i*5+3)%n] = byte(c)
	}
	return string(b)
}

// Shares reports whether two lists of marks have one in common.
func Shares(a, b []string) bool {
	return slices.ContainsFunc(a, func(m string) bool { return slices.Contains(b, m) })
}
