package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
)

// wish reports whether the agent is to start the client of the resident process.
type wish int

const (
	unsaid wish = iota // where it exists and is of use
	wanted
	unwanted
)

func residentWish(given bool) wish {
	if given {
		return wanted
	}
	return unwanted
}

// hookProgram chooses what the agent starts: a program, or the client next to it. On
// systems other than Linux the client cannot tell who answers, so it is of no use.
func hookProgram(program string, w wish) (string, error) {
	client := filepath.Join(filepath.Dir(program), cli.HookClient)
	_, err := os.Stat(client)
	switch {
	case w == unwanted:
		return program, nil
	case runtime.GOOS == "linux" && err == nil:
		return client, nil
	case w == unsaid:
		return program, nil
	case runtime.GOOS != "linux":
		return "", cli.Usage("--resident works on Linux only: on %s a program cannot determine which program answers it", runtime.GOOS)
	}
	return "", fmt.Errorf("--resident: the client of the resident process is missing: %w", err)
}

// isHookClient reports whether a program is the client of the resident process, by its name.
func isHookClient(program string) bool {
	return strings.TrimSuffix(filepath.Base(program), ".exe") == cli.HookClient
}
