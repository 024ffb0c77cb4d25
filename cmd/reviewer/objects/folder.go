package objects

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// folder is the files of this machine, or of a file system that machines share. The
// version of a file is the time of its last change, or its digest.
type folder struct {
	mu       sync.Mutex
	verified map[string]fileState // files with the digest that a manifest has
}

// fileState shows that a file changed since it was inspected.
type fileState struct {
	size, modified int64
}

func stateOf(info fs.FileInfo) fileState { return fileState{info.Size(), info.ModTime().UnixNano()} }

func (s fileState) version() string { return fmt.Sprint("modified:", s.modified) }

const digestPrefix = "sha256:"

func (*folder) List(ctx context.Context, prefix Location) ([]Object, error) {
	root, below := filepath.Clean(prefix.Path()), strings.HasSuffix(prefix.Key, "/")
	info, err := os.Stat(root)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.IsDir() != below:
		return nil, nil
	case err != nil:
		return nil, err
	case !info.IsDir():
		return []Object{fileObject(prefix, prefix.Key, info)}, nil
	}
	var list []Object
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return cmp.Or(ctx.Err(), err)
		}
		info, err := os.Stat(path) // links are followed to files
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() && !strings.HasPrefix(d.Name(), unfinished) {
			l, err := OfFile(path)
			if err != nil {
				return err
			}
			list = append(list, fileObject(prefix, l.Key, info))
		}
		return nil
	})
	slices.SortFunc(list, func(a, b Object) int { return cmp.Compare(a.Key, b.Key) })
	return list, err
}

func fileObject(l Location, key string, info fs.FileInfo) Object {
	return Object{Location: l.At(key), Size: info.Size(), Version: stateOf(info).version()}
}

func (f *folder) Open(_ context.Context, o Object, off, n int64) (io.ReadCloser, error) {
	file, err := os.Open(o.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrGone
	}
	if err != nil {
		return nil, err
	}
	if err := f.verify(file, o); err != nil {
		file.Close()
		return nil, err
	}
	if n < 0 {
		n = o.Size - off
	}
	return part{io.NewSectionReader(file, off, n), file}, nil
}

type part struct {
	io.Reader
	io.Closer
}

// verify returns ErrChanged unless a file is as it was listed. A digest is computed once.
func (f *folder) verify(file *os.File, o Object) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	state := stateOf(info)
	if state.size != o.Size {
		return fmt.Errorf("%w: it had %d bytes, and has %d", ErrChanged, o.Size, state.size)
	}
	want, pinned := strings.CutPrefix(o.Version, digestPrefix)
	if !pinned {
		if o.Version != state.version() {
			return ErrChanged
		}
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.verified[o.Key] == state {
		return nil
	}
	digest, err := digestOf(io.NewSectionReader(file, 0, state.size))
	if err == nil && digest != want {
		err = fmt.Errorf("%w: its SHA-256 is not that of the manifest", ErrChanged)
	}
	if err == nil {
		f.verified[o.Key] = state
	}
	return err
}

func digestOf(r io.Reader) (string, error) {
	h := sha256.New()
	_, err := io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)), err
}

// unfinished begins the names of files that are being written.
const unfinished = ".reviewer-"

// Create writes a temporary file, and links it to its name: a file that is there stays.
func (*folder) Create(_ context.Context, at Location, content []byte) error {
	path := at.Path()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return ErrExists
	}
	f, err := os.CreateTemp(filepath.Dir(path), unfinished+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err := errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	err = os.Link(f.Name(), path)
	if errors.Is(err, fs.ErrExist) {
		return ErrExists
	}
	return err
}
