package auditcmd

import (
	"fmt"
	"io"
	"os"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func auditVerifyCommand(a *cli.App) *cobra.Command {
	var against string
	var hashes bool
	var out term.Output
	cmd := &cobra.Command{
		Use:   "verify [ID…]",
		Short: "Recompute all hashes and report any tampering",
		Long: "Recomputes the hash of each record, compares each keyframe with what follows from the records\n" +
			"before it, and checks that a person signed each choice that makes policy milder.",
		Example: "  reviewer audit verify\n" +
			"  reviewer audit verify --against seals.jsonl -f json",
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.OpenStore()
			if err != nil {
				return err
			}
			check := audit.Check{Hashes: hashes}
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
				return fmt.Errorf("nothing recorded in %s", store.Dir)
			}
			return printVerification(a, &out, report)
		},
	}
	out.Flags(cmd, term.Text, "json")
	cmd.Flags().StringVar(&against, "against", "", "file with seals kept elsewhere (see audit seal --to)")
	cmd.Flags().BoolVar(&hashes, "hashes", false, "recompute only the hashes, which is faster for a large log")
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
		return nil, fmt.Errorf("--against %s: %w", path, cli.WithoutCall(err))
	}
	defer f.Close()
	seals, err := audit.ReadSeals(f)
	if err != nil {
		return nil, fmt.Errorf("--against %s: is not a file of seals, which `reviewer audit seal --to FILE` writes: %w", path,
			cli.WithoutCall(err))
	}
	return seals, nil
}

// verification is what verifying found.
type verification struct {
	OK       bool     `json:"ok"` // every hash matches
	Chains   int      `json:"chains"`
	Lines    int64    `json:"lines"`
	Bytes    int64    `json:"bytes"`
	Purged   int64    `json:"purged"`   // lines that retention deleted
	Problems []string `json:"problems"` // with the chain and the line of each
}

func printVerification(a *cli.App, out *term.Output, r audit.Report) error {
	d := verification{len(r.Problems) == 0, int(r.Chains), int64(r.Lines), int64(r.Bytes), int64(r.Purged), []string{}}
	for _, problem := range r.Problems {
		d.Problems = append(d.Problems, fmt.Sprint(problem))
	}
	if err := out.Result(a.Stdout, d, func(w io.Writer) { d.text(w, a.Paint(out)) }); err != nil {
		return err
	}
	if !d.OK {
		return cli.Findings("the log was tampered with or damaged: %s", term.Counted(len(d.Problems), "chain is broken", "chains are broken"))
	}
	return nil
}

func (d verification) text(w io.Writer, p term.Paint) {
	for _, problem := range d.Problems {
		fmt.Fprintf(w, "%s %s\n", p.Verdict("fail"), problem)
	}
	fmt.Fprintf(w, "%s, %s, %d bytes", term.Counted(d.Chains, "chain", "chains"), term.Counted(int(d.Lines), "line", "lines"), d.Bytes)
	if d.Purged > 0 {
		fmt.Fprintf(w, "; %s deleted by retention", term.Counted(int(d.Purged), "line was", "lines were"))
	}
	if d.OK {
		fmt.Fprintf(w, ": %s, all hashes match", p.Verdict("ok"))
	}
	fmt.Fprintln(w)
}
