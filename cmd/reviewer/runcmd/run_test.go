package runcmd

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/run"
	"github.com/agent-reviewer/reviewer/engine/run/proxy"
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
	o := watching(t)
	for look := range maxDoubts {
		o.checked = time.Now().Add(-time.Hour)
		stop := o.keepResident()
		if last := look == maxDoubts-1; last != strings.HasPrefix(stop, "not answered: ") {
			t.Errorf("look %d: %q", look, stop)
		}
	}
	if o.keepResident() != "" {
		t.Error("it was looked at too soon")
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
