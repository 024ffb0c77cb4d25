package rego

import (
	"cmp"
	"context"
	"encoding/json"
	"hash/crc32"
	"iter"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/sweep"
	"github.com/agent-reviewer/reviewer/schemas"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// question is an input with the findings of its conditions.
type question struct {
	in       engine.Input
	findings []engine.Finding
}

func ask(a engine.Action, change ...func(*question)) question {
	q := question{in: call(a)}
	q.in.History.FirstTime = false
	for _, fn := range change {
		fn(&q)
	}
	return q
}

func withFact(name string) func(*question) {
	return func(q *question) { q.in.Facts = append(q.in.Facts, name) }
}

func withFailures(n int64) func(*question) {
	return func(q *question) {
		q.in.History.Similar.Failed = n
		q.in.Facts = append(q.in.Facts, engine.FactFailedBefore)
	}
}

func withFinding(id, level string) func(*question) {
	return func(q *question) { q.findings = append(q.findings, engine.Finding{ID: id, Level: level}) }
}

// rational sets what an action's rationality is made of: high, medium or low.
func rational(level string) func(*question) {
	return func(q *question) {
		q.in.History.Follows = map[string][]string{"high": {}, "medium": {"repeats"}, "low": {"contradicts"}}[level]
		q.in.History.Presupposes = []engine.Precondition{{What: "a", Met: level != "low"}}
		if level == "low" {
			q.in.Facts = append(q.in.Facts, engine.FactUnmet)
		}
	}
}

func types(list ...engine.Type) engine.Action { return engine.Action{Types: list} }

// unpacked is an archive unpacked over files that are there, nobody knows which.
func unpacked() engine.Action {
	a := effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Forced, e.Recursive, e.Command = true, true, 0 })
	a.Commands = []engine.Command{{Name: "tar"}}
	return a
}

// unknownFile is a write to a file that nobody knows, next to a request to a host: the scores alone would block it.
func unknownFile() engine.Action {
	a := effect(engine.EffectFileWrite, func(e *engine.Effect) {
		e.Short, e.Location, e.Certainty = "", engine.LocationUnknown, engine.CertaintyUnknown
	})
	a.Effects = append(a.Effects, effect(engine.EffectNetwork, nil).Effects...)
	a.Types, a.Opaque = []engine.Type{engine.TypeFileModification, engine.TypeNetworkRequest}, []engine.Opaque{{Reason: "target"}}
	return a
}

func effect(kind engine.EffectKind, change func(*engine.Effect)) engine.Action {
	e := engine.Effect{Kind: kind, Verb: "write", Short: "./a", Certainty: engine.CertaintyExact, Location: engine.LocationInside}
	if kind == engine.EffectNetwork {
		e.Short, e.Location, e.Target = "", "", "https://example.com/"
	}
	if change != nil {
		change(&e)
	}
	return engine.Action{Types: []engine.Type{engine.TypeUnknown}, Effects: []engine.Effect{e}, Hosts: []string{"example.com"}}
}

// machines are questions about this machine and others.
func machines() []question {
	stop := effect(engine.EffectSystemCall, func(e *engine.Effect) { e.Verb, e.Target, e.Short, e.Location = "stop", "auditd", "", "" })
	stop.Types = []engine.Type{engine.TypeSystemCommand}
	group := commanded(engine.Command{Name: "usermod", Flags: []string{"-aG=docker"}, Operands: []string{"anna"}}, engine.EffectSystemCall, func(e *engine.Effect) { e.Verb = "account" })
	group.Types = stop.Types
	return []question{
		ask(stop), ask(group),
		ask(effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Target, e.Location = "/etc/sudoers.d/a", engine.LocationSystem })),
		ask(effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Bytes = 3 })),
		ask(commanded(engine.Command{Name: "xmrig"}, engine.EffectProcess, nil)),
		ask(effect(engine.EffectFileDelete, func(e *engine.Effect) { e.Verb, e.Short, e.Git = "delete", "./a_test.go", "clean" })),
		ask(effect(engine.EffectFileDelete, func(e *engine.Effect) {
			e.Host, e.Location, e.Reversibility = "container:web", engine.LocationOutside, engine.R4
		})),
	}
}

// combined are questions about calls that rules judge by several facts together.
func combined() []question {
	system := func(verb, target string) question {
		a := effect(engine.EffectSystemCall, func(e *engine.Effect) { e.Verb, e.Target, e.Short, e.Location = verb, target, "", "" })
		a.Types = []engine.Type{engine.TypeSystemCommand}
		return ask(a)
	}
	request := func(change func(*engine.Effect)) question {
		a := effect(engine.EffectNetwork, change)
		a.Types = []engine.Type{engine.TypeNetworkRequest}
		return ask(a)
	}
	disk := effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Target, e.Location = "/dev/tty1", engine.LocationDevice })
	disk.Types = []engine.Type{engine.TypeSystemCommand}
	return []question{
		system("reboot", ""), system("delete", "usn journal"), ask(disk),
		request(func(e *engine.Effect) { e.Verb, e.Target, e.Loopback = "listen", "127.0.0.1", true }),
		request(func(e *engine.Effect) { e.Verb, e.Object, e.Egress = "send", "package", true }),
		ask(effect(engine.EffectProcess, func(e *engine.Effect) { e.Verb, e.Target, e.Short, e.Location = "kill", "*", "", "" })),
		ask(effect(engine.EffectFileDelete, func(e *engine.Effect) { e.Location = engine.LocationAncestor })),
		ask(effect(engine.EffectFileDelete, func(e *engine.Effect) { e.Location, e.Recursive = engine.LocationSelf, true })),
		ask(effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Verb, e.Mode = "chmod", "777" })),
		ask(effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Verb, e.Mode, e.Recursive = "chmod", "everyone:r", true })),
		ask(effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Class = engine.ClassStartup })),
		ask(effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Verb, e.Git, e.Lost = "truncate", "untracked", 50 })),
		ask(effect(engine.EffectFileWrite, nil), withFact(engine.FactConstrained), func(q *question) {
			q.in.Goal.Statements = []engine.StatementFacts{{Kind: engine.Forbids, Act: "change", Touched: true, Changes: true,
				Later: []engine.Intent{engine.IntentFix}}}
		}),
		ask(effect(engine.EffectProcess, func(e *engine.Effect) {
			e.Verb, e.Target, e.Short, e.Location = "exec", "git", "", ""
		}), withFact(engine.FactConstrained), func(q *question) {
			q.in.Goal.Statements = []engine.StatementFacts{{Kind: engine.Forbids, Act: "run", Touched: true, Later: []engine.Intent{}}}
		}),
	}
}

// questions holds one question at least for each setting of the policy, whose
// answer depends on it.
func questions() []question {
	all := []question{
		ask(types(engine.TypeFileRead), func(q *question) { q.in.History.Follows = []string{"builds_on"} }),
		ask(types(engine.TypeNetworkRequest), rational("medium"), func(q *question) { q.in.History.FirstTime = true }),
		ask(effect(engine.EffectFileRead, nil), rational("medium")),
		ask(types(engine.TypeUnknown), rational("high"), func(q *question) { q.in.Action.Opaque = []engine.Opaque{{Reason: "tool"}} }, withFact(engine.FactNotUnderstood)),
		ask(types(engine.TypeFileRead), withFinding("git_discard", ""), func(q *question) { q.in.Event.Mode = "alone" }),
		ask(types(engine.TypeFileRead), withFinding("environment_dump", "")),
		ask(types(engine.TypeFileRead), withFinding("delete_broad", "")),
		ask(unpacked(), withFact(engine.FactChangesFiles)),
		ask(unknownFile(), withFact(engine.FactNotUnderstood)),
		ask(types(engine.TypeFileRead), withFact(engine.FactStopped), func(q *question) { q.in.Session.Stopped = true }),
		ask(effect(engine.EffectFileWrite, nil), func(q *question) { q.in.Session.FileOps = 101 }),
		ask(effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Location = engine.LocationTemp })),
		ask(effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Location, e.Reversibility = engine.LocationHome, engine.R4 })),
		ask(effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Short = "~/.ssh/config" })),
		ask(effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Privileged = true })),
		ask(effect(engine.EffectFileDelete, func(e *engine.Effect) { e.Ledger = "created" })),
		ask(effect(engine.EffectFileDelete, func(e *engine.Effect) { e.Class = engine.ClassGenerated })),
		ask(effect(engine.EffectNetwork, func(e *engine.Effect) { e.Loopback = true })),
	}
	all = append(all, forms()...)
	all = append(all, machines()...)
	all = append(all, combined()...)
	all = append(all, ends()...)
	all = append(all, agentsWork()...)
	all = append(append(append(all, runs()...), interventionQuestions()...), stoppedQuestions()...)
	all = append(all, softened()...)
	all = append(append(all, losses()...), grantQuestions()...)
	for _, t := range engine.Types() {
		all = append(all, ask(types(engine.Type(t))))
	}
	for _, k := range engine.EffectKinds() {
		all = append(all, ask(effect(engine.EffectKind(k), nil)))
	}
	for _, r := range engine.Reversibilities() {
		all = append(all, ask(effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Reversibility = engine.Reversibility(r) })))
	}
	for _, level := range []string{"low", "medium", "high", "critical"} {
		all = append(all, ask(types(engine.TypeFileModification), withFinding("pattern", level)))
	}
	for _, rationality := range []string{"high", "medium", "low"} {
		for _, t := range []engine.Type{engine.TypeMessage, engine.TypeFileModification, engine.TypeNetworkRequest, engine.TypeUnknown} {
			all = append(all, ask(types(t), rational(rationality)))
		}
		for n := range int64(4) {
			all = append(all, ask(types(engine.TypeUnknown), rational(rationality), withFailures(n+1)))
		}
	}
	return all
}

// losses are questions about what ends or changes what was there before the session.
func losses() []question {
	gone := func(verb, target string) func(*engine.Effect) {
		return func(e *engine.Effect) {
			e.Verb, e.Target, e.Short, e.Location, e.Certainty = verb, target, "", "", "exact"
		}
	}
	system := func(verb, target, value string, c engine.Command) question {
		a := commanded(c, engine.EffectSystemCall, gone(verb, target))
		a.Effects[0].Object, a.Types = value, []engine.Type{engine.TypeSystemCommand}
		return ask(a)
	}
	ended := func(name string, commands ...engine.Command) question {
		a := commanded(engine.Command{Name: name}, engine.EffectProcess, gone("kill", ""))
		a.Effects[0].Certainty = engine.CertaintyUnknown
		a.Commands = append(a.Commands, commands...)
		return ask(a)
	}
	kept := func(git string, class engine.Class, name string) question {
		a := commanded(engine.Command{Name: name, Operands: []string{"a"}}, engine.EffectFileWrite, func(e *engine.Effect) {
			e.Short, e.Exists, e.Entry, e.Git, e.Class = "./uploads/a", "yes", "file", git, class
		})
		a.Name, a.Types = "code.exec", []engine.Type{engine.TypeFileModification}
		return ask(a)
	}
	run := func(name string, words ...string) question {
		return ask(commanded(engine.Command{Name: name, Operands: words}, engine.EffectProcess, gone("exec", "")))
	}
	secret := effect(engine.EffectFileRead, func(e *engine.Effect) { e.Class = engine.ClassEnvFile })
	secret.Signals, secret.Types = []engine.Signal{engine.SignalCredential}, []engine.Type{engine.TypeFileRead}
	config := effect(engine.EffectFileRead, func(e *engine.Effect) { e.Class, e.Location = engine.ClassMount, engine.LocationSystem })
	listener := effect(engine.EffectNetwork, func(e *engine.Effect) { e.Verb, e.Target = "listen", "0.0.0.0" })
	listener.Types = []engine.Type{engine.TypeNetworkRequest}
	return []question{
		system("set", "firewall", "", engine.Command{}), system("stop", "mysqld", "", engine.Command{}), system("stop", "docker", "", engine.Command{}),
		system("set", `HKLM\Software\Shop`, "", engine.Command{}), system("set", `HKLM\Software\Policies\System`, "EnableLUA=0", engine.Command{}),
		system("delete", `HKLM\Software\Microsoft\AMSI\Providers`, "", engine.Command{}),
		system("uninstall", "apt", "", engine.Command{Name: "apt", Operands: []string{"bash"}}),
		system("uninstall", "brew", "", engine.Command{Name: "brew", Operands: []string{"bash"}}),
		ended("kill", engine.Command{Name: "pgrep", Operands: []string{"mysqld"}}), ended("kill", engine.Command{Name: "lsof", Flags: []string{"-i=:5432"}}),
		ended("kill", engine.Command{Name: "ps"}, engine.Command{Name: "grep", Operands: []string{"mysqld"}}), ended("kill", engine.Command{Name: "lsof"}),
		kept("ignored", "", "cp"), kept("untracked", "", "cp"),
		run("rundll32", "a.dll"), run("arecord", "a.wav"), run("arecord", "-l"), run("pip", "uninstall", "?"),
		ask(secret), ask(config), ask(listener),
	}
}

// softened are questions about calls that what came before them makes worse, and
// about what the settings of places, services and tools say about a call itself.
func softened() []question {
	alone := func(q *question) { q.in.Event.Mode = "bypassPermissions" }
	send := effect(engine.EffectNetwork, func(e *engine.Effect) {
		e.Verb, e.Target, e.Egress, e.Reversibility = "send", "origin", true, engine.R5
	})
	fetch := effect(engine.EffectNetwork, func(e *engine.Effect) { e.Verb = "fetch" })
	send.Types, fetch.Types = []engine.Type{engine.TypeNetworkRequest}, []engine.Type{engine.TypeNetworkRequest}
	powerful := effect(engine.EffectSystemCall, func(e *engine.Effect) { e.Short, e.Location, e.Privileged = "", "", true })
	listed := commanded(engine.Command{Name: "ls"}, engine.EffectFileRead, func(e *engine.Effect) {
		e.Verb, e.Class, e.Location = "list", engine.ClassCredential, engine.LocationHome
	}, engine.SignalCredential)
	agreed := effect(engine.EffectFileWrite, func(e *engine.Effect) {
		e.Location, e.Short, e.Exists = engine.LocationOutside, "/srv/other/a.txt", "no"
	})
	folder := func(q *question) { q.in.Action.Effects[0].Agreed = engine.AgreedFolder }
	tool := func(q *question) { q.in.Action.Opaque = []engine.Opaque{{Reason: "tool"}} }
	here := func(q *question) { q.in.Session.Workspace = "/srv/shop" }
	runs := func(q *question) { // what is joined from history is set after it
		q.in.Action.Inherits = []engine.Inherited{{Path: "./release.py", Rules: []string{"publish"}}}
	}
	inherits := func(file string) func(*question) {
		return func(q *question) {
			q.in.Action.Inherits = []engine.Inherited{{Path: file, Rules: []string{"disk_write"}}}
		}
	}
	build := commanded(engine.Command{Name: "act"}, engine.EffectFileRead, func(*engine.Effect) {})
	elsewhere := commanded(engine.Command{Name: "make"}, engine.EffectFileRead, func(*engine.Effect) {})
	followed := commanded(engine.Command{Name: "vite", Via: []string{"script", "npm"}}, engine.EffectFileRead, func(*engine.Effect) {})
	return []question{
		ask(types(engine.TypeFileRead), withFact(engine.FactInherits), runs),
		ask(build, withFact(engine.FactInherits), inherits("./.github/workflows/ci.yml")),
		ask(build, withFact(engine.FactInherits), inherits("./package.json")),
		ask(elsewhere, withFact(engine.FactInherits), inherits("./.github/workflows/ci.yml")),
		ask(followed, withFact(engine.FactInherits), inherits("./package.json")),
		ask(types(engine.TypeFileRead), withFact(engine.FactInherits), inherits("./package.json")),
		ask(types(engine.TypeFileModification), rational("high"), withFailures(3)),
		ask(types(engine.TypeSystemCommand), rational("high"), withFailures(3)),
		ask(types(engine.TypeSystemCommand), rational("high"), withFailures(3), alone),
		ask(types(engine.TypeUnknown), rational("high"), withFailures(3), alone),
		ask(fetch, rational("medium"), withFailures(3)), ask(send, rational("medium")), ask(powerful, rational("low")),
		ask(listed), ask(agreed, folder, here, withFact(engine.FactOutside)),
		ask(types(engine.TypeUnknown), tool, alone, withFact(engine.FactNotUnderstood)),
		ask(types(engine.TypeFileRead), here, withFinding("environment_dump", "")),
	}
}

// commanded is a call with one command and one effect of it.
func commanded(c engine.Command, kind engine.EffectKind, change func(*engine.Effect), signals ...engine.Signal) engine.Action {
	a := effect(kind, change)
	a.Commands, a.Signals, a.Paths = []engine.Command{c}, signals, []string{"./a"}
	return a
}

// forms are questions about calls that may run in another form, about places,
// about people's words, and about what passes unseen.
func forms() []question {
	unattended := func(q *question) { q.in.Event.Mode = "bypassPermissions" }
	push := commanded(engine.Command{Name: "git", Sub: []string{"push"}, Flags: []string{"--force"}}, engine.EffectNetwork, nil, engine.SignalGitForcePush)
	install := commanded(engine.Command{Name: "npm", Sub: []string{"install"}, Operands: []string{"https://example.com/a.tgz"}}, engine.EffectNetwork, nil, engine.SignalPackageURL)
	remove := commanded(engine.Command{Name: "rm", Operands: []string{"a"}}, engine.EffectFileDelete, func(e *engine.Effect) {
		e.Exists, e.Entry, e.Reversibility = "yes", "file", engine.R4
	})
	endless := commanded(engine.Command{Name: "yes"}, engine.EffectResource, nil, engine.SignalUnbounded)
	read := effect(engine.EffectFileRead, nil)
	read.Types = []engine.Type{engine.TypeFileRead}
	place := func(short string) engine.Action {
		a := effect(engine.EffectFileWrite, func(e *engine.Effect) {
			e.Short, e.Target, e.Location = short, strings.Replace(short, "~", "/home/anna", 1), engine.LocationHome
		})
		a.Paths = []string{short}
		return a
	}
	allowed := func(q *question) { q.in.Session.Allowed, q.in.Session.AllowedBy = "once", "anna" }
	return []question{
		ask(push, withFinding("git_force_push", "")), ask(push, withFinding("git_force_push", ""), unattended),
		ask(push, withFinding("git_force_push", ""), allowed, withFact(engine.FactAllowed)),
		ask(install), ask(remove), ask(endless, withFinding("unbounded_resource", "")), ask(read),
		ask(place("~/notes/a"), func(q *question) { q.in.Action.Effects[0].Given = true }),
		ask(place("~/notes/a")), ask(place("~/.aws/config")), ask(place("~/.netrc")),
		ask(types(engine.TypeFileRead), withFinding("guard_tampering", "")),
		ask(types(engine.TypeFileRead), withFinding("access.team.no", "")), ask(types(engine.TypeFileRead), withFinding("access.team.perhaps", "")),
		ask(types(engine.TypeFileRead), func(q *question) { q.findings = []engine.Finding{{ID: "access.team.broken", Error: "no such key"}} }),
	}
}

// answers puts all questions to a policy.
func answers(t *testing.T, compiler *ast.Compiler, data map[string]any) iter.Seq2[int, engine.Decision] {
	t.Helper()
	return someAnswers(t, compiler, data, func(int) bool { return true })
}

// someAnswers puts questions to a policy. A decision that cannot be made is an
// answer of its own here.
func someAnswers(t *testing.T, compiler *ast.Compiler, data map[string]any, asked func(question int) bool) iter.Seq2[int, engine.Decision] {
	t.Helper()
	host, err := open(context.Background(), compiler, data)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(int, engine.Decision) bool) {
		for i, q := range questions() {
			if !asked(i) {
				continue
			}
			if d, _ := host.Decide(context.Background(), &q.in, q.findings); !yield(i, d) {
				return
			}
		}
	}
}

// reading notes which data a question looks at.
type reading struct {
	topdown.BaseCache
	paths map[string]bool
}

func (r reading) Get(ref ast.Ref) ast.Value {
	path, _, _ := strings.Cut(ref.String(), "[")
	r.paths[strings.TrimPrefix(path, "data.reviewer.")] = true
	return r.BaseCache.Get(ref)
}

// concern reports whether anything that was looked at holds a setting, or is part of it.
func (r reading) concern(setting string) bool {
	for path := range r.paths {
		if path == "data.reviewer" || strings.HasPrefix(setting+".", path+".") || strings.HasPrefix(path+".", setting+".") {
			return true
		}
	}
	return false
}

// readings lists what each question looks at.
func readings(t *testing.T, compiler *ast.Compiler, data map[string]any) []reading {
	t.Helper()
	host, err := open(context.Background(), compiler, data)
	if err != nil {
		t.Fatal(err)
	}
	var all []reading
	known := host.data
	for _, q := range questions() {
		r := reading{known, map[string]bool{}}
		host.data = r
		_, _ = host.Decide(context.Background(), &q.in, q.findings)
		all = append(all, r)
	}
	return all
}

// differs reports whether some answer is another one.
func differs(before []engine.Decision, after iter.Seq2[int, engine.Decision]) bool {
	for i, d := range after {
		if !reflect.DeepEqual(before[i], d) {
			return true
		}
	}
	return false
}

// schema is a node of schemas/settings.json.
type schema struct {
	Type        string             `json:"type"`
	Enum        []any              `json:"enum"`
	Order       []any              `json:"x-order"`
	Merge       string             `json:"x-merge"`
	Unavailable string             `json:"x-unavailable"`
	Minimum     float64            `json:"minimum"`
	Maximum     *float64           `json:"maximum"`
	Properties  map[string]*schema `json:"properties"`
}

// leaves lists the settings, by their paths.
func (s *schema) leaves(at string, into map[string]*schema) {
	for key, node := range s.Properties {
		path := strings.TrimPrefix(at+"."+key, ".")
		if node.Unavailable != "" {
			continue
		}
		if node.Properties == nil {
			into[path] = node
			continue
		}
		node.leaves(path, into)
	}
}

// others lists values that a setting might have instead.
func (s *schema) others(path string, v any) []any {
	switch v := v.(type) {
	case bool:
		return []any{!v}
	case string:
		if s.Enum != nil {
			return s.Enum
		}
		return []any{"another text"}
	case []any:
		if other, ok := otherNames()[path]; ok {
			return []any{other}
		}
		if other, ok := otherGrants(path); ok {
			return []any{other}
		}
		return []any{otherLists()[path]}
	case map[string]any:
		if path == "rules.disabled_in" {
			return []any{map[string]any{"/srv": []any{"environment_dump"}}}
		}
		return []any{map[string]any{"environment_dump": "observe"}}
	}
	return []any{1.0, 0.0, 0.5, 4.0, -1.0}
}

// otherLists holds for each list what it might be instead.
func otherLists() map[string][]any {
	return map[string][]any{
		"scope.locations": {}, "scope.hosts": {"vm:"}, "system.guards": {"sshd"}, "zones": {"./"}, "code.by_name": {}, "rules.disabled": {"delete_broad"}, "hosts.known": {"example.com"}, "hosts.repository": {}, "secrets.listing": {}, "risk.soft": {}, "unattended_modes": {"alone"}, "interventions.immediate": {"repetitive_errors"},
		"services.ends": {"send"}, "services.unknown_ends": {"remove"}, "services.wide": {"stack"}, "services.stores": {"1"}, "services.local": {},
		"services.recovery": {}, "services.audit": {}, "services.grants": {}, "services.names": {}, "services.reviews": {}, "services.money": {}, "services.payments": {},
		"services.messages": {}, "services.messengers": {}, "databases.block_unseen": {}, "markers.clusters": {}, "rewrite.planners": {},
		"databases.block": {"truncate"}, "markers.production": {"live"}, "markers.test": {},
		"risk.failed_similar": {0.0, 0.5, 0.5, 0.5}, "side_effects.names": {"0", "1", "2", "3", "4"},
		"workspace.allowed": {"~/notes"}, "workspace.denied": {}, "workspace.given": {}, "prefilter.types": {}, "prefilter.locations": {}, "packages.sources": {"example.com"},
		"goals.harmless": {"deploy"}, "goals.resumes": {}, "goals.runs.without": {}, "goals.disproportionate": {},
		"patterns.composites":              {map[string]any{"of": []any{"repetitive_errors", "exploration_wandering"}, "factor": 3.0}},
		"rationality.alignment.kinds.read": {}, "rationality.alignment.kinds.explain": {}, "rationality.alignment.kinds.fix": {},
		"rationality.alignment.kinds.add": {}, "rationality.alignment.kinds.refactor": {}, "rationality.alignment.kinds.test": {},
		"rationality.alignment.kinds.deploy": {}, "rationality.alignment.kinds.clean": {}, "rationality.alignment.kinds.migrate": {},
	}
}

// under holds what else must be so for a setting to matter.
func under(path string, reviewer map[string]any) (undo func()) {
	switch path {
	case "messages.disabled":
		reviewer["enabled"] = false
		return func() { reviewer["enabled"] = true }
	case "messages.access_denied", "messages.access_approval", "messages.access_default", "messages.access_failed":
		rule := func(effect string) map[string]any { return map[string]any{"effect": effect} }
		reviewer["access_lists"] = map[string]any{"team": map[string]any{"default": "deny", "title": "", "rules": map[string]any{
			"access.team.no": rule("deny"), "access.team.perhaps": rule("require_approval"), "access.team.broken": rule("allow"),
		}}}
		return func() { delete(reviewer, "access_lists") }
	}
	if strings.HasPrefix(path, "grants.") {
		return underGrants(path, reviewer)
	}
	return underInterventions(path, reviewer)
}

func settingsOf(t *testing.T) map[string]*schema {
	t.Helper()
	raw, err := schemas.FS.ReadFile("settings.json")
	if err != nil {
		t.Fatal(err)
	}
	var root schema
	if err := json.Unmarshal(raw, &root); err != nil {
		t.Fatal(err)
	}
	settings := map[string]*schema{}
	root.leaves("", settings)
	return settings
}

// A setting that nothing reads is a lie: for each there is a question whose
// answer depends on it. About every twelfth setting is tried, always the same ones whatever settings there are
// besides; all with REVIEWER_EVERY=1 (`make fidelity`), and those under a key with REVIEWER_EVERY=KEY.
func TestEverySettingIsRead(t *testing.T) {
	count := sweep.Count(t, "settings, each changed")
	e, _ := shipped(t)
	settings := settingsOf(t)
	compiler, err := compileModules(e.Modules())
	if err != nil {
		t.Fatal(err)
	}
	data := asJSON(t, e.Data).(map[string]any)
	reviewer := data["reviewer"].(map[string]any)
	usual, usualReads := slices.Collect(second(answers(t, compiler, data))), readings(t, compiler, data)
	for _, path := range slices.Sorted(maps.Keys(settings)) {
		if tried := os.Getenv("REVIEWER_EVERY"); tried == "" && crc32.ChecksumIEEE([]byte(path))%12 != 0 || tried != "" && tried != "1" && !strings.HasPrefix(path, tried) {
			continue
		}
		count.Add(1)
		undo, before, reads := under(path, reviewer), usual, usualReads
		if conditional(path) {
			before, reads = slices.Collect(second(answers(t, compiler, data))), readings(t, compiler, data)
		}
		// What a question does not look at cannot change its answer.
		asked := func(question int) bool { return reads[question].concern(path) }
		into, key := reach(reviewer, path)
		if into == nil {
			t.Errorf("%s has no value in the built-in policy", path)
			continue
		}
		was, where := into[key], elsewhere()[path]
		others := slices.DeleteFunc(slices.Clone(settings[path].others(path, was)), func(v any) bool { return reflect.DeepEqual(v, was) })
		if where != "" && len(others) > 1 {
			others = others[:1] // each question is evaluated for each of them, since no answer differs
		}
		read := slices.ContainsFunc(others, func(v any) bool {
			into[key] = v
			return differs(before, someAnswers(t, compiler, data, asked))
		})
		if read != (where == "") {
			t.Errorf("%s: a decision depends on it: %t; it is shown %s", path, read, cmp.Or(where, "nowhere else"))
		}
		into[key] = was
		undo()
	}
}

// conditional reports whether a setting matters only under others.
func conditional(path string) bool {
	reviewer := map[string]any{"enabled": true}
	under(path, reviewer)
	return len(reviewer) > 1 || reviewer["enabled"] == false
}

// second drops the first of each pair.
func second[K, V any](pairs iter.Seq2[K, V]) iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, v := range pairs {
			if !yield(v) {
				return
			}
		}
	}
}

func reach(doc map[string]any, path string) (into map[string]any, key string) {
	keys := strings.Split(path, ".")
	for _, k := range keys[:len(keys)-1] {
		doc, _ = doc[k].(map[string]any)
	}
	return doc, keys[len(keys)-1]
}
