// Package codes describes the codes of the findings of `reviewer policy check`: what each means,
// why it matters and what to do.
//
// Out of scope: finding anything (lint, bundles, rego, cel).
package codes

import (
	_ "embed" // the descriptions
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed codes.yaml
var source []byte

// Code describes one kind of finding.
type Code struct {
	Code  string `yaml:"code" json:"code"`
	Title string `yaml:"title" json:"title"`
	Level string `yaml:"level" json:"level"` // error, warning, both
	Why   string `yaml:"why" json:"why"`
	Fix   string `yaml:"fix" json:"fix"`
	Wrong string `yaml:"wrong" json:"wrong"` // an example
	Right string `yaml:"right" json:"right"` // what to write instead

	// WholeLayer means that no comment can ignore it, only the manifest: the file is not read.
	WholeLayer bool `yaml:"whole_layer" json:"-"`
}

// The levels of codes.
const (
	levelError   = "error"
	levelWarning = "warning"
	levelBoth    = "both"
)

// All returns every code, by name.
func All() []Code { return slices.Clone(parsed()) }

var parsed = sync.OnceValue(func() []Code {
	var list []Code
	if err := yaml.Unmarshal(source, &list); err != nil {
		panic("codes.yaml: " + err.Error()) // a test reads it
	}
	return list
})

// Names lists the codes.
func Names() []string {
	var names []string
	for _, c := range parsed() {
		names = append(names, c.Code)
	}
	return names
}

// Of returns the description of a code.
func Of(name string) (Code, bool) {
	i := slices.IndexFunc(parsed(), func(c Code) bool { return c.Code == name })
	if i < 0 {
		return Code{}, false
	}
	return parsed()[i], true
}

// Ignorable reports whether findings with a code can be ignored: warnings can,
// except those about ignoring itself.
func (c Code) Ignorable() bool {
	return c.Level != levelError && !strings.HasPrefix(c.Code, "ignore.")
}

// Help is the explanation of a code, without its title.
func (c Code) Help() string {
	return fmt.Sprintf("%s\n\nWhat to do: %s\n\nWrong:\n\n    %s\n\nRight:\n\n    %s\n\n%s", c.Why, c.Fix, c.Wrong, c.Right, c.silence())
}

func (c Code) silence() string {
	if !c.Ignorable() {
		return "It cannot be ignored."
	}
	text := fmt.Sprintf("To ignore it in the whole layer, write in .manifest:\n\n    \"metadata\": {\"lint\": {%q: \"off\"}}", c.Code)
	if !c.WholeLayer {
		text += "\n\nTo ignore it in one place, write this above the rule or the line:\n\n    # reviewer:ignore " + c.Code + " why it is accepted"
	}
	if c.Level == levelBoth {
		text += "\n\nOnly findings that are warnings can be ignored."
	}
	return text
}
