package place

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/pipelines"
)

// Remotes describes the remotes of a repository before a call.
type Remotes struct {
	Known  bool   // the repository's settings could be read
	Branch string // the branch that is checked out; empty: none, or unknown
	urls   []string
	names  []string // of the remotes of the addresses
	seen   func(name string) bool

	deployments func() []pipelines.Deployment
}

// Deployments lists the branches that are deployed when something is pushed to them.
func (m Remotes) Deployments() []pipelines.Deployment {
	if m.deployments == nil {
		return nil
	}
	return m.deployments()
}

// maxWorkflows limits the names in a folder of workflows that are read.
const maxWorkflows = 256

// deployments reads what a working tree says about deployments. common is the folder of the repository's settings.
func (r *Resolver) deployments(top, common string) []pipelines.Deployment {
	if top == "" || r.World.ReadDir == nil {
		return nil
	}
	at := pipelines.Repository{Main: []string{"main", "master"}, Read: func(name string, limit int64) ([]byte, error) {
		return r.World.ReadFile(Join(top, name), limit)
	}, Names: func(folder string) (names []string) {
		list, _ := r.World.ReadDir(Join(top, folder), maxWorkflows)
		for _, entry := range list {
			names = append(names, entry.Name())
		}
		return names
	}}
	if main, ok := strings.CutPrefix(r.line(Join(common, "refs/remotes/origin/HEAD")), "ref: refs/remotes/origin/"); ok {
		at.Main = []string{main}
	}
	return at.Find(r.tables.pushes)
}

// Has reports whether a repository has a remote with an address, however it is written.
func (m Remotes) Has(url string) bool { return slices.Contains(m.urls, plainRemote(url)) }

// HasHost reports whether one of the remotes is on a host.
func (m Remotes) HasHost(host string) bool {
	return host != "" && slices.ContainsFunc(m.urls, func(u string) bool { return strings.HasPrefix(u, host+"/") })
}

// IsAt reports whether a repository is a remote at a host from which something was fetched. An empty repository stands
// for the one that the host's client chooses: all remotes there must be one repository.
func (m Remotes) IsAt(host, repository string) bool {
	var found []string
	for i, u := range m.urls {
		at, path, _ := strings.Cut(u, "/")
		switch {
		case at != host:
		case m.Seen(m.names[i]):
			found = append(found, path)
		case repository == "":
			return false // the client may choose it
		}
	}
	if repository == "" {
		return len(found) > 0 && !slices.ContainsFunc(found, func(p string) bool { return p != found[0] })
	}
	return slices.Contains(found, strings.ToLower(repository))
}

// Seen reports whether something was fetched from or pushed to a remote of that name.
func (m Remotes) Seen(name string) bool { return m.seen == nil || m.seen(name) }

// Remotes are the remotes of the repository that contains a directory.
func (r *Resolver) Remotes(dir string) Remotes {
	if r.World.ReadFile == nil || r.World.Lstat == nil || !r.Here(dir) {
		return Remotes{}
	}
	common := r.settingsDir(dir)
	config, err := r.World.ReadFile(Join(common, "config"), maxGitFile<<4)
	if common == "" || err != nil {
		return Remotes{}
	}
	packed, _ := r.World.ReadFile(Join(common, "packed-refs"), maxGitFile<<8)
	m := Remotes{Known: true, seen: func(name string) bool {
		return r.Lstat(Join(common, "refs/remotes/"+name)) != nil || strings.Contains(string(packed), " refs/remotes/"+name+"/")
	}}
	top, branch := r.checkedOut(dir)
	m.Branch, m.deployments = branch, func() []pipelines.Deployment { return r.deployments(top, common) }
	section := ""
	for line := range strings.SplitSeq(string(config), "\n") {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "[") {
			section, _, _ = strings.Cut(line, "]")
		}
		key, value, ok := strings.Cut(line, "=")
		if key = strings.ToLower(strings.TrimSpace(key)); ok && (key == "url" || key == "pushurl") {
			m.urls = append(m.urls, plainRemote(strings.Trim(strings.TrimSpace(value), `"`)))
			_, name, _ := strings.Cut(section, `"`)
			m.names = append(m.names, strings.TrimSuffix(name, `"`))
		}
	}
	return m
}

// checkedOut returns the working tree that contains a directory, and the branch that is checked out there; empty if there is none.
func (r *Resolver) checkedOut(dir string) (top, branch string) {
	for ; dir != "/" && dir != "."; dir = path.Dir(dir) {
		at := Join(dir, ".git")
		if to, ok := strings.CutPrefix(r.line(at), "gitdir:"); ok {
			at = path.Clean(absoluteIn(dir, strings.TrimSpace(to)))
		}
		if head := r.line(Join(at, "HEAD")); head != "" {
			name, _ := strings.CutPrefix(head, "ref: refs/heads/")
			return dir, name
		}
	}
	return "", ""
}

// settingsDir returns the folder with the settings of a directory's repository, also for
// linked working trees and submodules.
func (r *Resolver) settingsDir(dir string) string {
	if common := r.commonDir(dir); common != "" {
		return common
	}
	for ; dir != "/" && dir != "."; dir = path.Dir(dir) {
		if to, ok := strings.CutPrefix(r.line(Join(dir, ".git")), "gitdir:"); ok {
			return path.Clean(absoluteIn(dir, strings.TrimSpace(to)))
		}
	}
	return ""
}

// plainRemote returns the address of a repository as host and path, without the protocol:
// https://me@host/a/b.git and git@host:a/b are the same.
func plainRemote(url string) string {
	url = strings.ToLower(url)
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	} else {
		url = strings.Replace(url, ":", "/", 1)
	}
	if i := strings.IndexByte(url, '/'); i >= 0 {
		url = url[strings.LastIndexByte(url[:i], '@')+1:]
	}
	return strings.TrimSuffix(strings.TrimSuffix(url, "/"), ".git")
}

// RemoteHost returns the host of a repository's address.
func RemoteHost(url string) string {
	host, _, _ := strings.Cut(plainRemote(url), "/")
	return HostOf(abstract.Value{Text: host})
}
