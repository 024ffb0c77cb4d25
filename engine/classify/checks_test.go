package classify

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/programs"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

func shellAction(t *testing.T, tool, command string) *engine.Action {
	t.Helper()
	args, err := json.Marshal(map[string]any{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	return classifyCall(t, nowhere(), "/srv/shop", "/srv/shop", tool, string(args)).Action
}

func TestChecks(t *testing.T) {
	for _, command := range []string{
		"npm test", "npm t", "npm run test:unit", "npm run lint -- --fix", "pnpm -C web run check", "yarn jest --watch", "yarn typecheck", "bun test", "npx vitest run", "npx --yes eslint .",
		"go test ./... -run X", "go vet ./...", "cd api && go test ./...", "python -m pytest -q", "python -m unittest", "pytest tests/a.py", "python3 tests/validate_all.py", "python manage.py test", "bash scripts/verify.sh",
		"./scripts/check-links.sh a", "./run_tests.sh", "bash test/cart_test.sh", "cargo +nightly clippy --all", "cargo check", "mvn -q verify", "./gradlew test", "make -j4 check", "make lint", "docker compose run app pytest",
		"uv run pytest", "poetry run mypy .", "bundle exec rspec", "php vendor/bin/phpunit", "tsc --noEmit", "npx tsc --noEmit -p .", "dotnet test", "timeout 30 go vet ./...", "node validate.js", "ruff check .",
		"terraform -chdir=infra validate", "playwright test", "npx cypress run", "deno test", "ctest", "bats test.bats", "golangci-lint run", "shellcheck a.sh", "black --check .", "prettier --check src", "sudo nginx -t", "tox -e py312", "pre-commit run --all-files", "helm lint chart",
	} {
		if !shellAction(t, "Bash", command).Check {
			t.Errorf("%s is not a check", command)
		}
	}
	for _, command := range []string{
		"npm install", "npm run build", "npm start", "go build ./...", "go run .", "pip install pytest", "pytest --version", "eslint --init", "test -f a.txt", "[ -d src ] && ls", "cargo build", "make", "make install", "tsc -p .", "git checkout main",
		"cat validate.py", "vim tests/cart_test.py", "rm -rf tests", "cp check.sh /tmp", "terraform apply", "black .", "docker compose up", "python app.py", "node server.js", "echo test", "grep -rn test src", "git commit -m 'check'", "kubectl get pods", "ping -c1 example.com", "yarn add jest",
	} {
		if shellAction(t, "Bash", command).Check {
			t.Errorf("%s is a check", command)
		}
	}
}

func TestWatches(t *testing.T) {
	for _, command := range []string{
		"ps aux", "ps aux | grep serve | head -2", "pgrep -fl serve", "gh run view 7 --log-failed | tail -20", "gh pr checks", "cd api && kubectl -n web get pods",
		"kubectl logs deploy/web --tail=20", "docker compose logs api", "curl -s localhost:3000/health", "curl -s http://127.0.0.1:9000/a | jq .state", "tail -n 30 /tmp/a.log",
		"journalctl -u web -n 20 --no-pager", "systemctl is-active web", "squeue -u me", "date; ps -p 12", "tmux capture-pane -pt web",
	} {
		if !shellAction(t, "Bash", command).Watches {
			t.Errorf("%s does not watch", command)
		}
	}
	for _, command := range []string{
		"ls", "cat a.go", "go test ./...", "ps aux | xargs kill", "gh run rerun 7", "gh pr merge 7", "kubectl delete pod web", "kubectl get pods -o name | xargs kubectl delete",
		"docker logs web > web.log", "curl -X POST localhost:3000/restart", "curl -s -d a=b localhost:3000/a", "curl -s https://example.com/health", "make; tail a.log", "./jobs status",
		"systemctl restart web", "docker ps && rm a.log", "tail a.log | sh", "echo done",
	} {
		if shellAction(t, "Bash", command).Watches {
			t.Errorf("%s watches", command)
		}
	}
}

func TestWaits(t *testing.T) {
	for _, command := range []string{
		"sleep 5; ls", "sleep 1m", "sleep infinity", "while true; do ls; sleep 2; done", "watch -n1 ls", "tail -f a.log", "kubectl rollout status deploy/x", "kubectl wait --for=condition=ready pod/x", "kubectl get pods -w", "gh run watch 12",
		`python3 -c "import time; time.sleep(5)"`, "python3 - <<'E'\nfrom time import sleep\nsleep(3)\nE", `ruby -e "sleep 2"`, "inotifywait src", "docker logs -f web",
	} {
		if !shellAction(t, "Bash", command).Waits {
			t.Errorf("%s does not wait", command)
		}
	}
	for _, command := range []string{"ls", "sleep 0.1", "sleep 0", "echo sleep 5", "tail -n5 a.log", "kubectl apply -f a.yml", "timeout 30 make", "docker run -w /app web ls", "python3 -c 'import time; time.sleep(0.01)'", "grep -r 'sleep(10)' ."} {
		if shellAction(t, "Bash", command).Waits {
			t.Errorf("%s waits", command)
		}
	}
	for command, want := range map[string]bool{"Start-Sleep -Seconds 5": true, "Start-Sleep 5": true, "Start-Sleep -Milliseconds 50": false, "Start-Sleep -Milliseconds 5000": true, "Get-ChildItem": false} {
		if got := shellAction(t, "PowerShell", command).Waits; got != want {
			t.Errorf("%s waits: %v", command, got)
		}
	}
	for args, want := range map[string]bool{`{"task_id":"a"}`: true, `{"task_id":"a","block":false}`: false} {
		if got := classifyCall(t, nowhere(), "/srv/shop", "/srv/shop", "TaskOutput", args).Action.Waits; got != want {
			t.Errorf("TaskOutput %s waits: %v", args, got)
		}
	}
}

// TestTestClass: what else a file is says more than that it is among tests.
func TestTestClass(t *testing.T) {
	for path, want := range map[string]engine.Class{
		"tests/test_cart.py": engine.ClassTest, "src/cart_test.go": engine.ClassTest, "src/cart.test.ts": engine.ClassTest, "web/cart.spec.jsx": engine.ClassTest, "src/test/java/CartTest.java": engine.ClassTest, "src/CartTest.java": engine.ClassTest, "src/CartIT.java": engine.ClassTest,
		"spec/cart_spec.rb": engine.ClassTest, "src/__tests__/cart.js": engine.ClassTest, "testdata/a.json": engine.ClassTest, "src/__snapshots__/a.js.snap": engine.ClassTest, "conftest.py": engine.ClassTest, "jest.config.ts": engine.ClassTest, "pytest.ini": engine.ClassTest, "fixtures/users.yml": engine.ClassTest, "cypress/e2e/a.cy.ts": engine.ClassTest,
		"src/latest.java": "", "src/contest.go": "", "src/attest.py": "", "src/testing.go": "", "src/UNIT.java": "", "spec/api.md": "", "src/protest/a.go": "", "docs/tests.md": "", "src/cart.go": "",
		"tests/.env": engine.ClassEnvFile, "tests/id_rsa": engine.ClassCredential, ".github/workflows/test.yml": engine.ClassCI, "tests/__pycache__/a.pyc": engine.ClassGenerated, "node_modules/a/test/b.js": engine.ClassGenerated,
		"../other/tests/a.go": "", "../other/a_test.go": engine.ClassTest, "/etc/tests/a_test.go": engine.ClassMount,
	} {
		args, err := json.Marshal(map[string]any{"file_path": path, "content": "x"})
		if err != nil {
			t.Fatal(err)
		}
		a := classifyCall(t, nowhere(), "/srv/shop", "/srv/shop", "Write", string(args)).Action
		if got := a.Effects[0].Class; got != want {
			t.Errorf("%s has class %q, want %q", path, got, want)
		}
	}
	if a := shellAction(t, "Bash", "rm -rf tests"); a.Effects[0].Class != engine.ClassTest {
		t.Errorf("tests has class %q", a.Effects[0].Class)
	}
	if a := shellAction(t, "Bash", "sed -i s/a/b/ src/*_test.go"); a.Effects[0].Class != engine.ClassTest {
		t.Errorf("a pattern of tests has class %q", a.Effects[0].Class)
	}
}

// A row of an organisation says which programs check, and takes nothing of what
// else is known about them; one of a layer that only adds says nothing about it.
func TestRowsOfChecks(t *testing.T) {
	for _, c := range []struct {
		adds      bool
		file, row string
		command   string
		check     bool
	}{
		{false, "programs/checks.yaml", "shopcheck:\n  checks: true\n", "shopcheck a", true},
		{false, "programs/checks.yaml", "shopcheck:\n  checks: verify\n", "shopcheck verify", true},
		{false, "programs/checks.yaml", "shopcheck:\n  checks: verify\n", "shopcheck a", false},
		{false, "programs/own.yaml", "shopcheck:\n  checks: true\n  reads_only: true\n  cases: [{do: []}]\n", "shopcheck a", true},
		{false, "programs/checks.yaml", "git:\n  checks: fsck\n", "git fsck", true},
		{false, "programs/own.yaml", "go:\n  replace: true\n  cases: [{do: []}]\n", "go vet", false},
		{true, "programs/checks.yaml", "shopcheck:\n  checks: true\n", "shopcheck a", false},
	} {
		layer := rows.Layer{Name: "own", Adds: c.adds, Files: map[string][]byte{c.file: []byte(c.row)}}
		made := func(set *rows.Set) *engine.Action {
			r := read("Bash", map[string]any{"command": c.command}, shell.Input{Rows: set, Knows: programs.Knowledge(set)})
			return assemble(r, place.NewResolver(place.World{}, "/srv/shop", set))
		}
		got, without := made(rows.New(append(classifytest.Layers(), layer))), made(classifytest.Rows())
		if got.Check != c.check {
			t.Errorf("%s: %s is a check: %v", c.row, c.command, got.Check)
		}
		if c.file == rows.ChecksFile && (!reflect.DeepEqual(got.Effects, without.Effects) || !reflect.DeepEqual(got.Signals, without.Signals)) {
			t.Errorf("%s: %s does %+v, and without the row %+v", c.row, c.command, got.Effects, without.Effects)
		}
	}
}
