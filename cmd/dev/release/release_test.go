package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/agent-reviewer/reviewer/bundles/signing"
)

// script is a program for tests: it prints its arguments, and ends with the code that
// the first one asks for.
const script = "#!/bin/sh\ncase $1 in exit) exit \"$2\";; read) cat;; stop) trap 'echo stopped; exit 9' TERM; echo ready; while :; do sleep 0.1; done;; " +
	"killed) kill -KILL $$;; esac\necho \"args: $*\"\n"

// pretended is a release whose programs are scripts, for all targets.
func pretended() *release {
	r := &release{version: "1.2.0-rc.1", time: time.Unix(1700000000, 0).UTC(), commit: strings.Repeat("ab", 20), targets: allTargets()}
	r.build = func(_ context.Context, t target) (build, error) {
		info := &buildinfo.BuildInfo{GoVersion: "go1.26.0", Deps: []*debug.Module{{Path: "lib.example/a", Version: "v1.0.0+incompatible", Sum: "h1:x"}}}
		b := build{target: t, info: info}
		for _, p := range programs(t) {
			b.programs = append(b.programs, file{t.exe(p.name), 0o755, []byte(script)})
		}
		for _, name := range []string{"README.md", "LICENSE", "licenses/lib.example/a/LICENSE"} {
			b.texts = append(b.texts, file{name, 0o644, []byte(name + "\n")})
		}
		return b, nil
	}
	r.common = func(context.Context) (common, error) {
		c := common{completions: map[string][]byte{}, pages: []file{{"reviewer.1", 0o644, []byte(".TH X\n")}}}
		for _, shell := range shells() {
			c.completions[shell] = []byte("complete " + shell + "\n")
		}
		return c, nil
	}
	return r
}

func written(t *testing.T, r *release, key signing.Signer) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "dist")
	if err := r.write(t.Context(), dir, key, io.Discard); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, path ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func newKey(t *testing.T, kind signing.Type) (key *signing.PrivateKey, public string) {
	t.Helper()
	key, err := signing.Generate(kind)
	if err != nil {
		t.Fatal(err)
	}
	public = filepath.Join(t.TempDir(), "release.pub")
	if err := os.WriteFile(public, []byte(key.PublicKey().PEM()), 0o600); err != nil {
		t.Fatal(err)
	}
	return key, public
}

func TestArguments(t *testing.T) {
	t.Setenv("EMPTY_KEY", "")
	for args, want := range map[string]string{
		"-version v1.0.0":                              "a release must be signed: give -key",
		"-version v1.0.0 -unsigned -key k":             "contradict each other",
		"-version v1.0.0 -key k -uncommitted":          "-uncommitted needs -unsigned",
		"-version v1.0.0 -key env:EMPTY_KEY":           "-key env:EMPTY_KEY: this variable is not set",
		"-version 1.0 -unsigned":                       "expected three numbers such as v1.2.0",
		"-version v1.0.0 -unsigned -targets plan9/386": `-targets names "plan9/386"; expected some of [darwin/amd64`,
		"-version v1.0.0 -unsigned more":               `unexpected argument "more"`,
		"-verify dist":                                 "-public-key FILE",
	} {
		err := run(t.Context(), strings.Fields(args), io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("release %s: %v; want %q", args, err, want)
		}
	}
}

func TestFolderMustBeEmpty(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := pretended().write(t.Context(), dir, nil, io.Discard); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("got %v", err)
	}
}

// The same release in another folder has the same bytes.
func TestSameBytes(t *testing.T) {
	key, _ := newKey(t, signing.Ed25519)
	compareFolders(t, written(t, pretended(), key), written(t, pretended(), key))
}

// The files of one target do not depend on what else is built.
func TestFewerTargetsHaveTheSameFiles(t *testing.T) {
	fewer := pretended()
	fewer.targets = []target{{"linux", "amd64"}}
	some, all := written(t, fewer, nil), written(t, pretended(), nil)
	for name := range strings.FieldsSeq(files(t, some)) {
		if strings.Contains(name, "linux_amd64") && !bytes.Equal(read(t, some, name), read(t, all, name)) {
			t.Errorf("%s depends on the other targets", name)
		}
	}
}

// An archive has the licences of what is in its programs, and no others.
func TestTextsOfTarget(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	const windowsOnly = "licenses/github.com/inconshreveable/mousetrap/LICENSE"
	for _, system := range []string{"linux", "windows"} {
		texts, err := (&release{root: root, targets: allTargets()}).texts(t.Context(), target{system, "amd64"})
		if err != nil {
			t.Fatal(err)
		}
		has := slices.ContainsFunc(texts, func(f file) bool { return f.name == windowsOnly })
		if has != (system == "windows") {
			t.Errorf("%s: has %s: %v", system, windowsOnly, has)
		}
	}
}

func compareFolders(t *testing.T, a, b string) {
	t.Helper()
	if files(t, a) != files(t, b) {
		t.Fatalf("the folders have other files:\n%s\n%s", files(t, a), files(t, b))
	}
	for name := range strings.FieldsSeq(files(t, a)) {
		if !bytes.Equal(read(t, a, name), read(t, b, name)) {
			t.Errorf("%s is not the same", name)
		}
	}
}

func files(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			path, err = filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\n")
}

func TestVerify(t *testing.T) {
	key, public := newKey(t, signing.Ed25519)
	_, other := newKey(t, signing.Ed25519)
	change := func(name, text string) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
	}
	for name, c := range map[string]struct {
		change func(dir string) error
		public string
		want   string // "" is a release that holds
	}{
		"untouched":      {nil, public, ""},
		"another key":    {nil, other, "SHA256SUMS.sig is invalid"},
		"other sums":     {change("SHA256SUMS", "x\n"), public, "SHA256SUMS.sig is invalid"},
		"no signature":   {func(dir string) error { return os.Remove(filepath.Join(dir, sumsSignature)) }, public, "the release is not signed"},
		"other archive":  {change("reviewer_1.2.0-rc.1_linux_amd64.tar.gz", "x"), public, "linux_amd64.tar.gz is not the released file"},
		"another file":   {change("more.tar.gz", "x"), public, "more.tar.gz is not in SHA256SUMS"},
		"file missing":   {func(dir string) error { return os.Remove(filepath.Join(dir, "homebrew", "reviewer.rb")) }, public, "reviewer.rb"},
		"other envelope": {change("reviewer_1.2.0-rc.1.intoto.dsse.json", "{}"), public, "intoto.dsse.json is not the released file"},
	} {
		dir := written(t, pretended(), key)
		if c.change != nil {
			if err := c.change(dir); err != nil {
				t.Fatal(err)
			}
		}
		err := run(t.Context(), []string{"-verify", dir, "-public-key", c.public}, io.Discard)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// The documented commands of others verify a release, too.
func TestOpenSSLVerifies(t *testing.T) {
	needs(t, "openssl", "sha256sum")
	for kind, args := range map[signing.Type][]string{
		signing.Ed25519:   {"pkeyutl", "-verify", "-pubin", "-inkey", "KEY", "-rawin", "-in", "SHA256SUMS", "-sigfile", "SHA256SUMS.sig"},
		signing.ECDSAP256: {"dgst", "-sha256", "-verify", "KEY", "-signature", "SHA256SUMS.sig", "SHA256SUMS"},
	} {
		key, public := newKey(t, kind)
		dir := written(t, pretended(), key)
		args[slices.Index(args, "KEY")] = public
		command(t, dir, 0, "openssl", args...)
		command(t, dir, 0, "sha256sum", "--quiet", "-c", "SHA256SUMS")
		if err := os.WriteFile(filepath.Join(dir, sumsName), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		command(t, dir, 1, "openssl", args...)
	}
}

func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
}

// command runs a program, expects an exit code and returns what it printed.
func command(t *testing.T, dir string, code int, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "REVIEWER_HOME="+t.TempDir(),
		"npm_config_offline=true", "npm_config_update_notifier=false")
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Fatalf("%s %v: exit code %d (%v), want %d:\n%.2000s", name, args, got, err, code, out)
	}
	return string(out)
}

func TestProvenance(t *testing.T) {
	dir := written(t, pretended(), nil)
	doc := read(t, dir, "reviewer_1.2.0-rc.1.intoto.json")
	subjects, p, err := signing.OpenAll[provenance](&signing.Envelope{Payload: doc})
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Count(string(read(t, dir, sumsName)), "\n")
	if len(subjects) != listed-1 {
		t.Errorf("the statement is about %d files, SHA256SUMS lists %d with it", len(subjects), listed)
	}
	if p.Build.From[0].Digest["gitCommit"] != strings.Repeat("ab", 20) || p.Build.Internal["go"] != "go1.26.0" {
		t.Errorf("got %+v", p)
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, private := range []string{filepath.Dir(wd), os.TempDir()} {
		if strings.Contains(string(doc), private) {
			t.Errorf("the statement names a folder of this machine: %s", private)
		}
	}
}

func TestSBOM(t *testing.T) {
	dir := written(t, pretended(), nil)
	var bom cdx.BOM
	doc := read(t, dir, "reviewer_1.2.0-rc.1_windows_arm64.cdx.json")
	if err := cdx.NewBOMDecoder(bytes.NewReader(doc), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range *bom.Components {
		got = append(got, c.PackageURL)
	}
	if want := []string{"pkg:golang/std@1.26.0", "pkg:golang/lib.example/a@v1.0.0%2Bincompatible"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if hash := (*bom.Metadata.Component.Hashes)[0].Value; hash != signing.SHA256([]byte(script)) {
		t.Errorf("the SBOM is of a file with the SHA-256 %s", hash)
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(bom.SerialNumber) {
		t.Errorf("the serial number is %s", bom.SerialNumber)
	}
}

// tarFiles are the files of a tar.gz by name.
func tarFiles(t *testing.T, content []byte) map[string]file {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]file{}
	for r := tar.NewReader(zr); ; {
		h, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.ModTime.Unix() != 1700000000 {
			t.Errorf("%s has an owner or a time of this machine: %+v", h.Name, h)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all[h.Name] = file{h.Name, h.Mode, body}
	}
}

func TestArchives(t *testing.T) {
	dir := written(t, pretended(), nil)
	folder := "reviewer_1.2.0-rc.1_linux_amd64/"
	all := tarFiles(t, read(t, dir, "reviewer_1.2.0-rc.1_linux_amd64.tar.gz"))
	for name, mode := range map[string]int64{"reviewer": 0o755, "reviewer-hook": 0o755, "LICENSE": 0o644, "README.md": 0o644, "licenses/lib.example/a/LICENSE": 0o644,
		"completions/reviewer.bash": 0o644, "completions/_reviewer": 0o644, "completions/reviewer.fish": 0o644, "completions/reviewer.ps1": 0o644,
		"man/man1/reviewer.1": 0o644} {
		if f, ok := all[folder+name]; !ok || f.mode != mode {
			t.Errorf("%s: there %v, mode %o; want %o", name, ok, f.mode, mode)
		}
	}
	content := read(t, dir, "reviewer_1.2.0-rc.1_windows_amd64.zip")
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Open("reviewer_1.2.0-rc.1_windows_amd64/reviewer.exe"); err != nil {
		t.Error(err)
	}
}

func TestDeb(t *testing.T) {
	needs(t, "dpkg-deb")
	dir := written(t, pretended(), nil)
	deb := filepath.Join(dir, "reviewer_1.2.0-rc.1_linux_arm64.deb")
	for field, want := range map[string]string{"Package": "reviewer", "Version": "1.2.0~rc.1", "Architecture": "arm64"} {
		if got := strings.TrimSpace(command(t, dir, 0, "dpkg-deb", "-f", deb, field)); got != want {
			t.Errorf("%s is %q, want %q", field, got, want)
		}
	}
	if got := command(t, dir, 0, "dpkg-deb", "-f", deb, "Description"); !strings.HasPrefix(got, summary+"\n It parses each") {
		t.Errorf("the description is %q", got)
	}
	out, control := t.TempDir(), t.TempDir()
	command(t, dir, 0, "dpkg-deb", "-x", deb, out)
	for _, name := range []string{"reviewer", "reviewer-hook"} {
		if got := command(t, out, 0, filepath.Join(out, "usr/bin", name), "a", "b"); got != "args: a b\n" {
			t.Errorf("the program %s of the package printed %q", name, got)
		}
	}
	command(t, dir, 0, "dpkg-deb", "-e", deb, control)
	for line := range strings.Lines(string(read(t, control, "md5sums"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if got := fmt.Sprintf("%x", md5.Sum(read(t, out, name))); got != sum {
			t.Errorf("%s has the sum %s, md5sums says %s", name, got, sum)
		}
	}
	for _, name := range []string{"usr/share/man/man1/reviewer.1.gz", "usr/share/doc/reviewer/copyright", "usr/share/zsh/vendor-completions/_reviewer"} {
		read(t, out, name)
	}
}

// The formula names the archives with their own sums, and Homebrew's targets alone.
func TestFormula(t *testing.T) {
	dir := written(t, pretended(), nil)
	formula := string(read(t, dir, "homebrew", "reviewer.rb"))
	pairs := regexp.MustCompile(`url "https://[^"]*/download/v1\.2\.0-rc\.1/([^"/]*)"\n *sha256 "([0-9a-f]{64})"`).FindAllStringSubmatch(formula, -1)
	if len(pairs) != 4 {
		t.Fatalf("the formula names %d archives, want 4:\n%s", len(pairs), formula)
	}
	for _, p := range pairs {
		if sum := signing.SHA256(read(t, dir, p[1])); sum != p[2] {
			t.Errorf("the formula says that %s has the SHA-256 %s; it has %s", p[1], p[2], sum)
		}
	}
	if !strings.Contains(formula, `bin.install "reviewer", "reviewer-hook"`) {
		t.Errorf("the formula does not install the client of the resident process:\n%s", formula)
	}
	if !strings.Contains(formula, `version "1.2.0-rc.1"`) {
		t.Errorf("the formula has another version:\n%s", formula)
	}
	if _, err := exec.LookPath("ruby"); err == nil {
		command(t, dir, 0, "ruby", "-c", "homebrew/reviewer.rb")
	}
}

func TestFewerTargetsHaveNoFormula(t *testing.T) {
	r := pretended()
	r.targets = r.targets[:1]
	if dir := written(t, r, nil); strings.Contains(files(t, dir), "homebrew") {
		t.Error("there is a formula that names archives which were not built")
	}
}

func TestPackageDescriptions(t *testing.T) {
	dir := written(t, pretended(), nil)
	description := func(name string) (p npmPackage) {
		doc := tarFiles(t, read(t, dir, "npm", name+"-1.2.0-rc.1.tgz"))["package/package.json"].content
		if err := json.Unmarshal(doc, &p); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if bytes.Contains(doc, []byte(`\u`)) {
			t.Errorf("%s has escaped characters:\n%s", name, doc)
		}
		return p
	}
	main := description("agent-reviewer-reviewer")
	if len(main.Optional) != 6 || main.Bin["reviewer"] != "bin/reviewer.js" {
		t.Fatalf("got %+v", main)
	}
	for name, version := range main.Optional {
		p := description(strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-"))
		if p.Name != name || p.Version != version || p.Version != main.Version || !strings.HasSuffix(name, p.OS[0]+"-"+p.CPU[0]) {
			t.Errorf("the main package names %s %s; the package says %+v", name, version, p)
		}
	}
}

// What only makes releases is in no program that is shipped.
func TestShippedPrograms(t *testing.T) {
	for _, p := range programs(target{"linux", "amd64"}) {
		list, err := output(t.Context(), "../../..", nil, "go", "list", "-deps", p.pkg)
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.FieldsSeq(list) {
			for _, no := range []string{"rpmpack", "cyclonedx", "cobra/doc", "md2man", "blackfriday", "go-containerregistry", "/cmd/dev/release/"} {
				if strings.Contains(strings.ToLower(name)+"/", no) {
					t.Errorf("%s has %s in it", p.name, name)
				}
			}
		}
	}
}

func TestLicences(t *testing.T) {
	for name, want := range map[string]bool{"LICENSE": true, "LICENSE.md": true, "COPYING": true, "NOTICE.txt": true, "LICENSE-MIT": true,
		"PATENTS": true, "license.go": false, "licenses_test.go": false, "README.md": false} {
		if isLicence(name) != want {
			t.Errorf("isLicence(%s) is %v", name, !want)
		}
	}
	if _, err := licences("lib.example/none", t.TempDir()); err == nil || !strings.Contains(err.Error(), "has no licence") {
		t.Errorf("a module without licence: %v", err)
	}
}
