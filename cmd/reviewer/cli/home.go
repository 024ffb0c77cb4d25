package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/agent-reviewer/reviewer/engine/audit"
)

// StateHome returns the folder of logs, keys and policies: --home, else
// $REVIEWER_HOME, else the XDG state directory, else the system's folder for such
// files.
func (a *App) StateHome() (string, error) {
	for _, dir := range []string{a.Home, a.Env("REVIEWER_HOME")} {
		if dir != "" {
			return filepath.Abs(dir)
		}
	}
	if dir := a.Env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "reviewer"), nil
	}
	home, err := a.UserHome()
	if err != nil {
		return "", err
	}
	return usualStateHome(runtime.GOOS, home, a.Env("LOCALAPPDATA")), nil
}

// NoteMissingHome writes a note on standard error if the state directory that was named does
// not exist, for commands that only read it. The usual one is missing before the first call.
func (a *App) NoteMissingHome() {
	named := cmp.Or(a.Home, a.Env("REVIEWER_HOME"))
	if named == "" {
		return
	}
	if _, err := os.Stat(named); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(a.Stderr, "reviewer: the state directory %s does not exist, so nothing is recorded or activated there\n", Masked(named))
	}
}

// Aside is what the name of a state directory ends with, before the date, that was moved aside because its approval code
// was lost.
const Aside = ".old-"

// StateHomeOf returns the usual folder of logs, keys and policies of a user.
func StateHomeOf(userHome string) string { return usualStateHome(runtime.GOOS, userHome, "") }

// usualStateHome returns the system's folder for state of programs. local is
// $LOCALAPPDATA, which Windows sets.
func usualStateHome(system, home, local string) string {
	switch {
	case system == "windows" && local != "":
		return filepath.Join(local, "reviewer")
	case system == "windows":
		return filepath.Join(home, "AppData", "Local", "reviewer")
	}
	return filepath.Join(home, ".local", "state", "reviewer")
}

// UserHome returns the home directory of the current user.
func (a *App) UserHome() (string, error) {
	if home := a.Env("HOME"); filepath.IsAbs(home) {
		return home, nil
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return "", errors.New("the home directory is unknown: set HOME, or name the state directory with --home")
	}
	return home, nil
}

// OpenStore returns the log in the state directory.
func (a *App) OpenStore() (*audit.Store, error) {
	dir, err := a.StateHome()
	if err != nil {
		return nil, err
	}
	return &audit.Store{Dir: dir, Env: Environment(), Fingerprint: a.Fingerprint(), Policy: policyAt(dir)}, nil
}

// policyAt returns a function that names the active policy; empty: it cannot be read, which does not keep a person from
// choosing.
func policyAt(home string) func(workspace string) string {
	return func(workspace string) string {
		e, err := MachineAt(home).Effective(workspace)
		if err != nil {
			return ""
		}
		return e.Digest
	}
}
