package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cmd/reviewer/wine/scripts.txt says about each script whether it runs under wine, and if
// not, why. docs/windows.md says how many do, and names the others.
func TestWineList(t *testing.T) {
	list, err := os.ReadFile("../cmd/reviewer/wine/scripts.txt")
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("../testdata/script/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no scripts (%v)", err)
	}
	missing := map[string]bool{}
	for _, p := range paths {
		missing[strings.TrimSuffix(filepath.Base(p), ".txtar")] = true
	}
	all, run, confined := len(missing), 0, 0
	for name := range missing {
		if name == "run" || strings.HasPrefix(name, "run-") { // reviewer run is for Linux
			confined++
		}
	}
	for line := range strings.Lines(string(list)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		switch {
		case len(words) < 2 || words[0] != "run" && words[0] != "skip":
			t.Errorf("the line %q is neither `run NAME` nor `skip NAME REASON`", line)
			continue
		case words[0] == "skip" && len(words) < 4, words[0] == "run" && len(words) > 2:
			t.Errorf("the line %q: skip needs a reason, and run has none", line)
		case !missing[words[1]]:
			t.Errorf("%s is listed twice, or is not a script of testdata/script", words[1])
		}
		delete(missing, words[1])
		if words[0] == "run" {
			run++
		} else {
			inDocs(t, "`"+words[1]+"`")
		}
	}
	if run*100 < (all-confined)*75 {
		t.Errorf("%d of %d scripts run there, and %d are about reviewer run; want at least 75 %% of the others", run, all, confined)
	}
	inDocs(t, fmt.Sprintf("(%d of %d)", run, all))
	for name := range missing {
		t.Errorf("the script %s is not in wine/scripts.txt: put it there as `run %s`, or as skip with a reason", name, name)
	}
}

// inDocs is an error unless docs/windows.md has a string.
func inDocs(t *testing.T, text string) {
	t.Helper()
	doc, err := os.ReadFile("windows.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), text) {
		t.Errorf("docs/windows.md does not have %s, which is what wine/scripts.txt says", text)
	}
}
