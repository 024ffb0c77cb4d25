package mask

import (
	"crypto/sha256"
	"math/big"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// This file finds keys that have no prefix but a recognisable structure.

// clickupForm is the number of a user and 32 capitals and digits.
func clickupForm(rest string) bool {
	user, secret, ok := strings.Cut(rest, "_")
	return ok && Digits(user) == len(user) && len(secret) == 32 && Run(secret, 0, len(secret), upperDigit) == len(secret) && drawn(secret)
}

// leastJWK is the length of the shortest private part of a key (256 bits).
const leastJWK = 43

// appendJWK finds the private part of a key in JSON: "d" where "kty" is near.
func appendJWK(found []span, s string) []span {
	if !strings.Contains(s, `kty`) {
		return found
	}
	for from := 0; ; {
		i := strings.Index(s[from:], `"d`)
		if i < 0 {
			return found
		}
		from += i + len(`"d`)
		begin := headerValue(s, from)
		if begin < 0 {
			continue
		}
		end := Run(s, begin, min(len(s), begin+judged), TokenChar)
		near := s[max(0, from-judged):min(len(s), end+judged)]
		if v := s[begin:end]; len(v) >= leastJWK && mixed(v) && !filler(v) && strings.Contains(near, `kty`) {
			found = append(found, span{begin, end, "jwk_private_key"})
		}
	}
}

// appendWallets finds keys of wallets: 51 or 52 characters of base58 whose last four
// bytes are a checksum of the others.
func appendWallets(found []span, s string) []span {
	for at := 0; at < len(s); at++ {
		if !Alnum(s[at]) {
			continue
		}
		end := Run(s, at, len(s), Alnum)
		if n := end - at; (n == 51 || n == 52) && strings.IndexByte("5KLc9", s[at]) >= 0 && checked58(s[at:end]) {
			found = append(found, span{at, end, "wallet_key"})
		}
		at = end
	}
	return found
}

// appendCodes finds approval codes of reviewer. They are not tried, so that the masking of a text shows nothing.
func appendCodes(found []span, s string) []span {
	for _, at := range engine.CodesIn(s) {
		found = append(found, span{at[0], at[1], "approval_code"})
	}
	return found
}

const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// checked58 reports whether a string is base58 with a checksum that fits.
func checked58(text string) bool {
	n := new(big.Int)
	for i := range len(text) {
		digit := strings.IndexByte(base58, text[i])
		if digit < 0 {
			return false
		}
		n.Add(n.Mul(n, big.NewInt(int64(len(base58)))), big.NewInt(int64(digit)))
	}
	b := n.Bytes()
	if len(b) < 37 {
		return false
	}
	first := sha256.Sum256(b[:len(b)-4])
	second := sha256.Sum256(first[:])
	return string(second[:4]) == string(b[len(b)-4:])
}
