package agents

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// A Client is a row: one coding agent, where its program is, and in which cells of the
// matrix it differs from what is wanted.
type Client struct {
	Name string // as in `reviewer hook NAME`

	// Package and Version are those of the npm registry. Program is under the folder
	// node_modules of the installation; {version} is replaced. No install script is run, so
	// it is the platform's executable where there is one, or a script for Node.js.
	Package, Version string
	Program          string
	Node             bool // runs with the Node.js of package nodePackage
	Tested           string

	// CI: driven without AGENTS being set.
	CI bool

	// Differs contains the cells with another outcome, by name.
	Differs map[string]Difference
}

// A Difference is an outcome that the client leaves no way to avoid.
type Difference struct {
	Outcome Outcome
	Why     string
}

// ran is a difference: the call runs.
func ran(why string) Difference { return Difference{Ran, why} }

// want is the outcome that a cell has with the client.
func (c Client) want(cell Cell) Outcome {
	if d, differs := c.Differs[cell.Name]; differs {
		return d.Outcome
	}
	return cell.Want
}

// chosen returns the rows that the variable AGENTS names, those of CI if it is empty.
func chosen(names string) ([]Client, error) {
	wanted := strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' })
	var list []Client
	for _, c := range clients() {
		if len(wanted) == 0 && c.CI || slices.Contains(wanted, "all") || slices.Contains(wanted, c.Name) {
			list = append(list, c)
		}
	}
	for _, name := range wanted {
		known := slices.ContainsFunc(clients(), func(c Client) bool { return c.Name == name })
		if !known && name != "all" {
			return nil, fmt.Errorf("AGENTS names %q, which is not one of %s", name, strings.Join(clientNames(), ", "))
		}
	}
	return list, nil
}

func clientNames() []string {
	list := []string{"all"}
	for _, c := range clients() {
		list = append(list, c.Name)
	}
	return list
}

// newest reports whether the newest versions are to be tried, and compared with the rows.
func newest() bool { return os.Getenv("NEWEST") == "1" }
