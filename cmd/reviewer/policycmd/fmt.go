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

// formatting is the flags of `policy fmt`.
type formatting struct {
	diff, list, write, check bool
	out                      term.Output
	changed                  []string // files that are not formatted
}

func policyFmtCommand(a *cli.App) *cobra.Command {
	var f formatting
	cmd := &cobra.Command{
		Use:   "fmt [PATH…]",
		Short: "Format policy files: Rego as opa fmt does, YAML whitespace only",
		Long: "Rego is formatted as by `opa fmt`. YAML keeps its author's layout and all comments;\n" +
			"only trailing spaces and superfluous empty lines are removed. A file that would lose\n" +
			"anything else is left unchanged, with a message.\n\n" +
			withoutPath + "\n\n" +
			"Without flags, the formatted text of a single file is printed. Exit codes: 0 success, 1 a file cannot be read,\n" +
			"2 a file is not formatted, with --check, 3 usage error.",
		Example: "  reviewer policy fmt -w policy\n" +
			"  reviewer policy fmt --check policy      # in CI",
		RunE: func(cmd *cobra.Command, paths []string) error { return format(a, paths, &f) },
	}
	f.out.FormatFlag(cmd, term.Text, "json")
	cmd.Flags().BoolVarP(&f.diff, "diff", "d", false, "print a diff of what would change")
	cmd.Flags().BoolVarP(&f.list, "list", "l", false, "list the files that would change")
	cmd.Flags().BoolVarP(&f.write, "write", "w", false, "write the formatted files in place")
	cmd.Flags().BoolVar(&f.check, "check", false, "list the files that would change; exit with 2 if there are any")
	cmd.MarkFlagsMutuallyExclusive("write", "check")
	return cmd
}

func format(a *cli.App, paths []string, f *formatting) error {
	if len(paths) == 0 {
		dir, err := policyHere()
		if err != nil {
			return err
		}
		paths = []string{dir}
	}
	files, err := filesToFormat(paths)
	if err != nil {
		return err
	}
	if f.json() && f.diff {
		return cli.Usage("--diff prints text; leave it out, or -f json")
	}
	if !f.diff && !f.list && !f.write && !f.check && !f.json() {
		return printFormatted(a, paths, files)
	}
	var wrong []error
	f.changed = []string{}
	for _, file := range files {
		differs, err := formatFile(a, file, f)
		wrong = append(wrong, err)
		if differs {
			f.changed = append(f.changed, filepath.ToSlash(file))
		}
	}
	for _, path := range paths {
		if f.write && len(f.changed) > 0 {
			wrong = append(wrong, a.NoteWritten(path))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	if f.json() {
		if err := f.out.Result(a.Stdout, formattedFiles{len(files), f.changed, f.write}, nil); err != nil {
			return err
		}
	}
	if n := len(f.changed); f.check && n > 0 {
		return cli.Findings("%s not formatted; run `reviewer policy fmt -w`", term.Counted(n, "file is", "files are"))
	}
	return nil
}

func (f *formatting) json() bool { return f.out.Format == "json" }

// formattedFiles is the result of `policy fmt`.
type formattedFiles struct {
	Files   int      `json:"files"`   // that were examined
	Changed []string `json:"changed"` // that are not formatted, or were not
	Written bool     `json:"written"` // they are now
}

func printFormatted(a *cli.App, paths, files []string) error {
	if len(files) != 1 || files[0] != paths[0] {
		return cli.Usage("%s: several files need one of -l, -d, -w or --check", term.Counted(len(files), "file", "files"))
	}
	_, out, err := formatted(files[0])
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(out)
	return err
}

// formatFile formats or checks one file.
func formatFile(a *cli.App, file string, f *formatting) (differs bool, err error) {
	src, out, err := formatted(file)
	if err != nil || bytes.Equal(src, out) {
		return false, err
	}
	if !f.json() && (f.list || f.check || f.write && !f.diff) {
		fmt.Fprintln(a.Stdout, filepath.ToSlash(file))
	}
	if f.diff {
		if _, err := a.Stdout.Write(diff.Diff(file, src, file+" (formatted)", out)); err != nil {
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
	if !bytes.HasSuffix(src, crlf) {
		out, err = inOrder(file, src)
		return src, out, err
	}
	out, err = inOrder(file, bytes.ReplaceAll(src, crlf, lf))
	return src, bytes.ReplaceAll(out, lf, crlf), err
}

func inOrder(file string, src []byte) ([]byte, error) {
	if filepath.Ext(file) == ".rego" {
		return rego.Format(file, src)
	}
	return bundles.Tidy(file, src)
}

// crlf is the line ending of files that git checks out on Windows. A file with such endings
// keeps them, so that the check has the same result everywhere.
var crlf, lf = []byte("\r\n"), []byte("\n")

// filesToFormat lists the Rego and YAML files of folders, and files themselves.
func filesToFormat(paths []string) ([]string, error) {
	var all []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, fmt.Errorf("%s: no such file or folder", p)
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
