//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"runtime"
)

// inNamespace runs the rest of its arguments where /etc/claude-code is a folder
// of the stage: the client has no other way to be given managed settings. The
// machine's own /etc stays as it is.
const inNamespace = `mount -t overlay overlay -o "lowerdir=$0:/etc" /etc && mount --bind "$0/claude-code" /etc/claude-code && exec "$@"`

// managed is the stage's folder of managed settings.
func (s *stage) managed() string {
	return filepath.Join(filepath.Dir(s.Home), "etc", "claude-code")
}

// useManaged makes the client and the reviewer see that folder from now on.
func (s *stage) useManaged() {
	s.t.Helper()
	if runtime.GOOS != "linux" {
		s.t.Skip("managed settings are in a folder of the system; only Linux namespaces can put another in its place")
	}
	s.must(os.MkdirAll(s.managed(), 0o755))
	s.wrap = []string{"unshare", "--mount", "sh", "-c", inNamespace, filepath.Dir(s.managed())}
	if os.Geteuid() != 0 {
		s.wrap = append([]string{"unshare", "--mount", "--map-root-user"}, s.wrap[2:]...)
	}
}

func (s *stage) installManaged() {
	s.t.Helper()
	s.useManaged()
	s.ok("install", "claude-code", "--managed", "--home", s.state, "--enforcement", "enforce")
}
