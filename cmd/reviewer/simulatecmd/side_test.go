package simulatecmd

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// shelf is a folder with a policy in each of the forms in which one can be.
type shelf struct {
	*cli.App
	dir  string
	said bytes.Buffer
}

const shelfRule = "- id: mine.curl\n  title: No curl\n  severity: high\n  decision: block\n  message: not here\n  match: {commands: [curl]}\n"

func newShelf(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{dir: t.TempDir()}
	t.Chdir(s.dir)
	env := map[string]string{"HOME": filepath.Join(s.dir, "home"), "REVIEWER_HOME": filepath.Join(s.dir, "state")}
	s.App = &cli.App{Streams: term.Streams{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &s.said, Env: func(name string) string { return env[name] }}}
	s.write(t, "policy/settings.yaml", "risk: {high_threshold: 0.7}\n")
	s.write(t, "policy/rules/mine/mine.yaml", shelfRule)
	return s
}

func (s *shelf) write(t *testing.T, name, text string) {
	t.Helper()
	name = filepath.Join(s.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func (s *shelf) ref(t *testing.T, ref string) *bundles.Effective {
	t.Helper()
	e, err := s.PolicyRef(t.Context(), ref)
	if err != nil {
		t.Fatalf("%s: %v", ref, err)
	}
	return e
}

func (s *shelf) kept(t *testing.T) *active.PolicyFinder {
	t.Helper()
	k, err := s.FormerPolicies(nil)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// git runs git in the folder, as nobody in particular.
func (s *shelf) git(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	cmd := exec.Command("git", append([]string{"-c", "user.name=Kim", "-c", "user.email=kim@example.com", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *shelf) commit(t *testing.T) {
	t.Helper()
	s.git(t, "init", "-q", "-b", "main")
	s.git(t, "add", "-A")
	s.git(t, "commit", "-q", "-m", "all")
}

// packed packs the files of a folder, under a prefix.
func packed(t *testing.T, dir, prefix string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: prefix + name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	if err := errors.Join(err, w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// However a policy is named, it is the same one.
func TestPolicyRefs(t *testing.T) {
	s := newShelf(t)
	s.write(t, "mine.tar.gz", string(packed(t, filepath.Join(s.dir, "policy"), "./")))
	s.write(t, "sub/note.txt", "not of the policy")
	s.commit(t)
	want := s.ref(t, "policy")
	if err := active.KeptIn(filepath.Join(s.dir, "state")).Put(want); err != nil {
		t.Fatal(err)
	}
	// What the folder holds now is another matter.
	s.write(t, "policy/settings.yaml", "risk: {high_threshold: 0.9}\n")
	for _, ref := range []string{
		"mine.tar.gz", "./mine.tar.gz", "git:HEAD:policy", "git:main:policy/", "git:main~0:./policy", "git:" + s.git(t, "rev-parse", "HEAD") + ":policy",
		"git:" + s.git(t, "rev-parse", "HEAD^{tree}") + ":policy", want.Digest, want.Digest[:8],
	} {
		if got := s.ref(t, ref); got.Digest != want.Digest || got.Config != want.Config {
			t.Errorf("%s: digest %.12s, want %.12s", ref, got.Digest, want.Digest)
		}
	}
	if got := s.ref(t, "policy"); got.Digest == want.Digest {
		t.Error("the folder was not read again")
	}
	t.Chdir("sub")
	if got := s.ref(t, "git:HEAD:policy"); got.Digest != want.Digest {
		t.Error("a path of git is not seen from the top of the repository")
	}
	if got := s.ref(t, "git:HEAD:../policy"); got.Digest != want.Digest {
		t.Error("a path of git with .. before it is not seen from here")
	}
}

// The words mean the built-in and the active policy; a folder with such a name is
// given as ./NAME.
func TestPolicyRefWords(t *testing.T) {
	s := newShelf(t)
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := bundles.Assemble(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"default", "active"} {
		if got := s.ref(t, word); got.Digest != shipped.Digest {
			t.Errorf("%s is %.12s, want %.12s", word, got.Digest, shipped.Digest)
		}
	}
	s.write(t, "state/policy/settings.yaml", "enforcement: observe\n")
	if got := s.ref(t, "active"); got.Digest == shipped.Digest || got.Document["enforcement"] != "observe" {
		t.Error("active is not what is active")
	}
	s.write(t, "active/settings.yaml", "enforcement: warn\n")
	if got := s.ref(t, "./active"); got.Document["enforcement"] != "warn" {
		t.Error("./active is not the folder")
	}
	if got := s.ref(t, "active"); got.Document["enforcement"] != "observe" {
		t.Error("active is the folder")
	}
}

func TestPolicyRefsThatAreRefused(t *testing.T) {
	s := newShelf(t)
	s.write(t, "plain.tar", "no archive")
	whole := packed(t, filepath.Join(s.dir, "policy"), "")
	s.write(t, "cut.tar.gz", string(whole[:len(whole)-20]))
	s.write(t, "deep.tar.gz", string(packed(t, filepath.Join(s.dir, "policy"), "policy/")))
	s.write(t, "empty/README.md", "nothing of a policy")
	s.write(t, "broken/rules/a.yaml", "- id: 7\n")
	s.write(t, "linked/settings.yaml", "enforcement: warn\n")
	if err := os.Symlink("settings.yaml", filepath.Join(s.dir, "linked", "other.yaml")); err != nil {
		t.Fatal(err)
	}
	s.commit(t)
	for _, digest := range []string{"aaaaaaaa11", "aaaaaaaa22", "bbbbbbbb33"} {
		s.write(t, "state/policies/"+digest+".json", "{}")
	}
	for ref, want := range map[string]string{
		"":                              "expected a folder, an archive (.tar.gz), git:REV:PATH",
		"recorded":                      "can only be a baseline",
		"polcy":                         "policy polcy: no such folder or archive; did you mean policy?; expected a folder",
		"activ":                         "did you mean active?",
		"deep.tgz":                      "no such folder or archive",
		"plain.tar":                     "policy plain.tar: is not gzip",
		"cut.tar.gz":                    "policy cut.tar.gz: the archive is truncated",
		"deep.tar.gz":                   "policy/rules/mine/mine.yaml: nothing reads this file",
		"empty":                         "policy empty: contains no policy files at its top",
		"broken":                        "policy broken: rules/a.yaml",
		"aaaaaaaa":                      "2 policies match; give more digits: aaaaaaaa11, aaaaaaaa22",
		"bbbbbbbbcc":                    "no policy with this digest is stored in",
		"bbbbbbb":                       "no such folder or archive",
		"git:":                          "the revision is missing",
		"git:main":                      "expected git:REV:PATH, such as git:main:policy",
		"git:--upload-pack=x:policy":    `"--upload-pack=x" is not a revision: it begins with a dash`,
		"git:main x:policy":             "it contains spaces",
		"git:mian:policy":               `unknown git revision "mian"`,
		"git:main:polcy":                `there is no "polcy" in revision main`,
		"git:main:/etc":                 `there is no "/etc" in revision main`,
		"git:main:../..":                `there is no "../.." in revision main`,
		"git:main:policy/settings.yaml": "is not a folder",
		"git:main:linked":               "other.yaml is a symbolic link, whose target is not in the revision",
		"git:main:empty":                "contains no policy files at its top level",
		"git:main:broken":               "policy git:main:broken: rules/a.yaml",
	} {
		if _, err := s.PolicyRef(t.Context(), ref); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", ref, err, want)
		}
	}
	if _, err := s.PolicyRef(t.Context(), "bbbbbbbb44"); err == nil || !strings.Contains(err.Error(), "did you mean bbbbbbbb33?") {
		t.Errorf("a digest that is nearly right: %v", err)
	}
}

func TestPolicyRefWithoutGit(t *testing.T) {
	s := newShelf(t)
	if _, err := s.PolicyRef(t.Context(), "git:main:policy"); err == nil || !strings.Contains(err.Error(), "git reports: not a git repository") {
		t.Errorf("outside a repository: %v", err)
	}
	t.Setenv("PATH", s.dir)
	if _, err := s.PolicyRef(t.Context(), "git:main:policy"); err == nil || !strings.Contains(err.Error(), "git is not installed") {
		t.Errorf("without git: %v", err)
	}
}

// A repository cannot have anything run, and what it holds in place of files is
// refused.
func TestPolicyRefOfHostileRepository(t *testing.T) {
	s := newShelf(t)
	s.commit(t)
	want := s.ref(t, "git:HEAD:policy")
	run := "sh -c 'touch " + filepath.Join(s.dir, "ran") + "; cat'"
	s.write(t, ".gitattributes", "* filter=evil diff=evil text eol=crlf\n")
	s.git(t, "add", ".gitattributes")
	s.git(t, "commit", "-q", "-m", "attributes")
	for _, key := range []string{
		"filter.evil.smudge", "filter.evil.clean", "filter.evil.process", "diff.evil.textconv", "diff.external", "core.fsmonitor", "core.pager", "core.sshCommand",
		"alias.rev-parse", "alias.cat-file",
	} {
		s.git(t, "config", key, strings.Repeat("!", len(key)-len(strings.TrimPrefix(key, "alias")))+run)
	}
	for _, hook := range []string{"post-checkout", "post-index-change", "pre-auto-gc"} {
		s.write(t, ".git/hooks/"+hook, "#!/bin/sh\ntouch "+filepath.Join(s.dir, "ran")+"\n")
		if err := os.Chmod(filepath.Join(s.dir, ".git/hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.ref(t, "git:HEAD:policy"); got.Digest != want.Digest {
		t.Error("attributes change what a revision holds")
	}
	if active.Exists(filepath.Join(s.dir, "ran")) {
		t.Error("something of the repository ran")
	}
}

// A replaced object is what it was, and a submodule is not a part of a policy.
func TestPolicyRefOfOddRepository(t *testing.T) {
	s := newShelf(t)
	s.commit(t)
	want := s.ref(t, "git:HEAD:policy")
	s.write(t, "policy/settings.yaml", "enforcement: observe\n")
	s.git(t, "commit", "-q", "-am", "milder")
	s.git(t, "replace", "HEAD~1", "HEAD")
	if got := s.ref(t, "git:HEAD~1:policy"); got.Digest != want.Digest {
		t.Error("a replacement stands for what was committed")
	}
	s.git(t, "update-index", "--add", "--cacheinfo", "160000,"+s.git(t, "rev-parse", "HEAD")+",policy/more")
	s.git(t, "commit", "-q", "-m", "submodule")
	if _, err := s.PolicyRef(t.Context(), "git:HEAD:policy"); err == nil || !strings.Contains(err.Error(), "more is a submodule") {
		t.Errorf("a submodule: %v", err)
	}
}

// An archive with signatures is read, and it is said that nobody looks at them.
func TestPolicyRefSaysThatSignaturesAreOpen(t *testing.T) {
	s := newShelf(t)
	s.write(t, "policy/.signatures.json", "{}")
	s.write(t, "signed.tar.gz", string(packed(t, filepath.Join(s.dir, "policy"), "")))
	if got := s.ref(t, "signed.tar.gz"); got.Digest != s.ref(t, "policy").Digest {
		t.Error("signatures are part of the digest")
	}
	if !strings.Contains(s.said.String(), "has signatures, which this command does not check") {
		t.Errorf("it says %q", s.said.String())
	}
}

// A side lists the rules that can fire; those that settings switch off cannot.
func TestSide(t *testing.T) {
	s := newShelf(t)
	s.write(t, "policy/settings.yaml", "rules: {disabled: [loop, git_force_push]}\n")
	compared, _, err := side(t.Context(), s.App, "policy", s.kept(t))
	if err != nil {
		t.Fatal(err)
	}
	n := compared.Named
	if n.Name != "policy" || n.Recorded || n.Digest != compared.Policy.Digest || !slices.IsSorted(n.Rules) || !slices.IsSorted(n.Patterns) {
		t.Errorf("side: %+v", n)
	}
	for id, want := range map[string][2]bool{"mine.curl": {true, false}, "repetitive_errors": {false, true}, "loop": {}, "git_force_push": {}, "prevent_recursive_deletion": {true, false}} {
		if got := [2]bool{slices.Contains(n.Rules, id), slices.Contains(n.Patterns, id)}; got != want {
			t.Errorf("%s: rule, pattern %v, want %v", id, got, want)
		}
	}
	recorded, _, err := side(t.Context(), s.App, "recorded", s.kept(t))
	if err != nil || recorded.Policy != nil || !recorded.Named.Recorded || recorded.Named.Digest != "" || recorded.MissingFact != nil {
		t.Errorf("recorded: %+v (%v)", recorded, err)
	}
	s.write(t, "policy/policy/bad.rego", "package policies.user\nx := no_such(1)\n")
	if _, _, err := side(t.Context(), s.App, "policy", s.kept(t)); err == nil || !strings.Contains(err.Error(), "policy policy: compile policy: ") {
		t.Errorf("a module that does not compile: %v", err)
	}
}
