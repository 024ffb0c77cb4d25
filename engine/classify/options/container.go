package options

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// bareOptions are the options of a new container that bring nothing into it and open nothing to it.
var bareOptions = []string{
	"-d", "--detach", "-i", "--interactive", "-t", "--tty", "-it", "-p", "--publish", "--name", "-e", "--env", "-m", "--memory", "--cpus",
	"--restart", "--platform", "--pull", "--tmpfs", "--shm-size", "-l", "--label", "-h", "--hostname", "-v", "--volume", "--ulimit",
	"--health-cmd", "--health-interval", "--health-timeout", "--health-retries", "--health-start-period",
}

// addressWords are parts of names of variables that lead a program elsewhere.
var addressWords = []string{"HOST", "URL", "URI", "DSN", "ADDR", "SERVICE", "PORT", "PROXY"}

// Bare reports whether the options of a new container bring nothing into it but volumes, and open nothing to it.
func (o Options) Bare() bool {
	if slices.ContainsFunc(o.Names(), func(name string) bool { return !slices.Contains(bareOptions, strings.TrimSuffix(name, "*")) }) {
		return false
	}
	return !slices.ContainsFunc(o.All("-e", "--env"), func(v abstract.Arg) bool {
		name, _, _ := strings.Cut(strings.ToUpper(v.Text), "=")
		return !v.Known() || slices.ContainsFunc(addressWords, func(word string) bool { return strings.Contains(name, word) })
	})
}

// ImageName returns the name of an image without its tag and its digest.
func ImageName(text string) string {
	text, _, _ = strings.Cut(text, "@")
	if at := strings.LastIndexByte(text, ':'); at > strings.LastIndexByte(text, '/') {
		return text[:at]
	}
	return text
}
