package history

import (
	"encoding/json"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

// Keyframes of older fold versions hold a list, and a log must stay readable.
func TestTypeSetJSON(t *testing.T) {
	written, err := json.Marshal(typesOf([]engine.Type{engine.TypeFileRead, engine.TypeMessage}))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]engine.Type{
		string(written):           {engine.TypeFileRead, engine.TypeMessage},
		`["message","file_read"]`: {engine.TypeFileRead, engine.TypeMessage},
		`["of a later version"]`:  {engine.TypeUnknown},
		`[]`:                      {},
		`0`:                       {},
	} {
		var got typeSet
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
		} else if d := cmp.Diff(want, got.list()); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
	for _, text := range []string{`"message"`, `[1]`, `{}`, `1.5`} {
		var got typeSet
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is read as %v", text, got.list())
		}
	}
}
