package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-reviewer/reviewer/bundles"
	"go.yaml.in/yaml/v3"
)

// setEnforcement writes the one setting into the person's own layer, with
// everything else and its comments left as they are.
func setEnforcement(home, mode string) error {
	modes := []string{"observe", "warn", "enforce"}
	if !slices.Contains(modes, mode) {
		return fmt.Errorf("unknown enforcement %q; expected observe, warn or enforce", mode)
	}
	path := filepath.Join(layerDir(bundles.User, home, ""), "settings.yaml")
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read settings: %w", err)
	}
	changed, err := withKey(raw, "enforcement", mode)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the policy folder: %w", err)
	}
	return writeWhole(path, changed)
}

// withKey sets a top-level key of a YAML document.
func withKey(raw []byte, key, value string) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	if doc.Kind == 0 {
		doc = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, errors.New("expected keys with values at the top")
	}
	for i := 0; i < len(top.Content); i += 2 {
		if top.Content[i].Value == key {
			top.Content[i+1].SetString(value)
			return yaml.Marshal(&doc)
		}
	}
	var k, v yaml.Node
	k.SetString(key)
	v.SetString(value)
	top.Content = append(top.Content, &k, &v)
	return yaml.Marshal(&doc)
}
