package languages

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// maxPatched limits how many files of one patch are listed individually.
const maxPatched = 256

// Patches records the files that a patch changes: a patch in the given files, or on
// standard input if there are none. It reports whether the patch is completely known;
// otherwise nothing is recorded.
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
	for _, n := range names {
		c.Shell.Store(n, abstract.UnknownArg(), false)
	}
	return len(names) > 0
}

// patchTexts returns the patches, if all of them are known.
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

// Patched lists the files that a patch names, relative to where it is applied. It reports
// whether the list is complete: names in unusual notations are not parsed.
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

// patchedName returns the file that a line of a patch names; empty: none.
func patchedName(line string) string {
	if names, ok := strings.CutPrefix(line, "diff --git "); ok { // the only line about binary files
		if i := strings.LastIndex(names, " b/"); i >= 0 {
			return names[i+len(" b/"):]
		}
		return `"` // in quotes, or with another prefix
	}
	for _, lead := range []string{"rename from ", "rename to ", "copy to ", "Index: "} {
		if name, ok := strings.CutPrefix(line, lead); ok {
			return name
		}
	}
	for _, lead := range []string{"--- ", "+++ ", "*** "} {
		if name, ok := strings.CutPrefix(line, lead); ok {
			name, _, _ = strings.Cut(name, "\t") // may be followed by a time
			if first, rest, ok := strings.Cut(name, "/"); ok && len(first) == 1 {
				return rest // a/ and b/
			}
			return name
		}
	}
	return ""
}
