package cli

import (
	"path/filepath"
	"testing"
)

// TestUsualStateHome: each system has a place for what a user's programs keep.
func TestUsualStateHome(t *testing.T) {
	for _, c := range []struct{ system, home, local, want string }{
		{"linux", "/home/kim", "", "/home/kim/.local/state/reviewer"},
		{"linux", "/home/kim", "/x", "/home/kim/.local/state/reviewer"},
		{"darwin", "/Users/kim", "", "/Users/kim/.local/state/reviewer"},
		{"windows", "C:/Users/kim", "D:/local", "D:/local/reviewer"},
		{"windows", "C:/Users/kim", "", "C:/Users/kim/AppData/Local/reviewer"},
	} {
		if got := filepath.ToSlash(usualStateHome(c.system, c.home, c.local)); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
