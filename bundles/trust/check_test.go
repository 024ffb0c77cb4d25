package trust

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/signing"
)

func TestCheckPasses(t *testing.T) {
	in := candidate(t)
	in.Compile = func(files bundles.Memory) (string, error) {
		if string(files[".manifest"]) != manifest || len(files) != 2 {
			t.Errorf("the files are %v", files)
		}
		return "h1:policy", nil
	}
	v := parsed(t).Check(in)
	if v.Refused() || v.Err() != nil || !v.Verified || v.Unsigned || !v.Compiled || v.Rollback {
		t.Fatalf("got %+v", v)
	}
	want := []Signer{{"alice", people["alice"].PublicKey().ID()}, {"bob", people["bob"].PublicKey().ID()}}
	if diff := cmp.Diff(want, v.Signers); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]RequiredRole{{Role: "release", Threshold: 2, Signed: 2}}, v.Asked); diff != "" {
		t.Error(diff)
	}
	if v.SHA256 != signing.SHA256(in.Archive) || v.Release.Sequence != 42 || v.Policy != "h1:policy" || v.Trust != 1 {
		t.Errorf("got %+v", v)
	}
}

// An archive that the trust file revokes is refused although enough keys signed it.
func TestCheckRevoked(t *testing.T) {
	in, trusted := candidate(t), parsed(t)
	trusted.Revoked = []string{signing.SHA256(in.Archive)}
	if v := trusted.Check(in); v.Code != Revoked || !strings.Contains(v.Reason, "version 1 of the trust file revokes acme/agents 1.4.0, "+
		"sequence 42, channel stable (SHA-256 "+signing.SHA256(in.Archive)+")") {
		t.Errorf("got %+v", v)
	}
	if v := trusted.Offered(in, signing.SHA256(in.Archive)); v.Code != Revoked {
		t.Errorf("it would be fetched: %+v", v)
	}
	trusted.Revoked[0] = signing.SHA256([]byte("another"))
	if v := trusted.Check(in); v.Refused() {
		t.Errorf("got %+v", v)
	}
}

// attack is one way in which a bundle is not what it should be. change makes it
// of one with which nothing is wrong.
type attack struct {
	name   string
	change func(*testing.T, *Candidate)
	code   Code
	says   string // in the reason: what to do
}

// resigned is a changed archive that was signed by whom it should be: what is
// wrong with it is inside.
func resigned(entries ...entry) func(*testing.T, *Candidate) {
	return func(t *testing.T, in *Candidate) { resign(t, in, plainArchive(t, entries...)) }
}

func resign(t *testing.T, in *Candidate, archive []byte) {
	t.Helper()
	in.Archive, in.Envelope = archive, sealed(t, archive, release(), "alice", "bob")
}

// said is a release of which something else is said.
func said(change func(*signing.Release), who ...string) func(*testing.T, *Candidate) {
	return func(t *testing.T, in *Candidate) {
		r := release()
		change(&r)
		in.Envelope = sealed(t, in.Archive, r, who...)
	}
}

// envelopeJSON changes an envelope's text as whoever carries it could.
func envelopeJSON(change func(doc map[string]any, signatures []any)) func(*testing.T, *Candidate) {
	return func(t *testing.T, in *Candidate) {
		var doc map[string]any
		if err := json.Unmarshal(in.Envelope, &doc); err != nil {
			t.Fatal(err)
		}
		signatures, _ := doc["signatures"].([]any)
		change(doc, signatures)
		in.Envelope, _ = json.Marshal(doc)
	}
}

func attacks() []attack {
	return slices.Concat(signatureAttacks(), archiveAttacks(), releaseAttacks())
}

// signatureAttacks are those on signatures and their envelope.
func signatureAttacks() []attack {
	return []attack{
		{"stripped signature", func(_ *testing.T, in *Candidate) { in.Envelope = nil }, Unsigned, "get that file, or have the archive"},
		{"envelope without signatures", func(t *testing.T, in *Candidate) { in.Envelope = sealed(t, in.Archive, release()) }, Unsigned, "no signature"},
		{"envelope truncated", func(_ *testing.T, in *Candidate) { in.Envelope = in.Envelope[:len(in.Envelope)/2] }, Unsigned, "get it again"},
		{"signature over another archive", func(t *testing.T, in *Candidate) {
			in.Archive = plainArchive(t, entry{name: "more.rego", content: "package reviewer\n"})
		}, Digest, "is not what was signed"},
		{"a byte of the archive changed", func(_ *testing.T, in *Candidate) { in.Archive[20] ^= 1 }, Digest, "is not what was signed"},
		{"one key twice", func(t *testing.T, in *Candidate) {
			in.Envelope = sealed(t, in.Archive, release(), "alice")
			envelopeJSON(func(doc map[string]any, s []any) { doc["signatures"] = append(s, s[0]) })(t, in)
		}, Threshold, "signed by 1 of the keys of role release (alice, bob), and 2 have to"},
		{"one key twice, under the other's id", func(t *testing.T, in *Candidate) {
			in.Envelope = sealed(t, in.Archive, release(), "alice")
			envelopeJSON(func(doc map[string]any, s []any) {
				second := map[string]any{"keyid": people["bob"].PublicKey().ID(), "sig": s[0].(map[string]any)["sig"]}
				doc["signatures"] = append(s, second)
			})(t, in)
		}, Threshold, "signed by 1"},
		{"too few", func(t *testing.T, in *Candidate) { in.Envelope = sealed(t, in.Archive, release(), "bob") }, Threshold, "have the archive that it came from signed (`reviewer policy sign ARCHIVE --add"},
		{"unknown key", func(t *testing.T, in *Candidate) { in.Envelope = sealed(t, in.Archive, release(), "mallory") }, Threshold, "trust show"},
		{"unknown key under a known id", func(t *testing.T, in *Candidate) {
			in.Envelope = sealed(t, in.Archive, release(), "mallory")
			envelopeJSON(func(_ map[string]any, s []any) { s[0].(map[string]any)["keyid"] = people["alice"].PublicKey().ID() })(t, in)
		}, Threshold, "trust show"},
		{"key of another role", func(t *testing.T, in *Candidate) {
			in.Envelope = sealed(t, in.Archive, release(), "alice", "carol", "sec")
		}, Threshold, "signed by 1 of the keys of role release"},
		{"algorithm confusion: the public key as a secret", func(t *testing.T, in *Candidate) {
			envelopeJSON(func(_ map[string]any, s []any) {
				for _, one := range s {
					one.(map[string]any)["sig"] = base64.StdEncoding.EncodeToString([]byte(signing.SHA256([]byte(people["alice"].PublicKey().PEM()))))
				}
			})(t, in)
		}, Threshold, "trust show"},
		{"algorithm confusion: a field alg", envelopeJSON(func(_ map[string]any, s []any) { s[0].(map[string]any)["alg"] = "none" }), Unsigned, "unknown field"},
		{"another payload type", envelopeJSON(func(doc map[string]any, _ []any) { doc["payloadType"] = "text/plain" }), Unsigned, "in-toto"},
		{"payload changed", envelopeJSON(func(doc map[string]any, _ []any) {
			raw, _ := base64.StdEncoding.DecodeString(doc["payload"].(string))
			doc["payload"] = base64.StdEncoding.EncodeToString(bytes.Replace(raw, []byte(`"sequence":42`), []byte(`"sequence":99`), 1))
		}), Threshold, "trust show"},
		{"a trust file's statement", func(t *testing.T, in *Candidate) { in.Envelope = signedFile(t, trustFile(t), "alice", "bob").Envelope }, Unsigned, "not a policy release"},
	}
}

// archiveAttacks are those on the archive, rightly signed.
func archiveAttacks() []attack {
	return []attack{
		{"extra file", func(t *testing.T, in *Candidate) {
			in.Archive = plainArchive(t, entry{name: "extra.rego", content: "package reviewer\n"})
		}, Digest, "get the archive that belongs"},
		{"duplicate entries", resigned(entry{name: "policy.rego", content: "package other\n"}), Unpack, "twice"},
		{"duplicate entries, spelled otherwise", resigned(entry{name: "./policy.rego", content: "package other\n"}), Unpack, "twice"},
		{"traversal", resigned(entry{name: "../policy.rego", content: "x"}), Unpack, "points outside the archive"},
		{"symlink", resigned(entry{name: "link.rego", kind: tar.TypeSymlink, link: "/etc/passwd"}), Unpack, "a link"},
		{"hard link", resigned(entry{name: "link.rego", kind: tar.TypeLink, link: "policy.rego"}), Unpack, "a link"},
		{"device", resigned(entry{name: "null.rego", kind: tar.TypeChar}), Unpack, "a device"},
		{"gzip bomb", func(t *testing.T, in *Candidate) { resign(t, in, bomb(t)) }, Unpack, "more than 64 MB"},
		{"too large", func(_ *testing.T, in *Candidate) { in.Archive = make([]byte, MaxArchive+1) }, Unpack, "more than 16 MB"},
		{"no gzip", func(t *testing.T, in *Candidate) { resign(t, in, []byte("PK\x03\x04 something")) }, Unpack, "zip"},
		{"truncated", func(t *testing.T, in *Candidate) { resign(t, in, in.Archive[:len(in.Archive)-20]) }, Unpack, "truncated"},
		{"two manifests", resigned(entry{name: "/.manifest", content: manifest}), Unpack, "twice"},
		{"a manifest below", resigned(entry{name: "sub/.manifest", content: manifest}), Unpack, "second one"},
		{"a manifest by its end", resigned(entry{name: "x.manifest", content: manifest}), Unpack, "second one"},
		{"two signature files", resigned(entry{name: ".signatures.json", content: "{}"}, entry{name: "sub/.signatures.json", content: "{}"}), Unpack, "second one"},
		{"case-folded names", resigned(entry{name: "Policy.rego", content: "package reviewer\n"}), Unpack, "differ only in case"},
		{"case-folded manifest", resigned(entry{name: ".Manifest", content: manifest}), Unpack, "remove it"},
		{"delta bundle", resigned(entry{name: "patch.json", content: `{"data":[]}`}), Unpack, "complete bundles"},
		{"no manifest", func(t *testing.T, in *Candidate) {
			resign(t, in, packed(t, entry{name: "policy.rego", content: "package reviewer\n"}))
		}, Unpack, "policy build"},
		{"a manifest of another policy", func(t *testing.T, in *Candidate) {
			resign(t, in, packed(t, entry{name: ".manifest", content: strings.Replace(manifest, "acme/agents", "acme/other", 1)}))
		}, Scope, "its manifest has name"},
		{"a manifest of another sequence", func(t *testing.T, in *Candidate) {
			resign(t, in, packed(t, entry{name: ".manifest", content: strings.Replace(manifest, "42", "43", 1)}))
		}, Scope, "its manifest has sequence"},
	}
}

// releaseAttacks are those on what the release says, and on time.
func releaseAttacks() []attack {
	return []attack{
		{"older sequence", func(_ *testing.T, in *Candidate) { in.Highest = seen(43, "x") }, Rollback, "--allow-rollback"},
		{"equal sequence, other digest", func(_ *testing.T, in *Candidate) { in.Highest = seen(42, "x") }, Rollback, "seen before with sequence 42"},
		{"what was seen cannot be read", func(_ *testing.T, in *Candidate) {
			in.Highest = func(string, string) (Highest, error) { return Highest{}, errors.New("seen.json is missing") }
		}, Rollback, "seen.json is missing"},
		{"what was seen cannot be read, and a rollback is allowed for one that is gone", func(_ *testing.T, in *Candidate) {
			in.Now = 0
			in.AllowRollback = true
		}, Expired, "set the clock"},
		{"expired", func(_ *testing.T, in *Candidate) { in.Now = today + 30*day }, Expired, "release it again"},
		{"older than the channel takes", func(t *testing.T, in *Candidate) {
			said(func(r *signing.Release) { r.Created, r.Expires = signing.Time(today-90*day), 0 }, "alice", "bob")(t, in)
		}, Expired, "may be at most 90d old"},
		{"clock moved back before it was made", func(_ *testing.T, in *Candidate) { in.Now = today - 3*day }, Expired, "set the clock"},
		{"clock moved back, and the log knows better", func(_ *testing.T, in *Candidate) { in.Latest = today + 31*day }, Expired, "expired at"},
		{"the trust file has ended", func(_ *testing.T, in *Candidate) { in.Now = today + 3*365*day }, Untrusted, "version 2, with a later expiry"},
		{"channel swap: signed for another", said(func(r *signing.Release) { r.Channel = "beta" }, "alice", "bob"), Threshold, "of the keys of role beta"},
		{"channel swap: rightly signed, not the one followed", func(t *testing.T, in *Candidate) {
			said(func(r *signing.Release) { r.Channel = "beta" }, "carol")(t, in)
			in.Channel = "stable"
		}, Scope, "expected stable"},
		{"unknown channel", said(func(r *signing.Release) { r.Channel = "nightly" }, "alice", "bob"), Scope, "expected one of beta, stable"},
		{"a policy that may not come on the channel", said(func(r *signing.Release) { r.Name = "acme/other" }, "alice", "bob"), Scope, "expected one of acme/agents"},
		{"a policy other than the requested one", func(_ *testing.T, in *Candidate) { in.Name = "acme/shop" }, Scope, "expected acme/shop"},
		{"engine", said(func(r *signing.Release) { r.Requires["engine"] = 999 }, "alice", "bob"), Engine, "update reviewer"},
		{"engine of another kind", said(func(r *signing.Release) { r.Requires["warp"] = 1 }, "alice", "bob"), Engine, "update reviewer"},
		{"does not compile", func(_ *testing.T, in *Candidate) {
			in.Compile = func(bundles.Memory) (string, error) { return "", errors.New("policy.rego:1: no") }
		}, Compile, "policy.rego:1"},
		{"compiles to a policy other than the signed one", func(_ *testing.T, in *Candidate) {
			in.Compile = func(bundles.Memory) (string, error) { return "h1:other", nil }
		}, Digest, "h1:other"},
	}
}

// bomb is an archive of 3 KB per megabyte that it unpacks to.
func bomb(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	zeros := make([]byte, 1<<20)
	for i := range 70 {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: "data" + string(rune('a'+i%26)) + string(rune('a'+i/26)), Size: int64(len(zeros)), Mode: 0o644}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAttacks(t *testing.T) {
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			in := candidate(t)
			a.change(t, &in)
			v := parsed(t).Check(in)
			if !v.Refused() || v.Verified || v.Unsigned || v.Files != nil {
				t.Fatalf("passes: %+v", v)
			}
			if v.Code != a.code || !strings.Contains(v.Reason, a.says) {
				t.Errorf("got %s: %s\nwant %s: … %s", v.Code, v.Reason, a.code, a.says)
			}
			if err := v.Err(); CodeOf(err) != a.code || err.Error() != v.Reason {
				t.Errorf("the error is %v (%s)", err, CodeOf(err))
			}
		})
	}
}

// A bundle without valid signatures is neither unpacked nor compiled, whatever else
// is wrong with it: the archive here is one that nothing could read.
func TestNothingIsReadUnsigned(t *testing.T) {
	compiled := func(bundles.Memory) (string, error) {
		t.Error("it was compiled")
		return "", nil
	}
	for _, a := range attacks() {
		if a.code == Unpack || a.code == Compile || a.name == "compiles to a policy other than the signed one" || strings.HasPrefix(a.name, "a manifest of") {
			continue
		}
		in := candidate(t)
		in.Archive = []byte("no archive at all, whatever its name says")
		in.Envelope = sealed(t, in.Archive, release(), "alice", "bob")
		a.change(t, &in)
		in.Compile = compiled
		if v := parsed(t).Check(in); v.Code == Unpack {
			t.Errorf("%s: it was unpacked: %s", a.name, v.Reason)
		}
	}
}

func TestSequence(t *testing.T) {
	in := candidate(t)
	sha := signing.SHA256(in.Archive)
	for _, test := range []struct {
		name          string
		highest       Highest
		allowed, back bool
		code          Code
	}{
		{"never seen", Highest{}, false, false, ""},
		{"newer", Highest{41, "x"}, false, false, ""},
		{"the same again", Highest{42, sha}, false, false, ""},
		{"older", Highest{43, "x"}, false, false, Rollback},
		{"older, allowed", Highest{43, "x"}, true, true, ""},
		{"other digest, allowed", Highest{42, "x"}, true, true, ""},
		{"newer, and allowed anyway", Highest{41, "x"}, true, false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := in
			in.Highest, in.AllowRollback = seen(test.highest.Sequence, test.highest.SHA256), test.allowed
			v := parsed(t).Check(in)
			if v.Code != test.code || v.Rollback != test.back || (len(v.Warnings) > 1) != test.back {
				t.Errorf("got %q, rollback %t, warnings %q", v.Code, v.Rollback, v.Warnings)
			}
		})
	}
}

// The sequence is asked for under the name and channel that were signed.
func TestHighestIsAskedOfWhatWasSigned(t *testing.T) {
	in := candidate(t)
	asked := ""
	in.Highest = func(name, channel string) (Highest, error) {
		asked = name + " " + channel
		return Highest{}, nil
	}
	parsed(t).Check(in)
	if asked != "acme/agents stable" {
		t.Errorf("asked for %q", asked)
	}
}

func TestImpact(t *testing.T) {
	const gated = "max_age: 90d, impact: {when: loosened, role: security}"
	simulated := func(s signing.Simulation) *signing.Simulation {
		s.Baseline, s.Report = "h1:before", signing.SHA256(nil)
		return &s
	}
	for _, test := range []struct {
		name string
		gate string
		sim  *signing.Simulation
		who  []string
		want string // in the reason; empty: it passes
	}{
		{"nothing loosened", gated, simulated(signing.Simulation{Decisions: 100, Tightened: 3}), []string{"alice", "bob"}, ""},
		{"loosened", gated, simulated(signing.Simulation{Decisions: 100, Loosened: 2}), []string{"alice", "bob"}, "loosened 2 of 100 decisions"},
		{"loosened, and security signed", gated, simulated(signing.Simulation{Decisions: 100, Loosened: 2}), []string{"alice", "bob", "sec"}, ""},
		{"loosened, and security alone signed", gated, simulated(signing.Simulation{Decisions: 100, Loosened: 2}), []string{"sec"}, "of role release"},
		{"may have loosened", gated, simulated(signing.Simulation{Decisions: 100, Maybe: 1}), []string{"alice", "bob"}, "may have loosened 1 of 100"},
		{"not known", gated, simulated(signing.Simulation{Decisions: 100, Unknown: 7}), []string{"alice", "bob"}, "may have loosened 7 of 100"},
		{"no decision", gated, simulated(signing.Simulation{}), []string{"alice", "bob"}, "covers no decisions"},
		{"no simulation", gated, nil, []string{"alice", "bob"}, "no simulation is attested"},
		{"always", "impact: {when: always, role: security}", simulated(signing.Simulation{Decisions: 100}), []string{"alice", "bob"}, "asked for always"},
		{"no gate", "max_age: 90d", simulated(signing.Simulation{Decisions: 100, Loosened: 2}), []string{"alice", "bob"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := candidate(t)
			r := release()
			r.Simulation = test.sim
			in.Envelope = sealed(t, in.Archive, r, test.who...)
			v := parsed(t, "max_age: 90d", test.gate).Check(in)
			if test.want == "" && v.Refused() || test.want != "" && (v.Code != Threshold || !strings.Contains(v.Reason, test.want)) {
				t.Errorf("got %s: %s; want %q", v.Code, v.Reason, test.want)
			}
		})
	}
}

func TestUnsigned(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*testing.T, *Candidate)
		code   Code
		warns  string
	}{
		{"nothing wrong", func(_ *testing.T, in *Candidate) { in.Envelope = nil }, "", ""},
		{"signed by somebody", func(*testing.T, *Candidate) {}, "", "trust add"},
		{"older", func(_ *testing.T, in *Candidate) { in.Highest = seen(43, "x") }, Rollback, ""},
		{"another", func(_ *testing.T, in *Candidate) { in.Name = "acme/other" }, Scope, ""},
		{"unpack", func(t *testing.T, in *Candidate) { in.Archive = []byte("x") }, Unpack, ""},
		{"compile", func(t *testing.T, in *Candidate) {
			in.Compile = func(bundles.Memory) (string, error) { return "", errors.New("no") }
		}, Compile, ""},
		{"engine", func(t *testing.T, in *Candidate) {
			in.Archive = packed(t, entry{name: ".manifest", content: strings.Replace(manifest, `"sequence"`, `"requires": {"engine": 999}, "sequence"`, 1)})
		}, Engine, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := candidate(t)
			test.change(t, &in)
			v := (*Trust)(nil).Check(in)
			if v.Verified || v.Code != test.code || v.Unsigned != (test.code == "") {
				t.Errorf("got %+v", v)
			}
			if got := strings.Join(v.Warnings, "\n"); !strings.Contains(got, test.warns) || test.warns == "" && got != "" && test.code == "" && in.Envelope == nil {
				t.Errorf("warnings are %q", got)
			}
		})
	}
}

// What nobody signed is of no channel, so that it cannot raise the sequence of
// what someone did.
func TestUnsignedHasNoChannel(t *testing.T) {
	in := candidate(t)
	in.Highest = func(name, channel string) (Highest, error) {
		if name != "acme/agents" || channel != "" {
			t.Errorf("asked for %q, %q", name, channel)
		}
		return Highest{}, nil
	}
	if v := (*Trust)(nil).Check(in); v.Refused() || v.Release.Channel != "" {
		t.Errorf("got %+v", v)
	}
}

// A verdict is worth nothing until it is one.
func TestZeroVerdictRefuses(t *testing.T) {
	var v Verdict
	if !v.Refused() || v.Err() == nil {
		t.Error("no verdict passes")
	}
}

// No byte of archive or envelope can be changed so that something else passes.
func FuzzCheck(f *testing.F) {
	f.Add(uint16(0), byte(1), false)
	f.Add(uint16(100), byte(0x80), true)
	f.Fuzz(func(t *testing.T, at uint16, flip byte, envelope bool) {
		in := candidate(t)
		if flip == 0 {
			return
		}
		changed := in.Archive
		if envelope {
			changed = in.Envelope
		}
		changed[int(at)%len(changed)] ^= flip
		v := parsed(t).Check(in)
		if !v.Refused() && (!envelope || len(v.Signers) != 2 || v.Release.Sequence != 42) {
			t.Errorf("passes with byte %d changed by %x: %+v", at, flip, v)
		}
	})
}

// The built-in policy, packed: what checking it costs is to be compared with
// hashing it, and with unpacking it, which are the parts that nobody can save.
func BenchmarkCheck(b *testing.B) {
	base, err := bundles.Default()
	if err != nil {
		b.Fatal(err)
	}
	made, err := bundles.Pack(base, bundles.Release{Name: "acme/agents", Version: "1.4.0", Sequence: 42, Engine: 1, Capabilities: signing.SHA256(nil)})
	if err != nil {
		b.Fatal(err)
	}
	t := &testing.T{}
	in := candidate(t)
	in.Archive = made.Bytes
	in.Envelope = sealed(t, in.Archive, release(), "alice", "bob")
	trust := parsed(t)
	for name, fn := range map[string]func(){
		"check": func() {
			if v := trust.Check(in); v.Refused() {
				b.Fatal(v.Reason)
			}
		},
		"offered": func() { trust.Offered(in, signing.SHA256(in.Archive)) },
		"hash":    func() { signing.SHA256(in.Archive) },
		"unpack":  func() { _, _ = bundles.OpenArchive(bytes.NewReader(in.Archive)) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in.Archive)))
			for b.Loop() {
				fn()
			}
		})
	}
}

// What does not have to be unpacked to be refused is not even fetched.
func TestOffered(t *testing.T) {
	for _, a := range attacks() {
		in := candidate(t)
		if a.change(t, &in); len(in.Archive) > MaxArchive {
			continue // whoever fetches bounds that
		}
		full, sha := parsed(t).Check(in), signing.SHA256(in.Archive)
		in.Archive = nil
		v := parsed(t).Offered(in, sha)
		inside := full.Code == Unpack || full.Code == Compile || strings.Contains(full.Reason, "its manifest has") || strings.Contains(full.Reason, "contains the policy")
		if v.Refused() == inside || v.Refused() && v.Code != full.Code {
			t.Errorf("%s: offered %s (%s), checked %s (%s)", a.name, v.Code, v.Reason, full.Code, full.Reason)
		}
	}
	in := candidate(t)
	sha := signing.SHA256(in.Archive)
	in.Archive = nil
	if v := parsed(t).Offered(in, ""); v.Refused() || v.SHA256 != sha || v.Files != nil {
		t.Errorf("where the digest is not known: %+v", v)
	}
	if v := (*Trust)(nil).Offered(in, sha); v.Refused() || !v.Unsigned {
		t.Errorf("without a trust file: %+v", v)
	}
}
