package signing

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// Signer makes signatures with one key: one in memory, or one in hardware or another
// program.
type Signer interface {
	Sign(ctx context.Context, message []byte) ([]byte, error)
	PublicKey() PublicKey
}

// Sign adds a signature to the envelope. The signature is verified before it is added.
// A key that has signed already signs again only if its signature is invalid.
func (e *Envelope) Sign(ctx context.Context, s Signer) error {
	key, message := s.PublicKey(), e.PAE()
	for _, o := range e.Signatures {
		if key.Verify(message, o.Sig) {
			return nil
		}
	}
	sig, err := s.Sign(ctx, message)
	if err != nil {
		return fmt.Errorf("sign with key %s: %w", key.ShortID(), err)
	}
	if !key.Verify(message, sig) {
		return fmt.Errorf("the signature made with key %s is invalid; does the public key belong to it?", key.ShortID())
	}
	return e.Add(Signature{key.ID(), sig})
}

// PrivateKey is a key that signs.
type PrivateKey struct {
	key    crypto.Signer
	public PublicKey
}

// NewPrivateKey converts a key of the standard library: an ed25519.PrivateKey, or an
// *ecdsa.PrivateKey on P-256.
func NewPrivateKey(key crypto.Signer) (*PrivateKey, error) {
	if k, ok := key.(ed25519.PrivateKey); ok && !halvesMatch(k) {
		return nil, errors.New("the two halves of the key do not match: the file is damaged; get it again")
	}
	public, err := NewPublicKey(key.Public())
	if err != nil {
		return nil, err
	}
	return &PrivateKey{key, public}, nil
}

// Generate makes a new key of one of Types.
func Generate(t Type) (*PrivateKey, error) {
	switch t {
	case Ed25519:
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		return NewPrivateKey(key)
	case ECDSAP256:
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, err
		}
		return NewPrivateKey(key)
	}
	return nil, fmt.Errorf("unknown type of key %.60q; expected one of %s", t, strings.Join(Types(), ", "))
}

// halvesMatch reports whether an ed25519 key's public half belongs to its seed.
// OpenSSH's files contain both, and signing with a wrong half reveals the seed.
func halvesMatch(k ed25519.PrivateKey) bool {
	return len(k) == ed25519.PrivateKeySize && k.Equal(ed25519.NewKeyFromSeed(k.Seed()))
}

// PublicKey returns the key that verifies its signatures.
func (k *PrivateKey) PublicKey() PublicKey { return k.public }

// Sign implements Signer. The same message has the same signature, even with ECDSA
// (RFC 6979), so that signing again does not change the file.
func (k *PrivateKey) Sign(_ context.Context, message []byte) ([]byte, error) {
	switch k.public.typ {
	case Ed25519:
		return k.key.Sign(nil, message, crypto.Hash(0))
	case ECDSAP256:
		sum := sha256.Sum256(message)
		return k.key.Sign(nil, sum[:], crypto.SHA256)
	}
	return nil, errors.New("there is no key")
}

// ReadSignature finds the signature of the message in what another program printed:
// its raw bytes, or base64 of them. The key determines which of the two it is.
func ReadSignature(key PublicKey, message, printed []byte) ([]byte, error) {
	if key.Verify(message, printed) {
		return printed, nil
	}
	text := strings.Join(strings.Fields(string(printed)), "")
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if sig, err := encoding.DecodeString(text); err == nil && key.Verify(message, sig) {
			return sig, nil
		}
	}
	return nil, fmt.Errorf("the output (%d bytes) is not a signature by key %s of the data on standard input; "+
		"expected a raw %s signature or base64 of it%s", len(printed), key.ShortID(), key.typ, overWhat(key.typ))
}

func overWhat(t Type) string {
	if t == ECDSAP256 {
		return ": ASN.1 DER, over the SHA-256 of standard input"
	}
	return ", over standard input itself"
}
