package simulatecmd

import (
	"context"
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/objects"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/sources"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

// Documents lists the documents of these commands that have a type of their own.
func Documents() []cli.Document {
	return []cli.Document{
		{Command: "policy simulate manifest", Title: "inputs of a simulation, with their sizes and versions", Of: objects.Manifest{}},
		{Command: "policy profile", Title: "the time of each rule over recorded sessions", Of: Profile{}},
	}
}

func simulateManifestCommand(a *cli.App) *cobra.Command {
	in := inputs{store: &objects.Access{Cloud: a.Cloud}}
	var out term.Output
	cmd := &cobra.Command{
		Use:   "manifest SOURCE…",
		Short: "List inputs with their sizes and versions, so that every shard reads the same",
		Long: "Lists the files or objects of a SOURCE (a file, a folder, s3://bucket/prefix, gs://, azblob:// or\n" +
			"file://) with size and ETag, generation or SHA-256, and which of them share sessions. Shards\n" +
			"that read it with --manifest refuse an object that has changed since.",
		Example: "  reviewer policy simulate manifest s3://acme-logs/2026/q3 -o manifest.json\n" +
			"  reviewer policy simulate --manifest manifest.json --candidate policy --shard 3/64 -f json -o part-3.json",
		Args: cli.AtLeast(cli.Argument{Name: "SOURCE", What: "a file, a folder or a prefix such as s3://bucket/logs"}),
		RunE: func(cmd *cobra.Command, args []string) error {
			out.Put = in.put(cmd.Context())
			return writeManifest(cmd.Context(), a, &in, args, &out)
		},
	}
	out.Flags(cmd, "json")
	return cmd
}

func writeManifest(ctx context.Context, a *cli.App, in *inputs, args []string, out *term.Output) error {
	list, lost, err := in.find(ctx, args)
	if err != nil {
		return err
	}
	for _, one := range lost {
		fmt.Fprintln(a.Stderr, "reviewer:", cli.Masked(one))
	}
	m, err := in.store.NewManifest(ctx, list)
	if err != nil {
		return err
	}
	if err := out.Write(a.Stdout, func(w io.Writer) error {
		_, err := w.Write(m.Bytes())
		return err
	}); err != nil {
		return err
	}
	if !a.Quiet {
		fmt.Fprintln(a.Stderr, "reviewer:", summary(list))
	}
	return nil
}

// find inspects the inputs. Paths of files become locations.
func (in *inputs) find(ctx context.Context, args []string) (list []objects.Input, lost []string, err error) {
	var locations []string
	for _, arg := range args {
		if !objects.Is(arg) {
			l, err := objects.OfFile(arg)
			if err != nil {
				return nil, nil, err
			}
			arg = l.String()
		}
		locations = append(locations, arg)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	set, err := sources.Find(ctx, locations, sources.Options{Objects: in.store, Mask: plainMask(), Stop: stop})
	if err != nil {
		return nil, nil, err
	}
	for _, t := range set.Lost {
		if t.Failed {
			lost = append(lost, t.Path+": "+t.Why)
		}
	}
	list, err = set.Inputs()
	return list, lost, err
}

// summary describes what a manifest lists, and what bounds the shards.
func summary(list []objects.Input) string {
	var bytes int64
	groups := map[int]int64{}
	for _, in := range list {
		bytes += in.Size
		groups[in.Group] += in.Size
	}
	var largest int64
	for _, n := range groups {
		largest = max(largest, n)
	}
	return fmt.Sprintf("%s of %s bytes, in %s that can be read separately; the largest has %s bytes",
		term.Counted(len(list), "object", "objects"), term.Thousands(bytes),
		term.Counted(len(groups), "group", "groups"), term.Thousands(largest))
}
