package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
)

// unit is what starts the resident process with a person's session on a system.
type unit struct {
	path string   // of its file
	text string   // of its file
	on   []string // the commands that start it
	off  []string // and end it
}

// unitOf is for systemd, or on macOS for launchd. user is the home directory, args are
// those of the resident process.
func unitOf(system, user, program string, args []string) (unit, error) {
	for _, word := range append([]string{program}, args...) {
		if strings.ContainsFunc(word, func(r rune) bool { return r < ' ' }) {
			return unit{}, fmt.Errorf("%q cannot be written into the definition of a service", word)
		}
	}
	switch system {
	case "linux":
		const name = "reviewer.service"
		return unit{filepath.Join(user, ".config", "systemd", "user", name), systemdUnit(program, args),
			[]string{"systemctl --user daemon-reload", "systemctl --user enable --now " + name},
			[]string{"systemctl --user disable --now " + name, "systemctl --user daemon-reload"}}, nil
	case "darwin":
		const label = "dev.reviewer.serve"
		path := filepath.Join(user, "Library", "LaunchAgents", label+".plist")
		return unit{path, launchdList(label, program, args), []string{"launchctl bootstrap gui/$(id -u) " + path},
			[]string{"launchctl bootout gui/$(id -u)/" + label}}, nil
	}
	return unit{}, cli.Usage("--install supports systemd and launchd only; on %s, hooks do not start a resident process", system)
}

// systemdUnit runs in no namespace of its own: the clients trust only a process that has the
// same view of the file system.
func systemdUnit(program string, args []string) string {
	words := []string{systemdWord(program)}
	for _, a := range args {
		words = append(words, systemdWord(a))
	}
	return `# Written by reviewer serve --install. The process ends when the program is replaced, and is
# started again. No PrivateTmp and the like: the hooks trust only a process that sees their files.
[Unit]
Description=reviewer answers the hooks of coding agents
Documentation=https://github.com/agent-reviewer/reviewer
StartLimitIntervalSec=0

[Service]
ExecStart=` + strings.Join(words, " ") + `
Restart=always
RestartSec=5
UMask=0077

[Install]
WantedBy=default.target
`
}

// systemdWord quotes a word of ExecStart.
func systemdWord(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, `$`, `$$`).Replace(s) + `"`
}

func launchdList(label, program string, args []string) string {
	var words bytes.Buffer
	for _, word := range append([]string{program}, args...) {
		words.WriteString("    <string>")
		_ = xml.EscapeText(&words, []byte(word)) // a buffer takes everything
		words.WriteString("</string>\n")
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>` + label + `</string>
  <key>ProgramArguments</key>
  <array>
` + words.String() + `  </array>
  <key>KeepAlive</key>
  <true/>
  <key>Umask</key>
  <integer>63</integer>
</dict>
</plist>
`
}

// install writes the file, and reports whether this changed it.
func (u unit) install() (changed bool, err error) {
	if old, err := os.ReadFile(u.path); err == nil && string(old) == u.text {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(u.path), 0o755); err != nil {
		return false, err
	}
	return true, os.WriteFile(u.path, []byte(u.text), 0o644)
}
