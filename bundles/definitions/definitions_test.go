package definitions

import (
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	list, err := Read([]byte("waits:\n  about: it waits\n  type: bool\n  is: history.similar.count > 3\ntools: {type: list, is: '[\"a\"]'}\n"))
	if err != nil || len(list) != 2 || list[0].Name != "waits" || list[1].Line != 5 || list[1].Is != `["a"]` {
		t.Errorf("read %+v, %v", list, err)
	}
	if list, err := Read([]byte("# nothing yet\n")); err != nil || list != nil {
		t.Errorf("an empty file has no definitions: %v, %v", list, err)
	}
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"- a\n":                      "definitions.yaml:1: expected names",
		"a: {type: bool}\n":          "definitions.yaml:1: a: a definition needs type and is",
		"a: {type: bool, when: x}\n": "field when not found",
		"a: {type: bool, is: x}\na: {type: bool, is: y}\n": "already defined",
		"\na: [b\n":                         "definitions.yaml: yaml",
		"b: {type: bool, is: x}\na: text\n": "definitions.yaml:2: a: ",
	} {
		if _, err := Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
