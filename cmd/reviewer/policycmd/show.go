package policycmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/spf13/cobra"
)

// ShowCommand is policy show.
func ShowCommand(a *cli.App) *cobra.Command {
	var dir string
	cmd := showCommand(a, &dir)
	cli.PolicyVar(cmd.Flags(), &dir, "policy", "", cli.PolicyFlag+" (default: active)")
	return cmd
}

// ShowRefCommand is policy show of a reference, without --policy.
func ShowRefCommand(a *cli.App) *cobra.Command { return showCommand(a, new(string)) }

func showCommand(a *cli.App, dir *string) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:   "show [REF]",
		Short: "Show the layers, changed settings and rules of the active policy or another one",
		Long: "REF is " + active.RefForms + ".\n\n" +
			"`policy effective` shows which layer sets what; `config show` lists every setting, including unchanged ones.",
		Example: "  reviewer policy show\n  reviewer policy show git:main:policy -f json",
		Args:    cli.AtMost(1),
		RunE: func(cmd *cobra.Command, refs []string) error {
			e, err := namedPolicy(cmd.Context(), a, refs, *dir)
			if err != nil {
				return err
			}
			if err := wiring.Check(cmd.Context(), e); err != nil {
				return err
			}
			for _, remark := range wiring.Remarks(e, time.Now()) {
				fmt.Fprintf(a.Stderr, "warning: %s\n", remark)
			}
			return out.Write(a.Stdout, func(w io.Writer) error { return showPolicy(a, w, &out, e) })
		},
	}
	out.Flags(cmd, "text", "json")
	return cmd
}

// namedPolicy is the policy of a reference, else that of a folder, else the one
// that is active here.
func namedPolicy(ctx context.Context, a *cli.App, refs []string, dir string) (*bundles.Effective, error) {
	switch {
	case len(refs) == 0:
		return a.ShownPolicy(ctx, dir)
	case dir != "":
		return nil, cli.Usage("give REF or --policy, not both")
	}
	return a.PolicyRef(ctx, refs[0])
}

// policyDocument is what show prints as JSON.
type policyDocument struct {
	Digest   string            `json:"digest"`
	Config   string            `json:"config"`
	Layers   []releasedLayer   `json:"layers"`
	Changed  map[string]string `json:"changed"` // setting -> layer that changed it
	Settings any               `json:"settings"`
	Rules    []bundles.Rule    `json:"rules"`

	Access    []bundles.AccessList `json:"access,omitempty"`
	Detectors []bundles.Detector   `json:"detectors"`
}

type layerDocument struct {
	Layer   string `json:"layer"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Digest  string `json:"digest"`
}

// releasedLayer is a layer with its release.
type releasedLayer struct {
	layerDocument
	Sequence int64  `json:"sequence,omitempty"`
	Revision string `json:"revision,omitempty"`
	Created  string `json:"created,omitempty"`
	Skipped  bool   `json:"tests_skipped,omitempty"` // of an archive: it was built without tests
}

func showPolicy(a *cli.App, w io.Writer, out *term.Output, e *bundles.Effective) error {
	doc := policyDocument{Digest: e.Digest, Config: e.Config, Changed: e.Origin, Settings: e.Document, Rules: e.Rules(),
		Access: e.Access(), Detectors: e.Detectors()}
	for _, l := range e.Layers {
		m := l.Manifest.Metadata
		doc.Layers = append(doc.Layers, releasedLayer{layerDocument{l.Layer, m.Name, m.Version, l.Digest}, m.Sequence,
			l.Manifest.Revision, m.Created, m.TestsSkipped})
	}
	if out.Format == "json" {
		return term.WriteDocument(w, doc)
	}
	p := a.Paint(out)
	fmt.Fprintf(w, "policy %s\n", e.Digest)
	for _, l := range doc.Layers {
		fmt.Fprintf(w, "  %s %s %s %s\n", term.Pad(l.Layer, 12), term.Pad(l.Name, 18), term.Pad(l.Version, 8), p.Faint(l.Digest))
		if l.Skipped {
			fmt.Fprintf(w, "  %s was built without running its tests\n", term.Pad("", 12))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(doc.Changed)) {
		fmt.Fprintf(w, "  %s is set by the %s layer\n", key, doc.Changed[key])
	}
	width := len("RULE")
	for _, r := range doc.Rules {
		width = max(width, len(r.ID))
	}
	fmt.Fprintf(w, "\n%s %s %s %s\n", term.Pad("RULE", width), term.Pad("DECISION", 9), term.Pad("SEVERITY", 9), "TITLE")
	for _, r := range doc.Rules {
		verdict := cmp.Or(string(r.Decision), "finding")
		fmt.Fprintf(w, "%s %s %s %s\n", term.Pad(r.ID, width), p.Verdict(term.Pad(verdict, 9)), term.Pad(string(r.Severity), 9), r.Title)
	}
	showAccess(w, doc.Access)
	return nil
}

// showAccess lists the rules of each access list in the order in which they are
// evaluated.
func showAccess(w io.Writer, lists []bundles.AccessList) {
	for _, l := range lists {
		width := len(l.FindingID("default"))
		for _, r := range l.Rules {
			width = max(width, len(l.FindingID(r.ID)))
		}
		row := func(id, effect, text string) {
			fmt.Fprintln(w, strings.TrimRight(term.Pad(id, width)+" "+term.Pad(effect, 16)+" "+text, " "))
		}
		fmt.Fprintln(w)
		row("ACCESS", "EFFECT", l.Title)
		for _, r := range l.Rules {
			row(l.FindingID(r.ID), r.Effect, r.Description)
		}
		row(l.FindingID("default"), l.Default, "calls that match no rule of the list")
	}
}
