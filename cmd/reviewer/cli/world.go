package cli

import (
	"os"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/engine/classify"
)

// World is this machine, with what belongs to reviewer itself marked.
func (a *App) World(home string) (classify.World, error) {
	user, err := a.UserHome()
	if err != nil {
		return classify.World{}, err
	}
	guard := []string{home, filepath.Dir(here.OrganisationDir())}
	if p := Program(); p != "" {
		guard = append(guard, p)
	}
	return classify.LocalWorld(user, a.Env("TMPDIR"), guard), nil
}

// Program is the absolute path of this program; empty where the system does not say.
func Program() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}
