// Package sigstore checks Sigstore bundles: whether an identity, or a key, signed
// an archive, as a certificate, a transparency log and timestamps show that lie
// in the bundle. It asks nobody: what is believed is in the trusted root.
//
// The library that does it makes the program a seventh bigger, and nearly doubles
// the time that it needs before main: each call of the hook would pay for what few
// need. So it is built in with the build tag sigstore only; without it, Verify is
// an error.
//
// Not its business: what the signature counts for (bundles/trust), what the
// statement in it says, where files lie, and signing.
package sigstore

import "errors"

// Bounds of what is read, in bytes.
const (
	MaxBundle = 1 << 20
	MaxRoot   = 1 << 20
)

// What may be wrong with a bundle; any other error says that its signature does
// not hold, or is not of whom it should be.
var (
	ErrMalformed = errors.New("no Sigstore bundle")
	ErrOther     = errors.New("signed was another archive")
	ErrRoot      = errors.New("no trusted root") // what is given to believe cannot be used: nothing is wrong with the bundle
)

// ErrNotBuilt is what Verify returns in a program without the library.
var ErrNotBuilt = errors.New("this reviewer was built without Sigstore; build one that has it with `go build " +
	"-tags sigstore ./cmd/reviewer`, or `go install -tags sigstore github.com/agent-reviewer/reviewer/cmd/reviewer@VERSION`")

// Believed is whose signature counts: that of an identity, or of a key.
type Believed struct {
	Root []byte // trusted_root.json: authorities and logs; with Key it may be nil, and then no log is asked for

	Identity string // subject of the certificate, exactly: an address or a URI
	Issuer   string // URL of who vouched for the identity, exactly

	Key string // PEM; empty: Identity and Issuer count
}

// Signed is what a bundle showed.
type Signed struct {
	By        string // identity and issuer; empty for a key
	KeyID     string // SHA-256 of the SubjectPublicKeyInfo, hex
	At        int64  // Unix ms: the earliest time that a log or a timestamp authority vouches for; 0: none does
	Statement []byte // in-toto statement about the archive that was signed; nil: the archive itself was
}
