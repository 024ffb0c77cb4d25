package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A signed release has figures of its own policy.
func TestCheckMeasured(t *testing.T) {
	for name, c := range map[string]struct{ page, want string }{
		"of this policy":     {"# Measurements\n\nPolicy: 0.4.0, sequence 4; commit 1c231aa6; 2026-11-23\n", ""},
		"of an older policy": {"Policy: 0.3.0, sequence 3; commit 1c231aa6; 2026-11-23\n", "figures of policy 0.3.0 (3), and the release has 0.4.0 (4)"},
		"of none":            {"# Measurements\n", "has no line such as"},
	} {
		root := t.TempDir()
		for file, text := range map[string]string{"docs/measurements.md": c.page,
			"bundles/default/.manifest": `{"metadata": {"version": "0.4.0", "sequence": 4}}`} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		err := checkMeasured(root)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if line, err := os.ReadFile("../../../docs/measurements.md"); err != nil || !measuredPolicy().Match(line) {
		t.Errorf("docs/measurements.md does not name its policy: %v", err)
	}
}
