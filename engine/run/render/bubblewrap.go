package render

import (
	"maps"
	"slices"

	"github.com/agent-reviewer/reviewer/engine/run/sandbox"
)

// Bubblewrap writes a command line of bubblewrap, which starts the command without any network.
func Bubblewrap(b Box) string { return line(bubblewrap(b)) }

func bubblewrap(b Box) [][]string {
	words := [][]string{{"bwrap"}, {"--die-with-parent"}, {"--new-session"}, {"--unshare-all"}}
	if b.all() {
		words = append(words, []string{"--ro-bind", "/", "/"})
	}
	for _, path := range sorted(b.Plan.Read) {
		if path != "/" && !(sandbox.Within(path, "/proc") || sandbox.Within(path, "/dev") || path == "/tmp") {
			words = append(words, []string{"--ro-bind-try", path, path})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(b.Links)) {
		if !b.all() {
			words = append(words, []string{"--symlink", b.Links[path], path})
		}
	}
	words = append(words, []string{"--proc", "/proc"}, []string{"--dev", "/dev"}, []string{"--tmpfs", "/tmp"})
	for _, path := range sorted(b.Plan.Write) {
		words = append(words, []string{"--bind-try", path, path})
	}
	for _, path := range b.Plan.Pinned {
		words = append(words, []string{"--bind", path, path})
	}
	for _, path := range sorted(b.Plan.Protected) {
		words = append(words, []string{"--ro-bind", path, path})
	}
	for _, path := range b.visible() {
		if isFile(path) {
			words = append(words, []string{"--ro-bind", "/dev/null", path})
			continue
		}
		words = append(words, []string{"--tmpfs", path}, []string{"--remount-ro", path})
	}
	for _, name := range sorted(b.Variables) {
		words = append(words, []string{"--unsetenv", name})
	}
	return append(words, []string{"--chdir", b.Dir}, append([]string{"--"}, b.Command...))
}
