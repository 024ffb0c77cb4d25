package settings

import (
	"path/filepath"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

// jsonForm returns the form of an agent's JSON documents, with what is the same in most agents:
// groups with a matcher, and lines of a shell.
func jsonForm(h harness.Harness, change func(*form, *entry)) form {
	e := entry{agent: h.Name, command: "command", timeout: "timeout", unit: h.Unit, guarded: true}
	f := form{agent: h.Name, hooks: hooksOf(h), matcher: ".*"}
	if change != nil {
		change(&f, &e)
	}
	f.handler, f.problems, f.open = e.handler, e.problems, e.open
	return f
}

func codexLayers(h harness.Harness, p Places) []Layer {
	own := jsonForm(h, func(f *form, _ *entry) { f.dedicated = true })
	home := p.folder("CODEX_HOME", ".codex")
	project := filepath.Join(p.Project, ".codex")
	return []Layer{
		{Name: LayerManaged, Path: p.managed(managedFolders{linux: "/etc/codex"}, "requirements.toml"), Format: codexRequirements(h)},
		{Name: LayerProject, Path: filepath.Join(project, "hooks.json"), Format: own.format()},
		{Name: LayerProject, Path: filepath.Join(project, "config.toml"), Format: codexConfig()},
		{Name: LayerUser, Path: filepath.Join(home, "hooks.json"), Format: own.format()},
		{Name: LayerUser, Path: filepath.Join(home, "config.toml"), Format: codexConfig()},
	}
}

func geminiLayers(h harness.Harness, p Places) []Layer {
	own := jsonForm(h, func(f *form, e *entry) {
		e.named, e.lenient = true, true
		f.comments = true
		f.off = []offSwitch{
			{path: "hooksConfig.enabled", value: "false"},
			{path: "hooksConfig.disabled", names: true, always: true},
		}
	})
	system := managedFolders{"/etc/gemini-cli", "/Library/Application Support/GeminiCli", "C:/ProgramData/gemini-cli"}
	return append(managedAnd(own, p.managed(system, "settings.json"), fixed{"hooksConfig.enabled", "true"}),
		Layer{Name: LayerManaged, Path: p.managed(system, "policies/reviewer.toml"), Format: geminiRules()},
		Layer{Name: LayerProject, Path: filepath.Join(p.Project, ".gemini", "settings.json"), Format: own.format()},
		Layer{Name: LayerUser, Path: filepath.Join(p.Home, ".gemini", "settings.json"), Format: own.format()})
}

func copilotLayers(h harness.Harness, p Places) []Layer {
	own := jsonForm(h, func(f *form, e *entry) {
		e.command, e.timeout, e.guarded = "bash", "timeoutSec", false // a hook that fails in any way blocks the call
		f.flat, f.dedicated, f.fixed = true, true, []fixed{{"version", "1"}}
	})
	look := own
	look.fixed, look.dedicated = nil, false
	off := form{agent: h.Name, off: []offSwitch{{path: "disableAllHooks", value: "true"}}, others: claudeCode().eventNames()}
	layers := []Layer{}
	for _, at := range []struct{ layer, folder string }{
		{LayerManaged, p.managed(managedFolders{linux: "/etc/github-copilot"}, "policy.d")},
		{LayerProject, filepath.Join(p.Project, ".github", "hooks")},
		{LayerUser, filepath.Join(p.Home, ".copilot", "hooks")},
	} {
		if at.folder != "" {
			layers = append(layers, Layer{Name: at.layer, Path: filepath.Join(at.folder, "reviewer.json"), Format: own.format().unread()},
				Layer{Name: at.layer, Path: at.folder, Dir: true, Format: look.readOnly()})
		}
	}
	return append(layers,
		Layer{Name: LayerProject, Path: filepath.Join(p.Project, ".github", "copilot", "settings.json"), Format: off.readOnly()},
		Layer{Name: LayerLocal, Path: filepath.Join(p.Project, ".github", "copilot", "settings.local.json"), Format: off.readOnly()},
		Layer{Name: LayerProject, Path: filepath.Join(p.Project, ".claude", "settings.json"), Format: off.readOnly()})
}

func qwenLayers(h harness.Harness, p Places) []Layer {
	own := jsonForm(h, func(f *form, e *entry) {
		e.named, e.below = true, 1000
		f.comments = true
		f.off = []offSwitch{{path: "disableAllHooks", value: "true"}}
	})
	system := managedFolders{"/etc/qwen-code", "/Library/Application Support/QwenCode", "C:/ProgramData/qwen-code"}
	return append(managedAnd(own, p.managed(system, "settings.json"), fixed{"disableAllHooks", "false"}),
		Layer{Name: LayerProject, Path: filepath.Join(p.Project, ".qwen", "settings.json"), Format: own.format()},
		Layer{Name: LayerUser, Path: filepath.Join(p.Home, ".qwen", "settings.json"), Format: own.format()})
}

func droidLayers(h harness.Harness, p Places) []Layer {
	inSettings := jsonForm(h, func(f *form, _ *entry) {
		f.others = []string{"hooksDisabled"}
		f.off = []offSwitch{{path: "hooks.hooksDisabled", value: "true"}}
	})
	own := inSettings
	own.bare, own.dedicated = true, true
	own.off = []offSwitch{{path: "hooksDisabled", value: "true"}}
	system := managedFolders{"/etc/factory", "/Library/Application Support/Factory", "C:/Program Files/Factory"}
	layers := managedAnd(inSettings, p.managed(system, "settings.json"), fixed{"hooks.hooksDisabled", "false"})
	for _, at := range []struct{ layer, folder string }{
		{LayerProject, filepath.Join(p.Project, ".factory")}, {LayerUser, filepath.Join(p.Home, ".factory")},
	} {
		layers = append(layers, Layer{Name: at.layer, Path: filepath.Join(at.folder, "hooks.json"), Format: own.format()},
			Layer{Name: at.layer, Path: filepath.Join(at.folder, "settings.json"), Format: inSettings.readOnly()})
	}
	return layers
}

func cursorLayers(h harness.Harness, p Places) []Layer {
	own := jsonForm(h, func(f *form, e *entry) {
		e.untyped, e.closed, e.guarded = true, true, false
		f.flat, f.dedicated, f.fixed = true, true, []fixed{{"version", "1"}}
	})
	look := own.format()
	layers := []Layer{}
	managed := p.managed(managedFolders{"/etc/cursor", "/Library/Application Support/Cursor", "C:/ProgramData/Cursor"}, "hooks.json")
	if managed != "" {
		layers = append(layers, Layer{Name: LayerManaged, Path: managed, Format: look})
	}
	return append(layers,
		Layer{Name: LayerProject, Path: filepath.Join(p.Project, ".cursor", "hooks.json"), Format: look},
		Layer{Name: LayerUser, Path: filepath.Join(p.Home, ".cursor", "hooks.json"), Format: look})
}

// managedAnd returns the layer of managed settings, in which a member keeps other layers from
// turning hooks off; none where their place is not known.
func managedAnd(f form, path string, pin fixed) []Layer {
	if path == "" {
		return nil
	}
	f.pins, f.dedicated = []fixed{pin}, true
	return []Layer{{Name: LayerManaged, Path: path, Format: f.format()}}
}
