package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/releasecmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	opa "github.com/open-policy-agent/opa/v1/bundle"
)

// packedArchive is an archive of the built-in policy, with its results.
func packedArchive(t *testing.T) string {
	t.Helper()
	b, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := releasecmd.CapabilitiesDigest()
	if err != nil {
		t.Fatal(err)
	}
	p, err := bundles.Pack(b, bundles.Release{Capabilities: digest, TestsSkipped: true})
	if err != nil {
		t.Fatal(err)
	}
	m := p.Manifest.Metadata
	results, err := (&bundles.Results{
		V: bundles.ResultsVersion, Archive: p.Sum, Policy: b.Digest, Layer: b.Layer, Name: m.Name, Version: m.Version, Sequence: m.Sequence,
		Requires: m.Requires, Skipped: true, Coverage: []bundles.CoverageOfKind{}, Built: cli.Environment(), Capabilities: digest,
	}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "policy.tar.gz")
	for name, content := range map[string][]byte{path: p.Bytes, path + bundles.ResultsSuffix: results} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// ecdsaKey makes a key in a file, and returns the PEM of its public half.
func ecdsaKey(t *testing.T, path string) (public string, id string) {
	t.Helper()
	key, err := signing.Generate(signing.ECDSAP256)
	if err != nil {
		t.Fatal(err)
	}
	private, _, err := key.Marshal(signing.FormPEM, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, private, 0o600); err != nil {
		t.Fatal(err)
	}
	return key.PublicKey().PEM(), key.PublicKey().ID()
}

// OPA itself takes an archive that was signed with --opa, for its channel and
// with the right key; and no other.
func TestOPATakesItsSignature(t *testing.T) {
	path := packedArchive(t)
	keyFile := filepath.Join(t.TempDir(), "key")
	public, id := ecdsaKey(t, keyFile)
	other, _ := ecdsaKey(t, filepath.Join(t.TempDir(), "other"))
	a := &cli.App{Streams: term.Streams{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Env: func(string) string { return "" }}}
	if code := run(context.Background(), a, []string{"policy", "sign", path, "--signing-key", keyFile, "--opa", "--channel", "beta"}); code != cli.ExitOK {
		t.Fatalf("exit code %d", code)
	}
	archive, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files, err := bundles.OpenArchive(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files.Memory["data.yaml"] = append(files.Memory["data.yaml"], "\nadded: 1\n"...)
	changed, err := bundles.WithSignatures(archive, files.Memory[".signatures.json"])
	if err != nil || !bytes.Equal(changed, archive) {
		t.Fatalf("putting the same signatures in again gives another archive (%v)", err)
	}
	without, err := bundles.WithSignatures(archive, []byte(`{"signatures":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	read := func(archive []byte, public, id, scope string) error {
		keys := map[string]*opa.KeyConfig{id: {Key: public, Algorithm: "ES256"}}
		_, err := opa.NewReader(bytes.NewReader(archive)).WithBundleVerificationConfig(opa.NewVerificationConfig(keys, "", scope, nil)).Read()
		return err
	}
	if err := read(archive, public, id, "beta"); err != nil {
		t.Errorf("OPA refuses the archive: %v", err)
	}
	if read(archive, other, id, "beta") == nil || read(archive, public, "another", "beta") == nil || read(archive, public, id, "stable") == nil || read(without, public, id, "beta") == nil {
		t.Error("OPA takes another key, another key's id, another scope, or no signature")
	}
}
