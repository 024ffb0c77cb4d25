package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/run/sandbox"
)

// Docker writes a command line of docker, which podman takes as well. The system is that of an image, for which IMAGE
// stands.
func Docker(b Box) string {
	words := [][]string{{"docker", "run", "--rm", "--interactive", "--init"}, {"--network", "none"}, {"--cap-drop", "ALL"},
		{"--security-opt", "no-new-privileges"}, {"--read-only"}, {"--tmpfs", "/tmp"}}
	if b.User != "" {
		words = append(words, []string{"--user", b.User})
	}
	for _, limit := range []struct {
		flag, value string
		n           int64
	}{{"--memory", strconv.FormatInt(b.Memory>>20, 10) + "m", b.Memory}, {"--pids-limit", strconv.Itoa(b.Processes), int64(b.Processes)},
		{"--ulimit", "nofile=" + strconv.Itoa(b.OpenFiles), int64(b.OpenFiles)}} {
		if limit.n > 0 {
			words = append(words, []string{limit.flag, limit.value})
		}
	}
	for _, path := range sorted(b.Plan.Write) {
		words = append(words, mount(path, path, false))
	}
	for _, path := range b.Plan.Pinned {
		words = append(words, mount(path, path, false))
	}
	for _, path := range sorted(b.Plan.Protected) {
		words = append(words, mount(path, path, true))
	}
	for _, path := range b.visible() {
		if !slices.ContainsFunc(b.Plan.Write, func(dir string) bool { return sandbox.Within(path, dir) }) {
			continue // it is not in the container
		}
		if isFile(path) {
			words = append(words, mount("/dev/null", path, true))
			continue
		}
		words = append(words, []string{"--tmpfs", path + ":ro"})
	}
	return line(append(words, []string{"--workdir", b.Dir}, append([]string{"IMAGE"}, b.Command...)))
}

func mount(from, to string, readOnly bool) []string {
	text := "type=bind," + field("source="+from) + "," + field("target="+to)
	if readOnly {
		text += ",readonly"
	}
	return []string{"--mount", text}
}

// field quotes a field of CSV, as docker reads it.
func field(text string) string {
	if !strings.ContainsAny(text, ",\"") {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}
