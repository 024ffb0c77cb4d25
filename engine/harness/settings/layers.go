package settings

import (
	"path/filepath"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

// Layer is a place where an agent looks for settings. Hooks of all layers
// apply together; a switch in an earlier layer overrides one in a later layer.
type Layer struct {
	Name   string // managed, local, project, user
	Path   string // the file; of a Dir, the folder whose Files count
	Dir    bool
	Files  string // which of a folder count, as a pattern; empty: *.json
	Format Format // of the file, or of each in the folder
	Run    bool   // the agent runs the file itself
}

// Places describes where a client looks.
type Places struct {
	OS      string // runtime.GOOS
	Home    string
	Env     func(name string) string // variables that move an agent's folder; nil: none is set
	Project string                   // the folder where the client is started; parents are not searched
	Root    string                   // the repository's root, where newer clients look for the local file; empty: Project
}

// folder returns an agent's folder: the value of a variable, else one in the home
// directory.
func (p Places) folder(variable, name string) string {
	if p.Env != nil && p.Env(variable) != "" {
		return p.Env(variable)
	}
	return filepath.Join(p.Home, name)
}

// managed is a file or folder of managed settings, under the folder of the system; empty: that is not
// known.
func (p Places) managed(below managedFolders, name string) string {
	folder := map[string]string{"linux": below.linux, "darwin": below.mac, "windows": below.windows}[p.OS]
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, name)
}

// managedFolders are the folders in which an agent looks for managed settings. Those of Linux were tried;
// the others are in the code of the agent for Linux, which names them all.
type managedFolders struct{ linux, mac, windows string }

// The names of the layers.
const (
	LayerManaged = "managed"
	LayerLocal   = "local"
	LayerProject = "project"
	LayerUser    = "user"
)

// claudeCodeLayers lists the layers of Claude Code, the strongest first. The
// files need not exist.
func claudeCodeLayers(_ harness.Harness, p Places) []Layer {
	managed := "/etc/claude-code"
	switch p.OS {
	case "darwin":
		managed = "/Library/Application Support/ClaudeCode"
	case "windows":
		managed = "C:/Program Files/ClaudeCode"
	}
	config := p.folder("CLAUDE_CONFIG_DIR", ".claude")
	layers := []Layer{
		{Name: LayerManaged, Path: filepath.Join(managed, "managed-settings.json")},
		{Name: LayerManaged, Path: filepath.Join(managed, "managed-settings.d"), Dir: true},
		{Name: LayerLocal, Path: filepath.Join(p.Project, ".claude", "settings.local.json")},
	}
	if p.Root != "" && p.Root != p.Project {
		layers = append(layers, Layer{Name: LayerLocal, Path: filepath.Join(p.Root, ".claude", "settings.local.json")})
	}
	return inFormat(claudeCode().format(), append(layers,
		Layer{Name: LayerProject, Path: filepath.Join(p.Project, ".claude", "settings.json")},
		Layer{Name: LayerUser, Path: filepath.Join(config, "settings.json")}))
}

// inFormat is used where the files of all layers have one format.
func inFormat(f Format, layers []Layer) []Layer {
	for i := range layers {
		layers[i].Format = f
	}
	return layers
}
