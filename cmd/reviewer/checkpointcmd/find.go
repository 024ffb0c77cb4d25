package checkpointcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/snapshots"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// stores are the stores of checkpoints of a state directory.
type stores struct {
	log   *audit.Store
	world classify.System
	dir   string // of the stores
}

func open(a *cli.App) (*stores, error) {
	log, err := a.OpenStore()
	if err != nil {
		return nil, err
	}
	world, err := a.World(log.Dir)
	if err != nil {
		return nil, err
	}
	return &stores{log: log, world: world, dir: snapshots.Folder(log.Dir)}, nil
}

// options describes how the store of a workspace is opened.
func (s *stores) options(workspace string) (checkpoint.Options, error) {
	policy, err := s.policy(workspace)
	if err != nil {
		return checkpoint.Options{}, err
	}
	return snapshots.Options(s.log, s.world, workspace, &policy.Settings.Checkpoints, classify.NewRows(policy.RowLayers()))
}

// policy returns the policy that applies in a workspace. If it cannot be read, the built-in one
// also determines which files contain secrets.
func (s *stores) policy(workspace string) (*bundles.Effective, error) {
	policy, err := cli.MachineAt(s.log.Dir).Effective(workspace)
	if err != nil {
		return builtIn()
	}
	return policy, nil
}

func builtIn() (*bundles.Effective, error) {
	base, err := bundles.Default()
	if err != nil {
		return nil, err
	}
	return bundles.Assemble(base)
}

// of opens the store of a workspace, which may not exist yet.
func (s *stores) of(workspace string) (*checkpoint.Store, error) {
	o, err := s.options(workspace)
	if err != nil {
		return nil, err
	}
	return checkpoint.Open(s.dir, workspace, o)
}

// in opens the store of a folder under dir.
func (s *stores) in(dir string) (*checkpoint.Store, error) {
	root, err := osfile.ReadFile(filepath.Join(dir, "root"))
	if err != nil {
		return nil, err
	}
	if checkpoint.StoreDir(s.dir, string(root)) != dir {
		return nil, fmt.Errorf("%s: %w: it names the workspace of another store", dir, checkpoint.ErrDamaged)
	}
	o, err := s.options(string(root))
	if err != nil {
		return nil, err
	}
	return checkpoint.OpenDir(dir, o)
}

// all opens the stores of all workspaces. Those that cannot be opened are in the error.
func (s *stores) all() ([]*checkpoint.Store, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []*checkpoint.Store
	var errs []error
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		store, err := s.in(filepath.Join(s.dir, e.Name()))
		if err == nil && store.Exists() {
			list = append(list, store)
		}
		errs = append(errs, err)
	}
	return list, errors.Join(errs...)
}

// here opens the store of a folder: its own, or that of the nearest folder above that has
// one. Empty: the current folder.
func (s *stores) here(dir string) (*checkpoint.Store, error) {
	real, err := realFolder(dir)
	if err != nil {
		return nil, err
	}
	for at := real; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(checkpoint.StoreDir(s.dir, at), "journal")); err == nil {
			return s.in(checkpoint.StoreDir(s.dir, at))
		}
		if at == filepath.Dir(at) {
			return nil, &noStore{dir: real}
		}
	}
}

// noStore means that no checkpoint of a folder was ever taken.
type noStore struct{ dir string }

func (e *noStore) Error() string {
	return "no checkpoint of " + e.dir + " is stored; `reviewer checkpoint list --all` lists those of all workspaces"
}

func realFolder(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("workspace %s: %w", dir, cli.WithoutCall(err))
	}
	return real, nil
}

// idForm is the form of an id, and of a number in the current workspace.
var idForm = engine.Regexp(`^(?:([0-9a-f]{8})-)?[1-9][0-9]{0,17}$`)

// namesCheckpoint reports whether a word of a command line is an id and not a path.
func namesCheckpoint(word string) bool { return word == "latest" || idForm().MatchString(word) }

// find returns the checkpoint that a person names, and its store.
func (s *stores) find(id string) (*checkpoint.Store, checkpoint.Checkpoint, error) {
	if !namesCheckpoint(id) {
		return nil, checkpoint.Checkpoint{}, cli.Usage("%q is not a checkpoint: expected an id such as 1f2e3d4c-17, a number, or latest; "+
			"`reviewer checkpoint list` lists them", id)
	}
	store, err := s.storeOf(id)
	if err != nil {
		return nil, checkpoint.Checkpoint{}, err
	}
	c, err := store.Find(id)
	if unknown := (*checkpoint.NoCheckpoint)(nil); errors.As(err, &unknown) {
		err = fmt.Errorf("%w of %s; `reviewer checkpoint list` lists them", err, store.Root())
	}
	return store, c, err
}

// storeOf opens the store that an id belongs to.
func (s *stores) storeOf(id string) (*checkpoint.Store, error) {
	m := idForm().FindStringSubmatch(id)
	if m == nil || m[1] == "" {
		return s.here("")
	}
	dirs, err := filepath.Glob(filepath.Join(s.dir, m[1]+"*"))
	if err == nil && len(dirs) == 0 {
		err = fmt.Errorf("there is no checkpoint %s; `reviewer checkpoint list --all` lists those of all workspaces", id)
	}
	if err == nil && len(dirs) > 1 {
		err = fmt.Errorf("%s matches checkpoints of several workspaces; give its number in the folder of one workspace", id)
	}
	if err != nil {
		return nil, err
	}
	return s.in(dirs[0])
}

// oldestKept returns the number of the oldest checkpoint that can be restored.
func oldestKept(store *checkpoint.Store) int64 {
	n, err := store.Oldest()
	if err != nil {
		return 1 // what is damaged is reported when it is used
	}
	return n
}

// pathsIn returns paths of a command line as a store has them: relative to the workspace.
func pathsIn(store *checkpoint.Store, args []string) ([]string, error) {
	var list []string
	for _, arg := range args {
		abs, err := filepath.Abs(arg)
		if err != nil {
			return nil, err
		}
		if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
			abs = filepath.Join(dir, filepath.Base(abs))
		}
		rel, err := filepath.Rel(store.Root(), abs)
		switch {
		case err == nil && rel == ".":
			rel = ""
		case err != nil || !filepath.IsLocal(rel):
			rel = abs // a file outside the workspace that a call changed
		}
		list = append(list, filepath.ToSlash(rel))
	}
	return list, nil
}

// below reports whether a path is one of these paths or is under one; if there are none, every
// path is.
func below(path string, paths []string) bool {
	if len(paths) == 0 {
		return true
	}
	for _, p := range paths {
		if p == "" && !filepath.IsAbs(filepath.FromSlash(path)) || path == p || strings.HasPrefix(path, p+"/") {
			return true
		}
	}
	return false
}
