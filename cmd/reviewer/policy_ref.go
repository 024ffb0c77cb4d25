package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// The references that are words. A folder that is called so is ./active.
const (
	refActive   = "active"   // what holds in the working directory
	refDefault  = "default"  // what ships
	refRecorded = "recorded" // what was decided: no policy
)

// refForms says what a reference to a policy can be.
const refForms = "a folder, an archive (.tar.gz), git:REV:PATH, active, default, or the first 8 or more digits of a policy's digest"

// policyRef returns the policy that a reference names: refForms, where a layer
// is laid over the policy that ships. recorded is none.
func (a *app) policyRef(ctx context.Context, ref string) (*bundles.Effective, error) {
	switch {
	case ref == "":
		return nil, fmt.Errorf("a policy is named by nothing; expected %s", refForms)
	case ref == refActive:
		return a.shownPolicy("")
	case ref == refDefault:
		base, err := bundles.Default()
		if err != nil {
			return nil, err
		}
		return bundles.Assemble(base)
	case ref == refRecorded:
		return nil, errors.New("recorded is what was decided, and no policy; it can be a baseline only")
	case strings.HasPrefix(ref, "git:"):
		return policyOfFiles(ref, func() (fs.FS, error) { return gitTree(ctx, strings.TrimPrefix(ref, "git:")) })
	}
	return a.pathOrDigest(ref)
}

// pathOrDigest returns a policy in a folder, in an archive, or one that was kept.
func (a *app) pathOrDigest(ref string) (*bundles.Effective, error) {
	info, err := os.Stat(ref)
	switch {
	case err == nil && info.IsDir():
		return policyOfFiles(ref, func() (fs.FS, error) { return os.DirFS(ref), nil })
	case err == nil:
		return policyOfFiles(ref, func() (fs.FS, error) { return a.openArchive(ref, info) })
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("policy %s: %w", ref, err)
	}
	if err := notDangling(ref); err != nil {
		return nil, fmt.Errorf("policy %w", err)
	}
	if isDigest(ref) {
		return a.keptPolicy(ref)
	}
	return nil, fmt.Errorf("policy %s: there is no such folder or archive%s; expected %s", ref, nearestRef(ref), refForms)
}

// openArchive reads an archive, and says what of it is not looked at.
func (a *app) openArchive(name string, info fs.FileInfo) (fs.FS, error) {
	if !info.Mode().IsRegular() {
		return nil, errors.New("is no plain file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	archive, err := bundles.OpenArchive(f)
	if err != nil {
		return nil, err
	}
	if archive.Signed {
		fmt.Fprintf(a.stderr, "reviewer: policy %s carries signatures, which are not checked here: whose it is stays open\n", told(name))
	}
	return archive.Memory, nil
}

// policyOfFiles puts a policy together of the files of one bundle.
func policyOfFiles(ref string, open func() (fs.FS, error)) (*bundles.Effective, error) {
	e, err := func() (*bundles.Effective, error) {
		files, err := open()
		if err != nil {
			return nil, err
		}
		layers, err := layersIn(files)
		if err != nil {
			return nil, err
		}
		if len(layers[len(layers)-1].Files) == 0 {
			return nil, errors.New("holds no file of a policy at its top; name the folder that has .manifest, data.yaml, settings.yaml or rules in it")
		}
		return bundles.Assemble(layers...)
	}()
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", ref, err)
	}
	return e, nil
}

// isDigest says that a reference may be the beginning of a digest.
func isDigest(ref string) bool {
	return len(ref) >= 8 && len(ref) <= 64 && strings.Trim(ref, "0123456789abcdef") == ""
}

// keptPolicy returns the policy in the state directory whose digest begins so.
func (a *app) keptPolicy(beginning string) (*bundles.Effective, error) {
	home, err := a.stateHome()
	if err != nil {
		return nil, err
	}
	store := policyStore(home)
	all, err := store.Digests()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, digest := range all {
		if strings.HasPrefix(digest, beginning) {
			found = append(found, digest)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("policy %s: no policy of this digest was kept in %s%s", beginning, store.Dir, likeDigest(beginning, all))
	case 1:
		return store.Get(found[0])
	}
	return nil, fmt.Errorf("policy %s: %d policies begin so; give more digits: %s", beginning, len(found), strings.Join(found[:min(4, len(found))], ", "))
}

// policyStore is where policies that decided are kept.
func policyStore(home string) bundles.Store {
	return bundles.Store{Dir: filepath.Join(home, "policies")}
}

// formerPolicies finds policies that decided by their digests, each read once. It
// may be used by several goroutines at once.
type formerPolicies struct {
	homes []string // state directories, the machine's own first

	mu    sync.Mutex
	found map[string]*bundles.Effective // nil: it is not there, or cannot be read
}

// formerPolicies looks in this machine's state directory, and then in others.
func (a *app) formerPolicies(others []string) (*formerPolicies, error) {
	home, err := a.stateHome()
	if err != nil {
		return nil, err
	}
	return &formerPolicies{homes: append([]string{home}, others...), found: map[string]*bundles.Effective{}}, nil
}

// get returns a policy; nil where there is none.
func (k *formerPolicies) get(digest string) *bundles.Effective {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e, known := k.found[digest]; known {
		return e
	}
	e, err := keptIn(k.homes, digest)
	if err != nil {
		e = nil
	}
	k.found[digest] = e
	return e
}

// likeDigest names the kept policies that begin alike.
func likeDigest(beginning string, all []string) string {
	for n := len(beginning) - 1; n >= 4; n-- {
		i := slices.IndexFunc(all, func(d string) bool { return strings.HasPrefix(d, beginning[:n]) })
		if i >= 0 {
			return fmt.Sprintf("; did you mean %.12s?", all[i])
		}
	}
	return ""
}

// nearestRef names what was probably meant: a word, or what lies beside.
func nearestRef(ref string) string {
	dir, name := filepath.Split(ref)
	near := []string{}
	if dir == "" {
		near = append(near, refActive, refDefault, refRecorded)
	}
	entries, _ := os.ReadDir(filepath.Clean(dir)) // what is not there is not near
	for _, e := range entries[:min(len(entries), 1000)] {
		near = append(near, e.Name())
	}
	if word := engine.Nearest(name, near); word != "" {
		return fmt.Sprintf("; did you mean %s?", dir+word)
	}
	return ""
}

// side is one side of a comparison: the policy that a reference names, or what
// was recorded. kept has the policies that records name.
func (a *app) side(ctx context.Context, ref string, kept *formerPolicies) (simulate.Side, error) {
	if ref == refRecorded {
		return simulate.Side{Named: simulate.Named{Name: ref, Recorded: true, Rules: []string{}, Patterns: []string{}}}, nil
	}
	e, err := a.policyRef(ctx, ref)
	if err != nil {
		return simulate.Side{}, err
	}
	return sideOf(ctx, ref, e, kept)
}

// sideOf is a side of a policy that was read already.
func sideOf(ctx context.Context, name string, e *bundles.Effective, kept *formerPolicies) (simulate.Side, error) {
	p, err := wiring.Compile(ctx, e)
	if err != nil {
		return simulate.Side{}, fmt.Errorf("policy %s: %w", name, err)
	}
	return simulate.Side{Named: sideNamed(name, e), Policy: p, Lacks: newLack(e, p, kept).of}, nil
}

// sideNamed lists what a policy has that can speak. What the settings switch off
// cannot.
func sideNamed(name string, e *bundles.Effective) simulate.Named {
	n := simulate.Named{Name: name, Digest: e.Digest, Rules: []string{}, Patterns: []string{}}
	off := map[string]bool{}
	for _, entry := range e.Catalogue() {
		off[entry.ID] = entry.Enforcement == bundles.Off
	}
	for _, r := range e.Tuned() {
		switch {
		case off[r.ID]:
		case r.Pattern():
			n.Patterns = append(n.Patterns, r.ID)
		default:
			n.Rules = append(n.Rules, r.ID)
		}
	}
	for _, l := range e.Access() {
		n.Rules = append(n.Rules, l.Speakers()...)
	}
	slices.Sort(n.Rules)
	slices.Sort(n.Patterns)
	return n
}
