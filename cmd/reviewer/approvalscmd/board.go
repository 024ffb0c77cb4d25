package approvalscmd

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/approval"
)

// settle is how long a question must have been selected before a key answers it: a list
// that changes while a key is pressed must not redirect the answer to another question.
const settle = 600 * time.Millisecond

// board is what `reviewer approvals watch` shows, and what keys do to it. It reads no clock
// and no file, which makes it testable.
type board struct {
	list    []approval.Request
	chosen  string    // id of the selected question
	since   time.Time // when it was selected, if not by a key
	shown   *shownDocument
	scroll  int
	typing  *order // the answer whose message is being typed
	message string
	status  string
	started bool
}

// order is the command of a key.
type order struct {
	question approval.Request
	approve  bool
	session  bool
	propose  bool // approve: also propose a rule
	stop     bool
	message  string
}

// result is the effect of a key.
type result struct {
	quit   bool
	show   *approval.Request
	answer *order
}

// update takes the questions that wait now, and reports whether one is new.
func (b *board) update(list []approval.Request, now time.Time) (fresh bool) {
	for i := range list {
		fresh = fresh || !slices.ContainsFunc(b.list, func(r approval.Request) bool { return r.ID == list[i].ID })
	}
	at := b.at()
	b.list = list
	if fresh = fresh && b.started; !b.started || b.chosen == "" || b.at() < 0 {
		b.choose(max(at, 0))
		b.since = now
	}
	b.started = true
	if gone := b.subject(); gone != "" && !slices.ContainsFunc(list, func(r approval.Request) bool { return r.ID == gone }) {
		b.shown, b.typing, b.message, b.scroll = nil, nil, "", 0
		b.status = "question " + gone + " no longer waits"
	}
	return fresh
}

// subject returns the id of the question that is shown or being answered.
func (b *board) subject() string {
	switch {
	case b.typing != nil:
		return b.typing.question.ID
	case b.shown != nil:
		return b.shown.ID
	}
	return ""
}

func (b *board) at() int {
	return slices.IndexFunc(b.list, func(r approval.Request) bool { return r.ID == b.chosen })
}

func (b *board) choose(i int) {
	b.chosen = ""
	if len(b.list) > 0 {
		b.chosen = b.list[max(0, min(i, len(b.list)-1))].ID
	}
}

// press takes a key.
func (b *board) press(k key, now time.Time) result {
	if k == keyQuit {
		return result{quit: true}
	}
	if b.typing != nil {
		return b.write(k)
	}
	b.status = ""
	switch {
	case k == 'q' && b.shown == nil:
		return result{quit: true}
	case k == 'q' || k == keyEscape:
		b.shown, b.scroll = nil, 0
	case k == keyDown || k == 'j':
		b.move(1)
	case k == keyUp || k == 'k':
		b.move(-1)
	case b.at() < 0:
	case k == keyEnter && b.shown == nil:
		r := b.list[b.at()]
		return result{show: &r}
	case k == 'a' || k == 's' || k == 'p' || k == 'd' || k == 'x':
		return b.order(k, now)
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

// order begins an answer to the selected question.
func (b *board) order(k key, now time.Time) result {
	if b.shown == nil && now.Sub(b.since) < settle {
		b.status = "the list has just changed: check the selection, then press the key again"
		return result{}
	}
	o := &order{question: b.list[b.at()], approve: k == 'a' || k == 's' || k == 'p', session: k == 's',
		propose: k == 'p', stop: k == 'x'}
	if b.shown != nil {
		o.question = b.shown.Request
	}
	if o.approve {
		return result{answer: o}
	}
	b.typing, b.message = o, ""
	return result{}
}

// write takes a key of a message.
func (b *board) write(k key) result {
	switch {
	case k == keyEscape:
		b.typing, b.message = nil, ""
	case k == keyEnter:
		o := b.typing
		o.message = strings.TrimSpace(b.message)
		b.typing, b.message = nil, ""
		return result{answer: o}
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
	case b.typing != nil:
		what := "deny "
		if b.typing.stop {
			what = "deny and stop the session of "
		}
		foot.Line(term.Coloured(tail(what+b.typing.question.ID+", message: "+b.message+"_", width-1), term.Held))
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
		return "no question waits for an answer"
	}
	return term.Counted(len(b.list), "question waits", "questions wait") + " for an answer"
}

func (b *board) help() string {
	switch {
	case b.typing != nil:
		return "enter: send, esc: back"
	case b.shown != nil:
		return "j/k scroll; a approve, s for the session, p and propose; d deny, x stop; q back"
	}
	return "j/k select, enter show; a approve, s for the session, p and propose; d deny, x stop; q quit"
}

// body draws the list or one question, and returns the line to keep in view.
func (b *board) body(p term.Page, now time.Time) int {
	if b.shown != nil {
		printRequest(p, b.shown, now)
		b.scroll = min(b.scroll, max(bytes.Count(p.Bytes(), []byte("\n"))-1, 0))
		return -b.scroll
	}
	at := 0
	for i := range b.list {
		mark := term.Plain("  ")
		if b.list[i].ID == b.chosen {
			at, mark = 3*i, term.Coloured("> ", term.Bold)
		}
		b.row(p, &b.list[i], mark, now)
	}
	return at
}

// row draws a question in three lines.
func (b *board) row(p term.Page, r *approval.Request, mark term.Cell, now time.Time) {
	p.Line(mark, term.Plain(term.Pad(r.ID, 13)), term.Coloured(term.Pad(left(r, now), 12), leftColour(r, now)),
		term.Coloured(term.Pad(levelOf(r), 9), riskColour(levelOf(r))), term.Coloured(r.Session+" of "+r.Harness, term.Faint))
	p.Line(term.Plain("    "+r.Tool+" "), term.Plain(r.Action))
	note := term.Coloured(strings.Join(r.Reasons[:min(1, len(r.Reasons))], ""), term.Faint)
	if hidden := term.Hidden(r.Action); len(hidden) > 0 {
		note = term.Coloured(hiddenNote(hidden), term.Bad)
	}
	p.Line(term.Plain("    "), note)
}

func rows(p term.Page) []string {
	return strings.Split(strings.TrimSuffix(p.String(), "\n"), "\n")
}

// window returns the part of a string that is in view: a negative at is the number of lines to
// scroll down from the top; otherwise line at and the two below it stay in view.
func window(text []string, at, height int) []string {
	from := 0
	switch {
	case at < 0:
		from = min(-at, max(len(text)-1, 0))
	case at+3 > height:
		from = min(at+3-height, at)
	}
	return text[from:min(from+height, len(text))]
}
