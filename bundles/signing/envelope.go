// Package signing creates and verifies signatures of policies: DSSE envelopes, the
// in-toto statements in them, keys and signers.
//
// Out of scope: which signatures are trusted, for what and until when (the
// trust file, see bundles/trust), the places of keys and envelopes, the
// contents of archives, and starting programs. It reads no clock and no file.
package signing

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// PayloadType is the one type of payload that an envelope may have: an in-toto
// statement.
const PayloadType = "application/vnd.in-toto+json"

// Bounds of an envelope.
const (
	MaxEnvelope   = 1 << 20 // bytes of the whole document
	MaxSignatures = 16
	maxSignature  = 1 << 10 // bytes of one
	maxKeyID      = 256     // bytes
)

// ErrUnsigned means that there is no signature at all.
var ErrUnsigned = errors.New("the envelope has no signature; sign the archive with reviewer policy sign")

// Envelope is a DSSE envelope: a payload with signatures. Decoding does not verify
// signatures: see Signers.
type Envelope struct {
	Payload    []byte // the exact bytes of the signed statement
	Signatures []Signature
}

// Signature is one signature over an envelope's payload. The key id is not signed: it
// only tells which key to try first.
type Signature struct {
	KeyID string
	Sig   []byte
}

// envelopeJSON is the JSON form of an envelope. Base64 stays text until it is
// decoded here, since encoding/json skips line breaks in it.
type envelopeJSON struct {
	PayloadType string          `json:"payloadType"`
	Payload     string          `json:"payload"`
	Signatures  []signatureJSON `json:"signatures"`
}

type signatureJSON struct {
	KeyID string `json:"keyid,omitempty"`
	Sig   string `json:"sig"`
}

// PAE returns the signed bytes of a payload: DSSE's pre-authentication encoding, which
// prevents confusion of payload types.
func PAE(payloadType string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}

// PAE returns the bytes that the envelope's signatures cover.
func (e *Envelope) PAE() []byte { return PAE(PayloadType, e.Payload) }

// DecodeEnvelope reads one envelope and nothing after it. It is stricter than DSSE,
// which allows unknown fields: an envelope of this program has none. Base64 may use
// the standard or the URL alphabet, with padding, as DSSE requires.
func DecodeEnvelope(doc []byte) (*Envelope, error) {
	if len(doc) > MaxEnvelope {
		return nil, fmt.Errorf("the envelope has %d bytes, at most %d", len(doc), MaxEnvelope)
	}
	var raw envelopeJSON
	if err := decodeStrict(doc, &raw); err != nil {
		return nil, fmt.Errorf("read envelope: %w", err)
	}
	switch {
	case raw.PayloadType != PayloadType:
		return nil, fmt.Errorf("the envelope's payload has type %.100q; expected %q", raw.PayloadType, PayloadType)
	case len(raw.Signatures) > MaxSignatures:
		return nil, fmt.Errorf("the envelope has %d signatures, at most %d", len(raw.Signatures), MaxSignatures)
	}
	return raw.decode()
}

func (raw *envelopeJSON) decode() (*Envelope, error) {
	payload, err := decodeBase64(raw.Payload)
	if err != nil {
		return nil, fmt.Errorf("the envelope's payload %w", err)
	}
	e := &Envelope{Payload: payload}
	for i, s := range raw.Signatures {
		sig, err := decodeBase64(s.Sig)
		switch {
		case err != nil:
			return nil, fmt.Errorf("signature %d of the envelope %w", i+1, err)
		case len(sig) == 0 || len(sig) > maxSignature || len(s.KeyID) > maxKeyID:
			return nil, fmt.Errorf("signature %d of the envelope has %d bytes and a key id of %d; expected 1 to %d, and at most %d", i+1, len(sig),
				len(s.KeyID), maxSignature, maxKeyID)
		}
		e.Signatures = append(e.Signatures, Signature{s.KeyID, sig})
	}
	return e, nil
}

// decodeBase64 accepts either alphabet, but only canonical encodings: no line breaks,
// no missing padding, no stray bits at the end.
func decodeBase64(text string) ([]byte, error) {
	encoding := base64.StdEncoding
	if strings.ContainsAny(text, "-_") {
		encoding = base64.URLEncoding
	}
	if strings.ContainsAny(text, "\r\n") {
		return nil, errors.New("has line breaks in its base64; write it on one line")
	}
	b, err := encoding.Strict().DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("is not valid base64: %w", err)
	}
	return b, nil
}

// Encode writes an envelope as an indented document that DecodeEnvelope reads.
func (e *Envelope) Encode() ([]byte, error) {
	raw := envelopeJSON{PayloadType, base64.StdEncoding.EncodeToString(e.Payload), []signatureJSON{}}
	for _, s := range e.Signatures {
		raw.Signatures = append(raw.Signatures, signatureJSON{s.KeyID, base64.StdEncoding.EncodeToString(s.Sig)})
	}
	doc, err := json.MarshalIndent(raw, "", "  ")
	if err != nil {
		return nil, err
	}
	if doc = append(doc, '\n'); len(doc) > MaxEnvelope {
		return nil, fmt.Errorf("the envelope would have %d bytes, at most %d", len(doc), MaxEnvelope)
	}
	return doc, nil
}

// maxKeys bounds the keys that one envelope is checked with: with MaxSignatures
// it bounds the time.
const maxKeys = 128

// Signers returns the keys that signed the envelope, each once and in the order of
// keys. A signature by another key is not an error: others may have signed too.
func (e *Envelope) Signers(keys []PublicKey) ([]PublicKey, error) {
	switch {
	case len(e.Signatures) == 0:
		return nil, ErrUnsigned
	case len(e.Signatures) > MaxSignatures || len(keys) > maxKeys:
		return nil, fmt.Errorf("%d signatures and %d keys are too many to check; at most %d and %d", len(e.Signatures), len(keys),
			MaxSignatures, maxKeys)
	}
	signed := map[string]bool{}
	message := e.PAE()
	for _, s := range e.Signatures {
		if k, ok := s.signer(message, keys); ok {
			signed[k.ID()] = true
		}
	}
	var valid []PublicKey
	for _, k := range keys {
		if signed[k.ID()] {
			valid = append(valid, k)
			delete(signed, k.ID())
		}
	}
	return valid, nil
}

// signer returns the key that made a signature. The key with its key id is tried
// first, then the others, because the id is not trusted.
func (s Signature) signer(message []byte, keys []PublicKey) (PublicKey, bool) {
	named := func(k PublicKey) bool { return k.ID() == s.KeyID }
	if i := slices.IndexFunc(keys, named); i >= 0 && keys[i].Verify(message, s.Sig) {
		return keys[i], true
	}
	i := slices.IndexFunc(keys, func(k PublicKey) bool { return !named(k) && k.Verify(message, s.Sig) })
	if i < 0 {
		return PublicKey{}, false
	}
	return keys[i], true
}

// Add adds to an envelope the signatures that it does not have yet.
func (e *Envelope) Add(signatures ...Signature) error {
	for _, s := range signatures {
		if !slices.ContainsFunc(e.Signatures, func(o Signature) bool { return o.KeyID == s.KeyID && bytes.Equal(o.Sig, s.Sig) }) {
			e.Signatures = append(e.Signatures, s)
		}
	}
	if len(e.Signatures) > MaxSignatures {
		return fmt.Errorf("the envelope would have %d signatures, at most %d", len(e.Signatures), MaxSignatures)
	}
	return nil
}
