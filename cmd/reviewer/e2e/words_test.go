//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What the client reports of a command is the line that was typed. A prompt that repeats what the agent scheduled is not a
// person's, and the person learns why.
func TestWhoseWords(t *testing.T) {
	s := newStage(t)
	s.install("user")
	reported := filepath.Join(s.Home, "prompts")
	s.must(writeFile(filepath.Join(s.Project, ".claude", "commands", "deploy.md"), "Deploy to $ARGUMENTS.\n"))
	s.must(writeFile(filepath.Join(s.Project, ".claude", "settings.json"),
		`{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"cat >> `+reported+`"}]}]}}`))
	s.words = "/deploy prod"
	run := s.prompt(Script{{Say: "Done."}})
	if told := run.Requests[0].Told(); !strings.Contains(told, "Deploy to prod.") {
		t.Errorf("the client did not expand the command:\n%s", told)
	}
	text := "Look through the orders of the last week and write down which of them were paid twice."
	s.words = "Remind me."
	s.resume(Script{Do("CronCreate", map[string]any{"cron": "0 9 * * *", "prompt": text, "recurring": true}), {Say: "Done."}})
	s.words = text
	run = s.resume(Script{{Say: "Done."}})

	if !slices.ContainsFunc(run.Lines, func(l StreamLine) bool { return strings.Contains(string(l.Raw), "this prompt does not count as yours") }) {
		t.Error("the person is not told")
	}
	b, err := os.ReadFile(reported)
	s.must(err)
	for _, prompt := range []string{"/deploy prod", text} {
		if !strings.Contains(string(b), `"prompt":"`+prompt+`"`) {
			t.Errorf("the client does not report %q:\n%s", prompt, b)
		}
	}
	if strings.Contains(string(b), `"source"`) {
		t.Log("the client says now who wrote a prompt: see docs/threat-model.md")
	}
	var kinds []string
	for _, r := range s.records() {
		if r.Kind == "prompt" || strings.Contains(r.raw, "gave the same text to something") {
			kinds = append(kinds, r.Kind)
		}
	}
	if want := []string{"prompt", "prompt", "note"}; !slices.Equal(kinds, want) {
		t.Errorf("records of the prompts: %q, want %q", kinds, want)
	}
}
