package rows

import (
	"slices"
	"strings"
)

// Paths is a row of places/: the paths that belong to a class, judged by their names
// alone. The row has the name of the class; other rows list folders with third-party
// packages, folders of the system, folders where people keep data, and documents.
//
//	credential:
//	  home: .shopcfg
//	  examples: {match: [~/.shopcfg/token]}
//
// Lists are texts in which spaces separate the names; a backslash escapes a space.
// Case is ignored, except in names that contain a capital letter. A * matches any
// characters, ? one character, [a-z] one of a set, {a,b} one of several texts; none of
// them matches a slash.
//
// A row, or an entry of also, matches a path if one of the keys from names to packages
// does and except does not.
type Paths struct {
	About      string `json:"about,omitempty" yaml:"about"`
	Names      string `json:"names,omitempty" yaml:"names"`           // the last name
	Extensions string `json:"extensions,omitempty" yaml:"extensions"` // suffix of the last name, with the dot and something before it
	Ends       string `json:"ends,omitempty" yaml:"ends"`             // the last names: .vscode/settings.json
	Home       string `json:"home,omitempty" yaml:"home"`             // files and folders in a home directory, and everything under them
	System     string `json:"system,omitempty" yaml:"system"`         // absolute paths, and everything under them
	Folders    string `json:"folders,omitempty" yaml:"folders"`       // any name in the path, or several consecutive ones: .github/workflows
	Inside     string `json:"inside,omitempty" yaml:"inside"`         // the same, for the folders above the last name
	Parts      string `json:"parts,omitempty" yaml:"parts"`           // a part of the last name, between dots
	Packages   bool   `json:"packages,omitempty" yaml:"packages"`     // everything in third-party packages

	Below    string `json:"below,omitempty" yaml:"below"`         // folders, inside, packages: only if one of these names is below the last of them
	NotBelow string `json:"not_below,omitempty" yaml:"not_below"` // folders, inside, packages: not if one of these names is

	Workspace bool          `json:"workspace,omitempty" yaml:"workspace"` // in the workspace only
	Except    *Paths        `json:"except,omitempty" yaml:"except"`       // paths that do not match; the exceptions of a row also apply to its also
	Also      []Paths       `json:"also,omitempty" yaml:"also"`           // further paths, with exceptions of their own
	Decides   *Paths        `json:"decides,omitempty" yaml:"decides"`     // agent_config: the files among these that decide what the agent may do
	Replace   bool          `json:"replace,omitempty" yaml:"replace"`     // the rows of lower layers no longer apply
	Examples  *PathExamples `json:"examples,omitempty" yaml:"examples"`
}

// PathExamples are paths that belong to a row's class, and paths that do not. A relative
// path is in the workspace, one that starts with ~ in a home directory.
type PathExamples struct {
	Match   []string `json:"match,omitempty" yaml:"match"`
	NoMatch []string `json:"no_match,omitempty" yaml:"no_match"`
}

// The rows of places/ that are not classes.
const (
	Packages  = "packages"
	System    = "system"   // folders of the operating system and installed software
	Data      = "data"     // folders where people keep documents, pictures and the like
	Documents = "document" // files that are documents by their names
)

// NoClasses lists the rows of places/ that are not classes.
func NoClasses() []string { return []string{Packages, System, Data, Documents} }

// Loosens reports whether rows of this name make facts less strict the more paths they
// match: only the base and the organisation's layer may have such rows.
func Loosens(name string) bool {
	return slices.Contains([]string{"generated", Packages, Data, Documents}, name)
}

// Says reports whether a row or an entry of it matches any path.
func (p Paths) Says() bool {
	return p.Names+p.Extensions+p.Ends+p.Home+p.System+p.Folders+p.Inside+p.Parts != "" || p.Packages
}

// Lists returns the lists of an entry by key.
func (p Paths) Lists() map[string]string {
	return map[string]string{"names": p.Names, "extensions": p.Extensions, "ends": p.Ends, "home": p.Home, "system": p.System,
		"folders": p.Folders, "inside": p.Inside, "parts": p.Parts, "below": p.Below, "not_below": p.NotBelow}
}

// List splits a list of names at its spaces. A backslash keeps the space after it:
// library/application\ support.
func List(text string) []string {
	if !strings.Contains(text, `\ `) {
		return strings.Fields(text)
	}
	names := strings.Fields(strings.ReplaceAll(text, `\ `, "\x00"))
	for i := range names {
		names[i] = strings.ReplaceAll(names[i], "\x00", " ")
	}
	return names
}

// Alternatives expands the texts in braces: *.{a,b} is *.a and *.b.
func Alternatives(pattern string) []string {
	before, rest, some := strings.Cut(pattern, "{")
	inner, after, closed := strings.Cut(rest, "}")
	if !some || !closed {
		return []string{pattern}
	}
	var list []string
	for text := range strings.SplitSeq(inner, ",") {
		list = append(list, Alternatives(before+text+after)...)
	}
	return list
}
