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
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/spf13/cobra"
)

func policyNewBundleCommand(a *cli.App) *cobra.Command {
	var name, layer string
	cmd := &cobra.Command{
		Use:   "bundle DIR",
		Short: "Begin a policy in an empty folder: manifest, settings, two rules, cases, tests",
		Long: "The layers are base, organisation, user and project. A layer above the base begins\n" +
			"with two examples of rules, one in CEL and one in Rego. A base is a policy by\n" +
			"itself: it begins as a copy of the one that ships.",
		Example: "  reviewer policy new bundle policy --name shop\n" +
			"  reviewer policy new bundle .reviewer/policy --layer project",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return newBundle(cmd.Context(), a, filepath.Clean(args[0]), name, layer)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the bundle, and the beginning of the ids of its rules (default: that of the folder)")
	cmd.Flags().StringVar(&layer, "layer", bundles.Organisation, "one of "+strings.Join(bundles.Layers(), ", "))
	return cmd
}

func newBundle(ctx context.Context, a *cli.App, dir, name, layer string) error {
	if !slices.Contains(bundles.Layers(), layer) {
		return fmt.Errorf("--layer %s", UnknownOf(layer, bundles.Layers()))
	}
	if err := empty(dir); err != nil {
		return err
	}
	named := name
	if name == "" {
		name = nameOfFolder(dir)
	}
	if !bundleName().MatchString(name) {
		if named == "" {
			return fmt.Errorf("the folder's name is none for a bundle; give one with --name, such as shop")
		}
		return fmt.Errorf("--name %q: expected a lower-case word such as shop", name)
	}
	u := &author{dir: dir, layer: layer, texts: map[string][]byte{}}
	list, err := bundleFiles(skeleton.Bundle{Name: name, Layer: layer, Dir: filepath.ToSlash(dir)})
	if err == nil {
		err = u.add(list)
	}
	if err != nil {
		return err
	}
	return finish(ctx, a, u, "reviewer policy test "+dir)
}

func bundleFiles(b skeleton.Bundle) ([]skeleton.File, error) {
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
			text = []byte(strings.Replace(string(text), "reviewer-default", b.Name, 1))
		}
		list = append(list, skeleton.File{Name: name, Text: string(text)})
		return err
	})
	return list, err
}

// empty refuses a folder in which something is.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty (it has %s); choose a new folder, or add a rule to it: `reviewer policy new rule ID --in %s`",
			dir, entries[0].Name(), dir)
	}
	return nil
}

var bundleName = engine.Regexp(`^[a-z][a-z0-9]*([_-][a-z0-9]+)*$`)

// nameOfFolder makes a name of that of a folder.
func nameOfFolder(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	return strings.ToLower(strings.TrimLeft(filepath.Base(abs), "."))
}

// UnknownOf quotes a word that is none of those known, and says what was meant.
func UnknownOf(word string, known []string) string {
	if near := engine.Nearest(word, known); near != "" {
		return fmt.Sprintf("%q; did you mean %q?", word, near)
	}
	return fmt.Sprintf("%q; expected one of %s", word, strings.Join(known, ", "))
}
