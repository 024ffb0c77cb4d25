package options

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// Signal returns the name of the signal that kill, pkill or killall is told to send: -USR1, -SIGUSR1,
// -s USR1, --signal=SIGUSR1. Of the numbers, only that of HUP is the same on every system. Empty: the
// usual signal, an unknown one, or several.
func Signal(args []abstract.Arg) string {
	found := ""
	for i, a := range args {
		if a.Is("--") || !a.Known() {
			break
		}
		word, named := strings.CutPrefix(a.Text, "--signal=")
		switch {
		case a.Is("-s", "-n", "--signal") && i+1 < len(args):
			word, named = args[i+1].Text, true
		case !named && !a.HasPrefix("-"):
			continue
		case !named:
			word = strings.TrimPrefix(a.Text[1:], "s")
		}
		name := strings.TrimPrefix(strings.ToUpper(word), "SIG")
		base, _, _ := strings.Cut(name, "+")
		if !named && !slices.Contains(signalNames, base) && strings.Trim(name, "0123456789") != "" {
			continue // another option
		}
		if name == "1" {
			name = "HUP"
		}
		if found != "" && found != name {
			return ""
		}
		found = name
	}
	return found
}

// signalNames are names of signals, without SIG.
var signalNames = []string{"HUP", "USR1", "USR2", "TTIN", "TTOU", "ALRM", "RTMIN", "INT", "QUIT", "TERM", "KILL", "STOP", "TSTP", "ABRT"}
