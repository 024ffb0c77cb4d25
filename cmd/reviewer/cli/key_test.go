package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A fingerprint that somebody else than an administrator could have written is not believed.
func TestAdministeredKey(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() != 0 {
		t.Skip("files of root are needed")
	}
	const key = "0123456789abcdef0123456789abcdef"
	for name, c := range map[string]struct {
		text   string
		change func(t *testing.T, dir, file string) error
		want   string
		why    string
	}{
		"as it is written":   {text: key + "\n", want: key},
		"no file":            {text: key, change: func(_ *testing.T, _, file string) error { return os.Remove(file) }},
		"not a fingerprint":  {text: "key", want: "invalid", why: "32 hexadecimal digits"},
		"empty":              {want: "invalid", why: "32 hexadecimal digits"},
		"of a user":          {text: key, change: func(_ *testing.T, _, file string) error { return os.Chown(file, 1000, 0) }, why: "does not belong to root"},
		"others can write":   {text: key, change: func(_ *testing.T, _, file string) error { return os.Chmod(file, 0o666) }, why: "others than root can write"},
		"a folder of a user": {text: key, change: func(_ *testing.T, dir, _ string) error { return os.Chown(dir, 1000, 0) }, why: "does not belong to root"},
		"others can write to a folder above": {text: key, change: func(_ *testing.T, dir, _ string) error { return os.Chmod(filepath.Dir(dir), 0o777) },
			why: "others than root can write"},
		"a link": {text: key, change: func(t *testing.T, _, file string) error {
			to := filepath.Join(t.TempDir(), "key")
			if err := os.Rename(file, to); err != nil {
				return err
			}
			return os.Symlink(to, file)
		}, why: "symbolic link"},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "reviewer", "keys")
			file := filepath.Join(dir, "kim")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			if c.change != nil {
				if err := c.change(t, dir, file); err != nil {
					t.Fatal(err)
				}
			}
			got, err := administeredKey(file, top)
			if got != c.want || (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
