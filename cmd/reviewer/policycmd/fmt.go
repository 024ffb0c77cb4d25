package policycmd

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
)

// formatting is what the flags of `policy fmt` say.
type formatting struct {
	diff, list, write, check bool
}

func policyFmtCommand(a *cli.App) *cobra.Command {
	var f formatting
	cmd := &cobra.Command{
		Use:   "fmt PATH…",
		Short: "Put the files of a policy in order: Rego as OPA writes it, YAML tidied",
		Long: "Rego gets the form that `opa fmt` gives it. YAML keeps its author's form, with all\n" +
			"comments: only spaces at the ends of lines and superfluous empty lines go. A file\n" +
			"that would lose anything by that is left as it is, and that is said.\n\n" +
			"Without a flag one file is printed. Exit codes: 0 fine, 1 a file cannot be read,\n" +
			"2 --check, and a file is not in order.",
		Example: "  reviewer policy fmt -w policy\n" +
			"  reviewer policy fmt --check policy      # in CI",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error { return format(a, paths, f) },
	}
	cmd.Flags().BoolVarP(&f.diff, "diff", "d", false, "print what would change")
	cmd.Flags().BoolVarP(&f.list, "list", "l", false, "list the files that would change")
	cmd.Flags().BoolVarP(&f.write, "write", "w", false, "change the files")
	cmd.Flags().BoolVar(&f.check, "check", false, "list the files that would change; exit code 2 if there are any")
	cmd.MarkFlagsMutuallyExclusive("write", "check")
	return cmd
}

func format(a *cli.App, paths []string, f formatting) error {
	files, err := filesToFormat(paths)
	if err != nil {
		return err
	}
	if !f.diff && !f.list && !f.write && !f.check {
		return printFormatted(a, paths, files)
	}
	var wrong []error
	changed := 0
	for _, file := range files {
		differs, err := formatFile(a, file, f)
		wrong = append(wrong, err)
		if differs {
			changed++
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	if f.check && changed > 0 {
		return cli.Findings("%s not in order; `reviewer policy fmt -w` mends that", term.Counted(changed, "file is", "files are"))
	}
	return nil
}

func printFormatted(a *cli.App, paths, files []string) error {
	if len(files) != 1 || files[0] != paths[0] {
		return fmt.Errorf("%s: say with -l, -d, -w or --check what is to be done with several files", term.Counted(len(files), "file", "files"))
	}
	_, out, err := formatted(files[0])
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(out)
	return err
}

// formatFile does with one file what the flags say.
func formatFile(a *cli.App, file string, f formatting) (differs bool, err error) {
	src, out, err := formatted(file)
	if err != nil || bytes.Equal(src, out) {
		return false, err
	}
	if f.list || f.check || f.write && !f.diff {
		fmt.Fprintln(a.Stdout, file)
	}
	if f.diff {
		if _, err := a.Stdout.Write(diff.Diff(file, src, file+" (in order)", out)); err != nil {
			return true, err
		}
	}
	if f.write {
		return true, rewrite(file, out)
	}
	return true, nil
}

// rewrite puts another content into a file, which keeps its permissions.
func rewrite(file string, content []byte) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if err := term.WriteWhole(file, content); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return os.Chmod(file, info.Mode().Perm())
}

func formatted(file string) (src, out []byte, err error) {
	if src, err = os.ReadFile(file); err != nil {
		return nil, nil, err
	}
	if filepath.Ext(file) == ".rego" {
		out, err = rego.Format(file, src)
	} else {
		out, err = bundles.Tidy(file, src)
	}
	return src, out, err
}

// filesToFormat lists the Rego and YAML files of folders, and files themselves.
func filesToFormat(paths []string) ([]string, error) {
	var all []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, fmt.Errorf("%s: there is no such file or folder", p)
		}
		if !info.IsDir() {
			if !formattable(p) {
				return nil, fmt.Errorf("%s: expected a file that ends in .rego, .yaml or .yml", p)
			}
			all = append(all, p)
			continue
		}
		err = filepath.WalkDir(p, func(name string, d fs.DirEntry, err error) error {
			hidden := name != p && strings.HasPrefix(d.Name(), ".")
			switch {
			case err != nil:
				return err
			case d.IsDir() && hidden:
				return fs.SkipDir
			case d.Type().IsRegular() && !hidden && formattable(name):
				all = append(all, name)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func formattable(name string) bool {
	return slices.Contains([]string{".rego", ".yaml", ".yml"}, filepath.Ext(name))
}
