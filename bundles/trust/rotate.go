package trust

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/engine"
)

// StatementType is the predicate type of a trust file's statement.
const StatementType = "https://github.com/agent-reviewer/reviewer/policy-trust/v1"

// Statement is the signed statement about a trust file: its whole text. So the
// envelope alone is sufficient, even if the file next to it has not been
// replaced yet.
type Statement struct {
	Version  int64  `json:"version"`
	Document string `json:"document"` // the file, byte for byte
}

// PredicateType implements signing.Predicate.
func (Statement) PredicateType() string { return StatementType }

// Check implements signing.Predicate.
func (s Statement) Check() error {
	if s.Version < 1 || s.Document == "" || len(s.Document) > MaxFile {
		return fmt.Errorf("a trust file of version %d with %d bytes; expected a version of at least 1, and 1 to %d bytes", s.Version,
			len(s.Document), MaxFile)
	}
	return nil
}

// Seal returns a trust file in an unsigned envelope.
func (t *Trust) Seal() (*signing.Envelope, error) {
	return signing.Seal(signing.SubjectOf(FileName, t.raw), Statement{t.Version, string(t.raw)})
}

// Files is a trust file and its envelope, both encoded. Both nil: there is no
// trust file.
type Files struct{ Document, Envelope []byte }

// None reports whether there is no trust file.
func (f Files) None() bool { return f.Document == nil && f.Envelope == nil }

// Pin is the trust file that this machine used last. The zero value: none.
type Pin struct {
	Version int64
	SHA256  string // of the file
}

// Sum returns the digest that identifies a trust file in the ledger.
func Sum(document []byte) string { return signing.SHA256(document) }

// Pin returns the entry of a trust file in the ledger.
func (t *Trust) Pin() Pin { return Pin{t.Version, t.SHA256} }

// Open reads the active trust file, and checks that it is signed by its own root, and
// is neither older than the one used last nor a different one of the same version. A
// nil Trust without an error: there never was one.
//
// After an interrupted rotation the envelope is new and the file old. Then the new one
// is active, if it may follow the old one.
func Open(f Files, pin Pin) (*Trust, error) {
	switch {
	case f.None():
		return nil, (*Trust)(nil).Follows(pin)
	case f.Document == nil || f.Envelope == nil:
		return nil, incomplete(f, pin).Refuse()
	}
	t, err := opened(f)
	if p := (*FileProblem)(nil); errors.As(err, &p) {
		p.Remedy = RestoreText(pin)
		return nil, p.Refuse()
	}
	if err != nil {
		p := problem(StateUnusable, fmt.Sprintf("cannot be used (%v)", err), RestoreText(pin))
		p.Err = err
		return nil, p.Refuse()
	}
	return t, t.Follows(pin)
}

// incomplete is the problem of a trust file without its signatures, or the other
// way round.
func incomplete(f Files, pin Pin) *FileProblem {
	if f.Envelope == nil {
		return problem(StateIncomplete, "lacks its signatures ("+FileName+EnvelopeSuffix+")", RestoreText(pin))
	}
	p := problem(StateIncomplete, "is missing, but its signatures are present ("+FileName+EnvelopeSuffix+")", RestoreText(pin))
	p.Signed, _ = SignedIn(f.Envelope)
	return p
}

// SignedIn returns the trust file in an envelope, if its own keys signed it.
func SignedIn(envelope []byte) (*Trust, error) {
	sealed, e, err := unseal(envelope)
	if err != nil {
		return nil, err
	}
	return sealed, sealed.signedBy(sealed, e)
}

func opened(f Files) (*Trust, error) {
	sealed, e, err := unseal(f.Envelope)
	if err != nil {
		return nil, err
	}
	if err := sealed.signedBy(sealed, e); err != nil {
		return nil, err
	}
	if bytes.Equal(sealed.raw, f.Document) {
		return sealed, nil
	}
	old, err := Parse(f.Document)
	if err == nil {
		err = old.precedes(sealed, e)
	}
	if err != nil {
		p := problem(StateEdited, "does not match its signatures", RestoreText(Pin{}))
		p.Signed, p.Err = sealed, err
		return nil, p
	}
	return sealed, nil
}

// unseal reads the trust file in an envelope, without verifying signatures, since its
// keys are in it.
func unseal(envelope []byte) (*Trust, *signing.Envelope, error) {
	e, err := signing.DecodeEnvelope(envelope)
	if err != nil {
		return nil, nil, fmt.Errorf("%s%s: %w", FileName, EnvelopeSuffix, err)
	}
	subject, s, err := signing.Open[Statement](e)
	if err != nil {
		return nil, nil, fmt.Errorf("%s%s: %w", FileName, EnvelopeSuffix, err)
	}
	t, err := Parse([]byte(s.Document))
	switch {
	case err != nil:
		return nil, nil, err
	case subject.SHA256 != t.SHA256 || s.Version != t.Version:
		return nil, nil, fmt.Errorf("%s%s names a file or version other than the one in it; sign the file again", FileName, EnvelopeSuffix)
	}
	return t, e, nil
}

// signedBy returns an error unless enough keys of t's root signed the envelope of
// another trust file, or of t itself.
func (t *Trust) signedBy(what *Trust, e *signing.Envelope) error {
	signed, err := e.Signers(t.keysOf(Root))
	if err != nil && !errors.Is(err, signing.ErrUnsigned) {
		return err
	}
	root := t.Roles[Root]
	if int64(len(signed)) >= root.Threshold {
		return nil
	}
	return fmt.Errorf("%s version %d is signed by %d of the root keys of version %d (%s), and %d have to: "+
		"`reviewer policy trust sign FILE --signing-key KEY`",
		FileName, what.Version, len(signed), t.Version, strings.Join(root.Keys, ", "), root.Threshold)
}

// precedes returns an error unless another trust file may follow this one: the next
// version, signed by enough root keys of both.
func (t *Trust) precedes(next *Trust, e *signing.Envelope) error {
	if next.Version != t.Version+1 {
		return fmt.Errorf("%s has version %d, but version %d is active; set the version to %d, and have it signed", FileName, next.Version,
			t.Version, t.Version+1)
	}
	if err := t.signedBy(next, e); err != nil {
		return err
	}
	return next.signedBy(next, e)
}

// Follows returns an error if the trust file, nil for none, is older than the one used
// last, or a different one of the same version.
func (t *Trust) Follows(pin Pin) error {
	switch {
	case pin == Pin{}:
		return nil
	case t == nil:
		return problem(StateMissing, fmt.Sprintf("is missing, but version %d of it was active on this machine", pin.Version),
			RestoreText(pin)).Refuse()
	case t.Version < pin.Version:
		return problem(StateOlder, fmt.Sprintf("has version %d, but version %d was active on this machine", t.Version, pin.Version),
			RestoreText(pin)).Refuse()
	case t.Version == pin.Version && t.SHA256 != pin.SHA256:
		return problem(StateReplaced, fmt.Sprintf("differs from the version %d that was active on this machine", t.Version),
			RestoreText(pin)).Refuse()
	}
	return nil
}

// First accepts the first trust file of a machine: signed by its own root. Only
// a person's confirmation makes it trusted.
func First(f Files) (*Trust, error) {
	t, err := opened(f)
	if p := (*FileProblem)(nil); errors.As(err, &p) {
		err = errAnother
	}
	if err != nil {
		return nil, &Refusal{Untrusted, err}
	}
	return t, nil
}

// errAnother means that signatures are not for the file that they came with.
var errAnother = errors.New("the signatures are for a different text; " +
	"sign the file again: `reviewer policy trust sign FILE --signing-key KEY`")

// Rotate checks that the active trust file may be replaced by another one, which has
// not expired. An expired file can still be replaced, with its own keys.
func Rotate(holds *Trust, next Files, now int64) (*Trust, error) {
	t, e, err := unseal(next.Envelope)
	switch {
	case err != nil:
		return nil, &Refusal{Untrusted, err}
	case !bytes.Equal(t.raw, next.Document):
		return nil, &Refusal{Untrusted, errAnother}
	}
	if err := holds.precedes(t, e); err != nil {
		return nil, &Refusal{Untrusted, err}
	}
	return t, t.Current(now)
}

// Missing lists the names of root keys that have not signed a trust file yet, and how
// many of them still have to: of the active file, and of the next. An envelope that is
// nil has no signatures.
func (t *Trust) Missing(e *signing.Envelope) (keys []string, more int64) {
	role := t.Roles[Root]
	more = role.Threshold
	for _, name := range role.Keys {
		if signedWith(e, t.keys[name]) {
			more--
		} else {
			keys = append(keys, name)
		}
	}
	return keys, max(more, 0)
}

func signedWith(e *signing.Envelope, k signing.PublicKey) bool {
	if e == nil {
		return false
	}
	message := e.PAE()
	return slices.ContainsFunc(e.Signatures, func(s signing.Signature) bool { return k.Verify(message, s.Sig) })
}

// OfKeys returns a Trust for keys that a person names: threshold of them have to sign,
// and everything else is taken from the release.
func OfKeys(keys []signing.PublicKey, threshold int) (*Trust, error) {
	const role = "given"
	t := &Trust{keys: map[string]signing.PublicKey{}, given: &Channel{Role: role}}
	r := Role{Threshold: int64(threshold)}
	seen := map[string]bool{}
	for _, k := range keys {
		if !seen[k.ID()] {
			r.Keys, t.keys[k.ShortID()] = append(r.Keys, k.ShortID()), k
		}
		seen[k.ID()] = true
	}
	if threshold < 1 || threshold > len(r.Keys) {
		return nil, fmt.Errorf("%s required, but only %s given; give at least as many different keys",
			engine.Counted(threshold, "signature", "signatures"), engine.Counted(len(r.Keys), "key", "keys"))
	}
	t.Roles = map[string]Role{role: r}
	return t, nil
}
