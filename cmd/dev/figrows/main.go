// Command figrows generates the rows of bundles/default/programs/converted: facts
// about the command lines of programs, taken from the specs of the npm package
// @withfig/autocomplete. `make programs` runs it, which needs npm, tar and Node; it is
// a development tool and not part of a release.
//
// Only facts are taken: names of programs, subcommands and options, which options take
// a value, which arguments are commands or scripts, and what the source marks as
// dangerous. Descriptions are not, nor values that specs obtain by running programs.
// convert.mjs evaluates the specs; everything else is here.
//
// Out of scope: what the programs do. Hand-written rows describe that, and take
// precedence.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	to := flag.String("to", "bundles/default/programs/converted", "the `folder` of the rows")
	flag.Parse()
	if err := run(*to, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "figrows:", err)
		os.Exit(1)
	}
}

// run regenerates the rows in a folder and prints counts.
func run(to string, w io.Writer) error {
	dir, err := os.MkdirTemp("", "figrows")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	pkg, err := fetch(dir)
	if err != nil {
		return err
	}
	source, err := convert(pkg)
	if err != nil {
		return err
	}
	rows := map[string]*row{}
	for _, p := range source.programs {
		rows[p.Names[0]] = rowOf(p)
	}
	if err := write(to, pkg, rows); err != nil {
		return err
	}
	return source.report(w, rows)
}
