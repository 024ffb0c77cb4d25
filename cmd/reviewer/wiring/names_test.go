package wiring

import (
	"context"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
)

// A condition of a layer can use the definitions of its own layer and of those below, and lists of
// settings to which it adds.
func TestNames(t *testing.T) {
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{
		".manifest":        []byte(`{"roots": ["policies/organisation"]}`),
		"settings.yaml":    []byte("lists: {ssh: [shopssh]}\n"),
		"definitions.yaml": []byte("by_ssh: {type: bool, is: 'action.commands.exists(c, c.name in data.lists.ssh)'}\n"),
		"rules/shop.yaml": []byte("- {id: shop.ssh, title: By ssh, severity: low, decision: warn, message: By ssh., match: {phases: [pre]}, " +
			"when: by_ssh && !waiting}\n"),
	}
	own, err := bundles.FromFiles(files, bundles.Organisation)
	if err != nil {
		t.Fatal(err)
	}
	e, err := bundles.Assemble(base, own)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(context.Background(), e); err != nil {
		t.Fatal(err)
	}
	p, err := Compile(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"shopssh": true, "ssh": true, "make": false} {
		in := &engine.Input{Phase: engine.PhasePre, Action: engine.Action{Commands: []engine.Command{{Name: name}}}}
		findings, err := p.Matcher.Match(context.Background(), in)
		found := false
		for _, f := range findings {
			found = found || f.ID == "shop.ssh" && f.Error == ""
		}
		if err != nil || found != want {
			t.Errorf("%s: found %v, %v, want %v", name, findings, err, want)
		}
	}
}
