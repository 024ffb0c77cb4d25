package options

import (
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

func words(list ...string) (args []abstract.Arg) {
	for _, text := range list {
		args = append(args, abstract.Word(text))
	}
	return args
}

func TestAbbreviations(t *testing.T) {
	short := Grammar{Values: " --proxy --output --listed-incremental ", Flags: " --list ", Abbreviates: true,
		Names: func(option string) bool { return option == "--hard" || option == "--list" }}
	for _, c := range []struct {
		grammar Grammar
		args    []string
		has     string
		want    bool
	}{
		{short, []string{"--h"}, "--hard", true},
		{short, []string{"--hard"}, "--hard-reset", false}, // an option of that name exists
		{short, []string{"--proxy", "x"}, "--proxy-insecure", false},
		{short, []string{"--"}, "--hard", false},
		{Grammar{}, []string{"--har"}, "--hard", false}, // most programs do not abbreviate
		{short, []string{"-h"}, "--hard", false},
	} {
		if got := Parse(words(c.args...), c.grammar).Has(c.has); got != c.want {
			t.Errorf("%v has %s: %v, want %v", c.args, c.has, got, c.want)
		}
	}
	if o := Parse(words("--outp", "x", "y"), short); o.Operand(0).Text != "y" {
		t.Errorf("an abbreviated option with a value: operands %v, want y alone", o.Operands)
	}
	if o := Parse(words("--li", "-f", "y"), short); len(o.List) != 2 {
		t.Errorf("--li is --list, which has no value: options %v", o.List)
	}
}

func TestOff(t *testing.T) {
	g := Grammar{Values: " --mode ", Offs: []string{"false", "none"}}
	for option, want := range map[string]bool{"--volumes=false": false, "--volumes=true": true, "--volumes": true, "--volumes=FALSE": false,
		"-v=false": false, "-v": true} {
		if got := Parse(words(option), g).Has("--volumes", "-v"); got != want {
			t.Errorf("%s is on: %v, want %v", option, got, want)
		}
	}
	if !Parse(words("--mode=none"), g).Has("--mode") {
		t.Error("--mode takes a value, so none does not switch it off")
	}
	unknown := abstract.UnknownArg()
	unknown.Text = "--volumes=" + unknown.Text
	if !Parse([]abstract.Arg{unknown}, g).Has("--volumes") {
		t.Error("an option with an unknown value may be on")
	}
}

func TestEnd(t *testing.T) {
	for text, want := range map[string]bool{"--": true, "-": false} {
		o := Parse(words("a", text, "-b"), Grammar{})
		if o.Ends != want || slices.ContainsFunc(o.Operands, func(a abstract.Arg) bool { return a.Is("-b") }) != want {
			t.Errorf("after %s: options end %v, operands %v", text, o.Ends, o.Operands)
		}
	}
}
