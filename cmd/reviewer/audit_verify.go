package main

import (
	"fmt"
	"os"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func (a *app) auditVerifyCommand() *cobra.Command {
	var against string
	cmd := &cobra.Command{
		Use:   "verify [ID…]",
		Short: "Compute all hashes again: is the log what was written?",
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.openStore()
			if err != nil {
				return err
			}
			var check audit.Check
			if check.Only, err = a.keys(args); err != nil {
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
			return a.printVerification(report)
		},
	}
	cmd.Flags().StringVar(&against, "against", "", "file with seals that were kept elsewhere (audit seal --to)")
	return cmd
}

func (a *app) keys(selectors []string) ([]engine.SessionKey, error) {
	if len(selectors) == 0 {
		return nil, nil
	}
	_, sessions, err := a.chosen(selectors)
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

func (a *app) printVerification(r audit.Report) error {
	p := a.paint(&output{})
	for _, problem := range r.Problems {
		fmt.Fprintf(a.stdout, "%s %s\n", p.verdict("fail"), problem)
	}
	fmt.Fprintf(a.stdout, "%d chains, %d lines, %d bytes", r.Chains, r.Lines, r.Bytes)
	if r.Purged > 0 {
		fmt.Fprintf(a.stdout, "; %d lines were deleted by retention", r.Purged)
	}
	if len(r.Problems) > 0 {
		fmt.Fprintln(a.stdout)
		return findings("the log is not what was written: %d chains are broken", len(r.Problems))
	}
	fmt.Fprintf(a.stdout, ": %s, every hash fits\n", p.verdict("ok"))
	return nil
}
