package rows

import (
	"reflect"
	"testing"
)

func TestSelectors(t *testing.T) {
	for _, c := range []struct {
		text string
		want []Selector
	}{
		{"operands", []Selector{{Kind: SelectOperands, To: -1}}},
		{"operand 1, -o --output", []Selector{{Kind: SelectOperands, From: 1, To: 1}, {Kind: SelectOptions, Options: "-o --output"}}},
		{"operands 1- like number", []Selector{{Kind: SelectOperands, From: 1, To: -1, Like: "number"}}},
		{"operands unlike +*", []Selector{{Kind: SelectOperands, To: -1, Unlike: "+*"}}},
		{"-ex after 'shell '", []Selector{{Kind: SelectOptions, Options: "-ex", After: "shell "}}},
		{"arguments after of=", []Selector{{Kind: SelectArgs, After: "of="}}},
		{"-d or =.", []Selector{{Kind: SelectOptions, Options: "-d", Or: &Selector{Kind: SelectText, Text: "."}}}},
		{"operands like /dev/* or last", []Selector{{Kind: SelectOperands, To: -1, Like: "/dev/*", Or: &Selector{Kind: SelectLast}}}},
		{"=one or two", []Selector{{Kind: SelectText, Text: "one or two"}}},
	} {
		got, err := Selectors(c.text)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("Selectors(%q) = %+v, %v; want %+v", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"", "operand", "operands x", "first", "operands or", "-d or nothing", "operand 1-2", "operands unlike |*",
		"operands like a||b"} {
		if got, err := Selectors(text); err == nil {
			t.Errorf("Selectors(%q) = %+v; want an error", text, got)
		}
	}
}

func TestFilterPatterns(t *testing.T) {
	for text, want := range map[string][]string{"": nil, "a": {"a"}, "a|b*": {"a", "b*"}, `\|*|!*`: {"|*", "!*"}, `a\|b`: {"a|b"}} {
		if got := FilterPatterns(text); !reflect.DeepEqual(got, want) {
			t.Errorf("FilterPatterns(%q) = %q; want %q", text, got, want)
		}
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		pattern, word string
		want          bool
	}{
		{"get", "get", true}, {"get", "gets", false},
		{"describe-*", "describe-x", true}, {"*,ro", "rw,ro", true}, {"*,ro,*", "rw,ro,noexec", true}, {"ro", "rw,ro", false},
		{"*", "", true}, {"a*b", "ab", true}, {"ab*b", "ab", false},
		{"-", "", true}, {"-", "x", false},
		{"number", "42", true}, {"number", "4x", false}, {"number", "", false},
	} {
		if got := Fits([]string{c.pattern}, c.word); got != c.want {
			t.Errorf("Fits(%q, %q) = %v", c.pattern, c.word, got)
		}
	}
}
