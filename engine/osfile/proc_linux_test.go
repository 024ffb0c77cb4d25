package osfile_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// ReadProc reads what os.ReadFile reads, however long it is.
func TestReadProc(t *testing.T) {
	long := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(long, bytes.Repeat([]byte("0123456789"), 2000), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/proc/self/cmdline", "/proc/self/environ", "/proc/sys/kernel/random/boot_id", long, os.DevNull} {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := osfile.ReadProc(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes (%v), want %d", path, len(got), err, len(want))
		}
	}
	if _, err := osfile.ReadProc("/proc/self/nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
	if _, err := osfile.ReadProc("/proc/self"); err == nil {
		t.Error("a folder was read")
	}
}
