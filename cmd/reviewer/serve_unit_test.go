package main

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnits compares the files of the service, with words that need quotes.
func TestUnits(t *testing.T) {
	args := []string{"serve", "--home", `/home/kim/50% of "it" $HOME/<state>`, "--idle", "0"}
	for system, file := range map[string]string{"linux": "reviewer.service", "darwin": "dev.reviewer.serve.plist"} {
		u, err := unitOf(system, "/home/kim", "/opt/re viewer/reviewer", args)
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("../../testdata/units", file)
		if os.Getenv("UPDATE_UNITS") != "" {
			if err := os.WriteFile(golden, []byte(u.text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || u.text != string(want) || filepath.Base(u.path) != file {
			t.Errorf("%s (%v):\n%s", u.path, err, u.text)
		}
		if system == "darwin" {
			for d := xml.NewDecoder(strings.NewReader(u.text)); ; {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, c := range []struct{ system, home string }{{"windows", "/h"}, {"linux", "/h\nExecStart=evil"}} {
		if u, err := unitOf(c.system, "/home/kim", "/reviewer", []string{c.home}); err == nil {
			t.Errorf("%+v: %+v", c, u)
		}
	}
}
