package configcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/spf13/cobra"
)

func configCheckCommand(a *cli.App, unusable Unusable) *cobra.Command {
	var as string
	var out term.Output
	cmd := &cobra.Command{
		Use:   "check [PATH…]",
		Short: "Check settings and whether the policy compiles with them, and report every problem",
		Long: "Checks settings only; `policy check` checks a whole policy, with rules, Rego and cases.\n\n" +
			"Checks the layers that are active here, or each PATH on its own on top of the built-in\n" +
			"policy: a policy folder, or a settings file. Exit code 2 if there are problems.",
		Example: "  reviewer config check\n  reviewer config check ./policy\n  reviewer config check --layer organisation settings.yaml",
		RunE: func(cmd *cobra.Command, paths []string) error {
			if as != "" && !slices.Contains(bundles.Layers(), as) {
				return cli.Usage("--layer %s: expected one of %s", as, strings.Join(bundles.Layers(), ", "))
			}
			list, err := inspect(cmd.Context(), a, paths, as, unusable)
			if err != nil {
				return err
			}
			for i := range list {
				cli.MaskAll(list[i].Errors)
				cli.MaskAll(list[i].Remarks)
			}
			return out.Write(a.Stdout, func(w io.Writer) error { return showChecked(a, w, &out, list) })
		},
	}
	cmd.Flags().StringVar(&as, "layer", "", "check every PATH as this layer (default: from its .manifest or its location, else user)")
	out.Flags(cmd, "text", "json")
	return cmd
}

// checked is one layer or path, with its problems.
type checked struct {
	Layer    string   `json:"layer"` // empty: the result of several layers
	Path     string   `json:"path,omitempty"`
	Settings int      `json:"settings"` // how many it sets
	Errors   []string `json:"errors"`
	Remarks  []string `json:"remarks"` // valid, but perhaps unintended

	named func(text string) string // converts file names for output; nil: unchanged
}

func inspect(ctx context.Context, a *cli.App, paths []string, as string, unusable Unusable) ([]checked, error) {
	if len(paths) == 0 {
		return inspectActive(ctx, a, unusable)
	}
	var list []checked
	for _, path := range paths {
		c, err := inspectPath(ctx, a, path, as, unusable)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// inspectActive checks the active layers. One that cannot be read is left out when
// the others are merged.
func inspectActive(ctx context.Context, a *cli.App, unusable Unusable) ([]checked, error) {
	home, err := a.StateHome()
	if err != nil {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	holds, err := cli.MachineAt(home).Layers(cwd)
	if err != nil {
		return nil, err
	}
	var layers []*bundles.Bundle
	var list []checked
	for _, layer := range bundles.Layers() {
		c, b := inspectLayer(holds, layer)
		if c.Path != "" {
			list = append(list, c)
		}
		if b != nil {
			layers = append(layers, b)
		}
	}
	errs, notes, idle := checkMerged(ctx, layers, func(e *bundles.Effective) ([]string, error) { return unusable(a, &e.Settings, true) })
	list = mergeProblems(list, errs, notes, idle)
	for i := range list {
		list[i].rename()
	}
	return list, nil
}

// rename converts the file names of a layer to paths.
func (c *checked) rename() {
	if c.named == nil {
		return
	}
	for _, texts := range [][]string{c.Errors, c.Remarks} {
		for i := range texts {
			texts[i] = c.named(texts[i])
		}
	}
}

// inspectLayer checks an active layer; the path is empty if there is none.
func inspectLayer(holds *active.Layers, layer string) (checked, *bundles.Bundle) {
	c := checked{Layer: layer}
	s, err := holds.Source(layer)
	if s == nil && err == nil {
		return c, nil
	}
	if c.Path = holds.Dir(layer); c.Path == "" {
		c.Path = holds.Releases.Dir
	}
	var b *bundles.Bundle
	if err == nil {
		c.Path, c.named = s.At, s.Named
		b, err = s.Load()
	}
	switch {
	case err != nil:
		c.add(err)
	case c.Path == active.ShippedPlace:
		c.Path = "built in"
	default:
		c.Settings = countLeaves(b.Settings)
	}
	return c, b
}

// mergeProblems adds the problems of the merged layers to the layer that an error
// names, else at the end.
func mergeProblems(list []checked, errs, notes, idle []string) []checked {
	var all checked
	of := func(text string) *checked {
		for i := range list {
			if list[i].Layer != "" && strings.HasPrefix(text, list[i].Layer+"/") {
				return &list[i]
			}
		}
		return &all
	}
	for _, text := range errs {
		c := of(text)
		c.Errors = append(c.Errors, text)
	}
	for _, text := range idle {
		c := of(text)
		c.Remarks = append(c.Remarks, text)
	}
	all.Remarks = append(all.Remarks, notes...)
	if len(all.Errors)+len(all.Remarks) > 0 {
		list = append(list, all)
	}
	return list
}

// checkMerged reports the problems of layers as one policy, what may be unintended, and
// which settings of one layer have no effect.
func checkMerged(ctx context.Context, layers []*bundles.Bundle, unusable func(*bundles.Effective) ([]string, error)) (errs,
	notes, idle []string) {
	e, err := bundles.Assemble(layers...)
	if err = errors.Join(err, ofWorkspaces(layers)); err != nil {
		return splitErrors(err), nil, nil
	}
	notes = append(wiring.Remarks(e, time.Now()), asyncRemarks(ctx, e)...)
	for _, p := range append(e.IneffectiveSettings(), e.PointlessSettings()...) {
		idle = append(idle, p.Error())
	}
	failing, err := unusable(e)
	return append(splitErrors(errors.Join(wiring.Check(ctx, e), err)), failing...), notes, idle
}

// ofWorkspaces reports the settings of single workspaces that cannot be merged with those of other layers.
func ofWorkspaces(layers []*bundles.Bundle) error {
	var errs []error
	for i, l := range layers {
		for _, at := range l.Workspaces() {
			own := slices.Clone(layers)
			own[i] = l.Of(at)
			if _, err := bundles.Assemble(own...); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// inspectPath checks a folder or a settings file separately, over the built-in
// policy. The error is the reason why it could not be read.
func inspectPath(ctx context.Context, a *cli.App, path, as string, unusable Unusable) (checked, error) {
	files, dir, err := filesAt(path)
	if err != nil {
		return checked{}, err
	}
	if as == "" && filepath.Base(path) == active.ShortSettings {
		as = bundles.Project
	}
	c := checked{Layer: as, Path: path}
	if as == "" {
		if c.Layer, err = active.LayerAt(dir); err != nil {
			c.add(err)
			return c, nil
		}
	}
	b, err := files(c.Layer)
	if err != nil {
		c.add(err)
		return c, nil
	}
	c.Settings = countLeaves(b.Settings)
	layers := []*bundles.Bundle{b}
	if c.Layer != bundles.Base {
		base, err := bundles.Default()
		if err != nil {
			return c, err
		}
		layers = []*bundles.Bundle{base, b}
	}
	var idle []string
	c.Errors, c.Remarks, idle = checkMerged(ctx, layers, func(e *bundles.Effective) ([]string, error) {
		return unusable(a, &e.Settings, false)
	})
	c.Remarks = append(c.Remarks, idle...)
	if c.Layer == bundles.Project && filepath.Base(path) == active.ShortSettings {
		c.named = func(text string) string {
			return strings.ReplaceAll(text, bundles.Project+"/settings.yaml", active.ShortSettings)
		}
		c.rename()
	}
	return c, nil
}

// filesAt returns a function that reads a path as a layer, and its folder.
func filesAt(path string) (read func(layer string) (*bundles.Bundle, error), dir string, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", fmt.Errorf("%s: no such file or folder", path)
	case err != nil:
		return nil, "", fmt.Errorf("find settings: %w", err)
	}
	if info.IsDir() {
		return func(layer string) (*bundles.Bundle, error) { return bundles.Load(os.DirFS(path), layer) }, path, nil
	}
	raw, err := os.ReadFile(path)
	return func(layer string) (*bundles.Bundle, error) {
		return bundles.FromFiles(map[string][]byte{"settings.yaml": raw}, layer)
	}, filepath.Dir(path), err
}

func (c *checked) add(err error) { c.Errors = append(c.Errors, splitErrors(err)...) }

// splitErrors splits joined errors. Each has the context that wrapped them all.
func splitErrors(err error) []string {
	if err == nil {
		return nil
	}
	var list []string
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			list = append(list, splitErrors(e)...)
		}
		return list
	}
	parts := splitErrors(errors.Unwrap(err))
	if len(parts) < 2 {
		return []string{err.Error()}
	}
	before := strings.TrimSuffix(err.Error(), errors.Unwrap(err).Error())
	for _, text := range parts {
		list = append(list, before+text)
	}
	return list
}

func countLeaves(v any) int {
	m, ok := v.(map[string]any)
	if !ok {
		return 1
	}
	n := 0
	for _, sub := range m {
		n += countLeaves(sub)
	}
	return n
}

func showChecked(a *cli.App, w io.Writer, out *term.Output, list []checked) error {
	wrong := 0
	for i := range list {
		wrong += len(list[i].Errors)
		list[i].Errors, list[i].Remarks = term.OrNone(list[i].Errors), term.OrNone(list[i].Remarks)
	}
	if out.Format == "json" {
		if err := term.WriteList(w, "layers", list); err != nil {
			return err
		}
	} else {
		p := a.Paint(out)
		for _, c := range list {
			c.print(w, p)
		}
	}
	if wrong > 0 {
		return cli.Findings("%s found; until this is fixed, calls may be denied", term.Counted(wrong, "problem", "problems"))
	}
	return nil
}

func (c checked) print(w io.Writer, p term.Paint) {
	word := "ok"
	switch {
	case len(c.Errors) > 0:
		word = "fail"
	case len(c.Remarks) > 0:
		word = "warn"
	}
	what := term.Pad(c.Layer, 12) + " " + c.Path
	if c.Layer == "" {
		what = "all layers together"
	}
	if c.Settings > 0 {
		what += ", " + term.Counted(c.Settings, "setting", "settings")
	}
	fmt.Fprintf(w, "%s %s\n", p.Verdict(term.Pad(word, 5)), what)
	for _, text := range slices.Concat(c.Errors, c.Remarks) {
		fmt.Fprintln(w, "      "+strings.ReplaceAll(text, "\n", "\n      "))
	}
}
