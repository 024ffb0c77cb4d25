package cel

import (
	"path"
	"strings"
	"testing"
)

func TestFunctions(t *testing.T) {
	for _, test := range []struct {
		f    func(a, b string) (bool, error)
		a, b string
		want bool
	}{
		{under, "/etc/ssh/sshd_config", "/etc", true},
		{under, "/etc", "/etc/", true},
		{under, "/etcetera", "/etc", false},
		{under, "/etc/../home", "/etc", false},
		{under, "/a", "/", true},
		{under, "a", "/", false},
		{under, "./src/x.go", "src", true},
		{under, "src/x.go", ".", true},
		{under, ".", ".", true},
		{under, "..", ".", false},
		{under, "../x", ".", false},
		{under, "..x", ".", true},
		{under, "~/x", ".", false},
		{under, "~/.ssh/id", "~/.ssh", true},
		{under, "~", "~/.ssh", false},
		{under, "", ".", false},
		{under, "/a", "", false},
		{glob, "/srv/app/.env", "**/.env", true},
		{glob, ".env", "**/.env", true},
		{glob, "/srv/app/.envrc", "**/.env", false},
		{glob, "/srv/app/.env", "/srv/*/.env", true},
		{glob, "/srv/a/b/.env", "/srv/*/.env", false},
		{glob, "/srv/a/b/.env", "/srv/**/.env", true},
		{glob, "/srv/.env", "/srv/**/.env", true},
		{glob, "/srv/a/b", "/srv/**", true},
		{glob, "/srv", "/srv/**", true},
		{glob, "/srv2", "/srv/**", false},
		{glob, "a/x/b/y/b", "a/**/b", true},
		{glob, "a/x/b/y/c", "a/**/b", false},
		{glob, "a/b/c/d", "**/b/**/d", true},
		{glob, "main.go", "*.go", true},
		{glob, "x/main.go", "*.go", false},
		{glob, "main.go", "[a-m]???.go", true},
		{glob, "", "", true},
		{glob, "!", "[!a]", true}, // ! is a character of a set
		{glob, "b", "[!a]", false},
		{glob, "b", "[^a]", true},
		{glob, "", "**", true},
		{domain, "api.example.com:443", "example.com", true},
		{domain, "EXAMPLE.com", "example.com", true},
		{domain, "example.com.", ".example.com", true},
		{domain, "badexample.com", "example.com", false},
		{domain, "example.com.evil.org", "example.com", false},
		{domain, "::1", "1", false},
		{domain, "", "example.com", false},
		{domain, "example.com", "", false},
	} {
		if got, err := test.f(test.a, test.b); got != test.want || err != nil {
			t.Errorf("(%q, %q): got %v, %v, want %v", test.a, test.b, got, err, test.want)
		}
	}
}

// A pattern without ** matches as in the standard library; ** in front never loses a
// match; the time is not exponential in the number of **.
func FuzzGlob(f *testing.F) {
	f.Add("/srv/app/.env", "/srv/*/.env")
	f.Add("a/b/c", "a/[b-d]/?")
	f.Add("aa/aa/aa", "**/a*/**/a*")
	f.Fuzz(func(t *testing.T, p, pattern string) {
		got, err := glob(p, pattern)
		if !strings.Contains(pattern, "**") {
			want, bad := path.Match(pattern, p)
			if bad == nil && err == nil && want != got && !strings.ContainsAny(pattern, "[\\") {
				t.Fatalf("glob(%q, %q) = %v, path.Match says %v", p, pattern, got, want)
			}
		}
		if more, err := glob("x/"+p, "**/"+pattern); err == nil && got && !more {
			t.Fatalf("glob(%q, %q) holds, but not under a directory with **", p, pattern)
		}
	})
}
