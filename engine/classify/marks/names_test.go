package marks

import "testing"

// A member of an object in code is not a host, whatever it is called.
func TestHostNameEndsAsHostsDo(t *testing.T) {
	for name, want := range map[string]bool{
		"api.example.com": true, "cc7.collect.example": true, "build.corp": true, "crates.io": true, "db.internal": true,
		"console.error": false, "process.exit": false, "result.stringify": false, "self.assertequal": false, "window.fetch": false,
	} {
		if HostName(name) != want {
			t.Errorf("%s: %t, want %t", name, !want, want)
		}
	}
}
