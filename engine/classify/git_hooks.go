package classify

import "slices"

// gitHooks runs the hooks that a subcommand of git starts, at the root of the
// work tree. No commit holds them, and tools put them there: what is known of
// them is reported, as of files outside of the workspace.
func (c *call) gitHooks(sub string, args []arg) {
	s := c.s
	if s.in.disk == nil || s.frame.isolated || s.scope.dirs[0].sure != literal {
		return
	}
	defer func(out arg) { c.out = out }(c.out)
	unverified := slices.ContainsFunc(args, func(a arg) bool { return a.is("--no-verify") || sub == "commit" && a.is("-n") })
	for _, hook := range hooksOf(sub) {
		if unverified && slices.Contains([]string{"pre-commit", "commit-msg", "pre-push", "pre-merge-commit"}, hook) {
			continue
		}
		name, ok := s.in.disk.above(s.scope.dirs[0].text, ".git/hooks/"+hook)
		if !ok {
			continue
		}
		code, ok := s.codeIn(word(name), "")
		if !ok {
			continue
		}
		code.file.own = false
		s.subshell(func() outcome {
			s.scope.enter([]value{{text: dirOf(dirOf(dirOf(name)))}})
			c.record()
			c.runsCode(code, []arg{word(name), unknownArg()})
			return outcome{}
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
