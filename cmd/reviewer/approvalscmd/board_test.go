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
func questions(ids ...int) []approval.Request {
	var list []approval.Request
	for _, n := range ids {
		list = append(list, approval.Request{ID: fmt.Sprint("q", n), Session: "shop", Harness: "claude-code", Tool: "Bash",
			Action: fmt.Sprint("npm publish ", n), Reasons: []string{"it publishes"}, Risk: &engine.Risk{Level: "high"},
			Until: noon.Add(time.Minute).UnixMilli(), Digest: strings.Repeat("d", 64)})
	}
	return list
}

// pressed plays keys on a board, a second apart, and describes what they led to.
func pressed(b *board, text string) string {
	var done []string
	k := &keys{}
	for i, pressed := range k.read([]byte(text)) {
		r := b.press(pressed, noon.Add(time.Duration(i+1)*time.Second))
		switch o := r.answer; {
		case r.quit:
			done = append(done, "quit")
		case r.show != nil:
			b.shown = &shownDocument{Request: *r.show}
			done = append(done, "show "+r.show.ID)
		case o != nil:
			done = append(done, fmt.Sprintf("%s approve=%t session=%t stop=%t %q", o.question.ID, o.approve, o.session, o.stop, o.message)+map[bool]string{true: " propose"}[o.propose])
		}
	}
	return strings.Join(done, "; ")
}

func TestBoardKeys(t *testing.T) {
	for text, want := range map[string]string{
		"a":                                   `q1 approve=true session=false stop=false ""`,
		"ja":                                  `q2 approve=true session=false stop=false ""`,
		"\x1b[B\x1b[Bs":                       `q3 approve=true session=true stop=false ""`,
		"jjjjjkka":                            `q1 approve=true session=false stop=false ""`,
		"jdno, use staging\r":                 `q2 approve=false session=false stop=false "no, use staging"`,
		"p":                                   `q1 approve=true session=false stop=false "" propose`,
		"x\r":                                 `q1 approve=false session=false stop=true ""`,
		"dabc\x7f\x7fx\r":                     `q1 approve=false session=false stop=false "ax"`,
		"dq\x1b[Aa\x1ba":                      "", // of a message; the last is Alt and a key
		"j\ra":                                `show q2; q2 approve=true session=false stop=false ""`,
		"\rjjqq":                              "show q1; quit",
		"d\x03":                               "quit",
		"\x1b[200~aaa\rq\x1b[201~":            "", // pasted
		"\x1b[5~\x1bOP\x1b[1;5C":              "", // other keys
		"d\x1b[200~pasted\x1b[201~typed\r":    `q1 approve=false session=false stop=false "typed"`,
		"":                                    "",
		"dзона\x7f\r":                         `q1 approve=false session=false stop=false "зон"`,
		"z?\x00":                              "",
		"d" + strings.Repeat("x", 900) + "\r": fmt.Sprintf("q1 approve=false session=false stop=false %q", strings.Repeat("x", 400)),
	} {
		b := &board{}
		b.update(questions(1, 2, 3), noon)
		if got := pressed(b, text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// A key that was meant for a question which has just gone does not answer the one in its place.
func TestBoardChanges(t *testing.T) {
	b := &board{}
	if b.update(nil, noon) || b.update(questions(1, 2), noon) != true {
		t.Error("only new questions ring the bell, and none that was there at the start")
	}
	later := noon.Add(time.Minute)
	b.press('j', later)
	if b.update(questions(1), later) {
		t.Error("it rings because a question went")
	}
	if r := b.press('a', later.Add(settle/2)); r.answer != nil || b.status == "" {
		t.Errorf("%+v, %q", r.answer, b.status)
	}
	if r := b.press('a', later.Add(settle)); r.answer == nil || r.answer.question.ID != "q1" {
		t.Errorf("%+v", r.answer)
	}
	b.press('d', later.Add(time.Minute))
	b.press('n', later.Add(time.Minute))
	if b.update(questions(2), later.Add(time.Minute)); b.typing != nil || b.status != "question q1 no longer waits" {
		t.Errorf("%+v, %q", b.typing, b.status)
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
	b := &board{}
	b.update(questions(many...), noon)
	b.list[300].Action = "echo \u202e" + strings.Repeat("long ", 200) + "\x1b[2J"
	for _, size := range [][2]int{{80, 24}, {40, 10}, {200, 60}, {20, 5}} {
		for _, at := range []int{0, 7, 300, 499} {
			b.chosen, b.shown = b.list[at].ID, nil
			lines := b.lines(size[0], size[1], term.Paint{}, noon)
			fits(t, lines, size)
			if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "> "+b.chosen) }) {
				t.Errorf("%v: %s is not seen", size, b.chosen)
			}
			b.shown = &shownDocument{Request: b.list[at]}
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
	got := changesOf(nil, &approval.Request{Contents: list})
	if len(got) != 3 || got[1].Name != "edits[0].newText" || !got[1].Diff || !strings.Contains(got[1].Text, "-a\n+b\n") || got[2].Diff {
		t.Errorf("%+v", got)
	}
}
