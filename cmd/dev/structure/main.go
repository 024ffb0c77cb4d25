// Command structure measures the packages of this module: their files and lines, the
// largest strongly connected component of files, functions that are too long, and
// lines that are too wide. It is a development tool, and not part of a release.
//
// Its tests check which package may import which, and other rules about source files.
//
// Out of scope: whether the code is correct.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "the module's `folder`")
	flag.BoolVar(&o.quiet, "q", false, "print only what is above a limit")
	flag.BoolVar(&o.verbose, "v", false, "list everything that is above a limit, with its place")
	flag.BoolVar(&o.write, "write", false, "write the required exceptions to "+exceptionsFile)
	flag.Parse()
	ok, err := run(os.Stdout, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "structure:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

type options struct {
	root                  string
	quiet, verbose, write bool
}

// run prints the measurements and reports whether they are within the limits.
func run(w io.Writer, o options) (bool, error) {
	list, err := measure(o.root)
	if err != nil {
		return false, err
	}
	loaded, err := load(o.root)
	if err != nil {
		return false, err
	}
	if err := components(o.root, loaded, list); err != nil {
		return false, err
	}
	if !o.quiet {
		show(w, list)
	}
	if o.verbose {
		details(w, list)
	}
	if o.write {
		return true, os.WriteFile(filepath.Join(o.root, exceptionsFile), []byte(exceptionsOf(list).text()), 0o644)
	}
	known, err := readExceptions(o.root)
	if err != nil {
		return false, err
	}
	above := append(check(list, known), unreadSettings(loaded)...)
	for _, text := range above {
		fmt.Fprintln(w, text)
	}
	for _, text := range stale(list, known) {
		fmt.Fprintln(w, "exceptions that can be reduced:", text)
	}
	return len(above) == 0, nil
}

func show(w io.Writer, list []*Package) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "files\tlines\tcomponent\tlong functions\twide lines\t  package\n")
	var files, lines, functions, wide int
	for _, p := range list {
		fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%d\t  %s\n", p.Files, p.Lines, len(p.Component), len(p.Functions), len(p.Wide), p.Dir)
		files, lines, functions, wide = files+p.Files, lines+p.Lines, functions+len(p.Functions), wide+len(p.Wide)
	}
	fmt.Fprintf(t, "%d\t%d\t\t%d\t%d\t  all %d packages\n", files, lines, functions, wide, len(list))
	t.Flush()
}

func details(w io.Writer, list []*Package) {
	for _, p := range list {
		if len(p.Component) > limits()["component"] {
			fmt.Fprintf(w, "%s: %s\n", p.Dir, strings.Join(p.Component, " "))
		}
		for _, place := range slices.Concat(p.Functions, p.Wide) {
			fmt.Fprintln(w, place)
		}
	}
}
