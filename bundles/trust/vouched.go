package trust

import (
	"encoding/json"

	"github.com/agent-reviewer/reviewer/bundles/signing"
)

// ExternalSignature is a valid signature of an archive in a form other than this
// program's envelopes.
type ExternalSignature struct {
	Signer    Signer
	At        int64  // Unix ms: when it was signed, as confirmed by others; 0: unknown
	Statement []byte // in-toto statement about the archive; nil: its bytes were signed
}

// provenanceType is the predicate of a statement about where an archive was built,
// which counts as a signature of it. Other predicates may say that the archive is bad.
const provenanceType = "https://slsa.dev/provenance/v1"

// CheckExternal checks a bundle as Check does, with one signature instead of those
// that a trust file requires: vouch returns it, or a Refusal that gives the reason why
// there is none. An archive that was not signed as a release has neither channel nor
// expiry; its name and sequence are those of its manifest.
func CheckExternal(in Candidate, vouch func() (ExternalSignature, error)) Verdict {
	c := newCheck(&Trust{given: &Channel{}}, in)
	return c.run(c.size, func() error { return c.accept(vouch) }, c.follow)
}

// accept finds who signed, and what.
func (c *check) accept(vouch func() (ExternalSignature, error)) error {
	by, err := vouch()
	if err != nil {
		return err
	}
	c.v.Signers = append(c.v.Signers, by.Signer)
	c.release.Created = signing.Time(by.At - by.At%1000)
	if by.Statement == nil {
		return nil
	}
	switch kind := predicateOf(by.Statement); kind {
	case provenanceType:
		return nil
	case signing.ReleaseType:
		c.said, c.release, err = signing.Open[signing.Release](&signing.Envelope{Payload: by.Statement})
		if err != nil {
			return refuse(Unsigned, "the signed statement about %s is not a policy release: %w", c.in.File, err)
		}
		c.v.Release = &c.release
		return nil
	default:
		return refuse(Unsigned, "the signed statement about %s has type %.200q, which may declare it bad; "+
			"expected a signature of the archive, or a statement of type %s or %s", c.in.File, kind, signing.ReleaseType, provenanceType)
	}
}

// predicateOf returns the predicate type of a statement; empty: it has none.
func predicateOf(statement []byte) string {
	var doc struct {
		PredicateType string `json:"predicateType"`
	}
	if err := json.Unmarshal(statement, &doc); err != nil {
		return ""
	}
	return doc.PredicateType
}

// follow returns the checks that follow, depending on what was signed.
func (c *check) follow() error {
	rest := []step{c.unnamed, c.fresh, c.unpack, c.claims, c.kinds, c.sequence, c.engine, c.compile}
	if c.v.Release != nil {
		rest = []step{c.subject, c.scope, c.sequence, c.fresh, c.engine, c.unpack, c.manifest, c.kinds, c.compile}
	}
	for _, s := range rest {
		if err := s(); err != nil {
			return err
		}
	}
	return nil
}

// unnamed refuses a signature without a channel if a channel is requested.
func (c *check) unnamed() error {
	if c.in.Channel != "" {
		return refuse(Scope, "the signed statement about %s names no channel; expected %s: sign a statement of type %s, or omit the channel",
			c.in.File, c.in.Channel, signing.ReleaseType)
	}
	c.warn("the signature covers only the archive: it has neither a channel nor an expiry")
	return nil
}
