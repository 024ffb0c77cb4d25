package mask

import (
	"math"
	"strings"
)

// This file distinguishes filler from random characters.

// mixed reports whether a string has digits and letters of both cases.
func mixed(s string) bool {
	var d, u, l bool
	for i := 0; i < len(s); i++ {
		d = d || Digit(s[i])
		u = u || s[i] >= 'A' && s[i] <= 'Z'
		l = l || s[i] >= 'a' && s[i] <= 'z'
	}
	return d && u && l
}

// repetitive reports whether a string has at most three different characters, as
// examples have: xxxxxxxxxxxx, 0000000.
func repetitive(s string) bool {
	seen := ""
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(seen, s[i]) < 0 {
			if seen += s[i : i+1]; len(seen) > 3 {
				return false
			}
		}
	}
	return true
}

// filler reports whether a value is a placeholder: it has hardly any different
// characters, or a long run of one.
func filler(s string) bool {
	if repetitive(s) || strings.Contains(s, "EXAMPLE") || dull(s) {
		return true
	}
	for i, n := 1, 1; i < len(s); i++ {
		if s[i] != s[i-1] {
			n = 1
			continue
		}
		if n++; n >= 9 && strings.IndexByte("xX0*#.-_", s[i]) >= 0 {
			return true
		}
	}
	return false
}

// drawn reports whether characters look random: they are not filler, not a sequence,
// and not a name.
func drawn(s string) bool { return !filler(s) && !dull(s) && !counted(s) && !nameLike(s) }

// dull reports whether a string of some length has far fewer different characters than a
// random one.
func dull(s string) bool {
	if len(s) < 16 {
		return false
	}
	alphabet := 62.0
	if strings.Trim(s, "0123456789abcdefABCDEF-") == "" {
		alphabet = 16
	}
	if strings.Trim(s, "0123456789-") == "" {
		alphabet = 10
	}
	return entropy(s) < leastEntropy*math.Log2(min(alphabet, float64(len(s))))
}

// leastEntropy is the share of the greatest possible entropy that a random text
// reaches: fewer than one in a million have less.
const leastEntropy = 0.62

// counted reports whether half of a string or more is part of the alphabet or a
// run of consecutive digits.
func counted(s string) bool {
	longest, n := 0, 1
	for i := 1; i < len(s); i++ {
		if s[i] == s[i-1]+1 || s[i] == '0' && s[i-1] == '9' {
			n++
		} else {
			n = 1
		}
		longest = max(longest, n)
	}
	return longest >= 8 && 2*longest >= len(s)
}
