package active

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
)

// LayerAt returns the layer of a folder: by its place, else by its manifest.
func LayerAt(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	switch {
	case err != nil:
		return "", err
	case abs == OrganisationDir():
		return bundles.Organisation, nil
	case strings.HasSuffix(filepath.ToSlash(abs), "/"+projectDir):
		return bundles.Project, nil
	}
	return bundles.LayerOf(os.DirFS(dir))
}

// LayerDir returns the folder of a policy layer; empty if there is none.
func LayerDir(layer, home, workspace string) string {
	switch layer {
	case bundles.Organisation:
		return OrganisationDir()
	case bundles.User:
		return filepath.Join(home, "policy")
	case bundles.Project:
		if workspace != "" {
			return filepath.Join(workspace, filepath.FromSlash(projectDir))
		}
	}
	return ""
}

// OrganisationDir is not configurable, because a configured folder could be an empty
// one.
func OrganisationDir() string { return filepath.FromSlash(organisationDir(runtime.GOOS)) }

// organisationDir is a folder that only administrators can change. On Windows that is
// not ProgramData, where everyone can create folders.
func organisationDir(system string) string {
	switch system {
	case "darwin":
		return "/Library/Application Support/reviewer/policy"
	case "windows":
		return "C:/Program Files/reviewer/policy"
	}
	return "/etc/reviewer/policy"
}

// IsDir reports whether a path is a folder. Anything else with that name is an error,
// including a dangling link.
func IsDir(path string) (bool, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, notDangling(path)
	case err != nil:
		return false, fmt.Errorf("look for a policy: %w", err)
	case !info.IsDir():
		return false, fmt.Errorf("%s is not a folder; a policy is a folder of files", path)
	}
	return true, nil
}

// notDangling refuses a dangling link: a policy was meant to be there, and without it
// none of its rules would apply.
func notDangling(path string) error {
	if to, err := os.Readlink(path); err == nil {
		return fmt.Errorf("%s is a link to %s, which does not exist; restore the folder, or remove the link", path, to)
	}
	return nil
}
