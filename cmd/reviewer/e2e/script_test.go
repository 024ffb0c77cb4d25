package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseScript(t *testing.T) {
	got, err := ParseScript(`
# a remark
say First.
say And then:
call Read {"file_path": "a b"}
call Bash {"command": "ls"}

say Done.
`)
	if err != nil {
		t.Fatal(err)
	}
	want := Script{
		{Say: "First.\nAnd then:", Calls: []Call{
			{Tool: "Read", Input: json.RawMessage(`{"file_path": "a b"}`)}, {Tool: "Bash", Input: json.RawMessage(`{"command": "ls"}`)},
		}},
		{Say: "Done."},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

func TestParseScriptRefuses(t *testing.T) {
	for _, text := range []string{"shout hello", "call Bash", "call Bash {", "call"} {
		if script, err := ParseScript(text); err == nil {
			t.Errorf("ParseScript(%q) = %v, want an error", text, script)
		}
	}
}

// A shell's own variables are not places.
func TestParseScenario(t *testing.T) {
	s, err := parseScenario([]byte("About.\n-- project/a --\n$HOME\n-- prompt --\nGo.\n-- script --\ncall Bash {\"command\": \"ls $PROJECT/$x\"}\n"),
		map[string]string{"HOME": "/home/kim", "PROJECT": "/srv/shop"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Prompt != "Go." || s.About != "About." || s.Files["project/a"] != "/home/kim\n" {
		t.Errorf("scenario %+v", s)
	}
	if got := string(s.Script[0].Calls[0].Input); !strings.Contains(got, "ls /srv/shop/$x") {
		t.Errorf("input %s", got)
	}
	if _, err := parseScenario([]byte("-- prompt --\nGo.\n"), nil); err == nil {
		t.Error("a scenario without a script is taken")
	}
}

func TestConversationKeepsTheChain(t *testing.T) {
	got, err := Conversation([]byte(`{"type":"user","uuid":"a","parentUuid":null}
{"type":"attachment","uuid":"b","parentUuid":"a"}
{"type":"attachment","uuid":"c","parentUuid":"b"}
{"type":"cost-state"}
{"type":"assistant","uuid":"d","parentUuid":"c"}
{"type":"user","uuid":"e","parentUuid":"d"}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"user","uuid":"a","parentUuid":null}
{"type":"assistant","uuid":"d","parentUuid":"a"}
{"type":"user","uuid":"e","parentUuid":"d"}
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
