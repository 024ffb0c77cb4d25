package main

import (
	"fmt"
	"runtime/debug"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/spf13/cobra"
)

// environment is what besides policy decides how the same facts come out.
func environment() engine.Env {
	return engine.Env{
		Engine: engine.Version, Classifier: classify.Version, Fold: engine.FoldVersion,
		OPA: rego.Version(), CEL: cel.Version,
	}
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of the binary, the policy that ships, and what decides",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			e := environment()
			policy, err := bundles.Default()
			if err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "reviewer %s\n", buildVersion())
			fmt.Fprintf(a.stdout, "policy   %s %s (%s)\n", policy.Manifest.Metadata.Name, policy.Manifest.Metadata.Version, policy.Digest)
			fmt.Fprintf(a.stdout, "engine %d, classifier %d, fold %d, OPA %s, CEL %s (env %.12s)\n", e.Engine, e.Classifier, e.Fold, e.OPA, e.CEL, e.Digest())
			return nil
		},
	}
}

// machineAt is this machine's policies, as this program reads them.
func machineAt(home string) thisMachine {
	return thisMachine{home: home, program: environment().Digest() + " " + buildVersion()}
}

func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
