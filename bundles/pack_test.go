package bundles

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const orgManifest = `{"roots": ["policies/organisation"], "rego_version": 1,
  "metadata": {"name": "acme/agents", "version": "1.4.0-rc.1", "sequence": 7}}
`

const orgRow = "- {id: org.%s, title: T, severity: high, decision: ask, message: m, match: {commands: [git]}}\n"

// orgFiles is a layer with a file of each kind, and others that do not count.
func orgFiles() Memory {
	return Memory{
		".manifest":                       []byte(orgManifest),
		"settings.yaml":                   []byte("enforcement: enforce\n"),
		"own.rego":                        []byte("package policies.organisation\n\nfindings := set()\n"),
		"rules/git.yaml":                  fmt.Appendf(nil, orgRow, "git"),
		"access/a.yaml":                   []byte("id: a\nrules: [{id: one, effect: deny, actions: [code.exec]}]\n"),
		"detectors/d.yaml":                []byte("- {id: org.d, title: D, pattern: 'a+', examples: {match: [a], no_match: [b]}}\n"),
		"policies/organisation/data.yaml": []byte("hosts: [example.com]\n"),
		"own_test.rego":                   []byte("package policies.organisation_test\n\ntest_x := true\n"),
		"cases/a.yaml":                    []byte("name: a\n"),
		"README.md":                       []byte("Read me.\n"),
		".git/config":                     []byte("x"),
		".signatures.json":                []byte("{}"),
		"rules/.hidden.yaml":              []byte("x"),
	}
}

func loaded(t *testing.T, fsys fs.FS, layer string) *Bundle {
	t.Helper()
	b, err := Load(fsys, layer)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func packed(t *testing.T, fsys fs.FS, r Release) *Packed {
	t.Helper()
	p, err := Pack(loaded(t, fsys, Organisation), r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// opened reads an archive and loads it.
func opened(t *testing.T, raw []byte) (*Archive, *Bundle) {
	t.Helper()
	a, err := OpenArchive(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return a, loaded(t, a, Organisation)
}

func TestPackKeepsTheDigest(t *testing.T) {
	folder := loaded(t, orgFiles(), Organisation)
	release := Release{Name: "acme/other", Version: "2.0.0", Sequence: 9, Revision: "git:abc", Created: "2026-11-22T08:00:00Z", Capabilities: "cafe", Engine: 3, TestsSkipped: true}
	_, again := opened(t, packed(t, orgFiles(), release).Bytes)
	if again.Digest != folder.Digest {
		t.Errorf("the archive's digest is %s, the folder's %s", again.Digest, folder.Digest)
	}
	if diff := cmp.Diff(folder.Files, again.Files); diff != "" {
		t.Errorf("other files count (-folder +archive):\n%s", diff)
	}
	if diff := cmp.Diff([]any{folder.Data, folder.Rules, folder.Access, folder.Detectors, folder.Settings}, []any{again.Data, again.Rules, again.Access, again.Detectors, again.Settings},
		cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Errorf("they are not read alike (-folder +archive):\n%s", diff)
	}
	want := Manifest{Revision: "git:abc", Roots: []string{"policies/organisation"}, Rego: 1, Metadata: ManifestMetadata{
		Name: "acme/other", Version: "2.0.0", Sequence: 9, Requires: map[string]int{"engine": 3}, Created: "2026-11-22T08:00:00Z",
		Capabilities: "cafe", TestsSkipped: true, Written: orgManifest,
	}}
	if diff := cmp.Diff(want, again.Manifest); diff != "" {
		t.Errorf("the manifest (-want +got):\n%s", diff)
	}
}

// What is kept of a policy from an archive is the policy, and no release of it.
func TestPackedPolicyIsKept(t *testing.T) {
	base, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := Assemble(base, loaded(t, orgFiles(), Organisation))
	if err != nil {
		t.Fatal(err)
	}
	_, layer := opened(t, packed(t, orgFiles(), Release{Sequence: 8}).Bytes)
	archive, err := Assemble(base, layer)
	if err != nil {
		t.Fatal(err)
	}
	if archive.Digest != folder.Digest {
		t.Errorf("the digest of all layers is %s with the archive, %s with the folder", archive.Digest, folder.Digest)
	}
}

func TestPackLeavesOut(t *testing.T) {
	a, _ := opened(t, packed(t, orgFiles(), Release{}).Bytes)
	want := []string{
		".manifest", "access/a.yaml", "detectors/d.yaml", "own.rego", "policies/organisation/access_lists/data.json",
		"policies/organisation/catalog/data.json", "policies/organisation/data.yaml", "policies/organisation/detectors/data.json",
		"rules/git.yaml", "settings.yaml",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(a.Memory))); diff != "" {
		t.Errorf("files of the archive (-want +got):\n%s", diff)
	}
}

// Nothing of the machine, the person or the day is in an archive.
func TestPackIsPlain(t *testing.T) {
	for _, c := range []struct {
		release Release
		want    time.Time
	}{{Release{}, time.Unix(0, 0)}, {Release{Created: "2026-11-22T08:00:00Z"}, time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)}} {
		z, err := gzip.NewReader(bytes.NewReader(packed(t, orgFiles(), c.release).Bytes))
		if err != nil {
			t.Fatal(err)
		}
		if z.Name != "" || z.Comment != "" || !z.ModTime.IsZero() || len(z.Extra) > 0 || z.OS != 255 {
			t.Errorf("the gzip header tells %+v", z.Header)
		}
		var names []string
		for r := tar.NewReader(z); ; {
			h, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, h.Name)
			if h.Mode != 0o644 || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || !h.ModTime.Equal(c.want) || h.Typeflag != tar.TypeReg {
				t.Errorf("%s: %+v", h.Name, h)
			}
		}
		if !slices.IsSorted(names) || len(names) == 0 {
			t.Errorf("names are not sorted: %q", names)
		}
	}
}

// The bytes of an archive before they are compressed stay as they are: what was
// built and signed once can be built again. (How they are compressed may change
// with Go.)
func TestPackedBytesStay(t *testing.T) {
	z, err := gzip.NewReader(bytes.NewReader(packed(t, orgFiles(), Release{Capabilities: "cafe", Engine: 3}).Bytes))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	const want = "f6e1c74f305c4afec4bca439da6a46ef5ab10ede8f59e4051b225e621098fd6f"
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("the archive's bytes are %s now, and were %s", got, want)
	}
}

// From a folder under any umask, written in any order on any day, the archive is
// the same.
func TestPackFromDisk(t *testing.T) {
	want := packed(t, orgFiles(), Release{})
	for i, mode := range []fs.FileMode{0o600, 0o755, 0o644} {
		dir := t.TempDir()
		names := slices.Collect(maps.Keys(orgFiles()))
		for _, name := range names {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), mode|0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, orgFiles()[name], mode); err != nil {
				t.Fatal(err)
			}
			day := time.Unix(int64(i)*86400*365, 0)
			if err := os.Chtimes(file, day, day); err != nil {
				t.Fatal(err)
			}
		}
		files, err := Snapshot(os.DirFS(dir))
		if err != nil {
			t.Fatal(err)
		}
		if got := packed(t, files, Release{}); got.Sum != want.Sum {
			t.Errorf("mode %o: the archive is %s, want %s", mode, got.Sum.SHA256, want.Sum.SHA256)
		}
	}
}

// anyFiles makes a layer from any files that a person may have.
func anyFiles(r *rand.Rand) Memory {
	files := Memory{".manifest": []byte(orgManifest)}
	folders := []string{"", "a/", "team/ünï/", "rules/", "rules/deep/er/", strings.Repeat("long/", 30), "cases/", ".hidden/", "access/"}
	for i := range r.IntN(12) {
		folder := folders[r.IntN(len(folders))]
		switch {
		case folder == "rules/" || folder == "rules/deep/er/":
			files[fmt.Sprintf("%sr%d.yaml", folder, i)] = fmt.Appendf(nil, orgRow, fmt.Sprintf("r%d", i))
		case folder == "access/":
			files[fmt.Sprintf("access/l%d.yml", i)] = fmt.Appendf(nil, "id: l%d\nrules: [{id: one, effect: deny, actions: [code.exec]}]\n", i)
		default:
			names := []string{"x%d.rego", "x%d_test.rego", "x%d.md", "x%d", ".x%d.rego"}
			files[folder+fmt.Sprintf(names[r.IntN(len(names))], i)] = fmt.Appendf(nil, "package policies.organisation.x%d\n\ny := %d\n%s", i, r.Int(), strings.Repeat("# é\r\n", r.IntN(3)))
		}
	}
	return files
}

func TestPackAnyFiles(t *testing.T) {
	for seed := range uint64(300) {
		files := anyFiles(rand.New(rand.NewPCG(8, seed)))
		folder := loaded(t, files, Organisation)
		one, two := packed(t, files, Release{}), packed(t, maps.Clone(files), Release{})
		if !bytes.Equal(one.Bytes, two.Bytes) {
			t.Fatalf("seed %d: the same files make other bytes", seed)
		}
		_, again := opened(t, one.Bytes)
		if again.Digest != folder.Digest {
			t.Fatalf("seed %d: the digest is %s, the folder's %s", seed, again.Digest, folder.Digest)
		}
		name := slices.Sorted(maps.Keys(folder.Files))[rand.New(rand.NewPCG(9, seed)).IntN(len(folder.Files))]
		files[name] = append(slices.Clone(files[name]), '\n')
		if other := packed(t, files, Release{}); other.Sum == one.Sum || loaded(t, files, Organisation).Digest == folder.Digest {
			t.Fatalf("seed %d: a change of %s changes nothing", seed, name)
		}
	}
}

func TestPackRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		files   Memory
		release Release
		want    string
	}{
		"no manifest":   {Memory{"settings.yaml": []byte("enforcement: warn\n")}, Release{}, `.manifest is missing; write one such as {"roots": ["policies/organisation"]`},
		"no name":       {Memory{".manifest": []byte(`{"metadata": {"version": "1.0.0", "sequence": 1}}`)}, Release{}, `metadata.name is ""; expected a name such as acme/agents`},
		"odd name":      {nil, Release{Name: "../x"}, `metadata.name is "../x"`},
		"no version":    {Memory{".manifest": []byte(`{"metadata": {"name": "a", "sequence": 1}}`)}, Release{}, `in the manifest or by --version`},
		"half version":  {nil, Release{Version: "1.4"}, `metadata.version is "1.4"; expected a version such as 1.4.0`},
		"v version":     {nil, Release{Version: "v1.4.0"}, `metadata.version is "v1.4.0"`},
		"no sequence":   {Memory{".manifest": []byte(`{"metadata": {"name": "a", "version": "1.0.0"}}`)}, Release{}, `metadata.sequence is 0; expected a number of at least 1`},
		"back sequence": {nil, Release{Sequence: -1}, `metadata.sequence is -1`},
		"big sequence":  {nil, Release{Sequence: 1 << 60}, `metadata.sequence is 1152921504606846976`},
		"lines":         {nil, Release{Revision: "a\nb"}, `expected one line of at most 256 bytes`},
		"no time":       {nil, Release{Created: "yesterday"}, `metadata.created is "yesterday"; expected a time in UTC such as`},
		"local time":    {nil, Release{Created: "2026-11-22T08:00:00+01:00"}, `expected a time in UTC`},
		"capitals":      {Memory{".manifest": []byte(orgManifest), "a.rego": []byte("package policies.organisation.a\n"), "A.rego": []byte("package policies.organisation.b\n")}, Release{}, `a.rego: differs from A.rego only in case`},
		"long name":     {Memory{".manifest": []byte(orgManifest), strings.Repeat("x/", 600) + "a.rego": []byte("package policies.organisation.a\n")}, Release{}, `a name in the archive has 1206 bytes, at most 1000`},
		"odd file":      {Memory{".manifest": []byte(orgManifest), "a\tb.rego": []byte("package policies.organisation.a\n")}, Release{}, `which points outside the archive or is not a plain relative path`},
	} {
		if c.files == nil {
			c.files = orgFiles()
		}
		_, err := Pack(loaded(t, c.files, Organisation), c.release)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// changed packs the files of an archive again after a change by hand.
func changed(t *testing.T, change func(files Memory)) (*Bundle, error) {
	t.Helper()
	a, _ := opened(t, packed(t, orgFiles(), Release{Engine: 3}).Bytes)
	change(a.Memory)
	raw, err := compress(a.Memory, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if a, err = OpenArchive(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	return Load(a, Organisation)
}

// The manifest in an archive may not say other things than the one that the
// digest covers.
func TestBuiltManifestAgrees(t *testing.T) {
	edit := func(f func(m *Manifest)) func(Memory) {
		return func(files Memory) {
			var m Manifest
			if err := json.Unmarshal(files[".manifest"], &m); err != nil {
				t.Fatal(err)
			}
			f(&m)
			files[".manifest"], _ = json.Marshal(m)
		}
	}
	for name, c := range map[string]struct {
		change func(Memory)
		want   string
	}{
		"as it is":     {edit(func(*Manifest) {}), ""},
		"name":         {edit(func(m *Manifest) { m.Metadata.Name = "acme/x" }), ""},
		"roots":        {edit(func(m *Manifest) { m.Roots = []string{"policies/user"} }), "roots differs from that of the manifest that was written"},
		"rego":         {edit(func(m *Manifest) { m.Rego = 0 }), "rego_version differs"},
		"no manifest":  {edit(func(m *Manifest) { m.Metadata.Written = "{" }), "metadata.written: "},
		"built twice":  {edit(func(m *Manifest) { m.Metadata.Written = `{"metadata": {"written": "{}"}}` }), "what only an archive's manifest has differs"},
		"needs less":   {edit(func(m *Manifest) { m.Metadata.Written = `{"metadata": {"requires": {"engine": 1}}}` }), "metadata.requires.engine differs"},
		"needs more":   {edit(func(m *Manifest) { m.Metadata.Requires["engine"] = 1 << 30 }), "update reviewer"},
		"other time":   {edit(func(m *Manifest) { m.Metadata.Written = `{"metadata": {"created": "2026-11-22T08:00:00Z"}}` }), "metadata.created differs"},
		"other policy": {edit(func(m *Manifest) { m.Metadata.Written = `{"roots": ["reviewer"]}` }), "roots differs"},
	} {
		_, err := changed(t, c.change)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// Rows that OPA reads and reviewer does not are those that reviewer reads.
func TestRepeatedRowsAgree(t *testing.T) {
	const file = "policies/organisation/catalog/data.json"
	for name, change := range map[string]func(Memory){
		"milder":  func(m Memory) { m[file] = bytes.Replace(m[file], []byte(`"ask"`), []byte(`"allow"`), 1) },
		"missing": func(m Memory) { delete(m, file) },
		"more":    func(m Memory) { m["rules/more.yaml"] = fmt.Appendf(nil, orgRow, "more") },
	} {
		b, err := changed(t, change)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := b.CheckRepeated(); err == nil || !strings.Contains(err.Error(), file+": differs from the rows") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if b, err := changed(t, func(Memory) {}); err != nil || b.CheckRepeated() != nil {
		t.Errorf("as it was built: %v, %v", err, b.CheckRepeated())
	}
}

// A folder may not bring the rows that an archive repeats: nobody would read them.
func TestRepeatedRowsAreNoPolicy(t *testing.T) {
	files := orgFiles()
	files["policies/organisation/catalog/data.json"] = []byte(`{"org.git": {"decision": "allow"}}`)
	if _, err := Load(files, Organisation); err == nil || !strings.Contains(err.Error(), `"policies/organisation/catalog" is made of rules/**.yaml`) {
		t.Errorf("got %v", err)
	}
}

func TestSnapshot(t *testing.T) {
	got, err := Snapshot(orgFiles())
	if err != nil {
		t.Fatal(err)
	}
	want := orgFiles()
	delete(want, ".git/config")
	for _, name := range []string{"README.md", ".signatures.json", "rules/.hidden.yaml"} {
		want[name] = nil // its name alone
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	large := fstest.MapFS{"own.rego": {Data: bytes.Repeat([]byte("#"), maxFile+1)}}
	if _, err := Snapshot(large); err == nil || !strings.Contains(err.Error(), "own.rego is larger than 1048576 bytes") {
		t.Errorf("a large file: %v", err)
	}
}

func TestSnapshotLinks(t *testing.T) {
	needLinks(t)
	outside := filepath.Join(t.TempDir(), "secret.rego")
	if err := os.WriteFile(outside, []byte("package policies.organisation\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ link, to, want string }{
		"inside":     {"b.rego", "a.rego", ""},
		"outside":    {"b.rego", outside, "b.rego is a link that leads out of the folder"},
		"up":         {"b.rego", "../../../../../../etc/hosts", "b.rego is a link that leads out of the folder"},
		"folder out": {"rules", filepath.Dir(outside), "rules is a link that leads out of the folder"},
		"folder":     {"rules", "d", "rules is a link to a folder"},
		"nowhere":    {"rules", "none", "rules is a dangling link"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.rego"), []byte("package policies.organisation\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(c.to, filepath.Join(dir, c.link)); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		files, err := Snapshot(root.FS())
		if c.want == "" && (err != nil || len(files["b.rego"]) == 0) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Thousands of rules make rows for OPA that are larger than any other file.
func TestPackManyRules(t *testing.T) {
	files := Memory{".manifest": []byte(orgManifest)}
	for i := range 5000 {
		files[fmt.Sprintf("rules/r%d.yaml", i/500)] = fmt.Appendf(files[fmt.Sprintf("rules/r%d.yaml", i/500)], orgRow, fmt.Sprintf("r%d", i))
	}
	a, _ := opened(t, packed(t, files, Release{}).Bytes)
	if rows := a.Memory["policies/organisation/catalog/data.json"]; len(rows) <= 500_000 {
		t.Errorf("the rows for OPA have %d bytes", len(rows))
	}
}

func TestResults(t *testing.T) {
	archive := []byte("archive")
	good := Results{V: 1, Archive: sumOf(archive), Name: "a", Version: "1.0.0", Sequence: 1, Tests: TestCounts{Passed: 3, Todo: 1}}
	encoded := func(change func(r *Results)) []byte {
		r := good
		change(&r)
		raw, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	same := func(*Results) {}
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"good":      {encoded(same), ""},
		"skipped":   {encoded(func(r *Results) { r.Skipped, r.Tests = true, TestCounts{} }), ""},
		"failed":    {encoded(func(r *Results) { r.Tests.Failed = 2 }), "the results contain 2 failed tests"},
		"none":      {encoded(func(r *Results) { r.Tests = TestCounts{} }), "no passed test"},
		"other":     {encoded(func(r *Results) { r.Archive.SHA256 = "00" }), "the results belong to another archive"},
		"later":     {encoded(func(r *Results) { r.V = 2 }), "the results have format version 2; this reviewer reads 1"},
		"unknown":   {bytes.Replace(encoded(same), []byte(`"name"`), []byte(`"nome"`), 1), `unknown field "nome"`},
		"twice":     {bytes.Replace(encoded(same), []byte(`"name"`), []byte(`"layer"`), 1), "read results"},
		"cut short": {encoded(same)[:40], "read results"},
		"endless":   {bytes.Repeat([]byte(" "), maxResults+1), "the results have more than"},
	} {
		r, err := ReadResults(bytes.NewReader(c.raw), archive)
		if c.want == "" && (err != nil || r.Name != "a") || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if got, want := good.TestsText(), "3 passed, 1 to do"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Whatever a manifest says that it was made of, the digest covers what is read.
func FuzzBuiltManifest(f *testing.F) {
	f.Add(orgManifest)
	f.Add(`{"metadata": {"written": "{}"}}`)
	f.Add("{")
	f.Fuzz(func(t *testing.T, written string) {
		m := Manifest{Roots: []string{"policies/organisation"}, Rego: 1}
		m.Metadata.Requires, m.Metadata.Written = map[string]int{"engine": 1}, written
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		b, err := FromFiles(map[string][]byte{".manifest": raw}, Organisation)
		if err != nil || written == "" {
			return
		}
		plain, err := FromFiles(map[string][]byte{".manifest": []byte(written)}, Organisation)
		if err != nil || plain.Digest != b.Digest {
			t.Errorf("%q alone: %v; with it the digest is another", written, err)
		}
	})
}

func BenchmarkPack(b *testing.B) {
	base, err := Default()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Pack(base, Release{}); err != nil {
			b.Fatal(err)
		}
	}
}
