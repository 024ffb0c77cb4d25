//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A system message of a hook is shown to the person. It is still not secret from the
// agent: the client writes it to a file that every tool of the session can read. So
// no code that lifts a denial may be sent that way.
// The day on which this fails is the day to look at docs/fail-open.md again.
func TestSystemMessageIsNoSecret(t *testing.T) {
	each(t, func(s *stage) {
		const events = "SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolBatch Stop"
		hooks, words := map[string]string{}, map[string]string{}
		for _, event := range strings.Fields(events) {
			words[event] = "token-" + sessionID(event)
			hooks[event] = fmt.Sprintf(`[{"hooks":[{"type":"command","command":"echo '{\"systemMessage\":\"%s\"}'"}]}]`, words[event])
		}
		var parts []string
		for _, event := range strings.Fields(events) {
			parts = append(parts, fmt.Sprintf("%q:%s", event, hooks[event]))
		}
		settings := filepath.Join(s.Project, ".claude", "settings.json")
		s.must(writeFile(settings, `{"hooks":{`+strings.Join(parts, ",")+`}}`))
		run := s.prompt(Script{Shell("echo tea > mark"), Shell("cat mark")})
		written := s.filesThatHold(words, settings)
		for _, event := range strings.Fields(events) {
			var asked []int
			for n, r := range run.Requests {
				if bytes.Contains(r.Raw, []byte(words[event])) {
					asked = append(asked, n)
				}
			}
			s.t.Logf("%s: the model was sent it in requests %v of %d; files %v", event, asked, len(run.Requests), written[event])
		}
		if len(written["PreToolUse"]) == 0 {
			s.t.Error("a system message before a call is in no file any more: see docs/fail-open.md")
		}
	})
}

// filesThatHold looks for words in all files of the stage but one.
func (s *stage) filesThatHold(words map[string]string, but string) map[string][]string {
	found := map[string][]string{}
	root := filepath.Dir(s.Home)
	s.must(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || path == but {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		for event, word := range words {
			if bytes.Contains(data, []byte(word)) {
				rel, _ := filepath.Rel(root, path)
				found[event] = append(found[event], rel)
			}
		}
		return nil
	}))
	for _, paths := range found {
		slices.Sort(paths)
	}
	return found
}
