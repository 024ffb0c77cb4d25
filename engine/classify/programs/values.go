package programs

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// relativeNames returns a list of names under the working directory.
func relativeNames(roots []abstract.Arg) abstract.Arg {
	var text strings.Builder
	for _, r := range roots {
		if r.Text == "." || r.Text == "" {
			r.Text = "."
		}
		text.WriteString(strings.TrimSuffix(r.Text, "/") + "/" + abstract.HoleText + "\n")
	}
	if len(roots) == 0 {
		return abstract.Word("./" + abstract.HoleText + "\n")
	}
	return abstract.Word(text.String())
}

func inputVia(c *shell.Call) string {
	if c.Shell.Frame.Piped {
		return "pipe"
	}
	return "heredoc"
}
