// Command score says how well a policy does on a corpus of commands, secrets
// and whole sessions: what dangerous of it is stopped, and what harmless. It is
// a tool for those who write rules, and not shipped: `make score CORPUS=…`.
//
// Not its business: deciding (it calls the same code as a live hook), and
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
import "github.com/agent-reviewer/reviewer/engine/review"

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
	literals               []string
	verbose                bool
}

func command(stdout, stderr io.Writer) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "score CORPUS",
		Short: "How much of what is dangerous does a policy stop, and how much of what is harmless?",
		Long: "Takes the folder CORPUS (commands*.jsonl.gz, secrets*.jsonl.gz, sessions*.tar.gz or\n" +
			"folders sessions*) through a policy in this process. Nothing of it is run.",
		Args:          cobra.ExactArgs(1),
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0], stdout, stderr) },
	}
	cmd.Flags().StringVar(&o.policy, "policy", "",
		"folder of the policy: a whole one, or a layer over the one that ships (default: the latter)")
	cmd.Flags().StringVarP(&o.format, "format", "f", "table", "format of the result: table, json")
	cmd.Flags().StringVar(&o.misses, "misses", "", "write what was missed, or stopped for nothing, to this file outside of the project")
	cmd.Flags().StringSliceVar(&o.literals, "literals", []string{"bundles/default", "engine/classify"},
		"folders whose literals are compared with the corpus")
	cmd.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "name each alarm of a pattern by its session and call")
	return cmd
}

func (o options) run(ctx context.Context, dir string, stdout, stderr io.Writer) error {
	if !slices.Contains([]string{"table", "json"}, o.format) {
		return fmt.Errorf("unknown format %q; expected table or json", o.format)
	}
	if o.misses != "" {
		if err := outside(o.misses); err != nil {
			return err
		}
	}
	p, err := o.load(ctx)
	if err != nil {
		return err
	}
	c, err := readCorpus(dir)
	if err != nil {
		return err
	}
	r, err := score(ctx, p, c, o.literals, progress(stderr))
	if err != nil {
		return err
	}
	if o.misses != "" {
		if err := r.writeMisses(o.misses); err != nil {
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

// load compiles the policy that ships, or the one that --policy names.
func (o options) load(ctx context.Context) (*review.Policy, error) {
	base, err := bundles.Default()
	if err != nil {
		return nil, err
	}
	layers := []*bundles.Bundle{base}
	if o.policy != "" {
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
			layers = nil
		}
		layers = append(layers, b)
	}
	e, err := bundles.Assemble(layers...)
	if err != nil {
		return nil, err
	}
	return wiring.Compile(ctx, e)
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
