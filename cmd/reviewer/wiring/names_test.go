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

// What is wrong in a definition is said with its file and line, when its text is compiled and before.
func TestDefinitionsRefused(t *testing.T) {
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"a: {type: bool, is: actoin.name}\n": "organisation/definitions.yaml:1: definition a: is:1:1: unknown name \"actoin\"; did you mean \"action\"?",
		"\nphase: {type: bool, is: 'true'}\n": "organisation/definitions.yaml:2: definition phase: name: is the name of a part of the input; " +
			"give the definition another one",
		// a name is another thing where it is a field, or in quotes
		"similar: {type: bool, is: 'history.similar.count > 3 && \"similar\" != action.name'}\n": "",
	} {
		files := map[string][]byte{".manifest": []byte(`{"roots": ["policies/organisation"]}`), "definitions.yaml": []byte(text)}
		own, err := bundles.FromFiles(files, bundles.Organisation)
		if err != nil {
			t.Fatal(err)
		}
		e, err := bundles.Assemble(base, own)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := Check(context.Background(), e); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}
