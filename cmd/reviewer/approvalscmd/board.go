package approvalscmd

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// settle is how long an item must have been selected before a key decides about it: a list
// that changes while a key is pressed must not redirect the decision to another item.
const settle = 600 * time.Millisecond

// board is what `reviewer approvals watch` and `reviewer allow --each` show, and what keys do to it. It reads no clock
// and no file, which makes it testable.
type board struct {
	list    []item
	chosen  *item     // the selected item, as it was shown; nil: none
	since   time.Time // when it was selected, if not by a key
	shown   *shownDocument
	scroll  int
	writing *order // the denial whose message is being typed
	message string
	status  string
	started bool

	each       bool          // the calls are shown one after another, with the letters of `reviewer allow --each`
	open       bool          // the person's key is kept, so that a pair is enough
	draw       func() string // draws a pair
	pair       string        // the characters that follow the letter of an act on the selected item
	wrong      int           // wrong pairs in a row
	confirming *order        // the order that needs a pair or the code
	typed      []byte        // of it
}

// result is the effect of a key.
type result struct {
	quit    bool
	suspend bool
	wipe    bool // the key
	show    *item
	order   *order
	code    []byte // the approval code that was typed for the order; nil: none was needed
}

// update takes what waits for a decision now, and reports whether a question or a stop is new.
func (b *board) update(list []item, now time.Time) (fresh bool) {
	for i := range list {
		fresh = fresh || list[i].kind != denied && !slices.ContainsFunc(b.list, func(o item) bool { return o.is(&list[i]) })
	}
	at := b.at()
	b.list = list
	fresh, b.started = fresh && b.started, true
	switch place := b.at(); {
	case b.chosen == nil || place < 0:
		b.leave("no longer waits")
		b.choose(max(at, 0))
		b.since = now
	case !reflect.DeepEqual(b.chosen.Request, list[place].Request):
		b.leave("has changed: look at it again")
		b.choose(place)
		b.since = now
	}
	return fresh
}

// leave ends what is being shown or typed about the selected item.
func (b *board) leave(why string) {
	if b.chosen != nil && (b.shown != nil || b.writing != nil || b.confirming != nil) {
		b.status = b.chosen.name() + " " + why
	}
	b.shown, b.scroll = nil, 0
	b.forget()
}

// at returns the place of the selected item in the list; -1: it is not there.
func (b *board) at() int {
	if b.chosen == nil {
		return -1
	}
	return slices.IndexFunc(b.list, func(i item) bool { return i.is(b.chosen) })
}

func (b *board) choose(i int) {
	if b.chosen = nil; len(b.list) > 0 {
		one := b.list[max(0, min(i, len(b.list)-1))]
		b.chosen = &one
	}
	b.pair = b.draw()
}

// press takes a key.
func (b *board) press(k key, now time.Time) result {
	switch {
	case k == keyQuit:
		b.forget()
		return result{quit: true}
	case k == keyStop:
		b.forget()
		return result{suspend: true}
	case b.confirming != nil:
		return b.answer(k)
	case b.writing != nil:
		return b.write(k)
	}
	b.status = ""
	switch {
	case k == 'q' && (b.shown == nil || b.each):
		return result{quit: true}
	case k == 'q' || k == keyEscape:
		b.shown, b.scroll = nil, 0
	case k == keyDown || k == 'j':
		b.move(1)
	case k == keyUp || k == 'k':
		b.move(-1)
	case b.at() < 0:
	case k == 'n' && b.each:
		return b.next()
	case k == keyEnter && b.shown == nil:
		return result{show: b.chosen}
	default:
		return b.begin(k, now)
	}
	return result{}
}

func (b *board) move(by int) {
	if b.shown != nil {
		b.scroll = max(b.scroll+by, 0)
		return
	}
	b.choose(b.at() + by)
	b.since = time.Time{}
}

// next goes to the next call, or quits after the last.
func (b *board) next() result {
	at := b.at()
	if at == len(b.list)-1 {
		return result{quit: true}
	}
	b.shown, b.scroll = nil, 0
	b.choose(at + 1)
	b.since = time.Time{}
	return result{}
}

// begin begins an act on the selected item.
func (b *board) begin(k key, now time.Time) result {
	o := b.orderOf(k, b.chosen)
	if o == nil {
		return result{}
	}
	if b.shown == nil && now.Sub(b.since) < settle {
		b.status = "the list has just changed: check the selection, then press the key again"
		return result{}
	}
	if o.approve {
		return b.confirm(o)
	}
	b.writing, b.message = o, ""
	return result{}
}

// write takes a key of a message.
func (b *board) write(k key) result {
	switch {
	case k == keyEscape:
		b.writing, b.message = nil, ""
	case k == keyEnter:
		o := b.writing
		o.message = strings.TrimSpace(b.message)
		b.writing, b.message = nil, ""
		return b.confirm(o)
	case k == keyErase:
		if r := []rune(b.message); len(r) > 0 {
			b.message = string(r[:len(r)-1])
		}
	case k > 0 && unicode.IsPrint(rune(k)) && len(b.message) < 400:
		b.message += string(rune(k))
	}
	return result{}
}

// lines draws the board for a terminal.
func (b *board) lines(width, height int, paint term.Paint, now time.Time) []string {
	p := func() term.Page { return term.Page{Buffer: &bytes.Buffer{}, Paint: paint, Width: max(width-1, 20)} }
	top, foot := p(), p()
	top.Line(term.Coloured(b.title(), term.Bold))
	top.Line(term.Coloured(b.help(), term.Faint))
	body := p()
	at := b.body(body, now)
	switch {
	case b.confirming != nil:
		foot.Line(term.Coloured(tail(b.asking()+"_", width-1), term.Held))
	case b.writing != nil:
		what := "deny "
		if b.writing.stop {
			what = "deny and stop the session of "
		}
		foot.Line(term.Coloured(tail(what+b.writing.item.ID+", message: "+b.message+"_", width-1), term.Held))
	default:
		foot.Line(term.Coloured(b.status, term.Warn))
	}
	return slices.Concat(rows(top), window(rows(body), at, max(height-4, 1)), rows(foot))
}

// tail returns the end of a string: what is being typed stays visible.
func tail(s string, width int) string {
	if r := []rune(s); len(r) > width && width > 1 {
		return "…" + string(r[len(r)-width+1:])
	}
	return s
}

func (b *board) title() string {
	if len(b.list) == 0 {
		return "nothing waits for a decision"
	}
	n := map[kind]int{}
	for i := range b.list {
		n[b.list[i].kind]++
	}
	var parts []string
	for _, part := range []struct {
		n         int
		one, many string
	}{
		{n[question], "question waits for an answer", "questions wait for an answer"}, {n[denied], "denied call", "denied calls"},
		{n[stopped], "stopped session", "stopped sessions"},
	} {
		if part.n > 0 {
			parts = append(parts, term.Counted(part.n, part.one, part.many))
		}
	}
	return strings.Join(parts, ", ")
}

func (b *board) help() string {
	switch {
	case b.confirming != nil || b.writing != nil:
		return "enter: send, esc: back"
	case b.shown != nil && b.each:
		return b.actsText(b.chosen) + "; n next, j/k scroll, q quit"
	case b.shown != nil:
		return b.actsText(b.chosen) + "; j/k scroll, q back"
	}
	return "j/k select, enter show, q quit; what can be done is below the selection"
}

// body draws the list or one item, and returns the line to keep in view.
func (b *board) body(p term.Page, now time.Time) int {
	if b.shown != nil {
		b.chosen.print(p, b.shown, now)
		b.scroll = min(b.scroll, max(bytes.Count(p.Bytes(), []byte("\n"))-1, 0))
		return -b.scroll
	}
	at := 0
	for i := range b.list {
		one := &b.list[i]
		if b.chosen == nil || !b.chosen.is(one) {
			one.row(p, term.Plain("  "), now)
			continue
		}
		at = bytes.Count(p.Bytes(), []byte("\n"))
		one.row(p, term.Coloured("> ", term.Bold), now)
		p.Line(term.Plain("    "), term.Coloured(b.actsText(one), term.Bold))
	}
	return at
}

func rows(p term.Page) []string {
	return strings.Split(strings.TrimSuffix(p.String(), "\n"), "\n")
}

// window returns the part of a string that is in view: a negative at is the number of lines to
// scroll down from the top; otherwise line at and the three below it stay in view.
func window(text []string, at, height int) []string {
	from := 0
	switch {
	case at < 0:
		from = min(-at, max(len(text)-1, 0))
	case at+4 > height:
		from = min(at+4-height, at)
	}
	return text[from:min(from+height, len(text))]
}
