package diff

import (
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
)

// Rows of words, names and tools are decided as far as they can be.
func TestDirectionsOfRows(t *testing.T) {
	for _, c := range []struct {
		file, before, after, name string
		want                      Direction
	}{
		{"places/acme.yaml", "credential: {names: one.acmekey}\n", "credential: {names: one.acmekey two.acmekey}\n", "places/credential", Tightened},
		{"places/acme.yaml", "credential: {names: one.acmekey two.acmekey}\n", "credential: {names: one.acmekey}\n", "places/credential", Loosened},
		{"places/acme.yaml", "credential: {names: one.acmekey}\n", "credential: {names: two.acmekey}\n", "places/credential", Mixed},
		{"places/acme.yaml", "credential: {names: one.acmekey}\n", "credential: {names: one.acmekey, except: {names: spare.acmekey}}\n", "places/credential", Loosened},
		{"places/acme.yaml", "generated: {extensions: .acmeout}\n", "generated: {extensions: .acmeout .acmetmp}\n", "places/generated", Loosened},
		{"places/acme.yaml", "", "credential: {names: one.acmekey}\n", "places/credential", Tightened},
		{"places/acme.yaml", "generated: {extensions: .acmeout}\n", "", "places/generated", Tightened},
		{"words/acme.yaml", "", "calls.empties: {words: acme_empty_all}\n", "words/calls.empties", Tightened},
		{"words/acme.yaml", "calls.empties: {words: acme_empty_all}\n", "", "words/calls.empties", Loosened},
		{"words/acme.yaml", "", "arguments.paths: {words: acmepath}\n", "words/arguments.paths", Mixed},
		{"tools/acme.yaml", "", "mcp__acme__send: {action: net.send}\n", "tools/mcp__acme__send", Mixed},
		{"tools/acme.yaml", "mcp__acme__send: {action: net.send}\n", "mcp__acme__send: {action: net.fetch}\n", "tools/mcp__acme__send", Undecided},
	} {
		of := func(text string) *bundles.Effective {
			files := []string{"settings.yaml", "risk: {high_threshold: 0.8}\n"}
			if text != "" {
				files = append(files, c.file, text)
			}
			return onBase(t, filesOf(t, bundles.Organisation, files...))
		}
		changes := diffOf(t, of(c.before), of(c.after))
		found := false
		for _, d := range changes.List {
			if d.Name != c.name {
				continue
			}
			found = true
			if d.Direction != c.want || (d.Why != "") != (c.want == Undecided) {
				t.Errorf("%q -> %q: %s is %s (%s), want %s", c.before, c.after, d.Name, d.Direction, d.Why, c.want)
			}
		}
		if !found {
			t.Errorf("%q -> %q: no change of %s in %+v", c.before, c.after, c.name, changes.List)
		}
	}
}
