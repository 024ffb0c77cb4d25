package ship

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/opencontainers/go-digest"
	"oras.land/oras-go/v2/registry"
)

// Forms lists the forms of a reference.
const Forms = "oci://HOST/REPOSITORY:TAG, oci-layout:FOLDER:TAG, https://HOST/PATH.tar.gz, or a folder"

// Ref is the location of a release.
type Ref struct {
	kind kind
	text string

	host, repository string // of a registry
	tag              string // of a registry or layout: a tag, or sha256:…; may be empty
	path             string // of a layout, a folder or a file
	url              *url.URL
}

type kind int

const (
	folderRef kind = iota
	registryRef
	layoutRef
	webRef
)

// String returns the original reference.
func (r Ref) String() string { return r.text }

// Tag returns the tag, or sha256:… instead, of a registry or layout; empty: none.
func (r Ref) Tag() string { return r.tag }

// Remote reports whether the place is reached over the network.
func (r Ref) Remote() bool { return r.kind == registryRef || r.kind == webRef }

// Web reports whether the place is a web server, which has ETags.
func (r Ref) Web() bool { return r.kind == webRef }

// ParseRef reads a reference.
func ParseRef(text string) (Ref, error) {
	r := Ref{text: text}
	var err error
	switch {
	case text == "":
		err = errors.New("is empty")
	case strings.HasPrefix(text, "oci://"):
		err = r.registry(strings.TrimPrefix(text, "oci://"))
	case strings.HasPrefix(text, "oci-layout:"):
		err = r.layout(strings.TrimPrefix(text, "oci-layout:"))
	case strings.HasPrefix(text, "http://"), strings.HasPrefix(text, "https://"):
		err = r.web()
	case strings.Contains(text, "://"):
		err = errors.New("has an unknown form")
	default:
		r.path = filepath.Clean(text)
	}
	if err != nil {
		return Ref{}, fmt.Errorf("place %.200q: %w; expected %s", withoutPassword(text), err, Forms)
	}
	return r, nil
}

// withoutPassword hides credentials in a URL.
func withoutPassword(text string) string {
	if before, after, ok := strings.Cut(text, "://"); ok {
		if i := strings.LastIndexByte(strings.SplitN(after, "/", 2)[0], '@'); i >= 0 {
			return before + "://…" + after[i:]
		}
	}
	return text
}

func (r *Ref) registry(rest string) error {
	if host, _, _ := strings.Cut(rest, "/"); strings.Contains(host, "@") {
		return errors.New("contains a user name or a password; use --username and --password-stdin")
	}
	ref, err := registry.ParseReference(rest)
	if err != nil {
		return err
	}
	r.kind, r.host, r.repository, r.tag = registryRef, ref.Registry, ref.Repository, ref.Reference
	return nil
}

// layout splits a tag or a digest from the end of a folder's name.
func (r *Ref) layout(rest string) error {
	r.kind, r.path = layoutRef, rest
	if folder, sum, ok := strings.Cut(rest, "@"); ok && strings.HasPrefix(sum, "sha256:") {
		r.path, r.tag = folder, sum
		if err := digest.Digest(sum).Validate(); err != nil {
			return fmt.Errorf("has no digest after the @: %w", err)
		}
	} else if i := strings.LastIndexByte(rest, ':'); i >= 0 && !strings.Contains(rest[i:], "/") {
		r.path, r.tag = rest[:i], rest[i+1:]
		if err := checkTag(r.tag); err != nil {
			return err
		}
	}
	if r.path == "" {
		return errors.New("names no folder")
	}
	r.path = filepath.Clean(r.path)
	return nil
}

func checkTag(tag string) error {
	if err := (registry.Reference{Reference: tag}).ValidateReferenceAsTag(); err != nil {
		return fmt.Errorf("the tag %.100q: expected letters, digits, dots, dashes and underscores, at most 128", tag)
	}
	return nil
}

func (r *Ref) web() error {
	u, err := url.Parse(r.text)
	switch {
	case err != nil:
		return errors.New("is not a URL")
	case u.User != nil:
		return errors.New("contains a user name or a password; use --username and --password-stdin")
	case u.Host == "":
		return errors.New("names no host")
	case u.Fragment != "":
		return errors.New("has a fragment (#…), which is never sent to a server")
	}
	r.kind, r.url = webRef, u
	return nil
}

// tagFor is the tag that a release gets: the one that was named, or its version.
func (r Ref) tagFor(l Label) (string, error) {
	switch {
	case strings.HasPrefix(r.tag, "sha256:"):
		return "", errors.New("names a digest, but a push needs a tag, such as :1.4.0 or :stable")
	case r.tag != "":
		return r.tag, nil
	}
	tag := strings.ReplaceAll(l.Version, "+", "_") // not allowed in a tag
	if checkTag(tag) != nil {
		return "", errors.New("names no tag, and the release has no version; name one, such as :1.4.0 or :stable")
	}
	return tag, nil
}

// Loopback reports whether a host, with or without a port, is this machine. Names are
// not resolved, because the result may change.
func Loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}
