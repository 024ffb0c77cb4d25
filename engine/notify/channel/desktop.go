package channel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// desktop shows a notification on this machine's screen, with the program that the
// system has for it. Its path is absolute: PATH may have been changed by an agent.
type desktop struct {
	program string
	system  string
	env     []string
}

func newDesktop(c settings.Channel, from Sources) (sender, error) {
	program := cmp.Or(c.Program, usualProgram(runtime.GOOS, from.Env("SystemRoot")))
	if !filepath.IsAbs(program) {
		return nil, fmt.Errorf("%s is not an absolute path", program)
	}
	info, err := os.Stat(program)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New(program + " is not a program")
	}
	return &desktop{program, runtime.GOOS, os.Environ()}, nil
}

func usualProgram(system, root string) string {
	switch system {
	case "darwin":
		return "/usr/bin/osascript"
	case "windows":
		return filepath.Join(root, "System32", "WindowsPowerShell", "v1.0", "powershell.exe")
	}
	return "/usr/bin/notify-send"
}

// send passes title and text as data, never as part of a script.
func (d *desktop) send(ctx context.Context, e notify.Entry) error {
	title, body := oneLine(e.Title), shown(e)
	if d.system != "darwin" && d.system != "windows" { // notify-send passes on markup, with links and images
		title, body = xmlEscaper.Replace(title), xmlEscaper.Replace(body)
	}
	cmd := exec.CommandContext(ctx, d.program, arguments(d.system, title, body)...)
	cmd.Env = append(d.env, "REVIEWER_TITLE="+title, "REVIEWER_TEXT="+body)
	cmd.WaitDelay = time.Second // for children that hold on to the output
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w %.100s", filepath.Base(d.program), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// maxDesktop limits the text on a screen in bytes: systems show a few lines.
const maxDesktop = 1000

func shown(e notify.Entry) string {
	if e.Approval != nil || e.Digest != nil {
		return textWithin(e, maxDesktop)
	}
	if e.Next != "" {
		return e.Text + "\n" + e.Next
	}
	return e.Text
}

func arguments(system, title, body string) []string {
	switch system {
	case "darwin":
		const show = "display notification (item 2 of argv) with title (item 1 of argv)"
		return []string{"-e", "on run argv", "-e", show, "-e", "end run", title, body}
	case "windows":
		return []string{"-NoProfile", "-NonInteractive", "-Command", "Add-Type -AssemblyName System.Windows.Forms, System.Drawing; " +
			"$n = New-Object System.Windows.Forms.NotifyIcon; $n.Icon = [System.Drawing.SystemIcons]::Warning; $n.Visible = $true; " +
			"$n.ShowBalloonTip(10000, $env:REVIEWER_TITLE, $env:REVIEWER_TEXT, 'Warning'); Start-Sleep -Seconds 5; $n.Dispose()"}
	}
	return []string{"--urgency=critical", "--app-name=reviewer", "--", title, body}
}
