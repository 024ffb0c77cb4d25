package cli

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/classify"
)

// PassingMAC is a keyed digest for one process: its key is never written.
func PassingMAC() (func([]byte) string, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("create a key: %w", err)
	}
	return func(b []byte) string {
		h := hmac.New(sha256.New, key)
		h.Write(b)
		return hex.EncodeToString(h.Sum(nil))
	}, nil
}

// WithoutSecrets masks a string as those of calls are masked: a secret has the same
// replacement as in the log.
func WithoutSecrets(store *audit.Store, text string) (string, error) {
	mac, err := store.MAC()
	if err != nil {
		return "", err
	}
	return Masking(mac)(text), nil
}

// Masking replaces secrets by tags of a keyed digest.
func Masking(mac func([]byte) string) func(string) string {
	c := classify.Classifier{MAC: mac, Secrets: bundles.BuiltInTokens()}
	return c.Mask
}

// Masked masks secrets in messages of a command: an error may quote the command line
// or a file. It needs no state, since there may be none.
func Masked(text string) string {
	mac, err := PassingMAC()
	if err != nil {
		return "the error message is withheld because it may contain secrets: " + err.Error()
	}
	return Masking(mac)(text)
}

// MaskAll is Masked for each text of a list, in place.
func MaskAll(texts []string) {
	for i := range texts {
		texts[i] = Masked(texts[i])
	}
}
