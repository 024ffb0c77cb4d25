package impact_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/impact"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/schemas"
)

func schema(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	raw, err := schemas.FS.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := jsonschema.CompileString(file, string(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func conforms(t *testing.T, s *jsonschema.Schema, raw []byte) error {
	t.Helper()
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

// What was written is as its schema says, and comes back as it was, to the byte.
func TestReadBack(t *testing.T) {
	fresh := (&simulate.Comparison{Candidates: make([]simulate.Side, 1)}).Empty()[0]
	for name, m := range map[string]*simulate.Impact{"fresh": fresh, "empty": empty(), "calm": calm(), "busy": busy(), "partial": partial()} {
		raw := write(t, "json", m, impact.Options{})
		if err := conforms(t, schema(t, "impact.json"), raw); err != nil {
			t.Errorf("%s: %#v", name, err)
		}
		d, err := impact.Read(bytes.NewReader(raw))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(m, d.Impact, cmpopts.EquateEmpty()); diff != "" || d.Sweep != nil {
			t.Errorf("%s was read as another:\n%s", name, diff)
		}
		if again := write(t, "json", d.Impact, impact.Options{}); !bytes.Equal(raw, again) {
			t.Errorf("%s has other bytes when it is written again", name)
		}
	}
	raw := writeSweep(t, "json", sweep(), impact.Options{})
	if err := conforms(t, schema(t, "sweep.json"), raw); err != nil {
		t.Errorf("sweep: %#v", err)
	}
	d, err := impact.Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sweep(), d.Sweep, cmpopts.EquateEmpty()); diff != "" || d.Impact != nil {
		t.Errorf("the sweep was read as another:\n%s", diff)
	}
}

// What no simulation writes is refused, by the schema or by who reads it.
func TestReadRefuses(t *testing.T) {
	raw := string(write(t, "json", busy(), impact.Options{}))
	swept := string(writeSweep(t, "json", sweep(), impact.Options{}))
	replace := func(doc, old, next string) string {
		t.Helper()
		if !strings.Contains(doc, old) {
			t.Fatalf("the document has no %s", old)
		}
		return strings.Replace(doc, old, next, 1)
	}
	for _, c := range []struct{ name, doc, want string }{
		{"nothing", " \n", "the file is empty"},
		{"half", raw[:len(raw)/2], "not a complete JSON document"},
		{"two", raw + raw, "not a complete JSON document"},
		{"a list", "[]", "not a complete JSON document"},
		{"another document", `{"version":1,"tests":[]}`, "not a simulation report"},
		{"no version", replace(raw, `"version": 1,`, ``), "not a simulation report"},
		{"the next version", replace(raw, `"version": 1`, `"version": 2`), "the report has version 2, and this reviewer reads version 1"},
		{"a field more", replace(raw, `"env":`, `"extra": 1, "env":`), "extra"},
		{"a field less", replace(raw, `"never_fired":`, `"partial": "x", "x":`), "x"},
		{"a list less", replace(raw, `"kinds": [`, `"partial": "", "kinds": null, "errors": [`), "not a simulation report"},
		{"text for a number", replace(raw, `"total": 2920`, `"total": "2920"`), "total"},
		{"a fraction", replace(raw, `"total": 2920`, `"total": 2920.5`), "2920.5"},
		{"states that do not add up", replace(raw, `"total": 2920`, `"total": 2921`), "calls: the states add up to 2920 of 2921"},
		{"a state less than none", replace(raw, `"tightened": 9,`, `"tightened": -9,`), `calls: -9 decisions are "tightened"`},
		{"an unknown state", replace(raw, `"state": "maybe"`, `"state": "perhaps"`), `are "perhaps"`},
		{"an unknown verdict", replace(raw, `"to": "block"`, `"to": "stop"`), `to "stop"`},
		{"more changed sessions than there are", replace(raw, `"changed": 4`, `"changed": 55`), "55 of 54 sessions"},
		{"a shard that cannot be", replace(raw, `"env":`, `"shard": {"index": 8, "of": 7}, "env":`), "shard 8/7 is impossible"},
		{"a row of a sweep", replace(swept, `"total": 128`, `"total": 129`), "rows[0].impact: calls"},
		{"a row without an impact", `{"version":1,"key":"k","rows":[{"value":1,"impact":null}]}`, "rows[0].impact"},
		{"a sweep without a key", `{"version":1,"rows":[]}`, `"key" is missing`},
	} {
		d, err := impact.Read(strings.NewReader(c.doc))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		if d.Impact != nil || d.Sweep != nil {
			t.Errorf("%s: something was read", c.name)
		}
	}
	if _, err := impact.Read(io.MultiReader(strings.NewReader(raw[:100]), failing{})); err == nil || !strings.Contains(err.Error(), "disk") {
		t.Errorf("a reader that fails: %v", err)
	}
	if conforms(t, schema(t, "impact.json"), []byte(replace(raw, `"state": "maybe"`, `"state": "perhaps"`))) == nil {
		t.Error("an unknown state conforms to the schema")
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

// Whatever is read either is refused or can be written.
func FuzzRead(f *testing.F) {
	for _, v := range []any{empty(), partial(), &simulate.Sweep{Version: 1, Key: "k", Rows: []simulate.SweepRow{{Value: 1, Impact: empty()}}}} {
		raw, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := impact.Read(bytes.NewReader(raw))
		if err != nil {
			return
		}
		for _, format := range impact.Formats() {
			if d.Impact != nil {
				write(t, format, d.Impact, impact.Options{Width: 80})
			} else if format != "sarif" {
				writeSweep(t, format, d.Sweep, impact.Options{Width: 80})
			}
		}
	})
}
