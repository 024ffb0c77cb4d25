//go:build !windows

package channel

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/await"
	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func paged() notify.Entry {
	return notify.Entry{V: 1, ID: "own-0123-4", Kind: notify.KindIntervention, Own: "page", Title: "x"}
}

func program(t *testing.T, k settings.Kind, env map[string]string) notify.Program {
	t.Helper()
	p, ok := Own(map[string]settings.Kind{"page": k}, sources(t, env))["page"].(notify.Program)
	if !ok {
		t.Fatal("it is not a program")
	}
	return p
}

// A program receives the entry as JSON, its arguments as they are, and few variables.
func TestCommand(t *testing.T) {
	t.Setenv("LD_PRELOAD", "/srv/agent.so")
	path := script(t, `printf '%s|' "$@"; env | sort | tr '\n' ' '; cat`)
	p := program(t, settings.Kind{Command: []string{path, "a b", "$HOME;ls"}, Env: []string{"PAGER_TOKEN"}}, map[string]string{"PAGER_TOKEN": "t", "OTHER": "o", "LANG": "C"})
	out, exit, err := p.Run(t.Context(), paged())
	if err != nil || exit == nil || *exit != 0 {
		t.Fatalf("%q, %v, %v", out, exit, err)
	}
	for _, want := range []string{"a b|$HOME;ls|", "PAGER_TOKEN=t", "REVIEWER_ID=own-0123-4", "REVIEWER_KIND=page", "LANG=C"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in %s", want, out)
		}
	}
	if strings.Contains(out, "OTHER=") || strings.Contains(out, "LD_PRELOAD") {
		t.Errorf("it got other variables: %s", out)
	}
	var e notify.Entry
	if err := json.Unmarshal([]byte(out[strings.Index(out, "{"):]), &e); err != nil || e != paged() {
		t.Errorf("its input was %s", out)
	}
}

func TestCommandThatFails(t *testing.T) {
	out, exit, err := program(t, settings.Kind{Command: []string{script(t, "yes | head -c 100000; exit 3")}}, nil).Run(t.Context(), paged())
	if err == nil || exit == nil || *exit != 3 || len(out) != maxOutput || !strings.Contains(err.Error(), "page ended with exit code 3") {
		t.Errorf("%d bytes, %v, %v", len(out), exit, err)
	}
}

// What hangs is killed, with its children.
func TestCommandThatHangs(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		await.Holds(func() bool {
			raw, err := os.ReadFile(pid)
			return err == nil && len(raw) > 0
		})
		cancel()
	}()
	_, exit, err := program(t, settings.Kind{Command: []string{script(t, "sleep 60 & echo $! > "+pid+"; wait")}}, nil).Run(ctx, paged())
	if err == nil || exit != nil { // else it ended by itself
		t.Errorf("%v, %v", exit, err)
	}
	ended(t, pid)
	_, exit, err = program(t, settings.Kind{Command: []string{script(t, "sleep 60 & echo $! > "+pid)}}, nil).Run(t.Context(), paged())
	if err != nil || exit == nil || *exit != 0 {
		t.Errorf("a program that leaves a child: %v, %v", exit, err)
	}
	ended(t, pid)
}

// ended fails unless the process whose id is in a file has ended, or is about to.
func ended(t *testing.T, file string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var id int
	if err := json.Unmarshal(raw, &id); err != nil {
		t.Fatal(err)
	}
	await.Until(t, fmt.Sprintf("the child %d ends", id), func() bool { return gone(id) })
}

func gone(id int) bool {
	if syscall.Kill(id, 0) != nil {
		return true
	}
	stat, err := os.ReadFile(filepath.Join("/proc", string(itoa(id)), "stat"))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func itoa(id int) []byte {
	b, _ := json.Marshal(id)
	return b
}

func TestKindsThatCannotBeUsed(t *testing.T) {
	open := script(t, "exit 0")
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		k    settings.Kind
		want string
	}{
		"a relative path": {settings.Kind{Command: []string{"page"}}, "not an absolute path"},
		"nothing there":   {settings.Kind{Command: []string{"/nowhere/page"}}, "no such file"},
		"a folder":        {settings.Kind{Command: []string{"/"}}, "is not a program"},
		"of everybody":    {settings.Kind{Command: []string{open}}, "can be changed by others"},
		"no variable":     {settings.Kind{Command: []string{script(t, "")}, Env: []string{"NOWHERE"}}, "NOWHERE is not set"},
		"plain HTTP":      {settings.Kind{Webhook: "http://hooks.example.com/key"}, "must begin with https://"},
	} {
		c := Own(map[string]settings.Kind{"page": tt.k}, sources(t, nil))["page"]
		if err := c.Send(t.Context(), paged()); err == nil || !strings.Contains(err.Error(), tt.want) || c.Name() != "page" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A kind that starts nothing has no channel.
func TestOwnKindWithoutChannel(t *testing.T) {
	if own := Own(map[string]settings.Kind{"slow_down": {}}, sources(t, nil)); len(own) != 0 {
		t.Errorf("%v", own)
	}
}

func TestOwnWebhook(t *testing.T) {
	var header http.Header
	var body []byte
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header
		body, _ = io.ReadAll(r.Body)
	}))
	defer s.Close()
	c := Own(map[string]settings.Kind{"page": {WebhookEnv: "WHERE", SecretEnv: "SECRET"}}, sources(t, map[string]string{"WHERE": s.URL, "SECRET": "a secret of 24 letters.."}))["page"]
	if err := c.Send(t.Context(), paged()); err != nil {
		t.Fatal(err)
	}
	if header.Get(HeaderID) != "own-0123-4" || header.Get(HeaderSignature) == "" || !strings.Contains(string(body), `"own":"page"`) {
		t.Errorf("%v %s", header, body)
	}
}
