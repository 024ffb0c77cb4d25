package engine

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// Each named string type of a document has a vocabulary, so that a word that
// does not exist is found.
func TestSchemaKnowsAllWords(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(u reflect.Type) {
		if seen[u] {
			return
		}
		seen[u] = true
		switch u.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(u.Elem())
		case reflect.String:
			if u.Name() != "string" && len(Values(u)) == 0 {
				t.Errorf("%s has no vocabulary in Values", u)
			}
		case reflect.Struct:
			for _, f := range JSONFields(u) {
				walk(f.Type)
			}
		}
	}
	walk(reflect.TypeFor[Input]())
	walk(reflect.TypeFor[Record]())
	if len(seen) < 30 {
		t.Errorf("only %d types were seen", len(seen))
	}
}

func TestSchemaIsStable(t *testing.T) {
	first, err := SchemaJSON(Record{}, "x")
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, err := SchemaJSON(&Record{}, "x")
		if err != nil || string(again) != string(first) {
			t.Fatalf("two schemas of one type, %v", err)
		}
	}
}

func TestSchema(t *testing.T) {
	type inner struct {
		V Verdict `json:"v"`
	}
	type outer struct {
		A    int64            `json:"a"`
		B    []Signal         `json:"b,omitempty"`
		C    *inner           `json:"c,omitempty"`
		D    map[string]inner `json:"d"`
		E    any              `json:"e"`
		None string           `json:"-"`
	}
	raw, err := json.Marshal(Schema(outer{}, "outer"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"required":["a","d","e"]`, `"additionalProperties":false`, `"a":{"type":"integer"}`, `"c":{"$ref":"#/definitions/inner"}`,
		`"d":{"additionalProperties":{"$ref":"#/definitions/inner"},"type":"object"}`, `"e":{}`, `"title":"outer"`,
		`"v":{"enum":["allow","warn","modify","ask","block"],"type":"string"}`,
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s lacks %s", raw, want)
		}
	}
	if strings.Contains(string(raw), "None") {
		t.Error("a field that does not encode is in the schema")
	}
}

// TestSchemaOfTwoTypesOfOneName keeps the definitions of two types apart that are called
// the same.
func TestSchemaOfTwoTypesOfOneName(t *testing.T) {
	type By struct {
		Door string `json:"door"`
	}
	type outer struct {
		Here  By     `json:"here"`
		There Record `json:"there"`
	}
	raw, err := json.Marshal(Schema(outer{}, "outer"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"here":{"$ref":"#/definitions/by"}`, `"by":{"additionalProperties":false,"properties":{"door":{"type":"string"}}`,
		`"by":{"$ref":"#/definitions/engineBy"}`,
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("lacks %s", want)
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"kind", "verb", "target", "git_force_push", "git_discard", "file_read"}
	for word, want := range map[string]string{
		"knd": "kind", "Kind": "kind", "taregt": "target", "git_force": "git_force_push", "file_raed": "file_read",
		"git_": "", "x": "", "": "", "colour": "",
	} {
		if got := Nearest(word, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
