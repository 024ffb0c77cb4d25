package auditcmd

import (
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func auditExportCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:     "export [ID…]",
		Short:   "Export records in other formats",
		Example: "  reviewer audit export -f json -o log.jsonl\n  reviewer audit export last -f csv -o last.csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			store, sessions, err := a.Chosen(args)
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("format") {
				out.Format = formatOf(store, out.Format)
			}
			return out.Write(a.Stdout, func(w io.Writer) error {
				x, err := audit.NewExporter(out.Format)
				if err != nil {
					return err
				}
				return x.Export(w, cli.RecordsOf(store, sessions))
			})
		},
	}
	out.Flags(cmd, audit.ExportFormats()...)
	return cmd
}

// formatOf is the format that the settings say. A policy that cannot be loaded keeps
// nobody from reading the log.
func formatOf(store *audit.Store, otherwise string) string {
	e, err := cli.MachineAt(store.Dir).Effective("")
	if err != nil {
		return otherwise
	}
	section, _ := e.Settings["audit"].(map[string]any)
	if format, ok := section["export_format"].(string); ok {
		return format
	}
	return otherwise
}
