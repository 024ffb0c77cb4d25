// Package codexserver asks the app server of Codex CLI, a process that reads and writes lines of JSON,
// which hooks it would run, and trusts some of them. Codex skips a hook that is not trusted, without a
// message.
//
// Out of scope: what the hooks are, and which of them are to be trusted.
package codexserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// limit is how long the app server may take for all requests together.
const limit = 30 * time.Second

// Hook is a hook as Codex knows it.
type Hook struct {
	Key     string `json:"key"` // its file, event and position
	Command string `json:"command"`
	Source  string `json:"sourcePath"`
	Hash    string `json:"currentHash"`
	Trust   string `json:"trustStatus"`
	Managed bool   `json:"isManaged"`
	Enabled bool   `json:"enabled"`
}

// Runs reports whether Codex starts the hook.
func (h Hook) Runs() bool {
	return h.Enabled && (h.Managed || h.Trust == "trusted" || h.Trust == "managed")
}

// List returns the hooks that Codex knows in a folder.
func List(ctx context.Context, program, folder string) ([]Hook, error) {
	var hooks []Hook
	return hooks, talk(ctx, program, folder, func(s *server) (err error) {
		hooks, err = s.hooks(folder)
		return err
	})
}

// Trust makes Codex trust the hooks of a folder that a function chooses, as they are now. It returns the
// hooks that Codex knows afterwards.
func Trust(ctx context.Context, program, folder string, own func(Hook) bool) ([]Hook, error) {
	var hooks []Hook
	return hooks, talk(ctx, program, folder, func(s *server) (err error) {
		if hooks, err = s.hooks(folder); err != nil {
			return err
		}
		state := map[string]any{}
		for _, h := range hooks {
			if own(h) && !h.Runs() {
				state[h.Key] = map[string]string{"trusted_hash": h.Hash}
			}
		}
		if len(state) == 0 {
			return nil
		}
		edits := []any{map[string]any{"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}}
		if err := s.ask("config/batchWrite", map[string]any{"edits": edits}, nil); err != nil {
			return err
		}
		hooks, err = s.hooks(folder)
		return err
	})
}

// server is a running app server.
type server struct {
	in   io.Writer
	out  *bufio.Scanner
	last int // the id of the last request
}

// talk starts an app server, lets a function ask it, and ends it.
func talk(ctx context.Context, program, folder string, say func(*server) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "app-server")
	cmd.Dir = folder
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("ask Codex about its hooks: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("ask Codex about its hooks: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("ask Codex about its hooks: %w", err)
	}
	s := &server{in: in, out: bufio.NewScanner(out)}
	s.out.Buffer(nil, 8<<20)
	err = s.greet()
	if err == nil {
		err = say(s)
	}
	_ = in.Close() // the app server ends; if it does not, it is killed
	cancel()
	_ = cmd.Wait() // the error of a killed process is irrelevant
	if err != nil {
		return fmt.Errorf("ask Codex about its hooks: %w", err)
	}
	return nil
}

func (s *server) greet() error {
	who := map[string]string{"name": "reviewer", "title": "reviewer", "version": "1"}
	if err := s.ask("initialize", map[string]any{"clientInfo": who}, nil); err != nil {
		return err
	}
	return s.send(map[string]any{"method": "initialized"})
}

func (s *server) hooks(folder string) ([]Hook, error) {
	var list struct {
		Data []struct {
			Hooks []Hook `json:"hooks"`
		} `json:"data"`
	}
	if err := s.ask("hooks/list", map[string]any{"cwds": []string{folder}}, &list); err != nil {
		return nil, err
	}
	var hooks []Hook
	for _, d := range list.Data {
		hooks = append(hooks, d.Hooks...)
	}
	return hooks, nil
}

func (s *server) send(message any) error {
	raw, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = s.in.Write(append(raw, '\n'))
	return err
}

// ask sends a request and reads lines until its answer; the others are notifications.
func (s *server) ask(method string, params, result any) error {
	s.last++
	if err := s.send(map[string]any{"id": s.last, "method": method, "params": params}); err != nil {
		return err
	}
	for s.out.Scan() {
		var answer struct {
			ID     *int            `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if json.Unmarshal(s.out.Bytes(), &answer) != nil || answer.ID == nil || *answer.ID != s.last {
			continue
		}
		if answer.Error != nil {
			return fmt.Errorf("%s: %s", method, answer.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(answer.Result, result)
	}
	return errors.Join(fmt.Errorf("%s: the app server ended without an answer", method), s.out.Err())
}
