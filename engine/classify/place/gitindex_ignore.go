package place

import (
	"crypto/sha1"
	"path"
	"strconv"

	"github.com/agent-reviewer/reviewer/engine/gitignore"
)

// blobHash is git's name of a file's content.
func blobHash(content []byte) [sha1.Size]byte {
	h := sha1.New()
	h.Write([]byte("blob " + strconv.Itoa(len(content)) + "\x00"))
	h.Write(content)
	return [sha1.Size]byte(h.Sum(nil))
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
		if yes, found := gitignore.Decide(v.rules(r, Join(r.root, dir)+"/.gitignore"), from, isDir); found {
			return yes
		}
		if dir == "." {
			break
		}
	}
	for _, file := range []string{Join(r.common, "info/exclude"), Join(v.world.Home, ".config/git/ignore")} {
		if yes, found := gitignore.Decide(v.rules(r, file), rel, isDir); found {
			return yes
		}
	}
	return false
}

func (v *gitView) rules(r *repository, file string) []gitignore.Rule {
	file = path.Clean(file)
	if rules, ok := r.ignores[file]; ok {
		return rules
	}
	b, err := v.world.ReadFile(file, gitignore.MaxFile)
	if err != nil {
		b = nil
	}
	r.ignores[file] = gitignore.Parse(string(b))
	return r.ignores[file]
}
