package classify

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/google/go-cmp/cmp"
)

// planting is a string of testdata/mask, and the values in it that were made.
type planting struct {
	line   int
	text   string
	values []string
}

// samples reads a file of texts. The values are different ones each time.
func samples(t *testing.T, r *rand.Rand, name string) []planting {
	t.Helper()
	b, err := os.ReadFile("testdata/mask/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var list []planting
	line := 1
	for block := range strings.SplitSeq(string(b), "\n--\n") {
		s := planting{line: line}
		line += strings.Count(block, "\n") + 2
		for strings.HasPrefix(block, "# ") && s.line == 1 {
			_, block, _ = strings.Cut(block, "\n")
		}
		s.fill(t, r, strings.TrimSuffix(block, "\n"))
		list = append(list, s)
	}
	return list
}

// fill makes the values of a string.
func (s *planting) fill(t *testing.T, r *rand.Rand, text string) {
	t.Helper()
	for {
		before, rest, ok := strings.Cut(text, "«")
		s.text += before
		if !ok {
			return
		}
		format, after, _ := strings.Cut(rest, "»")
		value := classifytest.Specimen(r, classifytest.Pattern(t, format))
		s.values = append(s.values, value)
		s.text += value
		text = after
	}
}

// shows returns a value of the planting that is in a string.
func (s planting) shows(text string) (string, bool) {
	for _, v := range s.values {
		if strings.Contains(text, v) {
			return v, true
		}
	}
	return "", false
}

// rounds is how many values are made of each format.
const rounds = 10

// TestMaskRecall: of the secrets in the places where people leave them 99 of
// 100 are replaced.
func TestMaskRecall(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 21))
	missed, all := 0, 0
	for range rounds {
		for _, s := range samples(t, r, "secrets.txt") {
			m := &mask.Masker{Mac: classifytest.MAC, Formats: mask.FormatsOf(classifytest.Rows(), nil)}
			m.Remember(s.text)
			all++
			if got := m.Text(s.text); leaksAny(s, got) {
				missed++
				t.Logf("secrets.txt:%d: %q", s.line, got)
			}
		}
	}
	if missed*100 > all {
		t.Errorf("%d of %d texts still show their secret", missed, all)
	}
}

func leaksAny(s planting, text string) bool {
	_, ok := s.shows(text)
	return ok
}

// TestMaskLeavesLikes: of what has the look of a secret less than 1 of 100 is
// replaced.
func TestMaskLeavesLikes(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 23))
	hit, all := 0, 0
	for range rounds {
		for _, s := range samples(t, r, "likes.txt") {
			m := &mask.Masker{Mac: classifytest.MAC, Formats: mask.FormatsOf(classifytest.Rows(), nil)}
			m.Remember(s.text)
			all++
			if got := m.Text(s.text); got != s.text {
				hit++
				t.Logf("likes.txt:%d: %q", s.line, got)
			}
		}
	}
	if hit*100 >= all {
		t.Errorf("%d of %d look-alikes are hit", hit, all)
	}
}

// TestMaskCarriers: the contents of a string is found alike, whatever carries it: a
// command, a file's content, an argument of a server, a result, a prompt.
func TestMaskCarriers(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 25))
	for _, s := range append(samples(t, r, "secrets.txt"), samples(t, r, "likes.txt")...) {
		m := &mask.Masker{Mac: classifytest.MAC, Formats: mask.FormatsOf(classifytest.Rows(), nil)}
		want, text := m.Count(s.text), maskedAlone(s.text)
		for name, e := range carriers(t, s.text) {
			f := classifyEvent(t, e)
			if got := secretsIn(t, name, f); got != nil && cmp.Diff(want, got.Secrets) != "" {
				t.Errorf("line %d, %s: counted %v in %q, want %v", s.line, name, got.Secrets, s.text, want)
			}
			if name == "argument" && f.Event.Args["note"] != text {
				t.Errorf("line %d: an argument is recorded as %q, want %q", s.line, f.Event.Args["note"], text)
			}
			if v, ok := s.shows(recorded(t, f)); ok && !leaksAny(s, text) {
				t.Errorf("line %d, %s: %q leaves in %s", s.line, name, v, recorded(t, f))
			}
		}
	}
}

// maskedAlone is a string as the masker leaves it that has seen no other.
func maskedAlone(text string) string {
	m := &mask.Masker{Mac: classifytest.MAC, Formats: mask.FormatsOf(classifytest.Rows(), nil)}
	m.Remember(text)
	return m.Text(text)
}

// carriers are events that hold a string, by what holds it.
func carriers(t *testing.T, text string) map[string]engine.Event {
	t.Helper()
	call := func(tool, name, value string) engine.Event {
		args, err := json.Marshal(map[string]string{"file_path": "/srv/shop/a", name: value})
		if err != nil {
			t.Fatal(err)
		}
		return engine.Event{Phase: engine.PhasePre, Tool: tool, CWD: "/srv/shop", Args: args}
	}
	output, err := json.Marshal(map[string]string{"stdout": text})
	if err != nil {
		t.Fatal(err)
	}
	result := call("Bash", "command", "true")
	result.Phase, result.Result = engine.PhasePost, &engine.Result{Output: output}
	failure := call("Bash", "command", "true")
	failure.Phase, failure.Result = engine.PhasePost, &engine.Result{Failed: true, Error: text}
	return map[string]engine.Event{
		"command": call("Bash", "command", text), "content": call("Write", "content", text), "argument": call("mcp__a__run", "note", text),
		"prompt": {Phase: engine.PhasePrompt, Prompt: text}, "result": result, "error": failure,
	}
}

func classifyEvent(t *testing.T, e engine.Event) engine.Facts {
	t.Helper()
	c := &Classifier{World: nowhere(), MAC: classifytest.MAC, Rows: classifytest.Rows()}
	f, err := c.Classify(context.Background(), e, "/srv/shop")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// secretsIn is what is recorded of a string that is not stored; nil: it is stored, masked.
func secretsIn(t *testing.T, carrier string, f engine.Facts) *engine.ContentFacts {
	t.Helper()
	switch carrier {
	case "prompt":
		return f.Event.Prompt
	case "result", "error":
		return f.Event.Result.Content
	case "content":
		content, ok := f.Action.Contents["content"]
		if !ok {
			t.Fatalf("no facts of the content in %v", f.Action.Contents)
		}
		return &content
	}
	return nil
}

func recorded(t *testing.T, f engine.Facts) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// BenchmarkMask is 4 KiB of what calls hold, secrets and others.
func BenchmarkMask(b *testing.B) {
	list, err := os.ReadFile("testdata/mask/likes.txt")
	if err != nil {
		b.Fatal(err)
	}
	text := string(list[:4<<10])
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m := &mask.Masker{Mac: classifytest.MAC, Formats: mask.FormatsOf(classifytest.Rows(), nil)}
		m.Remember(text)
		m.Text(text)
	}
}
