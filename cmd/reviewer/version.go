package main

import (
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

func versionCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of the binary, the built-in policy and the engine",
		Example: "  reviewer version\n  reviewer version -f json",
		Args:    cli.AtMost(0),
		RunE: func(*cobra.Command, []string) error {
			e := cli.Environment()
			policy, digest, err := bundles.BuiltIn()
			if err != nil {
				return err
			}
			doc := versionDocument{cli.BuildVersion(), shippedVersion{policy.Metadata.Name, policy.Metadata.Version, digest},
				int64(e.Engine), int64(e.Classifier), int64(e.Fold), e.OPA, e.CEL, e.Digest()}
			return out.Result(a.Stdout, doc, func(w io.Writer) {
				fmt.Fprintf(w, "reviewer %s\n", doc.Reviewer)
				fmt.Fprintf(w, "policy   %s %s (%s)\n", doc.Policy.Name, doc.Policy.Version, digest)
				fmt.Fprintf(w, "engine %d, classifier %d, fold %d, OPA %s, CEL %s (env %.12s)\n", e.Engine, e.Classifier,
					e.Fold, e.OPA, e.CEL, doc.Env)
			})
		},
	}
	out.Flags(cmd, term.Text, "json")
	return cmd
}

// versionDocument lists the versions that decisions depend on.
type versionDocument struct {
	Reviewer   string         `json:"reviewer"`
	Policy     shippedVersion `json:"policy"` // that ships
	Engine     int64          `json:"engine"`
	Classifier int64          `json:"classifier"`
	Fold       int64          `json:"fold"`
	OPA        string         `json:"opa"`
	CEL        string         `json:"cel"`
	Env        string         `json:"env"` // digest of all of it, as records have it
}

type shippedVersion struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
}
