package releasecmd

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/depot"
	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func policyStatusCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say which policy holds here, who vouches for it, and what is wrong with it",
		Long: "Verifies the active bundles again, as of now: their bytes, their signatures by the trust file that\n" +
			"holds, their expiry; and compares them with what the ledger tells. A bundle that expired goes on to hold,\n" +
			"since none would be worse. Exit code 2 where something is wrong.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := a.OpenStore()
			if err != nil {
				return err
			}
			doc := statusOf(cmd.Context(), store, time.Now().UnixMilli())
			if err := out.Write(a.Stdout, func(w io.Writer) error { return showStatus(a, w, &out, doc) }); err != nil {
				return err
			}
			if n := len(doc.problems()); n > 0 {
				return &cli.ExitError{Code: cli.ExitFindings}
			}
			return nil
		},
	}
	out.Flags(cmd, "text", "json")
	return cmd
}

// statusDocument says what holds on this machine, whatever the workspace.
type statusDocument struct {
	Policy   string        `json:"policy,omitempty"` // digest of what holds; empty: nothing does, and every call is denied
	Trust    trustStatus   `json:"trust"`
	Layers   []layerStatus `json:"layers"`
	Problems []string      `json:"problems"` // of no layer alone
}

type trustStatus struct {
	File    string `json:"file,omitempty"` // empty: there is none
	Version int64  `json:"version,omitempty"`
	Expires string `json:"expires,omitempty"`
}

// layerStatus is a layer that there is.
type layerStatus struct {
	Layer      string            `json:"layer"`
	From       string            `json:"from"` // bundle, folder, shipped
	At         string            `json:"at"`   // where its files are
	Digest     string            `json:"digest,omitempty"`
	Activation *depot.Activation `json:"activation,omitempty"`
	Stale      bool              `json:"stale"` // it expired, or is too old for its channel
	Problems   []string          `json:"problems"`
}

// problems lists all that is wrong.
func (d *statusDocument) problems() []string {
	all := d.Problems
	for _, l := range d.Layers {
		all = append(all, l.Problems...)
	}
	return all
}

func (d *statusDocument) wrong(err error) {
	if err != nil {
		d.Problems = append(d.Problems, cli.Masked(err.Error()))
	}
}

func statusOf(ctx context.Context, store *audit.Store, now int64) *statusDocument {
	doc := &statusDocument{Layers: []layerStatus{}, Problems: []string{}}
	believed, _, err := here.TrustInForce(store)
	doc.wrong(err)
	if err == nil && !believed.None() {
		doc.Trust = trustStatus{believed.Path, believed.Version, believed.Expires}
		doc.wrong(believed.Current(now))
	}
	holds, err := cli.MachineAt(store.Dir).Layers("")
	if err != nil {
		doc.wrong(err)
		return doc
	}
	if s, err := holds.Depot.State(); err != nil {
		doc.wrong(err)
	} else {
		for _, lost := range s.Lost {
			doc.wrong(lost)
		}
	}
	for _, layer := range bundles.Layers() {
		doc.layer(holds, believed, layer, now)
	}
	doc.wrong(agreesWithLedger(store, holds.Active))
	doc.whole(ctx, holds)
	return doc
}

// layer looks at one layer, if it is there.
func (d *statusDocument) layer(holds *here.Layers, believed here.Trust, layer string, now int64) {
	s, err := holds.Source(layer)
	if s == nil && err == nil {
		return
	}
	l := layerStatus{Layer: layer, Problems: []string{}}
	if a, ok := holds.Active.Layers[layer]; ok && !a.None() {
		l.From, l.Activation, l.At = "bundle", &a, holds.Depot.Path(a.Release)
	}
	if err == nil {
		err = l.look(holds, believed, s, now)
	}
	if err != nil {
		l.Problems = append(l.Problems, cli.Masked(err.Error()))
	}
	d.Layers = append(d.Layers, l)
}

func (l *layerStatus) look(holds *here.Layers, believed here.Trust, s *here.Source, now int64) error {
	l.At = s.At
	switch {
	case s.Activation != nil:
		l.From = "bundle"
	case s.At == here.ShippedPlace:
		l.From = "shipped"
	default:
		l.From = "folder"
	}
	b, err := s.Load()
	if err != nil {
		return err
	}
	l.Digest = b.Digest
	if s.Activation == nil || believed.None() {
		return nil
	}
	return l.verify(holds, believed, now)
}

// verify checks a bundle's signatures and age by the trust file that holds now.
func (l *layerStatus) verify(holds *here.Layers, believed here.Trust, now int64) error {
	raw, err := holds.Depot.Archive(l.Activation.Release)
	if err != nil {
		return err
	}
	envelope, err := holds.Depot.Envelope(l.Activation.Release)
	if err != nil {
		return err
	}
	v := believed.Check(trust.Candidate{File: l.Activation.Release.String(), Archive: raw, Envelope: envelope, Now: now})
	l.Stale = v.Code == trust.Expired
	return v.Err()
}

// whole compiles all layers together.
func (d *statusDocument) whole(ctx context.Context, holds *here.Layers) {
	for _, l := range d.Layers {
		if l.Digest == "" {
			return // said already, and nothing holds
		}
	}
	e, err := holds.Effective()
	if err == nil {
		_, err = wiring.Compile(ctx, e)
	}
	if err != nil {
		d.wrong(err)
		return
	}
	d.Policy = e.Digest
}

// agreesWithLedger is an error where the ledger tells of another activation.
func agreesWithLedger(store *audit.Store, active *depot.Active) error {
	last, err := here.LaterInLedger(store, active)
	if err != nil || last == "" {
		return err
	}
	return fmt.Errorf("the ledger tells last of %s; the depot holds generation %d: an activation was cut short, or the depot was changed or "+
		"taken away; activate the policy that is meant to hold", term.OneLine(last, 200), active.Generation)
}

func showStatus(a *cli.App, w io.Writer, out *term.Output, d *statusDocument) error {
	if out.Format == "json" {
		return term.WriteJSON(w, d)
	}
	p := a.Paint(out)
	if d.Policy == "" {
		fmt.Fprintf(w, "%s no policy can be used, so every call is denied\n", p.Verdict("fail"))
	} else {
		fmt.Fprintf(w, "policy %s\n", d.Policy)
	}
	for _, l := range d.Layers {
		fmt.Fprintf(w, "  %s %s\n", term.Pad(l.Layer, 12), l.text())
		for _, problem := range l.Problems {
			fmt.Fprintf(w, "    %s %s\n", p.Verdict("fail"), problem)
		}
	}
	fmt.Fprintln(w, d.Trust.text())
	for _, problem := range d.Problems {
		fmt.Fprintf(w, "%s %s\n", p.Verdict("fail"), problem)
	}
	return nil
}

// text says where a layer is from, and whose it is.
func (l *layerStatus) text() string {
	a := l.Activation
	if a == nil {
		return strings.TrimSpace(l.From + " " + l.At + " " + l.Digest)
	}
	text := here.ReleaseText(a.Release) + fmt.Sprintf("; generation %d since %s by %s", a.Generation, term.Clock(a.At), a.By)
	if a.Expires > 0 {
		text += ", expires " + term.Clock(a.Expires)
	}
	if l.Stale {
		text += " (stale)"
	}
	return text
}

func (t trustStatus) text() string {
	if t.File == "" {
		return "no trust file: whoever may activate a policy, may activate any"
	}
	return fmt.Sprintf("trust file %s, version %d", t.File, t.Version) + term.After(", expires ", t.Expires)
}
