package ship

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/bundles/signing"
)

// archiveOf packs files as a bundle.
func archiveOf(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name])), Typeflag: tar.TypeReg}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// parcelOf is a release of a policy whose one rule answers with an allow of this
// value, in an envelope that nobody signed.
func parcelOf(t testing.TB, version, allow string) Parcel {
	t.Helper()
	archive := archiveOf(t, map[string]string{
		"/.manifest": `{"revision":"` + version + `","roots":["shop"],"rego_version":1}`,
		"/shop.rego": "package shop\n\nallow := " + allow + "\n",
	})
	p := Parcel{Name: "shop-" + version + ".tar.gz", Archive: archive, Label: Label{Name: "acme/shop", Version: version, Sequence: 4, Digest: "h1:x"}}
	p.Envelope = envelopeOver(t, p)
	return p
}

func envelopeOver(t testing.TB, p Parcel) []byte {
	t.Helper()
	e, err := signing.Seal(signing.SubjectOf(p.Name, p.Archive), testRelease(p.Label.Version))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// anyOffer accepts everything, and keeps what it was offered.
type anyOffer struct{ offers []Offer }

func (a *anyOffer) accept(o Offer) error {
	a.offers = append(a.offers, o)
	return nil
}

func mustRef(t testing.TB, text string) Ref {
	t.Helper()
	r, err := ParseRef(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustPush(t testing.TB, to string, p Parcel, o Options) Receipt {
	t.Helper()
	r, err := Push(t.Context(), mustRef(t, to), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustPull(t testing.TB, from string, o Options) Parcel {
	t.Helper()
	p, err := Pull(t.Context(), mustRef(t, from), o, new(anyOffer).accept)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sameParcel holds that a release came as it was sent.
func sameParcel(t testing.TB, got, want Parcel) {
	t.Helper()
	if diff := cmp.Diff(want.Envelope, got.Envelope); diff != "" {
		t.Errorf("envelope (-want +got):\n%s", diff)
	}
	if !bytes.Equal(got.Archive, want.Archive) || got.Name != want.Name {
		t.Errorf("got %s of %d bytes, want %s of %d", got.Name, len(got.Archive), want.Name, len(want.Archive))
	}
}

func TestParseRef(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"oci://127.0.0.1:5000/acme/agents:stable", "registry 127.0.0.1:5000 acme/agents stable"},
		{"oci://example.com/agents", "registry example.com agents "},
		{"oci-layout:/mnt/stick:1.4.0", "layout /mnt/stick 1.4.0"},
		{"oci-layout:stick", "layout stick "},
		{"oci-layout:a:b/stick", "layout a:b/stick "},
		{"https://example.com/p/agents.tar.gz?x=1", "web https://example.com/p/agents.tar.gz?x=1"},
		{"out/", "folder out"},
		{"shop-1.tar.gz", "folder shop-1.tar.gz"},

		{"", "is empty"},
		{"oci://", "invalid reference"},
		{"oci://example.com/Agents:1", "invalid repository"},
		{"oci://example.com/agents:a b", "invalid reference"},
		{"oci://kim:secret@example.com/agents:1", "contains a user name or a password"},
		{"oci-layout::x", "names no folder"},
		{"oci-layout:x:bad tag", "the tag"},
		{"oci-layout:x@sha256:12", "no digest after the @"},
		{"https://kim:secret@example.com/x.tar.gz", "contains a user name or a password"},
		{"https:///x.tar.gz", "names no host"},
		{"https://example.com/x#y", "has a fragment"},
		{"s3://bucket/x", "has an unknown form"},
	} {
		r, err := ParseRef(test.text)
		got := map[kind]string{
			registryRef: "registry " + r.host + " " + r.repository + " " + r.tag, layoutRef: "layout " + r.path + " " + r.tag, folderRef: "folder " + r.path,
		}[r.kind]
		if r.kind == webRef {
			got = "web " + r.url.String()
		}
		if err != nil {
			got = err.Error()
		}
		if got != test.want && (err == nil || !bytes.Contains([]byte(got), []byte(test.want))) {
			t.Errorf("%q: got %s, want %s", test.text, got, test.want)
		}
		if bytes.Contains([]byte(got), []byte("secret")) {
			t.Errorf("%q: the error shows a password: %s", test.text, got)
		}
	}
}

func FuzzParseRef(f *testing.F) {
	for _, text := range []string{"oci://h/r:t", "oci-layout:x:y@sha256:0", "http://h/x.tar.gz", "a:b", "oci-layout:" + "x@sha256:zz"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRef(text)
		if err == nil && r.String() != text {
			t.Errorf("%q is written as %q", text, r)
		}
		if err == nil && r.kind == webRef && CheckName(r.FileName()) != nil {
			t.Errorf("%q would be written to %q", text, r.FileName())
		}
	})
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1:5000": true, "127.9.9.9": true, "[::1]:80": true, "::1": true, "localhost": true, "localhost:5000": true, "[::ffff:127.0.0.1]:1": true,
		"example.com": false, "10.0.0.1:80": false, "localhost.example.com": false, "127.0.0.1.example.com": false, "": false, "0.0.0.0": false,
	} {
		if got := Loopback(host); got != want {
			t.Errorf("%q is this machine: %t, want %t", host, got, want)
		}
	}
}

func TestCheckName(t *testing.T) {
	for name, want := range map[string]bool{
		"shop-1.4.0.tar.gz": true, "a.tar.gz": true, "A_b+c.tar.gz": true,
		".tar.gz": false, "-o.tar.gz": false, "../x.tar.gz": false, "a/b.tar.gz": false, `a\b.tar.gz`: false, "a.zip": false, "a\x00.tar.gz": false, "é.tar.gz": false, "": false,
	} {
		if got := CheckName(name) == nil; got != want {
			t.Errorf("%q is fine: %t, want %t", name, got, want)
		}
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	one, two := parcelOf(t, "1.0.0", "1"), parcelOf(t, "2.0.0", "2")
	if r := mustPush(t, dir, one, Options{}); r.Unchanged || !r.Signed || r.Place != filepath.Join(dir, one.Name) || r.SHA256 != sha(one.Archive) {
		t.Errorf("pushed: %+v", r)
	}
	sameParcel(t, mustPull(t, dir, Options{}), one)
	if r := mustPush(t, dir, one, Options{}); !r.Unchanged {
		t.Error("pushing it again changed something")
	}

	// Another archive under the same name.
	two.Name = one.Name
	_, err := Push(t.Context(), mustRef(t, dir), two, Options{})
	wantError(t, err, "already exists with different contents", "--force")
	sameParcel(t, mustPull(t, dir, Options{}), one)
	if r := mustPush(t, dir, two, Options{Force: true}); r.Replaced != "sha256:"+sha(one.Archive) {
		t.Errorf("replaced %q", r.Replaced)
	}
	sameParcel(t, mustPull(t, filepath.Join(dir, one.Name), Options{}), two)

	// One that nobody signed leaves no envelope of another behind.
	two.Envelope = nil
	mustPush(t, dir, two, Options{})
	sameParcel(t, mustPull(t, dir, Options{}), two)

	// Two archives: which?
	mustPush(t, dir, parcelOf(t, "3.0.0", "3"), Options{})
	_, err = Pull(t.Context(), mustRef(t, dir), Options{}, new(anyOffer).accept)
	wantError(t, err, "2 archives; name one: shop-1.0.0.tar.gz, shop-3.0.0.tar.gz")
	if left, _ := filepath.Glob(filepath.Join(dir, ".reviewer-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFolderBadInput(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("empty.tar.gz", nil)
	write("large.tar.gz", make([]byte, MaxArchive+1))
	write("loud.tar.gz", []byte("x"))
	write("loud.tar.gz.dsse.json", make([]byte, MaxEnvelope+1))
	outside := filepath.Join(t.TempDir(), "outside")
	if err := errors.Join(os.WriteFile(outside, []byte("x"), 0o644), os.Symlink(outside, filepath.Join(dir, "link.tar.gz")), os.Mkdir(filepath.Join(dir, "folder.tar.gz"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"empty.tar.gz": "the archive is empty", "large.tar.gz": "larger than", "loud.tar.gz": "larger than",
		"link.tar.gz": "escapes", "absent.tar.gz": "no such folder or archive", "folder.tar.gz": "this folder contains no archive (.tar.gz)",
	} {
		_, err := Pull(t.Context(), mustRef(t, filepath.Join(dir, name)), Options{}, new(anyOffer).accept)
		wantError(t, err, want)
	}
	_, err := Push(t.Context(), mustRef(t, filepath.Join(dir, "absent")), parcelOf(t, "1.0.0", "1"), Options{})
	wantError(t, err, "no such folder; create it first")
	_, err = Push(t.Context(), mustRef(t, "https://127.0.0.1/x.tar.gz"), parcelOf(t, "1.0.0", "1"), Options{})
	wantError(t, err, "cannot push to a web server")
}

// What is not accepted is not fetched, whatever the place.
func TestRefusedIsNotFetched(t *testing.T) {
	dir := t.TempDir()
	mustPush(t, dir, parcelOf(t, "1.0.0", "1"), Options{})
	no := errors.New("nobody trusts this")
	p, err := Pull(t.Context(), mustRef(t, dir), Options{}, func(Offer) error { return no })
	if !errors.Is(err, no) || p.Archive != nil {
		t.Errorf("got %d bytes, %v", len(p.Archive), err)
	}
}

func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error; want one with %q", parts)
		return
	}
	for _, part := range parts {
		if !bytes.Contains([]byte(err.Error()), []byte(part)) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
}

// soon is a context for what would last too long.
func soon(t *testing.T, d time.Duration) context.Context {
	ctx, stop := context.WithTimeout(t.Context(), d)
	t.Cleanup(stop)
	return ctx
}

func testRelease(version string) signing.Release {
	return signing.Release{
		Name: "acme/shop", Version: version, Channel: "stable", Sequence: 4, Policy: "h1:x", Created: signing.Time(1_700_000_000_000),
		Requires: map[string]int{}, Capabilities: sha(nil), SkippedTests: true,
	}
}
