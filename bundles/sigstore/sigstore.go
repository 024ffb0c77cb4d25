// Package sigstore defines what is asked about a Sigstore bundle, and the answer: that an identity or a key signed an
// archive, as shown by the certificate, transparency log entry and timestamps in the bundle.
//
// The library that verifies bundles makes the program one seventh larger and nearly doubles its startup
// time, for every call of the hook. So only the program reviewer-full has it.
//
// Out of scope: the verification itself (cmd/reviewer-full/sigstore).
package sigstore

import "errors"

// Bounds of what is read, in bytes.
const (
	MaxBundle = 1 << 20
	MaxRoot   = 1 << 20
)

// Errors about a bundle; any other error means that its signature is invalid, or is
// not by the expected signer.
var (
	ErrMalformed = errors.New("not a Sigstore bundle")
	ErrOther     = errors.New("the bundle signs another archive")
	ErrRoot      = errors.New("no trusted root") // the trusted root or key cannot be used; the bundle may be valid
)

// ErrNotBuilt is the error of a program without the library.
var ErrNotBuilt = errors.New("this program was built without Sigstore; use reviewer-full, which `make full` builds")

// Verify returns who signed an archive, as shown by a bundle.
type Verify func(archive, bundle []byte, b TrustRoot) (Signed, error)

// TrustRoot is the trusted signer: an identity or a key.
type TrustRoot struct {
	Root []byte // trusted_root.json: authorities and logs; with Key it may be nil, and then no log is required

	Identity string // subject of the certificate, exactly: an address or a URI
	Issuer   string // URL of the issuer of the identity, exactly

	Key string // PEM; empty: Identity and Issuer count
}

// Signed is the verified contents of a bundle.
type Signed struct {
	By        string // identity and issuer; empty for a key
	KeyID     string // SHA-256 of the SubjectPublicKeyInfo, hex
	At        int64  // Unix ms: the earliest time that a log or a timestamp authority confirms; 0: none does
	Statement []byte // in-toto statement about the archive that was signed; nil: the archive itself was
}
