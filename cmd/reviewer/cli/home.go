package cli

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/engine/audit"
)

// StateHome returns where logs, keys and policies are kept: --home, else
// $REVIEWER_HOME, else the XDG state directory.
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
	return filepath.Join(home, ".local", "state", "reviewer"), nil
}

// UserHome is the home directory of who runs the command.
func (a *App) UserHome() (string, error) {
	if home := a.Env("HOME"); filepath.IsAbs(home) {
		return home, nil
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return "", errors.New("no home directory is known: set HOME, or say where the state lives with --home")
	}
	return home, nil
}

// OpenStore returns the log in the state directory.
func (a *App) OpenStore() (*audit.Store, error) {
	dir, err := a.StateHome()
	if err != nil {
		return nil, err
	}
	return &audit.Store{Dir: dir, Env: Environment()}, nil
}
