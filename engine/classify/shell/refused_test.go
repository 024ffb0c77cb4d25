package shell

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// Lines that no shell runs are understood: they do nothing. As soon as one of
// the shells could run a part, it is seen, or the line is not understood.
func TestLinesOfNoShell(t *testing.T) {
	for src, want := range map[string]string{
		"<Esc>":                              "",
		"<C-w><o>":                           "",
		"Solve(a, b);":                       "",
		`client.items.list("x")`:             "",
		"insert into t (a) values (b);":      "insert a b",
		"rm -rf (old)":                       "rm old",
		"echo (rm -rf /srv)":                 "rm echo",
		"<Esc>; rm -rf /srv":                 "?",
		"<Esc>\nrm -rf /srv":                 "?",
		"f(x) && rm -rf /srv":                "?",
		"/bin/r(m) -rf /srv":                 "?",
		"r(m) -rf /srv":                      "?",
		"Solve(`rm -rf /srv`)":               "?",
		"< <(rm -rf /srv) > out >":           "?",
		"rm -rf x(N); rm -rf y":              "?",
		"insert into t (a) values ('$(rm)')": "?",
	} {
		out := Interpret(src, Input{Cwd: abstract.Value{Sure: abstract.Literal, Text: "/srv/shop"}, Home: "/home/ana"})
		var got []string
		for _, c := range out.Commands {
			got = append(got, c.Name)
		}
		if len(out.Opaque) > 0 && out.Opaque[0].Reason == "syntax" {
			got = []string{"?"}
		}
		for _, name := range strings.Fields(want) {
			if !strings.Contains(strings.Join(got, " "), name) {
				t.Errorf("%s: %q, want %s", src, got, want)
			}
		}
		if want == "" && len(got)+len(out.Effects)+len(out.Opaque) > 0 {
			t.Errorf("%s: commands %v, effects %v, opaque %v; want nothing", src, got, out.Effects, out.Opaque)
		}
	}
}
