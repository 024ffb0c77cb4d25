package catalogue

import (
	"os"
	"regexp"
	"testing"

	"go.yaml.in/yaml/v3"
)

// advised is a command that a remedy names.
var advised = regexp.MustCompile("`([^`]+)`")

// Each command that a rule or a pattern advises is in a case, and passes there:
// an agent that does as it is told would otherwise be stopped again.
func TestRemediesAreCases(t *testing.T) {
	e := shipped(t)
	passes := remedyCases(t)
	for _, r := range Of(e) {
		for _, m := range advised.FindAllStringSubmatch(r.Remediation, -1) {
			if v := passes[m[1]]; v != "allow" && v != "warn" {
				t.Errorf("%s:%d: rule %s advises %q, and no case in cases/remedies lets it pass", r.File, r.Line, r.ID, m[1])
			}
		}
	}
}

// remedyCases are the commands of the cases, as rules write them, with what is
// decided about them.
func remedyCases(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../default/cases/remedies/remedies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var stories []struct {
		Cases []struct{ Name, Decision string }
	}
	if err := yaml.Unmarshal(text, &stories); err != nil {
		t.Fatal(err)
	}
	passes := map[string]string{}
	for _, s := range stories {
		for _, c := range s.Cases {
			passes[c.Name] = c.Decision
		}
	}
	return passes
}
