// Package code makes approval codes, and the key that a code yields.
//
// The agent runs as the same user, so it can read and write everything on disk. Therefore a person's
// choices are signed with a key of which only the public half is stored, in the ledger. The other half is
// computed from the code, slowly, whenever a person gives it, so nothing on disk can be copied or
// replaced. Wrong codes are notes in the ledger, and the limit is computed from them, so that it
// applies after a restart.
//
// Out of scope: who may make a code and where it is typed (cmd/reviewer), what needs a signature
// (engine), and where signatures are checked (engine/history).
package code

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"golang.org/x/crypto/argon2"
)

// The costs of a new key: 64 MiB, as RFC 9106 recommends where memory is limited, and passes for 0.5 to 2 seconds
// on the machines of 2026. They are kept next to the key, so that a later version can change
// them; maxPasses and maxMemory bound what a ledger can make this process use.
const (
	passes    = 8
	memory    = 64 << 10
	threads   = 4
	maxPasses = 64
	maxMemory = 64 << 10
)

// New returns a new code.
func New() (string, error) {
	b := make([]byte, engine.CodeRandom)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("create a code: %w", err)
	}
	for i := range b {
		b[i] = engine.CodeAlphabet[b[i]%32]
	}
	whole := string(b) + engine.CodeCheck(string(b))
	var parts []string
	for i := 0; i < engine.CodeLength; i += engine.CodeGroup {
		parts = append(parts, whole[i:i+engine.CodeGroup])
	}
	return strings.Join(parts, "-"), nil
}

// Key signs what a person chooses. Only their code yields it.
type Key struct {
	person  engine.PersonKey
	private ed25519.PrivateKey
}

// Key returns the public part.
func (k *Key) Key() engine.PersonKey { return k.person }

// Sign signs a statement.
func (k *Key) Sign(statement []byte) []byte { return ed25519.Sign(k.private, statement) }

// Memory returns the memory that has the private part, for a process that keeps it out of swap space.
func (k *Key) Memory() []byte { return k.private }

// Wipe forgets the private part.
func (k *Key) Wipe() { clear(k.private) }

// derive computes the key of a code. A salt and costs are those of a known key.
func derive(code string, salt []byte, passes, memory uint32) (*Key, error) {
	if len(salt) != 16 || passes < 1 || passes > maxPasses || memory < 8*threads || memory > maxMemory {
		return nil, errors.New("the key in the ledger is damaged: its salt or its costs are not those of an approval code")
	}
	seed := argon2.IDKey([]byte(engine.PlainCode(code)), salt, passes, memory, threads, ed25519.SeedSize)
	private := ed25519.NewKeyFromSeed(seed)
	clear(seed)
	return &Key{private: private, person: engine.PersonKey{Public: hex.EncodeToString(private.Public().(ed25519.PublicKey)),
		Salt: hex.EncodeToString(salt), Passes: passes, Memory: memory}}, nil
}

// fresh returns the key of a new code, with a new salt.
func fresh(code string, passes, memory uint32) (*Key, error) {
	salt := make([]byte, 16)
	if _, err := rand.Read(salt); err != nil {
		return nil, fmt.Errorf("create a key: %w", err)
	}
	return derive(code, salt, passes, memory)
}

// of computes the key of a code and compares it with a known one.
func of(code string, known *engine.PersonKey) (*Key, error) {
	salt, err := hex.DecodeString(known.Salt)
	if err != nil {
		return nil, fmt.Errorf("the key in the ledger is damaged: %w", err)
	}
	k, err := derive(code, salt, known.Passes, known.Memory)
	if err != nil {
		return nil, err
	}
	if k.person != *known {
		k.Wipe()
		return nil, ErrWrong
	}
	return k, nil
}
