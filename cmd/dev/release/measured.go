package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"
)

// measuredPolicy is the line of docs/measurements.md that names the policy of the newest figures.
var measuredPolicy = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^Policy: (\S+), sequence (\d+); commit [0-9a-f]{7,40}; \d{4}-\d\d-\d\d$`)
})

// checkMeasured refuses figures that are older than the policy of the release.
func checkMeasured(root string) error {
	const page, manifest = "docs/measurements.md", "bundles/default/.manifest"
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(filepath.Join(root, manifest))
	if err != nil {
		return err
	}
	var m struct {
		Metadata struct {
			Version  string
			Sequence json.Number
		}
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return fmt.Errorf("%s: %w", manifest, err)
	}
	line := measuredPolicy().FindSubmatch(text)
	if line == nil {
		return fmt.Errorf("%s has no line such as `Policy: 1.2.0, sequence 7; commit 0123abcd; 2026-01-31`", page)
	}
	if string(line[1]) != m.Metadata.Version || string(line[2]) != m.Metadata.Sequence.String() {
		return fmt.Errorf("%s has figures of policy %s (%s), and the release has %s (%s): "+
			"measure again as the page says (make score), or give -unsigned for a trial",
			page, line[1], line[2], m.Metadata.Version, m.Metadata.Sequence)
	}
	return nil
}
