package transcript

import (
	"strings"
	"testing"
)

// A script's calls are listed if their values are literals; otherwise the script
// itself is listed.
func TestScriptCalls(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{`await tools.exec_command({cmd: "ls"})`, `Bash {"command":"ls"}`},
		{`const r = await tools.exec_command({"cmd":'ls -l', workdir: "/src", n: 3, ok: true,}); text(r.output)`,
			`Bash {"command":"ls -l","n":3,"ok":true,"workdir":"/src"}`},
		{"const cmd = `git diff`;\nconst dir = 'web'\nawait tools.exec_command({cmd, workdir: dir})", `Bash {"command":"git diff","workdir":"web"}`},
		{"const d = '/x'; tools.exec_command({cmd: `rm -rf ${d}/y`})", `Bash {"command":"rm -rf /x/y"}`},
		{`tools.exec_command({cmd: "rm -rf " + "/x"}) // tools.exec_command({cmd: "no"})`, `Bash {"command":"rm -rf /x"}`},
		{`/* tools.nothing() */ tools["exec_command"]({cmd: "a\x41\u{42}\u0043\n"})`, `Bash {"command":"aABC\n"}`},
		{`Promise.all([tools.exec_command({cmd: "a"}), tools.read_file({path: "/b"})])`, `Bash {"command":"a"}; Read {"file_path":"/b"}`},
		{`tools.mcp__shop__buy({item: ["tea"]})`, `mcp__shop__buy {"item":["tea"]}`},
		{`tools.web__run({search_query: [{q: "go"}], open: [{ref_id: "https://a.example/"}]})`,
			`WebSearch {"query":"go"}; WebFetch {"url":"https://a.example/"}`},
		{`tools.web__run({click: [{ref_id: "turn0"}]})`, `web__run {"click":[{"ref_id":"turn0"}]}`},
		{`tools.view_plan()`, `view_plan {}`},
	} {
		if got := told(scriptCalls(c.code)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.code, got, c.want)
		}
	}
	for _, code := range []string{
		`text(1 + 1)`,
		`for (const f of ["a", "b"]) await tools.exec_command({cmd: f})`,
		`let cmd = "ls"; cmd = "rm -rf /"; tools.exec_command({cmd})`,
		`const cmd = "ls"; const run = (cmd) => tools.exec_command({cmd}); run("rm -rf /")`,
		`const {exec_command} = tools; exec_command({cmd: "rm -rf /"})`,
		`const t = tools; t.exec_command({cmd: "rm -rf /"})`,
		`tools[name]({cmd: "ls"})`,
		`tools.exec_command({...args})`,
		`tools.exec_command({cmd: "ls".replace("ls", "rm -rf /")})`,
		`const c = "ls".replace("ls", "rm"); tools.exec_command({cmd: c})`,
		`x.replace(/"/, ""); tools.exec_command({cmd: "rm -rf /"}) //"`,
		"`${await tools.exec_command({cmd: 'rm -rf /'})}`",
		`globalThis["tools"].exec_command({cmd: "rm -rf /"})`,
		`tools.exec_command({cmd: "ls"`,
	} {
		if got := told(scriptCalls(code)); !strings.HasPrefix(got, "exec {") {
			t.Errorf("%s: %s is told and not the script", code, got)
		}
	}
}

func told(nested []nestedCall) string {
	var list []string
	for _, c := range flat(nested) {
		list = append(list, c.tool+" "+string(c.args))
	}
	return strings.Join(list, "; ")
}

func FuzzScriptCalls(f *testing.F) {
	f.Add("const a = `x${b}` + 'y'; tools.exec_command({a, 'b': [1, -2.5e3, null]})")
	f.Fuzz(func(t *testing.T, code string) {
		if len(scriptCalls(code)) == 0 {
			t.Error("no call")
		}
	})
}
