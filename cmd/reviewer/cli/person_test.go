package cli

import (
	"os"
	"runtime"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// A terminal gets colours, unless it or the person does not want any.
func TestPaint(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a pseudo terminal is opened as on Linux")
	}
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("open a pseudo terminal: %v", err)
	}
	defer terminal.Close()
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		name string
		out  *os.File
		env  map[string]string
		file string // -o
		want string
	}{
		{"terminal", terminal, nil, "", "\x1b[31;1mblock\x1b[0m"},
		{"NO_COLOR", terminal, map[string]string{"NO_COLOR": "1"}, "", "block"},
		{"dumb terminal", terminal, map[string]string{"TERM": "dumb"}, "", "block"},
		{"to a file with -o", terminal, nil, "x", "block"},
		{"redirected", file, nil, "", "block"},
	} {
		a := &App{Streams: term.Streams{Stdout: c.out, Env: func(name string) string { return c.env[name] }}}
		if got := a.Paint(&term.Output{File: c.file}).Verdict("block"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"plain", 10, "plain"},
		{"two\nlines\tand\ra tab", 30, "two lines and a tab"},
		{"\x1b[2J\x07\x00\u009b1m", 10, "?[2J???1m"},
		{"a\u202eb\u2066c\u2028d", 10, "a?b?c?d"},
		{"größer", 6, "größer"},
		{"größere", 6, "größe…"},
	} {
		if got := term.OneLine(c.text, c.n); got != c.want {
			t.Errorf("oneLine(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}
