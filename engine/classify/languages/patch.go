package languages

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// maxPatched bounds how many files of one patch are named one by one.
const maxPatched = 256

// Patches notes the files that a patch changes: those of the given files, or of
// standard input if there are none. It reports whether the patch is known
// and says all of them; else nothing is noted.
func Patches(c *shell.Call, files []abstract.Arg) bool {
	strip, stripped := c.Opts.Get("-p", "--strip")
	deeper := slices.ContainsFunc(c.Args, func(a abstract.Arg) bool { return a.HasPrefix("-p") && !a.Is("-p", "-p1") })
	if stripped && !strip.Is("1", "") || deeper || c.Opts.Has("--directory") {
		return false
	}
	texts, ok := patchTexts(c, files)
	if !ok {
		return false
	}
	var names []abstract.Arg
	for _, t := range texts {
		found, ok := Patched(t)
		if !ok {
			return false
		}
		names = append(names, found...)
	}
	if c.Name == "patch" && !stripped { // it may look for the file in this directory
		for _, n := range names[:len(names):len(names)] {
			names = append(names, n.With(path.Base(n.Text)))
		}
	}
	c.Writes("write", names...)
	return len(names) > 0
}

// patchTexts are the patches, as far as all of them are known.
func patchTexts(c *shell.Call, files []abstract.Arg) ([]abstract.Arg, bool) {
	var texts []abstract.Arg
	for _, f := range files {
		code, ok := c.Shell.CodeIn(f, "patch")
		if !ok {
			return nil, false
		}
		texts = append(texts, code.Text)
	}
	if in := c.Shell.Frame.Stdin; len(files) == 0 && in != nil {
		texts = append(texts, *in)
	}
	for _, t := range texts {
		if !t.Known() {
			return nil, false
		}
	}
	return texts, true
}

// Patched lists the files that a patch names, as seen from where it is applied.
// It reports whether these are all: a name in another spelling is not read.
func Patched(text abstract.Arg) ([]abstract.Arg, bool) {
	var names []abstract.Arg
	seen := map[string]bool{"": true, "dev/null": true, "/dev/null": true}
	for line := range strings.Lines(text.Text) {
		name := patchedName(strings.TrimRight(line, "\r\n"))
		if strings.ContainsAny(name, `"\`) || len(names) > maxPatched {
			return nil, false
		}
		if !seen[name] {
			seen[name] = true
			names = append(names, text.With(name))
		}
	}
	return names, true
}

// patchedName is the file that a line of a patch names; empty: none.
func patchedName(line string) string {
	if names, ok := strings.CutPrefix(line, "diff --git "); ok { // all that is said about binary files
		if i := strings.LastIndex(names, " b/"); i >= 0 {
			return names[i+len(" b/"):]
		}
		return `"` // in quotes, or with other letters in front
	}
	for _, lead := range []string{"rename from ", "rename to ", "copy to ", "Index: "} {
		if name, ok := strings.CutPrefix(line, lead); ok {
			return name
		}
	}
	for _, lead := range []string{"--- ", "+++ ", "*** "} {
		if name, ok := strings.CutPrefix(line, lead); ok {
			name, _, _ = strings.Cut(name, "\t") // a time may follow
			if first, rest, ok := strings.Cut(name, "/"); ok && len(first) == 1 {
				return rest // a/ and b/
			}
			return name
		}
	}
	return ""
}
