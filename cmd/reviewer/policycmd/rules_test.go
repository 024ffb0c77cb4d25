package policycmd

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/catalogue"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring/wiringtest"
	"github.com/agent-reviewer/reviewer/rego"
)

// Each built-in rule has a place where its condition is: the line of a key of its row, or of a rule in
// Rego that names its id.
func TestPlacesOfConditions(t *testing.T) {
	e := wiringtest.Effective(t)
	base := e.Layer(bundles.Base)
	expressions := map[string]string{}
	for _, r := range base.Rules {
		expressions[r.ID] = r.When + "\n" + r.Measure
	}
	at := rego.DecidedAt(e.Modules())
	for _, r := range catalogue.Of(e) {
		places := slices.Concat(r.Conditions, at[r.ID])
		if len(places) == 0 {
			t.Errorf("%s has no condition", r.ID)
		}
		for _, place := range places {
			name, number, _ := strings.Cut(strings.TrimPrefix(place, "base/"), ":")
			n, err := strconv.Atoi(number)
			lines := strings.Split(string(base.Files[name]), "\n")
			if err != nil || n < 1 || n > len(lines) {
				t.Errorf("%s: there is no place %s", r.ID, place)
				continue
			}
			line := strings.TrimSpace(lines[n-1])
			begins := func(key string) bool { return strings.HasPrefix(line, key) }
			inRow := slices.ContainsFunc([]string{"when:", "measure:", "match:"}, begins) || strings.Contains(expressions[r.ID], line)
			if strings.HasSuffix(name, ".yaml") && !inRow || strings.HasSuffix(name, ".rego") && !strings.HasPrefix(line, r.ID+" if") {
				t.Errorf("%s: %s is %q", r.ID, place, line)
			}
		}
	}
}
