package main

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// secretKind makes secrets that anyone who looks for secrets knows.
type secretKind struct {
	name string
	make func(*grower) string
}

// grower makes one string, and notes what of it nobody may see.
type grower struct {
	random *rand.Rand
	secret []string
}

// The alphabets of secrets.
const (
	lettersDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	upperBase32   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	hexDigits     = "0123456789abcdef"
	tenDigits     = "0123456789"
)

// hidden returns n characters that are secret.
func (g *grower) hidden(alphabet string, n int) string {
	s := g.open(alphabet, n)
	g.secret = append(g.secret, s)
	return s
}

func (g *grower) open(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[g.random.IntN(len(alphabet))]
	}
	return string(b)
}

// password is one that the rules of a login accept: a letter of each case, a
// digit and something else.
func (g *grower) password() string {
	p := "x" + g.open(lettersDigits, 5) + "-" + g.open(lettersDigits, 3) + "7Q"
	g.secret = append(g.secret, p)
	return p
}

func (g *grower) keyBlock(lines int) string {
	var b strings.Builder
	b.WriteString("-----BEGIN RSA PRIVATE KEY-----\n")
	for range lines {
		b.WriteString(g.hidden(lettersDigits, 64) + "\n")
	}
	return b.String() + "-----END RSA PRIVATE KEY-----\n"
}

// secretKinds are texts that say by themselves that they hold a secret,
// wherever they stand.
func secretKinds() []secretKind {
	return []secretKind{
		{"github token", func(g *grower) string { return "ghp_" + g.hidden(lettersDigits, 36) }},
		{"password in a url", func(g *grower) string { return "https://kim:" + g.password() + "@example.com/shop" }},
		{"aws key pair", func(g *grower) string {
			return "AWS_ACCESS_KEY_ID=AKIA" + g.hidden(upperBase32, 16) + " AWS_SECRET_ACCESS_KEY=" + g.hidden(lettersDigits, 40)
		}},
		{"private key", func(g *grower) string { return g.keyBlock(3) }},
		{"bearer header", func(g *grower) string { return "Authorization: Bearer " + g.hidden(lettersDigits, 40) }},
		{"slack token", func(g *grower) string {
			return "xoxb-" + g.open(tenDigits, 12) + "-" + g.open(tenDigits, 12) + "-" + g.hidden(lettersDigits, 24)
		}},
		{"api key", func(g *grower) string { return "api_key=" + g.hidden(lettersDigits, 32) }},
		{"jwt", func(g *grower) string {
			payload := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"` + g.open(tenDigits, 12) + `","admin":true}`))
			return "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + payload + "." + g.hidden(lettersDigits, 43)
		}},
		{"database url", func(g *grower) string { return "postgres://shop:" + g.password() + "@db.example.com:5432/shop" }},
		{"option", func(g *grower) string { return "login --password " + g.password() }},
		{"json in json", func(g *grower) string {
			return `{"body":"{\"client_secret\":\"` + g.hidden(lettersDigits, 32) + `\"}"}`
		}},
		{"encoded url", func(g *grower) string {
			return "redis://:" + g.hidden(lettersDigits, 12) + "%21@cache.example.com:6379/0"
		}},
	}
}

// garden remembers every secret that was planted, and finds what shows of it.
type garden struct {
	needles map[int]map[string]string // by length: a piece of a secret -> where it was planted
}

func newGarden() *garden { return &garden{needles: map[int]map[string]string{}} }

// plant makes a string from a kind. The same place gets the same text in each run.
func (g *garden) plant(where string, k secretKind) string {
	where += ", " + k.name
	h := fnv.New64a()
	h.Write([]byte(where))
	grow := &grower{random: rand.New(rand.NewPCG(h.Sum64(), 1))}
	text := k.make(grow)
	for _, secret := range grow.secret {
		g.hide(where, secret)
	}
	g.digests(where, text)
	return text
}

// Lengths of what is searched for: so much of a secret is not seen by chance.
const (
	piece      = 8
	hexPiece   = 16
	digestPart = 16
)

// hide lets nobody see a secret, nor a part of it, in any of its spellings.
func (g *garden) hide(where, secret string) {
	g.pieces(where, secret, piece)
	g.pieces(where+" (in hex)", hex.EncodeToString([]byte(secret)), hexPiece)
	for shift := range 3 {
		// What precedes a secret shifts its base64; ends differ with what
		// is next to it.
		code := base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + secret))
		g.pieces(where+" (in base64)", code[4:len(code)-2], piece)
	}
	g.digests(where, secret)
	word := fnv.New32a()
	word.Write([]byte(strings.ToLower(secret)))
	g.needle(where+" (hash of the word)", fmt.Sprintf(`"%08x"`, word.Sum32()))
}

// digests lets nobody see a digest that anyone could compute, since a short
// secret can be guessed from it.
func (g *garden) digests(where, text string) {
	b := []byte(text)
	sha, old, older, long := sha256.Sum256(b), sha1.Sum(b), md5.Sum(b), sha512.Sum512(b)
	for name, sum := range map[string][]byte{"SHA-256": sha[:], "SHA-1": old[:], "MD5": older[:], "SHA-512": long[:]} {
		g.needle(where+" ("+name+" without a key)", hex.EncodeToString(sum)[:digestPart])
	}
}

func (g *garden) pieces(where, secret string, n int) {
	// The records' own digests are in hex, and other ones in each run.
	if strings.Trim(secret, hexDigits) == "" {
		n = hexPiece
	}
	n = min(n, len(secret))
	for i := range len(secret) - n + 1 {
		g.needle(where, secret[i:i+n])
	}
}

func (g *garden) needle(where, text string) {
	if g.needles[len(text)] == nil {
		g.needles[len(text)] = map[string]string{}
	}
	g.needles[len(text)][text] = where
}

// leak is a secret that shows.
type leak struct {
	where string // it was planted
	near  string // what is around it
}

// find returns what shows of secrets in a string, each place of planting once.
func (g *garden) find(text []byte) []leak {
	var found []leak
	seen := map[string]bool{}
	for n, pieces := range g.needles {
		for i := 0; i+n <= len(text); i++ {
			where, hit := pieces[string(text[i:i+n])]
			if hit && !seen[where] {
				seen[where] = true
				found = append(found, leak{where, string(text[max(0, i-60):min(len(text), i+n+40)])})
			}
		}
	}
	return found
}
