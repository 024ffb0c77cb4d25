package stats

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/schemas"
)

// The document is as its schema says.
func TestDocumentFitsItsSchema(t *testing.T) {
	raw, err := schemas.FS.ReadFile("stats.json")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.CompileString("stats.json", string(raw))
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]Document{"nothing": told("", 0), "eventful": told(BySession, 5, eventful(), eventful())} {
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(b, &doc); err != nil {
			t.Fatal(err)
		}
		doc["v"] = 1 // the command adds it
		if err := schema.Validate(any(doc)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var wrong any = map[string]any{"calls": map[string]any{}}
	if schema.Validate(wrong) == nil {
		t.Error("the schema takes anything")
	}
}

// frozenLines are the lines of logs that older versions left.
func frozenLines(t testing.TB) [][]byte {
	t.Helper()
	files, err := filepath.Glob("../../testdata/audits/*/home/sessions/*/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no frozen logs: %v", err)
	}
	var list [][]byte
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, bytes.SplitAfter(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))...)
	}
	return list
}

// Whatever a log holds, the numbers add up, and are the same each time.
func FuzzRecords(f *testing.F) {
	for i, line := range frozenLines(f) {
		if i%40 == 2 {
			f.Add(line, line)
		}
	}
	for _, text := range []string{
		`{"v":1,"prev":"","n":1,"kind":"pre","t":1,"chain":"c","answer":{"effect":"ask","mode":"enforced","ms":1e308}}`,
		`{"v":1,"prev":"","n":2,"kind":"act","t":-1,"chain":"","act":{"kind":"","of":"-1"},"answer":{"effect":"x","mode":"y","approvals":[{"of":"c-1"}]},"decision":{}}`,
	} {
		f.Add([]byte(text), []byte(text))
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		s := &tale{}
		for _, line := range [][]byte{one, two, one} {
			if r, err := engine.DecodeLine(line); err == nil {
				s.records = append(s.records, r)
			}
		}
		d := told(ByTool, 0, s)
		checkSums(t, d)
		expose(t, d)
		if diff := cmp.Diff(d, told(ByTool, 0, s)); diff != "" {
			t.Error(diff)
		}
	})
}

func checkSums(t *testing.T, d Document) {
	var words, tools, pre int64
	for _, n := range d.Calls.fields() {
		words += *n
	}
	for _, g := range d.Tools {
		tools += g.Total
	}
	for _, k := range d.Records {
		if k.Kind == engine.KindPre {
			pre = k.Count
		}
	}
	if words != d.Calls.Total || tools != d.Calls.Total || d.Policy.Total != d.Calls.Total || d.Calls.Total > pre {
		t.Errorf("%d calls, %d by verdict, %d by tool, %d by policy, %d records", d.Calls.Total, words, tools, d.Policy.Total, pre)
	}
	if q := d.Questions; q.Approved < 0 || q.Refused < 0 || q.Open < 0 || q.Asked > d.Calls.Ask {
		t.Errorf("%+v of %d", q, d.Calls.Ask)
	}
	last := int64(0)
	for _, b := range d.ReviewTime.Buckets {
		if b.Count < last || b.Count > d.ReviewTime.Count {
			t.Errorf("buckets fall: %+v", d.ReviewTime)
		}
		last = b.Count
	}
}
