package active

import (
	"slices"
	"testing"
)

// A revision holds for the names after it, or a change of the second layer would be compared with itself.
func TestStackOfRevision(t *testing.T) {
	for ref, want := range map[string][]string{
		"git:origin/main:org+team":       {"git:origin/main:org", "git:origin/main:team"},
		"git:v1:a/org+b/team+user":       {"git:v1:a/org", "git:v1:b/team", "git:v1:user"},
		"git:v1:org+git:v2:team":         {"git:v1:org", "git:v2:team"},
		"git:v1:org+./team":              {"git:v1:org", "./team"},
		"git:v1:org+team.tar.gz":         {"git:v1:org", "team.tar.gz"},
		"git:v1:org+active":              {"git:v1:org", "active"},
		"org+git:v1:team":                {"org", "git:v1:team"},
		"default+git:v1:team+0123456789": {"default", "git:v1:team", "0123456789"},
		"org+team":                       {"org", "team"},
	} {
		if got := StackParts(ref); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", ref, got, want)
		}
	}
}
