package auditcmd

import (
	"fmt"
	"os"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func auditVerifyCommand(a *cli.App) *cobra.Command {
	var against string
	cmd := &cobra.Command{
		Use:   "verify [ID…]",
		Short: "Compute all hashes again: is the log what was written?",
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.OpenStore()
			if err != nil {
				return err
			}
			var check audit.Check
			if check.Only, err = keys(a, args); err != nil {
				return err
			}
			if against != "" {
				if check.Against, err = readSeals(against); err != nil {
					return err
				}
			}
			report, err := store.Verify(cmd.Context(), check)
			if err != nil {
				return err
			}
			if report.Chains == 0 {
				return fmt.Errorf("nothing is recorded in %s", store.Dir)
			}
			return printVerification(a, report)
		},
	}
	cmd.Flags().StringVar(&against, "against", "", "file with seals that were kept elsewhere (audit seal --to)")
	return cmd
}

func keys(a *cli.App, selectors []string) ([]engine.SessionKey, error) {
	if len(selectors) == 0 {
		return nil, nil
	}
	_, sessions, err := a.Chosen(selectors)
	var keys []engine.SessionKey
	for _, s := range sessions {
		keys = append(keys, s.Key)
	}
	return keys, err
}

func readSeals(path string) ([]audit.SealLine, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read seals: %w", err)
	}
	defer f.Close()
	return audit.ReadSeals(f)
}

func printVerification(a *cli.App, r audit.Report) error {
	p := a.Paint(&term.Output{})
	for _, problem := range r.Problems {
		fmt.Fprintf(a.Stdout, "%s %s\n", p.Verdict("fail"), problem)
	}
	fmt.Fprintf(a.Stdout, "%d chains, %d lines, %d bytes", r.Chains, r.Lines, r.Bytes)
	if r.Purged > 0 {
		fmt.Fprintf(a.Stdout, "; %d lines were deleted by retention", r.Purged)
	}
	if len(r.Problems) > 0 {
		fmt.Fprintln(a.Stdout)
		return cli.Findings("the log is not what was written: %d chains are broken", len(r.Problems))
	}
	fmt.Fprintf(a.Stdout, ": %s, every hash fits\n", p.Verdict("ok"))
	return nil
}
