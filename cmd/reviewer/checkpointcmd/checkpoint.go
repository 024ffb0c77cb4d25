// Package checkpointcmd contains the commands of `reviewer checkpoint`, one file each: they
// take, list, show, compare, restore, verify and remove checkpoints of workspaces.
//
// Out of scope: how files are stored (engine/checkpoint), and when the hook takes a checkpoint.
package checkpointcmd

import (
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/spf13/cobra"
)

// Command is `reviewer checkpoint`.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "checkpoint",
		Short: "List, show, compare and restore checkpoints of a workspace's files",
		Long: "A checkpoint is the state of a workspace's files at a point in time. ID is a checkpoint's id such as\n" +
			"1f2e3d4c-17; in the workspace of the current folder its number is enough, and latest is the\n" +
			"newest one.",
		Example: "  reviewer checkpoint list\n  reviewer checkpoint diff 17 now\n  reviewer checkpoint restore 17 src/cart.go",
	}
	cmd = cli.Group(cmd, takeCommand(a), listCommand(a), showCommand(a), diffCommand(a), restoreCommand(a), verifyCommand(a),
		gcCommand(a), expireCommand(a))
	for _, c := range cmd.Commands() {
		switch c.Name() {
		case "show", "diff", "restore":
			c.ValidArgsFunction = completeIDs(a)
		}
	}
	return cmd
}

// completeIDs lets a shell complete the first argument with an id, and the others with paths.
func completeIDs(a *cli.App) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return ids(a), cobra.ShellCompDirectiveNoFileComp
	}
}

// ids lists the checkpoints of the current workspace, or nothing if they cannot be read:
// shell completion has no place for errors.
func ids(a *cli.App) []string {
	list := []string{"latest"}
	s, err := open(a)
	if err != nil {
		return nil
	}
	store, err := s.here("")
	if err != nil {
		return nil
	}
	all, err := store.List()
	if err != nil {
		return nil
	}
	for i := range all {
		list = append(list, all[i].ID)
	}
	return list
}

// Documents lists the output of these commands with -f json.
func Documents() []cli.Document {
	return []cli.Document{
		{Command: "checkpoint take", Title: "the checkpoint that was taken", Of: taken{}},
		{Command: "checkpoint list", Title: "the checkpoints", Of: listing{}},
		{Command: "checkpoint show", Title: "what changed since the checkpoint before", Of: shown{}},
		{Command: "checkpoint diff", Title: "how two states of a workspace differ", Of: differences{}},
		{Command: "checkpoint restore", Title: "what was restored", Of: Restored{}},
		{Command: "checkpoint verify", Title: "whether the stores are undamaged", Of: verification{}},
		{Command: "checkpoint gc", Title: "what was removed", Of: collection{}},
	}
}
