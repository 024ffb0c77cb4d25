package bundles

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// pack makes an archive of entries, as others would who may mean harm.
func pack(t testing.TB, entries ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, h := range entries {
		content := h.Linkname
		if h.Typeflag == 0 || h.Typeflag == tar.TypeReg {
			h.Linkname, h.Size, h.Mode = "", int64(len(content)), 0o644
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := io.WriteString(w, content); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// file is an entry of a plain file; its text travels as its Linkname.
func file(name, text string) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Linkname: text}
}

func gzipped(t testing.TB, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(raw)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gunzipped(t testing.TB, raw []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A policy in an archive is the policy in the folder: it has its digest,
// whoever packed it.
func TestArchiveIsTheFolder(t *testing.T) {
	want, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{"", "./", "/"} {
		entries := []tar.Header{{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{"comment": "of a commit"}}}
		if prefix == "./" {
			entries = append(entries, tar.Header{Typeflag: tar.TypeDir, Name: "./", Mode: 0o755})
		}
		for name, text := range want.Files {
			entries = append(entries, file(prefix+name, string(text)))
		}
		a, err := OpenArchive(bytes.NewReader(pack(t, entries...)))
		if err != nil {
			t.Fatalf("names from %q: %v", prefix, err)
		}
		if err := fstest.TestFS(a, "data.yaml", "rules/git/git.yaml"); err != nil {
			t.Error(err)
		}
		got, err := Load(a, Base)
		if err != nil {
			t.Fatal(err)
		}
		if got.Digest != want.Digest {
			t.Errorf("names from %q: digest %s, want %s", prefix, got.Digest, want.Digest)
		}
	}
}

func TestArchiveSaysThatItIsSigned(t *testing.T) {
	for want, entries := range map[bool][]tar.Header{
		true: {file("data.yaml", "a: 1"), file("/.signatures.json", "{}")}, false: {file("data.yaml", "a: 1")},
	} {
		a, err := OpenArchive(bytes.NewReader(pack(t, entries...)))
		if err != nil || a.Signed != want {
			t.Errorf("signed: %t, want %t (%v)", a.Signed, want, err)
		}
	}
}

func TestArchivesThatAreRefused(t *testing.T) {
	ok := file("data.yaml", "reviewer: {}\n")
	whole := pack(t, ok, file("rules/a.yaml", "- id: a\n"))
	plain := gunzipped(t, whole)
	long := strings.Repeat("x", maxFile+1)
	many := make([]tar.Header, maxFiles+1)
	for i := range many {
		many[i] = file(fmt.Sprintf("f%d", i), "")
	}
	big := make([]tar.Header, maxInflated/maxFile+1)
	for i := range big {
		big[i] = file(fmt.Sprintf("f%d", i), long[:maxFile])
	}
	for name, test := range map[string]struct {
		archive []byte
		want    string
	}{
		"above the root":          {pack(t, file("../data.yaml", "")), "points outside the archive"},
		"above, further in":       {pack(t, file("rules/../../data.yaml", "")), "points outside the archive"},
		"two slashes":             {pack(t, file("//etc/passwd", "")), "points outside the archive"},
		"a backslash":             {pack(t, file(`rules\..\a.yaml`, "")), "plain relative path"},
		"a line's end in a name":  {pack(t, file("rules/a\n.yaml", "")), "plain relative path"},
		"a long name":             {pack(t, file(strings.Repeat("d/", 600)+"a.yaml", "")), "at most 1000"},
		"a link":                  {pack(t, ok, tar.Header{Typeflag: tar.TypeSymlink, Name: "rules", Linkname: "/etc"}), "rules is a link"},
		"a hard link":             {pack(t, ok, tar.Header{Typeflag: tar.TypeLink, Name: "b.yaml", Linkname: "data.yaml"}), "b.yaml is a link"},
		"a device":                {pack(t, tar.Header{Typeflag: tar.TypeChar, Name: "null"}), "null is a device"},
		"twice":                   {pack(t, ok, file("./data.yaml", "reviewer: {a: 1}")), "data.yaml: occurs twice in the archive"},
		"a file and a folder":     {pack(t, file("rules", ""), file("rules/a.yaml", "")), "rules is a file and a folder"},
		"a folder and a file":     {pack(t, file("rules/a.yaml", ""), file("rules", "")), "rules is a file and a folder"},
		"a large file":            {pack(t, file("a.rego", long)), "a.rego is larger than"},
		"many files":              {pack(t, many...), "more than 10000 entries"},
		"much, small when packed": {pack(t, big...), "more than 64 MB"},
		"cut in the compression":  {whole[:len(whole)/2], "truncated"},
		"without the last byte":   {whole[:len(whole)-1], "truncated"},
		"cut between two files":   {gzipped(t, plain[:1024]), "truncated"},
		"cut in a file":           {gzipped(t, plain[:700]), "truncated"},
		"cut in the end":          {gzipped(t, plain[:len(plain)-512]), "truncated"},
		"something after the end": {gzipped(t, append(slices.Clone(plain), "more"...)), "has data after its end"},
		"a damaged header":        {gzipped(t, append([]byte("x"), plain...)), "damaged"},
		"nothing":                 {nil, "empty"},
		"no compression":          {plain, "without compression"},
		"another compression":     {[]byte("\x28\xb5\x2f\xfd and so on"), "zstd"},
		"a zip":                   {[]byte("PK\x03\x04 and so on"), "zip"},
		"a text":                  {[]byte("reviewer: {}"), "is not gzip"},
	} {
		a, err := OpenArchive(bytes.NewReader(test.archive))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, test.want)
		}
		if err != nil && a != nil && len(a.Memory) > 0 && test.want == "truncated" {
			t.Errorf("%s: something of it was given out", name)
		}
	}
}

// Whatever is read, nothing but names under the root and files within their
// bounds results, and the same each time.
func FuzzOpenArchive(f *testing.F) {
	whole := pack(f, file("./data.yaml", "reviewer: {}\n"), file("/rules/a.yaml", "- id: a\n"))
	f.Add(gunzipped(f, whole))
	f.Add(gunzipped(f, pack(f, file("../a", "b"), tar.Header{Typeflag: tar.TypeSymlink, Name: "a", Linkname: "/"})))
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := OpenArchive(bytes.NewReader(gzipped(t, raw)))
		if err != nil {
			return
		}
		for name, content := range a.Memory {
			if !fs.ValidPath(name) || len(content) > maxFile {
				t.Errorf("%q with %d bytes", name, len(content))
			}
		}
		if err := fstest.TestFS(a, slices.Collect(maps.Keys(a.Memory))...); err != nil && len(a.Memory) > 0 {
			t.Error(err)
		}
		again, err := OpenArchive(bytes.NewReader(gzipped(t, raw)))
		if err != nil || !cmp.Equal(a.Memory, again.Memory) {
			t.Errorf("it comes out otherwise the second time: %v", err)
		}
	})
}
