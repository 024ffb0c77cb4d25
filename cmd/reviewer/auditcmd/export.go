package auditcmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/objects"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/sources"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func auditExportCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var from []string
	store := &objects.Access{Cloud: a.Cloud}
	cmd := &cobra.Command{
		Use:   "export [ID…]",
		Short: "Export records in other formats",
		Long: "Writes the records of sessions to standard output, a file, or an object such as\n" +
			"s3://bucket/log.jsonl.zst; a name that ends with .zst or .gz is compressed. With --from, the\n" +
			"logs of other machines are read instead of this machine's log.",
		Example: "  reviewer audit export -f json -o log.jsonl\n  reviewer audit export last -f csv -o last.csv\n" +
			"  reviewer audit export --from s3://acme-logs/host-17 -f jsonl -o gs://acme-archive/host-17.jsonl.zst",
		RunE: func(cmd *cobra.Command, args []string) error {
			x := exported{store: store, from: from}
			if err := x.choose(cmd.Context(), a, args); err != nil {
				return err
			}
			if !cmd.Flags().Changed("format") && x.log != nil {
				out.Format = formatOf(x.log, out.Format)
			}
			out.Put = x.put(cmd.Context())
			if objects.Is(out.File) {
				if err := store.Free(cmd.Context(), out.File); err != nil {
					return err
				}
			}
			return out.Write(a.Stdout, func(w io.Writer) error {
				format, err := audit.NewExporter(out.Format)
				if err != nil {
					return err
				}
				return format.Export(w, x.records)
			})
		},
	}
	out.Flags(cmd, audit.ExportFormats()...)
	cmd.Flags().StringArrayVar(&from, "from", nil,
		"read the logs in this `SOURCE`: a file, a folder, or a prefix such as s3://bucket/logs; may be repeated")
	return cmd
}

// exported is what is exported: sessions of this machine's log, or other logs.
type exported struct {
	store   *objects.Access
	from    []string
	log     *audit.Store // of this machine; nil: other logs
	records iter.Seq2[*engine.Record, error]
}

func (x *exported) choose(ctx context.Context, a *cli.App, args []string) error {
	if len(x.from) > 0 {
		if len(args) > 0 {
			return cli.Usage("--from exports every session of the logs; leave out %s", args[0])
		}
		set, err := sources.Find(ctx, x.from, sources.Options{Stdin: a.Stdin, Objects: x.store, Mask: cli.Masked})
		if err == nil && len(set.Lost) > 0 {
			err = fmt.Errorf("%s: %s; nothing was exported", set.Lost[0].Path, set.Lost[0].Why)
		}
		if err == nil {
			x.records = loggedIn(ctx, set)
		}
		return err
	}
	log, sessions, err := a.Chosen(args)
	if err == nil {
		x.log, x.records = log, cli.RecordsOf(log, sessions)
	}
	return err
}

// loggedIn iterates over the records of logs. A transcript is not a log.
func loggedIn(ctx context.Context, set *sources.Set) iter.Seq2[*engine.Record, error] {
	return func(yield func(*engine.Record, error) bool) {
		for i := range set.Families {
			for session := range set.Families[i].Recorded(ctx) {
				if !session.Audit {
					yield(nil, fmt.Errorf("session %s is a transcript of %s, which has no records; name logs only", session.Session, session.Harness))
					return
				}
				for event, err := range session.Events {
					if !yield(event.Record, err) {
						return
					}
				}
			}
		}
	}
}

// put writes objects and files; those with the name of a compressed file are
// compressed.
func (x *exported) put(ctx context.Context) term.Put {
	return func(name string, content []byte) (bool, error) {
		packed, changed, err := sources.Compressed(name, content)
		if err != nil {
			return true, err
		}
		if objects.Is(name) {
			return true, x.store.Write(ctx, name, packed)
		}
		if !changed {
			return false, nil
		}
		return true, term.WriteWhole(name, packed)
	}
}

// formatOf returns the format from the settings. A policy that cannot be loaded does
// not keep anyone from reading the log.
func formatOf(store *audit.Store, otherwise string) string {
	e, err := cli.MachineAt(store.Dir).Effective("")
	if err != nil {
		return otherwise
	}
	return cmp.Or(e.Settings.Audit.ExportFormat, otherwise)
}
