package main

import (
	"fmt"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/spf13/cobra"
)

func versionCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of the binary, the policy that ships, and what decides",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			e := cli.Environment()
			policy, digest, err := bundles.Shipped()
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Stdout, "reviewer %s\n", cli.BuildVersion())
			fmt.Fprintf(a.Stdout, "policy   %s %s (%s)\n", policy.Metadata.Name, policy.Metadata.Version, digest)
			fmt.Fprintf(a.Stdout, "engine %d, classifier %d, fold %d, OPA %s, CEL %s (env %.12s)\n", e.Engine, e.Classifier,
				e.Fold, e.OPA, e.CEL, e.Digest())
			return nil
		},
	}
}
