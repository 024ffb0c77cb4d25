package policycmd

import (
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/spf13/cobra"
)

func policyCapabilitiesCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:   "capabilities",
		Short: "Print the Rego capabilities available to policies, for opa, regal and editors",
		Long: "Policies can use all of OPA's Rego except what could change when a decision is\n" +
			"recomputed: the clock, random numbers, the network, the environment, time zones.\n" +
			"Other tools that are given the output of this command report the same errors.",
		Example: "  reviewer policy capabilities -o capabilities.json\n" +
			"  opa check --strict --capabilities capabilities.json policy",
		Args: cli.AtMost(0),
		RunE: func(*cobra.Command, []string) error {
			return out.Write(a.Stdout, func(w io.Writer) error { return term.WriteJSON(w, rego.Capabilities()) })
		},
	}
	out.Flags(cmd, "json")
	return cmd
}
