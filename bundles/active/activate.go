package active

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
	"github.com/agent-reviewer/reviewer/bundles/releases"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// Request asks to activate a bundle.
type Request struct {
	File              string // of the archive, for messages
	Path              string // its path, for messages; empty: it was fetched, or is in the store
	Archive, Envelope []byte // envelope nil: there is none
	Layer             string // empty: the one in its manifest
	AllowRollback     bool
	Resume            bool   // activate it although it was rolled back on this machine
	Channel           string // refuse another one; empty: any
	Reason            string

	back *releases.Activation // the activation to roll back to
}

// ActiveKinds are the layers in which bundles can be activated.
func ActiveKinds() []string { return []string{bundles.Base, bundles.Organisation, bundles.User} }

// Read reads an archive, and its envelope if there is one next to it.
func (in *Request) Read(path string) (err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder; pack it with `reviewer policy build %s -o ARCHIVE`, and activate the archive", path, path)
	}
	in.File, in.Path = filepath.Base(path), shellWord(path)
	if in.Archive, err = ReadBounded(path, trust.MaxArchive); err != nil {
		return err
	}
	in.Envelope, err = readThere(path+trust.EnvelopeSuffix, maxEnvelope)
	return err
}

// Activated is the result of an activation.
type Activated struct {
	releases.Activation
	Policy   string   `json:"policy"`  // digest of the active policy of all layers but a project's
	Already  bool     `json:"already"` // it was active before: nothing was done
	Before   string   `json:"before"`  // what was active in the layer
	Changes  string   `json:"changes"` // number of changes; `reviewer policy diff` lists them
	Warnings []string `json:"warnings"`
	Trust    int64    `json:"trust,omitempty"` // version of the trust file; 0: there is none

	Was *bundles.Effective `json:"-"` // what was active before; nil if that could not be read
	Is  *bundles.Effective `json:"-"` // what is active now

	Undo string `json:"-"` // the command that restores what was active before; empty: it would be refused
}

// lockWait is how long to wait for another process that changes what is
// active.
const lockWait = 15 * time.Second

// Activator activates bundles on a machine. Compiling policies and confirming persons
// are functions of the caller.
type Activator struct {
	Machine
	Log *audit.Store
	Now func() int64 // Unix ms

	Check         func(context.Context, *bundles.Effective) error                   // compiles all of a policy
	Try           func(context.Context, *bundles.Effective, map[string]fs.FS) error // makes test decisions with the policy that was checked last: its own examples and cases
	RequirePerson func(what string) (who string, err error)                         // an error unless a person runs the command
	Sign          func(context.Context, Act) (*Signature, error)                    // asks the person to sign, where they have a key; nil: RequirePerson
	RequireScript func(what string) (who string, err error)                         // an error under an agent
	Mask          func(string) string                                               // masks secrets for the ledger
	Line          func(text string, most int) string                                // shortens a text to one line
}

// Act is an activation that a person decides on.
type Act struct {
	What  string // such as "activating a policy"
	Shown string // the whole act in words
	Layer string
	Doc   SignedActivation
}

// Signature is that of a person for an Act.
type Signature struct {
	Who    string
	Record func() error // records it in the ledger; nil: the person has no key
}

// Activate activates a bundle, or returns the reason why not: then the previous
// policy stays active. Refusals are recorded in the ledger, too.
func (a *Activator) Activate(ctx context.Context, in Request) (*Activated, error) {
	s := &activation{Activator: a, in: in, store: Releases(a.Home), doc: &Activated{Warnings: []string{}}, whole: ctx}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	made, err := s.store.Change(ctx, func(state *releases.State) (*releases.Next, error) { return s.decide(ctx, state) })
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	if made != nil {
		s.doc.Activation = *made
		s.doc.Undo = a.Undo(made.Layer)
	}
	s.doc.Policy = s.doc.Is.Digest
	return s.doc, nil
}

// activation is an activation in progress.
type activation struct {
	*Activator
	in    Request
	store *releases.Store
	doc   *Activated

	whole    context.Context // without the limit: a person may take their time
	layer    string
	bundle   *bundles.Bundle // nil: none, in a rollback to no bundle
	limit    Limit
	recorded bool
}

// decide performs all checks of an activation, while the store is locked.
func (s *activation) decide(ctx context.Context, state *releases.State) (*releases.Next, error) {
	for _, lost := range state.Lost {
		s.warn("%v; it is reconstructed from the rest", lost)
	}
	verdict, err := s.verify(ctx, state)
	if err != nil {
		return nil, err
	}
	if err := s.follow(state, s.layer); err != nil {
		return nil, err
	}
	now := state.Active.Layers[s.layer]
	next := s.next(state, verdict)
	s.doc.Before = now.Release.String()
	if same(now.Release, next.Release) && len(state.Lost) == 0 {
		s.doc.Already, s.doc.Activation = true, now
		return nil, s.intact(now)
	}
	if err := s.heldBack(state, next.Release); err != nil {
		return nil, err
	}
	by, err := s.may(verdict, state, next)
	if err != nil {
		return nil, err
	}
	next.By = by.Who
	next.Record = func(made releases.Activation) error {
		if by.Record != nil {
			if err := by.Record(); err != nil {
				return err
			}
		}
		if s.leaves() {
			if err := s.noteChannel(s.whole, s.in.Channel); err != nil {
				return err
			}
		}
		err := s.Log.Note(s.whole, engine.Note{What: audit.NoteActivated, Detail: s.note(made)})
		s.recorded = err == nil
		return err
	}
	return next, nil
}

// heldBack refuses a bundle that was rolled back on this machine and that nothing newer has replaced: otherwise the next
// pull by a timer would bring it back.
func (s *activation) heldBack(state *releases.State, release releases.Release) error {
	if s.in.back != nil || s.in.Resume || release.None() {
		return nil
	}
	for _, rollback := range HeldBack(state.History, s.layer) {
		if rollback.From.Archive != release.Archive {
			continue
		}
		return &trust.Refusal{Code: trust.Held, Err: fmt.Errorf("%s has %s, which was rolled back on this machine by %s; a release with a "+
			"newer sequence is activated as usual, and a person at a terminal activates this one again with --resume and --reason",
			s.in.File, rollback.From, s.Line(rollback.Why(), 400))}
	}
	return nil
}

// Rollback is a rollback that still holds back what it replaced.
type Rollback struct {
	releases.Activation
	From releases.Release // what was active before
}

// Why says who rolled back, and the reason.
func (r Rollback) Why() string {
	if r.Reason == "" {
		return r.By
	}
	return r.By + ": " + r.Reason
}

// HeldBack lists the last rollbacks of a layer, the newest first: what they replaced stays away until something
// newer is active.
func HeldBack(history []releases.Activation, layer string) (list []Rollback) {
	history = slices.DeleteFunc(slices.Clone(history), func(a releases.Activation) bool { return a.Layer != layer })
	for i := len(history) - 1; i > 0 && history[i].Rollback; i-- {
		list = append(list, Rollback{history[i], history[i-1].Release})
	}
	return list
}

func (s *activation) warn(format string, args ...any) {
	s.doc.Warnings = append(s.doc.Warnings, fmt.Sprintf(format, args...))
}

// same reports whether two releases are one, signed by the same keys.
func same(a, b releases.Release) bool {
	return a.Archive == b.Archive && a.Envelope == b.Envelope && a.Unsigned == b.Unsigned && slices.Equal(a.Signers, b.Signers)
}

// intact returns an error if the active bundle was changed in the store and has the
// same identity as the one to activate.
func (s *activation) intact(now releases.Activation) error {
	if now.None() {
		return nil
	}
	_, err := s.store.Archive(now.Release)
	return err
}

// verify checks the bundle, and compiles it with the active layers.
func (s *activation) verify(ctx context.Context, state *releases.State) (trust.Verdict, error) {
	if s.in.Archive == nil { // a rollback to no bundle
		s.layer = s.in.Layer
		return trust.Verdict{Rollback: true}, s.compile(ctx, nil)
	}
	believed, word, err := TrustInForce(s.Log)
	if err != nil {
		return trust.Verdict{}, err
	}
	channel, err := s.channelOf(ctx, believed)
	if err != nil {
		return trust.Verdict{}, err
	}
	v := believed.Check(trust.Candidate{
		File: s.in.File, Path: s.in.Path, Archive: s.in.Archive, Envelope: s.in.Envelope,
		Channel: channel, Now: s.Now(), Latest: word.Latest, AllowRollback: s.in.AllowRollback,
		Highest: func(name, channel string) (trust.Highest, error) {
			if state.SeenLost && !s.in.AllowRollback {
				return trust.Highest{}, errors.New("the store's seen.json was lost; --allow-rollback with a reason recreates it")
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

// channelOf is the channel that the bundle must be on; empty: any. A rollback is not limited to one: a person asks for it.
// The ledger keeps what the setting names.
func (s *activation) channelOf(ctx context.Context, believed Trust) (string, error) {
	if s.in.back != nil {
		return "", nil
	}
	var err error
	if s.limit, err = s.Limit(); err != nil {
		return "", err
	}
	channel, err := s.limit.asked(s.in.Channel)
	switch {
	case err != nil:
		return "", err
	case s.limit.set && s.limit.Channel != s.limit.noted:
		err = s.noteChannel(ctx, s.limit.Channel)
	case s.limit.Kept && !s.leaves():
		s.warn("%s", s.limit.Text())
	}
	if err == nil && channel != "" && believed.None() {
		return "", NoChannels(s.in.File, channel)
	}
	return channel, err
}

// leaves reports whether a release of another channel than the kept one is asked for.
func (s *activation) leaves() bool {
	return s.limit.Kept && s.in.Channel != "" && s.in.Channel != s.limit.Channel
}

func (s *activation) noteChannel(ctx context.Context, name string) error {
	return s.Log.Note(ctx, engine.Note{What: audit.NoteChannel, Detail: name})
}

// NoChannels refuses a bundle that must be on a channel where there is no trust file.
func NoChannels(file, channel string) error {
	return &trust.Refusal{Code: trust.Scope, Err: fmt.Errorf("there is no trust file, so nothing shows that %s is on the channel %s; "+
		"accept a trust file, or ask for no channel (--channel, releases.channel)", file, channel)}
}

// compile combines the bundle with the other active layers, and compiles the result.
// Files nil: the layer has no bundle.
func (s *activation) compile(ctx context.Context, files bundles.Memory) error {
	holds, err := s.Layers("")
	if errors.Is(err, releases.ErrDamaged) { // which the activation repairs
		holds, err = s.layersWith("", &releases.Active{}), nil
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
	others, _, err := holds.load(s.layer)
	if err != nil { // the hook denies everything until these are repaired, too
		s.warn("another layer cannot be read, and every call is denied until that is fixed: %v", err)
	}
	if s.doc.Is, err = overOthers(s.bundle, others); err != nil {
		return err
	}
	if err := s.Check(ctx, s.doc.Is); err != nil {
		return err
	}
	return s.try(ctx, files)
}

// try makes decisions with the policy before it is active. A rollback is only warned
// about: the earlier policy is better than the one that it replaces.
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
		return fmt.Errorf("%s is written for the %s layer, which is in the workspace: put its folder into %s there", s.in.File, s.layer,
			projectDir)
	}
	if err := holds.mayHoldBundle(s.layer); err != nil {
		return err
	}
	s.bundle, err = bundles.Load(files, s.layer)
	return err
}

// overOthers combines a bundle with the other layers, over the built-in base if there
// is no other.
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
func (s *activation) next(state *releases.State, v trust.Verdict) *releases.Next {
	n := &releases.Next{
		Layer: s.layer, Archive: s.in.Archive, Envelope: s.in.Envelope, At: s.Now(),
		Reason: s.in.Reason, Rollback: v.Rollback || s.in.back != nil, Before: state.Active.Layers[s.layer].Generation,
	}
	if s.in.back != nil {
		n.Before = s.in.back.Before
	}
	if s.in.Archive == nil {
		return n
	}
	n.Release = releases.Release{Archive: v.SHA256, Digest: s.bundle.Digest, Unsigned: v.Unsigned, Checked: s.Program()}
	if s.in.Envelope != nil {
		n.Release.Envelope = releases.Sum(s.in.Envelope)
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

// may returns who activates, or an error if nobody may: activating an unsigned policy,
// and rolling back, is a person's decision.
func (s *activation) may(v trust.Verdict, state *releases.State, next *releases.Next) (*Signature, error) {
	var what string
	switch {
	case s.in.back != nil || v.Rollback:
		what = "rolling back to an earlier policy"
	case s.leaves():
		what = fmt.Sprintf("leaving the channel %s for %s", s.limit.Channel, s.in.Channel)
	case s.in.Resume:
		what = "activating a policy that was rolled back"
	case v.Unsigned:
		what = "activating a policy that is unsigned, or not covered by a trust file,"
	case len(state.Lost) > 0:
		what = "repairing the active policy"
	default:
		who, err := s.RequireScript("activating a policy")
		return &Signature{Who: who}, err
	}
	if s.Sign == nil {
		who, err := s.RequirePerson(what)
		return &Signature{Who: who}, err
	}
	doc := ActivationAct(releases.Activation{Layer: next.Layer, Release: next.Release, Rollback: next.Rollback, Reason: next.Reason})
	return s.Sign(s.whole, Act{what, fmt.Sprintf("%s layer: %s", next.Layer, ReleaseText(next.Release)), next.Layer, doc})
}

// failed records a failed activation in the ledger. A refused bundle is a finding.
func (s *activation) failed(ctx context.Context, err error) error {
	what, code := noteFailed, ""
	refusal := (*trust.Refusal)(nil)
	if errors.As(err, &refusal) {
		what, code = noteRefused, "["+string(refusal.Code)+"] "
	}
	if s.recorded || refusal != nil {
		err = errors.Join(err, s.Log.Note(context.WithoutCancel(ctx), engine.Note{What: what, Detail: s.Line(code+s.Mask(err.Error()), 600)}))
	}
	err = fmt.Errorf("not activated: %w; the previous policy stays active", err)
	if refusal != nil {
		return fmt.Errorf("%s%w", code, err)
	}
	return err
}

// Names of ledger records about activated policies.
const (
	noteRefused = "policy_refused"
	noteFailed  = "policy_activation_failed" // after it was recorded
)

// note records an activation in the ledger.
func (a *Activator) note(m releases.Activation) string {
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

// ReleaseText names a release with its digests and signers.
func ReleaseText(r releases.Release) string {
	if r.None() {
		return "no bundle"
	}
	text := strings.TrimSpace(r.Name+" "+r.Version) + fmt.Sprintf(", sequence %d", r.Sequence)
	if r.Channel != "" {
		text += ", channel " + r.Channel
	}
	return fmt.Sprintf("%s, policy %s, archive sha256:%s, %s", text, r.Digest, r.Archive, SignedBy(r))
}

// SignedBy names the signers of a release.
func SignedBy(r releases.Release) string {
	switch {
	case r.None():
		return ""
	case r.Unsigned:
		return "unsigned"
	}
	return "signed by " + strings.Join(r.Signers, ", ")
}
