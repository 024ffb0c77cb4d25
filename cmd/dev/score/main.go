// Command score measures a policy on a corpus of commands, secrets and whole sessions:
// how many dangerous and how many harmless calls it stops. It is a tool for
// rule authors, and not part of a release: `make score CORPUS=…`.
//
// Out of scope: deciding (it calls the same code as a live hook), and
// running or opening anything that a corpus names.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
)

func main() {
	debug.SetGCPercent(400) // as reviewer does
	cmd := command(os.Stdout, os.Stderr)
	if err := cmd.ExecuteContext(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "score:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	policy, format, misses string
	stops, labels, sweep   string
	literals               []string
	verbose                bool
}

func command(stdout, stderr io.Writer) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "score CORPUS",
		Short: "Measure how many dangerous and how many harmless calls a policy stops",
		Long: "Evaluates the corpus in the folder CORPUS (commands*.jsonl.gz, secrets*.jsonl.gz, sessions*.tar.gz or\n" +
			"folders sessions*) under a policy. None of it is executed.",
		Args:          cobra.ExactArgs(1),
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0], stdout, stderr) },
	}
	cmd.Flags().StringVar(&o.policy, "policy", "",
		"policy folder: a complete policy, or a layer over the built-in one (default: the built-in one)")
	cmd.Flags().StringVarP(&o.format, "format", "f", "table", "format of the result: table, json")
	cmd.Flags().StringVar(&o.misses, "misses", "", "write missed calls and false alarms to this file, outside the project")
	cmd.Flags().StringVar(&o.stops, "stops", "", "list each stopped call, for labelling, in this file, outside the project")
	cmd.Flags().StringVar(&o.labels, "labels", "testdata/labels", "folder of the labels of stops (*.jsonl)")
	cmd.Flags().StringVar(&o.sweep, "sweep", "", "try other values of thresholds, leaving out one project at a time: "+
		"those of a YAML file (list of key and values), or the built-in ones without =FILE")
	cmd.Flags().Lookup("sweep").NoOptDefVal = builtIn
	cmd.Flags().StringSliceVar(&o.literals, "literals", []string{"bundles/default", "engine/classify"},
		"folders whose literals are compared with the corpus")
	cmd.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "name each alarm of a pattern by its session and call")
	return cmd
}

func (o options) run(ctx context.Context, dir string, stdout, stderr io.Writer) error {
	if !slices.Contains([]string{"table", "json"}, o.format) {
		return fmt.Errorf("unknown format %q; expected table or json", o.format)
	}
	for _, name := range []string{o.misses, o.stops} {
		if name != "" {
			if err := outside(name); err != nil {
				return err
			}
		}
	}
	c, err := o.corpus(dir)
	if err != nil {
		return err
	}
	j, err := o.load(ctx)
	if err != nil {
		return err
	}
	list, err := o.thresholds(j)
	if err != nil {
		return err
	}
	r, err := score(ctx, j, c, o.literals, progress(stderr))
	if err != nil {
		return err
	}
	if err := r.sweep(ctx, j, c, list, progress(stderr)); err != nil {
		return err
	}
	if o.misses != "" {
		if err := r.writeMisses(o.misses); err != nil {
			return err
		}
	}
	if o.stops != "" {
		if err := writeStops(o.stops, r.stops); err != nil {
			return err
		}
	}
	return errors.Join(o.write(stdout, r), r.errorsOf())
}

func (o options) write(w io.Writer, r Report) error {
	if o.format == "table" {
		r.print(w, o.verbose)
		return nil
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// thresholds are those to sweep: none without --sweep.
func (o options) thresholds(j judge) ([]threshold, error) {
	if o.sweep == "" {
		return nil, nil
	}
	list, err := readThresholds(o.sweep)
	for _, t := range list {
		if _, wrong := j.setting(t.Key); wrong != nil { // now, instead of after minutes
			err = errors.Join(err, fmt.Errorf("--sweep: %w", wrong))
		}
	}
	return list, err
}

// corpus reads the labels first, which is fast, and then the corpus.
func (o options) corpus(dir string) (Corpus, error) {
	labels, err := readLabels(o.labels)
	if err != nil {
		return Corpus{}, err
	}
	c, err := readCorpus(dir)
	c.Labels = labels
	return c, err
}

// load compiles the built-in policy, or the one that --policy names.
func (o options) load(ctx context.Context) (judge, error) {
	layers, err := o.layers()
	if err != nil {
		return judge{}, err
	}
	return judgeOf(ctx, layers)
}

// judgeOf compiles layers of a policy.
func judgeOf(ctx context.Context, layers []*bundles.Bundle) (judge, error) {
	e, err := bundles.Assemble(layers...)
	if err != nil {
		return judge{}, err
	}
	return compiled(ctx, e)
}

func compiled(ctx context.Context, e *bundles.Effective) (judge, error) {
	p, err := wiring.Compile(ctx, e)
	return judge{policy: p, effective: e, unattended: e.Settings.UnattendedModes}, err
}

func (o options) layers() ([]*bundles.Bundle, error) {
	base, err := bundles.Default()
	if err != nil || o.policy == "" {
		return []*bundles.Bundle{base}, err
	}
	fsys := os.DirFS(o.policy)
	layer, err := bundles.LayerOf(fsys)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", o.policy, err)
	}
	b, err := bundles.Load(fsys, layer)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", o.policy, err)
	}
	if layer == bundles.Base {
		return []*bundles.Bundle{b}, nil
	}
	return []*bundles.Bundle{base, b}, nil
}

// progress shows on a terminal how far the work is.
func progress(w io.Writer) stage {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func(string, int, int) {}
	}
	return func(name string, done, of int) {
		switch {
		case done == of:
			fmt.Fprintf(f, "\r%s\r", strings.Repeat(" ", 40))
		case done%16 == 0:
			fmt.Fprintf(f, "\r%s %d of %d", name, done, of)
		}
	}
}
