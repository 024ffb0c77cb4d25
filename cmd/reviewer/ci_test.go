package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
	Jobs        map[string]struct {
		RunsOn string `yaml:"runs-on"`
		Steps  []githubStep
	}
}

type gitlabJob struct {
	Extends      string
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
// What installs the program is left out: these tests are the program.
func (c ciRepository) run(script string) (code int, stdout string) {
	c.t.Helper()
	var lines []string
	for line := range strings.Lines(script) {
		if !strings.HasPrefix(line, "go install ") {
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
	uploaded := ""
	for _, s := range job.Steps {
		if (s.Run == "") == (s.Uses == "") || s.Uses != "" && !action.MatchString(s.Uses) {
			t.Errorf("step %+v", s)
		}
		if code, out := c.run(s.Run); code != 0 || strings.Contains(out, "::error") {
			t.Errorf("%s: exit code %d:\n%s", s.Name, code, out)
		}
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
	c.run(steps["Install reviewer"].Run)
	code, out := c.run(steps["Test"].Run)
	if code != cli.ExitFindings || !strings.Contains(out, "::error file=policy/cases/shop/shop.yaml,line=3,title=cases/shop/shop.yaml/shop.cel_example/1::") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if n := sarifResults(t, c.read("reports/test.sarif")); n == 0 {
		t.Error("SARIF has no results")
	}
	c.misspell()
	code, out = c.run(steps["Check"].Run)
	if code != cli.ExitFailed || !strings.Contains(out, "::error file=policy/rules/shop/shop.yaml,line=9,col=15,") {
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
	for _, spoilt := range []bool{false, true} {
		c := newCIRepository(t, "GITLAB_CI=true")
		if spoilt {
			c.spoil()
		}
		if code, out := c.run(strings.Join(jobs["policy check"].Script, "\n")); code != cli.ExitOK {
			t.Errorf("check: exit code %d:\n%s", code, out)
		}
		var issues []map[string]any
		if err := json.Unmarshal(c.read(jobs["policy check"].Artifacts.Reports["codequality"]), &issues); err != nil || len(issues) != 0 {
			t.Errorf("issues %v: %v", issues, err)
		}
		job := jobs["policy test"]
		code, out := c.run(strings.Join(job.Script, "\n"))
		if (code == cli.ExitFindings) != spoilt || (code == cli.ExitOK) == spoilt {
			t.Errorf("test: exit code %d:\n%s", code, out)
		}
		if shown := regexp.MustCompile("(?m)" + strings.Trim(job.Coverage, "/")).FindStringSubmatch(out); len(shown) != 2 || shown[1] != "100.0" {
			t.Errorf("coverage %q in:\n%s", shown, out)
		}
		gitlabJUnit(t, c.read(job.Artifacts.Reports["junit"]), spoilt)
		for _, name := range job.Artifacts.Paths {
			c.read(name)
		}
	}
	for name, job := range jobs {
		if !strings.HasPrefix(name, ".") && jobs[job.Extends].BeforeScript == nil {
			t.Errorf("%s installs nothing", name)
		}
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
