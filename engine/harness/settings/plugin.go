package settings

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

// pluginMark is in each plugin that reviewer writes.
func pluginMark(agent string) string { return "// Written by `reviewer install " + agent + "`" }

// pluginFormat is a file of code that the agent loads, and that starts the hook.
func pluginFormat(h harness.Harness, text func(command ...string) string) Format {
	f := ownFile(pluginMark(h.Name), func(c HookCommand) (string, error) {
		return text(append([]string{c.Program, "hook", h.Name, "--home", c.Home}, c.more(c.given(hooksOf(h))[gateOf(h)])...)...), nil
	})
	f.Inspect = func(raw []byte, _ string) Findings { return pluginFindings(h, text, string(raw)) }
	return f
}

// pluginFindings compares a plugin with the one that reviewer writes: with one line less, the
// agent makes calls without a review.
func pluginFindings(h harness.Harness, text func(command ...string) string, raw string) Findings {
	if !strings.HasPrefix(raw, pluginMark(h.Name)) {
		return otherPlugin(h)
	}
	var command []string
	_, rest, _ := strings.Cut(raw, "const command = ")
	line, _, _ := strings.Cut(rest, ";\n")
	if json.Unmarshal([]byte(line), &command) != nil || len(command) < 3 || !isOwn(h.Name, command[1:]) {
		return Findings{Problem: "the plugin no longer starts reviewer"}
	}
	var found Findings
	for _, hook := range hooksOf(h) {
		own := OwnHook{Event: hook.Event, Form: "plugin", Program: command[0], Home: flagValue(command, "--home"),
			Wait: waitOf(command), Key: flagValue(command, keyFlag)}
		own.Problems = pluginProblems(own, raw == text(command...))
		found.Own = append(found.Own, own)
	}
	return found
}

func pluginProblems(o OwnHook, same bool) []string {
	var found problems
	found.report(!absolute(o.Program), "the program is not an absolute path: PATH decides what runs")
	found.report(o.Home == "", "no --home: the environment decides where the state is")
	found.report(!same, "the plugin is not the one that this version of reviewer writes")
	return found
}

// gateOf returns the index of the hook before a call.
func gateOf(h harness.Harness) int { return slices.IndexFunc(hooksOf(h), Hook.gate) }

// otherPlugin warns that someone else's plugin can change a call after the review.
func otherPlugin(h harness.Harness) Findings {
	return Findings{Foreign: []ForeignHook{{Event: hooksOf(h)[gateOf(h)].Event, Type: "plugin", What: "a plugin"}}}
}

// pluginFolder returns the layers of a folder of plugins: the file that reviewer writes, and all files.
func pluginFolder(h harness.Harness, layer, folder, name string, text func(command ...string) string) []Layer {
	f := pluginFormat(h, text)
	return []Layer{
		{Name: layer, Path: filepath.Join(folder, name), Format: f.unread()},
		{Name: layer, Path: folder, Dir: true, Files: "*.js", Format: Format{Inspect: f.Inspect}},
		{Name: layer, Path: folder, Dir: true, Files: "*.ts", Format: Format{Inspect: f.Inspect}},
	}
}

func openCodeLayers(h harness.Harness, p Places) []Layer {
	config := filepath.Join(p.folder("XDG_CONFIG_HOME", ".config"), "opencode")
	look := Format{Inspect: func(raw []byte, _ string) Findings { return openCodePlugins(h, raw, "") }}
	var layers []Layer
	system := managedFolders{"/etc/opencode", "/Library/Application Support/opencode", "C:/ProgramData/opencode"}
	if code := p.managed(system, "reviewer.js"); code != "" {
		layers = []Layer{
			{Name: LayerManaged, Path: code, Format: managedPlugin(pluginFormat(h, harness.OpenCodePlugin))},
			{Name: LayerManaged, Path: p.managed(system, "opencode.json"), Format: openCodeList(h, fileURL(code))},
			{Name: LayerManaged, Path: p.managed(system, "opencode.jsonc"), Format: look},
		}
	}
	project := filepath.Join(p.Project, ".opencode", "plugins")
	layers = append(layers, pluginFolder(h, LayerProject, project, "reviewer.js", harness.OpenCodePlugin)...)
	layers = append(layers, openCodeConfigurations(LayerProject, p.Project, look)...)
	layers = append(layers, openCodeConfigurations(LayerProject, filepath.Join(p.Project, ".opencode"), look)...)
	layers = append(layers, pluginFolder(h, LayerUser, filepath.Join(config, "plugins"), "reviewer.js", harness.OpenCodePlugin)...)
	return append(layers, openCodeConfigurations(LayerUser, config, look)...)
}

// fileURL returns the URL of an absolute path.
func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// openCodeConfigurations returns the files of a folder that may list plugins.
func openCodeConfigurations(layer, folder string, f Format) []Layer {
	return []Layer{
		{Name: layer, Path: filepath.Join(folder, "opencode.json"), Format: f},
		{Name: layer, Path: filepath.Join(folder, "opencode.jsonc"), Format: f},
	}
}

// managedPlugin is a format whose file is used by managed settings.
func managedPlugin(f Format) Format {
	inspect := f.Inspect
	f.Inspect = func(raw []byte, client string) Findings {
		found := inspect(raw, client)
		found.Pinned = true
		return found
	}
	return f
}

// openCodeList is a configuration of OpenCode with a list of plugins.
func openCodeList(h harness.Harness, url string) Format {
	edit := func(old []byte, change func([]string) []string) ([]byte, error) {
		top, err := readSettings(old)
		if err != nil {
			return nil, err
		}
		var list []string
		if raw := top.value("plugin"); raw != nil && json.Unmarshal(raw, &list) != nil {
			return nil, fmt.Errorf("settings: plugin is not a list of strings; correct it first")
		}
		raw, err := encoded(change(slices.DeleteFunc(list, func(s string) bool { return s == url })))
		if err != nil {
			return nil, err
		}
		return top.set("plugin", raw).print()
	}
	return Format{
		Install: func(old []byte, _ HookCommand) ([]byte, error) {
			return edit(old, func(list []string) []string { return append(list, url) })
		},
		Uninstall: func(old []byte) ([]byte, error) {
			if !strings.Contains(string(old), url) {
				return old, nil
			}
			rest, err := edit(old, func(list []string) []string { return append([]string{}, list...) })
			if top, bad := readSettings(rest); err == nil && bad == nil && len(top) == 1 && string(top.value("plugin")) == "[]" {
				return nil, nil
			}
			return rest, err
		},
		Inspect: func(raw []byte, _ string) Findings {
			found := openCodePlugins(h, raw, url)
			found.Pinned = true
			return found
		},
	}
}

// openCodePlugins reports the plugins that a configuration lists, except reviewer's. OpenCode allows
// comments in such a file. With one that cannot be read here, it does not start.
func openCodePlugins(h harness.Harness, raw []byte, own string) Findings {
	top, err := readSettings(plainJSON(raw, true))
	if err != nil {
		return Findings{}
	}
	var list []string
	_ = json.Unmarshal(top.value("plugin"), &list) // of another type: OpenCode does not start
	var found Findings
	for _, plugin := range list {
		if plugin != own {
			other := otherPlugin(h).Foreign[0]
			other.What = plugin
			found.Foreign = append(found.Foreign, other)
		}
	}
	return found
}

func piLayers(h harness.Harness, p Places) []Layer {
	return append(
		pluginFolder(h, LayerProject, filepath.Join(p.Project, ".pi", "extensions"), "reviewer.ts", harness.PiExtension),
		pluginFolder(h, LayerUser, filepath.Join(p.Home, ".pi", "agent", "extensions"), "reviewer.ts", harness.PiExtension)...)
}
