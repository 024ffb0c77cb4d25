package unit

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestUnits compares the files of the services, with words that need quotes.
func TestUnits(t *testing.T) {
	const state = `/home/kim/50% of "it" $HOME/<state>`
	for _, system := range []string{"linux", "darwin"} {
		service, err := Service(system, "/home/kim", "/opt/re viewer/reviewer", []string{"serve", "--home", state, "--idle", "0"})
		if err != nil {
			t.Fatal(err)
		}
		pull := []string{"policy", "pull", "oci://registry.example.com/policy/agents:stable", "--activate", "--home", state}
		timer, err := Timer(system, "/home/kim", "", "/opt/re viewer/reviewer", pull, time.Hour, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range append(service.Files, timer.Files...) {
			golden := filepath.Join("../../../testdata/units", filepath.Base(f.Path))
			if os.Getenv("UPDATE_UNITS") != "" {
				if err := os.WriteFile(golden, []byte(f.Text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(golden); err != nil || f.Text != string(want) {
				t.Errorf("%s (%v):\n%s", f.Path, err, f.Text)
			}
			for d := xml.NewDecoder(strings.NewReader(f.Text)); system == "darwin"; {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, c := range []struct{ system, home string }{{"windows", "/h"}, {"linux", "/h\nExecStart=evil"}} {
		if u, err := Service(c.system, "/home/kim", "/reviewer", []string{c.home}); err == nil {
			t.Errorf("%+v: %+v", c, u)
		}
		if u, err := Timer(c.system, "/home/kim", "", "/reviewer", []string{c.home}, time.Hour, 0); err == nil {
			t.Errorf("%+v: %+v", c, u)
		}
	}
}
