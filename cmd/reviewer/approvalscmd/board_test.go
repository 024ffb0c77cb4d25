package approvalscmd

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// questions makes requests with ids such as q1.
func questions(ids ...int) []item {
	var list []item
	for _, n := range ids {
		list = append(list, item{Request: approval.Request{ID: fmt.Sprint("q", n), Session: "shop", Harness: "claude-code", Tool: "Bash",
			Action: fmt.Sprint("npm publish ", n), Reasons: []string{"it publishes"}, Risk: &engine.Risk{Level: "high"},
			Until: noon.Add(time.Minute).UnixMilli(), Digest: strings.Repeat("d", 64)}})
	}
	return list
}

// newBoard returns a board with items, whose pairs are k1, k2, … in the order in which they are drawn. open: the key is kept.
func newBoard(open bool, list ...item) *board {
	n := 0
	b := &board{open: open, draw: func() string { n++; return fmt.Sprint("k", n%10) }}
	b.update(list, noon)
	return b
}

// pressed plays keys on a board, a second apart, and describes what they led to. In them, ## stands for the pair that is shown.
func pressed(b *board, text string) string {
	var done []string
	k, at := &keys{}, noon
	for i, part := range strings.Split(text, "##") {
		if i > 0 {
			part = b.pair + part
		}
		for _, typed := range k.read([]byte(part)) {
			if !b.takes(typed) {
				continue
			}
			at = at.Add(time.Second)
			r := b.press(typed.key, at)
			switch o := r.order; {
			case r.quit:
				done = append(done, "quit")
			case r.suspend:
				done = append(done, "suspend")
			case r.wipe:
				b.open = false
				done = append(done, "wipe")
			case r.show != nil:
				b.shown = &shownDocument{Request: r.show.Request}
				done = append(done, "show "+r.show.ID)
			case o != nil:
				line := o.item.ID + " " + o.word
				if o.message != "" {
					line += fmt.Sprintf(" %q", o.message)
				}
				if r.code != nil {
					line += " with " + string(r.code)
				}
				done = append(done, line)
			}
		}
	}
	return strings.Join(done, "; ")
}

func TestBoardKeys(t *testing.T) {
	for text, want := range map[string]string{
		"a##":                                   "q1 approve",
		"ja##":                                  "q2 approve",
		"\x1b[B\x1b[Bs##":                       "q3 for the session",
		"jjjjjkka##":                            "q1 approve",
		"jdno, use staging\r##":                 `q2 deny "no, use staging"`,
		"jdno, use staging\r\r":                 "q2 deny",
		"p##":                                   "q1 and propose",
		"x\r":                                   "q1 deny and stop",
		"dabc\x7f\x7fx\r##":                     `q1 deny "ax"`,
		"dq\x1b[Aa\x1ba":                        "", // of a message; the last is Alt and a key
		"j\ra##":                                "show q2; q2 approve",
		"\rjjqq":                                "show q1; quit",
		"d\x03":                                 "quit",
		"a\x03":                                 "quit",
		"\x1a":                                  "suspend",
		"\x1b[200~aaa\rq\x1b[201~":              "", // pasted
		"a\x1b[200~k1\x1b[201~":                 "",
		"\x1b[5~\x1bOP\x1b[1;5C":                "", // other keys
		"d\x1b[200~pasted\x1b[201~typed\r##":    `q1 deny "typed"`,
		"":                                      "",
		"dзона\x7f\r##":                         `q1 deny "зон"`,
		"z?\x00":                                "",
		"r##o##n":                               "", // of other items
		"a\x1ba##":                              "q1 approve",
		"a##a##":                                "q1 approve; q1 approve",
		"ak\x7f##":                              "q1 approve",
		"azza##":                                "q1 approve",
		"azzazzazz":                             "wipe",
		"azza##azzazza##":                       "q1 approve; q1 approve", // not in a row
		"d" + strings.Repeat("x", 900) + "\r##": fmt.Sprintf("q1 deny %q", strings.Repeat("x", 400)),
	} {
		if got := pressed(newBoard(true, questions(1, 2, 3)...), text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Without a key in memory, each act needs the code, but a denial without a message.
func TestBoardAsksForTheCode(t *testing.T) {
	for text, want := range map[string]string{
		"aABCD\r":                             "q1 approve with ABCD",
		"a\x1b[200~AB\rCD\x1b[201~":           "", // it is not sent before a key is pressed
		"a\x1b[200~ABCD\x1b[201~\r":           "q1 approve with ABCD",
		"aABX\x7fCD\rjsX\r":                   "q1 approve with ABCD; q2 for the session with X",
		"aAB\x1b":                             "",
		"d\r":                                 "q1 deny",
		"dno\rABCD\r":                         `q1 deny "no" with ABCD`,
		"dno\r\r":                             "q1 deny",
		"a##":                                 "",
		"azzazzazzq":                          "",
		"a" + strings.Repeat("A", 100) + "\r": "q1 approve with " + strings.Repeat("A", maxTyped),
	} {
		b := newBoard(false, questions(1, 2, 3)...)
		if got := pressed(b, text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		for _, size := range [][2]int{{80, 24}, {30, 8}} {
			if shown := strings.Join(b.lines(size[0], size[1], term.Paint{}, noon), "\n"); strings.Contains(shown, "ABCD") || strings.Contains(shown, b.pair) {
				t.Errorf("%q: it shows %s", text, shown)
			}
		}
	}
}

// calls are a denied call and a stopped session.
func calls() []item {
	return []item{
		{kind: denied, record: &engine.Record{Kind: engine.KindPre}, Request: approval.Request{ID: "c1", Session: "shop", Harness: "claude-code",
			Tool: "Bash", Action: "rm -rf ../old", Reasons: []string{"outside the workspace"}, Asked: noon.UnixMilli()}},
		{kind: denied, record: &engine.Record{Kind: engine.KindPre}, Request: approval.Request{ID: "c2", Session: "shop", Harness: "claude-code"}},
		{kind: stopped, Request: approval.Request{ID: "shop-2", Session: "shop-2", Harness: "claude-code", Reasons: []string{"it repeats itself"}}},
	}
}

func TestBoardOfCallsAndSessions(t *testing.T) {
	for text, want := range map[string]string{
		"a##": "c1 allow once", "s##": "c1 for the session", "jjr##": "shop-2 resume", "jjjra##": "", "dxp##": "", "\rs##": "show c1; c1 for the session",
		"o##": "",
	} {
		if got := pressed(newBoard(true, calls()...), text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"o##": "c1 allow once", "ns##": "c2 for the session", "nn": "quit", "q": "quit", "no##n": "c2 allow once; quit", "a##": "",
	} {
		b := newBoard(true, calls()[:2]...)
		b.each, b.shown = true, &shownDocument{Request: b.chosen.Request}
		if got := pressed(b, text); got != want {
			t.Errorf("one after another, %q: %s, want %s", text, got, want)
		}
	}
	lines := strings.Join(newBoard(true, calls()...).lines(100, 30, term.Paint{}, noon), "\n")
	for _, want := range []string{"2 denied calls, 1 stopped session", "rm -rf ../old", "outside the workspace", "session shop-2 of claude-code", "it repeats itself", "ak1 allow once, sk1 for the session"} {
		if !strings.Contains(lines, strings.ReplaceAll(want, "k1", newBoard(true, calls()...).pair)) {
			t.Errorf("%q is not in\n%s", want, lines)
		}
	}
}

// Each act has other characters, and so has whatever is selected.
func TestPairs(t *testing.T) {
	b := newBoard(true, questions(1, 2)...)
	seen := []string{b.pair}
	differs := func(when string) {
		t.Helper()
		if slices.Contains(seen, b.pair) {
			t.Errorf("%s: %s is among those before, %v", when, b.pair, seen)
		}
		seen = append(seen, b.pair)
	}
	pressed(b, "a##")
	differs("after an act")
	pressed(b, "azz")
	differs("after a wrong one")
	pressed(b, "a\x1b")
	differs("after none")
	pressed(b, "j")
	differs("of another item")
	list := questions(1, 2)
	list[1].Action = "npm publish --force"
	b.update(list, noon.Add(time.Hour))
	differs("of other contents")
	b.update(questions(1), noon.Add(time.Hour))
	differs("of the item in its place")
	before := b.pair
	b.update(questions(1), noon.Add(time.Hour))
	if b.pair != before {
		t.Error("it changes while nothing else does")
	}
	// what was begun does not go on with other contents
	b = newBoard(true, list...)
	pressed(b, "a")
	list = questions(1, 2)
	list[0].Action = "npm unpublish"
	b.update(list, noon.Add(time.Hour))
	if got := pressed(b, "##"); got != "" || b.confirming != nil {
		t.Errorf("it is approved with other contents: %s", got)
	}
}

func TestDrawPair(t *testing.T) {
	seen := map[string]int{}
	for range 4000 {
		pair := drawPair()
		if len(pair) != pairLength || strings.Trim(pair, pairLetters) != "" {
			t.Fatalf("%q", pair)
		}
		seen[pair]++
	}
	if len(seen) < 390 { // of 400; with equal chances all but a few are drawn
		t.Errorf("%d different pairs", len(seen))
	}
	for _, alike := range []string{"0oO", "1lI", "5sS", "2zZ", "8B", "6b", "9gq", "uv", "vy"} {
		n := 0
		for _, c := range alike {
			n += strings.Count(pairLetters, string(c))
		}
		if n > 1 {
			t.Errorf("%q look alike", alike)
		}
	}
}

// A key that was meant for a question which has just gone does not answer the one in its place.
func TestBoardChanges(t *testing.T) {
	b := newBoard(true)
	if b.update(calls()[:2], noon) || !b.update(questions(1, 2), noon) {
		t.Error("only new questions and stops ring the bell")
	}
	later := noon.Add(time.Minute)
	b.press('j', later)
	if b.update(questions(1), later) {
		t.Error("it rings because a question went")
	}
	if b.press('a', later.Add(settle/2)); b.confirming != nil || b.status == "" {
		t.Errorf("%+v, %q", b.confirming, b.status)
	}
	if b.press('a', later.Add(settle)); b.confirming == nil || b.confirming.item.ID != "q1" {
		t.Errorf("%+v", b.confirming)
	}
	b.press(keyEscape, later.Add(time.Minute))
	b.press('d', later.Add(time.Minute))
	b.press('n', later.Add(time.Minute))
	if b.update(questions(2), later.Add(time.Minute)); b.writing != nil || b.status != "question q1 no longer waits" {
		t.Errorf("%+v, %q", b.writing, b.status)
	}
	b.update(nil, later)
	if got := pressed(b, "a\rdjq"); got != "quit" {
		t.Errorf("on an empty list: %s", got)
	}
}

// However many questions there are, what is drawn fits the terminal, and the chosen one is seen.
func TestBoardFits(t *testing.T) {
	var many []int
	for i := range 500 {
		many = append(many, i)
	}
	b := newBoard(true, append(questions(many...), calls()...)...)
	b.list[300].Action = "echo \u202e" + strings.Repeat("long ", 200) + "\x1b[2J"
	for _, size := range [][2]int{{80, 24}, {40, 10}, {200, 60}, {20, 5}} {
		for _, at := range []int{0, 7, 300, 499, 500} {
			b.chosen, b.shown = &b.list[at], nil
			lines := b.lines(size[0], size[1], term.Paint{}, noon)
			fits(t, lines, size)
			if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "> "+b.chosen.ID) }) {
				t.Errorf("%v: %s is not seen", size, b.chosen.ID)
			}
			b.shown = &shownDocument{Request: b.list[at].Request}
			for b.scroll = range 40 {
				fits(t, b.lines(size[0], size[1], term.Paint{}, noon), size)
			}
			b.scroll = 0
		}
	}
}

func fits(t *testing.T, lines []string, size [2]int) {
	t.Helper()
	if len(lines) >= size[1] {
		t.Errorf("%v: %d lines", size, len(lines))
	}
	for _, l := range lines {
		if term.Width(l) >= max(size[0], 21) || len(term.Hidden(l)) > 0 {
			t.Errorf("%v: %d columns: %.100q", size, term.Width(l), l)
		}
	}
}

func TestPairOf(t *testing.T) {
	list := []approval.Content{{Name: "content", Text: "c"}, {Name: "edits[0].newText", Text: "b\n"}, {Name: "edits[0].oldText", Text: "a\n"},
		{Name: "new_string", Text: "alone"}}
	got := ChangesOf(nil, &approval.Request{Contents: list})
	if len(got) != 3 || got[1].Name != "edits[0].newText" || !got[1].Diff || !strings.Contains(got[1].Text, "-a\n+b\n") || got[2].Diff {
		t.Errorf("%+v", got)
	}
}
