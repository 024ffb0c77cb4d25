package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/depot"
	"github.com/agent-reviewer/reviewer/bundles/diff"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/rego"
)

func (a *app) policyActivateCommand() *cobra.Command {
	var in activating
	var out output
	cmd := &cobra.Command{
		Use:   "activate ARCHIVE",
		Short: "Verify a policy bundle, keep it, and let it hold from the next call on",
		Long: "ARCHIVE is what `reviewer policy build` made; the signatures lie beside it in ARCHIVE.dsse.json.\n" +
			"It is verified (see `reviewer policy verify`), compiled together with the layers that hold, tried with\n" +
			"OPA's rule index and early exit and without, kept, and made active in its layer at once: what goes wrong\n" +
			"before leaves the policy that holds as it is. Where that is a bundle already, `reviewer policy rollback`\n" +
			"goes back to it. The ledger tells of it.\n\n" +
			"Where a trust file vouches for the bundle, and it is not older than what was seen, the command may run\n" +
			"in a script or in CI: those who signed have decided. Otherwise it takes a person at a terminal. Below\n" +
			"an agent it never runs.",
		Example: "  reviewer policy activate acme-1.4.0.tar.gz\n  reviewer policy activate acme-1.3.0.tar.gz --allow-rollback --reason 'too many false alarms'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(out.known(), in.known()); err != nil {
				return err
			}
			if err := in.read(args[0]); err != nil {
				return err
			}
			doc, err := a.activate(cmd.Context(), in)
			if err != nil {
				return err
			}
			return out.write(a, func(w io.Writer) error { return a.showActivated(w, &out, doc) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.layer, "layer", "", "refuse the bundle unless it is of this layer: base, organisation or user")
	f.BoolVar(&in.allowRollback, "allow-rollback", false, "allow a lower sequence than was seen; needs --reason and a person at a terminal")
	f.StringVar(&in.reason, "reason", "", "why, for the log")
	out.flags(cmd, "text", "json")
	return cmd
}

// activating is a bundle that is to hold.
type activating struct {
	file              string // of the archive, for messages
	archive, envelope []byte // envelope nil: there is none
	layer             string // empty: the one that its manifest says
	allowRollback     bool
	reason            string

	back *depot.Activation // what is gone back to, in a rollback
}

// activeKinds are the layers in which bundles can be activated.
func activeKinds() []string { return []string{bundles.Base, bundles.Organisation, bundles.User} }

func (in *activating) known() error {
	switch {
	case in.allowRollback && strings.TrimSpace(in.reason) == "":
		return errors.New("--allow-rollback needs --reason TEXT, for the log")
	case in.layer != "" && !slices.Contains(activeKinds(), in.layer):
		return fmt.Errorf("--layer %s: expected one of %s", in.layer, strings.Join(activeKinds(), ", "))
	}
	return nil
}

// read reads an archive, and its envelope where one lies beside it.
func (in *activating) read(path string) (err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder; make an archive of it with `reviewer policy build %s -o ARCHIVE`, and activate that", path, path)
	}
	in.file = filepath.Base(path)
	if in.archive, err = readBounded(path, trust.MaxArchive); err != nil {
		return err
	}
	in.envelope, err = readThere(path+trust.EnvelopeSuffix, maxEnvelope)
	return err
}

// readBounded reads a plain file of at most so many bytes.
func readBounded(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such file: %w", path, fs.ErrNotExist)
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no plain file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%s has more than %d bytes, which is the most that such a file may have", path, most)
	}
	return b, err
}

// activationDocument is what became active.
type activationDocument struct {
	depot.Activation
	Policy   string   `json:"policy"`  // digest of what holds now, all layers together but a project's
	Already  bool     `json:"already"` // it was active before: nothing was done
	Before   string   `json:"before"`  // what was active in the layer
	Changes  string   `json:"changes"` // counted; `reviewer policy diff` tells them
	Warnings []string `json:"warnings"`
	Trust    int64    `json:"trust,omitempty"` // version of the trust file; 0: there is none
}

// activate makes a bundle active, or says why not: then what held still holds.
// Refusals are in the ledger, too.
func (a *app) activate(ctx context.Context, in activating) (*activationDocument, error) {
	store, err := a.openStore()
	if err != nil {
		return nil, err
	}
	if in.reason, err = withoutSecrets(store, in.reason); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, waitForDepot)
	defer cancel()
	s := &switching{app: a, store: store, in: in, depot: policyDepot(store.Dir), doc: &activationDocument{Warnings: []string{}}}
	made, err := s.depot.Change(ctx, func(state *depot.State) (*depot.Next, error) { return s.decide(ctx, state) })
	return s.ended(ctx, made, err)
}

// waitForDepot is how long another process may take that changes what is active.
const waitForDepot = 15 * time.Second

// switching is an activation on its way.
type switching struct {
	app   *app
	store *audit.Store
	in    activating
	depot *depot.Depot
	doc   *activationDocument

	layer         string
	bundle        *bundles.Bundle    // nil: none, in a rollback to no bundle
	before, after *bundles.Effective // before nil: what held could not be read
	recorded      bool
}

// decide looks at everything that can be said against an activation, while nobody
// else changes what is active.
func (s *switching) decide(ctx context.Context, state *depot.State) (*depot.Next, error) {
	for _, lost := range state.Lost {
		s.warn("%v; it is made up of the rest", lost)
	}
	verdict, err := s.verify(ctx, state)
	if err != nil {
		return nil, err
	}
	now := state.Active.Layers[s.layer]
	next := s.next(state, verdict)
	s.doc.Before = now.Release.String()
	if same(now.Release, next.Release) && len(state.Lost) == 0 {
		s.doc.Already, s.doc.Activation = true, now
		return nil, s.intact(now)
	}
	if next.By, err = s.app.mayActivate(verdict, state, s.in); err != nil {
		return nil, err
	}
	next.Record = func(made depot.Activation) error {
		err := s.store.Note(ctx, engine.Note{What: noteActivated, Detail: activationNote(made)})
		s.recorded = err == nil
		return err
	}
	return next, nil
}

func (s *switching) warn(format string, args ...any) {
	s.doc.Warnings = append(s.doc.Warnings, fmt.Sprintf(format, args...))
}

// same says that two releases are one, signed by the same keys.
func same(a, b depot.Release) bool {
	return a.Archive == b.Archive && a.Envelope == b.Envelope && a.Unsigned == b.Unsigned && slices.Equal(a.Signers, b.Signers)
}

// intact is an error where what is active was changed since, and would be taken
// for what is to be activated.
func (s *switching) intact(now depot.Activation) error {
	if now.None() {
		return nil
	}
	_, err := s.depot.Archive(now.Release)
	return err
}

// verify checks the bundle, and compiles it with the layers that hold.
func (s *switching) verify(ctx context.Context, state *depot.State) (trust.Verdict, error) {
	if s.in.archive == nil { // a rollback to no bundle
		s.layer = s.in.layer
		return trust.Verdict{Rollback: true}, s.compile(ctx, nil)
	}
	here, word, err := trustInForce(s.store)
	if err != nil {
		return trust.Verdict{}, err
	}
	v := here.Check(trust.Candidate{
		File: s.in.file, Archive: s.in.archive, Envelope: s.in.envelope,
		Now: time.Now().UnixMilli(), Latest: word.latest, AllowRollback: s.in.allowRollback,
		Highest: func(name, channel string) (trust.Highest, error) {
			if state.SeenLost && !s.in.allowRollback {
				return trust.Highest{}, errors.New("the depot's seen.json was lost; with --allow-rollback and a reason it is made anew")
			}
			h := state.Seen.Of(name, channel)
			return trust.Highest{Sequence: h.Sequence, SHA256: h.Archive}, nil
		},
		Compile: func(files bundles.Memory) (string, error) {
			if err := s.compile(ctx, files); err != nil {
				return "", err
			}
			return s.bundle.Digest, nil
		},
	})
	for _, w := range v.Warnings {
		s.warn("%s", w)
	}
	s.doc.Trust = v.Trust
	return v, v.Err()
}

// compile puts the bundle among the layers that hold, and compiles the whole.
// Files nil: the layer goes without a bundle.
func (s *switching) compile(ctx context.Context, files bundles.Memory) error {
	holds, err := holdingIn(s.store.Dir, "")
	if errors.Is(err, depot.ErrDamaged) { // which this mends
		holds, err = newHolding(s.store.Dir, "", &depot.Active{}), nil
	}
	if err != nil {
		return err
	}
	if before, err := holds.effective(); err == nil {
		s.before = before
	}
	if err := s.load(holds, files); err != nil {
		return err
	}
	others, err := holds.load(s.layer)
	if err != nil { // the hook denies everything until these are mended, too
		s.warn("another layer cannot be read, and every call is denied until that is mended: %v", err)
	}
	if s.after, err = overOthers(s.bundle, others); err != nil {
		return err
	}
	host, err := compileChecked(ctx, s.after)
	if err != nil {
		return err
	}
	return s.twice(ctx, host, files)
}

// twice refuses a bundle with which a decision hangs on OPA's shortcuts. Who goes
// back is only told: what was active before is better than what is gone back from.
func (s *switching) twice(ctx context.Context, host *rego.Host, files bundles.Memory) error {
	own := map[string]fs.FS{}
	if files != nil {
		own[s.layer] = files
	}
	found, err := decidedTwice(ctx, s.after, host, own)
	if err == nil {
		err = shortcutsMatter(found)
	}
	if err != nil && (files == nil || s.in.back != nil) {
		s.warn("%v", err)
		return nil
	}
	return err
}

// load reads the bundle, and finds its layer.
func (s *switching) load(holds *holding, files bundles.Memory) (err error) {
	if files == nil {
		return nil
	}
	if s.layer, err = bundles.LayerOf(files); err != nil {
		return err
	}
	switch {
	case s.in.layer != "" && s.in.layer != s.layer:
		return fmt.Errorf("%s is written for the %s layer; expected %s", s.in.file, s.layer, s.in.layer)
	case !slices.Contains(activeKinds(), s.layer):
		return fmt.Errorf("%s is written for the %s layer, which lies in the workspace: put its folder into %s there", s.in.file, s.layer, projectDir)
	}
	if err := holds.mayHoldBundle(s.layer); err != nil {
		return err
	}
	s.bundle, err = bundles.Load(files, s.layer)
	return err
}

// overOthers puts a bundle among the other layers, over the base that ships where
// there is no other one.
func overOthers(b *bundles.Bundle, others []*bundles.Bundle) (*bundles.Effective, error) {
	layers := slices.Clone(others)
	if b != nil {
		layers = append(layers, b)
	}
	if !slices.ContainsFunc(layers, func(l *bundles.Bundle) bool { return l.Layer == bundles.Base }) {
		base, err := bundles.Default()
		if err != nil {
			return nil, err
		}
		layers = append(layers, base)
	}
	slices.SortFunc(layers, func(x, y *bundles.Bundle) int {
		return slices.Index(bundles.Layers(), x.Layer) - slices.Index(bundles.Layers(), y.Layer)
	})
	return bundles.Assemble(layers...)
}

// next is the change that makes the bundle active.
func (s *switching) next(state *depot.State, v trust.Verdict) *depot.Next {
	n := &depot.Next{
		Layer: s.layer, Archive: s.in.archive, Envelope: s.in.envelope, At: time.Now().UnixMilli(),
		Reason: s.in.reason, Rollback: v.Rollback || s.in.back != nil, Before: state.Active.Layers[s.layer].Generation,
	}
	if s.in.back != nil {
		n.Before = s.in.back.Before
	}
	if s.in.archive == nil {
		return n
	}
	n.Release = depot.Release{Archive: v.SHA256, Digest: s.bundle.Digest, Unsigned: v.Unsigned, Checked: thisProgram()}
	if s.in.envelope != nil {
		n.Release.Envelope = depot.Sum(s.in.envelope)
	}
	for _, signer := range v.Signers {
		n.Release.Signers = append(n.Release.Signers, signer.Key)
	}
	if r := v.Release; r != nil {
		n.Release.Name, n.Release.Version, n.Release.Channel = r.Name, r.Version, r.Channel
		n.Release.Sequence, n.Release.Expires = r.Sequence, int64(r.Expires)
	}
	return n
}

// mayActivate says who activates, or why nobody here may: what nobody vouched
// for, and what goes back, is a person's decision.
func (a *app) mayActivate(v trust.Verdict, state *depot.State, in activating) (string, error) {
	switch {
	case in.back != nil || v.Rollback:
		return a.person("going back to an earlier policy")
	case v.Unsigned:
		return a.person("activating a policy that nobody signed, or that no trust file vouches for,")
	case len(state.Lost) > 0:
		return a.person("mending what is active")
	}
	return a.noAgent("activating a policy")
}

// ended records how an activation ended, and says what holds now.
func (s *switching) ended(ctx context.Context, made *depot.Activation, err error) (*activationDocument, error) {
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	if made != nil {
		s.doc.Activation = *made
	}
	s.doc.Policy = s.after.Digest
	s.doc.Changes = s.changes()
	return s.doc, nil
}

// failed notes in the ledger what was not activated. A bundle that is refused is
// a finding.
func (s *switching) failed(ctx context.Context, err error) error {
	what, code := noteFailed, ""
	refusal := (*trust.Refusal)(nil)
	if errors.As(err, &refusal) {
		what, code = noteRefused, "["+string(refusal.Code)+"] "
	}
	if s.recorded || refusal != nil {
		err = errors.Join(err, s.store.Note(context.WithoutCancel(ctx), engine.Note{What: what, Detail: oneLine(code+told(err.Error()), 600)}))
	}
	err = fmt.Errorf("not activated: %w; what held before still holds", err)
	if refusal != nil {
		return &exitError{exitFindings, fmt.Errorf("%s%w", code, err)}
	}
	return err
}

// changes counts what differs from what held before.
func (s *switching) changes() string {
	if s.before == nil {
		return "what held before cannot be read, so what changed is not known"
	}
	c, err := diff.Policies(s.before, s.after, changedRego)
	if err != nil {
		return "what changed cannot be told: " + err.Error()
	}
	return diffSummary(c)
}

// changedRego compares modules that are not the same to the byte: reading all of
// a policy's Rego takes longer than everything else about an activation.
func changedRego(before, after map[string]string) (map[string][2][]string, error) {
	was, is := maps.Clone(before), maps.Clone(after)
	for name, text := range before {
		if after[name] == text {
			delete(was, name)
			delete(is, name)
		}
	}
	return rego.Differences(was, is)
}

// What the ledger calls what happened to activated policies.
const (
	noteActivated = "policy_activated"
	noteRefused   = "policy_refused"
	noteFailed    = "policy_activation_failed" // after it was recorded
)

// activationNote tells the ledger all of an activation.
func activationNote(m depot.Activation) string {
	text := fmt.Sprintf("generation %d, %s layer: %s", m.Generation, m.Layer, releaseText(m.Release))
	if m.Rollback {
		text += ", rollback"
	}
	text += ", by " + m.By
	return text + after(": ", oneLine(m.Reason, 400))
}

// releaseText names a release with its digests and whose it is.
func releaseText(r depot.Release) string {
	if r.None() {
		return "no bundle"
	}
	text := strings.TrimSpace(r.Name+" "+r.Version) + fmt.Sprintf(", sequence %d", r.Sequence) + after(", channel ", r.Channel)
	return fmt.Sprintf("%s, policy %s, archive sha256:%s, %s", text, r.Digest, r.Archive, signedBy(r))
}

// signedBy says whose a release is.
func signedBy(r depot.Release) string {
	switch {
	case r.None():
		return ""
	case r.Unsigned:
		return "unsigned"
	}
	return "signed by " + strings.Join(r.Signers, ", ")
}

func (a *app) showActivated(w io.Writer, out *output, d *activationDocument) error {
	if out.format == "json" {
		return writeJSON(w, d)
	}
	p := a.paint(out)
	for _, warning := range d.Warnings {
		fmt.Fprintf(w, "%s %s\n", p.verdict("warn"), told(warning))
	}
	if d.Already {
		fmt.Fprintf(w, "%s is active in the %s layer already (generation %d)\n", d.Release, d.Layer, d.Generation)
		return nil
	}
	fmt.Fprintf(w, "%s layer: %s\n", d.Layer, releaseText(d.Release))
	fmt.Fprintf(w, "before: %s\n%s\n", d.Before, d.Changes)
	fmt.Fprintf(w, "Active as generation %d since %s, for every call from now on. The policy as a whole is %s.\n", d.Generation, clock(d.At), d.Policy)
	if !d.Rollback {
		fmt.Fprintf(w, "To go back: reviewer policy rollback --layer %s --reason TEXT\n", d.Layer)
	}
	return nil
}
