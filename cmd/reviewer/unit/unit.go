// Package unit writes the definitions with which the system of a person starts reviewer: a resident process with their
// session, and a command from time to time. systemd and launchd have them.
//
// Out of scope: turning them on, which the person does with the commands that a Unit names.
package unit

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
)

// Unit is the definition of a service.
type Unit struct {
	Files []File   // the one that is turned on last
	On    []string // the commands that turn it on
	Off   []string // and off
}

// File is a file of a definition.
type File struct{ Path, Text string }

// Service starts the resident process with the session, with systemd, or on macOS with launchd. user is the home
// directory, args are those of the resident process.
func Service(system, user, program string, args []string) (Unit, error) {
	if err := writable(append([]string{program}, args...)); err != nil {
		return Unit{}, err
	}
	switch system {
	case "linux":
		return ofSystemd(user, "reviewer.service", File{"reviewer.service", systemdService(program, args)}), nil
	case "darwin":
		return ofLaunchd(user, "dev.reviewer.serve", program, args, "  <key>KeepAlive</key>\n  <true/>\n"), nil
	}
	return Unit{}, cli.Usage("--install supports systemd and launchd only; on %s, hooks do not start a resident process", system)
}

// Timer starts a command from time to time. Machines must not ask a server all at once, so each waits up to a tenth
// longer: systemd by chance; for launchd, which cannot, share is this machine's part of that tenth, from 0 to 1. A layer that
// is named has a timer of its own.
func Timer(system, user, layer, program string, args []string, every time.Duration, share float64) (Unit, error) {
	if err := writable(append([]string{program}, args...)); err != nil {
		return Unit{}, err
	}
	jitter, systemd, launchd := every/10, "reviewer-pull", "dev.reviewer.pull"
	if layer != "" {
		systemd, launchd = systemd+"-"+layer, launchd+"."+layer
	}
	switch system {
	case "linux":
		return ofSystemd(user, systemd+".timer", File{systemd + ".service", systemdPull(program, args)},
			File{systemd + ".timer", systemdTimer(every, jitter)}), nil
	case "darwin":
		seconds := int64((every + time.Duration(share*float64(jitter))).Seconds())
		return ofLaunchd(user, launchd, program, args,
			fmt.Sprintf("  <key>StartInterval</key>\n  <integer>%d</integer>\n  <key>RunAtLoad</key>\n  <true/>\n", seconds)), nil
	}
	return Unit{}, cli.Usage("--every supports systemd and launchd only; on %s, start the command with the system's own scheduler", system)
}

// writable refuses words that would end a line of a definition.
func writable(words []string) error {
	for _, word := range words {
		if strings.ContainsFunc(word, func(r rune) bool { return r < ' ' }) {
			return fmt.Errorf("%q cannot be written into the definition of a service", word)
		}
	}
	return nil
}

func ofSystemd(user, name string, files ...File) Unit {
	for i, f := range files {
		files[i].Path = filepath.Join(user, ".config", "systemd", "user", f.Path)
	}
	return Unit{files, []string{"systemctl --user daemon-reload", "systemctl --user enable --now " + name},
		[]string{"systemctl --user disable --now " + name, "systemctl --user daemon-reload"}}
}

func ofLaunchd(user, label, program string, args []string, when string) Unit {
	path := filepath.Join(user, "Library", "LaunchAgents", label+".plist")
	return Unit{[]File{{path, launchdList(label, program, args, when)}}, []string{"launchctl bootstrap gui/$(id -u) " + path},
		[]string{"launchctl bootout gui/$(id -u)/" + label}}
}

// systemdService runs in no namespace of its own: the clients trust only a process that has the
// same view of the file system.
func systemdService(program string, args []string) string {
	return `# Written by reviewer serve --install. The process ends when the program is replaced, and is
# started again. No PrivateTmp and the like: the hooks trust only a process that sees their files.
[Unit]
Description=reviewer answers the hooks of coding agents
Documentation=https://github.com/agent-reviewer/reviewer
StartLimitIntervalSec=0

[Service]
ExecStart=` + systemdLine(program, args) + `
Restart=always
RestartSec=5
UMask=0077

[Install]
WantedBy=default.target
`
}

func systemdPull(program string, args []string) string {
	return `# Written by reviewer policy pull --install.
[Unit]
Description=reviewer fetches the policy of coding agents
Documentation=https://github.com/agent-reviewer/reviewer

[Service]
Type=oneshot
ExecStart=` + systemdLine(program, args) + `
UMask=0077
`
}

func systemdTimer(every, jitter time.Duration) string {
	return fmt.Sprintf(`# Written by reviewer policy pull --install. The delay keeps machines from asking a server all at once.
[Unit]
Description=reviewer fetches the policy of coding agents
Documentation=https://github.com/agent-reviewer/reviewer

[Timer]
OnActiveSec=0
OnUnitActiveSec=%ds
RandomizedDelaySec=%ds

[Install]
WantedBy=timers.target
`, int64(every.Seconds()), int64(jitter.Seconds()))
}

// systemdLine is a command as ExecStart has it.
func systemdLine(program string, args []string) string {
	words := []string{systemdWord(program)}
	for _, a := range args {
		words = append(words, systemdWord(a))
	}
	return strings.Join(words, " ")
}

// systemdWord quotes a word of ExecStart.
func systemdWord(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, `$`, `$$`).Replace(s) + `"`
}

// launchdWord is a word of ProgramArguments.
func launchdWord(s string) string {
	var word bytes.Buffer
	_ = xml.EscapeText(&word, []byte(s)) // a buffer takes everything
	return "<string>" + word.String() + "</string>"
}

func launchdList(label, program string, args []string, when string) string {
	var words strings.Builder
	for _, word := range append([]string{program}, args...) {
		words.WriteString("    " + launchdWord(word) + "\n")
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
` + when + `  <key>Umask</key>
  <integer>63</integer>
</dict>
</plist>
`
}

// Install writes the files, and reports whether this changed one.
func (u Unit) Install() (changed bool, err error) {
	for _, f := range u.Files {
		if old, err := os.ReadFile(f.Path); err == nil && string(old) == f.Text {
			continue
		}
		changed = true
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
			return false, err
		}
		if err := os.WriteFile(f.Path, []byte(f.Text), 0o644); err != nil {
			return false, err
		}
	}
	return changed, nil
}

// Has reports whether the first file is there, and whether it has a word of a command.
func (u Unit) Has(word string) (there, has bool) {
	old, err := os.ReadFile(u.Files[0].Path)
	return err == nil, strings.Contains(string(old), systemdWord(word)) || strings.Contains(string(old), launchdWord(word))
}

// Remove removes the files. It is an error if there are none.
func (u Unit) Remove() error {
	var errs []error
	gone := 0
	for _, f := range u.Files {
		if err := os.Remove(f.Path); errors.Is(err, fs.ErrNotExist) {
			gone++
		} else {
			errs = append(errs, err)
		}
	}
	if gone == len(u.Files) {
		return fmt.Errorf("%s is not installed, so there is nothing to remove", u.Place())
	}
	return errors.Join(errs...)
}

// Place is the file that the commands turn on.
func (u Unit) Place() string { return u.Files[len(u.Files)-1].Path }
