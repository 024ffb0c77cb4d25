package policycmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/skeleton"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/spf13/cobra"
)

func policyNewBundleCommand(a *cli.App) *cobra.Command {
	var want wantedBundle
	var out term.Output
	cmd := &cobra.Command{
		Use:   "bundle DIR",
		Short: "Scaffold a policy in an empty folder: manifest, settings, two rules, cases, tests",
		Long: "The layers are base, organisation, user and project. A layer above the base starts\n" +
			"with two example rules, one in CEL and one in Rego. A base is a complete policy:\n" +
			"it starts as a copy of the built-in one.\n\n" + templatesHelp(),
		Example: "  reviewer policy new bundle policy --name shop\n" +
			"  reviewer policy new bundle .reviewer/policy --layer project\n" +
			"  reviewer policy new bundle policy --template team",
		Args: cli.Needs(cli.Argument{Name: "DIR", What: "an empty or new folder, such as ./policy"}),
		RunE: func(cmd *cobra.Command, args []string) error {
			return newBundle(cmd.Context(), a, &out, filepath.Clean(args[0]), want)
		},
	}
	out.Flags(cmd, term.Text, "json")
	want.flags(cmd)
	return cmd
}

// wantedBundle is the flags about a bundle.
type wantedBundle struct{ name, layer, template string }

func (w *wantedBundle) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&w.name, "name", "",
		"name of the bundle, such as acme/shop, and after its last / the prefix of its rules' ids (default: the folder's name)")
	cmd.Flags().StringVar(&w.layer, "layer", bundles.Organisation, "one of "+strings.Join(bundles.Layers(), ", "))
	cmd.Flags().StringVar(&w.template, "template", "", "start from a template: "+strings.Join(templateNames(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("template", cobra.FixedCompletions(templateNames(), cobra.ShellCompDirectiveNoFileComp))
}

func templateNames() []string {
	var names []string
	for _, t := range skeleton.Templates() {
		names = append(names, t.Name)
	}
	return names
}

func templatesHelp() string {
	var b strings.Builder
	b.WriteString("With --template the policy is ready for use as it is, in the organisation or user\nlayer:")
	for _, t := range skeleton.Templates() {
		fmt.Fprintf(&b, "\n  %-16s %s", t.Name, t.About)
	}
	return b.String()
}

// check returns an error if the flags are invalid.
func (w wantedBundle) check() error {
	if !slices.Contains(bundles.Layers(), w.layer) {
		return cli.Usage("--layer: unknown layer %s", UnknownOf(w.layer, bundles.Layers()))
	}
	if w.template == "" {
		return nil
	}
	if !slices.Contains(templateNames(), w.template) {
		return cli.Usage("--template: unknown template %s", UnknownOf(w.template, templateNames()))
	}
	if w.layer != bundles.Organisation && w.layer != bundles.User {
		return cli.Usage("--template works with the layers organisation and user, not with %s; leave it out, or choose another --layer", w.layer)
	}
	return nil
}

func newBundle(ctx context.Context, a *cli.App, out *term.Output, dir string, want wantedBundle) error {
	if err := want.check(); err != nil {
		return err
	}
	name, layer := want.name, want.layer
	if err := empty(dir); err != nil {
		return err
	}
	if name == "" {
		name = nameOfFolder(dir)
	}
	prefix := strings.ReplaceAll(name[strings.LastIndex(name, "/")+1:], ".", "_")
	if !bundles.IsReleaseName(name) || !bundleName().MatchString(prefix) {
		if want.name == "" {
			return fmt.Errorf("the folder's name is not valid for a bundle; give one with --name, such as shop")
		}
		return cli.Usage("--name %q: expected lower-case letters and digits, with . _ - / between them, and a letter first and after "+
			"the last /, such as shop or acme/shop", name)
	}
	u := &policyFolder{dir: dir, layer: layer, texts: map[string][]byte{}, schemas: layer != bundles.Base}
	list, err := bundleFiles(skeleton.Bundle{Name: prefix, Full: name, Layer: layer, Dir: filepath.ToSlash(dir)}, want.template)
	if err == nil {
		err = u.add(list)
	}
	if err != nil {
		return err
	}
	return finish(ctx, a, out, u, "reviewer policy test "+dir)
}

func bundleFiles(b skeleton.Bundle, template string) ([]skeleton.File, error) {
	if template != "" {
		return b.Start(template)
	}
	if b.Layer != bundles.Base {
		return b.Files()
	}
	var list []skeleton.File
	err := fs.WalkDir(bundles.DefaultFS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(bundles.DefaultFS(), name)
		if name == ".manifest" {
			text = []byte(strings.Replace(string(text), "reviewer-default", b.Release(), 1))
		}
		list = append(list, skeleton.File{Name: name, Text: string(text)})
		return err
	})
	return list, err
}

// empty refuses a folder that is not empty.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty (it contains %s); choose a new folder, or add a rule to it: `reviewer policy new rule ID --in %s`",
			dir, entries[0].Name(), dir)
	}
	return nil
}

// bundleName is the form of the prefix of a bundle's rules.
var bundleName = engine.Regexp(`^[a-z][a-z0-9]*([_-][a-z0-9]+)*$`)

// nameOfFolder derives a bundle's name from that of its folder.
func nameOfFolder(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	return strings.ToLower(strings.TrimLeft(filepath.Base(abs), "."))
}

// UnknownOf quotes an unknown word, with a suggestion.
func UnknownOf(word string, known []string) string {
	if near := engine.Nearest(word, known); near != "" {
		return fmt.Sprintf("%q; did you mean %q?", word, near)
	}
	return fmt.Sprintf("%q; expected one of %s", word, strings.Join(known, ", "))
}
