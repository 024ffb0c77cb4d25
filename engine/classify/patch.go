package classify

import (
	"path"
	"slices"
	"strings"
)

// maxPatched bounds how many files of one patch are named one by one.
const maxPatched = 256

// patches notes the files that a patch changes: those of the given files, or of
// standard input where there are none. It tells whether the patch is known and
// says all of them; else nothing is noted.
func (c *call) patches(files []arg) bool {
	strip, stripped := c.opts.get("-p", "--strip")
	deeper := slices.ContainsFunc(c.args, func(a arg) bool { return a.hasPrefix("-p") && !a.is("-p", "-p1") })
	if stripped && !strip.is("1", "") || deeper || c.opts.has("--directory") {
		return false
	}
	texts, ok := c.patchTexts(files)
	if !ok {
		return false
	}
	var names []arg
	for _, t := range texts {
		found, ok := patched(t)
		if !ok {
			return false
		}
		names = append(names, found...)
	}
	if c.name == "patch" && !stripped { // it may look for the file in this directory
		for _, n := range names[:len(names):len(names)] {
			names = append(names, n.with(path.Base(n.text)))
		}
	}
	c.writes("write", names...)
	return len(names) > 0
}

// patchTexts are the patches, as far as all of them are known.
func (c *call) patchTexts(files []arg) ([]arg, bool) {
	var texts []arg
	for _, f := range files {
		code, ok := c.s.codeIn(f, "patch")
		if !ok {
			return nil, false
		}
		texts = append(texts, code.text)
	}
	if in := c.s.frame.stdin; len(files) == 0 && in != nil {
		texts = append(texts, *in)
	}
	for _, t := range texts {
		if !t.known() {
			return nil, false
		}
	}
	return texts, true
}

// patched lists the files that a patch names, as seen from where it is applied.
// It tells whether these are all: a name in another spelling is not read.
func patched(text arg) ([]arg, bool) {
	var names []arg
	seen := map[string]bool{"": true, "dev/null": true, "/dev/null": true}
	for line := range strings.Lines(text.text) {
		name := patchedName(strings.TrimRight(line, "\r\n"))
		if strings.ContainsAny(name, `"\`) || len(names) > maxPatched {
			return nil, false
		}
		if !seen[name] {
			seen[name] = true
			names = append(names, text.with(name))
		}
	}
	return names, true
}

// patchedName is the file that a line of a patch names; empty: none.
func patchedName(line string) string {
	if names, ok := strings.CutPrefix(line, "diff --git "); ok { // all that is said of binary files
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
