// Package installed reads where agents start reviewer's hooks, and finds out whether an installation still is what it was:
// its settings, programs, socket and state.
//
// Out of scope: what is written to settings (engine/harness/settings), who may install and uninstall, and how people are
// told (the caller passes that in).
package installed

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// File is what was found in one settings file.
type File struct {
	Layer, Path string
	settings.Findings
	whole string // digest of a file that has nothing but what reviewer wrote; empty: it has more
}

// Standing is what was found in all settings of an agent.
type Standing struct {
	Agent    settings.Agent
	Files    []File
	Own      []settings.OwnHook // that the client starts
	Managed  bool               // managed settings are among their places
	Pinned   bool               // and prevent other settings from turning them off
	Silenced []string           // files whose entries the client ignores
	Broken   []string           // why files cannot be read
}

// Reader reads settings, a file again only after it was changed.
type Reader struct {
	Client string // version of Claude Code, as it prints it; empty: unknown
	kept   map[string]kept
	layers map[[3]string][]settings.Layer // of agents in folders
}

// layersOf returns the layers of an agent. Describing them takes longer than looking at the files.
func (r *Reader) layersOf(agent settings.Agent, p settings.Places) []settings.Layer {
	key := [3]string{agent.Name, p.Home, p.Project}
	if list, ok := r.layers[key]; ok {
		return list
	}
	if r.layers == nil || len(r.layers) > maxFolders {
		r.layers = map[[3]string][]settings.Layer{}
	}
	r.layers[key] = agent.Layers(p)
	return r.layers[key]
}

// maxFolders bounds the folders of which layers are kept.
const maxFolders = 256

// kept is a file as it was read.
type kept struct {
	info fs.FileInfo
	file File
}

// Read reads all settings of an agent.
func (r *Reader) Read(agent settings.Agent, p settings.Places) Standing {
	s := Standing{Agent: agent}
	if agent.Name == harness.ClaudeCode {
		if raw, err := cli.RegistrySettings(); err != nil {
			s.Broken = append(s.Broken, err.Error())
		} else if raw != nil {
			l := r.layersOf(agent, p)[0]
			s.Files = append(s.Files, r.inspect(l, cli.RegistryPlace, raw))
		}
	}
	for _, l := range r.layersOf(agent, p) {
		for _, path := range signed.Files(l) {
			f, err := r.File(l, path)
			if err == nil {
				s.Files = append(s.Files, f)
			} else if !errors.Is(err, fs.ErrNotExist) {
				s.Broken = append(s.Broken, fmt.Sprintf("%s settings: read settings: %v", l.Name, err))
			}
		}
	}
	s.Sort()
	return s
}

// File reads one file of a layer.
func (r *Reader) File(l settings.Layer, path string) (File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return File{}, err
	}
	if k, ok := r.kept[path]; ok && k.file.Layer == l.Name && same(k.info, info) {
		return k.file, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return File{}, err
	}
	f := r.inspect(l, path, raw)
	if r.kept == nil || len(r.kept) > maxFolders {
		r.kept = map[string]kept{}
	}
	r.kept[path] = kept{info, f}
	return f, nil
}

func (r *Reader) inspect(l settings.Layer, path string, raw []byte) File {
	f := File{Layer: l.Name, Path: path, Findings: l.Format.Inspect(raw, r.Client)}
	if l.Format.Uninstall != nil && len(f.Own) > 0 {
		if rest, err := l.Format.Uninstall(raw); err == nil && rest == nil {
			f.whole = engine.HexSum(raw)
		}
	}
	return f
}

// Sort separates entries that the client starts from those that it ignores, because managed settings allow no others.
func (s *Standing) Sort() {
	only := slices.ContainsFunc(s.Files, func(f File) bool { return f.Layer == settings.LayerManaged && f.AllowManagedHooksOnly })
	for _, f := range s.Files {
		managed := f.Layer == settings.LayerManaged
		switch {
		case len(f.Own) == 0 || f.Problem != "":
		case only && !managed:
			s.Silenced = append(s.Silenced, f.Path)
		default:
			s.Own = append(s.Own, f.Own...)
			s.Managed = s.Managed || managed
			s.Pinned = s.Pinned || managed && f.Pinned
		}
	}
}

// same reports whether a file was neither replaced nor changed.
func same(then, now fs.FileInfo) bool {
	return os.SameFile(then, now) && then.Size() == now.Size() && then.ModTime().Equal(now.ModTime()) &&
		osfile.Changed(then) == osfile.Changed(now)
}

// Home returns the state directory that the hooks in managed settings, or else in the user's, name; "": none do. The
// agent's folder is the usual one: a project can set variables of a hook.
func Home(agent settings.Agent, p settings.Places) string {
	p.Env = nil
	found := (&Reader{}).Read(agent, p)
	for _, layer := range []string{settings.LayerManaged, settings.LayerUser} {
		for _, f := range found.Files {
			i := slices.IndexFunc(f.Own, func(own settings.OwnHook) bool { return own.Home != "" })
			if f.Layer == layer && i >= 0 {
				return f.Own[i].Home
			}
		}
	}
	return ""
}
