package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gitCall is a call of git; a push sends to a host.
func gitCall(sub string, more ...func(*Effect)) Action {
	a := command("git "+sub, EffectProcess, "")
	if sub == "push" {
		a = command("git push", EffectNetwork, "", append([]func(*Effect){egress}, more...)...)
	}
	a.Commands = []Command{{Name: "git", Sub: []string{sub}}}
	return a
}

func ignored(e *Effect)  { e.Git = "ignored" }
func loopback(e *Effect) { e.Loopback = true }

func TestSecretsOut(t *testing.T) {
	read := func() *tale { return newTale().returned(command("cat .env", EffectFileRead, "./.env", env), "x") }
	write := func(path string, change ...func(*Effect)) Action {
		return holding(command("edit", EffectFileWrite, path, change...), "x")
	}
	send := request("post", "https://example.org")
	send.Effects[0].Egress = true
	file := with(send, command("", EffectFileRead, "./out"))
	folder := with(send, command("", EffectFileRead, "./dist", recursive))
	mcp := Action{Types: []Type{TypeMCPCall}, Fingerprint: "1"}
	mcpFile := with(mcp, command("", EffectFileWrite, "./a"))
	publish := send
	publish.Signals = []Signal{SignalPublish}
	dry := send
	dry.Signals = []Signal{SignalPublish, SignalDryRun}
	for name, test := range map[string]struct {
		tale *tale
		next Action
		want []WayOut
	}{
		"nothing was read":                {newTale(), holding(send, "x"), nil},
		"the text of what is sent":        {read(), holding(send, "x"), []WayOut{OutText}},
		"the text of what is asked for":   {read(), holding(request("get", "https://example.org"), "x"), []WayOut{OutText}},
		"another text":                    {read(), holding(send, "y"), nil},
		"to this machine":                 {read(), holding(command("curl", EffectNetwork, "", egress, loopback), "x"), nil},
		"to a tool of a server":           {read(), holding(mcp, "x"), []WayOut{OutText}},
		"to a tool that writes files":     {read(), holding(mcpFile, "x"), nil},
		"a file":                          {read().asked(write("./out")), file, []WayOut{OutFile}},
		"a file in a folder":              {read().asked(write("./dist/a")), folder, []WayOut{OutFile}},
		"another file":                    {read().asked(write("./other")), file, nil},
		"a commit's message":              {read().asked(holding(gitCall("commit"), "x")), gitCall("push"), []WayOut{OutWorkspace}},
		"a plain commit":                  {read().asked(gitCall("commit")), gitCall("push"), nil},
		"a file that is committed":        {read().asked(write("./a.go")).asked(gitCall("commit")), gitCall("push"), []WayOut{OutWorkspace}},
		"a file that is not committed":    {read().asked(write("./a.go")), gitCall("push"), nil},
		"a file that git leaves alone":    {read().asked(write("./a.go", ignored)).asked(gitCall("commit")), gitCall("push"), nil},
		"a file for secrets":              {read().asked(write("./.env.test", env)).asked(gitCall("commit")), gitCall("push"), nil},
		"a file elsewhere":                {read().asked(write("/tmp/a")).asked(gitCall("commit")), gitCall("push"), nil},
		"after a push":                    {read().asked(holding(gitCall("commit"), "x")).ran(gitCall("push"), ""), gitCall("push"), nil},
		"after a push that did not run":   {read().asked(holding(gitCall("commit"), "x")).asked(gitCall("push")), gitCall("push"), []WayOut{OutWorkspace}},
		"a package":                       {read().asked(write("./a.js")), publish, []WayOut{OutWorkspace}},
		"a package that would be":         {read().asked(write("./a.js")), dry, nil},
		"turned into something else":      {read().returned(holding(command("base64", EffectProcess, ""), "x"), "z"), holding(send, "z"), []WayOut{OutText}},
		"what a file says of it":          {read().returned(holding(command("grep x a", EffectFileRead, "./a"), "x"), "z"), holding(send, "z"), nil},
		"found in any output":             {newTale().ended(command("env", EffectProcess, ""), &ResultFacts{Outcome: OutcomeRan, Secrets: marks("x")}), holding(send, "x"), []WayOut{OutText}},
		"found in a call that was denied": {newTale().ended(command("env", EffectProcess, ""), &ResultFacts{Outcome: OutcomeDenied, Secrets: marks("x")}), holding(send, "x"), nil},
	} {
		in := test.tale.next(test.next)
		if d := cmp.Diff(test.want, in.Action.SecretsOut); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestUntrustedSources: what is fetched is untrusted, and so are packages; git's
// word about its remote is not.
func TestUntrustedSources(t *testing.T) {
	fetch := func(program, sub string) Action {
		a := command(program+" "+sub, EffectNetwork, "")
		a.Commands = []Command{{Name: program, Sub: []string{sub}}}
		return a
	}
	mcpFile := with(Action{Types: []Type{TypeMCPCall}, Fingerprint: "1"}, command("", EffectFileRead, "./a"))
	plain := command("base64 -d", EffectProcess, "")
	plain.Effects = nil
	for name, test := range map[string]struct {
		tale *tale
		want []Label
	}{
		"an issue":                 {newTale().returned(fetch("gh", "issue"), "x"), []Label{LabelUntrusted}},
		"a fetch":                  {newTale().returned(fetch("git", "fetch"), "x"), nil},
		"a clone":                  {newTale().returned(fetch("git", "clone"), "x"), []Label{LabelUntrusted}},
		"a package":                {newTale().returned(command("cat", EffectFileRead, "./node_modules/a/README.md"), "x"), []Label{LabelUntrusted}},
		"a file":                   {newTale().returned(command("cat", EffectFileRead, "./node_modules.md"), "x"), nil},
		"a file through a server":  {newTale().returned(mcpFile, "x"), nil},
		"decoded":                  {newTale().returned(fetch("gh", "issue"), "y").returned(holding(plain, "y"), "x"), []Label{LabelUntrusted}},
		"said by what was told so": {newTale().returned(fetch("gh", "issue"), "y").returned(holding(command("make", EffectProcess, ""), "y"), "x"), nil},
	} {
		if d := cmp.Diff(test.want, test.tale.next(holding(request("post", "https://example.org"), "x")).Action.Carries); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
