package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// Fingerprint returns that of the key whose choices count: the one that an administrator stated for the user, else the
// one of the hook's command line; empty: the ledger's own first key counts.
func (a *App) Fingerprint() string {
	stated, _ := AdministeredKey() // doctor reports a file that is not believed
	return cmp.Or(stated, a.Key)
}

// KeyFile returns the file in which an administrator states the fingerprint of a user's key, where one installation
// serves several people.
func KeyFile(name string) string {
	return filepath.Join(filepath.Dir(active.OrganisationDir()), "keys", name)
}

// AdministeredKey returns the fingerprint that an administrator stated for the user who runs this; empty: none. A file
// that somebody else could change is an error and is not believed; with one that has no fingerprint, no key counts.
func AdministeredKey() (string, error) {
	dir := filepath.Dir(KeyFile(""))
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return administeredKey(KeyFile(accountName()), string(filepath.Separator))
}

// administeredKey reads a file that nobody but an administrator can change, nor any folder above it up to one.
func administeredKey(path, top string) (string, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	for at := path; err == nil; at = filepath.Dir(at) {
		if err = osfile.Administered(at); at == top || at == filepath.Dir(at) {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("the fingerprint for this user is not believed: %w", err)
	}
	if key := strings.TrimSpace(string(raw)); engine.IsFingerprint(key) {
		return key, nil
	}
	return "invalid", fmt.Errorf("%s does not consist of the 32 hexadecimal digits of a fingerprint, so no approval code counts: "+
		"write it again with `reviewer approvals code --user NAME` as an administrator", path)
}

// accountName returns the user's name as the system knows it: the environment, which a project can set, does not count.
func accountName() string {
	id := strconv.Itoa(os.Getuid())
	u, err := user.LookupId(id)
	if id == "-1" { // Windows
		u, err = user.Current()
	}
	if err != nil {
		return id
	}
	return u.Username[strings.LastIndexByte(u.Username, '\\')+1:]
}
