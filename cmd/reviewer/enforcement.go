package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"go.yaml.in/yaml/v3"
)

// setEnforcement writes the one setting into the person's own layer, with
// everything else and its comments left as they are.
func setEnforcement(home, mode string) error {
	modes := []string{"observe", "warn", "enforce"}
	if !slices.Contains(modes, mode) {
		return cli.Usage("unknown enforcement %q; expected observe, warn or enforce", mode)
	}
	if active, err := active.Releases(home).Active(); err != nil {
		return err
	} else if now := active.Layers[bundles.User]; !now.None() {
		return fmt.Errorf("the user layer is the activated bundle %s, which cannot be combined with a folder; "+
			"set enforcement in the bundle, or deactivate it: `reviewer policy rollback --layer user --to none --reason TEXT`",
			now.Release)
	}
	path := filepath.Join(active.LayerDir(bundles.User, home, ""), "settings.yaml")
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read settings: %w", err)
	}
	changed, err := withKey(raw, "enforcement", mode)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create the policy folder: %w", err)
	}
	return term.WriteWhole(path, changed)
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
