package checkpoint

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// disk mounts a small disk, or skips the test where that is not allowed.
func disk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=700,size="+size); err != nil {
		t.Skip("mount: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestFullDiskDuringASnapshot: the checkpoint fails, and those before it are whole.
func TestFullDiskDuringASnapshot(t *testing.T) {
	stores := disk(t, "256k")
	w := newWorkspace(t, map[string]string{"a": "1"})
	w.open(stores, testBounds())
	first := w.take(ByOthers)
	w.write("a", "2")
	random := make([]byte, 1<<19)
	f, err := os.Open("/dev/urandom")
	w.must(err)
	_, err = f.Read(random)
	w.must(err)
	w.must(f.Close())
	w.write("b", string(random))
	if _, err := w.store.Take(context.Background(), Request{By: BySession, Session: "s1"}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error: %v", err)
	}
	w.must(os.Remove(w.path("b")))
	w.take(BySession)
	w.restore(first.ID)
	if v, err := w.store.Verify(context.Background()); err != nil || len(v.Damage) != 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

// TestFullDiskDuringARestore: nothing is restored.
func TestFullDiskDuringARestore(t *testing.T) {
	w := newWorkspace(t, nil)
	w.root = disk(t, "256k")
	w.open(t.TempDir(), testBounds())
	w.write("a", "1")
	w.write("big", strings.Repeat("y", 1<<17))
	first := w.take(ByOthers)
	w.write("a", "2")
	w.must(os.Remove(w.path("big")))
	w.write("other", strings.Repeat("x", 1<<17))
	w.write("more", strings.Repeat("x", 1<<16))
	w.take(BySession)
	before := w.snapshot()
	_, err := w.store.Restore(context.Background(), RestoreRequest{To: first.ID, Session: "s1"})
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "nothing was restored") {
		t.Errorf("error: %v", err)
	}
	w.same(before)
}

// TestReadOnlyWorkspace: a checkpoint can be taken, and a restore is refused.
func TestReadOnlyWorkspace(t *testing.T) {
	w := newWorkspace(t, nil)
	w.root = disk(t, "256k")
	w.open(t.TempDir(), testBounds())
	w.write("a", "1")
	first := w.take(ByOthers)
	w.write("a", "2")
	w.must(syscall.Mount("", w.root, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	w.take(BySession)
	if _, err := w.store.Restore(context.Background(), RestoreRequest{To: first.ID, Session: "s1"}); !errors.Is(err, syscall.EROFS) {
		t.Errorf("error: %v", err)
	}
}

// TestAnotherFileSystem: what is mounted under the workspace is named.
func TestAnotherFileSystem(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "1", "mounted/": ""})
	w.must(syscall.Mount("tmpfs", w.path("mounted"), "tmpfs", 0, "size=64k"))
	defer func() { w.must(syscall.Unmount(w.path("mounted"), syscall.MNT_DETACH)) }()
	if taken := w.take(ByOthers); taken.LeftAll != 1 || taken.Left[0].Why != whyOtherDisk {
		t.Errorf("left out: %+v", taken.Left)
	}
}

// TestLargeFile: a file of 5 GB is named and not read.
func TestLargeFile(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "1"})
	w.must(os.WriteFile(filepath.Join(w.root, "large"), nil, 0o600))
	w.must(os.Truncate(filepath.Join(w.root, "large"), 5<<30))
	if taken := w.take(ByOthers); taken.LeftAll != 1 || taken.Left[0].Why != whyTooBig || taken.Read != 1 {
		t.Errorf("left out: %+v", taken)
	}
}
