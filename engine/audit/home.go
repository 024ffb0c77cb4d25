package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

const keyLength = 32 // bytes of the MAC key

// MAC returns the keyed digest of this state directory: HMAC-SHA-256, as 64 hex
// digits. The key is created on first use.
func (s *Store) MAC() (func([]byte) string, error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	return s.mac()
}

func (s *Store) mac() (func([]byte) string, error) {
	key, err := s.macKey()
	if err != nil {
		return nil, err
	}
	return func(b []byte) string {
		m := hmac.New(sha256.New, key)
		m.Write(b)
		return hex.EncodeToString(m.Sum(nil))
	}, nil
}

func (s *Store) macKey() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key != nil {
		return s.key, nil
	}
	path := filepath.Join(s.Dir, "key")
	key, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.createKey(path); err == nil {
			key, err = readKey(path)
		}
	}
	if err != nil {
		return nil, err
	}
	s.key = key
	return key, nil
}

func readKey(path string) ([]byte, error) {
	f, err := osfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read MAC key: %w", err)
	}
	defer f.Close()
	if err := osfile.Private(f, 0o077); err != nil {
		return nil, err
	}
	key, err := io.ReadAll(io.LimitReader(f, keyLength+1))
	if err != nil {
		return nil, fmt.Errorf("read MAC key: %w", err)
	}
	if len(key) != keyLength {
		return nil, fmt.Errorf("MAC key %s is not %d bytes long: restore it, or remove it to start with a new one", path, keyLength)
	}
	return key, nil
}

// createKey links a finished file to its name: of several processes one wins,
// and none ever reads half a key.
func (s *Store) createKey(path string) error {
	key := make([]byte, keyLength)
	if _, err := io.ReadFull(s.random(), key); err != nil {
		return fmt.Errorf("create MAC key: %w", err)
	}
	tmp, err := writeTemp(s.Dir, "key", key)
	if err != nil {
		return fmt.Errorf("create MAC key: %w", err)
	}
	err = os.Link(tmp, path)
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err = errors.Join(err, osfile.Remove(tmp)); err != nil {
		return fmt.Errorf("create MAC key: %w", err)
	}
	return nil
}

// writeTemp writes a new file of mode 0600 next to its later name.
func writeTemp(dir, name string, b []byte) (string, error) {
	f, err := os.CreateTemp(dir, "."+name+"-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// prepare creates the state directory, and rejects one that others could write to.
func (s *Store) prepare() error {
	if !filepath.IsAbs(s.Dir) {
		return fmt.Errorf("state directory %q is not an absolute path", s.Dir)
	}
	if err := osfile.MkdirPrivate(s.Dir); err != nil {
		return fmt.Errorf("create state directory: %w", err)
	}
	f, err := os.Open(s.Dir)
	if err != nil {
		return fmt.Errorf("open state directory: %w", err)
	}
	defer f.Close()
	return osfile.Private(f, 0o022)
}
