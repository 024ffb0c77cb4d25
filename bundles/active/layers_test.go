package active

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/releases"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/bundles/trust"
)

// governed is a machine with a folder of the organisation and, where keys are
// given, a trust file that it wrote.
func governed(t *testing.T, folder bool, keys ...*signing.PrivateKey) *Layers {
	t.Helper()
	h := Machine{Home: t.TempDir()}.layersWith("", &releases.Active{Layers: map[string]releases.Activation{}})
	h.organisation = filepath.Join(t.TempDir(), "policy")
	if folder {
		if err := os.Mkdir(h.organisation, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(h.organisation, "settings.yaml"), []byte("enforcement: enforce\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h.trust = func() (Trust, error) {
		if len(keys) == 0 {
			return Trust{}, nil
		}
		var public []signing.PublicKey
		for _, k := range keys {
			public = append(public, k.PublicKey())
		}
		own, err := trust.OfKeys(public, len(public))
		return Trust{Trust: own, Path: "/etc/reviewer/trust.yaml", Organisation: true}, err
	}
	return h
}

func signer(t *testing.T) *signing.PrivateKey {
	t.Helper()
	k, err := signing.Generate(signing.Ed25519)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func opened(t *testing.T, archive []byte) bundles.Memory {
	t.Helper()
	a, err := bundles.OpenArchive(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	return a.Memory
}

// releaseOf is what is said about an archive.
func releaseOf(t *testing.T, archive []byte, layer string) signing.Release {
	t.Helper()
	b, err := bundles.Load(opened(t, archive), layer)
	if err != nil {
		t.Fatal(err)
	}
	return signing.Release{Name: "acme/agents", Version: "1.4.0", Channel: "stable", Sequence: 42, Policy: b.Digest,
		Created: signing.TimeOf(time.Now().Add(-time.Hour)), Requires: map[string]int{"engine": 1}, Capabilities: signing.SHA256(nil), SkippedTests: true}
}

// sealed is the envelope of an archive, signed by keys.
func sealed(t *testing.T, archive []byte, r signing.Release, keys ...*signing.PrivateKey) []byte {
	t.Helper()
	e, err := signing.Seal(signing.SubjectOf("acme.tar.gz", archive), r)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if err := e.Sign(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// put makes a bundle active as the store has it, whatever anyone thinks of it.
func (h *Layers) put(t *testing.T, layer string, archive, envelope []byte, change func(*releases.Release)) {
	t.Helper()
	b, err := bundles.Load(opened(t, archive), layer)
	if err != nil {
		t.Fatal(err)
	}
	r := releases.Release{Archive: releases.Sum(archive), Digest: b.Digest, Name: "acme/agents", Channel: "stable", Version: "1.4.0", Sequence: 42}
	if envelope != nil {
		r.Envelope = releases.Sum(envelope)
	}
	change(&r)
	_, err = h.Releases.Change(t.Context(), func(*releases.State) (*releases.Next, error) {
		return &releases.Next{Layer: layer, Release: r, Archive: archive, Envelope: envelope, At: 1_900_000_000_000}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if h.Active, err = h.Releases.Active(); err != nil {
		t.Fatal(err)
	}
}

func (h *Layers) says(t *testing.T, layer, want string) {
	t.Helper()
	s, err := h.Source(layer)
	switch {
	case want == "" && (err != nil || s == nil):
		t.Errorf("%s: %v, %+v", layer, err, s)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: %v; expected %q", layer, err, want)
	}
}

// The organisation's folder holds; where a trust file says whose signatures
// count, it is refused, and never passed over.
func TestOrganisationsFolder(t *testing.T) {
	governed(t, true).says(t, bundles.Organisation, "")
	governed(t, true, signer(t)).says(t, bundles.Organisation, "is an unsigned folder")
	if s, err := governed(t, false, signer(t)).Source(bundles.Organisation); s != nil || err != nil {
		t.Errorf("no folder: %+v, %v", s, err)
	}
}

// bundleOf packs a small bundle of a layer.
func bundleOf(t *testing.T, layer string) []byte {
	t.Helper()
	var b *bundles.Bundle
	var err error
	if layer == bundles.Base {
		b, err = bundles.Default()
	} else {
		b, err = bundles.FromFiles(map[string][]byte{
			".manifest":     []byte(`{"roots": ["policies/` + layer + `"], "rego_version": 1, "metadata": {"name": "acme/agents", "version": "1.4.0"}}`),
			"settings.yaml": []byte("risk: {high_threshold: 0.75}\n"),
		}, layer)
	}
	if err != nil {
		t.Fatal(err)
	}
	made, err := bundles.Pack(b, bundles.Release{Name: "acme/agents", Version: "1.4.0", Sequence: 42, Engine: 1, Capabilities: signing.SHA256(nil), TestsSkipped: true})
	if err != nil {
		t.Fatal(err)
	}
	return made.Bytes
}

// What the state folder says is active is the person's word: it does not replace
// the base under the organisation's folder, nor get past the organisation's keys.
func TestActiveBundleAndOrganisation(t *testing.T) {
	alice, mallory := signer(t), signer(t)
	archive := bundleOf(t, bundles.Organisation)
	r := releaseOf(t, archive, bundles.Organisation)
	signed, forged := sealed(t, archive, r, alice), sealed(t, archive, r, mallory)
	other := bundleOf(t, bundles.User)
	otherSigned := sealed(t, other, releaseOf(t, other, bundles.User), alice)
	same := func(*releases.Release) {}
	unsigned := func(r *releases.Release) { r.Unsigned = true }
	for name, c := range map[string]struct {
		folder            bool
		keys              []*signing.PrivateKey
		layer             string
		archive, envelope []byte
		change            func(*releases.Release)
		want              string
	}{
		"no trust file":              {false, nil, bundles.Organisation, archive, nil, unsigned, ""},
		"signed":                     {false, []*signing.PrivateKey{alice}, bundles.Organisation, archive, signed, same, ""},
		"unsigned from before":       {false, []*signing.PrivateKey{alice}, bundles.Organisation, archive, nil, unsigned, "before there was a trust file"},
		"said to be signed":          {false, []*signing.PrivateKey{alice}, bundles.Organisation, archive, nil, same, "no signatures"},
		"signed by nobody trusted":   {false, []*signing.PrivateKey{alice}, bundles.Organisation, archive, forged, same, "no trusted key has signed"},
		"signature of another":       {false, []*signing.PrivateKey{alice}, bundles.Organisation, archive, otherSigned, same, "is not what was signed"},
		"one of two keys":            {false, []*signing.PrivateKey{alice, mallory}, bundles.Organisation, archive, signed, same, "and 2 have to"},
		"folder and bundle":          {true, nil, bundles.Organisation, archive, nil, unsigned, "remove the folder"},
		"base under a folder":        {true, nil, bundles.Base, bundleOf(t, bundles.Base), nil, unsigned, "written for the built-in base"},
		"base without a folder":      {false, nil, bundles.Base, bundleOf(t, bundles.Base), nil, unsigned, ""},
		"of the person, as it likes": {false, []*signing.PrivateKey{alice}, bundles.User, other, nil, unsigned, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := governed(t, c.folder, c.keys...)
			h.put(t, c.layer, c.archive, c.envelope, c.change)
			h.says(t, c.layer, c.want)
		})
	}
}

// Files that make another policy than the one that was activated are refused,
// and so is what was checked by another program where it is wrong.
func TestLoadComparesDigest(t *testing.T) {
	h := governed(t, false)
	h.put(t, bundles.Organisation, bundleOf(t, bundles.Organisation), nil, func(r *releases.Release) { r.Digest = "h1:other"; r.Unsigned = true })
	s, err := h.Source(bundles.Organisation)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(); err == nil || !strings.Contains(err.Error(), "h1:other was activated") {
		t.Errorf("got %v", err)
	}
}
