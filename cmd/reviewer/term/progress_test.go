package term

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestProgressLine(t *testing.T) {
	half := advance{bytes: 50, total: 100, decisions: 30_000, elapsed: 2 * time.Second}
	for _, c := range []struct {
		name  string
		at    advance
		width int
		want  string
	}{
		{"nothing known yet", advance{}, 80, "looking for sessions…"},
		{"begun", advance{total: 100}, 80, "[----------------------------------------]   0%"},
		{"in the middle", half, 80, "[####################--------------------]  50%  0:02 left  15,000 decisions/s"},
		{"narrow", half, 60, "[##########-----------]  50%  0:02 left  15,000 decisions/s"},
		{"narrower", half, 40, " 50%  0:02 left  15,000 decisions/s"},
		{"no room for the rate", half, 30, "[#####------]  50%  0:02 left"},
		{"no room", half, 4, " 5…"},
		{"long", advance{bytes: 10, total: 100, elapsed: 1000 * time.Second}, 80, "[####------------------------------------]  10%  2:30:00 left"},
		{"too early to tell", advance{bytes: 1, total: 100, elapsed: 2 * time.Second}, 80, "[----------------------------------------]   1%"},
		{"a file that has grown", advance{bytes: 120, total: 100, elapsed: 2 * time.Second}, 80, "[########################################] 100%"},
	} {
		if got := c.at.line(c.width); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// However narrow a terminal is, the line does not reach its last column, after which
// it would be wrapped and could not be erased any more.
func TestProgressLineFits(t *testing.T) {
	for width := range 130 {
		for _, v := range []advance{{}, {total: 1}, {bytes: 7, total: 9, decisions: 1 << 40, elapsed: 900 * time.Hour}} {
			line := v.line(width)
			if n := utf8.RuneCountInString(line); n >= max(width, 2) || strings.ContainsAny(line, "\n\r") {
				t.Errorf("%d columns: %q has %d characters", width, line, n)
			}
		}
	}
}

// Where nobody looks, nothing is drawn.
func TestProgressOffTerminal(t *testing.T) {
	var out bytes.Buffer
	a := &Streams{Stderr: &out, Env: func(string) string { return "" }}
	p := a.ShowProgress(time.Now())
	p.Total.Store(10)
	p.Bytes.Add(5)
	p.End()
	p.End()
	if out.Len() != 0 {
		t.Errorf("written: %q", out.String())
	}
	p.show(&out, 80, time.Second)
	if got := out.String(); !strings.HasPrefix(got, eraseLine+"[#") || !strings.Contains(got, " 50%") {
		t.Errorf("shown: %q", got)
	}
}

// What is written meanwhile replaces the line.
func TestProgressAbove(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := &Progress{out: f}
	p.show(f, 80, 0)
	p.Above(func() { fmt.Fprintln(f, "comparing") })
	got, err := os.ReadFile(f.Name())
	if want := eraseLine + "looking for sessions…" + eraseLine + "comparing\n"; err != nil || string(got) != want {
		t.Errorf("written: %q, %v; want %q", got, err, want)
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -12: "-12", -123456: "-123,456", -1000: "-1,000"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
}
