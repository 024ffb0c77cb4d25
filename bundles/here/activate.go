package here

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/depot"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// Request is a bundle that is to hold.
type Request struct {
	File              string // of the archive, for messages
	Archive, Envelope []byte // envelope nil: there is none
	Layer             string // empty: the one that its manifest says
	AllowRollback     bool
	Reason            string

	back *depot.Activation // what is gone back to, in a rollback
}

// ActiveKinds are the layers in which bundles can be activated.
func ActiveKinds() []string { return []string{bundles.Base, bundles.Organisation, bundles.User} }

// Read reads an archive, and its envelope where one lies beside it.
func (in *Request) Read(path string) (err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder; make an archive of it with `reviewer policy build %s -o ARCHIVE`, and activate that", path, path)
	}
	in.File = filepath.Base(path)
	if in.Archive, err = ReadBounded(path, trust.MaxArchive); err != nil {
		return err
	}
	in.Envelope, err = readThere(path+trust.EnvelopeSuffix, maxEnvelope)
	return err
}

// Activated is what became active.
type Activated struct {
	depot.Activation
	Policy   string   `json:"policy"`  // digest of what holds now, all layers together but a project's
	Already  bool     `json:"already"` // it was active before: nothing was done
	Before   string   `json:"before"`  // what was active in the layer
	Changes  string   `json:"changes"` // counted; `reviewer policy diff` tells them
	Warnings []string `json:"warnings"`
	Trust    int64    `json:"trust,omitempty"` // version of the trust file; 0: there is none

	Was *bundles.Effective `json:"-"` // what held before; nil where that could not be read
	Is  *bundles.Effective `json:"-"` // what holds now
}

// waitForDepot is how long another process may take that changes what is active.
const waitForDepot = 15 * time.Second

// Activator makes bundles active on a machine. What it needs to know of policies
// and of people is handed to it.
type Activator struct {
	Machine
	Log *audit.Store
	Now func() int64 // Unix ms

	Check  func(context.Context, *bundles.Effective) error                   // compiles all of a policy
	Try    func(context.Context, *bundles.Effective, map[string]fs.FS) error // decides with the policy last checked, about what its own layers hold
	Person func(what string) (who string, err error)                         // an error unless a person is at work
	Script func(what string) (who string, err error)                         // an error below an agent
	Mask   func(string) string                                               // takes secrets out of what goes into the ledger
	Line   func(text string, most int) string                                // makes one line of it
}

// Activate makes a bundle active, or says why not: then what held still holds.
// Refusals are in the ledger, too.
func (a *Activator) Activate(ctx context.Context, in Request) (*Activated, error) {
	ctx, cancel := context.WithTimeout(ctx, waitForDepot)
	defer cancel()
	s := &activation{Activator: a, in: in, depot: Depot(a.Home), doc: &Activated{Warnings: []string{}}}
	made, err := s.depot.Change(ctx, func(state *depot.State) (*depot.Next, error) { return s.decide(ctx, state) })
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	if made != nil {
		s.doc.Activation = *made
	}
	s.doc.Policy = s.doc.Is.Digest
	return s.doc, nil
}

// activation is one on its way.
type activation struct {
	*Activator
	in    Request
	depot *depot.Depot
	doc   *Activated

	layer    string
	bundle   *bundles.Bundle // nil: none, in a rollback to no bundle
	recorded bool
}

// decide looks at everything that can be said against an activation, while nobody
// else changes what is active.
func (s *activation) decide(ctx context.Context, state *depot.State) (*depot.Next, error) {
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
	if next.By, err = s.may(verdict, state); err != nil {
		return nil, err
	}
	next.Record = func(made depot.Activation) error {
		err := s.Log.Note(ctx, engine.Note{What: noteActivated, Detail: s.note(made)})
		s.recorded = err == nil
		return err
	}
	return next, nil
}

func (s *activation) warn(format string, args ...any) {
	s.doc.Warnings = append(s.doc.Warnings, fmt.Sprintf(format, args...))
}

// same says that two releases are one, signed by the same keys.
func same(a, b depot.Release) bool {
	return a.Archive == b.Archive && a.Envelope == b.Envelope && a.Unsigned == b.Unsigned && slices.Equal(a.Signers, b.Signers)
}

// intact is an error where what is active was changed since, and would be taken
// for what is to be activated.
func (s *activation) intact(now depot.Activation) error {
	if now.None() {
		return nil
	}
	_, err := s.depot.Archive(now.Release)
	return err
}

// verify checks the bundle, and compiles it with the layers that hold.
func (s *activation) verify(ctx context.Context, state *depot.State) (trust.Verdict, error) {
	if s.in.Archive == nil { // a rollback to no bundle
		s.layer = s.in.Layer
		return trust.Verdict{Rollback: true}, s.compile(ctx, nil)
	}
	believed, word, err := TrustInForce(s.Log)
	if err != nil {
		return trust.Verdict{}, err
	}
	v := believed.Check(trust.Candidate{
		File: s.in.File, Archive: s.in.Archive, Envelope: s.in.Envelope,
		Now: s.Now(), Latest: word.Latest, AllowRollback: s.in.AllowRollback,
		Highest: func(name, channel string) (trust.Highest, error) {
			if state.SeenLost && !s.in.AllowRollback {
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
func (s *activation) compile(ctx context.Context, files bundles.Memory) error {
	holds, err := s.Layers("")
	if errors.Is(err, depot.ErrDamaged) { // which this mends
		holds, err = s.layersWith("", &depot.Active{}), nil
	}
	if err != nil {
		return err
	}
	if before, err := holds.Effective(); err == nil {
		s.doc.Was = before
	}
	if err := s.load(holds, files); err != nil {
		return err
	}
	others, err := holds.load(s.layer)
	if err != nil { // the hook denies everything until these are mended, too
		s.warn("another layer cannot be read, and every call is denied until that is mended: %v", err)
	}
	if s.doc.Is, err = overOthers(s.bundle, others); err != nil {
		return err
	}
	if err := s.Check(ctx, s.doc.Is); err != nil {
		return err
	}
	return s.try(ctx, files)
}

// try has the policy decide before it holds. Who goes back is only warned: what
// was active before is better than what is gone back from.
func (s *activation) try(ctx context.Context, files bundles.Memory) error {
	own := map[string]fs.FS{}
	if files != nil {
		own[s.layer] = files
	}
	err := s.Try(ctx, s.doc.Is, own)
	if err != nil && (files == nil || s.in.back != nil) {
		s.warn("%v", err)
		return nil
	}
	return err
}

// load reads the bundle, and finds its layer.
func (s *activation) load(holds *Layers, files bundles.Memory) (err error) {
	if files == nil {
		return nil
	}
	if s.layer, err = bundles.LayerOf(files); err != nil {
		return err
	}
	switch {
	case s.in.Layer != "" && s.in.Layer != s.layer:
		return fmt.Errorf("%s is written for the %s layer; expected %s", s.in.File, s.layer, s.in.Layer)
	case !slices.Contains(ActiveKinds(), s.layer):
		return fmt.Errorf("%s is written for the %s layer, which lies in the workspace: put its folder into %s there", s.in.File, s.layer,
			projectDir)
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
func (s *activation) next(state *depot.State, v trust.Verdict) *depot.Next {
	n := &depot.Next{
		Layer: s.layer, Archive: s.in.Archive, Envelope: s.in.Envelope, At: s.Now(),
		Reason: s.in.Reason, Rollback: v.Rollback || s.in.back != nil, Before: state.Active.Layers[s.layer].Generation,
	}
	if s.in.back != nil {
		n.Before = s.in.back.Before
	}
	if s.in.Archive == nil {
		return n
	}
	n.Release = depot.Release{Archive: v.SHA256, Digest: s.bundle.Digest, Unsigned: v.Unsigned, Checked: s.Program()}
	if s.in.Envelope != nil {
		n.Release.Envelope = depot.Sum(s.in.Envelope)
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

// may says who activates, or why nobody here may: what nobody vouched for, and
// what goes back, is a person's decision.
func (s *activation) may(v trust.Verdict, state *depot.State) (string, error) {
	switch {
	case s.in.back != nil || v.Rollback:
		return s.Person("going back to an earlier policy")
	case v.Unsigned:
		return s.Person("activating a policy that nobody signed, or that no trust file vouches for,")
	case len(state.Lost) > 0:
		return s.Person("mending what is active")
	}
	return s.Script("activating a policy")
}

// failed notes in the ledger what was not activated. A bundle that is refused is
// a finding.
func (s *activation) failed(ctx context.Context, err error) error {
	what, code := noteFailed, ""
	refusal := (*trust.Refusal)(nil)
	if errors.As(err, &refusal) {
		what, code = noteRefused, "["+string(refusal.Code)+"] "
	}
	if s.recorded || refusal != nil {
		err = errors.Join(err, s.Log.Note(context.WithoutCancel(ctx), engine.Note{What: what, Detail: s.Line(code+s.Mask(err.Error()), 600)}))
	}
	err = fmt.Errorf("not activated: %w; what held before still holds", err)
	if refusal != nil {
		return fmt.Errorf("%s%w", code, err)
	}
	return err
}

// What the ledger calls what happened to activated policies.
const (
	noteActivated = "policy_activated"
	noteRefused   = "policy_refused"
	noteFailed    = "policy_activation_failed" // after it was recorded
)

// note tells the ledger all of an activation.
func (a *Activator) note(m depot.Activation) string {
	text := fmt.Sprintf("generation %d, %s layer: %s", m.Generation, m.Layer, ReleaseText(m.Release))
	if m.Rollback {
		text += ", rollback"
	}
	text += ", by " + m.By
	if m.Reason != "" {
		text += ": " + a.Line(m.Reason, 400)
	}
	return text
}

// ReleaseText names a release with its digests and whose it is.
func ReleaseText(r depot.Release) string {
	if r.None() {
		return "no bundle"
	}
	text := strings.TrimSpace(r.Name+" "+r.Version) + fmt.Sprintf(", sequence %d", r.Sequence)
	if r.Channel != "" {
		text += ", channel " + r.Channel
	}
	return fmt.Sprintf("%s, policy %s, archive sha256:%s, %s", text, r.Digest, r.Archive, SignedBy(r))
}

// SignedBy says whose a release is.
func SignedBy(r depot.Release) string {
	switch {
	case r.None():
		return ""
	case r.Unsigned:
		return "unsigned"
	}
	return "signed by " + strings.Join(r.Signers, ", ")
}
