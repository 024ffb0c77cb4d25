package settings

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

// clineMark is in each file that reviewer writes for Cline.
const clineMark = "# written by `reviewer install cline`"

// clineLayers lists the folders in which Cline looks for programs that are named after events.
func clineLayers(h harness.Harness, p Places) []Layer {
	var layers []Layer
	for _, at := range []struct{ layer, folder string }{
		{LayerProject, filepath.Join(p.Project, ".cline", "hooks")}, {LayerUser, filepath.Join(p.Home, ".cline", "hooks")},
	} {
		for _, hook := range hooksOf(h) {
			f := ownFile(clineMark, func(c HookCommand) (string, error) { return clineScript(c, hook) })
			f.Inspect = func(raw []byte, _ string) Findings { return clineFindings(hook, raw) }
			layers = append(layers, Layer{Name: at.layer, Path: filepath.Join(at.folder, hook.Event), Run: true, Format: f})
		}
	}
	for _, hook := range hooksOf(h) {
		if hook.gate() {
			layers = append(layers, clineOthers(p, hook)...)
		}
	}
	return layers
}

// clineOthers lists the other files that Cline runs at an event. Nothing is written there.
func clineOthers(p Places, hook Hook) []Layer {
	look := Format{Inspect: func(raw []byte, _ string) Findings { return clineFindings(hook, raw) }}
	var layers []Layer
	for _, at := range []struct{ layer, path string }{
		{LayerProject, filepath.Join(p.Project, ".clinerules", "hooks", hook.Event)},
		{LayerProject, filepath.Join(p.Project, ".cline", "hooks", hook.Event+".sh")},
		{LayerUser, filepath.Join(p.Home, ".cline", "hooks", hook.Event+".sh")},
		{LayerUser, filepath.Join(p.Home, "Documents", "Cline", "Hooks", hook.Event)},
	} {
		layers = append(layers, Layer{Name: at.layer, Path: at.path, Format: look})
	}
	return layers
}

// clineScript is the program for an event. Cline ignores exit statuses, and any text before the answer
// makes it ignore the answer: so after a failure of reviewer, or output that is not an object, the
// program prints only an answer that cancels.
func clineScript(c HookCommand, hook Hook) (string, error) {
	if c.System == "windows" {
		return "", fmt.Errorf("which programs Cline runs as hooks on Windows is not known")
	}
	line := c.line("cline", hook)
	if !hook.gate() {
		return "#!/bin/sh\n" + clineMark + "\n" + line + "\nexit 0\n", nil
	}
	return "#!/bin/sh\n" + clineMark + "\n" + `answer=$(` + line + `)
status=$?
case $status:$answer in
0:) ;;
0:'{'*'}' | *:'{"cancel":true'*'}') printf '%s\n' "$answer" ;;
*) printf '%s\n' '{"cancel":true,"errorMessage":"reviewer failed, so this call does not run."}' ;;
esac
`, nil
}

func clineFindings(hook Hook, raw []byte) Findings {
	if !strings.Contains(string(raw), clineMark) {
		if hook.gate() {
			return Findings{Foreign: []ForeignHook{{Event: hook.Event, Type: "program", What: firstLine(raw)}}}
		}
		return Findings{}
	}
	for _, line := range strings.Split(string(raw), "\n") {
		line = strings.TrimSuffix(strings.TrimPrefix(line, "answer=$("), ")")
		if own := ownWords("cline", splitLine(line)); own != nil {
			own.Event, own.Line = hook.Event, line
			own.Problems = clineProblems(*own, hook, string(raw))
			return Findings{Own: []OwnHook{*own}}
		}
	}
	return Findings{Problem: "the file no longer starts reviewer"}
}

func clineProblems(own OwnHook, hook Hook, text string) []string {
	var found problems
	found.report(!absolute(own.Program), "the program is not an absolute path: PATH decides what runs")
	found.report(own.Home == "", "no --home: the environment decides where the state is")
	found.report(hook.gate() && !strings.Contains(text, `'{"cancel":true,`), "a failure prints no answer that cancels, so the call runs")
	return found
}

func firstLine(raw []byte) string {
	line, _, _ := strings.Cut(string(raw), "\n")
	return line
}
