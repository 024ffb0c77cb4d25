package suggest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/policycmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/simulatecmd"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
)

// Command is `reviewer policy suggest`.
func Command(a *cli.App) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "suggest ID --to DIR",
		Short: "Propose an exception for a call that was held up, and show its effect",
		Long: "ID is the record of a call that was asked about or blocked. The proposal is an exception to\n" +
			"the rules that held it up, for the same command in the same folder only. DIR becomes a copy\n" +
			"of your policy with the exception and a case for `policy test`; the difference in meaning\n" +
			"and the effect on past sessions are shown. Nothing is applied: copy what you want to keep.",
		Example: "  reviewer policy suggest f8dc9b3b-35 --to proposal",
		Args:    cli.Needs(cli.Argument{Name: "ID", What: "the id of a call as `reviewer denials` or `reviewer audit show` lists it, such as f8dc9b3b-35"}),
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir == "" {
				return cli.Usage("--to is missing: give a folder for the proposal")
			}
			return Propose(cmd.Context(), a, args[0], dir)
		},
	}
	cmd.Flags().StringVar(&dir, "to", "", "write the proposal into this new `folder`")
	return cmd
}

// Propose writes a proposal for the call of a record into a new folder and a patch next to it, and
// prints its meaning and its effect.
func Propose(ctx context.Context, a *cli.App, id, dir string) error {
	store, s, err := a.Session(id)
	if err != nil {
		return err
	}
	r, err := store.Find(id)
	if err != nil {
		return err
	}
	policy, err := a.ShownPolicy(ctx, active.RefActive)
	if err != nil {
		return err
	}
	x, err := ForCall(r, policy)
	if err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	if err := write(active.LayerDir(bundles.User, store.Dir, s.Workspace), dir, x); err != nil {
		return err
	}
	file := filepath.Join(dir, filepath.FromSlash(x.File))
	fmt.Fprintf(a.Stdout, "proposed: %s\n\n%s\n", file, x.Text)
	if x.Remark != "" {
		fmt.Fprintf(a.Stdout, "%s\n\n", x.Remark)
	}
	approved := approvedCases + strings.TrimSuffix(path.Base(x.File), ".rego")
	saved := filepath.Join(dir, filepath.FromSlash(approved))
	for _, part := range []struct {
		title string
		cmd   *cobra.Command
		args  []string
	}{
		{"What changes in the policy:", policycmd.DiffCommand(a), []string{active.RefActive, dir}},
		{"What would have changed in past sessions:", simulatecmd.Command(a),
			[]string{"--baseline", active.RefActive, "--candidate", dir, "--save-cases", saved}},
	} {
		fmt.Fprintf(a.Stdout, "%s\n", part.title)
		part.cmd.SetArgs(part.args)
		part.cmd.SilenceErrors, part.cmd.SilenceUsage = true, true
		if err := part.cmd.ExecuteContext(ctx); err != nil {
			return err
		}
		fmt.Fprintln(a.Stdout)
	}
	if list, err := os.ReadDir(saved); err != nil || len(list) == 0 {
		return cli.Findings("the exception in %s changes no recorded decision of which a case can be made: "+
			"the scores or another rule may still decide this call", dir)
	}
	if err := writePatch(dir, x.File, approved); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "Nothing was applied. To apply the exception and its case:\n\n"+
		"    patch -p1 -d %s < %s\n    reviewer policy accept\n",
		mask.QuoteWord(active.LayerDir(bundles.User, store.Dir, "")), mask.QuoteWord(dir+".patch"))
	return nil
}

// approvedCases is the folder that contains a folder with the case of each proposal.
const approvedCases = "cases/approved/"

// writePatch writes files of a proposal, and those under its folders, as a patch that creates them.
func writePatch(dir string, names ...string) error {
	var patch bytes.Buffer
	add := func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		patch.Write(diff.Diff("/dev/null", nil, "b/"+filepath.ToSlash(name), text))
		return err
	}
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(name)), add)
		if err != nil {
			return err
		}
	}
	return os.WriteFile(dir+".patch", patch.Bytes(), 0o644)
}

// write makes a folder with the user's policy and the exception.
func write(policy, dir string, x Exception) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty: give a new folder", dir)
	}
	if _, err := os.Lstat(dir + ".patch"); err == nil {
		return fmt.Errorf("%s.patch exists: give a new folder", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.CopyFS(dir, os.DirFS(policy)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	name := filepath.Join(dir, filepath.FromSlash(x.File))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, x.Text, 0o644)
}
