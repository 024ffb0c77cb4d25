package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/cavaliergopher/cpio"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// npmInstalled installs the packages for this machine into a new folder, without a
// network, and returns the folder.
func npmInstalled(t *testing.T, dist, version string) string {
	t.Helper()
	needs(t, "npm", "node")
	dir := t.TempDir()
	system, cpu := npmName(target{runtime.GOOS, runtime.GOARCH})
	tgz := func(name string) string { return filepath.Join(dist, "npm", "agent-reviewer-"+name+"-"+version+".tgz") }
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, dir, 0, "npm", "install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts",
		tgz("reviewer-"+system+"-"+cpu), tgz("reviewer"))
	return dir
}

func TestNPM(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program of this test is a script of a shell")
	}
	dir := npmInstalled(t, written(t, pretended(), nil), "1.2.0-rc.1")
	if got := command(t, dir, 0, "npx", "--offline", "reviewer", "a b", "c"); got != "args: a b c\n" {
		t.Errorf("npx reviewer printed %q", got)
	}
	program := filepath.Join(dir, "node_modules", ".bin", "reviewer")
	command(t, dir, 7, program, "exit", "7")
	if got := command(t, dir, 0, "sh", "-c", "echo typed | '"+program+"' read"); got != "typed\nargs: read\n" {
		t.Errorf("standard input did not arrive: %q", got)
	}
	command(t, dir, -1, program, "killed") // by the same signal
	passesSignal(t, program)
	if err := os.RemoveAll(filepath.Dir(platformFolder(t, dir))); err != nil {
		t.Fatal(err)
	}
	command(t, dir, 2, program, "hook", "claude-code")
	if out := command(t, dir, 1, program, "version"); !strings.Contains(out, "is not installed") {
		t.Errorf("without the program's package: %q", out)
	}
}

// platformFolder is where npm put the program.
func platformFolder(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "node_modules", "@agent-reviewer", "reviewer-*", "bin"))
	if err != nil || len(found) != 1 {
		t.Fatalf("npm installed %v (%v), want the package of this machine alone", found, err)
	}
	return found[0]
}

func passesSignal(t *testing.T, program string) {
	t.Helper()
	cmd := exec.Command(program, "stop")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	limit := time.AfterFunc(5*time.Minute, func() { _ = errors.Join(cmd.Process.Kill(), out.Close()) }) // a child may hold the pipe
	defer limit.Stop()
	ready := make([]byte, len("ready\n"))
	if _, err := io.ReadFull(out, ready); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(out)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); err != nil || string(rest) != "stopped\n" || code != 9 {
		t.Errorf("after SIGTERM: %q, exit code %d (%v); want stopped and 9", rest, code, err)
	}
}

// rpmFiles reads the files of an rpm: after a lead and two headers, the first of which
// is filled up to a multiple of eight, lies a cpio archive.
func rpmFiles(t *testing.T, content []byte) map[string][]byte {
	t.Helper()
	rest := content[96:]
	for i := range 2 {
		if !bytes.HasPrefix(rest, []byte{0x8e, 0xad, 0xe8, 1}) {
			t.Fatalf("header %d of the rpm begins with % x", i, rest[:4])
		}
		size := 16 + 16*int(binary.BigEndian.Uint32(rest[8:])) + int(binary.BigEndian.Uint32(rest[12:]))
		if i == 0 {
			size = (size + 7) / 8 * 8
		}
		rest = rest[size:]
	}
	zr, err := gzip.NewReader(bytes.NewReader(rest))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for r := cpio.NewReader(zr); ; {
		h, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all[h.Name] = body
	}
}

func TestRPM(t *testing.T) {
	dir := written(t, pretended(), nil)
	all := rpmFiles(t, read(t, dir, "reviewer_1.2.0-rc.1_linux_amd64.rpm"))
	for _, name := range []string{"/usr/bin/reviewer", "/usr/bin/reviewer-hook", "/usr/share/doc/reviewer/LICENSE", "/usr/share/man/man1/reviewer.1.gz",
		"/usr/share/zsh/site-functions/_reviewer", "/usr/share/bash-completion/completions/reviewer"} {
		if len(all[name]) == 0 {
			t.Errorf("the rpm has no %s", name)
		}
	}
	if got := string(all["/usr/bin/reviewer"]); got != script {
		t.Errorf("the program of the rpm is %q", got)
	}
}

// images are those of the one index in a layout, checked with all that they name.
func images(t *testing.T, dir string) map[string]v1.Image {
	t.Helper()
	path, err := layout.FromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	top, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(top); err != nil {
		t.Fatal(err)
	}
	list, err := top.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	index, err := top.ImageIndex(list.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]v1.Image{}
	for _, m := range manifest.Manifests {
		if all[m.Platform.Architecture], err = index.Image(m.Digest); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestImage(t *testing.T) {
	dir := written(t, pretended(), nil)
	all := images(t, filepath.Join(dir, "oci"))
	if len(all) != 2 {
		t.Fatalf("the layout has %d images, want one for each target of Linux", len(all))
	}
	for arch, image := range all {
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.Architecture != arch || config.Config.User != "65532:65532" || config.Created.Unix() != 1700000000 {
			t.Errorf("%s: got %+v", arch, config)
		}
	}
	unpacked := t.TempDir()
	command(t, dir, 0, "tar", "-xf", filepath.Join(dir, "reviewer_1.2.0-rc.1_oci.tar"), "-C", unpacked)
	compareFolders(t, filepath.Join(dir, "oci"), unpacked)
}

// TestReal builds the program of this machine in two folders, compares all files, and
// installs it in every way.
func TestReal(t *testing.T) {
	if os.Getenv("REVIEWER_EVERY") == "" || runtime.GOOS != "linux" {
		t.Skip("builds the program several times")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	key, public := newKey(t, signing.Ed25519)
	first := written(t, onlyHere(root), key)
	compareFolders(t, first, written(t, onlyHere(copied(t, root)), key))
	if err := verifyFolder(first, public, io.Discard); err != nil {
		t.Error(err)
	}
	name := "reviewer_0.0.9_linux_" + runtime.GOARCH
	out := t.TempDir()
	command(t, out, 0, "tar", "-xzf", filepath.Join(first, name+".tar.gz"))
	isReviewer(t, filepath.Join(out, name, "reviewer"))
	checkTexts(t, filepath.Join(out, name))
	if _, err := exec.LookPath("dpkg-deb"); err == nil {
		command(t, out, 0, "dpkg-deb", "-x", filepath.Join(first, name+".deb"), out)
		isReviewer(t, filepath.Join(out, "usr/bin/reviewer"))
	}
	isReviewer(t, executable(t, rpmFiles(t, read(t, first, name+".rpm"))["/usr/bin/reviewer"]))
	isReviewer(t, imageProgram(t, filepath.Join(first, "oci")))
	t.Run("npm", func(t *testing.T) {
		isReviewer(t, filepath.Join(npmInstalled(t, first, "0.0.9"), "node_modules", ".bin", "reviewer"))
	})
}

// onlyHere is a release for this machine alone.
func onlyHere(root string) *release {
	r := &release{root: root, version: "0.0.9", time: time.Unix(1700000000, 0).UTC(), commit: strings.Repeat("cd", 20),
		targets: []target{{runtime.GOOS, runtime.GOARCH}}}
	r.build, r.common = r.compile, r.commonFiles
	return r
}

// copied is the checkout in another folder: what git knows about it, and the prepared files.
func copied(t *testing.T, root string) string {
	t.Helper()
	needs(t, "git")
	dir := filepath.Join(t.TempDir(), "some", "other", "folder")
	list, err := output(t.Context(), root, nil, "git", "ls-files", "-co", "--exclude-standard")
	if err != nil {
		t.Skipf("not a checkout of git: %v", err)
	}
	for _, name := range append(strings.Split(list, "\n"), preparedFiles()...) {
		content, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func isReviewer(t *testing.T, path string) {
	t.Helper()
	if out := command(t, t.TempDir(), 0, path, "version"); !strings.HasPrefix(out, "reviewer v0.0.9\n") {
		t.Errorf("%s version printed %q", path, out)
	}
}

func executable(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "reviewer")
	if err := os.WriteFile(path, content, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func imageProgram(t *testing.T, dir string) string {
	t.Helper()
	r := mutate.Extract(images(t, dir)[runtime.GOARCH])
	defer r.Close()
	out := t.TempDir()
	cmd := exec.Command("tar", "-x", "-C", out, "usr/bin/reviewer")
	cmd.Stdin = r
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return filepath.Join(out, "usr/bin/reviewer")
}

// checkTexts looks for what has to come with a program, and that the pages name no
// folder and no day of this machine.
func checkTexts(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"licenses/go/LICENSE", "licenses/github.com/open-policy-agent/opa/LICENSE"} {
		read(t, dir, name)
	}
	for name, want := range map[string]string{"man/man1/reviewer.1": ".TH \"REVIEWER\" \"1\" \"Nov 2023\" \"reviewer v0.0.9\"",
		"man/man1/reviewer-policy-test.1": "reviewer-policy-test", "completions/reviewer.bash": "__start_reviewer", "completions/_reviewer": "#compdef reviewer",
		"completions/reviewer.fish": "complete -c reviewer", "completions/reviewer.ps1": "Register-ArgumentCompleter"} {
		text := string(read(t, dir, name))
		if !strings.Contains(text, want) {
			t.Errorf("%s does not contain %q:\n%.300s", name, want, text)
		}
		if strings.Contains(text, os.TempDir()) {
			t.Errorf("%s names a folder of this machine", name)
		}
	}
}
