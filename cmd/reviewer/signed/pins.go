package signed

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
)

// Pin is the fingerprint that the hooks of an agent were given.
type Pin struct {
	Agent   string
	Layer   string
	File    string
	Home    string // the state directory
	Key     string // empty: the ledger's own key counts
	Program string // that the hooks start
}

// Places returns where the agents of the user keep their settings.
func Places(a *cli.App) (settings.Places, error) {
	home, err := a.UserHome()
	if err != nil {
		return settings.Places{}, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return settings.Places{}, fmt.Errorf("find the working directory: %w", err)
	}
	return settings.Places{OS: runtime.GOOS, Home: home, Env: a.Env, Project: cwd}, nil
}

// Pins lists what the installed hooks were given, each file and fingerprint once: those of a state directory; empty: of
// all. A file that cannot be read is for doctor to report.
func Pins(a *cli.App, home string) ([]Pin, error) {
	p, err := Places(a)
	if err != nil {
		return nil, err
	}
	var list []Pin
	known := map[Pin]bool{}
	for _, agent := range settings.Agents() {
		for _, l := range agent.Layers(p) {
			for _, path := range Files(l) {
				raw, err := os.ReadFile(path)
				if err != nil {
					continue
				}
				for _, own := range l.Format.Inspect(raw, "").Own {
					pin := Pin{agent.Name, l.Name, path, filepath.Clean(own.Home), own.Key, own.Program}
					if (home == "" || pin.Home == filepath.Clean(home)) && !known[pin] {
						known[pin] = true
						list = append(list, pin)
					}
				}
			}
		}
	}
	return list, nil
}

// Installed lists the files of this program that the hooks of a state directory use.
func Installed(a *cli.App, home string) []string {
	pins, err := Pins(a, home)
	if err != nil {
		return nil // without a home directory, no hook is installed
	}
	var list []string
	for _, pin := range pins {
		dir, name := filepath.Split(filepath.FromSlash(pin.Program))
		if strings.TrimSuffix(name, ".exe") == cli.HookClient {
			name = "reviewer" + strings.TrimPrefix(name, cli.HookClient)
		}
		if _, err := os.Stat(dir + name); err == nil && filepath.IsAbs(dir) && !slices.Contains(list, dir+name) {
			list = append(list, dir+name)
		}
	}
	return list
}

// Files lists the files of a layer that an agent reads.
func Files(l settings.Layer) []string {
	switch {
	case l.Format.Inspect == nil || l.Path == "":
		return nil
	case !l.Dir:
		return []string{l.Path}
	}
	files, err := filepath.Glob(filepath.Join(l.Path, cmp.Or(l.Files, "*.json")))
	if err != nil {
		return nil // only a bad pattern is an error, and this is not one
	}
	return files
}

// Follows reports whether the key of a ledger is the one of a fingerprint, or follows from it.
func Follows(log *audit.Store, fingerprint string) (bool, error) {
	k, _, err := (&audit.Store{Dir: log.Dir, Fingerprint: fingerprint}).PersonKey()
	return k != nil, err
}

// Pinned returns the log of a state directory in which choices count as they do for hooks: with the fingerprint that the
// ledger follows, if one of them has it.
func Pinned(log *audit.Store, pins []Pin) (*audit.Store, error) {
	if log.Fingerprint != "" {
		return log, nil
	}
	own := &audit.Store{Dir: log.Dir, Env: log.Env}
	for i, pin := range pins {
		follows, err := Follows(log, pin.Key)
		switch {
		case err != nil:
			return nil, err
		case i == 0 || pin.Key == "" && own.Fingerprint != "":
			own.Fingerprint = pin.Key
		}
		if pin.Key != "" && follows {
			own.Fingerprint = pin.Key
			break
		}
	}
	return own, nil
}

// OtherKey says what to do about hooks that were given the fingerprint of another key.
const OtherKey = "was given the fingerprint of another key, of another machine or of an earlier ledger, so what you choose here " +
	"does not count in its sessions: run `reviewer install %s` on this machine; if several machines share the file, an administrator runs " +
	"`reviewer approvals code --user NAME` on each"

// checkPins refuses to ask for a code with which nothing would count, and warns where it counts only in part.
func checkPins(a *cli.App, log *audit.Store) error {
	if err := log.CheckFingerprint(); err != nil {
		return fmt.Errorf("%w: %s names another key than this ledger; an administrator writes it again with "+
			"`reviewer approvals code --user NAME`", err, cli.KeyFile("NAME"))
	}
	if log.Fingerprint != "" {
		return nil // what an administrator states counts, whatever the hooks were given
	}
	pins, err := Pins(a, log.Dir)
	if err != nil {
		return err
	}
	var strange []string
	for _, pin := range pins {
		if pin.Key == "" {
			continue
		}
		follows, err := Follows(log, pin.Key)
		if err != nil {
			return err
		}
		if !follows {
			strange = append(strange, fmt.Sprintf("the hook of %s (%s) "+OtherKey, pin.Agent, pin.File, pin.Agent))
		}
	}
	if len(strange) > 0 && len(strange) == len(pins) {
		return fmt.Errorf("%s", strings.Join(strange, "; "))
	}
	for _, text := range strange {
		fmt.Fprintf(a.Stderr, "reviewer: %s\n", cli.Masked(text))
	}
	return nil
}
