package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	opa "github.com/open-policy-agent/opa/v1/bundle"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// packedArchive is an archive of the policy that ships, with its results.
func packedArchive(t *testing.T) string {
	t.Helper()
	b, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := capabilitiesDigest()
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
		Requires: m.Requires, Skipped: true, Coverage: []bundles.CoverageOfKind{}, Built: environment(), Capabilities: digest,
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
	a := &app{streams: streams{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, env: func(string) string { return "" }}}
	if code := a.run(context.Background(), []string{"policy", "sign", path, "--signing-key", keyFile, "--opa", "--channel", "beta"}); code != exitOK {
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

func TestExpiry(t *testing.T) {
	created, err := dateOf("--created", "2026-11-22")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                          "",
		"90d":                       "2027-02-20T00:00:00Z",
		"36h":                       "2026-11-23T12:00:00Z",
		"1500ms":                    "2026-11-22T00:00:01Z",
		"2027-01-31":                "2027-01-31T00:00:00Z",
		"2027-01-31T15:04:05":       "2027-01-31T15:04:05Z",
		"2027-01-31T15:04:05+02:00": "2027-01-31T13:04:05Z",
		"0d":                        "not behind",
		"999ms":                     "not behind",
		"2026-11-22":                "not behind",
		"-3d":                       "expected a date",
		"soon":                      "expected a date",
		"0001-01-01":                "expected a date",
	} {
		got, err := expiry(text, created)
		switch {
		case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", text, err, want)
		case err == nil && got == 0 && want != "", err == nil && got != 0 && got.String() != want:
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestAttested(t *testing.T) {
	whole := simulate.Impact{
		Version: simulate.ImpactVersion, Baseline: simulate.Named{Recorded: true}, Candidate: simulate.Named{Digest: "abc"},
		Calls:  simulate.Tally{Total: 20, States: map[simulate.State]int64{simulate.Unchanged: 10, simulate.Tightened: 2, simulate.Loosened: 1, simulate.Unknown: 1}, After: map[simulate.State]int64{simulate.Loosened: 4, simulate.Maybe: 1, simulate.Incomparable: 1}},
		Events: simulate.Tally{Total: 5, States: map[simulate.State]int64{simulate.Loosened: 5}},
	}
	for _, c := range []struct {
		name   string
		change func(*simulate.Impact)
		want   string
	}{
		{"whole", func(*simulate.Impact) {}, ""},
		{"another policy", func(m *simulate.Impact) { m.Candidate.Digest = "abd" }, "of another policy"},
		{"what was recorded", func(m *simulate.Impact) { m.Candidate.Recorded = true }, "of another policy"},
		{"interrupted", func(m *simulate.Impact) { m.Partial = "interrupted" }, "of a part only"},
		{"a shard", func(m *simulate.Impact) { m.Shard = &simulate.Shard{Index: 1, Of: 2} }, "of a part only"},
		{"unread files", func(m *simulate.Impact) { m.Sources.Failed = 1 }, "could not be read"},
		{"another version", func(m *simulate.Impact) { m.Version++ }, "is a report of version"},
	} {
		m := whole
		c.change(&m)
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "report.json")
		if err := os.WriteFile(file, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := attested(file, "abc")
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", c.name, err, c.want)
			}
			continue
		}
		want := &signing.Simulation{Baseline: "recorded", Decisions: 25, Changed: 13, Tightened: 2, Loosened: 10, Maybe: 1, Unknown: 2, Report: signing.SHA256(raw)}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
	}
}
