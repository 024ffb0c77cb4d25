//go:build e2e && linux

package agents

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// doctor --live starts the real client, and sees that it obeys a denial. It leaves the user's
// home as it was.
func TestDoctorLive(t *testing.T) {
	list, err := chosen(os.Getenv("AGENTS"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		t.Run(c.Name, func(t *testing.T) {
			s := newStage(t, installedFor(t, c.Name))
			bin := filepath.Join(s.dir, "clients")
			name := map[string]string{"claude-code": "claude"}[c.Name]
			if name == "" {
				name = c.Name
			}
			s.write(filepath.Join(bin, name), "#!/bin/sh\nexec '"+strings.Join(s.client.Command, "' '")+"' \"$@\"\n")
			s.installWith(bin)
			before := s.files()
			cmd := exec.Command(s.reviewer, "doctor", "live", "--live", "--home", s.state)
			cmd.Dir, cmd.Env = s.project, append(s.environment(), "PATH="+bin+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "the allowed one ran, the denied one did not") {
				t.Errorf("doctor: %v\n%s", err, out)
			}
			if after := s.files(); after != before {
				t.Errorf("files of the user: %s\nbefore: %s", after, before)
			}
		})
	}
}

// files lists what is in the home.
func (s *stage) files() string {
	s.Helper()
	var names []string
	s.must(filepath.WalkDir(s.home, func(path string, _ os.DirEntry, err error) error {
		names = append(names, path)
		return err
	}))
	return strings.Join(names, " ")
}
