package mask

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// product is a secret without a prefix whose name identifies the issuer, and whose
// value has exactly that issuer's form.
type product struct {
	kind  string
	word  string // in the name
	run   rows.Run
	check func(string) bool // of the value; nil: it is not filler
	bare  bool              // the name need not contain a word for a key
}

func newProduct(kind string, form rows.Form) product {
	p := product{kind: kind, word: form.Prefix, run: form.After}
	for _, w := range form.Words {
		p.bare = p.bare || w == "bare"
		if check := checkNamed(w); check != nil {
			p.check = check
		}
	}
	return p
}

// keyWords are words in names of keys, in addition to the name of the product.
var keyWords = []string{"key", "token", "secret", "api", "auth", "access", "login", "pass", "contribsys"}

func (f *Formats) appendProducts(found []span, t scanned) []span {
	for _, p := range f.named {
		for from := 0; ; {
			i := strings.Index(t.low[from:], p.word)
			if i < 0 {
				break
			}
			i += from
			from = i + len(p.word)
			if s, ok := p.find(t, i); ok {
				found = append(found, s)
				from = max(from, s.End)
			}
		}
	}
	return found
}

var productReadings = [...]func(namedSecret, scanned) (assignment, bool){
	namedSecret.assigned, namedSecret.typed, namedSecret.elsewhere, namedSecret.listed, namedSecret.element, namedSecret.property, namedSecret.set,
}

// find returns the value that is assigned to the name around the word at i.
func (p product) find(t scanned, i int) (span, bool) {
	w := readName(t, i, len(p.word))
	if !p.bare && !slices.ContainsFunc(keyWords, func(k string) bool { return strings.Contains(w.name, k) }) {
		return span{}, false
	}
	for _, read := range productReadings {
		if a, ok := read(w, t); ok && p.fits(a.value) {
			return span{a.start, a.end, p.kind}, true
		}
	}
	a, ok := w.behind(t)
	return span{a.start, a.end, p.kind}, ok && p.bare && p.fits(a.value)
}

// fits reports whether a value has the product's form.
func (p product) fits(v string) bool {
	if len(v) < p.run.Min || p.run.Max >= 0 && len(v) > p.run.Max || Run(v, 0, len(v), p.run.Class.Has) != len(v) {
		return false
	}
	if p.check != nil {
		return p.check(v)
	}
	return HasDigit(v) && !filler(v)
}

// behind reads the word that follows the name: sourcegraph 0a1b….
func (w namedSecret) behind(t scanned) (assignment, bool) {
	at := Run(t.raw, w.end, min(len(t.raw), w.end+4), Blank)
	if at == w.end {
		return assignment{}, false
	}
	return assignment{name: w.name}.readValue(t.raw, at)
}
