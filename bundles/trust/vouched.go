package trust

import (
	"encoding/json"

	"github.com/agent-reviewer/reviewer/bundles/signing"
)

// Vouched is what somebody signed of an archive in another form than that of
// this program's envelopes, and that was found to hold.
type Vouched struct {
	Signer    Signer
	At        int64  // Unix ms: when it was signed, as others vouch; 0: not known
	Statement []byte // in-toto statement about the archive; nil: its bytes were signed
}

// provenanceType is the predicate of a statement that says where an archive was
// built, which is as good as having signed it. Others may say that it is bad.
const provenanceType = "https://slsa.dev/provenance/v1"

// CheckVouched checks a bundle as Check does, with one signature in place of
// those that a trust file asks for: vouch finds it, or says with a Refusal why
// there is none. What was not signed as a release has neither channel nor
// expiry; its name and sequence are those of its manifest.
func CheckVouched(in Candidate, vouch func() (Vouched, error)) Verdict {
	c := newCheck(&Trust{given: &Channel{}}, in)
	return c.run(c.size, func() error { return c.accept(vouch) }, c.follow)
}

// accept finds who signed, and what.
func (c *check) accept(vouch func() (Vouched, error)) error {
	by, err := vouch()
	if err != nil {
		return err
	}
	c.v.Signers = append(c.v.Signers, by.Signer)
	c.release.Created = signing.Moment(by.At - by.At%1000)
	if by.Statement == nil {
		return nil
	}
	switch kind := predicateOf(by.Statement); kind {
	case provenanceType:
		return nil
	case signing.ReleaseType:
		c.said, c.release, err = signing.Open[signing.Release](&signing.Envelope{Payload: by.Statement})
		if err != nil {
			return refuse(Unsigned, "what was signed of %s is no release of a policy: %w", c.in.File, err)
		}
		c.v.Release = &c.release
		return nil
	default:
		return refuse(Unsigned, "what was signed of %s says something of type %.200q, which may be that it is bad; "+
			"expected a signature of the archive, or a statement of type %s or %s", c.in.File, kind, signing.ReleaseType, provenanceType)
	}
}

// predicateOf returns the type of what a statement says; empty: it has none.
func predicateOf(statement []byte) string {
	var doc struct {
		PredicateType string `json:"predicateType"`
	}
	if err := json.Unmarshal(statement, &doc); err != nil {
		return ""
	}
	return doc.PredicateType
}

// follow is what follows from what was signed.
func (c *check) follow() error {
	rest := []step{c.unnamed, c.fresh, c.unpack, c.claims, c.sequence, c.engine, c.compile}
	if c.v.Release != nil {
		rest = []step{c.subject, c.scope, c.sequence, c.fresh, c.engine, c.unpack, c.manifest, c.compile}
	}
	for _, s := range rest {
		if err := s(); err != nil {
			return err
		}
	}
	return nil
}

// unnamed refuses to take a signature that names no channel for one of the
// channel that is asked for.
func (c *check) unnamed() error {
	if c.in.Channel != "" {
		return refuse(Scope, "what was signed of %s names no channel; expected %s: have a statement of type %s signed, or leave the channel out",
			c.in.File, c.in.Channel, signing.ReleaseType)
	}
	c.warn("the signature is of the archive alone: it says neither which channel it is for nor when it ends")
	return nil
}
