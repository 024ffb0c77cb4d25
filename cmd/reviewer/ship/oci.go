package ship

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
)

// Media types in a registry. The archive's layer has the type that OPA's
// own downloader looks for.
const (
	ArtifactType  = "application/vnd.agent-reviewer.policy.v1"
	SignatureType = "application/vnd.agent-reviewer.policy.signature.v1"
	layerType     = ocispec.MediaTypeImageLayerGzip
	envelopeType  = "application/vnd.dsse.envelope.v1+json"
)

// Annotations of a release, in addition to the standard ones. They are not signed:
// they are for people who browse a registry.
const (
	annotationName     = "io.github.agent-reviewer.policy.name"
	annotationSequence = "io.github.agent-reviewer.policy.sequence"
	annotationDigest   = "io.github.agent-reviewer.policy.digest"
)

// Bounds of what describes a release.
const (
	maxManifest  = 1 << 20 // bytes
	maxReferrers = 32      // examined per release
)

// contentStore keeps OCI content: a repository of a registry, or a layout in a folder.
type contentStore interface {
	content.Storage
	content.TagResolver
	content.PredecessorFinder
}

// item is content with its descriptor.
type item struct {
	desc ocispec.Descriptor
	raw  []byte
}

func newItem(mediaType string, raw []byte) item {
	return item{content.NewDescriptorFromBytes(mediaType, raw), raw}
}

// newManifest describes an artifact of one layer. The same artifact gives the
// same bytes: there is no time in it.
func newManifest(artifactType string, layer ocispec.Descriptor, subject *ocispec.Descriptor, annotations map[string]string) (item, error) {
	raw, err := json.Marshal(ocispec.Manifest{
		Versioned:    specs.Versioned{SchemaVersion: 2},
		MediaType:    ocispec.MediaTypeImageManifest,
		ArtifactType: artifactType,
		Config:       ocispec.DescriptorEmptyJSON,
		Layers:       []ocispec.Descriptor{layer},
		Subject:      subject,
		Annotations:  annotations,
	})
	m := newItem(ocispec.MediaTypeImageManifest, raw)
	m.desc.ArtifactType = artifactType
	return m, err
}

// releaseOf returns the manifest of a release, and its layer.
func releaseOf(p Parcel) (manifest, layer item, err error) {
	layer = newItem(layerType, p.Archive)
	layer.desc.Annotations = map[string]string{ocispec.AnnotationTitle: p.Name}
	manifest, err = newManifest(ArtifactType, layer.desc, nil, p.Label.annotations())
	return manifest, layer, err
}

// signatureOf returns the manifest of a release's signature, and its layer.
func signatureOf(p Parcel, release ocispec.Descriptor) (manifest, layer item, err error) {
	layer = newItem(envelopeType, p.Envelope)
	layer.desc.Annotations = map[string]string{ocispec.AnnotationTitle: p.Name + EnvelopeSuffix}
	subject := plain(release)
	manifest, err = newManifest(SignatureType, layer.desc, &subject, nil)
	return manifest, layer, err
}

// plain is a descriptor as others refer to it.
func plain(d ocispec.Descriptor) ocispec.Descriptor {
	return ocispec.Descriptor{MediaType: d.MediaType, Digest: d.Digest, Size: d.Size}
}

func (l Label) annotations() map[string]string {
	all := map[string]string{annotationName: l.Name, ocispec.AnnotationVersion: l.Version, annotationDigest: l.Digest}
	if l.Sequence > 0 {
		all[annotationSequence] = strconv.FormatInt(l.Sequence, 10)
	}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

func labelOf(annotations map[string]string) Label {
	sequence, _ := strconv.ParseInt(annotations[annotationSequence], 10, 64) // no number: nothing to show
	return Label{annotations[annotationName], annotations[ocispec.AnnotationVersion], sequence, annotations[annotationDigest]}
}

// pushOCI stores a release. It is tagged last, so that a release found by its tag has
// its signature.
func pushOCI(ctx context.Context, to contentStore, ref Ref, p Parcel, o Options) (Receipt, error) {
	tag, err := ref.tagFor(p.Label)
	if err != nil {
		return Receipt{}, err
	}
	manifest, layer, err := releaseOf(p)
	if err != nil {
		return Receipt{}, err
	}
	r := Receipt{Place: ref.fixed(manifest.desc), SHA256: layer.desc.Digest.Encoded(), Signed: p.Envelope != nil, Unchanged: true}
	before, err := to.Resolve(ctx, tag)
	switch {
	case errors.Is(err, errdef.ErrNotFound):
	case err != nil:
		return Receipt{}, err
	case before.Digest != manifest.desc.Digest && !o.Force:
		return Receipt{}, fmt.Errorf("the tag %s belongs to another release (%s); use another tag, or replace it with --force",
			tag, before.Digest)
	case before.Digest != manifest.desc.Digest:
		r.Replaced = before.Digest.String()
	}
	steps := []item{newItem(ocispec.MediaTypeEmptyJSON, ocispec.DescriptorEmptyJSON.Data), layer, manifest}
	if p.Envelope != nil {
		signature, envelope, err := signatureOf(p, manifest.desc)
		if err != nil {
			return Receipt{}, err
		}
		steps = append(steps, envelope, signature)
	}
	for _, i := range steps {
		sent, err := putOn(ctx, to, i)
		if err != nil {
			return Receipt{}, err
		}
		r.Unchanged = r.Unchanged && !sent
	}
	if before.Digest == manifest.desc.Digest {
		return r, nil
	}
	r.Unchanged = false
	return r, to.Tag(ctx, manifest.desc, tag)
}

// putOn stores content that is not there yet.
func putOn(ctx context.Context, to contentStore, i item) (sent bool, err error) {
	if there, err := to.Exists(ctx, i.desc); there || err != nil {
		return false, err
	}
	err = to.Push(ctx, i.desc, bytes.NewReader(i.raw))
	if errors.Is(err, errdef.ErrAlreadyExists) {
		return false, nil
	}
	return err == nil, err
}

// fixed returns the reference of a release by its digest.
func (r Ref) fixed(d ocispec.Descriptor) string {
	if r.kind == layoutRef {
		return "oci-layout:" + r.path + "@" + d.Digest.String()
	}
	return "oci://" + r.host + "/" + r.repository + "@" + d.Digest.String()
}

// pullOCI fetches a release. The tag is resolved once, and after that only digests are
// used; the archive is fetched last, and only if it is accepted.
func pullOCI(ctx context.Context, from contentStore, ref Ref, o Options, accept Accept) (Parcel, error) {
	desc, err := from.Resolve(ctx, ref.tag)
	if err != nil {
		return Parcel{}, err
	}
	manifest, err := fetchManifest(ctx, from, desc)
	if err != nil {
		return Parcel{}, err
	}
	layer, err := onlyLayer(manifest, ArtifactType, layerType, MaxArchive)
	if err != nil {
		return Parcel{}, err
	}
	p := Parcel{Name: ref.nameOf(layer), Label: labelOf(manifest.Annotations), Place: ref.fixed(desc)}
	if p.Envelope, err = envelopeFor(ctx, from, desc, Offer{Place: p.Place, Name: p.Name, SHA256: layer.Digest.Encoded()},
		o.First, accept); err != nil {
		return Parcel{}, err
	}
	if o.Have != nil && digest.FromBytes(o.Have.Archive) == layer.Digest {
		p.Archive, p.Unchanged = o.Have.Archive, true
		return p, nil
	}
	p.Archive, err = fetch(ctx, from, layer)
	return p, err
}

// nameOf is the name of the archive's file: the one that it had, where that is a
// plain name, else one that is made from the reference.
func (r Ref) nameOf(layer ocispec.Descriptor) string {
	if title := layer.Annotations[ocispec.AnnotationTitle]; CheckName(title) == nil {
		return title
	}
	name := path.Base(r.repository) + "-" + r.tag + ".tar.gz"
	if strings.HasPrefix(r.tag, "sha256:") || CheckName(name) != nil {
		return "policy-" + layer.Digest.Encoded()[:12] + ".tar.gz"
	}
	return name
}

func fetchManifest(ctx context.Context, from contentStore, desc ocispec.Descriptor) (ocispec.Manifest, error) {
	var m ocispec.Manifest
	switch {
	case desc.MediaType == ocispec.MediaTypeImageIndex:
		return m, errors.New("found an index of several images; expected one policy, as pushed by reviewer policy push")
	case desc.MediaType != ocispec.MediaTypeImageManifest:
		return m, fmt.Errorf("found a manifest of type %.100q; expected a policy, as pushed by reviewer policy push", desc.MediaType)
	case desc.Size > maxManifest:
		return m, fmt.Errorf("the manifest has %d bytes, at most %d are allowed", desc.Size, maxManifest)
	}
	raw, err := fetch(ctx, from, desc)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("the manifest is not valid: %w", err)
	}
	return m, nil
}

// fetch gets content whose size the caller has bounded, and compares it with its
// digest.
func fetch(ctx context.Context, from contentStore, desc ocispec.Descriptor) ([]byte, error) {
	if desc.Digest.Algorithm() != digest.SHA256 {
		return nil, fmt.Errorf("the digest %.100q is not a SHA-256 digest", desc.Digest)
	}
	if err := desc.Digest.Validate(); err != nil {
		return nil, fmt.Errorf("the digest %.100q: %w", desc.Digest, err)
	}
	return content.FetchAll(ctx, from, desc)
}

// onlyLayer returns the one layer that an artifact of reviewer has.
func onlyLayer(m ocispec.Manifest, artifactType, mediaType string, most int64) (ocispec.Descriptor, error) {
	var none ocispec.Descriptor
	switch {
	case m.ArtifactType != artifactType:
		return none, fmt.Errorf("found an artifact of type %.100q; expected %q, as pushed by reviewer policy push",
			firstOf(m.ArtifactType, m.Config.MediaType), artifactType)
	case len(m.Layers) != 1:
		return none, fmt.Errorf("found %d layers; expected one", len(m.Layers))
	case m.Layers[0].MediaType != mediaType:
		return none, fmt.Errorf("its layer is of type %.100q; expected %q", m.Layers[0].MediaType, mediaType)
	case m.Layers[0].Size <= 0 || m.Layers[0].Size > most:
		return none, fmt.Errorf("its layer has %d bytes; expected 1 to %d", m.Layers[0].Size, most)
	case m.Layers[0].Digest.Algorithm() != digest.SHA256 || m.Layers[0].Digest.Validate() != nil:
		return none, fmt.Errorf("its layer has the digest %.100q; expected a SHA-256 digest", m.Layers[0].Digest)
	}
	return m.Layers[0], nil
}

func firstOf(words ...string) string {
	return words[max(0, slices.IndexFunc(words, func(w string) bool { return w != "" }))]
}

// envelopeFor offers a release with each of its envelopes, those that come first and then in the order of their
// digests, and without one if there is none. It returns the one that was accepted, or why the first was refused.
func envelopeFor(ctx context.Context, from contentStore, release ocispec.Descriptor, offer Offer, first func([]byte) bool,
	accept Accept) ([]byte, error) {
	envelopes, err := envelopesOf(ctx, from, release)
	var refused error
	for _, early := range []bool{true, false} {
		for _, envelope := range envelopes {
			if (first != nil && first(envelope)) != early {
				continue
			}
			offer.Envelope = envelope
			why := accept(offer)
			if why == nil {
				return envelope, nil
			}
			refused = cmp.Or(refused, why)
		}
	}
	if err = cmp.Or(err, refused); err != nil {
		return nil, err
	}
	return nil, accept(offer)
}

// envelopesOf fetches the envelopes of a release, in the order of the digests of the artifacts that they are in. The error is
// about the first that could not be fetched; another may be enough.
func envelopesOf(ctx context.Context, from contentStore, release ocispec.Descriptor) (envelopes [][]byte, failed error) {
	found, err := from.Predecessors(ctx, release)
	if err != nil {
		return nil, fmt.Errorf("list signatures: %w", err)
	}
	if len(found) > maxReferrers {
		return nil, fmt.Errorf("%d artifacts refer to the release, at most %d are allowed; delete those that are not yours",
			len(found), maxReferrers)
	}
	slices.SortFunc(found, func(a, b ocispec.Descriptor) int { return strings.Compare(string(a.Digest), string(b.Digest)) })
	for _, d := range slices.CompactFunc(found, func(a, b ocispec.Descriptor) bool { return a.Digest == b.Digest }) {
		envelope, err := fetchEnvelope(ctx, from, release, d)
		if err != nil {
			failed = cmp.Or(failed, fmt.Errorf("fetch the signature %s: %w", d.Digest, err))
		} else if envelope != nil {
			envelopes = append(envelopes, envelope)
		}
	}
	return envelopes, failed
}

// fetchEnvelope returns the envelope of a referrer; nil if it is of another kind, such
// as an SBOM.
func fetchEnvelope(ctx context.Context, from contentStore, release, referrer ocispec.Descriptor) ([]byte, error) {
	if referrer.MediaType != ocispec.MediaTypeImageManifest || referrer.Size > maxManifest {
		return nil, nil
	}
	m, err := fetchManifest(ctx, from, referrer)
	if err != nil {
		return nil, err
	}
	if m.ArtifactType != SignatureType || m.Subject == nil || m.Subject.Digest != release.Digest {
		return nil, nil
	}
	layer, err := onlyLayer(m, SignatureType, envelopeType, MaxEnvelope)
	if err != nil {
		return nil, err
	}
	return fetch(ctx, from, layer)
}
