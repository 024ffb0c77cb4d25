package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/agent-reviewer/reviewer/rego"
)

func (a *app) policyCapabilitiesCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "capabilities",
		Short: "Print the Rego that policies may use, for opa, regal and editors",
		Long: "Policies have all of OPA's Rego but what could come out otherwise when a decision\n" +
			"is computed again: the clock, chance, the network, the environment, time zones.\n" +
			"Other tools that are given this list find the same errors.",
		Example: "  reviewer policy capabilities -o capabilities.json\n" +
			"  opa check --strict --capabilities capabilities.json policy",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return out.write(a.stdout, func(w io.Writer) error { return writeJSON(w, rego.Capabilities()) })
		},
	}
	out.flags(cmd, "json")
	return cmd
}
