package policycmd

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/permissions"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring/wiringtest"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// called is a call of a tool in /srv/shop.
func called(tool string, args map[string]any) engine.Event {
	raw, err := json.Marshal(args)
	if err != nil {
		return engine.Event{} // unreachable: the maps hold texts
	}
	return engine.Event{Harness: "claude-code", Phase: engine.PhasePre, Tool: tool, Args: raw, CWD: "/srv/shop"}
}

func shells(commands ...string) []engine.Event {
	var list []engine.Event
	for _, c := range commands {
		list = append(list, wiringtest.Shell(c))
	}
	return list
}

// files are calls of a tool for files.
func files(tool string, paths ...string) []engine.Event {
	var list []engine.Event
	for _, p := range paths {
		args := map[string]any{"file_path": p}
		switch tool {
		case "Write":
			args["content"] = "x"
		case "Edit":
			args["old_string"], args["new_string"] = "a", "b"
		case "Grep":
			args = map[string]any{"pattern": "x", "path": p}
		}
		list = append(list, called(tool, args))
	}
	return list
}

func fetches(urls ...string) []engine.Event {
	var list []engine.Event
	for _, u := range urls {
		list = append(list, called("WebFetch", map[string]any{"url": u, "prompt": "read"}))
	}
	return list
}

func tools(names ...string) []engine.Event {
	var list []engine.Event
	for _, n := range names {
		list = append(list, called(n, map[string]any{}))
	}
	return list
}

func events(lists ...[]engine.Event) []engine.Event {
	var all []engine.Event
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// long is the beginning of a command of which the end is not recorded as it is written.
var long = "echo " + strings.Repeat("x", 2000) + "; "

// permissionForms is every form of rule with calls that it is about and calls
// that it is not about.
var permissionForms = []struct {
	key, rule  string
	match, not []engine.Event
}{
	{"deny", "Bash", shells("ls", "git push"), events(files("Read", "/srv/shop/a"), tools("mcp__a__b"))},
	{"deny", "Bash(*)", shells("ls"), files("Read", "/srv/shop/a")},
	{"deny", "Bash(git push)", shells("git push", "ls && git push", "X=1 git push", "git push; ls", "(git push)", "git  push", "echo $(git push)", "git push > out", "if git push; then :; fi", "git push &"),
		shells("sudo git push", "sh -c 'git push'", "echo 'a; git push; b'", "cat <<E\ngit push\nE", "# git push\nls", "git status", "git push origin", "echo 'git pushed'", "grep -r pushing .")},
	{"deny", "Bash(git push *)", shells("git push", "git push origin main", "cd /x && git push -f", "timeout 5 git push x", "echo x | xargs git push origin"),
		shells("git pushy", "git stash push", "echo push", "git -C /x push origin", "echo x | xargs -n1 git push origin")},
	{"ask", "Bash(npm publish:*)", shells("npm publish", "npm publish --tag next", "npm run build && npm publish --tag x"), shells("npm run publisher", "npm publisher")},
	{"deny", "Bash(ls*)", shells("ls", "ls -la", "lsof"), shells("cat ls.txt", "git ls-files")},
	{"deny", "Bash(ls *)", shells("ls", "ls -la"), shells("lsof")},
	{"deny", "Bash(git * main)", shells("git checkout main", "git push origin main"), shells("git checkout dev", "npm run main")},
	{"deny", "Bash(sudo:*)", shells("sudo ls", "cd /x; sudo -u bob rm a"), shells("ls", "echo pseudo")},
	{"deny", "Bash(rm -rf *)", shells("rm -rf x", "ls | xargs rm -rf", "ls\nrm -rf x", "true ||rm -rf x"), shells("rm x", "rm -r x", "rm -rfv x", "/bin/rm -rf x", "rm -r -f x")},
	{"deny", "Bash(rm -rf*)", shells("rm -rf x", "rm -rfv x", "rm -rf", long+"rm -rfv x"), shells("rm a.tmp", "rm -fr x", long+"rm a.tmp")},
	{"deny", "Bash(git push --force*)", shells("git push --force", "git push --force-with-lease origin x"), shells("git push origin topic", "git push origin --force")},
	{"ask", "Bash(* --force)", shells("git push --force", "rm x --force"), shells("git push --force x", "git push --forced")},
	{"deny", "Bash(npm run test:*)", shells("npm run test", "npm run test x"), shells("npm run test:unit", "npm run testing")},
	{"deny", "Bash(git:* push)", shells("git:x push"), shells("git push", "git pull push")},
	{"deny", "Bash(echo 'a; b' *)", shells("echo 'a; b' c"), shells("echo a; b c")},
	{"deny", "Bash(échø ü*)", shells("échø über"), shells("échø o")},
	{"deny", "Bash(./scripts/deploy.sh:*)", shells("./scripts/deploy.sh", "./scripts/deploy.sh prod", "cd /x && ./scripts/deploy.sh"), shells("./scripts/build.sh", "cat scripts/deploy.shx")},
	{"deny", "Bash(export *)", shells("export A=1", "ls; export A=1"), shells("ls exports")},
	{"deny", "Bash(kubectl --context prod *)", shells("kubectl --context prod get pods"), shells("kubectl --context=prod delete pod x", "kubectl --context dev get pods")},
	{"allow", "Bash(npm run *)", shells("npm run", "npm run build", "npm run test -- --watch"),
		shells("npm install", "npm run build && rm -rf x", "npm run build; X=1", "npm run build > ~/.bashrc", "npm run $(cat x)", "npm run `cat x`", "sudo npm run x", "npm run a\nrm b", "npm running", "X=1 npm run build", "npm run a & rm b", "npm run a | sh")},
	{"allow", "Bash(go test:*)", shells("go test", "go test ./...", "go test && go test -v; go test | go test", "timeout 60 go test", "go test 2>&1"), shells("X=1 go test", "go test > out", "(go test)", "! go test", "go  test", "go testing", "go vet", "watch go test")},
	{"allow", "Bash(echo *)", shells("echo x"), shells(long + "echo y")},
	{"allow", "Bash(make)", shells("make"), shells("make all", "make; ls")},
	{"allow", "Bash(find *)", shells("find . -name x"), shells("find . -name x -exec rm {} +", "find . -delete; ls")},
	{"allow", "Bash(git * main)", shells("git checkout main"), shells("git checkout main x", "git push & git pull main")},
	{"allow", "Bash", shells("ls; rm x"), files("Read", "/srv/shop/a")},

	{"deny", "Read(./.env)", events(files("Read", "/srv/shop/.env", "/srv/shop/.ENV"), files("Edit", "/srv/shop/.env"), files("Grep", "/srv/shop/.env"), shells("cat .env", "cp .env /tmp/x", "rm .env")),
		events(files("Read", "/srv/shop/.envrc", "/srv/other/.env", "/srv/shop/env"), shells("ls", "cat x.env"))},
	{"deny", "Read(~/.ssh/**)", events(files("Read", "/home/anna/.ssh/id_rsa", "/home/anna/.ssh/a/b"), shells("cat ~/.ssh/config", "cat /home/anna/.ssh/config", "rm -rf ~/.ssh")),
		files("Read", "/home/anna/.sshx", "/srv/shop/.ssh/x", "/home/bob/.ssh/x", "/root/.ssh/x")},
	{"deny", "Read(//etc/*.conf)", events(files("Read", "/etc/a.conf"), shells("cat /etc/a.conf")), append(shells("/etc/x < b.conf"), files("Read", "/etc/a/b.txt", "/srv/shop/etc/a.conf", "/etc/hosts")...)},
	{"deny", "Edit(/src/**)", events(files("Edit", "/srv/shop/src/a/b.go"), files("Write", "/srv/shop/src/c.go"), shells("sed -i s/a/b/ src/x.go", "echo x > src/y")),
		events(files("Read", "/srv/shop/src/a.go"), files("Edit", "/srv/shop/a/src/b.go", "/srv/shop/srcs/a", "/home/anna/src/a", "/src/a"), shells("cat src/a.go"))},
	{"deny", "Edit(*.lock)", events(files("Edit", "/srv/shop/a/b/yarn.lock"), shells("rm yarn.lock")), files("Edit", "/srv/shop/lock.go", "/srv/other/yarn.lock")},
	{"deny", "Edit(docs/**/*.md)", files("Edit", "/srv/shop/docs/a.md", "/srv/shop/docs/x/y/a.md"), files("Edit", "/srv/shop/docs/a.txt")},
	{"ask", "Edit(build/)", files("Write", "/srv/shop/build/x"), files("Write", "/srv/shop/builds/x")},
	{"ask", "Edit(file[0-9]?.txt)", files("Write", "/srv/shop/file1a.txt"), files("Write", "/srv/shop/filexa.txt", "/srv/shop/file1.txt")},
	{"deny", "Edit(docs/a.md)", files("Edit", "/srv/shop/docs/a.md"), files("Edit", "/srv/shop/x/docs/a.md")},
	{"deny", "Edit(*)", files("Edit", "/srv/shop/a/b"), files("Edit", "/srv/other/a")},
	{"deny", "Edit", events(files("Edit", "/srv/shop/a"), files("Write", "/srv/shop/a")), files("Read", "/srv/shop/a")},
	{"deny", "Read", events(files("Read", "/srv/shop/a"), files("Grep", "/srv/shop/a")), files("Write", "/srv/shop/a")},
	{"allow", "Edit(/src/**)", events(files("Edit", "/srv/shop/src/a/b.go"), files("Write", "/srv/shop/src/c.go")), events(files("Edit", "/srv/shop/a.go", "/srv/shop/src/../a.go", "/srv/shop/src"), shells("touch src/a"))},
	{"allow", "Read(~/notes/*)", files("Read", "/home/anna/notes/a"), files("Read", "/home/bob/notes/a", "/home/anna/x", "/srv/shop/notes/a")},
	{"allow", "Read(//opt/x)", files("Read", "/opt/x", "/opt/x/y"), files("Read", "/opt/xy")},
	{"allow", "Read(README.md)", files("Read", "/srv/shop/README.md", "/srv/shop/a/README.md"), files("Read", "/srv/README.md")},
	{"allow", "Read(./README.md)", files("Read", "/srv/shop/README.md"), files("Read", "/srv/shop/a/README.md")},
	{"allow", "Read", files("Read", "/srv/shop/a"), files("Grep", "/srv/shop/a")},

	{"deny", "WebFetch(domain:example.com)", fetches("https://example.com/a", "https://EXAMPLE.com:8443/"), events(fetches("https://www.example.com/", "https://example.com.evil.test/"), shells("curl https://example.com"))},
	{"deny", "WebFetch(domain:*.example.com)", fetches("https://www.example.com/", "https://a.b.example.com/"), fetches("https://badexample.com/", "https://example.com/")},
	{"allow", "WebFetch(domain:*.example.com)", fetches("https://www.example.com/"), fetches("https://example.com/", "https://badexample.com/")},
	{"allow", "WebFetch(domain:example.com)", fetches("https://example.com/"), fetches("https://www.example.com/")},
	{"deny", "WebFetch", fetches("https://example.com/"), tools("WebSearch")},

	{"deny", "mcp__github", tools("mcp__github__get_issue", "mcp__github__a__b"), tools("mcp__githubx__get", "mcp__gitlab__get")},
	{"deny", "mcp__github__*", tools("mcp__github__get_issue"), tools("mcp__gitlab__get")},
	{"deny", "mcp__github__delete_repo", tools("mcp__github__delete_repo"), tools("mcp__github__delete_repos", "mcp__github__get")},
	{"deny", "mcp__*__write_*", tools("mcp__files__write_file"), tools("mcp__files__read_file", "Write")},
	{"allow", "mcp__github__get_*", tools("mcp__github__get_issue"), tools("mcp__github__set_issue", "mcp__x__get_issue")},
	{"ask", "Web*", tools("WebSearch"), tools("Read")},

	{"deny", "Agent(Explore)", []engine.Event{called("Agent", map[string]any{"subagent_type": "Explore", "prompt": "x"}), called("Task", map[string]any{"subagent_type": "Explore", "prompt": "x"})},
		[]engine.Event{called("Agent", map[string]any{"subagent_type": "Plan", "prompt": "x"}), called("Agent", map[string]any{"prompt": "x"})}},
	{"deny", "Task(general-purpose)", []engine.Event{called("Agent", map[string]any{"prompt": "x"})}, []engine.Event{called("Agent", map[string]any{"subagent_type": "Plan", "prompt": "x"})}},
	{"deny", "Skill(deploy *)", []engine.Event{called("Skill", map[string]any{"skill": "deploy", "args": "prod"})}, []engine.Event{called("Skill", map[string]any{"skill": "review"})}},
	{"allow", "Skill(review)", []engine.Event{called("Skill", map[string]any{"skill": "review"})}, []engine.Event{called("Skill", map[string]any{"skill": "deploy"})}},
	{"deny", "mcp__db__query(database:prod*)", []engine.Event{called("mcp__db__query", map[string]any{"database": "production"})}, []engine.Event{called("mcp__db__query", map[string]any{"database": "dev"}), called("mcp__db__query", map[string]any{"database": 5}), called("mcp__db__query", map[string]any{})}},
	{"deny", "TaskStop(force:true)", []engine.Event{called("TaskStop", map[string]any{"force": true}), called("TaskStop", map[string]any{"force": "true"})}, []engine.Event{called("TaskStop", map[string]any{"force": false})}},
	{"deny", "TaskStop(n:5)", []engine.Event{called("TaskStop", map[string]any{"n": 5})}, []engine.Event{called("TaskStop", map[string]any{"n": 6})}},
}

// Each form of rule holds for what it is about, through the real classifier and
// policy. For rules that allow, the list denies what they do not allow.
func TestImportedPermissions(t *testing.T) {
	var layer []string
	for n, f := range permissionForms {
		raw, err := json.Marshal(map[string]any{f.key: []string{f.rule}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := permissions.Import("settings.json", raw, false, cel.Validate)
		if err != nil || p.Counts.Carried != 1 || len(p.List.Rules) != 1 {
			t.Fatalf("%s %s: %v, %+v", f.key, f.rule, err, p)
		}
		p.List.ID = fmt.Sprintf("list%d", n)
		if f.key == "allow" {
			p.List.Default = bundles.EffectDeny
		}
		content, err := p.YAML()
		if err != nil {
			t.Fatal(err)
		}
		layer = append(layer, "access/"+p.List.ID+".yaml", string(content))
	}
	policy := wiringtest.PolicyOf(t, wiringtest.LayerOf("user", layer...))
	for n, f := range permissionForms {
		want := map[string]string{"deny": "deny", "ask": "require_approval"}[f.key]
		for i, e := range events(f.match, f.not) {
			is := want
			if matches := i < len(f.match); f.key == "allow" && !matches {
				is = "deny"
			} else if f.key != "allow" && !matches {
				is = ""
			}
			if got := callAnswers(t, policy, e)[fmt.Sprintf("list%d", n)]; got != is {
				t.Errorf("%s %s: %s %s: the list says %q, want %q", f.key, f.rule, e.Tool, e.Args, got, is)
			}
		}
	}
}

// The largest calls cost no condition its limit: a list whose condition fails
// denies.
func TestImportedPermissionsOfLargeCalls(t *testing.T) {
	var rules []string
	for _, f := range permissionForms {
		if f.key != "allow" {
			rules = append(rules, f.rule)
		}
	}
	var layer []string
	for n, rule := range rules {
		p, err := permissions.Import("settings.json", []byte(fmt.Sprintf(`{"deny": [%q]}`, rule)), false, cel.Validate)
		if err != nil {
			t.Fatal(err)
		}
		p.List.ID = fmt.Sprintf("list%d", n)
		content, err := p.YAML()
		if err != nil {
			t.Fatal(err)
		}
		layer = append(layer, "access/"+p.List.ID+".yaml", string(content))
	}
	policy := wiringtest.PolicyOf(t, wiringtest.LayerOf("user", layer...))
	for _, width := range []int{10, 40, 150, 600} {
		for _, count := range []int{10, 24, 40, 200} {
			var command strings.Builder
			for i := range count {
				fmt.Fprintf(&command, "git -C %s push --%s=%d a b c d e; touch %s/%d; ", strings.Repeat("x", width), strings.Repeat("y", width), i, strings.Repeat("z", width), i)
			}
			callAnswers(t, policy, wiringtest.Shell(command.String())) // fails where a condition does
		}
	}
	callAnswers(t, policy, files("Read", "/srv/shop/"+strings.Repeat("a/", 2000))[0])
}

// callAnswers is what each access list says about a call.
func callAnswers(t *testing.T, p *review.Policy, e engine.Event) map[string]string {
	t.Helper()
	return answersIn(t, p, e, classify.System{Home: "/home/anna"})
}

func answersIn(t *testing.T, p *review.Policy, e engine.Event, world classify.System) map[string]string {
	t.Helper()
	mac, err := cli.PassingMAC()
	if err != nil {
		t.Fatal(err)
	}
	c := &classify.Classifier{World: world, MAC: mac, Rows: bundles.BuiltInRows()}
	f, err := c.Classify(context.Background(), e, e.CWD)
	if err != nil {
		t.Fatal(err)
	}
	return recordAnswers(t, p, &engine.Record{Phase: engine.PhasePre, Harness: "claude-code", T: 1, Event: &f.Event, Action: f.Action}, e.CWD)
}

// A link is looked at by both of its names: what denies holds for either, what
// allows for neither.
func TestImportedPermissionsOfLinks(t *testing.T) {
	shop, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(shop, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hosts", filepath.Join(shop, "src", "link")); err != nil {
		t.Fatal(err)
	}
	edit := files("Edit", filepath.Join(shop, "src", "link"))[0]
	edit.CWD = shop
	world := classify.LocalWorld("/home/anna", "", nil)
	for _, key := range []string{"deny", "allow"} {
		for _, rule := range []string{"Edit(/src/**)", "Edit(src/link)", "Edit(//etc/**)"} {
			p, err := permissions.Import("settings.json", []byte(fmt.Sprintf(`{%q: [%q]}`, key, rule)), false, cel.Validate)
			if err != nil {
				t.Fatal(err)
			}
			p.List.Default = map[string]string{"deny": bundles.EffectAllow, "allow": bundles.EffectDeny}[key]
			content, err := p.YAML()
			if err != nil {
				t.Fatal(err)
			}
			policy := wiringtest.PolicyOf(t, wiringtest.LayerOf("user", "access/a.yaml", string(content)))
			if got := answersIn(t, policy, edit, world)[p.List.ID]; got != "deny" {
				t.Errorf("%s %s: editing the link src/link is answered %q, want deny", key, rule, got)
			}
		}
	}
}
