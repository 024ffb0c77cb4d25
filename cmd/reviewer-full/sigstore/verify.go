// Package sigstore verifies Sigstore bundles, with the library of Sigstore. It needs no network: whom to trust is in the
// trusted root.
//
// Out of scope: what a signature permits (bundles/trust), the contents of the
// statement, the places of files, and signing.
package sigstore

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/sigstore"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/signature"
)

// version is the accepted version of bundles: older ones prove less.
const version = "v0.3"

// inToto is the one type of payload that a bundle may have.
const inToto = "application/vnd.in-toto+json"

// Verify returns who signed an archive, as shown by a bundle: a signature of its
// bytes, or of an in-toto statement about it. A certificate must be of the identity
// and the issuer, valid at a time that a log or a timestamp authority of the trusted
// root confirms, and in its transparency log; it must be in a certificate log if the
// root has any. It reads neither the clock nor the network.
func Verify(archive, doc []byte, b sigstore.TrustRoot) (sigstore.Signed, error) {
	signed, err := parse(doc)
	if err != nil {
		return sigstore.Signed{}, err
	}
	if err := about(signed, archive); err != nil {
		return sigstore.Signed{}, err
	}
	by, err := howTo(b)
	if err != nil {
		return sigstore.Signed{}, err
	}
	v, err := verify.NewVerifier(by.material, by.demands...)
	if err != nil {
		return sigstore.Signed{}, err
	}
	result, err := v.Verify(signed, verify.NewPolicy(verify.WithArtifact(bytes.NewReader(archive)), by.who))
	if err != nil {
		return sigstore.Signed{}, err
	}
	return shown(b, signed, result)
}

// parse reads a bundle without trusting anything in it.
func parse(doc []byte) (*bundle.Bundle, error) {
	if len(doc) > sigstore.MaxBundle {
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d", sigstore.ErrMalformed, len(doc), sigstore.MaxBundle)
	}
	b := &bundle.Bundle{}
	if err := b.UnmarshalJSON(doc); err != nil {
		return nil, fmt.Errorf("%w: %w", sigstore.ErrMalformed, err)
	}
	if v, _ := b.Version(); v != version { // checked above
		return nil, fmt.Errorf("%w of version %s: it is of %s; sign the archive again with a newer program", sigstore.ErrMalformed, version, v)
	}
	return b, nil
}

// about refuses a bundle for another archive, which is a better error than an invalid
// signature. Verify checks whether the bundle's own digest is right.
func about(b *bundle.Bundle, archive []byte) error {
	sum := sha256.Sum256(archive)
	said := b.GetMessageSignature().GetMessageDigest().GetDigest()
	if e := b.GetDsseEnvelope(); e != nil {
		if e.GetPayloadType() != inToto {
			return fmt.Errorf("%w about an archive: its payload is of type %.100q; expected %q", sigstore.ErrMalformed, e.GetPayloadType(), inToto)
		}
		var err error
		if said, err = subject(e.GetPayload()); err != nil {
			return err
		}
	}
	if !bytes.Equal(said, sum[:]) {
		return fmt.Errorf("%w: the SHA-256 is %x, and the bundle is of %x", sigstore.ErrOther, sum, said)
	}
	return nil
}

// subject is the SHA-256 of the one file that a statement is about. A statement must
// have only one subject.
func subject(statement []byte) ([]byte, error) {
	var doc struct {
		Subject []struct {
			Digest map[string]string `json:"digest"`
		} `json:"subject"`
	}
	if err := json.Unmarshal(statement, &doc); err != nil {
		return nil, fmt.Errorf("%w: its statement cannot be read: %w", sigstore.ErrMalformed, err)
	}
	if len(doc.Subject) != 1 {
		return nil, fmt.Errorf("%w of one archive: its statement has %d subjects", sigstore.ErrMalformed, len(doc.Subject))
	}
	sum, err := hex.DecodeString(doc.Subject[0].Digest["sha256"])
	if err != nil {
		return nil, fmt.Errorf("%w: its subject has no SHA-256 that can be read: %w", sigstore.ErrMalformed, err)
	}
	return sum, nil
}

// how returns the options for the library.
type how struct {
	material root.TrustedMaterialCollection
	demands  []verify.VerifierOption
	who      verify.PolicyOption
}

func howTo(b sigstore.TrustRoot) (how, error) {
	h := how{demands: []verify.VerifierOption{verify.WithoutStatementPredicate()}}
	if err := signer(b, &h); err != nil {
		return h, err
	}
	if b.Root == nil {
		h.demands = append(h.demands, verify.WithNoObserverTimestamps())
		return h, nil
	}
	if len(b.Root) > sigstore.MaxRoot {
		return h, fmt.Errorf("%w: it has %d bytes, at most %d", sigstore.ErrRoot, len(b.Root), sigstore.MaxRoot)
	}
	trusted, err := root.NewTrustedRootFromJSON(b.Root)
	if err != nil {
		return h, fmt.Errorf("%w: %w", sigstore.ErrRoot, err)
	}
	h.material = append(h.material, trusted)
	h.demands = append(h.demands, verify.WithTransparencyLog(1), verify.WithObserverTimestamps(1))
	if b.Key == "" && len(trusted.CTLogs()) > 0 {
		h.demands = append(h.demands, verify.WithSignedCertificateTimestamps(1))
	}
	return h, nil
}

// signer returns the option for the identity, or for the key.
func signer(b sigstore.TrustRoot, h *how) error {
	if b.Key == "" {
		if b.Root == nil {
			return fmt.Errorf("%w: a certificate can only be verified with one", sigstore.ErrRoot)
		}
		id, err := verify.NewShortCertificateIdentity(b.Issuer, "", b.Identity, "")
		h.who = verify.WithCertificateIdentity(id)
		return err
	}
	key, err := publicKey(b.Key)
	if err != nil {
		return err
	}
	v, err := signature.LoadVerifier(key, crypto.SHA256)
	if err != nil {
		return fmt.Errorf("the key cannot be used: %w", err)
	}
	always := root.NewExpiringKey(v, time.Time{}, time.Time{})
	forever := func(string) (root.TimeConstrainedVerifier, error) { return always, nil }
	h.material = append(h.material, root.NewTrustedPublicKeyMaterial(forever))
	h.who = verify.WithKey()
	return nil
}

func publicKey(text string) (crypto.PublicKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("the key is not in PEM format; expected PUBLIC KEY")
	}
	return x509.ParsePKIXPublicKey(block.Bytes)
}

// shown returns the verified contents of a bundle.
func shown(b sigstore.TrustRoot, signed *bundle.Bundle, result *verify.VerificationResult) (sigstore.Signed, error) {
	s := sigstore.Signed{Statement: signed.GetDsseEnvelope().GetPayload()}
	for _, t := range result.VerifiedTimestamps {
		if at := t.Timestamp.UnixMilli(); s.At == 0 || at < s.At {
			s.At = at
		}
	}
	if b.Key != "" {
		key, err := publicKey(b.Key)
		if err != nil {
			return sigstore.Signed{}, err
		}
		s.KeyID, err = keyID(key)
		return s, err
	}
	content, err := signed.VerificationContent()
	if err != nil || content.Certificate() == nil || result.VerifiedIdentity == nil {
		return sigstore.Signed{}, errors.Join(errors.New("no certificate was verified"), err)
	}
	s.By = strings.Join([]string{result.Signature.Certificate.SubjectAlternativeName, "of", result.Signature.Certificate.Issuer}, " ")
	s.KeyID, err = keyID(content.Certificate().PublicKey)
	return s, err
}

func keyID(key crypto.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:]), err
}
