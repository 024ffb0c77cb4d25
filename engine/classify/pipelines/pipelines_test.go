package pipelines

import (
	"os"
	"path"
	"strings"
	"testing"
)

var words = Words{
	Hosting: []string{"vercel.json", "render.yaml"},
	Deploys: []string{"deploy", "wrangler", "kubectl apply"},
	Stages:  []string{"staging", "dev", "test", "preview"},
}

func repository(files map[string]string) Repository {
	return Repository{Main: []string{"main"}, Read: func(name string, limit int64) ([]byte, error) {
		text, ok := files[name]
		if !ok || int64(len(text)) > limit {
			return nil, os.ErrNotExist
		}
		return []byte(text), nil
	}, Names: func(folder string) (names []string) {
		for name := range files {
			if path.Dir(name) == folder {
				names = append(names, path.Base(name))
			}
		}
		return names
	}}
}

func TestFind(t *testing.T) {
	const github = ".github/workflows/a.yml"
	job := func(on, job string) string {
		return "on: " + on + "\njobs:\n  " + strings.ReplaceAll(job, "\n", "\n  ") + "\n"
	}
	const deploy = "deploy:\n  steps:\n    - run: npm run build"
	for _, c := range []struct{ name, file, text, want string }{
		{"hosting", "vercel.json", "{}", "main"},
		{"another file", "now.json", "{}", ""},
		{"a push to a branch", github, job("{push: {branches: [main]}}", deploy), "main"},
		{"patterns", github, job("{push: {branches: ['release/**', '!release/old']}}", deploy), "release/** !release/old"},
		{"branches left out", github, job("{push: {branches-ignore: [main, 'docs/**']}}", deploy), "** !main !docs/**"},
		{"every push", github, job("push", deploy), "**"},
		{"several events", github, job("[pull_request, push]", deploy), "**"},
		{"no push", github, job("[pull_request]", deploy), ""},
		{"by hand", github, job("workflow_dispatch", deploy), ""},
		{"tags only", github, job("{push: {tags: ['v*']}}", deploy), ""},
		{"no deployment", github, job("push", "build:\n  steps:\n    - run: npm test"), ""},
		{"an action", github, job("push", "web:\n  steps:\n    - uses: actions/deploy-pages@v4"), "**"},
		{"a command", github, job("push", "web:\n  steps:\n    - run: npx wrangler pages publish"), "**"},
		{"an environment", github, job("push", "web:\n  environment: production\n  steps: []"), "**"},
		{"an environment with a name", github, job("push", "web:\n  environment: {name: production, url: x}\n  steps: []"), "**"},
		{"a stage", github, job("push", "deploy:\n  environment: staging\n  steps: []"), ""},
		{"a stage in the name", github, job("push", "deploy-to-staging:\n  steps: []"), ""},
		{"not a stage", github, job("push", "test-and-deploy:\n  steps: []"), "**"},
		{"a condition", github, job("push", "deploy:\n  if: github.event_name == 'push' && github.ref == 'refs/heads/live'\n  steps: []"), "live"},
		{"a condition about tags", github, job("push", "deploy:\n  if: startsWith(github.ref, 'refs/tags/v')\n  steps: []"), ""},
		{"a condition about the event", github, job("[push, workflow_dispatch]", "deploy:\n  if: github.event_name == 'workflow_dispatch'\n  steps: []"), ""},
		{"not for pull requests", github, job("[push, pull_request]", "deploy:\n  if: github.event_name != 'pull_request'\n  steps: []"), "**"},
		{"a shared workflow", github, job("{push: {branches: main}}", "web:\n  uses: ./.github/workflows/deploy.yml"), "main"},
		{"another folder", ".forgejo/workflows/a.yaml", job("push", deploy), "**"},
		{"another file there", ".github/workflows/README.md", job("push", deploy), ""},
		{"not YAML", github, "on: [", ""},
		{"a list", github, "- a", ""},
		{"GitLab", ".gitlab-ci.yml", "deploy:\n  script: [./deploy.sh]\n", "**"},
		{"GitLab, by hand", ".gitlab-ci.yml", "deploy:\n  when: manual\n  script: [./deploy.sh]\n", ""},
		{"GitLab, only", ".gitlab-ci.yml", "live:\n  environment: production\n  only: [main, tags]\n  script: make\n", "main"},
		{"GitLab, rules", ".gitlab-ci.yml", "live:\n  environment: {name: production}\n  rules:\n    - if: $CI_COMMIT_TAG\n    - if: '$CI_COMMIT_BRANCH == \"live\"'\n    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH\n  script: make\n", "live main"},
		{"GitLab, by hand in a rule", ".gitlab-ci.yml", "deploy:\n  rules: [{if: '$CI_COMMIT_BRANCH == \"main\"', when: manual}]\n  script: make\n", ""},
		{"GitLab, a template", ".gitlab-ci.yml", ".deploy:\n  script: make deploy\n", ""},
		{"GitLab, tests", ".gitlab-ci.yml", "test:\n  script: make test\n", ""},
		{"Bitbucket", "bitbucket-pipelines.yml", "pipelines:\n  branches:\n    main:\n      - step: {deployment: production, script: [make]}\n", "main"},
		{"Bitbucket, a stage", "bitbucket-pipelines.yml", "pipelines:\n  branches:\n    main:\n      - step: {deployment: staging, script: [make]}\n", ""},
		{"Bitbucket, each branch", "bitbucket-pipelines.yml", "pipelines:\n  default:\n    - step: {deployment: production, script: [make]}\n", "**"},
		{"Bitbucket, by hand", "bitbucket-pipelines.yml", "pipelines:\n  default:\n    - step: {deployment: production, trigger: manual}\n", ""},
	} {
		var got []string
		for _, d := range repository(map[string]string{c.file: c.text}).Find(words) {
			if d.File != c.file {
				t.Errorf("%s: by %s, want %s", c.name, d.File, c.file)
			}
			got = append(got, d.Branch)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: deploys %q, want %q", c.name, text, c.want)
		}
	}
}

// Whatever a file contains, it is read to the end or left out.
func FuzzFind(f *testing.F) {
	f.Add("on: {push: {branches: [main]}}\njobs: {deploy: {steps: [{run: x}]}}")
	f.Add("a: &a [*a]")
	f.Add("deploy: {rules: [{if: '$CI_COMMIT_BRANCH == \"'}], script: x}")
	f.Fuzz(func(t *testing.T, text string) {
		for _, file := range []string{".github/workflows/a.yml", ".gitlab-ci.yml", "bitbucket-pipelines.yml"} {
			if found := repository(map[string]string{file: text}).Find(words); len(found) > maxResult {
				t.Errorf("%d deployments, at most %d", len(found), maxResult)
			}
		}
	})
}
