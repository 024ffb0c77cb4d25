package releasecmd

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/releases"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

func policyListCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the stored policy bundles, and which of them are active",
		Long:    "Newest first, by layer. `reviewer policy rollback --to` takes an archive's digest or a sequence.",
		Example: "  reviewer policy list",
		Args:    cli.AtMost(0),
		RunE: func(*cobra.Command, []string) error {
			home, err := a.StateHome()
			if err != nil {
				return err
			}
			d := active.Releases(home)
			state, err := d.State()
			if err != nil {
				return err
			}
			err = out.Write(a.Stdout, func(w io.Writer) error { return showKept(a, w, &out, d, keptBundles(d, state)) })
			if err == nil && len(state.Lost) > 0 {
				return cli.Findings("%w", errors.Join(state.Lost...))
			}
			return err
		},
	}
	out.Flags(cmd, "text", "json")
	return cmd
}

// storedBundle is a stored bundle, to which one can roll back, or that is active.
type storedBundle struct {
	releases.Activation        // its latest one
	Time                string `json:"time"` // when it was activated, RFC 3339
	Active              bool   `json:"active"`
	Damaged             string `json:"damaged,omitempty"` // why it can no longer be used
}

// keptBundles lists each bundle once, the layers in their order.
func keptBundles(d *releases.Store, s *releases.State) []storedBundle {
	list := []storedBundle{}
	for _, layer := range bundles.Layers() {
		for _, a := range slices.Backward(s.History) {
			twice := func(k storedBundle) bool {
				return k.Layer == layer && k.Archive == a.Archive && k.Envelope == a.Envelope
			}
			if a.Layer != layer || a.None() || slices.ContainsFunc(list, twice) {
				continue
			}
			k := storedBundle{Activation: a, Time: term.Time(a.At), Active: s.Active.Layers[layer].Generation == a.Generation}
			if _, err := d.Archive(a.Release); err != nil {
				k.Damaged = err.Error()
			}
			list = append(list, k)
		}
	}
	return list
}

func showKept(a *cli.App, w io.Writer, out *term.Output, d *releases.Store, list []storedBundle) error {
	if out.Format == "json" {
		return term.WriteList(w, "bundles", list)
	}
	if len(list) == 0 {
		fmt.Fprintf(w, "no policy bundle was activated in %s yet\n", d.Dir)
		return nil
	}
	p := a.Paint(out)
	layers, names := len("LAYER"), len("BUNDLE")
	for _, k := range list {
		layers, names = max(layers, len(k.Layer)), max(names, len(keptName(k.Release)))
	}
	fmt.Fprintf(w, "  %s %s %8s %s %s %s\n", term.Pad("LAYER", layers), term.Pad("BUNDLE", names), "SEQUENCE", term.Pad("ARCHIVE", 12),
		term.Pad("ACTIVATED", 19), "SIGNED BY")
	for _, k := range list {
		mark := " "
		if k.Active {
			mark = "*"
		}
		fmt.Fprintf(w, "%s %s %s %8d %.12s %s %s\n", mark, term.Pad(k.Layer, layers), term.Pad(keptName(k.Release), names), k.Sequence,
			k.Archive, term.Clock(k.At), keptRemark(p, k))
	}
	fmt.Fprintln(w, "\n* is active")
	return nil
}

// keptName is a release's name, version and channel.
func keptName(r releases.Release) string {
	return term.OneLine(r.Name+term.After(" ", r.Version)+term.After(" ", r.Channel), 60)
}

func keptRemark(p term.Paint, k storedBundle) string {
	if k.Damaged != "" {
		return p.Verdict("fail") + " " + term.OneLine(cli.Masked(k.Damaged), 200)
	}
	return active.SignedBy(k.Release)
}
