package audit

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// chainLines are the lines of a chain that the generator wrote.
func chainLines(t testing.TB, hostile bool) []string {
	t.Helper()
	s := testStore(t)
	g := generator{rand.New(rand.NewPCG(3, 4)), hostile}
	for range 60 {
		if err := add(s, testKey, g.record()); err != nil && !errors.Is(err, engine.ErrTooLong) {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(newChain(s.sessionDir(testKey)).path(1))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(raw), "\n")
	return lines[:len(lines)-1]
}

func follow(exported bool, lines []string) (good int, err error) {
	f := Follower{Exported: exported}
	for i, l := range lines {
		if _, err := f.Next([]byte(l)); err != nil {
			return i, err
		}
	}
	return len(lines), nil
}

func TestFollower(t *testing.T) {
	lines := chainLines(t, false)
	other := strings.Replace(lines[5], `"chain":"`, `"chain":"0`, 1)
	changed := strings.Replace(lines[4], `"t":1`, `"t":2`, 1)
	for _, c := range []struct {
		name     string
		lines    []string
		good     int
		raw, exp string // what is said; empty: nothing
	}{
		{"whole", lines, len(lines), "", ""},
		{"without its beginning", lines[1:], 0, "does not start with a keyframe", "does not start with a keyframe"},
		{"a line is missing", append(append([]string{}, lines[:5]...), lines[6:]...), 5, "records are missing", "records are missing"},
		{"a line twice", append(append([]string{}, lines[:5]...), lines[4:]...), 5, "records are missing", "records are missing"},
		{"of another chain", append(append([]string{}, lines[:5]...), other), 5, "belongs to chain", "belongs to chain"},
		{"changed", append(append([]string{}, lines[:4]...), changed, lines[5]), 5, ErrChanged.Error(), ""},
		{"cut", []string{lines[0], lines[1][:100]}, 1, "decode", "decode"},
		{"no line", []string{lines[0], "{}\n"}, 1, "does not start", "format version"},
	} {
		for exported, want := range map[bool]string{false: c.raw, true: c.exp} {
			good, err := follow(exported, c.lines)
			switch {
			case want == "" && (err != nil || good != len(c.lines)):
				t.Errorf("%s, exported %t: line %d: %v", c.name, exported, good, err)
			case want != "" && (err == nil || good != c.good || !strings.Contains(err.Error(), want)):
				t.Errorf("%s, exported %t: line %d: %v; want %d, %s", c.name, exported, good, err, c.good, want)
			}
		}
	}
}

// What JSON writes of a record is that record again, and no longer than a line
// may be, also where it spells characters in another way.
func TestExportedLines(t *testing.T) {
	for _, hostile := range []bool{false, true} {
		lines := chainLines(t, hostile)
		for _, format := range []JSON{{}, {Lines: true}} {
			var b bytes.Buffer
			err := format.Export(&b, func(yield func(*engine.Record, error) bool) {
				for _, l := range lines {
					if r, err := readRecord([]byte(l)); !yield(r, err) {
						return
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for l := range bytes.Lines(b.Bytes()) {
				if raw, ok := Exported(l); ok {
					got = append(got, string(raw))
				}
			}
			if len(got) != len(lines) {
				t.Fatalf("%d records of %d lines", len(got), len(lines))
			}
			for i := range got {
				if a, b := again(t, got[i]), again(t, lines[i]); a != b || len(got[i]) > len(lines[i]) {
					t.Fatalf("%v: exported and back:\n%swant\n%s", format, a, b)
				}
				if n, ok := Number([]byte(got[i])); !ok || n != int64(i+1) || !IsLine([]byte(got[i])) {
					t.Fatalf("line %d has number %d, %t", i+1, n, ok)
				}
			}
		}
	}
	for _, l := range []string{"", "[", "]", "{}", `{"id":"x`, `{"id":"x"}`, `{"id":"x","v":2}`, lines0(t)} {
		if raw, ok := Exported([]byte(l)); ok {
			t.Errorf("%s is taken for %s", l, raw)
		}
	}
}

// again decodes a line and encodes it.
func again(t *testing.T, line string) string {
	t.Helper()
	r, err := engine.DecodeLine([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	b, err := engine.EncodeLine(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func lines0(t *testing.T) string { return chainLines(t, false)[0] }

func TestPlainSpelling(t *testing.T) {
	for in, want := range map[string]string{
		`a\u003cb\u003e\u0026`: `a<b>&`,
		`\\u003c`:              `\\u003c`,
		`\\\u003c`:             `\\<`,
		`\"\n\u2028`:           `\"\n\u2028`,
		`\`:                    `\`,
		`\u003`:                `\u003`,
	} {
		if got := string(unescapeHTML([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
