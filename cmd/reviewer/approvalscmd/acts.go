package approvalscmd

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"
)

// choice is what a letter does with an item of a kind.
type choice struct {
	letter   key
	word     string
	tightens bool // the letter is enough
}

// choices returns what can be done with an item.
func (b *board) choices(k kind) []choice {
	switch {
	case k == question:
		return []choice{{'a', "approve", false}, {'s', "for the session", false}, {'p', "and propose", false}, {'d', "deny", true},
			{'x', "deny and stop", true}}
	case k == stopped:
		return []choice{{'r', "resume", false}}
	case b.each:
		return []choice{{'o', "allow once", false}, {'s', "for the session", false}}
	}
	return []choice{{'a', "allow once", false}, {'s', "for the session", false}}
}

// order is what a person wants done with an item.
type order struct {
	item    item
	word    string
	approve bool // not a denial
	session bool
	propose bool // approve: also propose a rule
	stop    bool
	message string
}

// orderOf returns the order of a letter; nil: it does nothing with the item.
func (b *board) orderOf(k key, i *item) *order {
	for _, c := range b.choices(i.kind) {
		if c.letter == k {
			return &order{item: *i, word: c.word, approve: !c.tightens, session: k == 's', propose: k == 'p', stop: k == 'x'}
		}
	}
	return nil
}

// signed reports whether an order counts only with the person's signature. A denial does not need one, but its message to the
// agent does.
func (o *order) signed() bool { return o.approve || o.message != "" }

// pairLetters are the characters of pairs: none of them looks like another, in any usual font.
const pairLetters = "acdefhjkmnprtwxy3479"

// pairLength is how many characters follow the letter of an act.
const pairLength = 2

// drawPair returns two characters by chance.
func drawPair() string {
	b := make([]byte, pairLength)
	for i := range b {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(pairLetters))))
		if err != nil { // crypto/rand has not failed since Go 1.24
			return ""
		}
		b[i] = pairLetters[n.Int64()]
	}
	return string(b)
}

// maxWrong is how many wrong pairs in a row wipe the key: then somebody types who does not see the screen.
const maxWrong = 3

// confirm asks for what an order needs besides its letter: the pair that is shown next to the item or, if no key is kept, the
// approval code.
func (b *board) confirm(o *order) result {
	if !o.signed() {
		b.pair = b.draw()
		return result{order: o}
	}
	b.confirming, b.typed = o, make([]byte, 0, 4*maxTyped) // so that no copy of it is left behind
	return result{}
}

// maxTyped is how many characters of a code are read.
const maxTyped = 64

// forget drops what was being typed.
func (b *board) forget() {
	clear(b.typed)
	b.writing, b.message, b.confirming, b.typed, b.pair = nil, "", nil, nil, b.draw()
}

// takes reports whether a key counts. Pasted text is the approval code or nothing: it could answer questions.
func (b *board) takes(k typedKey) bool {
	return !k.pasted || b.confirming != nil && !b.open && k.key != keyEnter
}

// answer takes a key of what an order needs.
func (b *board) answer(k key) result {
	o := b.confirming
	switch {
	case k == keyEscape:
		b.forget()
	case k == keyEnter && !o.approve && len(b.typed) == 0:
		b.forget()
		o.message = ""
		return result{order: o}
	case k == keyEnter && !b.open:
		code := bytes.Clone(b.typed)
		b.forget()
		return result{order: o, code: code}
	case k == keyErase:
		_, n := utf8.DecodeLastRune(b.typed)
		b.typed = b.typed[:len(b.typed)-n]
	case k > 0 && unicode.IsPrint(rune(k)) && len(b.typed) < maxTyped:
		if b.typed = utf8.AppendRune(b.typed, rune(k)); b.open && utf8.RuneCount(b.typed) == pairLength {
			return b.compare()
		}
	}
	return result{}
}

// compare compares what was typed with the pair. Whatever it was, the next act has another one.
func (b *board) compare() result {
	o, right := b.confirming, b.pair != "" && string(b.typed) == b.pair
	b.forget()
	if right {
		b.wrong = 0
		return result{order: o}
	}
	if b.wrong++; b.wrong < maxWrong {
		b.status = "nothing was done: these are not the characters next to " + o.item.ID + ", which are new ones now"
		return result{}
	}
	b.wrong = 0
	b.status = "nothing was done: wrong characters again; the key was wiped, and the next act asks for the approval code"
	return result{wipe: true}
}

// actsText lists the acts on an item, each as it must be typed.
func (b *board) actsText(i *item) string {
	var list []string
	for _, c := range b.choices(i.kind) {
		text := string(rune(c.letter))
		if !c.tightens && b.open {
			text += b.pair
		}
		list = append(list, text+" "+c.word)
	}
	text := strings.Join(list, ", ")
	if !b.open {
		text += " (with the code)"
	}
	return text
}

// asking says what an order still needs.
func (b *board) asking() string {
	o := b.confirming
	what := o.word + " " + o.item.ID
	switch {
	case o.session:
		what = strings.TrimSuffix(b.choices(o.item.kind)[0].word, " once") + " " + o.item.ID + " for the session"
	case o.propose:
		what = "approve " + o.item.ID + " and propose an exception"
	}
	switch {
	case b.open && o.approve:
		return fmt.Sprintf("%s: type %s, or esc: %s", what, b.pair, b.typed)
	case b.open:
		return fmt.Sprintf("%s: type %s to send the message, enter to %s without it, or esc: %s", what, b.pair, o.word, b.typed)
	case o.approve:
		return what + ": approval code and enter, or esc: " + strings.Repeat("*", utf8.RuneCount(b.typed))
	}
	return fmt.Sprintf("%s: approval code to send the message, enter to %s without it, or esc: %s", what, o.word,
		strings.Repeat("*", utf8.RuneCount(b.typed)))
}
