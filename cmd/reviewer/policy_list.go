package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/depot"
	"github.com/spf13/cobra"
)

func (a *app) policyListCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the policy bundles that are kept, and which of them are active",
		Long:  "Newest first, by layer. An archive's digest, or a sequence, is what `reviewer policy rollback --to` takes.",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			home, err := a.stateHome()
			if err != nil {
				return err
			}
			d := policyDepot(home)
			state, err := d.State()
			if err != nil {
				return err
			}
			for _, lost := range state.Lost {
				fmt.Fprintf(a.stderr, "reviewer: %s\n", told(lost.Error()))
			}
			return out.write(a.stdout, func(w io.Writer) error { return a.showKept(w, &out, d, keptBundles(d, state)) })
		},
	}
	out.flags(cmd, "table", "json")
	return cmd
}

// keptBundle is a bundle that can be gone back to, or that is active.
type keptBundle struct {
	depot.Activation        // the last one of it
	Active           bool   `json:"active"`
	Damaged          string `json:"damaged,omitempty"` // why it can no longer be used
}

// keptBundles lists each bundle once, the layers in their order.
func keptBundles(d *depot.Depot, s *depot.State) []keptBundle {
	list := []keptBundle{}
	for _, layer := range bundles.Layers() {
		for _, a := range slices.Backward(s.History) {
			twice := func(k keptBundle) bool { return k.Layer == layer && k.Archive == a.Archive && k.Envelope == a.Envelope }
			if a.Layer != layer || a.None() || slices.ContainsFunc(list, twice) {
				continue
			}
			k := keptBundle{Activation: a, Active: s.Active.Layers[layer].Generation == a.Generation}
			if _, err := d.Archive(a.Release); err != nil {
				k.Damaged = err.Error()
			}
			list = append(list, k)
		}
	}
	return list
}

func (a *app) showKept(w io.Writer, out *output, d *depot.Depot, list []keptBundle) error {
	if out.format == "json" {
		return writeJSON(w, list)
	}
	if len(list) == 0 {
		fmt.Fprintf(w, "no policy bundle was activated in %s yet\n", d.Dir)
		return nil
	}
	p := a.paint(out)
	layers, names := len("LAYER"), len("BUNDLE")
	for _, k := range list {
		layers, names = max(layers, len(k.Layer)), max(names, len(keptName(k.Release)))
	}
	fmt.Fprintf(w, "  %s %s %8s %s %s %s\n", pad("LAYER", layers), pad("BUNDLE", names), "SEQUENCE", pad("ARCHIVE", 12), pad("ACTIVATED", 19), "BY WHOM SIGNED")
	for _, k := range list {
		mark := " "
		if k.Active {
			mark = "*"
		}
		fmt.Fprintf(w, "%s %s %s %8d %.12s %s %s\n", mark, pad(k.Layer, layers), pad(keptName(k.Release), names), k.Sequence, k.Archive, clock(k.At), keptRemark(p, k))
	}
	fmt.Fprintln(w, "\n* is active")
	return nil
}

// keptName is a release's name, version and channel.
func keptName(r depot.Release) string {
	return oneLine(r.Name+after(" ", r.Version)+after(" ", r.Channel), 60)
}

func keptRemark(p paint, k keptBundle) string {
	if k.Damaged != "" {
		return p.verdict("fail") + " " + oneLine(told(k.Damaged), 200)
	}
	return signedBy(k.Release)
}
