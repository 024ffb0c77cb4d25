package approvalscmd

import (
	"fmt"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/spf13/cobra"
)

func codeCommand(a *cli.App) *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:   "code",
		Short: "Create the code for answers over HTTP and in shared terminals; needs a person at a terminal",
		Long: "Creates the approval code, shows it once, and replaces any earlier one. Each answer to a\n" +
			"question over HTTP needs it (`reviewer serve --http`), and so does each answer in a\n" +
			"terminal into which an agent can type, such as that of a multiplexer. Only a slow hash of it is\n" +
			"stored, which is of no use to an agent that reads it. Write the code down outside this machine, or keep it in a\n" +
			"password manager that asks for a password of its own: anyone who has it can approve calls.\n" +
			"After 5 wrong codes in 15 minutes, all codes are refused for 15 minutes.\n\n" +
			"--remove removes the code: such answers are then refused.",
		Example: "  reviewer approvals code\n  reviewer approvals code --remove",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := a.OpenStore()
			if err != nil {
				return err
			}
			if _, err := a.Person("setting the approval code"); err != nil {
				return err
			}
			codes := &code.Store{Log: store}
			if remove {
				if err := codes.Remove(cmd.Context()); err != nil {
					return err
				}
				fmt.Fprintln(a.Stdout, "removed; answers over HTTP and in shared terminals are refused until there is a new code")
				return nil
			}
			secret, err := codes.Set(cmd.Context())
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Stdout, "approval code: %s\nit is not shown again; keep it where no tool of an agent can read it\n", secret)
			return nil
		},
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "remove the code")
	return cmd
}
