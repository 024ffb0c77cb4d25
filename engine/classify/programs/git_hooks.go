package programs

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// gitHooks runs the hooks that a subcommand of git starts, at the root of the
// work tree. No commit holds them, and tools put them there: what is known of
// them is reported, as of files outside of the workspace.
func gitHooks(c *shell.Call, sub string, args []abstract.Arg) {
	s := c.Shell
	if s.In.Disk == nil || s.Frame.Isolated || s.Scope.Dirs[0].Sure != abstract.Literal {
		return
	}
	defer func(out abstract.Arg) { c.Out = out }(c.Out)
	unverified := slices.ContainsFunc(args, func(a abstract.Arg) bool { return a.Is("--no-verify") || sub == "commit" && a.Is("-n") })
	for _, hook := range hooksOf(sub) {
		if unverified && slices.Contains([]string{"pre-commit", "commit-msg", "pre-push", "pre-merge-commit"}, hook) {
			continue
		}
		name, ok := s.In.Disk.Above(s.Scope.Dirs[0].Text, ".git/hooks/"+hook)
		if !ok {
			continue
		}
		code, ok := s.CodeIn(abstract.Word(name), "")
		if !ok {
			continue
		}
		code.File.Own = false
		s.Subshell(func() shell.Outcome {
			s.Scope.Enter([]abstract.Value{{Text: place.DirOf(place.DirOf(place.DirOf(name)))}})
			c.Record()
			c.RunsCode(code, []abstract.Arg{abstract.Word(name), abstract.UnknownArg()})
			return shell.Outcome{}
		})
	}
}

func hooksOf(sub string) []string {
	switch sub {
	case "commit":
		return []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"}
	case "push":
		return []string{"pre-push"}
	case "merge", "pull":
		return []string{"pre-merge-commit", "post-merge"}
	case "checkout", "switch":
		return []string{"post-checkout"}
	case "rebase":
		return []string{"pre-rebase", "post-rewrite"}
	case "am":
		return []string{"applypatch-msg", "pre-applypatch", "post-applypatch"}
	}
	return nil
}
