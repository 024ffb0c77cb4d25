package place

import (
	"crypto/sha1"
	"path"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// blobHash is git's name of a file's content.
func blobHash(content []byte) [sha1.Size]byte {
	h := sha1.New()
	h.Write([]byte("blob " + strconv.Itoa(len(content)) + "\x00"))
	h.Write(content)
	return [sha1.Size]byte(h.Sum(nil))
}

// ignoreRule is a line of a .gitignore file, as gitignore(5) describes it.
type ignoreRule struct {
	parts   []string // of the pattern
	negated bool
	dirOnly bool
	rooted  bool // seen from the file's directory, else any name below it
}

// maxIgnoreFile bounds a .gitignore file that is read, in bytes.
const maxIgnoreFile = 256 << 10

func parseIgnore(text string) []ignoreRule {
	var rules []ignoreRule
	for line := range strings.Lines(text) {
		if r, ok := parseIgnoreLine(strings.TrimRight(line, "\r\n")); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

func parseIgnoreLine(line string) (ignoreRule, bool) {
	var r ignoreRule
	if !strings.HasSuffix(line, `\ `) {
		line = strings.TrimRight(line, " ")
	}
	if line == "" || line[0] == '#' {
		return r, false
	}
	if line[0] == '!' {
		r.negated, line = true, line[1:]
	}
	line = strings.TrimPrefix(line, `\`)
	if rest, ok := strings.CutSuffix(line, "/"); ok {
		r.dirOnly, line = true, rest
	}
	r.rooted = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return r, false
	}
	r.parts = strings.Split(line, "/")
	for _, p := range r.parts {
		if wildcard.Check(strings.ReplaceAll(p, "[!", "[^")) != nil {
			return r, false // matches nothing
		}
	}
	if r.rooted && r.parts[len(r.parts)-1] == "**" {
		r.parts = append(r.parts, "*") // a/** is what is in a, not a itself
	}
	return r, true
}

// matches reports whether the rule applies to rel, a path relative to its file.
func (r ignoreRule) matches(rel string, dir bool) bool {
	if r.dirOnly && !dir {
		return false
	}
	if !r.rooted {
		return wildcard.Match(r.parts[0], path.Base(rel))
	}
	return wildcard.Path(r.parts, strings.Split(rel, "/"))
}

// ignored reports whether an untracked path is ignored: itself, or a directory above it.
func (v *gitView) ignored(r *repository, rel string, dir bool) bool {
	for i := 0; i < len(rel); i++ {
		if rel[i] == '/' && v.ignoredItself(r, rel[:i], true) {
			return true
		}
	}
	return v.ignoredItself(r, rel, dir)
}

// ignoredItself checks the ignore files from the nearest directory up to the root, and then
// those of the repository and of the user. The last matching rule in the first file with
// one decides.
func (v *gitView) ignoredItself(r *repository, rel string, isDir bool) bool {
	for dir := path.Dir(rel); ; dir = path.Dir(dir) {
		from := rel
		if dir != "." {
			from = rel[len(dir)+1:]
		}
		if yes, found := decideIgnore(v.rules(r, Join(r.root, dir)+"/.gitignore"), from, isDir); found {
			return yes
		}
		if dir == "." {
			break
		}
	}
	for _, file := range []string{Join(r.common, "info/exclude"), Join(v.world.Home, ".config/git/ignore")} {
		if yes, found := decideIgnore(v.rules(r, file), rel, isDir); found {
			return yes
		}
	}
	return false
}

func decideIgnore(rules []ignoreRule, rel string, dir bool) (ignored, found bool) {
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].matches(rel, dir) {
			return !rules[i].negated, true
		}
	}
	return false, false
}

func (v *gitView) rules(r *repository, file string) []ignoreRule {
	file = path.Clean(file)
	if rules, ok := r.ignores[file]; ok {
		return rules
	}
	b, err := v.world.ReadFile(file, maxIgnoreFile)
	if err != nil {
		b = nil
	}
	r.ignores[file] = parseIgnore(string(b))
	return r.ignores[file]
}
