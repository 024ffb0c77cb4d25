package trust

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/signing"
)

// today is when these tests happen.
var today = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC).UnixMilli()

const day = int64(24 * time.Hour / time.Millisecond)

// people are keys by name, made once.
var people = func() map[string]*signing.PrivateKey {
	keys := map[string]*signing.PrivateKey{}
	for i, name := range []string{"alice", "bob", "carol", "mallory", "sec"} {
		k, err := signing.Generate(signing.Type(signing.Types()[i%2]))
		if err != nil {
			fmt.Println("make keys:", err)
		}
		keys[name] = k
	}
	return keys
}()

// trustFile writes a trust file of these people's keys. Changes replace parts of
// its text: old, new, old, new.
func trustFile(t *testing.T, changes ...string) []byte {
	t.Helper()
	var b strings.Builder
	b.WriteString("version: 1\nexpires: 2028-01-01T00:00:00Z\nkeys:\n")
	for _, name := range []string{"alice", "bob", "carol", "sec"} {
		k := people[name].PublicKey()
		public, _ := json.Marshal(k.PEM())
		fmt.Fprintf(&b, "  %s: {type: %s, public: %s}\n", name, k.Type(), public)
	}
	b.WriteString(`roles:
  root: {keys: [alice, bob, carol], threshold: 2}
  release: {keys: [alice, bob], threshold: 2}
  beta: {keys: [carol], threshold: 1}
  security: {keys: [sec], threshold: 1}
channels:
  stable: {names: [acme/agents], role: release, max_age: 90d}
  beta: {names: [acme/*], role: beta}
`)
	text := b.String()
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			t.Fatalf("the trust file has no %q", changes[i])
		}
		text = strings.Replace(text, changes[i], changes[i+1], 1)
	}
	return []byte(text)
}

func parsed(t *testing.T, changes ...string) *Trust {
	t.Helper()
	trust, err := Parse(trustFile(t, changes...))
	if err != nil {
		t.Fatal(err)
	}
	return trust
}

// signedFile is a trust file signed by people.
func signedFile(t *testing.T, doc []byte, who ...string) Files {
	t.Helper()
	trust, err := Parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	e, err := trust.Seal()
	if err != nil {
		t.Fatal(err)
	}
	return Files{doc, sign(t, e, who...)}
}

func sign(t *testing.T, e *signing.Envelope, who ...string) []byte {
	t.Helper()
	for _, name := range who {
		if err := e.Sign(context.Background(), people[name]); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

const manifest = `{"revision": "r1", "roots": ["reviewer"], "rego_version": 1, "metadata": {"name": "acme/agents", "version": "1.4.0", "sequence": 42}}`

// entry is one entry of an archive that these tests make.
type entry struct {
	name, content string
	kind          byte // 0: a plain file
	link          string
}

func packed(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, e := range entries {
		h := &tar.Header{Typeflag: e.kind, Name: e.name, Linkname: e.link, Mode: 0o644}
		if e.kind == 0 {
			h.Typeflag, h.Size = tar.TypeReg, int64(len(e.content))
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.content); err != nil && e.kind == 0 {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func plainArchive(t *testing.T, more ...entry) []byte {
	t.Helper()
	return packed(t, append([]entry{{name: ".manifest", content: manifest}, {name: "policy.rego", content: "package reviewer\n"}}, more...)...)
}

func release() signing.Release {
	return signing.Release{
		Name: "acme/agents", Version: "1.4.0", Channel: "stable", Sequence: 42, Policy: "h1:policy",
		Created: signing.Time(today - 2*day), Expires: signing.Time(today + 30*day),
		Requires: map[string]int{"engine": 1}, Capabilities: signing.SHA256(nil), SkippedTests: true,
	}
}

// sealed is an archive's envelope, signed by people.
func sealed(t *testing.T, archive []byte, r signing.Release, who ...string) []byte {
	t.Helper()
	e, err := signing.Seal(signing.SubjectOf("policy.tar.gz", archive), r)
	if err != nil {
		t.Fatal(err)
	}
	return sign(t, e, who...)
}

// candidate is a bundle with which nothing is wrong.
func candidate(t *testing.T) Candidate {
	t.Helper()
	archive := plainArchive(t)
	return Candidate{
		File: "policy.tar.gz", Archive: archive, Envelope: sealed(t, archive, release(), "alice", "bob"), Now: today,
		Highest: func(string, string) (Highest, error) { return Highest{Sequence: 41, SHA256: "old"}, nil },
	}
}

func seen(sequence int64, sha string) func(string, string) (Highest, error) {
	return func(string, string) (Highest, error) { return Highest{sequence, sha}, nil }
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	alice := people["alice"].PublicKey()
	pem, _ := json.Marshal(alice.PEM())
	for _, test := range []struct{ name, old, new, want string }{
		{"version", "version: 1", "version: 0", "version is 0; the first is 1"},
		{"revoked", "version: 1", "version: 1\nrevoked: [acme/agents]", "expected the SHA-256 of an archive"},
		{"unknown key", "version: 1", "version: 1\nexpire: x", `trust.yaml:2: unknown key "expire"; did you mean "expires"?`},
		{"twice", "version: 1", "version: 1\nversion: 2", "duplicate key"},
		{"expires", "2028-01-01T00:00:00Z", "2028-01-01", "expected a time in UTC"},
		{"no root", "  root:", "  roots:", "the role root"},
		{"threshold above", "carol], threshold: 2", "carol], threshold: 4", "threshold is 4; expected 1 to 3"},
		{"threshold 0", "[carol], threshold: 1", "[carol], threshold: 0", "threshold is 0; expected 1 to 1"},
		{"key listed twice", "[alice, bob, carol]", "[alice, bob, alice]", `the key "alice" is listed twice`},
		{"unknown key of a role", "[alice, bob, carol]", "[alice, bob, dave]", `unknown key "dave"`},
		{"unknown role", "role: release", "role: releases", `unknown role "releases"`},
		{"age", "max_age: 90d", "max_age: 90", "expected a duration such as 90d or 12h"},
		{"age below", "max_age: 90d", "max_age: -1h", "expected a duration such as 90d or 12h"},
		{"no names", "names: [acme/agents]", "names: []", "names is empty"},
		{"star within", "names: [acme/agents]", "names: [a*/agents]", "not at its end"},
		{"one key, two names", "keys:\n", "keys:\n  zed: {type: ed25519, public: " + string(pem) + "}\n", "the same key"},
		{"type", "alice: {type: ed25519", "alice: {type: ecdsa-p256", `has type ed25519, but the file says "ecdsa-p256"`},
		{"hmac", "alice: {type: ed25519", "alice: {type: hs256", `unknown word "hs256"`},
		{"impact", "max_age: 90d", "impact: {when: never, role: beta}", `unknown word "never"`},
		{"a key's field", "alice: {type", "alice: {kind: x, type", `unknown key "kind"`},
		{"a key without its type", "alice: {type: ed25519, ", "alice: {", "keys.alice: type is missing"},
		{"alias", "root: {keys: [alice, bob, carol], threshold: 2}", "root: &r {keys: [alice, bob], threshold: 2}\n  more: *r", "aliases are not allowed here"},
		{"a role that is a list", "  security: {keys: [sec], threshold: 1}", "  security: [sec]", "expected keys with values"},
		{"nothing", "version: 1", "version:", "version is empty"},
		{"another name", "  sec: {type", "  Sec Key: {type", `"Sec Key" is not a valid name for a key`},
		{"two documents", "version: 1\n", "version: 1\n---\n", "trust.yaml"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse(trustFile(t, test.old, test.new))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestParseEmpty(t *testing.T) {
	for _, raw := range []string{"", "# nothing\n", "[]", "null", strings.Repeat("a", MaxFile+1)} {
		if _, err := Parse([]byte(raw)); err == nil {
			t.Errorf("%.20q is a trust file", raw)
		}
	}
}

// laterStatement is the statement of a trust file of a later format.
type laterStatement struct{ Statement }

func (laterStatement) PredicateType() string { return strings.TrimSuffix(StatementType, "1") + "2" }

// After a downgrade the trust file of the newer version is refused, with a sentence.
func TestLaterTrustFile(t *testing.T) {
	raw := trustFile(t)
	e, err := signing.Seal(signing.SubjectOf(FileName, raw), laterStatement{Statement{1, string(raw)}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(Files{raw, sign(t, e, "alice", "carol")}, Pin{})
	if err == nil || !strings.Contains(err.Error(), "was written by a newer reviewer") || CodeOf(err) != Untrusted {
		t.Errorf("got %v (%s)", err, CodeOf(err))
	}
}

func TestOpen(t *testing.T) {
	one := trustFile(t)
	two := trustFile(t, "version: 1", "version: 2", "[alice, bob, carol], threshold: 2", "[carol, sec], threshold: 2")
	first, second := signedFile(t, one, "alice", "carol"), signedFile(t, two, "alice", "carol", "sec")
	pin := func(doc []byte, version int64) Pin { return Pin{version, signing.SHA256(doc)} }
	for _, test := range []struct {
		name  string
		files Files
		pin   Pin
		want  int64  // version that holds
		err   string // empty: none
	}{
		{"none, and none before", Files{}, Pin{}, 0, ""},
		{"the one of last time", first, pin(one, 1), 1, ""},
		{"a newer one", second, pin(one, 1), 2, ""},
		{"deleted", Files{}, pin(one, 1), 0, "is missing, but version 1 of it was active"},
		{"signatures stripped", Files{one, nil}, pin(one, 1), 0, "lacks its signatures"},
		{"file deleted", Files{nil, first.Envelope}, pin(one, 1), 0, "but its signatures are present (trust.yaml.dsse.json)"},
		{"older than last time", first, pin(two, 2), 0, "version 2 was active"},
		{"same version, another file", signedFile(t, trustFile(t, "2028", "2029"), "alice", "carol"), pin(one, 1), 0, "differs from the version 1"},
		{"signed by too few", signedFile(t, one, "alice"), Pin{}, 0, "signed by 1 of the root keys"},
		{"signed by others", signedFile(t, one, "alice", "sec"), Pin{}, 0, "signed by 1 of the root keys"},
		{"the file changed", Files{trustFile(t, "threshold: 2", "threshold: 1"), first.Envelope}, Pin{}, 0, "does not match its signatures"},
		{"rotation cut short", Files{one, second.Envelope}, pin(one, 1), 2, ""},
		{"rotation cut short, signed by the new root alone", Files{one, signedFile(t, two, "carol", "sec").Envelope}, Pin{}, 0, "does not match its signatures"},
		{"no envelope at all", Files{one, []byte("{}")}, Pin{}, 0, "trust.yaml.dsse.json"},
		{"a release's envelope", Files{one, sealed(t, one, release(), "alice", "carol")}, Pin{}, 0, "read statement"},
	} {
		t.Run(test.name, func(t *testing.T) {
			trust, err := Open(test.files, test.pin)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || CodeOf(err) != Untrusted {
					t.Errorf("got %v (%s), want %s", err, CodeOf(err), test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if (trust == nil) != (test.want == 0) || trust != nil && trust.Version != test.want {
				t.Errorf("got %+v, want version %d", trust, test.want)
			}
		})
	}
}

func TestRotate(t *testing.T) {
	holds := parsed(t)
	newRoot := []string{"version: 1", "version: 2", "[alice, bob, carol], threshold: 2", "[carol, sec], threshold: 2"}
	two := trustFile(t, newRoot...)
	for _, test := range []struct {
		name string
		next Files
		err  string
	}{
		{"old and new threshold", signedFile(t, two, "alice", "carol", "sec"), ""},
		{"without the old threshold", signedFile(t, two, "carol", "sec"), "1 of the root keys of version 1 (alice, bob, carol), and 2 have to"},
		{"without the new threshold", signedFile(t, two, "alice", "bob"), "0 of the root keys of version 2 (carol, sec), and 2 have to"},
		{"one version too far", signedFile(t, trustFile(t, "version: 1", "version: 3"), "alice", "bob"), "version 3, but version 1 is active; set the version to 2"},
		{"the same version", signedFile(t, trustFile(t, "2028", "2029"), "alice", "bob"), "set the version to 2"},
		{"ended", signedFile(t, trustFile(t, "version: 1", "version: 2", "2028", "2025"), "alice", "bob"), "expired at 2025"},
		{"another file", Files{trustFile(t, "version: 1", "version: 2"), signedFile(t, two, "alice", "carol", "sec").Envelope}, "the signatures are for a different text"},
		{"not signed", signedFile(t, two), "0 of the root keys"},
	} {
		t.Run(test.name, func(t *testing.T) {
			next, err := Rotate(holds, test.next, today)
			switch {
			case test.err == "" && (err != nil || next.Version != 2):
				t.Errorf("got %v", err)
			case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err) || CodeOf(err) != Untrusted):
				t.Errorf("got %v, want %s", err, test.err)
			}
		})
	}
}

// A trust file that has ended can be replaced still, or nothing could be fixed.
func TestRotateAfterTheEnd(t *testing.T) {
	ended := parsed(t, "2028", "2025")
	if err := ended.Current(today); CodeOf(err) != Untrusted {
		t.Errorf("a trust file of 2025 holds: %v", err)
	}
	if _, err := Rotate(ended, signedFile(t, trustFile(t, "version: 1", "version: 2"), "alice", "bob"), today); err != nil {
		t.Error(err)
	}
}

func TestMissing(t *testing.T) {
	trust := parsed(t)
	e, _ := trust.Seal()
	sign(t, e, "bob", "sec")
	keys, more := trust.Missing(e)
	if !slices.Equal(keys, []string{"alice", "carol"}) || more != 1 {
		t.Errorf("got %v, %d more", keys, more)
	}
	if _, more := trust.Missing(nil); more != 2 {
		t.Errorf("without an envelope %d have to sign, want 2", more)
	}
}

func TestOfKeys(t *testing.T) {
	alice, bob := people["alice"].PublicKey(), people["bob"].PublicKey()
	if _, err := OfKeys([]signing.PublicKey{alice, alice}, 2); err == nil {
		t.Error("one key with two names may sign for two")
	}
	trust, err := OfKeys([]signing.PublicKey{alice, bob}, 2)
	if err != nil {
		t.Fatal(err)
	}
	in := candidate(t)
	if v := trust.Check(in); v.Refused() || !v.Verified || len(v.Signers) != 2 {
		t.Errorf("got %+v", v)
	}
	in.Envelope = sealed(t, in.Archive, release(), "alice", "mallory")
	if v := trust.Check(in); v.Code != Threshold {
		t.Errorf("one of two keys passes: %+v", v)
	}
}

// What is verified by a trust file has no other outcome than verified or a code.
func FuzzParse(f *testing.F) {
	f.Add([]byte("version: 1\nkeys: {}\nroles: {}\nchannels: {}\n"))
	f.Add([]byte("version: 1\nkeys: {a: {type: ed25519, public: x}}\nroles: {root: {keys: [a], threshold: 1}}\nchannels: {s: {names: [a], role: root}}\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		trust, err := Parse(raw)
		if err != nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(trust.Roles)) {
			r := trust.Roles[name]
			if r.Threshold < 1 || int(r.Threshold) > len(trust.keysOf(name)) {
				t.Errorf("role %s: %d of %d keys", name, r.Threshold, len(r.Keys))
			}
		}
		if again, err := Parse(trust.Bytes()); err != nil || again.SHA256 != trust.SHA256 {
			t.Errorf("read again: %v", err)
		}
	})
}

// Where a bundle is active, each hook opens the trust file.
func BenchmarkOpen(b *testing.B) {
	t := &testing.T{}
	files := signedFile(t, trustFile(t), "alice", "carol")
	for b.Loop() {
		if _, err := Open(files, Pin{}); err != nil {
			b.Fatal(err)
		}
	}
}
