package rows

import "testing"

func TestHasOption(t *testing.T) {
	row := Program{Values: "--proxy", DryRun: "--dry-run", Cases: []Case{{Option: "--hard", Value: map[string]string{"--mode -m": "all"},
		Do: []Step{{Network: "send", On: "--repo or operand 0", Forced: "-f --force"}}}}, Notes: []Case{{Without: "--quiet"}}}
	for _, option := range []string{"--proxy", "--dry-run", "--hard", "--mode", "-m", "--repo", "-f", "--force", "--quiet"} {
		if !row.HasOption(option) {
			t.Errorf("the row does not name %s", option)
		}
	}
	for _, option := range []string{"--har", "--prox", "--repos"} {
		if row.HasOption(option) {
			t.Errorf("the row names %s", option)
		}
	}
}
