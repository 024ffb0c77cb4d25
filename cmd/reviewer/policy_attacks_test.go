package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/releasecmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/google/go-cmp/cmp"
)

// attacked is a machine with an active trust file and sequence 42 of a policy
// active, on which attacks are tried.
type attacked struct {
	*testing.T
	dir, home string
	alice     *signing.PrivateKey // the one key of root and release
	mallory   *signing.PrivateKey // nobody's
	pack      func(sequence int64) []byte
}

func newAttacked(t *testing.T) *attacked {
	t.Helper()
	if ok, err := condition("person"); err != nil || !ok {
		t.Skip("an agent started these tests, and none may activate a policy")
	}
	a := &attacked{T: t, dir: t.TempDir()}
	a.home = filepath.Join(a.dir, "state")
	a.alice, a.mallory = freshKey(t), freshKey(t)
	a.believe()
	a.pack = func(sequence int64) []byte {
		files := map[string][]byte{
			".manifest":       []byte(`{"roots": ["policies/user"], "rego_version": 1, "metadata": {"name": "acme/agents", "version": "1.4.0"}}`),
			"settings.yaml":   []byte("risk: {high_threshold: 0.75}\n"),
			"rules/mine.yaml": []byte("- {id: mine, title: Mine, severity: low, decision: warn, message: m, remediation: r, match: {commands: [kubectl]}}\n"),
		}
		b, err := bundles.FromFiles(files, bundles.User)
		if err != nil {
			t.Fatal(err)
		}
		made, err := bundles.Pack(b, bundles.Release{Sequence: sequence, Engine: 1, Capabilities: signing.SHA256(nil), TestsSkipped: true})
		if err != nil {
			t.Fatal(err)
		}
		return made.Bytes
	}
	return a
}

func freshKey(t *testing.T) *signing.PrivateKey {
	t.Helper()
	k, err := signing.Generate(signing.Ed25519)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// believe activates a trust file as a person at a terminal would.
func (a *attacked) believe() {
	a.Helper()
	doc := trust.Begin()
	add := trust.Addition{Name: "alice", Public: a.alice.PublicKey().PEM(), Roles: []string{trust.Root, "release"}, Channels: map[string][]string{"stable": {"acme/agents"}}}
	if err := doc.Add(add); err != nil {
		a.Fatal(err)
	}
	doc.Channels["beta"] = doc.Channels["stable"]
	raw, err := doc.Encode(1)
	if err != nil {
		a.Fatal(err)
	}
	t, err := trust.Parse(raw)
	if err != nil {
		a.Fatal(err)
	}
	e, err := t.Seal()
	if err != nil {
		a.Fatal(err)
	}
	a.put(filepath.Join(a.home, trust.FileName), raw)
	a.put(filepath.Join(a.home, trust.FileName+trust.EnvelopeSuffix), a.sign(e, a.alice))
	if err := active.NoteOfTrust(context.Background(), &audit.Store{Dir: a.home}, active.OwnTrust(a.home), t, "a test"); err != nil {
		a.Fatal(err)
	}
}

func (a *attacked) put(path string, content []byte) {
	a.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
		a.Fatal(err)
	}
}

func (a *attacked) sign(e *signing.Envelope, keys ...*signing.PrivateKey) []byte {
	a.Helper()
	for _, k := range keys {
		if err := e.Sign(context.Background(), k); err != nil {
			a.Fatal(err)
		}
	}
	raw, err := e.Encode()
	if err != nil {
		a.Fatal(err)
	}
	return raw
}

// release is what is said about an archive.
func (a *attacked) release(archive []byte, sequence int64) signing.Release {
	a.Helper()
	e, digest, err := releasecmd.CompiledBundle(context.Background(), mustOpen(a.T, archive))
	if err != nil || e == nil {
		a.Fatal(err)
	}
	return signing.Release{Name: "acme/agents", Version: "1.4.0", Channel: "stable", Sequence: sequence, Policy: digest,
		Created: signing.TimeOf(time.Now().Add(-time.Hour)), Requires: map[string]int{"engine": 1}, Capabilities: signing.SHA256(nil), SkippedTests: true}
}

func mustOpen(t *testing.T, archive []byte) bundles.Memory {
	t.Helper()
	opened, err := bundles.OpenArchive(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	return opened.Memory
}

func (a *attacked) envelope(archive []byte, r signing.Release, keys ...*signing.PrivateKey) []byte {
	a.Helper()
	e, err := signing.Seal(signing.SubjectOf("acme.tar.gz", archive), r)
	if err != nil {
		a.Fatal(err)
	}
	return a.sign(e, keys...)
}

// activate runs the command, with an archive and what is next to it.
func (a *attacked) activate(archive, envelope []byte) (code int, said string) {
	a.Helper()
	path := filepath.Join(a.dir, "acme.tar.gz")
	a.put(path, archive)
	if err := os.Remove(path + trust.EnvelopeSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.Fatal(err)
	}
	if envelope != nil {
		a.put(path+trust.EnvelopeSuffix, envelope)
	}
	var out bytes.Buffer
	program := &cli.App{Streams: term.Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Env: func(string) string { return "" }}, Home: a.home}
	code = run(context.Background(), program, []string{"policy", "activate", "--home", a.home, path})
	return code, out.String()
}

// disk returns every file of the state directory except the ledger, which has to
// record what was refused.
func (a *attacked) disk() map[string]string {
	a.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(a.home, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(name, "ledger") {
			return err
		}
		raw, err := os.ReadFile(name)
		files[name] = signing.SHA256(raw)
		return err
	})
	if err != nil {
		a.Fatal(err)
	}
	return files
}

// repack changes the entries of an archive.
func repack(t *testing.T, archive []byte, more ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	files := mustOpen(t, archive)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(files[name])), Mode: 0o644}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(files[name]); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range more {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(w, blanks{}, h.Size); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// blanks is text without an end.
type blanks struct{}

// Read implements io.Reader.
func (blanks) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte(" "), len(p))), nil }

func plain(name string, size int64) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644}
}

// The attack list: each attack is refused with its code, the previous policy stays
// active, and not one file has changed.
func TestAttacksOnActivation(t *testing.T) {
	a := newAttacked(t)
	good := a.pack(42)
	rightly := func(archive []byte) []byte { return a.envelope(archive, a.release(good, 42), a.alice) }
	if code, said := a.activate(good, rightly(good)); code != cli.ExitOK {
		t.Fatalf("the good one: %d %s", code, said)
	}
	before := a.disk()

	changed := func(change func(*signing.Release)) []byte {
		r := a.release(good, 42)
		change(&r)
		return a.envelope(good, r, a.alice)
	}
	inside := func(more ...tar.Header) [2][]byte {
		archive := repack(t, good, more...)
		r := a.release(good, 43)
		return [2][]byte{archive, a.envelope(archive, r, a.alice)}
	}
	older, newer := a.pack(41), a.pack(43)
	bomb := make([]tar.Header, 0, 80)
	for i := range 80 {
		bomb = append(bomb, plain("data/"+strings.Repeat("x", i+1)+".json", 1<<20))
	}
	for _, attack := range []struct {
		name string
		what [2][]byte // archive, envelope
		code trust.Code
	}{
		{"stripped signature", [2][]byte{newer, nil}, trust.Unsigned},
		{"signature over another archive", [2][]byte{newer, rightly(good)}, trust.Digest},
		{"unknown key", [2][]byte{newer, a.envelope(newer, a.release(newer, 43), a.mallory)}, trust.Threshold},
		{"algorithm confusion", [2][]byte{newer, forged(a, newer)}, trust.Threshold},
		{"extra file", [2][]byte{inside(plain("rules/extra.yaml", 9))[0], rightly(good)}, trust.Digest},
		{"duplicate entries", inside(plain("settings.yaml", 9)), trust.Unpack},
		{"traversal", inside(plain("../../trust.yaml", 9)), trust.Unpack},
		{"symlink", inside(tar.Header{Typeflag: tar.TypeSymlink, Name: "rules/link.yaml", Linkname: "/etc/passwd"}), trust.Unpack},
		{"gzip bomb", inside(bomb...), trust.Unpack},
		{"two manifests", inside(plain("./.manifest", 9)), trust.Unpack},
		{"two signature files", inside(plain(".signatures.json", 9), plain("rules/.signatures.json", 9)), trust.Unpack},
		{"case-folded names", inside(plain("Settings.yaml", 9)), trust.Unpack},
		{"delta bundle", inside(plain("patch.json", 9)), trust.Unpack},
		{"older sequence", [2][]byte{older, a.envelope(older, a.release(older, 41), a.alice)}, trust.Rollback},
		{"equal sequence, another archive", [2][]byte{repack(t, good), rightly(repack(t, good))}, trust.Rollback},
		{"expired", [2][]byte{good, changed(func(r *signing.Release) {
			r.Created, r.Expires = signing.TimeOf(time.Now().Add(-48*time.Hour)), signing.TimeOf(time.Now().Add(-time.Hour))
		})}, trust.Expired},
		{"made in the future", [2][]byte{good, changed(func(r *signing.Release) { r.Created = signing.TimeOf(time.Now().Add(24 * time.Hour)) })}, trust.Expired},
		{"channel that is not trusted", [2][]byte{good, changed(func(r *signing.Release) { r.Channel = "nightly" })}, trust.Scope},
		{"another policy's name", [2][]byte{good, changed(func(r *signing.Release) { r.Name = "acme/other" })}, trust.Scope},
		{"a manifest of another sequence", [2][]byte{newer, a.envelope(newer, a.release(newer, 44), a.alice)}, trust.Scope},
		{"another engine", [2][]byte{good, changed(func(r *signing.Release) { r.Requires["engine"] = engine.Version + 1 })}, trust.Engine},
		{"a policy of another digest", [2][]byte{newer, a.envelope(newer, func() signing.Release {
			r := a.release(newer, 43)
			r.Policy = "h1:other"
			return r
		}(), a.alice)}, trust.Digest},
	} {
		t.Run(attack.name, func(t *testing.T) {
			code, said := a.activate(attack.what[0], attack.what[1])
			if code != cli.ExitFindings || !strings.Contains(said, "["+string(attack.code)+"]") {
				t.Errorf("ended with %d, want %d and [%s]\n%s", code, cli.ExitFindings, attack.code, said)
			}
			if diff := cmp.Diff(before, a.disk()); diff != "" {
				t.Errorf("files changed:\n%s", diff)
			}
		})
	}
	a.rotatedWithoutTheOld()
	a.trustChanged(newer, before)
	a.seenLost(older)
	if code, said := a.activate(newer, a.envelope(newer, a.release(newer, 43), a.alice)); code != cli.ExitOK {
		t.Errorf("the next good one: %d %s", code, said)
	}
}

// forged is an envelope whose signature is made from what everyone knows.
func forged(a *attacked, archive []byte) []byte {
	var doc map[string]any
	if err := json.Unmarshal(a.envelope(archive, a.release(archive, 43), a.mallory), &doc); err != nil {
		a.Fatal(err)
	}
	digest := signing.SHA256([]byte(a.alice.PublicKey().PEM()))
	doc["signatures"] = []any{map[string]any{"keyid": a.alice.PublicKey().ID(), "sig": base64.StdEncoding.EncodeToString([]byte(digest))}}
	raw, _ := json.Marshal(doc)
	return raw
}

// rotatedWithoutTheOld replaces the trust file by one that is signed only with its
// own new keys.
func (a *attacked) rotatedWithoutTheOld() {
	before := a.disk()
	path := filepath.Join(a.dir, "next.yaml")
	doc := trust.Begin()
	if err := doc.Add(trust.Addition{Name: "mallory", Public: a.mallory.PublicKey().PEM(), Roles: []string{trust.Root, "release"}, Channels: map[string][]string{"stable": {"*"}}}); err != nil {
		a.Fatal(err)
	}
	raw, err := doc.Encode(2)
	if err != nil {
		a.Fatal(err)
	}
	t, err := trust.Parse(raw)
	if err != nil {
		a.Fatal(err)
	}
	e, _ := t.Seal()
	a.put(path, raw)
	a.put(path+trust.EnvelopeSuffix, a.sign(e, a.mallory))
	var out bytes.Buffer
	program := &cli.App{Streams: term.Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Env: func(string) string { return "" }}}
	code := run(context.Background(), program, []string{"policy", "trust", "rotate", "--home", a.home, path})
	if code != cli.ExitFindings || !strings.Contains(out.String(), "[trust]") {
		a.Errorf("rotation without the old threshold: %d %s", code, out.String())
	}
	if diff := cmp.Diff(before, a.disk()); diff != "" {
		a.Errorf("files changed:\n%s", diff)
	}
}

// trustChanged takes the trust file away, and puts another one there.
func (a *attacked) trustChanged(newer []byte, before map[string]string) {
	path := filepath.Join(a.home, trust.FileName)
	doc, err1 := os.ReadFile(path)
	envelope, err2 := os.ReadFile(path + trust.EnvelopeSuffix)
	if err := errors.Join(err1, err2, os.Remove(path), os.Remove(path+trust.EnvelopeSuffix)); err != nil {
		a.Fatal(err)
	}
	if code, said := a.activate(newer, nil); code != cli.ExitFindings || !strings.Contains(said, "[trust]") {
		a.Errorf("without the trust file that was active: %d %s", code, said)
	}
	a.put(path, bytes.Replace(doc, []byte("acme/agents"), []byte("acme/*"), 1))
	a.put(path+trust.EnvelopeSuffix, envelope)
	if code, said := a.activate(newer, a.envelope(newer, a.release(newer, 43), a.alice)); code != cli.ExitFindings || !strings.Contains(said, "[trust]") {
		a.Errorf("with a trust file that was changed: %d %s", code, said)
	}
	a.put(path, doc)
	if diff := cmp.Diff(before, a.disk()); diff != "" {
		a.Errorf("files changed:\n%s", diff)
	}
}

// seenLost removes, or damages, the file that remembers the highest sequence: then
// nothing older passes for new.
func (a *attacked) seenLost(older []byte) {
	path := filepath.Join(a.home, "bundles", "seen.json")
	seen, err := os.ReadFile(path)
	if err != nil {
		a.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		a.Fatal(err)
	}
	envelope := a.envelope(older, a.release(older, 41), a.alice)
	if code, said := a.activate(older, envelope); code != cli.ExitFindings || !strings.Contains(said, "[rollback]") {
		a.Errorf("without seen.json: %d %s", code, said)
	}
	a.put(path, bytes.Replace(seen, []byte("42"), []byte("40"), 1))
	if code, said := a.activate(older, envelope); code == cli.ExitOK {
		a.Errorf("with a changed seen.json: %d %s", code, said)
	}
	a.put(path, seen)
}
