package history

import (
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

// gitCall is a call of git; a push sends to a host.
func gitCall(sub string, more ...func(*engine.Effect)) engine.Action {
	a := command("git "+sub, engine.EffectProcess, "")
	if sub == "push" {
		a = command("git push", engine.EffectNetwork, "", append([]func(*engine.Effect){egress}, more...)...)
	}
	a.Commands = []engine.Command{{Name: "git", Sub: []string{sub}}}
	return a
}

func ignored(e *engine.Effect) { e.Git = "ignored" }

func loopback(e *engine.Effect) { e.Loopback = true }

func TestSecretsOut(t *testing.T) {
	read := func() *tale {
		return newTale().returned(command("cat .env", engine.EffectFileRead, "./.env", env), "x")
	}
	write := func(path string, change ...func(*engine.Effect)) engine.Action {
		return holding(command("edit", engine.EffectFileWrite, path, change...), "x")
	}
	send := request("post", "https://example.org")
	send.Effects[0].Egress = true
	file := with(send, command("", engine.EffectFileRead, "./out"))
	folder := with(send, command("", engine.EffectFileRead, "./dist", recursive))
	mcp := engine.Action{Types: []engine.Type{engine.TypeMCPCall}, Fingerprint: "1"}
	mcpFile := with(mcp, command("", engine.EffectFileWrite, "./a"))
	publish := send
	publish.Signals = []engine.Signal{engine.SignalPublish}
	dry := send
	dry.Signals = []engine.Signal{engine.SignalPublish, engine.SignalDryRun}
	for name, test := range map[string]struct {
		tale *tale
		next engine.Action
		want []engine.ExfilPath
	}{
		"nothing was read":                {newTale(), holding(send, "x"), nil},
		"the text of what is sent":        {read(), holding(send, "x"), []engine.ExfilPath{engine.OutText}},
		"the text of what is asked for":   {read(), holding(request("get", "https://example.org"), "x"), []engine.ExfilPath{engine.OutText}},
		"another text":                    {read(), holding(send, "y"), nil},
		"to this machine":                 {read(), holding(command("curl", engine.EffectNetwork, "", egress, loopback), "x"), nil},
		"to a tool of a server":           {read(), holding(mcp, "x"), []engine.ExfilPath{engine.OutText}},
		"to a tool that writes files":     {read(), holding(mcpFile, "x"), nil},
		"a file":                          {read().asked(write("./out")), file, []engine.ExfilPath{engine.OutFile}},
		"a file in a folder":              {read().asked(write("./dist/a")), folder, []engine.ExfilPath{engine.OutFile}},
		"another file":                    {read().asked(write("./other")), file, nil},
		"a commit's message":              {read().asked(holding(gitCall("commit"), "x")), gitCall("push"), []engine.ExfilPath{engine.OutWorkspace}},
		"a plain commit":                  {read().asked(gitCall("commit")), gitCall("push"), nil},
		"a file that is committed":        {read().asked(write("./a.go")).asked(gitCall("commit")), gitCall("push"), []engine.ExfilPath{engine.OutWorkspace}},
		"a file that is not committed":    {read().asked(write("./a.go")), gitCall("push"), nil},
		"a file that git leaves alone":    {read().asked(write("./a.go", ignored)).asked(gitCall("commit")), gitCall("push"), nil},
		"a file for secrets":              {read().asked(write("./.env.test", env)).asked(gitCall("commit")), gitCall("push"), nil},
		"a file elsewhere":                {read().asked(write("/tmp/a")).asked(gitCall("commit")), gitCall("push"), nil},
		"after a push":                    {read().asked(holding(gitCall("commit"), "x")).ran(gitCall("push"), ""), gitCall("push"), nil},
		"after a push that did not run":   {read().asked(holding(gitCall("commit"), "x")).asked(gitCall("push")), gitCall("push"), []engine.ExfilPath{engine.OutWorkspace}},
		"a package":                       {read().asked(write("./a.js")), publish, []engine.ExfilPath{engine.OutWorkspace}},
		"a package that would be":         {read().asked(write("./a.js")), dry, nil},
		"turned into something else":      {read().returned(holding(command("base64", engine.EffectProcess, ""), "x"), "z"), holding(send, "z"), []engine.ExfilPath{engine.OutText}},
		"what a file says of it":          {read().returned(holding(command("grep x a", engine.EffectFileRead, "./a"), "x"), "z"), holding(send, "z"), nil},
		"found in any output":             {newTale().ended(command("env", engine.EffectProcess, ""), &engine.ResultFacts{Outcome: engine.OutcomeRan, Secrets: marks("x")}), holding(send, "x"), []engine.ExfilPath{engine.OutText}},
		"found in a call that was denied": {newTale().ended(command("env", engine.EffectProcess, ""), &engine.ResultFacts{Outcome: engine.OutcomeDenied, Secrets: marks("x")}), holding(send, "x"), nil},
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
	fetch := func(program, sub string) engine.Action {
		a := command(program+" "+sub, engine.EffectNetwork, "")
		a.Commands = []engine.Command{{Name: program, Sub: []string{sub}}}
		return a
	}
	mcpFile := with(engine.Action{Types: []engine.Type{engine.TypeMCPCall}, Fingerprint: "1"}, command("", engine.EffectFileRead, "./a"))
	plain := command("base64 -d", engine.EffectProcess, "")
	plain.Effects = nil
	for name, test := range map[string]struct {
		tale *tale
		want []engine.Label
	}{
		"an issue":                         {newTale().returned(fetch("gh", "issue"), "x"), []engine.Label{engine.LabelUntrusted}},
		"a fetch":                          {newTale().returned(fetch("git", "fetch"), "x"), nil},
		"a clone":                          {newTale().returned(fetch("git", "clone"), "x"), []engine.Label{engine.LabelUntrusted}},
		"a package":                        {newTale().returned(command("cat", engine.EffectFileRead, "./node_modules/a/README.md"), "x"), []engine.Label{engine.LabelUntrusted}},
		"a file":                           {newTale().returned(command("cat", engine.EffectFileRead, "./node_modules.md"), "x"), nil},
		"a file through a server":          {newTale().returned(mcpFile, "x"), nil},
		"decoded":                          {newTale().returned(fetch("gh", "issue"), "y").returned(holding(plain, "y"), "x"), []engine.Label{engine.LabelUntrusted}},
		"printed by a program that got it": {newTale().returned(fetch("gh", "issue"), "y").returned(holding(command("make", engine.EffectProcess, ""), "y"), "x"), nil},
	} {
		if d := cmp.Diff(test.want, test.tale.next(holding(request("post", "https://example.org"), "x")).Action.Carries); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
