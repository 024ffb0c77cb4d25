//go:build unix

package osfile_test

import (
	"os"
	"testing"
)

// openToAll lets everyone read a file or a folder.
func openToAll(t *testing.T, path string) {
	t.Helper()
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}
