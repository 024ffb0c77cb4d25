package signing

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// Type is a kind of key. The key alone determines how its signatures are checked;
// nothing is negotiated.
type Type string

// The types of keys.
const (
	Ed25519   Type = "ed25519"
	ECDSAP256 Type = "ecdsa-p256" // over SHA-256; signatures in ASN.1 DER
)

// Types lists the types of keys, the best first.
func Types() []string { return []string{string(Ed25519), string(ECDSAP256)} }

// MaxKey bounds the text of a key, in bytes.
const MaxKey = 64 << 10

// PublicKey is a key that signatures are checked with. The zero value verifies
// nothing.
type PublicKey struct {
	key  crypto.PublicKey
	typ  Type
	spki string // DER
	id   string
}

// NewPublicKey converts a key of the standard library: an ed25519.PublicKey, or an
// *ecdsa.PublicKey on P-256.
func NewPublicKey(key crypto.PublicKey) (PublicKey, error) {
	typ, err := typeOf(key)
	if err != nil {
		return PublicKey{}, err
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return PublicKey{}, fmt.Errorf("the key cannot be used: %w", err)
	}
	sum := sha256.Sum256(der)
	return PublicKey{key, typ, string(der), hex.EncodeToString(sum[:])}, nil
}

// typeOf returns the type of a key, or why it is not accepted.
func typeOf(key any) (Type, error) {
	switch k := key.(type) {
	case ed25519.PublicKey:
		return Ed25519, weakEd25519(k)
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() {
			return "", fmt.Errorf("the key is ECDSA on %s; expected P-256, or better ed25519", k.Curve.Params().Name)
		}
		return ECDSAP256, nil
	case *rsa.PublicKey:
		return "", errors.New("the key is RSA, which is not accepted: its signatures have several forms, some of them weak; " +
			"create one with reviewer policy keygen, or ssh-keygen -t ed25519")
	}
	return "", fmt.Errorf("the key is a %T; expected ed25519 or ECDSA on P-256", key)
}

// weakEd25519 refuses the points of small order, under which anyone can make a
// signature that is valid for every message.
func weakEd25519(k ed25519.PublicKey) error {
	if len(k) != ed25519.PublicKeySize {
		return fmt.Errorf("the ed25519 key has %d bytes; expected %d", len(k), ed25519.PublicKeySize)
	}
	y := bytes.Clone(k)
	y[len(y)-1] &= 0x7f // the sign of x
	for _, weak := range smallOrder {
		if hex.EncodeToString(y) == weak {
			return errors.New("the ed25519 key is a point of small order, under which anyone can sign; create another with reviewer policy keygen")
		}
	}
	return nil
}

// smallOrder lists the y coordinates of ed25519's points of small order, in all
// their encodings.
var smallOrder = []string{
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0100000000000000000000000000000000000000000000000000000000000000",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
}

// Type returns the type of the key.
func (k PublicKey) Type() Type { return k.typ }

// ID names the key: the SHA-256 of its SubjectPublicKeyInfo, 64 hex digits. A key has
// the same id in every form.
func (k PublicKey) ID() string { return k.id }

// ShortID is the beginning of ID, enough for people.
func (k PublicKey) ShortID() string { return k.id[:min(16, len(k.id))] }

// Verify reports whether a signature of the message was made with this key.
func (k PublicKey) Verify(message, sig []byte) bool {
	switch key := k.key.(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(key, message, sig)
	case *ecdsa.PublicKey:
		sum := sha256.Sum256(message)
		return ecdsa.VerifyASN1(key, sum[:], sig)
	}
	return false
}

// PEM returns the key as a PEM block PUBLIC KEY.
func (k PublicKey) PEM() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte(k.spki)}))
}

// ParsePublicKey reads one public key: PEM (PUBLIC KEY), or an OpenSSH line, as in
// NAME.pub.
func ParsePublicKey(text []byte) (PublicKey, error) {
	if len(text) > MaxKey {
		return PublicKey{}, fmt.Errorf("the key has %d bytes, at most %d", len(text), MaxKey)
	}
	if !bytes.Contains(text, []byte("-----BEGIN")) {
		return parseSSHPublic(text)
	}
	block, err := onlyBlock(text)
	if err != nil {
		return PublicKey{}, err
	}
	switch {
	case strings.HasSuffix(block.Type, "PRIVATE KEY"):
		return PublicKey{}, errors.New("this is a private key; give the public one, NAME.pub, and keep this one to yourself")
	case block.Type != "PUBLIC KEY":
		return PublicKey{}, fmt.Errorf("the PEM block is %.60q; expected PUBLIC KEY", block.Type)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return PublicKey{}, unreadable("public key", err)
	}
	return NewPublicKey(key)
}

// onlyBlock returns the one PEM block of a string. EC PARAMETERS, which openssl writes
// before a key, is skipped.
func onlyBlock(text []byte) (*pem.Block, error) {
	block, rest := pem.Decode(text)
	if block != nil && block.Type == "EC PARAMETERS" {
		block, rest = pem.Decode(rest)
	}
	switch {
	case block == nil:
		return nil, errors.New("the PEM text is damaged or truncated; get the file again")
	case bytes.Contains(rest, []byte("-----BEGIN")):
		return nil, errors.New("the file has more than one PEM block; expected one key")
	}
	return block, nil
}

func unreadable(what string, err error) error {
	return fmt.Errorf("the %s is damaged, or of an unsupported kind (expected ed25519 or ECDSA on P-256): %w", what, err)
}
