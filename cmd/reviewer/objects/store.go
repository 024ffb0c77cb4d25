package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// Object is an object as it was listed.
type Object struct {
	Location
	Size    int64
	Version string // what changes with its contents: an ETag, a generation, a digest
}

// Store is a bucket, or the files of this machine.
type Store interface {
	// List lists the objects whose keys begin with a prefix, by key.
	List(ctx context.Context, prefix Location) ([]Object, error)
	// Open reads n bytes from an offset; n < 0: all that follow. It returns ErrGone or
	// ErrChanged if the object is not the one that was listed.
	Open(ctx context.Context, o Object, off, n int64) (io.ReadCloser, error)
	// Create writes a whole object, or nothing. It returns ErrExists if there is one.
	Create(ctx context.Context, at Location, content []byte) error
}

// Errors of stores.
var (
	ErrGone        = errors.New("was deleted after it was listed")
	ErrChanged     = errors.New("changed after it was listed")
	ErrExists      = errors.New("exists already")
	ErrCredentials = errors.New("the credentials have expired or are not valid; renew them, and run again")
)

// ErrNotBuilt is the error of a program without the libraries of the stores of clouds.
var ErrNotBuilt = errors.New("this program was built without object stores; use reviewer-full, which `make full` builds, " +
	"or copy the objects to a folder and name that")

// Cloud opens a bucket; nil: the libraries were not built in.
type Cloud func(ctx context.Context, l Location) (Store, error)

// Access opens stores, each once.
type Access struct {
	Cloud Cloud

	mu     sync.Mutex
	opened map[string]Store
}

// Store returns the store of a location.
func (a *Access) Store(ctx context.Context, l Location) (Store, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := l.BucketURL()
	if s := a.opened[id]; s != nil {
		return s, nil
	}
	s, err := a.open(ctx, l)
	if err != nil {
		return nil, err
	}
	if a.opened == nil {
		a.opened = map[string]Store{}
	}
	a.opened[id] = s
	return s, nil
}

func (a *Access) open(ctx context.Context, l Location) (Store, error) {
	if l.Scheme == fileScheme {
		return &folder{verified: map[string]fileState{}}, nil
	}
	if a.Cloud == nil {
		return nil, fmt.Errorf("%s: %w", l, ErrNotBuilt)
	}
	s, err := a.Cloud(ctx, l)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l, err)
	}
	return s, nil
}

// List lists an object, or what is under it as if it were a folder: s3://bucket/logs is
// the object logs, and everything whose key begins with logs/.
func (a *Access) List(ctx context.Context, l Location) ([]Object, error) {
	s, err := a.Store(ctx, l)
	if err != nil {
		return nil, err
	}
	below := l
	if below.Key != "" {
		below.Key = strings.TrimSuffix(l.Key, "/") + "/"
	}
	list, err := s.List(ctx, below)
	if err == nil && below.Key != l.Key {
		var same []Object
		same, err = s.List(ctx, l)
		same = slices.DeleteFunc(same, func(o Object) bool { return o.Key != l.Key })
		list = append(same, list...)
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", l, err)
	}
	return list, nil
}

// Read reads a whole object, of at most the given number of bytes.
func (a *Access) Read(ctx context.Context, name string, most int64) ([]byte, error) {
	l, err := Parse(name)
	if err != nil {
		return nil, err
	}
	list, err := a.List(ctx, l)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(o Object) bool { return o.Key == l.Key })
	if i < 0 {
		return nil, fmt.Errorf("%s: no such object", l)
	}
	if list[i].Size > most {
		return nil, fmt.Errorf("%s: %d MiB is too large; expected at most %d", l, list[i].Size>>20, most>>20)
	}
	r, err := a.Open(ctx, list[i], 0, -1)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l, err)
	}
	return content, nil
}

// Write writes a whole object. An existing one stays: writing the same contents again
// succeeds, since a task may run twice; writing others is an error.
func (a *Access) Write(ctx context.Context, name string, content []byte) error {
	l, err := Parse(name)
	if err != nil {
		return err
	}
	s, err := a.Store(ctx, l)
	if err != nil {
		return err
	}
	err = s.Create(ctx, l, content)
	if errors.Is(err, ErrExists) {
		there, readErr := a.Read(ctx, name, int64(len(content)))
		if readErr == nil && string(there) == string(content) {
			return nil
		}
		return fmt.Errorf("%s: %w, with other contents; an object is never overwritten: delete it, or name another", l, ErrExists)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", l, err)
	}
	return nil
}

// Free returns an error if there is an object already.
func (a *Access) Free(ctx context.Context, name string) error {
	l, err := Parse(name)
	if err != nil {
		return err
	}
	list, err := a.List(ctx, l)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(o Object) bool { return o.Key == l.Key }) {
		return fmt.Errorf("%s: %w; an object is never overwritten: delete it, or name another", l, ErrExists)
	}
	return nil
}
