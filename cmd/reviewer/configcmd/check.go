package configcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/spf13/cobra"
)

func configCheckCommand(a *cli.App) *cobra.Command {
	var as string
	var out term.Output
	cmd := &cobra.Command{
		Use:   "check [PATH…]",
		Short: "Check settings, and that the policy around them compiles; says all that is wrong at once",
		Long: "Checks the layers that are active here, or each PATH by itself over the policy that ships:\n" +
			"a folder of a policy, or a settings file. Exit code 2 where something is wrong.",
		Example: "  reviewer config check\n  reviewer config check ./policy\n  reviewer config check --layer organisation settings.yaml",
		RunE: func(cmd *cobra.Command, paths []string) error {
			if as != "" && !slices.Contains(bundles.Layers(), as) {
				return fmt.Errorf("--layer %s: expected one of %s", as, strings.Join(bundles.Layers(), ", "))
			}
			list, err := inspect(cmd.Context(), a, paths, as)
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
	cmd.Flags().StringVar(&as, "layer", "", "check every PATH as this layer (default: the one of its .manifest or its place, else user)")
	out.Flags(cmd, "text", "json")
	return cmd
}

// checked is one layer or path, and what is wrong with it.
type checked struct {
	Layer    string   `json:"layer"` // empty: what several layers come to
	Path     string   `json:"path,omitempty"`
	Settings int      `json:"settings"` // how many it sets
	Errors   []string `json:"errors"`
	Remarks  []string `json:"remarks"` // not wrong, but perhaps not what was meant
}

func inspect(ctx context.Context, a *cli.App, paths []string, as string) ([]checked, error) {
	if len(paths) == 0 {
		return inspectActive(ctx, a)
	}
	var list []checked
	for _, path := range paths {
		c, err := inspectPath(ctx, path, as)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// inspectActive looks at the layers that hold here. One that cannot be read is
// left out of what the others come to.
func inspectActive(ctx context.Context, a *cli.App) ([]checked, error) {
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
	return together(ctx, layers, list), nil
}

// inspectLayer looks at a layer that holds; the path is empty where there is none.
func inspectLayer(holds *here.Layers, layer string) (checked, *bundles.Bundle) {
	c := checked{Layer: layer}
	s, err := holds.Source(layer)
	if s == nil && err == nil {
		return c, nil
	}
	if c.Path = holds.Dir(layer); c.Path == "" {
		c.Path = holds.Depot.Dir
	}
	var b *bundles.Bundle
	if err == nil {
		c.Path = s.At
		b, err = s.Load()
	}
	switch {
	case err != nil:
		c.add(err)
	case c.Path == here.ShippedPlace:
		c.Path = "as it ships"
	default:
		c.Settings = countLeaves(b.Settings)
	}
	return c, b
}

// together adds what is wrong with the layers as one policy to the layer that
// an error names, else at the end.
func together(ctx context.Context, layers []*bundles.Bundle, list []checked) []checked {
	var all checked
	errs, notes := assembled(ctx, layers)
	for _, text := range errs {
		c := &all
		for i := range list {
			if strings.HasPrefix(text, list[i].Layer+"/") {
				c = &list[i]
			}
		}
		c.Errors = append(c.Errors, text)
	}
	if all.Remarks = notes; len(all.Errors)+len(notes) > 0 {
		list = append(list, all)
	}
	return list
}

// assembled says what is wrong with layers as one policy.
func assembled(ctx context.Context, layers []*bundles.Bundle) (errs, notes []string) {
	e, err := bundles.Assemble(layers...)
	if err != nil {
		return texted(err), nil
	}
	return texted(wiring.Check(ctx, e)), append(wiring.Remarks(e, time.Now()), idleRules(e)...)
}

// inspectPath looks at a folder or a settings file by itself, over the policy
// that ships. The error says why it could not be looked at.
func inspectPath(ctx context.Context, path, as string) (checked, error) {
	files, dir, err := filesAt(path)
	if err != nil {
		return checked{}, err
	}
	if as == "" && filepath.Base(path) == here.ShortSettings {
		as = bundles.Project
	}
	c := checked{Layer: as, Path: path}
	if as == "" {
		if c.Layer, err = here.LayerAt(dir); err != nil {
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
	c.Errors, c.Remarks = assembled(ctx, layers)
	return c, nil
}

// filesAt returns how to read what a path holds as a layer, and its folder.
func filesAt(path string) (read func(layer string) (*bundles.Bundle, error), dir string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", fmt.Errorf("look for settings: %w", err)
	}
	if info.IsDir() {
		return func(layer string) (*bundles.Bundle, error) { return bundles.Load(os.DirFS(path), layer) }, path, nil
	}
	raw, err := os.ReadFile(path)
	return func(layer string) (*bundles.Bundle, error) {
		return bundles.FromFiles(map[string][]byte{"settings.yaml": raw}, layer)
	}, filepath.Dir(path), err
}

func (c *checked) add(err error) { c.Errors = append(c.Errors, texted(err)...) }

// texted takes joined errors apart. Each says all that was said of them together.
func texted(err error) []string {
	if err == nil {
		return nil
	}
	var list []string
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			list = append(list, texted(e)...)
		}
		return list
	}
	parts := texted(errors.Unwrap(err))
	if len(parts) < 2 {
		return []string{err.Error()}
	}
	before := strings.TrimSuffix(err.Error(), errors.Unwrap(err).Error())
	for _, text := range parts {
		list = append(list, before+text)
	}
	return list
}

// idleRules remarks on rules that settings name to no effect: no layer has them,
// or they always hold. Access rules can be softened, and not disabled.
func idleRules(e *bundles.Effective) []string {
	rows, all := map[string]bool{}, map[string]bool{} // id -> always holds
	for _, r := range e.Rules() {
		rows[r.ID], all[r.ID] = r.Always, r.Always
	}
	for _, l := range e.Access() {
		for _, id := range l.Speakers() {
			all[id] = false
		}
	}
	settings, _ := e.Settings["rules"].(map[string]any)
	modes, _ := settings["enforcement"].(map[string]any)
	var remarks []string
	for _, id := range listed(settings["disabled"]) {
		remarks = append(remarks, idle("rules.disabled", "rules/**.yaml", id, rows)...)
	}
	for _, id := range slices.Sorted(maps.Keys(modes)) {
		remarks = append(remarks, idle("rules.enforcement", "rules/**.yaml or access/**.yaml", id, all)...)
	}
	return remarks
}

func listed(v any) []string {
	var ids []string
	list, _ := v.([]any)
	for _, id := range list {
		ids = append(ids, fmt.Sprint(id))
	}
	return ids
}

// idle says why naming a rule comes to nothing.
func idle(key, where, id string, known map[string]bool) []string {
	always, there := known[id]
	near := engine.Nearest(id, slices.Sorted(maps.Keys(known)))
	switch {
	case always:
		return []string{fmt.Sprintf("%s: rule %s always holds, whatever is said here", key, id)}
	case there:
		return nil
	case near != "":
		return []string{fmt.Sprintf("%s: no row of %s has the id %q; did you mean %q?", key, where, id, near)}
	}
	return []string{fmt.Sprintf("%s: no row of %s has the id %q", key, where, id)}
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
		if err := term.WriteJSON(w, list); err != nil {
			return err
		}
	} else {
		p := a.Paint(out)
		for _, c := range list {
			c.print(w, p)
		}
	}
	if wrong > 0 {
		return cli.Findings("%s wrong; until that is mended, calls may be denied", term.Counted(wrong, "thing is", "things are"))
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
