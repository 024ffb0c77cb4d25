// Command figrows generates the rows of bundles/default/programs/converted: facts
// about the command lines of programs, taken from the specs of the npm package
// @withfig/autocomplete. `make programs` runs it, with npm, tar and Node at hand;
// it is for those who work on the policy, and is not shipped.
//
// Only facts are taken: names of programs, subcommands and options, which options
// take a value, what is a command or a script that is run, what the source calls
// dangerous. What specs say in words is not, and neither is what they learn from
// running programs. convert.mjs evaluates the specs; everything else is here.
//
// Out of scope: what the programs do. Rows by hand, which say that, are next to
// those that it makes, and come before them.
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

// run makes the rows again in a folder and writes what it counted.
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
