package main

import (
	"io"

	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func (a *app) auditExportCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "export [ID…]",
		Short: "Write records in the format of another tool",
		RunE: func(_ *cobra.Command, args []string) error {
			store, sessions, err := a.chosen(args)
			if err != nil {
				return err
			}
			return out.write(a.stdout, func(w io.Writer) error {
				x, err := audit.NewExporter(out.format)
				if err != nil {
					return err
				}
				return x.Export(w, recordsOf(store, sessions))
			})
		},
	}
	out.flags(cmd, audit.ExportFormats()...)
	return cmd
}
