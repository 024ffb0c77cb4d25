package releasecmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/releases"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/fleet"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func policyStatusCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the active policy, who signed it, and any problems",
		Long: "Verifies the active bundles again: their bytes, their signatures against the current trust file, and\n" +
			"their expiry; and compares them with the ledger. An expired bundle stays active, since having none\n" +
			"would be worse. Exit code 2 if there are problems.",
		Example: "  reviewer policy status\n  reviewer policy status -q || echo the policy needs attention",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := a.OpenStore()
			if err != nil {
				return err
			}
			a.NoteMissingHome()
			doc := StatusOf(cmd.Context(), store, time.Now().UnixMilli())
			if err := out.Write(a.Stdout, func(w io.Writer) error { return showStatus(a, w, &out, doc) }); err != nil {
				return err
			}
			if n := len(doc.Wrong()); n > 0 {
				return &cli.ExitError{Code: cli.ExitFindings}
			}
			return nil
		},
	}
	out.Flags(cmd, "text", "json")
	return cmd
}

// StatusDocument describes what is active on this machine, in any workspace.
type StatusDocument struct {
	Policy   string        `json:"policy,omitempty"`  // digest of the active policy; empty: none, and every call is denied
	Channel  string        `json:"channel,omitempty"` // from which releases are taken; empty: any
	Machine  string        `json:"machine,omitempty"` // its id in status reports; empty: it has none yet
	Kept     string        `json:"kept,omitempty"`    // why that channel counts although no setting names it
	Trust    TrustStatus   `json:"trust"`
	Layers   []LayerStatus `json:"layers"`
	Problems []string      `json:"problems"` // not about a single layer
}

// LayerStatus is the status of a layer.
type LayerStatus struct {
	Layer      string               `json:"layer"`
	From       string               `json:"from"` // bundle, folder, shipped, none
	At         string               `json:"at"`   // where its files are
	Digest     string               `json:"digest,omitempty"`
	Activation *releases.Activation `json:"activation,omitempty"`
	Stale      bool                 `json:"stale"` // expired, or too old for its channel
	Held       []string             `json:"held"`  // bundles that were rolled back, and stay away until a newer release is active
	Problems   []string             `json:"problems"`

	codes        []string // of the problems, for a report
	heldArchives []string
}

func (l *LayerStatus) problem(code, text string) {
	l.Problems, l.codes = append(l.Problems, cli.Masked(text)), append(l.codes, code)
}

// Wrong lists all problems, as `reviewer doctor` prints them.
func (d *StatusDocument) Wrong() []string {
	all := slices.Clone(d.Problems)
	for _, l := range d.Layers {
		for _, problem := range l.Problems {
			all = append(all, l.Layer+" layer: "+problem)
		}
	}
	return all
}

// Held lists what is held back, in all layers.
func (d *StatusDocument) Held() (all []string) {
	for _, l := range d.Layers {
		all = append(all, l.Held...)
	}
	return all
}

func (d *StatusDocument) wrong(err error) {
	if err != nil {
		d.Problems = append(d.Problems, cli.Masked(err.Error()))
	}
}

// StatusOf examines what is active on this machine at a time, in Unix milliseconds.
func StatusOf(ctx context.Context, store *audit.Store, now int64) *StatusDocument {
	doc := &StatusDocument{Layers: []LayerStatus{}, Problems: []string{}}
	believed, trusted := TrustOf(store, now)
	doc.Trust = trusted
	if trusted.Problem != "" {
		doc.Problems = append(doc.Problems, trusted.Problem)
	}
	id, err := knownMachineID(store.Dir)
	if err == nil {
		doc.Machine = id
	} else if !errors.Is(err, fs.ErrNotExist) {
		doc.wrong(err)
	}
	holds, err := cli.MachineAt(store.Dir).Layers("")
	if err != nil {
		doc.wrong(err)
		return doc
	}
	limit, err := cli.MachineAt(store.Dir).Limit()
	doc.wrong(err)
	doc.Channel, doc.Kept = limit.Channel, limit.Text()
	state, err := holds.Releases.State()
	if err != nil {
		doc.wrong(err)
		state = &releases.State{}
	}
	for _, lost := range state.Lost {
		doc.wrong(lost)
	}
	for _, layer := range bundles.Layers() {
		doc.layer(holds, believed, layer, now)
	}
	for i := range doc.Layers {
		doc.Layers[i].held(state.History, believed)
	}
	doc.wrong(agreesWithLedger(store, holds.Active))
	doc.Problems = append(doc.Problems, holds.Disbelieved()...)
	doc.whole(ctx, holds)
	if own, err := cli.MachineAt(store.Dir).Own(); err == nil && own.Text() != "" {
		doc.Problems = append(doc.Problems, cli.Masked(own.Text()))
	}
	return doc
}

// layer checks one layer, if it exists.
func (d *StatusDocument) layer(holds *active.Layers, believed active.Trust, layer string, now int64) {
	s, err := holds.Source(layer)
	l := LayerStatus{Layer: layer, Held: []string{}, Problems: []string{}}
	if s == nil && err == nil {
		d.emptied(holds, l)
		return
	}
	if a, ok := holds.Active.Layers[layer]; ok && !a.None() {
		l.From, l.Activation, l.At = "bundle", &a, holds.Releases.Path(a.Release)
	}
	if err == nil {
		err = l.look(holds, believed, s, now)
	}
	if refusal := (*trust.Refusal)(nil); errors.As(err, &refusal) {
		l.problem(string(refusal.Code), err.Error())
	} else if err != nil {
		l.problem(fleet.Problem, err.Error())
	}
	if l.Activation != nil && d.Channel != "" && l.Activation.Channel != d.Channel {
		l.problem(fleet.OffChannel, fmt.Sprintf("it is from %s, and this machine takes releases of the channel %s only (releases.channel): "+
			"activate one of those", cmp.Or(term.After("the channel ", l.Activation.Channel), "no channel"), d.Channel))
	}
	d.Layers = append(d.Layers, l)
}

// emptied shows a layer that was rolled back to no bundle and has no folder. In the organisation's that is a problem.
func (d *StatusDocument) emptied(holds *active.Layers, l LayerStatus) {
	a, there := holds.Active.Layers[l.Layer]
	if !there || !a.None() || !a.Rollback {
		return
	}
	l.From, l.Activation = "none", &a
	if l.Layer == bundles.Organisation {
		l.problem(fleet.NoRelease, "its bundle was rolled back, and nothing took its place: activate a newer release, or `reviewer policy "+
			"activate ARCHIVE --resume --reason TEXT` by a person")
	}
	d.Layers = append(d.Layers, l)
}

// held lists what was rolled back, each bundle once.
func (l *LayerStatus) held(history []releases.Activation, believed active.Trust) {
	for _, r := range active.HeldBack(history, l.Layer) {
		but := "(or a person at a terminal adds --resume and --reason)"
		if !believed.None() && slices.Contains(believed.Revoked, r.From.Archive) {
			but = "(the trust file revokes it, so --resume does not help)"
		}
		text := fmt.Sprintf("%s was rolled back by %s, and stays away until a newer release is active %s", r.From, r.Why(), but)
		if text = cli.Masked(text); !slices.Contains(l.Held, text) && r.From.Archive != "" {
			l.Held, l.heldArchives = append(l.Held, text), append(l.heldArchives, r.From.Archive)
		}
	}
}

func (l *LayerStatus) look(holds *active.Layers, believed active.Trust, s *active.Source, now int64) error {
	l.At = s.At
	switch {
	case s.Activation != nil:
		l.From = "bundle"
	case s.At == active.ShippedPlace:
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

// verify checks a bundle's signatures and age against the active trust file.
func (l *LayerStatus) verify(holds *active.Layers, believed active.Trust, now int64) error {
	raw, err := holds.Releases.Archive(l.Activation.Release)
	if err != nil {
		return err
	}
	envelope, err := holds.Releases.Envelope(l.Activation.Release)
	if err != nil {
		return err
	}
	v := believed.Check(trust.Candidate{File: l.Activation.Release.String(), Archive: raw, Envelope: envelope, Now: now})
	l.Stale = v.Code == trust.Expired
	if v.Code == trust.Revoked {
		v.Reason += ": `reviewer policy pull PLACE --activate`; until then this one stays active"
	}
	return v.Err()
}

// whole compiles all layers together.
func (d *StatusDocument) whole(ctx context.Context, holds *active.Layers) {
	for _, l := range d.Layers {
		if l.Digest == "" && l.Layer != bundles.User && l.From != "none" {
			return // already reported, and nothing is active
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

// agreesWithLedger returns an error if the ledger records another activation.
func agreesWithLedger(store *audit.Store, now *releases.Active) error {
	last, err := active.LaterInLedger(store, now)
	if err != nil || last == "" {
		return err
	}
	return fmt.Errorf("the ledger ends with %s, but the store has generation %d: an activation was interrupted, or the store changed or "+
		"was removed; activate the intended policy", term.OneLine(last, 200), now.Generation)
}

func showStatus(a *cli.App, w io.Writer, out *term.Output, d *StatusDocument) error {
	if out.Format == "json" {
		return term.WriteDocument(w, d)
	}
	text := &bytes.Buffer{}
	defer func() { _, _ = io.WriteString(w, term.WrapLines(text.String(), a.Columns(out))) }()
	p := a.Paint(out)
	if d.Policy == "" {
		fmt.Fprintf(text, "%s no usable policy, so every call is denied\n", p.Verdict("fail"))
	} else {
		fmt.Fprintf(text, "policy %s\n", d.Policy)
	}
	for _, l := range d.Layers {
		fmt.Fprintf(text, "  %s %s\n", term.Pad(l.Layer, 12), l.text())
		for _, problem := range l.Problems {
			fmt.Fprintf(text, "    %s %s\n", p.Verdict("fail"), problem)
		}
		for _, held := range l.Held {
			fmt.Fprintf(text, "    held %s\n", term.OneLine(held, 600))
		}
	}
	if d.Channel != "" {
		fmt.Fprintf(text, "releases of the channel %s only%s\n", d.Channel, term.After(": ", d.Kept))
	}
	if d.Machine != "" {
		fmt.Fprintf(text, "machine %s\n", d.Machine)
	}
	fmt.Fprintln(text, d.Trust.Text(p))
	for _, problem := range d.Problems {
		if problem == d.Trust.Problem {
			continue // already reported
		}
		fmt.Fprintf(text, "%s %s\n", p.Verdict("fail"), problem)
	}
	return nil
}

// text describes where a layer comes from and who signed it.
func (l *LayerStatus) text() string {
	a := l.Activation
	if a == nil {
		return strings.TrimSpace(l.From + " " + l.At + " " + l.Digest)
	}
	text := active.ReleaseText(a.Release) + fmt.Sprintf("; generation %d since %s by %s", a.Generation, term.Clock(a.At), a.By)
	if a.Expires > 0 {
		text += ", expires " + term.Clock(a.Expires)
	}
	if l.Stale {
		text += " (stale)"
	}
	return text
}
