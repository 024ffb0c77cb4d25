package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// stateHome returns where logs, keys and policies are kept: --home, else
// $REVIEWER_HOME, else the XDG state directory.
func (a *app) stateHome() (string, error) {
	for _, dir := range []string{a.home, a.env("REVIEWER_HOME")} {
		if dir != "" {
			return filepath.Abs(dir)
		}
	}
	if dir := a.env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "reviewer"), nil
	}
	home, err := a.userHome()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "state", "reviewer"), nil
}

func (a *app) userHome() (string, error) {
	if home := a.env("HOME"); filepath.IsAbs(home) {
		return home, nil
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return "", errors.New("no home directory is known: set HOME, or say where the state lives with --home")
	}
	return home, nil
}

func (a *app) openStore() (*audit.Store, error) {
	dir, err := a.stateHome()
	if err != nil {
		return nil, err
	}
	return &audit.Store{Dir: dir, Env: environment()}, nil
}

// layerDir returns the folder of a policy layer; empty where there is none.
func layerDir(layer, home, workspace string) string {
	switch layer {
	case bundles.Organisation:
		return organisationDir()
	case bundles.User:
		return filepath.Join(home, "policy")
	case bundles.Project:
		if workspace != "" {
			return filepath.Join(workspace, filepath.FromSlash(projectDir))
		}
	}
	return ""
}

// organisationDir is not configurable: whoever could move it could empty it.
func organisationDir() string {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/reviewer/policy"
	}
	return "/etc/reviewer/policy"
}

func isDir(path string) (bool, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, notDangling(path)
	case err != nil:
		return false, fmt.Errorf("look for a policy: %w", err)
	case !info.IsDir():
		return false, fmt.Errorf("%s is no folder; a policy is a folder of files", path)
	}
	return true, nil
}

// notDangling refuses a link that leads nowhere: somebody put a policy behind
// it, and without it nothing of that would hold.
func notDangling(path string) error {
	if to, err := os.Readlink(path); err == nil {
		return fmt.Errorf("%s is a link to %s, which is not there; put the folder back, or remove the link", path, to)
	}
	return nil
}
