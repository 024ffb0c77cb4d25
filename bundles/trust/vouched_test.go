package trust

import (
	"errors"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/google/go-cmp/cmp"
)

// vouchedStatement is the statement of a release as bytes.
func vouchedStatement(t *testing.T, archive []byte, change func(*signing.Release)) []byte {
	t.Helper()
	r := release()
	if change != nil {
		change(&r)
	}
	e, err := signing.DecodeEnvelope(sealed(t, archive, r))
	if err != nil {
		t.Fatal(err)
	}
	return e.Payload
}

func TestCheckVouched(t *testing.T) {
	who := Signer{"release@acme.example of https://issuer.acme.example", strings.Repeat("a", 64)}
	other := func(kind string) []byte { return []byte(`{"predicateType":"` + kind + `"}`) }
	said := func(change func(*signing.Release)) func(*testing.T, *Candidate, *ExternalSignature) {
		return func(t *testing.T, in *Candidate, by *ExternalSignature) {
			by.Statement = vouchedStatement(t, in.Archive, change)
		}
	}
	for _, test := range []struct {
		name    string
		change  func(*testing.T, *Candidate, *ExternalSignature)
		code    Code
		channel string
		warns   string
	}{
		{"bytes", func(*testing.T, *Candidate, *ExternalSignature) {}, "", "", "neither a channel"},
		{"provenance", func(_ *testing.T, _ *Candidate, by *ExternalSignature) { by.Statement = other(provenanceType) }, "", "", "neither a channel"},
		{"release", said(nil), "", "stable", "without running its tests"},
		{"a statement that is not a release", func(_ *testing.T, _ *Candidate, by *ExternalSignature) {
			by.Statement = other("https://in-toto.io/attestation/test-result/v0.1")
		}, Unsigned, "", ""},
		{"a statement that cannot be read", func(_ *testing.T, _ *Candidate, by *ExternalSignature) { by.Statement = []byte("{") }, Unsigned, "", ""},
		{"an empty statement", func(_ *testing.T, _ *Candidate, by *ExternalSignature) { by.Statement = []byte{} }, Unsigned, "", ""},
		{"a release that lacks all", func(_ *testing.T, _ *Candidate, by *ExternalSignature) { by.Statement = other(signing.ReleaseType) }, Unsigned, "", ""},
		{"release of another archive", func(t *testing.T, _ *Candidate, by *ExternalSignature) {
			by.Statement = vouchedStatement(t, []byte("other"), nil)
		}, Digest, "stable", ""},
		{"release of another policy", said(func(r *signing.Release) { r.Policy = "h1:other" }), Digest, "stable", ""},
		{"release of another sequence than the manifest", said(func(r *signing.Release) { r.Sequence = 43 }), Scope, "stable", ""},
		{"release that expired", said(func(r *signing.Release) { r.Created, r.Expires = 1000, 2000 }), Expired, "stable", ""},
		{"release of another channel", func(t *testing.T, in *Candidate, by *ExternalSignature) {
			in.Channel, by.Statement = "beta", vouchedStatement(t, in.Archive, nil)
		}, Scope, "stable", ""},
		{"bytes for a channel", func(_ *testing.T, in *Candidate, _ *ExternalSignature) { in.Channel = "stable" }, Scope, "", ""},
		{"bytes of another name", func(_ *testing.T, in *Candidate, _ *ExternalSignature) { in.Name = "acme/other" }, Scope, "", ""},
		{"bytes signed in the future", func(_ *testing.T, in *Candidate, by *ExternalSignature) { by.At = in.Now + 2*skew.Milliseconds() }, Expired, "", ""},
		{"bytes that are older", func(_ *testing.T, in *Candidate, _ *ExternalSignature) { in.Highest = seen(43, "x") }, Rollback, "", ""},
		{"bytes that are not an archive", func(_ *testing.T, in *Candidate, _ *ExternalSignature) { in.Archive = []byte("x") }, Unpack, "", ""},
		{"bytes that do not compile", func(_ *testing.T, in *Candidate, _ *ExternalSignature) {
			in.Compile = func(bundles.Memory) (string, error) { return "", errors.New("no") }
		}, Compile, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			in, by := candidate(t), ExternalSignature{Signer: who}
			in.Compile = func(bundles.Memory) (string, error) { return "h1:policy", nil }
			by.At = in.Now - 1000
			test.change(t, &in, &by)
			v := CheckExternal(in, func() (ExternalSignature, error) { return by, nil })
			if v.Code != test.code || v.Verified != (test.code == "") || v.Unsigned {
				t.Fatalf("got %s: %s (%+v)", v.Code, v.Reason, v)
			}
			if diff := cmp.Diff([]Signer{who}, v.Signers); diff != "" {
				t.Error(diff)
			}
			if v.Release != nil && v.Release.Channel != test.channel {
				t.Errorf("of the channel %q, want %q", v.Release.Channel, test.channel)
			}
			if got := strings.Join(v.Warnings, "\n"); test.code == "" && (!strings.Contains(got, test.warns) || test.warns == "" && got != "") {
				t.Errorf("warnings are %q", got)
			}
		})
	}
}

// Nothing of the archive is read if nobody signed it.
func TestNobodyVouches(t *testing.T) {
	in := candidate(t)
	in.Archive = bomb(t)
	in.Compile = func(bundles.Memory) (string, error) { t.Error("compiled"); return "", nil }
	v := CheckExternal(in, func() (ExternalSignature, error) { return ExternalSignature{}, refuse(Threshold, "nobody") })
	if v.Verified || v.Code != Threshold || v.Reason != "nobody" || v.Release != nil || len(v.Signers) != 0 || v.Files != nil {
		t.Errorf("got %+v", v)
	}
}
