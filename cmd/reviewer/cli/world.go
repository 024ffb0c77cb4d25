package cli

import (
	"os"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/engine/classify"
)

// HookClient is the name of the program that queries the resident process, in the folder of this
// one.
const HookClient = "reviewer-hook"

// World is this machine, with what belongs to reviewer itself marked.
func (a *App) World(home string) (classify.System, error) {
	user, err := a.UserHome()
	if err != nil {
		return classify.System{}, err
	}
	guard := []string{home, filepath.Dir(active.OrganisationDir())}
	if p := Program(); p != "" {
		guard = append(guard, p, filepath.Join(filepath.Dir(p), HookClient))
	}
	w := classify.LocalWorld(user, a.Env("TMPDIR"), guard)
	if temp := os.TempDir(); filepath.IsAbs(temp) && w.System == "windows" { // $TMP or $TEMP
		w.TempDirs = append(w.TempDirs, filepath.ToSlash(temp))
	}
	w.Path = filepath.SplitList(a.Env("PATH"))
	return w, nil
}

// Program is the absolute path of this program; empty if the system does not report it.
func Program() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}
