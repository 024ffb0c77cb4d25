package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"go.yaml.in/yaml/v3"
)

// chooseEnforcement writes the setting, and accepts it with the person's code: the one that this command was given, else one
// that it asks for at a terminal. A mode that tightens counts without, and so what else was changed stays to be accepted.
func chooseEnforcement(ctx context.Context, a *cli.App, log *audit.Store, mode, given string) error {
	m := cli.MachineAt(log.Dir)
	before, broken := m.Own()
	written, err := setEnforcement(log.Dir, mode)
	if err != nil || broken != nil || before == nil || before.State != active.OwnAccepted {
		return err
	}
	own, err := m.Acceptance()
	if err != nil || !slices.Equal(own.Changed, []string{settingsFile}) || !bytes.Equal(own.Files[settingsFile], written) {
		return err
	}
	e, err := m.Effective("")
	if err != nil {
		return err
	}
	const what = "changing the enforcement"
	var act *signed.Act
	switch {
	case given != "":
		act, err = signed.Typed(ctx, a, log, what, given)
	case e.Settings.Enforcement != mode && a.StdinTerminal():
		fmt.Fprintf(a.Stderr, "enforcement: %s is milder than what you accepted, so it needs your approval code\n", mode)
		act, err = signed.Ask(ctx, a, log, what)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	defer act.Signer.Wipe()
	return own.Accept(ctx, log, act.By, act.Signer)
}

const settingsFile = "settings.yaml"

// setEnforcement writes the one setting into the person's own layer, with
// everything else and its comments left as they are. It returns the file's content.
func setEnforcement(home, mode string) ([]byte, error) {
	modes := []string{"observe", "warn", "enforce"}
	if !slices.Contains(modes, mode) {
		return nil, cli.Usage("unknown enforcement %q; expected observe, warn or enforce", mode)
	}
	if active, err := active.Releases(home).Active(); err != nil {
		return nil, err
	} else if now := active.Layers[bundles.User]; !now.None() {
		return nil, fmt.Errorf("the user layer is the activated bundle %s, which cannot be combined with a folder; "+
			"set enforcement in the bundle, or deactivate it: `reviewer policy rollback --layer user --to none --reason TEXT`",
			now.Release)
	}
	path := filepath.Join(active.LayerDir(bundles.User, home, ""), settingsFile)
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	changed, err := withKey(raw, "enforcement", mode)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("create the policy folder: %w", err)
	}
	return changed, term.WriteWhole(path, changed)
}

// withKey sets a top-level key of a YAML document in its text, so that nothing
// else in it changes. If that is not possible, nothing is changed.
func withKey(raw []byte, key, value string) ([]byte, error) {
	old, err := topKey(raw, key)
	if err != nil {
		return nil, err
	}
	changed := replaceValue(raw, old, value)
	if old == nil {
		changed = appendLine(raw, key+": "+value)
	}
	if now, err := topKey(changed, key); err != nil || now == nil || now.Value != value {
		return nil, fmt.Errorf("%s could not be changed automatically; add `%s: %s` to it yourself", key, key, value)
	}
	return changed, nil
}

// topKey returns the value of a top-level key; nil if there is none.
func topKey(raw []byte, key string) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil || doc.Kind == 0 {
		return nil, err
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, errors.New("expected keys with values at the top level")
	}
	for i := 0; i < len(top.Content); i += 2 {
		if top.Content[i].Value == key {
			return top.Content[i+1], nil
		}
	}
	return nil, nil
}

// replaceValue puts a value where the node is, up to the comment after it.
func replaceValue(raw []byte, at *yaml.Node, value string) []byte {
	if at == nil {
		return raw
	}
	lines := bytes.SplitAfter(raw, []byte("\n"))
	line := lines[at.Line-1]
	head, old := line[:at.Column-1], line[at.Column-1:]
	end := bytes.IndexAny(old, " \t\r\n")
	if end < 0 {
		end = len(old)
	}
	lines[at.Line-1] = slices.Concat(head, []byte(value), old[end:])
	return bytes.Join(lines, nil)
}

func appendLine(raw []byte, line string) []byte {
	if len(raw) > 0 && !bytes.HasSuffix(raw, []byte("\n")) {
		line = "\n" + line
	}
	return append(bytes.Clone(raw), line+"\n"...)
}
