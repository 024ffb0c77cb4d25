package runcmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/run"
	"github.com/agent-reviewer/reviewer/engine/run/proxy"
	"github.com/agent-reviewer/reviewer/engine/run/sandbox"
)

// watching is the observer of a confined run of Claude Code, with a log of its own.
func watching(t *testing.T) *observer {
	t.Helper()
	dir, err := os.MkdirTemp("", "r") // short, for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &plan{app: &cli.App{}, agent: "claude-code", dir: dir, confined: &confinement{seen: map[string]bool{}}}
	p.confined.p = p
	p.policy.log = &audit.Store{Dir: dir}
	if p.policy.mac, err = p.policy.log.MAC(); err != nil {
		t.Fatal(err)
	}
	p.settings.Isolation.AgentHosts = map[string][]string{"claude-code": {"api.anthropic.com"}}
	p.settings.Isolation.Texts.Unexpected, p.settings.Isolation.Texts.Resident = "unexpected {host}", "not answered: {why}"
	if p.observer, err = newObserver(p); err != nil {
		t.Fatal(err)
	}
	return p.observer
}

// A connection to an allowed host that no reviewed call named is reported, or ends the run: neither one that a call
// named, nor one that the agent needs itself, nor one that was refused.
func TestUnexpected(t *testing.T) {
	for host, want := range map[string]string{"example.com": "unexpected example.com", "api.anthropic.com": "", "named.example": ""} {
		for _, setting := range []string{"report", "stop"} {
			o := watching(t)
			o.p.settings.Isolation.Unexpected = setting
			f := &followed{}
			f.named(&engine.Record{Action: &engine.Action{Hosts: []string{"named.example"}}})
			o.sessions = append(o.sessions, f)
			o.p.confined.connected(proxy.Connection{Host: "refused.example", Port: 443, Why: "no"}, false)
			o.p.confined.connected(proxy.Connection{Host: host, Port: 443, Address: "192.0.2.1:443"}, false)
			stop := o.below()
			if setting == "report" && stop != "" || setting == "stop" && stop != want || (o.unexpected == 1) != (want != "") {
				t.Errorf("%s, %s: %q, %d", host, setting, stop, o.unexpected)
			}
		}
	}
}

// If another program answers the hooks, or none for some time, the run ends: inside, nobody sees the difference.
func TestDoubts(t *testing.T) {
	const doubts = 3
	o := watching(t)
	o.p.settings.Run.ResidentDoubts, o.p.settings.Run.ResidentCheckMS = doubts, 5000
	for look := range doubts {
		o.checked = time.Now().Add(-time.Hour)
		stop := o.keepResident()
		if last := look == doubts-1; last != strings.HasPrefix(stop, "not answered: ") {
			t.Errorf("look %d: %q", look, stop)
		}
	}
	if o.keepResident() != "" {
		t.Error("it was looked at too soon")
	}
}

// What the system cannot do is said before anything starts; strict then starts nothing, and without Landlock no profile
// that confines does.
func TestLacking(t *testing.T) {
	for _, c := range []struct {
		profile  string
		features sandbox.Features
		err, say string
	}{
		{profileStrict, sandbox.Features{Landlock: 5, Seccomp: true, Namespaces: true}, "nothing was started; the system lacks:\n  Landlock of version 6", ""},
		{profileStrict, sandbox.Features{Landlock: 6, Seccomp: true, Why: "off"}, "namespaces for mounts and network: off", ""},
		{profileStrict, sandbox.Features{Landlock: 6, Namespaces: true}, "seccomp with user notification", ""},
		{profileWorkspace, sandbox.Features{Seccomp: true, Namespaces: true}, "without Landlock, only the observe profile works", ""},
		{profileWorkspace, sandbox.Features{Landlock: 6, Seccomp: true, Why: "off"}, "cannot be started here", "is only partly enforced; the system lacks:\n  namespaces for mounts and network: off"},
	} {
		o := watching(t)
		var stderr strings.Builder
		o.p.profile, o.p.app.Stderr, o.p.confined = c.profile, &stderr, nil
		o.p.home, o.p.dir, o.p.command = t.TempDir(), t.TempDir(), []string{"true"}
		got, err := confine(o.p, c.features)
		if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(stderr.String(), c.say) || c.say == "" && stderr.Len() > 0 {
			t.Errorf("%s, %+v: %v, %v, %q", c.profile, c.features, got, err, stderr.String())
		}
	}
}

// The state directory is not where the run may write, whichever setting allows that.
func TestStateInside(t *testing.T) {
	o := watching(t)
	c := &confinement{p: o.p}
	o.p.profile, o.p.home, o.p.command = profileStrict, t.TempDir(), []string{"true"}
	o.p.settings.Isolation.Write = []string{filepath.Dir(o.p.dir)}
	o.p.dir = t.TempDir()
	err := c.paths(sandbox.Features{Landlock: 6, Seccomp: true, Namespaces: true})
	if err == nil || !strings.Contains(err.Error(), "set --home to another one") {
		t.Error(err)
	}
	if err := c.close(); err != nil {
		t.Error(err)
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		result     string
		exit, want int
	}{
		{run.ResultEnded, 0, 0}, {run.ResultEnded, 7, 7}, {ResultBlocked, 0, 10}, {ResultBlocked, 7, 7},
		{run.ResultStopped, 143, 11}, {run.ResultStopped, 0, 11}, {run.ResultLimit, 137, 12},
	} {
		if got := (&Summary{Result: c.result, Exit: c.exit}).exitCode(10); got != c.want {
			t.Errorf("%s, %d: %d, want %d", c.result, c.exit, got, c.want)
		}
	}
}

// A session that began before the run belongs to it only if the command says that it continues it.
func TestContinues(t *testing.T) {
	for line, want := range map[string]bool{
		"claude -p fix":              false,
		"claude --resume other fix":  false,
		"claude --resume s1":         true,
		"claude --resume=s1 -p fix":  true,
		"claude -r":                  true,
		"claude -c -p fix":           true,
		"codex exec resume s1 fix":   true,
		"codex exec resume other":    false,
		"codex exec resume --last a": true,
	} {
		o := &observer{p: &plan{command: strings.Fields(line), policy: policy{mac: func(b []byte) string { return string(b) }}}}
		if got := o.continues("s1"); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}
