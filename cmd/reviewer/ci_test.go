package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"go.yaml.in/yaml/v3"
)

// The recipes of docs/ci are read as they are, and their lines run in a
// repository with a policy, under the variables that a runner sets.

type githubStep struct {
	Name string
	Uses string
	Run  string
	If   string
	With map[string]string
}

type githubRecipe struct {
	Permissions map[string]string
	Env         map[string]string
	Jobs        map[string]struct {
		RunsOn string `yaml:"runs-on"`
		Steps  []githubStep
	}
}

type gitlabJob struct {
	Extends      string
	Variables    map[string]string
	BeforeScript []string `yaml:"before_script"`
	Script       []string
	Coverage     string
	Artifacts    struct {
		Paths   []string
		Reports map[string]string
	}
}

type preCommitRecipe struct {
	Repos []struct {
		Repo  string
		Hooks []struct {
			ID, Entry, Language, Files string
			PassFilenames              bool `yaml:"pass_filenames"`
		}
	}
}

func recipe(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../../docs/ci", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// ciRepository is a repository with the policy that `policy new bundle` makes.
type ciRepository struct {
	t   *testing.T
	dir string
	env []string
}

func newCIRepository(t *testing.T, env ...string) ciRepository {
	t.Helper()
	c := ciRepository{t, t.TempDir(), nil}
	c.env = slices.Concat(os.Environ(), []string{"CI=true", "GITHUB_STEP_SUMMARY=", "REVIEWER_HOME=" + t.TempDir()}, env)
	if code, out := c.run("mkdir .git && reviewer policy new bundle policy --name shop"); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	return c
}

// run runs a shell line as runners do: it ends at the first command that fails.
// What installs packages of the system is left out.
func (c ciRepository) run(script string) (code int, stdout string) {
	c.t.Helper()
	var lines []string
	for line := range strings.Lines(script) {
		if !strings.HasPrefix(line, "apt-get ") {
			lines = append(lines, line)
		}
	}
	cmd := exec.Command("sh", "-e", "-c", strings.Join(lines, ""))
	cmd.Dir, cmd.Env = c.dir, c.env
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	if e := (*exec.ExitError)(nil); errors.As(err, &e) {
		code = e.ExitCode()
	} else if err != nil {
		c.t.Fatal(err)
	}
	c.t.Logf("%s-> %d\n%s", strings.Join(lines, ""), code, stderr.String())
	return code, out.String()
}

// released takes the program away, serves it in the archive of a release as a recipe downloads it, and makes the
// repository one of git with sessions and a branch main. A recipe has to say where the archive is, and its checksum.
func (c *ciRepository) released(says map[string]string, env ...string) {
	c.t.Helper()
	for _, tool := range []string{"curl", "jq", "git", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			c.t.Skipf("runners have %s, and this machine does not: %v", tool, err)
		}
	}
	if says["REVIEWER_URL"] == "" || says["REVIEWER_SHA256"] == "" {
		c.t.Fatalf("the recipe does not say what to download: %v", says)
	}
	c.run("mkdir logs && git init -q -b main && git remote add origin . && git add -A && git -c user.name=kim -c user.email=kim@example.com commit -q -m policy && " +
		"git update-ref refs/remotes/origin/main HEAD")
	sessions, err := os.ReadFile("../../testdata/transcripts/claude-code-shop.jsonl")
	if err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "logs/shop.jsonl"), sessions, 0o644); err != nil {
		c.t.Fatal(err)
	}
	program, err := exec.LookPath("reviewer")
	if err != nil {
		c.t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", program)
	var archive bytes.Buffer
	z := gzip.NewWriter(&archive)
	w := tar.NewWriter(z)
	_ = w.WriteHeader(&tar.Header{Name: "reviewer_1.2.0_linux_amd64/reviewer", Mode: 0o755, Size: int64(len(script))})
	_, err = io.WriteString(w, script)
	if err := errors.Join(err, w.Close(), z.Close()); err != nil {
		c.t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive.Bytes()) }))
	c.t.Cleanup(server.Close)
	c.env = append(c.env, "REVIEWER_URL="+server.URL+"/reviewer_1.2.0_linux_amd64.tar.gz", fmt.Sprintf("REVIEWER_SHA256=%x", sha256.Sum256(archive.Bytes())),
		"PATH="+strings.TrimPrefix(os.Getenv("PATH"), filepath.Dir(program)+string(filepath.ListSeparator)), "CI_PROJECT_DIR="+c.dir)
	c.env = append(c.env, env...)
	if code, _ := c.run("reviewer version"); code == 0 {
		c.t.Fatal("the program is there before the recipe installs it")
	}
}

// loosen makes the policy milder for every call.
func (c ciRepository) loosen() {
	c.t.Helper()
	if code, out := c.run("echo 'enforcement: observe' > policy/settings.yaml"); code != 0 {
		c.t.Fatal(out)
	}
}

// comments are those of a pull request, on a server with the API of GitHub or GitLab.
type comments struct {
	t           *testing.T
	list, item  string // the path of all, and of one without its id
	token, user string // the header with the token; who has it
	written     []map[string]any
	calls       []string // POST, PATCH, PUT
}

// serve serves the API; others have written 100 comments, one of them with the mark.
func (c *comments) serve() (address string) {
	for i := range 100 {
		c.written = append(c.written, map[string]any{"id": i, "body": "<!-- reviewer policy simulate -->", "user": map[string]any{"login": "mallory"}, "author": map[string]any{"id": 1}})
	}
	server := httptest.NewServer(c)
	c.t.Cleanup(server.Close)
	return server.URL
}

func (c *comments) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !slices.Contains(slices.Concat(r.Header["Authorization"], r.Header["Private-Token"]), c.token) {
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	var answer any
	switch id, one := strings.CutPrefix(r.URL.Path, c.item); {
	case r.URL.Path == "/user":
		answer = map[string]any{"id": 7}
	case r.Method == http.MethodGet && r.URL.Path == c.list:
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		answer = c.written[min((page-1)*100, len(c.written)):min(page*100, len(c.written))]
	case r.Method == http.MethodPost && r.URL.Path == c.list:
		c.written = append(c.written, map[string]any{"id": len(c.written), "body": c.body(r), "user": map[string]any{"login": c.user}, "author": map[string]any{"id": 7}})
		c.calls = append(c.calls, r.Method)
	case (r.Method == http.MethodPatch || r.Method == http.MethodPut) && one:
		n, err := strconv.Atoi(id)
		if err != nil || n < 100 || n >= len(c.written) {
			http.Error(w, "not yours", http.StatusForbidden)
			return
		}
		c.written[n]["body"] = c.body(r)
		c.calls = append(c.calls, r.Method)
	default:
		http.NotFound(w, r)
		return
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		c.t.Error(err)
	}
}

func (c *comments) body(r *http.Request) any {
	var doc struct{ Body string }
	if err := json.NewDecoder(r.Body).Decode(&doc); err != nil {
		c.t.Error(err)
	}
	return doc.Body
}

// one requires that the one comment has these words, after these calls.
func (c *comments) one(words string, calls ...string) {
	c.t.Helper()
	if len(c.written) != 101 || !slices.Equal(c.calls, calls) || !strings.Contains(fmt.Sprint(c.written[len(c.written)-1]["body"]), words) {
		c.t.Errorf("%d comments after %v, the last one: %v; expected %q", len(c.written), c.calls, c.written[len(c.written)-1], words)
	}
}

func (c ciRepository) read(name string) []byte {
	c.t.Helper()
	raw, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		c.t.Error(err)
	}
	return raw
}

// spoil changes what the first rule waits for: its cases fail then.
func (c ciRepository) spoil() {
	c.t.Helper()
	name := filepath.Join(c.dir, "policy/rules/shop/shop.yaml")
	raw := c.read("policy/rules/shop/shop.yaml")
	changed := bytes.Replace(raw, []byte(`c.has("--prod")`), []byte(`c.has("--production")`), 1)
	if bytes.Equal(raw, changed) {
		c.t.Fatal("the rule that is to be changed is not there")
	}
	if err := os.WriteFile(name, changed, 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// misspell changes the name of a field in a condition: that does not compile.
func (c ciRepository) misspell() {
	c.t.Helper()
	name := filepath.Join(c.dir, "policy/rules/shop/shop.yaml")
	raw := bytes.Replace(c.read("policy/rules/shop/shop.yaml"), []byte("action.commands.exists"), []byte("action.comands.exists"), 1)
	if err := os.WriteFile(name, raw, 0o644); err != nil {
		c.t.Fatal(err)
	}
}

var action = regexp.MustCompile(`^[a-z-]+(/[a-z-]+)+@v\d+$`)

func TestGitHubRecipe(t *testing.T) {
	var r githubRecipe
	recipe(t, "github.yml", &r)
	job, there := r.Jobs["policy"]
	if !there || job.RunsOn == "" || r.Permissions["security-events"] != "write" {
		t.Fatalf("%+v", r)
	}
	c := newCIRepository(t, "GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=summary.md")
	api := &comments{t: t, list: "/repos/acme/shop/issues/12/comments", item: "/repos/acme/shop/issues/comments/", token: "Bearer secret", user: "github-actions[bot]"}
	c.released(r.Env, "RUNNER_TEMP="+t.TempDir(), "GITHUB_PATH=path", "GITHUB_TOKEN=secret", "GITHUB_API_URL="+api.serve(),
		"GITHUB_REPOSITORY=acme/shop", "GITHUB_REF=refs/pull/12/merge", "GITHUB_BASE_REF=main")
	uploaded := ""
	for _, s := range job.Steps {
		if (s.Run == "") == (s.Uses == "") || s.Uses != "" && !action.MatchString(s.Uses) {
			t.Errorf("step %+v", s)
		}
		if code, out := c.run(s.Run); code != 0 || strings.Contains(out, "::error") {
			t.Errorf("%s: exit code %d:\n%s", s.Name, code, out)
		}
		c.addedPath()
		uploaded += s.With["sarif_file"]
	}
	for _, name := range []string{"check.sarif", "test.sarif"} {
		if n := sarifResults(t, c.read(filepath.Join(uploaded, name))); n != 0 {
			t.Errorf("%s has %d results", name, n)
		}
	}
	if sum := string(c.read("summary.md")); !strings.Contains(sum, "✅ reviewer policy check") || !strings.Contains(sum, "✅ reviewer policy test") {
		t.Errorf("summary:\n%s", sum)
	}
}

// With two layers in the repository, the recipe needs what docs/ci.md says about them, and nothing else.
func TestGitHubRecipeOfLayers(t *testing.T) {
	var r githubRecipe
	recipe(t, "github.yml", &r)
	c := newCIRepository(t, "GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=summary.md")
	if code, out := c.run("rm -r policy && reviewer policy new bundle org && reviewer policy new bundle team --layer user"); code != 0 {
		t.Fatal(out)
	}
	c.released(r.Env, "RUNNER_TEMP="+t.TempDir(), "GITHUB_PATH=path", "GITHUB_BASE_REF=main")
	both := strings.NewReplacer("fmt --check policy", "fmt --check org team", "check policy", "check org+team", "test policy", "test org+team",
		":policy\"", ":org+team\"", "candidate policy", "candidate org+team")
	for _, s := range r.Jobs["policy"].Steps {
		if s.Name == "Comment" || s.Run == "" {
			continue
		}
		if code, out := c.run(both.Replace(s.Run)); code != 0 || strings.Contains(out, "::error") {
			t.Errorf("%s: exit code %d:\n%s", s.Name, code, out)
		}
		c.addedPath()
	}
}

// addedPath does what a runner does after a step.
func (c *ciRepository) addedPath() {
	if raw, err := os.ReadFile(filepath.Join(c.dir, "path")); err == nil {
		c.env = append(c.env, "PATH="+strings.TrimSpace(string(raw))+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
}

// A pull request has one comment, which each run updates, also if the budget is exceeded. An archive with another
// checksum is not installed.
func TestGitHubRecipeComments(t *testing.T) {
	var r githubRecipe
	recipe(t, "github.yml", &r)
	steps := map[string]githubStep{}
	for _, s := range r.Jobs["policy"].Steps {
		steps[s.Name] = s
	}
	if r.Permissions["pull-requests"] != "write" || !strings.Contains(steps["Simulate"].If, "!cancelled()") || !strings.Contains(steps["Comment"].If, "!cancelled()") {
		t.Errorf("%+v", r)
	}
	c := newCIRepository(t, "GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=summary.md")
	api := &comments{t: t, list: "/repos/acme/shop/issues/12/comments", item: "/repos/acme/shop/issues/comments/", token: "Bearer secret", user: "github-actions[bot]"}
	c.released(r.Env, "RUNNER_TEMP="+t.TempDir(), "GITHUB_PATH=path", "GITHUB_TOKEN=secret", "GITHUB_API_URL="+api.serve(),
		"GITHUB_REPOSITORY=acme/shop", "GITHUB_REF=refs/pull/12/merge", "GITHUB_BASE_REF=main")
	forged := c
	forged.env = append(slices.Clip(c.env), "REVIEWER_SHA256="+strings.Repeat("0", 64))
	if code, _ := forged.run(steps["Install reviewer"].Run); code == 0 {
		t.Error("an archive with another checksum is installed")
	}
	if _, err := os.Stat(filepath.Join(c.dir, "path")); err == nil {
		t.Error("the path has an archive with another checksum")
	}
	c.run(steps["Install reviewer"].Run)
	c.addedPath()
	for _, want := range []int{cli.ExitOK, cli.ExitFindings} {
		if code, out := c.run(steps["Simulate"].Run); code != want {
			t.Errorf("exit code %d, want %d:\n%s", code, want, out)
		}
		if code, out := c.run(steps["Comment"].Run); code != cli.ExitOK {
			t.Errorf("comment: exit code %d:\n%s", code, out)
		}
		if want == cli.ExitOK {
			api.one("<!-- reviewer policy simulate -->\n### ", "POST")
			c.loosen()
		}
	}
	api.one("enforcement", "POST", "PATCH")
}

// Each step says what its command finds, and the upload has it too.
func TestGitHubRecipeFinds(t *testing.T) {
	var r githubRecipe
	recipe(t, "github.yml", &r)
	steps := map[string]githubStep{}
	for _, s := range r.Jobs["policy"].Steps {
		steps[s.Name] = s
	}
	if got := steps["Test"].If; got != "${{ !cancelled() }}" {
		t.Errorf("the tests run if %q: what check finds keeps them from running", got)
	}
	c := newCIRepository(t, "GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=summary.md")
	c.spoil()
	c.run("mkdir reports")
	code, out := c.run(steps["Test"].Run)
	if code != cli.ExitFindings || !strings.Contains(out, "::error file=policy/cases/shop/shop.yaml,line=4,title=cases/shop/shop.yaml/shop.cel_example/1::") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if n := sarifResults(t, c.read("reports/test.sarif")); n == 0 {
		t.Error("SARIF has no results")
	}
	c.misspell()
	code, out = c.run(steps["Check"].Run)
	if code != cli.ExitFailed || !strings.Contains(out, "::error file=policy/rules/shop/shop.yaml,line=10,col=15,") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if n := sarifResults(t, c.read("reports/check.sarif")); n == 0 {
		t.Error("SARIF has no results")
	}
	if sum := string(c.read("summary.md")); !strings.Contains(sum, "❌ reviewer policy check") || !strings.Contains(sum, "❌ reviewer policy test") {
		t.Errorf("summary:\n%s", sum)
	}
}

// sarifResults counts results, each of which must be one that code scanning
// takes: of a rule that is listed, and in a file named from the root.
func sarifResults(t *testing.T, raw []byte) int {
	t.Helper()
	var doc struct {
		Version string
		Runs    []struct {
			AutomationDetails struct{ ID string }
			Tool              struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI, URIBaseID string }
					}
				}
				PartialFingerprints map[string]string
			}
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil || doc.Version != "2.1.0" || len(doc.Runs) != 1 || !strings.HasPrefix(doc.Runs[0].AutomationDetails.ID, "reviewer/policy-") {
		t.Fatalf("%v: %s", err, raw)
	}
	run := doc.Runs[0]
	for _, r := range run.Results {
		at := r.Locations[0].PhysicalLocation.ArtifactLocation
		if run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID || !strings.HasPrefix(at.URI, "policy/") || at.URIBaseID != "%SRCROOT%" || len(r.PartialFingerprints) != 1 {
			t.Errorf("result %+v", r)
		}
	}
	return len(run.Results)
}

func TestGitLabRecipe(t *testing.T) {
	var jobs map[string]gitlabJob
	recipe(t, "gitlab.yml", &jobs)
	common := jobs[".reviewer"]
	for _, spoilt := range []bool{false, true} {
		c := newCIRepository(t, "GITLAB_CI=true")
		c.released(common.Variables)
		if spoilt {
			c.spoil()
		}
		if code, out := c.run(job(common.BeforeScript, jobs["policy check"].Script)); code != cli.ExitOK {
			t.Errorf("check: exit code %d:\n%s", code, out)
		}
		var issues []map[string]any
		if err := json.Unmarshal(c.read(jobs["policy check"].Artifacts.Reports["codequality"]), &issues); err != nil || len(issues) != 0 {
			t.Errorf("issues %v: %v", issues, err)
		}
		test := jobs["policy test"]
		code, out := c.run(job(common.BeforeScript, test.Script))
		if (code == cli.ExitFindings) != spoilt || (code == cli.ExitOK) == spoilt {
			t.Errorf("test: exit code %d:\n%s", code, out)
		}
		if shown := regexp.MustCompile("(?m)" + strings.Trim(test.Coverage, "/")).FindStringSubmatch(out); len(shown) != 2 || shown[1] != "100.0" {
			t.Errorf("coverage %q in:\n%s", shown, out)
		}
		gitlabJUnit(t, c.read(test.Artifacts.Reports["junit"]), spoilt)
		for _, name := range test.Artifacts.Paths {
			c.read(name)
		}
	}
	for name, job := range jobs {
		if !strings.HasPrefix(name, ".") && jobs[job.Extends].BeforeScript == nil {
			t.Errorf("%s installs nothing", name)
		}
	}
}

// job is what a runner executes of a job: in one shell.
func job(before, script []string) string {
	return strings.Join(append(slices.Clip(before), script...), "\n")
}

// A merge request has one comment, which each run updates; the job still fails if the budget is exceeded.
func TestGitLabRecipeComments(t *testing.T) {
	var jobs map[string]gitlabJob
	recipe(t, "gitlab.yml", &jobs)
	common, simulate := jobs[".reviewer"], jobs["policy simulate"]
	c := newCIRepository(t, "GITLAB_CI=true")
	const notes = "/projects/5/merge_requests/3/notes"
	api := &comments{t: t, list: notes, item: notes + "/", token: "secret"}
	c.released(common.Variables, "GITLAB_COMMENT_TOKEN=secret", "CI_API_V4_URL="+api.serve(), "CI_PROJECT_ID=5", "CI_MERGE_REQUEST_IID=3",
		"CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main")
	if code, out := c.run(job(common.BeforeScript, simulate.Script)); code != cli.ExitOK {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	api.one("<!-- reviewer policy simulate -->\n### ", "POST")
	c.loosen()
	if code, out := c.run(job(common.BeforeScript, simulate.Script)); code != cli.ExitFindings {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	api.one("enforcement", "POST", "PUT")
	for _, name := range simulate.Artifacts.Paths {
		c.read(name)
	}
}

// gitlabJUnit reads what GitLab does.
func gitlabJUnit(t *testing.T, raw []byte, failed bool) {
	t.Helper()
	var doc struct {
		Suites []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Name    string  `xml:"name,attr"`
				Class   string  `xml:"classname,attr"`
				File    string  `xml:"file,attr"`
				Time    float64 `xml:"time,attr"`
				Failure string  `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	var files, failures []string
	for _, s := range doc.Suites {
		for _, c := range s.Cases {
			if c.Failure != "" {
				files, failures = append(files, c.File), append(failures, c.Name)
			}
		}
	}
	if got := slices.Contains(failures, "cases/shop/shop.yaml/shop.cel_example/1") && slices.Contains(files, "policy/cases/shop/shop.yaml"); got != failed {
		t.Errorf("failures %q in %q", failures, files)
	}
}

func TestPreCommitRecipe(t *testing.T) {
	var r preCommitRecipe
	recipe(t, "pre-commit-config.yaml", &r)
	c := newCIRepository(t)
	hooks := 0
	for _, repo := range r.Repos {
		for _, h := range repo.Hooks {
			hooks++
			if repo.Repo != "local" || h.Language != "system" || h.PassFilenames || !regexp.MustCompile(h.Files).MatchString("policy/rules/shop/shop.yaml") {
				t.Errorf("hook %+v", h)
			}
			if code, out := c.run(h.Entry); code != cli.ExitOK {
				t.Errorf("%s: exit code %d:\n%s", h.ID, code, out)
			}
		}
	}
	if hooks == 0 {
		t.Error("the recipe has no hooks")
	}
	c.spoil()
	last := r.Repos[0].Hooks[hooks-1]
	if code, out := c.run(last.Entry); code != cli.ExitFindings {
		t.Errorf("%s lets a test that fails pass: exit code %d:\n%s", last.ID, code, out)
	}
}
