package encoded

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

type inner struct {
	Words []string
	Limit *float64
}

type outer struct {
	Name    string
	Count   int
	Max     int64
	On      bool
	Share   float64
	Inner   inner
	More    []inner
	Numbers map[string]int
	Open    map[string]any
	None    []string
	Empty   []string
	hidden  string
}

func example() outer {
	limit := 2.5
	return outer{
		Name: "name", Count: -3, Max: 1 << 40, On: true, Share: 0.25, Inner: inner{Words: []string{"a", ""}, Limit: &limit},
		More: []inner{{}, {Words: []string{"b"}}}, Numbers: map[string]int{"x": 1, "": -1}, Empty: []string{},
		Open: map[string]any{"null": nil, "no": false, "yes": true, "whole": -7, "decimal": 1.5, "text": "é", "list": []any{1, "a"},
			"object": map[string]any{"inner": []any{}}},
		hidden: "not written",
	}
}

func TestRead(t *testing.T) {
	want := example()
	raw, err := Write(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read[outer](string(raw))
	if err != nil {
		t.Fatal(err)
	}
	want.hidden = ""
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(outer{})); diff != "" {
		t.Error(diff)
	}
}

func TestWriteUnknown(t *testing.T) {
	for _, v := range []any{make(chan int), map[string]any{"x": 'r'}, struct{ X uint8 }{1}} {
		if _, err := Write(v); err == nil {
			t.Errorf("%T: no error", v)
		}
	}
}

// Bytes that end early, and others than were written, are an error or another value, never a
// panic.
func TestReadDamaged(t *testing.T) {
	raw, err := Write(example())
	if err != nil {
		t.Fatal(err)
	}
	for n := range raw {
		if _, err := Read[outer](string(raw[:n])); err == nil {
			t.Errorf("the first %d bytes of %d: no error", n, len(raw))
		}
	}
	if _, err := Read[outer](string(raw) + "x"); err == nil {
		t.Error("a byte too many: no error")
	}
	for i := range raw {
		damaged := append([]byte{}, raw...)
		damaged[i] ^= 0x81
		_, _ = Read[outer](string(damaged))
	}
}
