package installed

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// What a problem is about.
const (
	Settings = "settings"
	Program  = "program"
	Socket   = "socket"
	State    = "state"
)

// Problem is something about an installation that no longer is what it was.
type Problem struct {
	About string
	Agent string // empty: all
	Path  string
	Text  string // what it is, the harm, and what to do
	Event bool   // it happened, and may not be found again

	layer   string
	program string // of the hooks that are to be there
}

// hooksOf describes the hooks of a state directory in a file; nil: there are none.
func hooksOf(agent string, f File, home string) *engine.Hooks {
	h := &engine.Hooks{Agent: agent, Layer: f.Layer, File: f.Path, Events: []string{}}
	var entries []string // what does not depend on the version of this program
	for _, own := range f.Own {
		if filepath.Clean(own.Home) != home {
			continue
		}
		h.Program = cmp.Or(h.Program, own.Program)
		if f.Installed(own.Event) && !slices.Contains(h.Events, own.Event) {
			h.Events = append(h.Events, own.Event)
		}
		h.Problems = append(h.Problems, own.Problems...)
		entries = append(entries, fmt.Sprintf("%q", []string{own.Event, own.Matcher, own.Form, own.Program, own.Line, own.Key,
			strconv.Itoa(own.Timeout), strconv.Itoa(own.Wait)}))
	}
	if len(entries) == 0 {
		return nil
	}
	slices.Sort(h.Problems)
	h.Problems = slices.Compact(h.Problems)
	if h.Digest = f.whole; h.Digest == "" {
		h.Digest = engine.HexSum([]byte(strings.Join(entries, "\n")))
	}
	return h
}

// layerOf finds the layer of a recorded file, wherever a variable has moved the agent's folder.
func layerOf(layers []settings.Layer, h engine.Hooks) (settings.Layer, bool) {
	for _, fits := range []func(settings.Layer) bool{
		func(l settings.Layer) bool { return l.Path == h.File },
		func(l settings.Layer) bool { return l.Dir && l.Path == filepath.Dir(h.File) },
		func(l settings.Layer) bool { return !l.Dir && filepath.Base(l.Path) == filepath.Base(h.File) },
		func(l settings.Layer) bool { return l.Dir },
	} {
		i := slices.IndexFunc(layers, func(l settings.Layer) bool { return l.Name == h.Layer && l.Format.Inspect != nil && fits(l) })
		if i >= 0 {
			return layers[i], true
		}
	}
	return settings.Layer{}, false
}

// hooks compares the hooks that were installed with those that are there.
func (w *Watch) hooks(agent settings.Agent, h engine.Hooks) []Problem {
	l, found := layerOf(w.reader.layersOf(agent, w.here()), h)
	if !found {
		return nil // of another version
	}
	problem := func(format string, args ...any) []Problem {
		flag := map[string]string{settings.LayerManaged: " --managed", settings.LayerProject: " --project"}[h.Layer]
		return []Problem{{About: Settings, Agent: h.Agent, Path: h.File, layer: h.Layer, program: h.Program,
			Text: fmt.Sprintf("the hooks of %s in %s %s. If you did not change this, something may have turned the review off: run "+
				"`reviewer install %s%s` to write them again, or `reviewer uninstall %s%s` if they are to go",
				h.Agent, h.File, fmt.Sprintf(format, args...), h.Agent, flag, h.Agent, flag)}}
	}
	f, err := w.reader.File(l, h.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return problem("are gone with the whole file, so calls are no longer reviewed")
	case err != nil:
		return problem("cannot be read (%v), so calls may not be reviewed", err)
	case f.Problem != "":
		return problem("are ignored by the client (%s), so calls are not reviewed", f.Problem)
	}
	now := hooksOf(h.Agent, f, w.Home)
	if now == nil {
		if len(f.Own) > 0 {
			return problem("name another state directory (%s), so calls are not recorded here", f.Own[0].Home)
		}
		return problem("were removed, so calls are no longer reviewed")
	}
	lost := slices.DeleteFunc(slices.Clone(h.Events), func(event string) bool { return slices.Contains(now.Events, event) })
	worse := slices.DeleteFunc(slices.Clone(now.Problems), func(text string) bool { return slices.Contains(h.Problems, text) })
	switch {
	case len(lost) > 0:
		return problem("are no longer called for every tool at %s, so that goes unreviewed", strings.Join(lost, ", "))
	case now.Program != h.Program:
		return problem("start another program, %s, so who reviews calls is not known", now.Program)
	case len(worse) > 0:
		return problem("were changed: %s", strings.Join(worse, "; "))
	case now.Digest != h.Digest:
		return problem("were changed, so they may no longer review every call")
	}
	return nil
}

// switches finds what turns off the hooks of an agent: in its own settings, and in those of the workspaces.
func (w *Watch) switches(agent settings.Agent) (list []Problem) {
	workspaces := []string{""}
	if w.Workspaces != nil {
		workspaces = append(workspaces, w.Workspaces()...)
	}
	known := map[string]bool{}
	for _, workspace := range workspaces {
		p := w.here()
		p.Project = cmp.Or(workspace, p.Project)
		s := w.reader.Read(agent, p)
		for _, path := range s.Silenced {
			if !s.Managed && !known[path] {
				known[path] = true
				list = append(list, Problem{About: Settings, Agent: agent.Name, Path: path, Text: fmt.Sprintf("managed settings allow "+
					"only managed hooks, so those of %s in %s do not run, and calls are not reviewed: run `reviewer install %s --managed`",
					agent.Name, path, agent.Name)})
			}
		}
		for _, f := range s.Files {
			for _, off := range f.Off {
				if known[f.Path+off.Name] || !s.silences(f, off) {
					continue
				}
				known[f.Path+off.Name] = true
				list = append(list, Problem{About: Settings, Agent: agent.Name, Path: f.Path, Text: fmt.Sprintf(
					"%s in %s turns the hooks of %s off, so calls are not reviewed where it applies: remove it from the file, and run "+
						"`reviewer doctor settings`", off.Name, f.Path, agent.Name)})
			}
		}
	}
	return list
}

// silences reports whether a switch turns off hooks that would run: managed ones are immune to those of other settings.
func (s *Standing) silences(f File, off settings.Off) bool {
	switch {
	case len(s.Own) == 0 && f.Layer != settings.LayerManaged:
		return false
	case off.Always || f.Layer == settings.LayerManaged:
		return true
	}
	return !s.Pinned && !(s.Managed && s.Agent.Name == harness.ClaudeCode)
}

// programsOf compares the programs with those that were there at the first look. A file that only an administrator can
// write was replaced by an administrator, or by a package manager for one; any other can be an update or an attack.
func (w *Watch) programsOf(found *audit.Installation) (list []Problem) {
	if w.programs == nil || w.written != found.Written { // they were installed again since
		w.written, w.programs = found.Written, map[string]fs.FileInfo{}
	}
	paths := []string{cli.Program()}
	for _, h := range found.Hooks {
		program := filepath.FromSlash(h.Program)
		paths = append(paths, program)
		if name := strings.TrimSuffix(filepath.Base(program), ".exe"); name == cli.HookClient {
			paths = append(paths, filepath.Join(filepath.Dir(program), "reviewer"+filepath.Ext(program)))
		}
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		if !filepath.IsAbs(path) {
			continue
		}
		now, err := os.Stat(path)
		then := w.programs[path]
		switch {
		case err != nil:
			list = append(list, Problem{About: Program, Path: path, Text: fmt.Sprintf("the program %s is missing (%v), so hooks that start it "+
				"deny every call, or let it run where the client ignores them: install reviewer there again, then run `reviewer doctor`", path, err)})
			continue
		case then != nil && !same(then, now) && !administered(path):
			list = append(list, Problem{About: Program, Path: path, Event: true, Text: fmt.Sprintf("the program %s was replaced (%s). "+
				"If that was not an update of yours, it may review nothing: install reviewer again from a source that you trust, then run "+
				"`reviewer doctor`", path, code.Clock(w.now().UnixMilli()))})
		}
		w.programs[path] = now
	}
	return list
}

// administered reports whether only an administrator, who this process is not, can replace a file.
func administered(path string) bool {
	path, err := filepath.EvalSymlinks(path)
	if err != nil || os.Geteuid() == 0 {
		return false
	}
	for ; osfile.Administered(path) == nil; path = filepath.Dir(path) {
		if path == filepath.Dir(path) {
			return true
		}
	}
	return false
}

// folder reports that the path of the state directory no longer leads to the folder that this process opened, or that the ledger in
// it has shrunk.
func (w *Watch) folder() []Problem {
	now, err := os.Stat(w.Home)
	switch {
	case err != nil:
		return []Problem{{About: State, Path: w.Home, Text: fmt.Sprintf("the state directory %s is gone (%v), and with it the log, "+
			"the approval code and what was denied and stopped: restore it before you start an agent", w.Home, err)}}
	case w.state == nil:
		w.state = now
	case !os.SameFile(w.state, now):
		return []Problem{{About: State, Path: w.Home, Text: fmt.Sprintf("the state directory %s was replaced by another folder, so "+
			"what was denied and stopped may no longer count. Unless you ran `reviewer approvals code --lost`, restore the earlier one", w.Home)}}
	}
	if w.Log.LedgerSize() < w.size {
		return []Problem{{About: State, Path: w.Home, Text: fmt.Sprintf("the ledger in %s was removed, cut or replaced, so what people "+
			"stopped and allowed, and what should be installed, is not known: run `reviewer audit verify`, and restore it", w.Home)}}
	}
	return nil
}

// maxNamed bounds the sessions that a message names.
const maxNamed = 5

// sessions reports logs of sessions that are gone. The ledger is read only if a session was added or removed since.
func (w *Watch) sessions() ([]Problem, error) {
	now, err := os.Stat(w.Log.SessionsDir())
	if w.looked && (err != nil && w.listed == nil || err == nil && w.listed != nil && same(w.listed, now)) {
		return w.missing, nil
	}
	gone, err := w.Log.Missing()
	if err != nil {
		return nil, err
	}
	if w.looked, w.missing, w.listed = true, nil, now; len(gone) == 0 {
		return nil, nil
	}
	var names []string
	for _, key := range gone[:min(len(gone), maxNamed)] {
		names = append(names, key.Harness+" "+key.Session)
	}
	if more := len(gone) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	w.missing = []Problem{{About: State, Path: w.Log.SessionsDir(), Event: true, Text: fmt.Sprintf("the log of %s (%s) is gone "+
		"from %s, and the ledger does not say that it was to be removed: their next calls are denied; restore the folder from a "+
		"backup, or begin new sessions",
		engine.Counted(len(gone), "session", "sessions"), strings.Join(names, ", "), w.Log.SessionsDir())}}
	return w.missing, nil
}
