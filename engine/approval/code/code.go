// Package code keeps the approval code of a machine: the secret that a person gives with each
// answer over HTTP.
//
// The agent runs as the same user, so it can read and write everything on disk. Therefore
// only a slow hash of the code is stored, and the ledger contains a digest of the file with
// the hash: a file that was replaced is refused. Wrong codes are also notes in the ledger,
// and the limit is computed from them, so that it applies after a restart.
//
// Out of scope: who may create a code (cmd/reviewer), and what it permits (engine/serve).
package code

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/osfile"
	"golang.org/x/crypto/argon2"
)

// FileName is the name of the file in the state directory.
const FileName = "approval.code"

// alphabet has 32 characters, without those that are easily confused: I, L, O and U.
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// A code has 60 bits: 3 groups of 4 characters.
const (
	groups    = 3
	groupSize = 4
)

// stored is the file. The costs are in it, so that a later version can change them.
type stored struct {
	V      int    `json:"v"`
	Salt   string `json:"salt"`
	Hash   string `json:"hash"` // argon2id
	Passes uint32 `json:"passes"`
	Memory uint32 `json:"memory"` // KiB
}

// The costs of a new code, as RFC 9106 recommends where memory is limited. maxMemory bounds what
// a file can make this process use.
const (
	passes    = 3
	memory    = 64 << 10
	threads   = 4
	maxPasses = 10
	maxMemory = 256 << 10
)

// random returns a new code.
func random() (string, error) {
	b := make([]byte, groups*groupSize)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("create a code: %w", err)
	}
	for i := range b {
		b[i] = alphabet[b[i]%32]
	}
	var parts []string
	for part := range groups {
		parts = append(parts, string(b[part*groupSize:(part+1)*groupSize]))
	}
	return strings.Join(parts, "-"), nil
}

// plain returns a code without what people add or confuse when they type it.
func plain(code string) string {
	return strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(code))
}

func (f *stored) sum(code string) ([]byte, error) {
	salt, err := base64.StdEncoding.DecodeString(f.Salt)
	if err != nil || f.V != 1 || f.Passes < 1 || f.Passes > maxPasses || f.Memory > maxMemory {
		return nil, errors.New("the file of the approval code is damaged")
	}
	return argon2.IDKey([]byte(plain(code)), salt, f.Passes, f.Memory, threads, 32), nil
}

// matches reports whether a code is the stored one, in a time that does not depend on it.
func (f *stored) matches(code string) (bool, error) {
	want, err := base64.StdEncoding.DecodeString(f.Hash)
	if err != nil || len(want) != 32 {
		return false, errors.New("the file of the approval code is damaged")
	}
	got, err := f.sum(code)
	return err == nil && subtle.ConstantTimeCompare(got, want) == 1, err
}

func (s *Store) path() string { return filepath.Join(s.Log.Dir, FileName) }

// read returns the file and its digest.
func (s *Store) read() (*stored, string, error) {
	b, err := osfile.ReadFile(s.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", ErrNone
	}
	if err != nil {
		return nil, "", err
	}
	var f stored
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, "", ErrReplaced
	}
	return &f, engine.HexSum(b), nil
}

// write replaces the file whole.
func (s *Store) write(b []byte) error {
	temp := fmt.Sprintf("%s.%d", s.path(), os.Getpid())
	f, err := osfile.CreatePrivate(temp)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil {
		err = osfile.Rename(temp, s.path())
	}
	if err != nil {
		_ = os.Remove(temp) // the error is reported
	}
	return err
}

// newFile returns the file of a code.
func newFile(code string, passes, memory uint32) ([]byte, error) {
	salt := make([]byte, 16)
	if _, err := rand.Read(salt); err != nil {
		return nil, fmt.Errorf("create a code: %w", err)
	}
	f := stored{V: 1, Salt: base64.StdEncoding.EncodeToString(salt), Passes: passes, Memory: memory}
	hash, err := f.sum(code)
	if err != nil {
		return nil, err
	}
	f.Hash = base64.StdEncoding.EncodeToString(hash)
	return json.Marshal(f)
}
