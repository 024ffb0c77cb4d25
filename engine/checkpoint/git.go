package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Git is the state of a repository. It is never restored: it shows what a command did to the
// repository itself.
type Git struct {
	Dir    string `json:"dir"`              // folder of the repository, relative to the workspace; . is the workspace
	Head   string `json:"head,omitempty"`   // what HEAD names: a branch, or a commit
	Commit string `json:"commit,omitempty"` // of HEAD
	Index  string `json:"index,omitempty"`  // SHA-256 of the index file, first 16 digits
	Stash  string `json:"stash,omitempty"`  // newest entry
}

// maxGit limits the repositories that a checkpoint describes.
const maxGit = 8

// maxGitFile limits the files of a repository that are read, in bytes.
const maxGitFile = 64 << 20

// repositories describes the repositories in some folders of the workspace.
func (s *Store) repositories(dirs []string) []Git {
	var list []Git
	for _, dir := range dirs[:min(len(dirs), maxGit)] {
		list = append(list, readGit(s.root, dir))
	}
	return list
}

func readGit(root, rel string) Git {
	dir := filepath.Join(root, filepath.FromSlash(rel), ".git")
	if b := firstLine(dir); strings.HasPrefix(b, "gitdir: ") { // a worktree or a submodule
		to := strings.TrimPrefix(b, "gitdir: ")
		if !filepath.IsAbs(to) {
			to = filepath.Join(root, filepath.FromSlash(rel), to)
		}
		dir = to
	}
	common := dir
	if c := firstLine(filepath.Join(dir, "commondir")); c != "" {
		common = filepath.Join(dir, c)
	}
	g := Git{Dir: rel, Stash: firstLine(filepath.Join(common, "refs", "stash")), Index: fileDigest(filepath.Join(dir, "index"))}
	if rel == "" {
		g.Dir = "."
	}
	g.Head = strings.TrimPrefix(firstLine(filepath.Join(dir, "HEAD")), "ref: ")
	g.Commit = g.Head
	if strings.HasPrefix(g.Head, "refs/") {
		if g.Commit = firstLine(filepath.Join(common, filepath.FromSlash(g.Head))); g.Commit == "" {
			g.Commit = packedRef(common, g.Head)
		}
	}
	return g
}

func firstLine(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}

func packedRef(dir, ref string) string {
	b, err := os.ReadFile(filepath.Join(dir, "packed-refs"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if commit, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return commit
		}
	}
	return ""
}

func fileDigest(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxGitFile)); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}
