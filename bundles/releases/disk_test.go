package releases

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"testing"
)

// errCrash is what every operation returns from the crash on.
var errCrash = errors.New("the machine has crashed")

// memory is a disk that fails at one step, and tells after a crash what was left:
// of the process, or of the power.
type memory struct {
	files   map[string]string // what programs see
	durable map[string]string // what a loss of power leaves: names whose folder was synced
	folders map[string]bool

	step    int
	failAt  int   // this step does nothing, or half of it
	failure error // what it returns; errCrash: and all that follow
}

func newMemory() *memory {
	return &memory{files: map[string]string{}, durable: map[string]string{}, folders: map[string]bool{".": true}}
}

// next says that a step that changes something fails.
func (m *memory) next() error {
	m.step++
	if m.failAt > 0 && (m.step == m.failAt || m.step > m.failAt && errors.Is(m.failure, errCrash)) {
		return m.failure
	}
	return nil
}

func (m *memory) Read(name string, max int64) ([]byte, error) {
	text, ok := m.files[name]
	switch {
	case !ok:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case int64(len(text)) > max:
		return nil, errors.New("too large")
	}
	return []byte(text), nil
}

func (m *memory) Size(name string) (int64, error) {
	b, err := m.Read(name, 1<<40)
	return int64(len(b)), err
}

func (m *memory) List(dir string) ([]string, error) {
	var names []string
	for name := range m.files {
		if path.Dir(name) == dir {
			names = append(names, path.Base(name))
		}
	}
	slices.Sort(names)
	return names, nil
}

func (m *memory) Mkdir(dir string) error {
	err := m.next()
	if err == nil {
		m.folders[dir] = true
	}
	return err
}

// Write leaves half of the contents where it fails.
func (m *memory) Write(name string, content []byte) error {
	if !m.folders[path.Dir(name)] {
		return fs.ErrNotExist
	}
	if _, there := m.files[name]; there {
		return fs.ErrExist
	}
	if err := m.next(); err != nil {
		m.files[name] = string(content[:len(content)/2])
		return err
	}
	m.files[name] = string(content)
	return nil
}

func (m *memory) Rename(from, to string) error {
	if err := m.next(); err != nil {
		return err
	}
	m.files[to] = m.files[from]
	delete(m.files, from)
	return nil
}

func (m *memory) SyncDir(dir string) error {
	if err := m.next(); err != nil {
		return err
	}
	maps.DeleteFunc(m.durable, func(name, _ string) bool { return path.Dir(name) == dir })
	for name, text := range m.files {
		if path.Dir(name) == dir {
			m.durable[name] = text
		}
	}
	return nil
}

func (m *memory) Remove(name string) error {
	if err := m.next(); err != nil {
		return err
	}
	delete(m.files, name)
	return nil
}

// killed is what is left when the process ends; unplugged when the power does.
func (m *memory) killed() *memory    { return m.left(m.files) }
func (m *memory) unplugged() *memory { return m.left(m.durable) }

func (m *memory) left(files map[string]string) *memory {
	return &memory{files: maps.Clone(files), durable: maps.Clone(files), folders: maps.Clone(m.folders)}
}

// The disk of the tests and the real one are told apart by nothing that a store
// sees.
func TestDisksAgree(t *testing.T) {
	real, fake := realDisk{t.TempDir()}, newMemory()
	for i, do := range []func(disk) (string, error){
		func(d disk) (string, error) { return "", d.Mkdir("a") },
		func(d disk) (string, error) { return "", d.Mkdir("a") },
		func(d disk) (string, error) { return "", d.Write("a/x", []byte("one")) },
		func(d disk) (string, error) { return "", d.Write("a/x", []byte("two")) }, // is there
		func(d disk) (string, error) { return "", d.Write("b/x", []byte("one")) }, // no folder
		func(d disk) (string, error) { b, err := d.Read("a/x", 3); return string(b), err },
		func(d disk) (string, error) { b, err := d.Read("a/x", 2); return string(b), err },
		func(d disk) (string, error) { b, err := d.Read("a/y", 3); return string(b), err },
		func(d disk) (string, error) { return "", d.Write("a/.new", []byte("three")) },
		func(d disk) (string, error) { return "", d.Rename("a/.new", "a/x") },
		func(d disk) (string, error) { return "", d.SyncDir("a") },
		func(d disk) (string, error) { b, err := d.Read("a/x", 9); return string(b), err },
		func(d disk) (string, error) { names, err := d.List("a"); return path.Join(names...), err },
		func(d disk) (string, error) { return "", d.Remove("a/y") },
		func(d disk) (string, error) { return "", d.Remove("a/x") },
		func(d disk) (string, error) { _, err := d.Size("a/x"); return "", err },
	} {
		got, err1 := do(real)
		want, err2 := do(fake)
		if got != want || (err1 == nil) != (err2 == nil) || errors.Is(err1, fs.ErrNotExist) != errors.Is(err2, fs.ErrNotExist) {
			t.Errorf("step %d: the real disk gives %q, %v; that of the tests %q, %v", i, got, err1, want, err2)
		}
	}
}
