//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the person's own instruction file forbids is denied, with file and line; other acts run.
func TestInstructionFile(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		dir := filepath.Join(s.Home, ".claude")
		s.must(os.MkdirAll(dir, 0o755))
		s.must(os.WriteFile(filepath.Join(dir, "CLAUDE.md"), []byte("# Mine\n\n- Never push.\n"), 0o644))
		run := s.prompt(Script{Shell("git push origin main; touch pushed"), Shell("touch mark")})
		s.want("project/pushed", false)
		s.want("project/mark", true)
		s.wantTold(run, `~/.claude/CLAUDE.md:3 says: "Never push."`)
		if out := s.ok("session", "says", "last", "--home", s.state); !strings.Contains(out, "forbids  push (~/.claude/CLAUDE.md:3): Never push.") {
			s.t.Errorf("the statements are\n%s", out)
		}
		s.wantChain()
	})
}
