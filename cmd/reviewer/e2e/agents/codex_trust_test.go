//go:build e2e && linux

package agents

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// A hook of Codex that the user has not trusted is skipped without a message, so the call
// runs; once the client's own server has recorded the hook's hash, the call is denied.
func TestCodexTrust(t *testing.T) {
	c := installedFor(t, "codex")
	for _, trusted := range []bool{false, true} {
		s := newStage(t, c)
		s.driver.args = slices.DeleteFunc(s.driver.args, func(arg string) bool { return arg == "--dangerously-bypass-hook-trust" })
		write := s.driver.hooks
		if trusted {
			s.driver.hooks = func(s *stage) {
				write(s)
				s.trustHooks()
			}
		}
		deny, want := cells()[1], map[bool]Outcome{false: Ran, true: Told}[trusted]
		if run := s.play(deny); s.outcome(deny, run) != want {
			t.Errorf("trusted %t: %s, want %s\n%s", trusted, s.outcome(deny, run), want, s.story(run))
		}
	}
}

// trustHooks does what the client does when its user trusts the hooks.
func (s *stage) trustHooks() {
	s.Helper()
	ask := s.appServer()
	ask("initialize", fields{"clientInfo": fields{"name": "test", "title": "test", "version": "1"}})
	var listed struct {
		Data []struct {
			Hooks []struct{ Key, CurrentHash string }
		}
	}
	s.must(json.Unmarshal(ask("hooks/list", fields{"cwds": []string{s.project}}), &listed))
	state := fields{}
	for _, folder := range listed.Data {
		for _, hook := range folder.Hooks {
			state[hook.Key] = fields{"trusted_hash": hook.CurrentHash}
		}
	}
	if len(state) == 0 {
		s.Fatalf("the client lists no hooks")
	}
	ask("config/batchWrite", fields{"edits": []fields{{"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}}})
}

// appServer starts the client's server, and returns a function that makes a request.
func (s *stage) appServer() func(method string, params any) json.RawMessage {
	s.Helper()
	cmd := exec.Command(s.client.Command[0], "app-server")
	cmd.Dir, cmd.Env = s.project, append(s.environment(), "CODEX_HOME="+filepath.Join(s.home, ".codex"))
	in, err := cmd.StdinPipe()
	s.must(err)
	out, err := cmd.StdoutPipe()
	s.must(err)
	s.must(cmd.Start())
	s.Cleanup(func() {
		in.Close()
		cmd.Process.Kill() //nolint:errcheck // it may be gone
		cmd.Wait()         //nolint:errcheck // it was killed
	})
	lines, id := bufio.NewScanner(out), 0
	lines.Buffer(nil, 1<<22)
	return func(method string, params any) json.RawMessage {
		s.Helper()
		id++
		s.must(json.NewEncoder(in).Encode(fields{"id": id, "method": method, "params": params}))
		return s.response(lines, id, method)
	}
}

// response reads lines until the answer to a request.
func (s *stage) response(lines *bufio.Scanner, id int, method string) json.RawMessage {
	s.Helper()
	for lines.Scan() {
		var answer struct {
			ID     int
			Result json.RawMessage
			Error  json.RawMessage
		}
		if json.Unmarshal(lines.Bytes(), &answer) != nil || answer.ID != id {
			continue
		}
		if answer.Error != nil {
			s.Fatalf("%s: %s", method, answer.Error)
		}
		return answer.Result
	}
	s.Fatalf("%s: no answer: %v", method, lines.Err())
	return nil
}
