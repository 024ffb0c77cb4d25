package osfile

import "testing"

// TestRemedy: the command that closes a file to others is one of the user's system.
func TestRemedy(t *testing.T) {
	const me, everyone = "S-1-5-21-1-2-3-1001", "S-1-1-0"
	for _, c := range []struct{ system, path, other, want string }{
		{"linux", "release", "", "chmod 600 release"},
		{"darwin", "/Users/kim/release", "", "chmod 600 /Users/kim/release"},
		{"windows", `C:\Keys of Kim\release`, everyone,
			`icacls "C:\Keys of Kim\release" /inheritance:r /grant:r "*S-1-5-21-1-2-3-1001:F" /remove:g "*S-1-1-0"`},
		{"windows", `release`, "", `icacls "release" /inheritance:r /grant:r "*S-1-5-21-1-2-3-1001:F"`},
	} {
		if got := remedy(c.system, c.path, me, c.other); got != c.want {
			t.Errorf("%s: %s, want %s", c.system, got, c.want)
		}
	}
}
