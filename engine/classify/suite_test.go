package classify

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// suiteCase is a command of a suite, with the class in which it stands.
type suiteCase struct{ class, src string }

var suiteClass = regexp.MustCompile(`(?m)^# ([EF][0-9]{2}) `)

// suiteCases reads testdata/shell/NAME.txt, in which a comment names the class
// of all cases from there on.
func suiteCases(t testing.TB, name string) []suiteCase {
	t.Helper()
	data, err := os.ReadFile("testdata/shell/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []suiteCase
	class := ""
	for _, block := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
		if m := suiteClass.FindStringSubmatch(block); m != nil {
			class = m[1]
		}
		if _, src, _ := splitShellCase(block); src != "" {
			list = append(list, suiteCase{class, src})
		}
	}
	return list
}

// Each class of evasions and of traps has ten cases at least, and no case appears
// twice.
func TestSuites(t *testing.T) {
	for name, classes := range map[string]int{"evasions": 40, "traps": 20} {
		perClass, seen := map[string]int{}, map[string]bool{}
		for _, c := range suiteCases(t, name) {
			perClass[c.class]++
			if seen[c.src] {
				t.Errorf("%s: %s appears twice", name, c.src)
			}
			seen[c.src] = true
		}
		if len(perClass) != classes {
			t.Errorf("%s: %d classes, want %d", name, len(perClass), classes)
		}
		for class, n := range perClass {
			if n < 10 {
				t.Errorf("%s: class %s has %d cases, want 10", name, class, n)
			}
		}
	}
}
