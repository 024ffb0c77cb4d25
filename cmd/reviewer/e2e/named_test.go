//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

// namings are last messages that name something that does not exist, and what the agent can
// say or do instead.
func namings() []struct {
	name, rule, wrong, told string
	instead                 []Step
} {
	return []struct {
		name, rule, wrong, told string
		instead                 []Step
	}{
		{"command", "names_missing_command", "The shop is ready. To see it, run `make serve`.", "it was not found: make serve",
			[]Step{Shell("cat Makefile"), {Say: "The shop is ready. To check it, run `make check`."}}},
		{"package", "names_missing_package", "I installed `left-pad` for the column.", "no manifest of the project names it: left-pad",
			[]Step{Shell("cat go.mod"), {Say: "`left-pad` is not installed."}}},
		{"symbol", "names_missing_symbol", "I added the function `parseCart()`.", "no file contains it: parseCart",
			[]Step{Shell("printf '\\nfunc parseCart() {}\\n' >> main.go"), {Say: "I added the function `parseCart()`."}}},
		{"file", "names_missing_file", "I wrote `docs/cart.md`.", "it does not exist: ./docs/cart.md",
			[]Step{Shell("mkdir -p docs && echo Cart > docs/cart.md"), {Say: "I wrote `docs/cart.md`."}}},
	}
}

// An agent that stops with a message about a command, a package, a function or a file that does
// not exist is informed once, and goes on. After it corrected itself, it stops undisturbed.
func TestNamesOfWhatIsMissing(t *testing.T) {
	for _, c := range namings() {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(s *stage) {
				s.install("user")
				s.must(s.Fill(map[string]string{"project/Makefile": "check:\n\tgo vet ./...\n"}))
				run := s.prompt(append(Script{Shell("ls"), {Say: c.wrong}}, c.instead...))
				s.wantMade("soft_correction " + c.rule)
				s.wantHeard(run, 2, c.told, "rule "+c.rule)
				if got := len(run.Requests); got != 4 {
					t.Errorf("the model was asked %d times, want 4", got)
				}
				if log := s.ok("audit", "show", s.session, "--home", s.state); strings.Contains(log, c.wrong) {
					t.Error("the log contains the agent's message")
				}
				s.wantChain()
			})
		})
	}
}

// An agent whose message names what there is, and what it did, stops undisturbed.
func TestNamesOfWhatThereIs(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		s.must(s.Fill(map[string]string{
			"project/Makefile": "serve:\n\tgo run .\n", "project/package.json": `{"dependencies": {"left-pad": "1.3.0"}}`,
		}))
		run := s.prompt(Script{Shell("mkdir -p docs && echo Cart > docs/cart.md && printf '\\nfunc parseCart() {}\\n' >> main.go"),
			{Say: "I added the function `parseCart()`, wrote `docs/cart.md` and installed `left-pad`. Run `make serve` to see it."}})
		s.wantMade()
		if got := len(run.Requests); got != 2 {
			t.Errorf("the model was asked %d times, want 2", got)
		}
		s.wantChain()
	})
}
