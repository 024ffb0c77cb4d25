package active

import "testing"

// TestOrganisationDir: each system has a folder that only administrators can change.
func TestOrganisationDir(t *testing.T) {
	for system, want := range map[string]string{
		"linux":   "/etc/reviewer/policy",
		"freebsd": "/etc/reviewer/policy",
		"darwin":  "/Library/Application Support/reviewer/policy",
		"windows": "C:/Program Files/reviewer/policy",
	} {
		if got := organisationDir(system); got != want {
			t.Errorf("%s: %s, want %s", system, got, want)
		}
	}
}
