package mask

import "strings"

// This file distinguishes names from random characters. Names of variables, types,
// files and settings consist of words, in which one letter predicts the next.

// letterBits is the surprisal of a letter after another one, in half bits, from a for
// 0. The rows are the letter before, the columns the letter: the end of the word, then
// a to z. It was counted in the names of the standard libraries of Go and Python.
var letterBits = [27]string{
	"zijhijjkljpojjkkipigjkklnqq", // the beginning of a word
	"jojhipnktkrngjhtjshigmmpnnu", // a
	"ghlkmhlnthlrgooimqiimhqqtlr", // b
	"hgolnhnmhkxijmnfnqjjhlmrtoz", // c
	"djnmjfmosgrtlookopjjnlopoox", // d
	"fjoihlllrourjkhploghiqmokpt", // e
	"ginlkignqfyuilmhlujjkjtppnt", // f
	"dkplnfomkiytknjilsiimlqpsss", // g
	"ffqolfprphzpkmohotjljktpvms", // h
	"kklijkkjusvsjjehlrkihsltnzl", // i
	"ggllmglnqipnollhlyrhogolqpy", // j
	"ejpomenkphrukmlmmqnhlnqmrov", // k
	"ghpmjfopqgwohpohnspkklppujs", // l
	"gfknmfpqqhyolkphhspjmjqtrpy", // m
	"gioihhlgqjsmmomjnsphgmmruqt", // n
	"jllhjpllsmtnjifkiwgjjjjkpuu", // o
	"ggplngooljznilqhjsgjikqqrmz", // p
	"ejomkmpqnntrkloqpkjjndtoqoo", // q
	"fhpllenmrhznmllhmskijmoqsmy", // r
	"ekpkogpojhxolnolkpnjgjqorlt", // s
	"fhplnfnqjgyslnpjluhjklqqpkr", // t
	"kkikmjklsjyxhifnjrhhgtutnys", // u
	"hgmkmekpnhwtkkmkinmjlopmpsp", // v
	"ffomlhmojgvqmoihmrhinopoour", // w
	"ejkjlhjqnjtvmmolhqmkgnlplou", // x
	"cnplnlposlstljingwnhkwppqqo", // y
	"fionocsophszopokpznmppsomok", // z
}

// letterEntropy is the surprisal of a word, in half bits.
func letterEntropy(word string) int {
	sum, before := 0, byte(0)
	for i := range len(word) {
		letter := word[i]&^0x20 - 'A' + 1
		sum += int(letterBits[before][letter] - 'a')
		before = letter
	}
	return sum + int(letterBits[before][0]-'a')
}

// The limits of names.
const (
	nameSurprise = 17 // quarters of a bit for each letter and word, on average
	mostSurprise = 11 // the most that a letter of a short word or of capitals counts
	shortWord    = 3  // letters of an abbreviation: ctx, str, id
	acronym      = 6  // capitals in a row: HTTPS
	longName     = 40 // letters without a sign or a capital between them
)

// numerals are numbers of three digits and more in the names of algorithms,
// types and answers of servers; shorter numbers are all allowed. Years are
// in names, too.
const numerals = " 100 128 160 192 200 201 204 224 255 256 301 302 304 320 384 400 401 403 404 409 422 429 448" +
	" 500 501 502 503 504 509 512 521 640 720 1024 1080 1305 2048 3072 4096 8192 16384 25519 32768 65535 65536 "

func numeral(digits string) bool {
	return len(digits) < 3 || strings.Contains(numerals, " "+digits+" ") || len(digits) == 4 && (digits[:2] == "20" || digits[:2] == "19")
}

// wordSplit is the parts of a string.
type wordSplit struct {
	letters, words, bits int
	single, longest      int // words of one letter, and the length of the longest one
	numbers, digits      int
	odd                  bool // a part is in no name
}

// wordingOf splits a string at signs, digits and capitals.
func wordingOf(s string) wordSplit {
	var w wordSplit
	for i := 0; i < len(s) && !w.odd; {
		end := i
		switch c := s[i]; {
		case Digit(c):
			end = Run(s, i, len(s), Digit)
			w.numbers++
			w.digits += end - i
			w.odd = !numeral(s[i:end])
		case Alnum(c):
			end = humpEnd(s, i)
			w.add(s[i:end])
		case strings.IndexByte("_-.:/>", c) >= 0:
			end = i + 1
		default:
			w.odd = true
		}
		i = end
	}
	return w
}

// humpEnd returns the end of the word that begins at i: HTTPServer has two.
func humpEnd(s string, i int) int {
	upper := Run(s, i, len(s), upperChar)
	if upper-i > 1 {
		if upper < len(s) && lowerChar(s[upper]) {
			return upper - 1
		}
		return upper
	}
	return Run(s, upper, len(s), lowerChar)
}

func (w *wordSplit) add(word string) {
	w.letters += len(word)
	w.words++
	bits := letterEntropy(word)
	switch {
	case len(word) > longName:
		w.odd = true
	case len(word) <= shortWord || len(word) <= acronym && upperChar(word[1]):
		bits = min(bits, mostSurprise*(len(word)+1))
	}
	if len(word) == 1 {
		w.single++
	}
	w.longest = max(w.longest, len(word))
	w.bits += bits
}

// name reports whether the parts are those of a name.
func (w wordSplit) name() bool {
	least := 5 // half letters to a word
	if w.words > 5 {
		least = 7
	}
	return !w.odd && w.longest > shortWord && w.single <= 1+w.words/4 && w.letters*2 >= w.words*least &&
		w.digits*2 <= w.letters && w.numbers <= max(1, w.words-1) && 2*w.bits <= nameSurprise*(w.letters+w.words)
}

// nameLike reports whether a value is the name of something: of a variable or a
// field of one, a type, an algorithm, a file, a message. Words and small
// numbers are assembled in it as in names.
func nameLike(s string) bool { return wordingOf(strings.TrimLeft(s, "*&@")).name() }

// compound reports whether words are joined as in the names of code.
func compound(s string) bool {
	for i := 1; i < len(s); i++ {
		if upperChar(s[i]) && !upperChar(s[i-1]) || strings.IndexByte("._>", s[i]) >= 0 {
			return true
		}
	}
	return false
}

// ofType reports whether the numbers in a name are sizes in bits, as those of
// types and algorithms are: Uint8Array.
func ofType(s string) bool {
	for i := 0; i < len(s); i++ {
		if !Digit(s[i]) {
			continue
		}
		end := Run(s, i, len(s), Digit)
		if !strings.Contains(" 8 16 32 64 128 256 384 512 25519 ", " "+s[i:end]+" ") {
			return false
		}
		i = end
	}
	return true
}
