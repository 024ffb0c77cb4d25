package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// Store keeps the checkpoints of one workspace.
type Store struct {
	root    string // of the workspace
	dir     string // of the store
	id      string
	bounds  Bounds
	sealed  func(path string) bool
	skip    []string
	objects objects
	system  system
}

// Bounds limits what a checkpoint stores, and how long it may take. Paths that are left out because
// of a bound are listed, and cannot be restored.
type Bounds struct {
	MaxFileBytes int64 // of one file
	MaxBytes     int64 // total for all files that one checkpoint reads
	MaxFiles     int

	IgnoredFileBytes int64 // the same for files that git ignores
	IgnoredBytes     int64
	IgnoredFiles     int

	Generated []string      // names of folders with generated output: skipped if git ignores them or there is no repository
	Budget    time.Duration // for finding and reading files; 0: no limit
	Targeted  bool          // the workspace is too large to be read as a whole, such as a home folder: only paths that are named are stored
}

func (b *Bounds) generated(name string) bool { return slices.Contains(b.Generated, name) }

// Options configures a Store.
type Options struct {
	Bounds Bounds
	Skip   []string               // absolute paths of folders that are not part of the workspace, such as the state directory
	Secret []byte                 // at least 32 bytes; keys are derived from it
	Sealed func(path string) bool // whether a file, by its absolute path, is stored encrypted; nil: none is
}

// StoreDir returns the folder of a workspace's store, in the folder of all stores.
func StoreDir(stores, root string) string {
	return filepath.Join(stores, storeID(root)[:16])
}

func storeID(root string) string {
	sum := sha256.Sum256([]byte("reviewer checkpoints\n" + root))
	return hex.EncodeToString(sum[:])
}

// Open returns the store of a workspace, given as an absolute path. Nothing is
// created before the first checkpoint.
func Open(stores, root string, o Options) (*Store, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	k, err := newKeys(o.Secret)
	if err != nil {
		return nil, err
	}
	s := &Store{root: real, id: storeID(real), bounds: o.Bounds, sealed: o.Sealed, skip: o.Skip, system: localSystem(),
		dir: StoreDir(stores, real)}
	s.objects = objects{dir: s.dir, keys: k}
	return s, nil
}

// OpenDir returns a store by its own folder, as StoreDir returns it.
func OpenDir(dir string, o Options) (*Store, error) {
	root, err := osfile.ReadFile(filepath.Join(dir, "root"))
	if err != nil {
		return nil, err
	}
	k, err := newKeys(o.Secret)
	if err != nil {
		return nil, err
	}
	s := &Store{root: string(root), id: storeID(string(root)), bounds: o.Bounds, sealed: o.Sealed, skip: o.Skip,
		system: localSystem(), dir: dir}
	s.objects = objects{dir: dir, keys: k}
	return s, nil
}

// Root returns the workspace.
func (s *Store) Root() string { return s.root }

// Dir returns the folder of the store.
func (s *Store) Dir() string { return s.dir }

// Exists reports whether a checkpoint was ever taken.
func (s *Store) Exists() bool {
	_, err := os.Lstat(s.journalFile())
	return err == nil
}

// locked calls fn while no other process uses the store.
func (s *Store) locked(ctx context.Context, fn func() error) (err error) {
	if err := s.create(); err != nil {
		return fmt.Errorf("store of checkpoints: %w", err)
	}
	f, err := osfile.OpenFile(filepath.Join(s.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := waitFor(ctx, f); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.objects.close()) }()
	return fn()
}

// waitFor takes a lock, or gives up when the context ends.
func waitFor(ctx context.Context, f *os.File) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := osfile.TryLock(f, osfile.Exclusive)
		if !errors.Is(err, osfile.ErrLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("another process uses the store of checkpoints: %w", ctx.Err())
		case <-time.After(pause):
		}
	}
}

func (s *Store) create() error {
	name := filepath.Join(s.dir, "root")
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := osfile.MkdirPrivate(s.dir); err != nil {
		return osfile.Missing(s.dir, err)
	}
	return writeFile(name, []byte(s.root))
}
