package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/osfile"
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
	if aside, err := filepath.Glob(home + Aside + "*"); err == nil { // only a bad pattern is an error
		guard = append(guard, aside...)
	}
	var programs []string
	if p := Program(); p != "" {
		programs = []string{p, filepath.Join(filepath.Dir(p), HookClient)}
	}
	w := classify.LocalWorld(user, a.Env("TMPDIR"), append(guard, programs...))
	w.State, w.Programs = home, programs
	if w.Ports, err = apiPorts(home); err != nil {
		return classify.System{}, err
	}
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

// addressFile is the file in the state directory with the address at which the HTTP API listens
// or last listened, or at which an installed service will. A call that uses this port is about
// reviewer itself, also while nobody listens there.
const addressFile = "api.address"

// pageFile is the same for the pages of `reviewer ui`.
const pageFile = "ui.address"

// KeepAPIAddress records the address of the HTTP API; empty: there is none.
func KeepAPIAddress(home, address string) error { return keepAddress(home, addressFile, address) }

// KeepPageAddress records the address of the pages; empty: there is none.
func KeepPageAddress(home, address string) error { return keepAddress(home, pageFile, address) }

func keepAddress(home, name, address string) error {
	path := filepath.Join(home, name)
	if address == "" {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := osfile.MkdirPrivate(home); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(home, name+".*")
	if err != nil {
		return err
	}
	_, err = tmp.WriteString(address + "\n")
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = osfile.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}

// apiPorts returns the recorded ports of the HTTP API and of the pages.
func apiPorts(home string) ([]int, error) {
	api, err := recordedPort(home, addressFile, "reviewer serve --http ADDRESS")
	pages, err2 := recordedPort(home, pageFile, "reviewer ui")
	return append(api, pages...), errors.Join(err, err2)
}

// recordedPort returns the port in a file that a command writes.
func recordedPort(home, name, command string) ([]int, error) {
	path := filepath.Join(home, name)
	b, err := osfile.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	at, err := netip.ParseAddrPort(strings.TrimSpace(string(b)))
	if err != nil {
		return nil, fmt.Errorf("%s does not contain an address: start `%s` again, or remove the file", path, command)
	}
	if at.Port() == 0 { // the system chooses one when it listens
		return nil, nil
	}
	return []int{int(at.Port())}, nil
}
