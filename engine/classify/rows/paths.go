package rows

import "strings"

// Paths is a row of places/: which paths are of a class, by the names in them
// alone. The row is called as the class is; the row packages says which folders
// hold packages of other people.
//
//	credential:
//	  home: .shopcfg
//	  examples: {match: [~/.shopcfg/token]}
//
// Lists are texts in which spaces separate the names; a backslash keeps a blank.
// Letter case means nothing, apart from names that have a capital themselves. A *
// stands for any characters, ? for one, [a-z] for one of a set, {a,b} for one of
// several texts; none of them for a slash.
//
// A path is meant by a row, or by an entry of also, if one of the keys names to
// packages says so and except does not.
type Paths struct {
	About      string `json:"about,omitempty" yaml:"about"`
	Names      string `json:"names,omitempty" yaml:"names"`           // the last name
	Extensions string `json:"extensions,omitempty" yaml:"extensions"` // what the last name ends in, with the dot and something before it
	Ends       string `json:"ends,omitempty" yaml:"ends"`             // the last names: .vscode/settings.json
	Home       string `json:"home,omitempty" yaml:"home"`             // files and folders in a home directory, and what is below
	System     string `json:"system,omitempty" yaml:"system"`         // absolute paths, and what is below
	Folders    string `json:"folders,omitempty" yaml:"folders"`       // any name in the path, or several in a row: .github/workflows
	Inside     string `json:"inside,omitempty" yaml:"inside"`         // the same, of the folders above the last name
	Parts      string `json:"parts,omitempty" yaml:"parts"`           // a part of the last name, between dots
	Packages   bool   `json:"packages,omitempty" yaml:"packages"`     // all that is in packages of other people

	Below    string `json:"below,omitempty" yaml:"below"`         // folders, inside, packages: only where one of these names is below the last of them
	NotBelow string `json:"not_below,omitempty" yaml:"not_below"` // folders, inside, packages: not where one of these does

	Workspace bool          `json:"workspace,omitempty" yaml:"workspace"` // in the workspace only
	Except    *Paths        `json:"except,omitempty" yaml:"except"`       // not what is meant by this; that of a row holds for its also, too
	Also      []Paths       `json:"also,omitempty" yaml:"also"`           // what else is meant, with exceptions of its own
	Decides   *Paths        `json:"decides,omitempty" yaml:"decides"`     // agent_config: which of the files say what the agent may do
	Replace   bool          `json:"replace,omitempty" yaml:"replace"`     // nothing of the rows below counts any more
	Examples  *PathExamples `json:"examples,omitempty" yaml:"examples"`
}

// PathExamples are paths that are of a row's class, and others. A relative one
// is in the workspace, one that begins with ~ in a home directory.
type PathExamples struct {
	Match   []string `json:"match,omitempty" yaml:"match"`
	NoMatch []string `json:"no_match,omitempty" yaml:"no_match"`
}

// Packages is the row of places/ that is not a class.
const Packages = "packages"

// Says reports whether a row or an entry of it means any path.
func (p Paths) Says() bool {
	return p.Names+p.Extensions+p.Ends+p.Home+p.System+p.Folders+p.Inside+p.Parts != "" || p.Packages
}

// Lists returns the lists of an entry by their keys.
func (p Paths) Lists() map[string]string {
	return map[string]string{"names": p.Names, "extensions": p.Extensions, "ends": p.Ends, "home": p.Home, "system": p.System,
		"folders": p.Folders, "inside": p.Inside, "parts": p.Parts, "below": p.Below, "not_below": p.NotBelow}
}

// List splits a list of names at its spaces. A backslash keeps the blank after
// it: library/application\ support.
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

// Alternatives writes out the texts in braces: *.{a,b} is *.a and *.b.
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
