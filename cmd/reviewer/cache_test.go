package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCache: the resident process has a cache if the settings want one, and counts its use.
func TestCache(t *testing.T) {
	for settings, used := range map[string]bool{"cache: {enabled: true}\n": true, "cache: {enabled: false}\n": false} {
		home, shop := asyncHome(t)
		if err := os.WriteFile(filepath.Join(home, "policy", "settings.yaml"), []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		r := newResident(home)
		for _, call := range []string{"a", "b"} {
			if a := edit(t, r, shop, "cart.go", call); a.Exit != 0 {
				t.Errorf("exit %d\n%s%s", a.Exit, a.Stdout, a.Stderr)
			}
		}
		if counts := metricsOf(t, r); strings.Contains(counts, "reviewer_resident_cache_hits_total 0\n") == used {
			t.Errorf("%s: %s", settings, counts)
		}
	}
}
