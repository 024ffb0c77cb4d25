package apiserver

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// TokenFile is the name of the file with the token, in the state directory.
const TokenFile = "api.token"

// Token returns the token of a state directory, which is created if there is none.
func Token(home string) (string, error) {
	path := filepath.Join(home, TokenFile)
	token, err := readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	b := make([]byte, 32)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("create a token: %w", err)
	}
	if err := osfile.MkdirPrivate(home); err != nil {
		return "", err
	}
	f, err := osfile.CreatePrivate(path)
	if errors.Is(err, fs.ErrExist) {
		return readToken(path)
	}
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(hex.EncodeToString(b) + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	return readToken(path)
}

// readToken refuses a file that others can read or that is not a token.
func readToken(path string) (string, error) {
	f, err := osfile.OpenItself(path, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer f.Close() // nothing was written
	if how, err := osfile.ReadByOthers(f); err != nil || how != "" {
		return "", errors.Join(err, fmt.Errorf("others can read %s; remove it, so that a new token is created", path))
	}
	b := make([]byte, 128)
	n, err := f.Read(b)
	token := strings.TrimSpace(string(b[:n]))
	if raw, e := hex.DecodeString(token); err != nil || e != nil || len(raw) != 32 {
		return "", fmt.Errorf("%s does not contain a token; remove it, so that a new one is created", path)
	}
	return token, nil
}
