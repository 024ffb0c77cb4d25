// Package ship transfers releases of a policy between places: OCI registries, OCI
// layouts in a folder, web servers, plain folders; and it serves a folder as OPA's
// bundle service does. It is the only package that opens connections, and no hook uses
// it.
//
// Out of scope: trust. The caller of Pull decides with Accept whether an
// archive may be fetched, and checks it before anything is written. The contents
// of an archive do not matter here, and the commands decide where it is stored.
package ship

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Limits of fetched data, in bytes. The unpacked contents of an archive have limits of their own.
const (
	MaxArchive  = 16 << 20
	MaxEnvelope = 1 << 20
	maxName     = 200 // of an archive's file
)

// EnvelopeSuffix is appended to an archive's name for its envelope.
const EnvelopeSuffix = ".dsse.json"

// Parcel is a release in transit.
type Parcel struct {
	Name      string // of the archive's file, without folders, such as shop-1.4.0.tar.gz
	Archive   []byte
	Envelope  []byte // nil: not signed
	Label     Label  // for people who browse a registry; not signed
	Place     string // its permanent place: for a registry, with its digest
	ETag      string // the web server's ETag
	Unchanged bool   // the archive is the one of Options.Have
}

// Label describes the contents of a parcel.
type Label struct {
	Name     string // such as acme/agents
	Version  string
	Sequence int64
	Digest   string // the policy's own, not the archive's
}

// Offer describes a release before its archive is fetched.
type Offer struct {
	Place    string
	Name     string // of the archive's file
	SHA256   string // of the archive, hex; empty if the place does not report it, such as web servers
	Envelope []byte // nil: none
}

// Accept reports whether the archive of an offer may be fetched: nil, or why not. If a
// release has several envelopes, each is offered until one is accepted.
type Accept func(Offer) error

// Options are connection options.
type Options struct {
	Username  string // with Password; empty: the credentials in docker's configuration
	Password  string
	PlainHTTP bool // without TLS, which is always used for localhost
	Force     bool // push: replace an existing release of the same name
	Have      *Parcel
	// First reports whether an envelope is offered before the others of a release: a release for two channels has one
	// for each. Nil: none is.
	First func(envelope []byte) bool
}

// Receipt is the result of a push.
type Receipt struct {
	Place     string // where the release is now
	SHA256    string // of the archive, hex
	Replaced  string // the release that was replaced, with Options.Force
	Unchanged bool   // archive and envelope already existed
	Signed    bool
}

// ErrUnsafeName is returned for a name that is not valid for an archive.
var ErrUnsafeName = errors.New("expected letters, digits, dots, dashes and underscores, and .tar.gz at the end")

// CheckName refuses the name of an archive that is not a safe file name.
func CheckName(name string) error {
	odd := strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-", r)
	})
	if odd || len(name) > maxName || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") || !strings.HasSuffix(name, ".tar.gz") {
		return fmt.Errorf("the name %.100q: %w", name, ErrUnsafeName)
	}
	return nil
}

// Push pushes a release to a place.
func Push(ctx context.Context, to Ref, p Parcel, o Options) (Receipt, error) {
	if err := errors.Join(CheckName(p.Name), p.check()); err != nil {
		return Receipt{}, fmt.Errorf("push %s: %w", p.Name, err)
	}
	r, err := push(ctx, to, p, o)
	if err != nil {
		return Receipt{}, fmt.Errorf("push to %s: %w", to, explain(ctx, err))
	}
	return r, nil
}

func push(ctx context.Context, to Ref, p Parcel, o Options) (Receipt, error) {
	switch to.kind {
	case registryRef:
		repo, err := openRepository(to, o)
		if err != nil {
			return Receipt{}, err
		}
		return pushOCI(ctx, repo, to, p, o)
	case layoutRef:
		l, err := openLayout(to.path, true)
		if err != nil {
			return Receipt{}, err
		}
		defer l.Close()
		return pushOCI(ctx, l, to, p, o)
	case webRef:
		return Receipt{}, errors.New("cannot push to a web server; push to a folder that it serves, or to a registry")
	}
	return pushFolder(to.path, p, o)
}

// Pull fetches a release, after accept has accepted it.
func Pull(ctx context.Context, from Ref, o Options, accept Accept) (Parcel, error) {
	p, err := pull(ctx, from, o, func(offer Offer) error {
		if err := accept(offer); err != nil {
			return &explained{err.Error(), err} // the text of the refusal
		}
		return nil
	})
	if err == nil {
		err = p.check()
	}
	if err != nil {
		return Parcel{}, fmt.Errorf("pull %s: %w", from, explain(ctx, err))
	}
	return p, nil
}

func pull(ctx context.Context, from Ref, o Options, accept Accept) (Parcel, error) {
	switch from.kind {
	case registryRef:
		repo, err := openRepository(from, o)
		if err != nil {
			return Parcel{}, err
		}
		return pullOCI(ctx, repo, from, o, accept)
	case layoutRef:
		l, err := openLayout(from.path, false)
		if err != nil {
			return Parcel{}, err
		}
		defer l.Close()
		return pullOCI(ctx, l, from, o, accept)
	case webRef:
		return pullWeb(ctx, from, o, accept)
	}
	return pullFolder(from.path, accept)
}

// check refuses a parcel that exceeds the limits.
func (p Parcel) check() error {
	switch {
	case len(p.Archive) == 0:
		return errors.New("the archive is empty")
	case len(p.Archive) > MaxArchive:
		return fmt.Errorf("the archive has %d bytes, at most %d", len(p.Archive), MaxArchive)
	case len(p.Envelope) > MaxEnvelope:
		return fmt.Errorf("the envelope has %d bytes, at most %d", len(p.Envelope), MaxEnvelope)
	}
	return nil
}
