package shell

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// An array that grows very long is one element that stands for all: nothing that is
// written is missed, also in a branch with an array of its own.
func TestLongArrays(t *testing.T) {
	var grow strings.Builder
	for i := range MaxElements + 10 {
		fmt.Fprintf(&grow, "a+=(build/f%d)\n", i)
	}
	for src, want := range map[string]string{
		grow.String() + `for f in "${a[@]}"; do echo > "$f"; done`:                  "build/f",
		grow.String() + `echo > "${a[0]}"`:                                          "build/f",
		grow.String() + `a[3]=/etc/hosts; for f in "${a[@]}"; do echo > "$f"; done`: "",
		`a=(` + strings.Repeat("x ", MaxElements+1) + `); a[0]=y; echo > "${a[0]}"`: "",
	} {
		out := Interpret(src, Input{Cwd: abstract.Value{Sure: abstract.Literal, Text: "/srv"}, Home: "/home/ana"})
		var covered bool
		for _, e := range out.Effects {
			covered = covered || e.Kind == engine.EffectFileWrite && e.Target.Sure != abstract.Literal &&
				(want == "" || strings.Contains(e.Target.Text, want))
		}
		if !covered {
			t.Errorf("…%s: no write to something that begins with %q: %+v", src[len(src)-40:], want, out.Effects)
		}
	}
}

// Two variables that grow from the same text do not change each other.
func TestAppendedTexts(t *testing.T) {
	src := `a=/srv/x; b=$a; a+=1; b+=2; if c; then a+=3; else a+=4; fi; echo > "$a"; echo > "$b"`
	out := Interpret(src, Input{Cwd: abstract.Value{Sure: abstract.Literal, Text: "/srv"}, Home: "/home/ana"})
	var got []string
	for _, e := range out.Effects {
		if e.Kind == engine.EffectFileWrite {
			got = append(got, e.Target.Text)
		}
	}
	if s := strings.Join(got, " "); s != "/srv/x13 /srv/x2 /srv/x14" && s != "/srv/x13 /srv/x14 /srv/x2" {
		t.Errorf("writes to %s", s)
	}
}

// A write to an unknown file is seen; a process substitution is not a file.
func TestUnknownRedirections(t *testing.T) {
	for src, want := range map[string]int{`echo > "${a[$i]}"`: 1, `echo >> "$1"`: 1, `echo > >(cat)`: 0, `echo 2> >(cat >&2)`: 0} {
		out := Interpret(src, Input{Cwd: abstract.Value{Sure: abstract.Literal, Text: "/srv"}, Home: "/home/ana"})
		got := 0
		for _, e := range out.Effects {
			if e.Kind == engine.EffectFileWrite {
				got++
			}
		}
		if got != want {
			t.Errorf("%s: %d writes, want %d: %+v", src, got, want, out.Effects)
		}
	}
}
