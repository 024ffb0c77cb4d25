package classify

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"
)

func rewriteCall(tool, args string, ops ...engine.Operation) (string, error) {
	c := &Classifier{World: nowhere(), MAC: classifytest.MAC, Rows: classifytest.Rows(), Program: classifytest.Program}
	out, err := c.Rewrite(context.Background(), engine.Event{
		Phase: engine.PhasePre, Tool: tool, Args: json.RawMessage(args), CWD: "/srv/shop",
	}, "/srv/shop", ops)
	return string(out), err
}

// rewriteShell rewrites a command of Bash.
func rewriteShell(t testing.TB, command string, ops ...engine.Operation) (string, error) {
	t.Helper()
	args, err := plainJSON(map[string]any{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	out, err := rewriteCall("Bash", string(args), ops...)
	if err != nil {
		return "", err
	}
	var in struct{ Command string }
	if err := json.Unmarshal([]byte(out), &in); err != nil {
		t.Fatalf("%q becomes %s: %v", command, out, err)
	}
	return in.Command, nil
}

func set(cmd int, flag string, value ...any) engine.Operation {
	op := engine.Operation{Op: engine.OpSetFlag, Command: cmd, Flag: flag}
	if len(value) > 0 {
		op.Value = value[0]
	}
	return op
}

func drop(cmd int, flag string) engine.Operation {
	return engine.Operation{Op: engine.OpDropFlag, Command: cmd, Flag: flag}
}

func replace(cmd, arg int, value string) engine.Operation {
	return engine.Operation{Op: engine.OpReplaceArg, Command: cmd, Arg: arg, Value: value}
}

func insert(cmd, arg int, value string) engine.Operation {
	return engine.Operation{Op: engine.OpInsertArg, Command: cmd, Arg: arg, Value: value}
}

func setTo(name string, value any) engine.Operation {
	return engine.Operation{Op: engine.OpSetField, Field: name, Value: value}
}

type ops = []engine.Operation

// The changes that ship: a push with a lease, a move into the trash, a time
// limit, an install without scripts.
func lease(cmd int, flag string) ops { return ops{set(cmd, "--force-with-lease"), drop(cmd, flag)} }

func intoTrash(cmd int, flags ...string) ops {
	list := ops{replace(cmd, 0, engine.ReviewerProgram), insert(cmd, 1, "trash")}
	for _, f := range flags {
		list = append(list, drop(cmd, f))
	}
	return append(list, set(cmd, "--ignore-missing"))
}

func limited(cmd int) ops { return ops{insert(cmd, 0, "timeout"), insert(cmd, 0, "300")} }

// trash is the command that takes the place of rm.
const trash = `'/opt/our tools/reviewer' trash --ignore-missing`

// rewriteCases are commands, what to change in them, and the commands that result.
var rewriteCases = []struct {
	from string
	ops  ops
	want string
}{
	// A push with a lease.
	{"git push --force origin main", lease(0, "--force"), "git push --force-with-lease origin main"},
	{"git push origin main --force", lease(0, "--force"), "git push --force-with-lease origin main"},
	{"git push -f", lease(0, "-f"), "git push --force-with-lease"},
	{"git push -uf origin main", lease(0, "-f"), "git push --force-with-lease -u origin main"},
	{"git push -fu origin main", lease(0, "-f"), "git push --force-with-lease -u origin main"},
	{"git push -f -f origin", ops{drop(0, "-f"), drop(0, "-f")}, "git push origin"},
	{"git push -uf origin", ops{drop(0, "-uf")}, "git push origin"},
	{"git push -ofast -f origin", ops{drop(0, "-f")}, "git push -ofast origin"},
	{"git push -fofast origin", ops{drop(0, "-f")}, "git push -ofast origin"},
	{"git push -fo fast origin", ops{drop(0, "-o")}, "git push -f origin"},
	{"git push -o fast origin", ops{drop(0, "-o")}, "git push origin"},
	{"git push -o fast origin", ops{drop(0, "-o=fast")}, "git push origin"},
	{"git  push   --force\torigin  main # now", lease(0, "--force"), "git  push --force-with-lease\torigin  main # now"},
	{"git -C ../b push --force origin", lease(0, "--force"), "git -C ../b push --force-with-lease origin"},
	{"git push --force-with-lease=main:abc --force origin", lease(0, "--force"), "git push --force-with-lease origin"},
	{"git push '--force' origin", lease(0, "--force"), "git push --force-with-lease origin"},
	{`git push "--force" or\igin`, lease(0, "--force"), `git push --force-with-lease or\igin`},
	{"git push --force>log 2>&1", lease(0, "--force"), "git push --force-with-lease >log 2>&1"},
	{"git push origin 2 --force>log", ops{drop(0, "--force")}, "git push origin 2 >log"},
	{"git push \\\n  --force \\\n  origin main", lease(0, "--force"), "git push --force-with-lease \\\n \\\n  origin main"},
	{"cd api && go test ./... | tee log && git push --force origin main; echo done", lease(3, "--force"),
		"cd api && go test ./... | tee log && git push --force-with-lease origin main; echo done"},
	{"(cd api; git push -f) || exit 1", lease(1, "-f"), "(cd api; git push --force-with-lease) || exit 1"},
	{"if git push -f; then echo ok; fi", lease(0, "-f"), "if git push --force-with-lease; then echo ok; fi"},
	{"GIT_TRACE=1 X=a\\ b git push -f >out", lease(0, "-f"), "GIT_TRACE=1 X=a\\ b git push --force-with-lease >out"},
	{"! git push -f &", lease(0, "-f"), "! git push --force-with-lease &"},
	{"sudo -u kim timeout 5 git push -f", lease(0, "-f"), "sudo -u kim timeout 5 git push --force-with-lease"},
	{"env A=1 nice -n 5 git push --force x y", lease(0, "--force"), "env A=1 nice -n 5 git push --force-with-lease x y"},
	{"/usr/bin/git push -f", lease(0, "-f"), "/usr/bin/git push --force-with-lease"},
	{"x=$(git push -f 2>&1)", lease(0, "-f"), "x=$(git push --force-with-lease 2>&1)"},
	{"echo \"done: `git push -f`\"", lease(0, "-f"), "echo \"done: `git push --force-with-lease`\""},
	{"cat <<EOF\n$(git push -f)\nEOF", lease(0, "-f"), "cat <<EOF\n$(git push --force-with-lease)\nEOF"},
	{"for b in $(cat list); do git push -f origin \"$b\"; done", lease(1, "-f"), "for b in $(cat list); do git push --force-with-lease origin \"$b\"; done"},
	{"up() { git push -f \"$@\"; }; up origin", lease(0, "-f"), "up() { git push --force-with-lease \"$@\"; }; up origin"},
	{"time git push -f", lease(0, "-f"), "time git push --force-with-lease"},
	{"git push -f origin ünïcode-日本 && echo ✓", lease(0, "-f"), "git push --force-with-lease origin ünïcode-日本 && echo ✓"},
	{"git commit -m '-f --force' && git push -f", lease(1, "-f"), "git commit -m '-f --force' && git push --force-with-lease"},
	{"git push -f a; git push --force b", append(lease(0, "-f"), lease(1, "--force")...), "git push --force-with-lease a; git push --force-with-lease b"},

	// Into the trash.
	{"rm a.txt", intoTrash(0), trash + " a.txt"},
	{"rm -f a.txt b.txt", intoTrash(0, "-f"), trash + " a.txt b.txt"},
	{"rm -rf a", intoTrash(0, "-rf"), trash + " a"},
	{"rm -rf a", intoTrash(0, "-r", "-f"), trash + " a"},
	{"rm -r -f a", intoTrash(0, "-r", "-f"), trash + " a"},
	{"rm a -f", intoTrash(0, "-f"), trash + " a"},
	{"rm --recursive --force -v a", intoTrash(0, "--recursive", "--force", "-v"), trash + " a"},
	{"rm -- -f", intoTrash(0), trash + " -- -f"},
	{"rm -f -- -rf -x", intoTrash(0, "-f"), trash + " -- -rf -x"},
	{`rm -f "my notes.txt" it\'s 'a;b'`, intoTrash(0, "-f"), trash + ` "my notes.txt" it\'s 'a;b'`},
	{`rm -f "$HOME/a" $X *.tmp {a,b}`, intoTrash(0, "-f"), trash + ` "$HOME/a" $X *.tmp {a,b}`},
	{"\\rm a", intoTrash(0), trash + " a"},
	{"command rm a", intoTrash(0), "command " + trash + " a"},
	{"'rm' a", intoTrash(0), trash + " a"},
	{"/bin/rm a", intoTrash(0), trash + " a"},
	{"X=1 rm a 2>/dev/null || true", intoTrash(0), "X=1 " + trash + " a 2>/dev/null || true"},
	{">log rm a", intoTrash(0), ">log " + trash + " a"},
	{"ls | grep x && { rm a; }", intoTrash(2), "ls | grep x && { " + trash + " a; }"},
	{"cat <<'EOF' > notes\nrm a\nEOF\nrm -f b", intoTrash(1, "-f"), "cat <<'EOF' > notes\nrm a\nEOF\n" + trash + " b"},
	{"# clean\n\n\trm  -f\\\n b\n", intoTrash(0, "-f"), "# clean\n\n\t" + trash + " b\n"},
	{"for f in *.tmp; do rm \"$f\"; done", intoTrash(0), "for f in *.tmp; do " + trash + " \"$f\"; done"},

	{"busybox timeout 5 rm a", intoTrash(0), "busybox timeout 5 " + trash + " a"},

	// A time limit, and other words.
	{"yes > out", limited(0), "timeout 300 yes > out"},
	{"X=1 yes>out&", limited(0), "X=1 timeout 300 yes>out&"},
	{"sudo nice yes > out", limited(0), "sudo nice timeout 300 yes > out"},
	{"cat a | sort; cat /dev/zero > b", limited(2), "cat a | sort; timeout 300 cat /dev/zero > b"},
	{"npm install left-pad", ops{set(0, "--ignore-scripts")}, "npm install --ignore-scripts left-pad"},
	{"npm --prefix web i -D a b", ops{set(0, "--ignore-scripts")}, "npm --prefix web i --ignore-scripts -D a b"},
	{"docker compose up -d web", ops{insert(0, 3, "api"), insert(0, 3, "db")}, "docker compose up api db -d web"},
	{"docker compose up -d web", ops{insert(0, 4, "db")}, "docker compose up -d web db"},
	{"kubectl get pods --context prod", ops{set(0, "--context", "it's staging")}, `kubectl get pods '--context=it'\''s staging'`},
	{"kubectl get pods --context=prod -n x", ops{set(0, "--context", "staging")}, "kubectl get pods --context=staging -n x"},
	{"kubectl get pods --context=a --context b", ops{set(0, "--context", "c")}, "kubectl get pods --context=c"},
	{"kubectl get -n x pods", ops{drop(0, "-n")}, "kubectl get pods"},
	{"ls -la src", ops{set(0, "-l"), set(0, "-a")}, "ls -la src"},
	{"cp a b", ops{replace(0, 1, "a b"), replace(0, 2, "$HOME/`x`")}, "cp 'a b' '$HOME/`x`'"},
	{"cp a b", ops{replace(0, 2, ""), insert(0, 2, "=c")}, "cp a '=c' ''"},
	{"curl -sSL https://a.example -o out", ops{drop(0, "-L"), drop(0, "-o"), replace(0, 1, "https://b.example")}, "curl -sS https://b.example"},
	{"git push", nil, "git push"},
}

func TestRewrite(t *testing.T) {
	for _, c := range rewriteCases {
		got, err := rewriteShell(t, c.from, c.ops...)
		if err != nil {
			t.Errorf("%q: %v", c.from, err)
		} else if got != c.want {
			t.Errorf("%q\nbecomes %q\n   want %q", c.from, got, c.want)
		}
	}
}

func TestRewriteRefused(t *testing.T) {
	for _, c := range []struct {
		from string
		op   engine.Operation
		want string // a part of the error
	}{
		{"git push -f", drop(1, "-f"), "there is no command 1: the call has 1"},
		{"git push -f", drop(-1, "-f"), "there is no command -1"},
		{"git push --force", drop(0, "--forse"), "did you mean --force?"},
		{"git push", drop(0, "--force"), "git has no flag --force"},
		{"rm -- -f", drop(0, "-f"), "rm has no flag -f"},
		{"git push $F", drop(0, "--force"), "has no flag --force"},
		{"F=--force; git push $F", drop(0, "--force"), "is not a literal"},
		{"F=--force; git push \"$F\"", drop(0, "--force"), "is not a literal"},
		{"git push --force origin", replace(0, 3, "x"), "git has no word 3: it has 3 words without flags"},
		{"git push --force origin", insert(0, 4, "x"), "git has no word 4"},
		{"git push --force origin", insert(0, -1, "x"), "git has no word -1"},
		{"rm $X a", replace(0, 2, "b"), "may expand to any number of words"},
		{"rm *.tmp a", insert(0, 3, "b"), "may expand to any number of words"},
		{"rm {a,b} c", insert(0, 4, "b"), "may expand to any number of words"},
		{"rm \"$X\"", replace(0, 1, "b"), "is not a literal"},
		{"$X push -f", drop(0, "-f"), "this text stands for 2 commands"},
		{"g=git; $g push -f", drop(0, "-f"), "name is not a literal"},
		{"sh -c 'git push -f'", drop(1, "-f"), "it comes from sh-c"},
		{"busybox rm a", replace(0, 0, "x"), "busybox runs only its own programs"},
		{"eval git push -f", drop(0, "-f"), "it comes from eval"},
		{"bash <<'EOF'\ngit push -f\nEOF", drop(1, "-f"), "it comes from heredoc"},
		{"echo a | xargs rm -f", drop(1, "-f"), "it comes from xargs"},
		{"alias p='git push -f'\np", drop(1, "-f"), "it comes from alias"},
		{"x='$(git push -f)'; echo ${x@P}", drop(0, "-f"), "built from other text"},
		{"for f in a b; do rm -f $f; done", drop(0, "-f"), "this text stands for 2 commands"},
		{"up() { git push -f $1; }; up a; up b", drop(0, "-f"), "this text stands for 2 commands"},
		{"env -S 'git push -f'", drop(0, "-f"), "name is not a literal"},
		{"tool -xf a", drop(0, "-f"), "tool has no flag -f"},
		{"git push -f 'a", drop(0, "-f"), "not fully understood (syntax)"},
		{"git push -f a\u00a0b", drop(0, "-f"), "not fully understood (encoding)"},
		{strings.Repeat("echo a b;", 2000) + "rm -f x", drop(0, "-f"), "so their numbers are ambiguous"},
		{"git push", set(0, "--a", 5), "its value is not a string"},
		{"git push", set(0, "-a", "b"), "use the long form"},
		{"git push", set(0, "force"), "is not a flag"},
		{"git push", set(0, "--"), "is not a flag"},
		{"git push", set(0, "--a=b"), "is not a flag"},
		{"git push", replace(0, 1, "REDACTED_token_0123abcd"), "masked secret"},
		{"git push", set(0, "--a", "x REDACTED_token_0123abcd"), "masked secret"},
		{"git push", insert(0, 1, "a\x00b"), "invisible character"},
		{"git push", insert(0, 1, "a\u200bb"), "invisible character"},
		{"git push", engine.Operation{Op: engine.OpInsertArg, Value: true}, "its value is not a string"},
		{"git push", engine.Operation{Op: "drop_flags"}, "did you mean drop_flag?"},
		{"git push", setTo("command", "true"), "policy may change its words"},
		{"ls a", replace(0, 0, "if"), "change more of the command"},
		{"ls a", replace(0, 0, "X=1"), "change more of the command"},
		{"ls a", replace(0, 0, "eval"), "change more of the command"},
		{"echo a>b", replace(0, 1, "2"), "change more of the command"},
	} {
		got, err := rewriteShell(t, c.from, c.op)
		if err == nil {
			t.Errorf("%.60q becomes %q, want an error with %q", c.from, got, c.want)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: error %q, want %q in it", c.from, err, c.want)
		}
	}
}

// TestRewriteOthers: fields of any tool, and nothing else of one that runs no
// shell.
func TestRewriteOthers(t *testing.T) {
	for _, c := range []struct {
		tool, args string
		op         engine.Operation
		want       string // the arguments, or a part of the error
	}{
		{"Bash", `{"command":"make"}`, setTo("timeout", 600000), `{"command":"make","timeout":600000}`},
		{"Bash", `{ "command" : "make" , "timeout":1.50e4 }`, setTo("timeout", json.Number("5")), `{ "command" : "make" , "timeout":5 }`},
		{"Bash", `{"x":123456789012345678901234567890,"command":"git push -f","y":"\u00e9 <&>"}`, drop(0, "-f"),
			`{"x":123456789012345678901234567890,"command":"git push","y":"\u00e9 <&>"}`},
		{"Bash", `{"run_in_background":true,"command":"make"}`, setTo("run_in_background", false), `{"run_in_background":false,"command":"make"}`},
		{"Bash", `{"command":"echo \"a\" <b >c & rm -f x"}`, drop(1, "-f"), `{"command":"echo \"a\" <b >c & rm x"}`},
		{"Monitor", `{"description":"d","command":"yes > a"}`, insert(0, 0, "nice"), `{"description":"d","command":"nice yes > a"}`},
		{"Read", `{}`, setTo("file_path", "/a/<b>"), `{"file_path":"/a/<b>"}`},
		{"Read", `{"file_path":"/a"}`, setTo("limit", 2000.0), `{"file_path":"/a","limit":2000}`},
		{"Read", `{"file_path":"/a"}`, setTo("file_path", 5), "the field file_path contains a text, not a number"},
		{"Read", `{"file_path":"/a","o":{}}`, setTo("o", "x"), "the field o contains an object, not a text"},
		{"Read", `{"file_path":"/a","o":null}`, setTo("o", "x"), "the field o contains null, not a text"},
		{"Read", `{"file_path":"/a"}`, setTo("o", []any{"x"}), "cannot be set to a list"},
		{"Read", `{"file_path":"/a"}`, setTo("o", nil), "cannot be set to null"},
		{"Read", `{"file_path":"/a"}`, setTo("", "x"), "the field is missing"},
		{"Read", `{"file_path":"/a"}`, setTo("o", "REDACTED_key_00000000"), "masked secret"},
		{"Read", `[]`, setTo("o", "x"), "is not an object"},
		{"Read", `{"file_path":"/a"}`, drop(0, "-f"), "does not run a shell command"},
		{"mcp__files__delete", `{"path":"/a"}`, setTo("dry_run", true), `{"path":"/a","dry_run":true}`},
		{"PowerShell", `{"command":"rm -Force a"}`, drop(0, "-Force"), "PowerShell commands cannot be modified"},
		{"PowerShell", `{"command":"rm -Force a"}`, setTo("timeout", 5), `{"command":"rm -Force a","timeout":5}`},
		{"PowerShell", `{"command":"rm -Force a"}`, setTo("command", "ls"), "policy may change its words"},
		{"Bash", `{"command":7}`, drop(0, "-f"), "does not contain a command"},
		{"Bash", `{}`, drop(0, "-f"), "does not contain a command"},
		{"Bash", `{"command":"a","command":"b"}`, drop(0, "-f"), "duplicate key"},
	} {
		got, err := rewriteCall(c.tool, c.args, c.op)
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s %s %s:\n got %s\nwant %s", c.tool, c.args, c.op.Op, got, c.want)
		}
	}
}

// TestRewriteProgramUnknown: without a path the word stays no literal text.
func TestRewriteProgramUnknown(t *testing.T) {
	c := &Classifier{World: nowhere(), MAC: classifytest.MAC, Rows: classifytest.Rows()}
	e := engine.Event{Phase: engine.PhasePre, Tool: "Bash", Args: json.RawMessage(`{"command":"rm a"}`)}
	if out, err := c.Rewrite(context.Background(), e, "", intoTrash(0)); err == nil || !strings.Contains(err.Error(), "is unknown") {
		t.Errorf("got %s, %v; want that the program is not known", out, err)
	}
}

// TestRewriteNothing: a call without operations keeps every byte.
func TestRewriteNothing(t *testing.T) {
	for _, src := range shellCaseSources(t) {
		args, err := json.MarshalIndent(map[string]any{"command": src, "n": 1}, " ", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := rewriteCall("Bash", string(args)); err != nil || got != string(args) {
			t.Errorf("%s becomes %s (%v)", args, got, err)
		}
	}
}

// TestRewriteQuotes: any text becomes one argument and nothing else.
func TestRewriteQuotes(t *testing.T) {
	texts := []string{"", " ", "a b", "it's", "$(reboot)", "`reboot`", "a\nb", "~", "~/a", "*", "!x", "-", "--", "=a", "a=b", "#", "é日本✓", "\\", "'", "\"'\"", "{a,b}", "if", "\n\t"}
	for b := 1; b < 0x80; b++ {
		texts = append(texts, string(rune(b)), "a"+string(rune(b))+"b", string(rune(b))+"'")
	}
	for _, text := range texts {
		got, err := rewriteShell(t, "tool a b", replace(0, 1, text), set(0, "--x", text))
		if strings.ContainsFunc(text, shell.Misleading) {
			if err == nil {
				t.Errorf("%q gives %q, want it refused", text, got)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		list, ok := shell.Parse(got)
		if !ok || len(list) != 1 {
			t.Errorf("%q gives %q, which is not one command", text, got)
			continue
		}
		var words []string
		for _, a := range shell.New(shell.Input{}).Expand(callOf(t, got)) {
			words = append(words, a.Text)
			if a.Glob || a.Splits {
				t.Errorf("%q gives %q, of which %q is open", text, got, a.Text)
			}
		}
		if diff := cmp.Diff([]string{"tool", "--x=" + text, text, "b"}, words); diff != "" {
			t.Errorf("%q gives %q:\n%s", text, got, diff)
		}
	}
}

// TestRewriteDrops: a flag that is dropped is gone, wherever it stood.
func TestRewriteDrops(t *testing.T) {
	for _, src := range shellCaseSources(t) {
		before := shell.Interpret(src, nowhereInput())
		for i, c := range before.Commands {
			for _, flag := range c.Flags {
				out, err := rewriteShell(t, src, drop(i, flag))
				if err != nil {
					continue
				}
				after := shell.Interpret(out, nowhereInput())
				if slices.Contains(after.Commands[i].Flags, flag) {
					t.Errorf("%q without %s is %q", src, flag, out)
				}
			}
		}
	}
}

func nowhereInput() shell.Input {
	c := &Classifier{World: nowhere(), MAC: classifytest.MAC, Rows: classifytest.Rows(), Program: classifytest.Program}
	return c.shellInput(engine.Event{CWD: "/srv/shop", Rows: classifytest.Rows()})
}

// TestRewriteLeavesTheRest: an edit of one command is an edit of that alone.
func TestRewriteLeavesTheRest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	done := 0
	for _, src := range shellCaseSources(t) {
		n := len(shell.Interpret(src, nowhereInput()).Commands)
		for range 4 {
			if checkRewrite(t, src, randomOps(random, n)) {
				done++
			}
		}
	}
	if done < 200 {
		t.Errorf("only %d rewritings succeeded, too few to say anything", done)
	}
}

func randomOps(random *rand.Rand, commands int) ops {
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	var list ops
	for range 1 + random.IntN(3) {
		list = append(list, engine.Operation{
			Op: pick(engine.Operations()[:4]...), Command: random.IntN(max(commands, 1)), Arg: random.IntN(4),
			Flag: pick("-f", "-r", "-rf", "--force", "-x", "--dry-run", "-e", "-n"), Value: pick("x", "a b", "-v", "$X", "'", "", "2", engine.ReviewerProgram, "{}"),
		})
	}
	return list
}

// checkRewrite applies operations: an error, or code of which only the named
// commands have other words. It tells which.
func checkRewrite(t *testing.T, src string, list ops) bool {
	t.Helper()
	for i := range list {
		if list[i].Op == engine.OpSetFlag || list[i].Op == engine.OpDropFlag {
			list[i].Value = nil
		}
	}
	out, err := rewriteShell(t, src, list...)
	if err != nil {
		return false
	}
	if _, ok := shell.Parse(out); !ok {
		t.Errorf("%q becomes %q, which does not parse\n%+v", src, out, list)
	}
	before, after := shell.Interpret(src, nowhereInput()).Commands, shell.Interpret(out, nowhereInput()).Commands
	if len(before) != len(after) {
		t.Errorf("%q becomes %q, with %d commands\n%+v", src, out, len(after), list)
		return true
	}
	for i := range before {
		named := slices.ContainsFunc(list, func(op engine.Operation) bool { return op.Command == i })
		if !named && !sameWords(before[i], after[i]) {
			t.Errorf("%q becomes %q: command %d is another\n%+v", src, out, i, list)
		}
	}
	return true
}

func FuzzRewrite(f *testing.F) {
	for i, src := range shellCaseSources(f) {
		f.Add(src, uint64(i))
	}
	f.Fuzz(func(t *testing.T, src string, seed uint64) {
		if len(src) > 4096 || !json.Valid([]byte(fmt.Sprintf("%q", src))) || strings.ContainsRune(src, '\uFFFD') {
			return
		}
		n := len(shell.Interpret(src, nowhereInput()).Commands)
		checkRewrite(t, src, randomOps(rand.New(rand.NewPCG(seed, 1)), n))
	})
}

// callOf are the words of code that is one call.
func callOf(t *testing.T, src string) []*syntax.Word {
	t.Helper()
	list, _ := shell.Parse(src)
	call, ok := list[0].Cmd.(*syntax.CallExpr)
	if !ok {
		t.Fatalf("%q is not a call", src)
	}
	return call.Args
}

// TestShellWordInShell: a real shell reads what we write as we do.
func TestShellWordInShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh on this machine")
	}
	var script, want strings.Builder
	for b := 1; b < 0x80; b++ {
		for _, text := range []string{string(rune(b)), "a" + string(rune(b)), string(rune(b)) + "'", "é\\" + string(rune(b))} {
			fmt.Fprintf(&script, "printf '%%s|' %s\n", shellWord(text))
			want.WriteString(text + "|")
		}
	}
	got, err := exec.Command(sh, "-c", script.String()).Output()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Error(diff)
	}
}

// TestTrashIsDeletion: a move into the trash says about each target what its
// deletion says, but that it can be undone.
func TestTrashIsDeletion(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "tree/b", ".env"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("tree", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	effects := func(command string) *engine.Action {
		args, _ := json.Marshal(map[string]any{"command": command})
		return classifyCall(t, place.LocalWorld("/home/kim", "", nil), dir, dir, "Bash", string(args)).Action
	}
	for _, target := range []string{"a", "tree", "tree/b", "link", ".env", "none", "../x", "/", "~", "."} {
		gone, kept := effects("rm -r "+target), effects("reviewer trash "+target)
		if len(gone.Effects) != 1 || len(kept.Effects) != 1 {
			t.Fatalf("%s: %d and %d effects", target, len(gone.Effects), len(kept.Effects))
		}
		was, is := gone.Effects[0], kept.Effects[0]
		if got, want := is.Recursive, was.Entry == "dir" || was.Entry == "" && was.Exists == ""; got != want {
			t.Errorf("trash %s: recursive %t, want %t", target, got, want)
		}
		if is.Verb != "trash" || is.Reversibility != engine.R1 {
			t.Errorf("trash %s: %s %s, want trash R1", target, is.Verb, is.Reversibility)
		}
		was.Verb, was.Reversibility, was.Recursive = is.Verb, is.Reversibility, is.Recursive
		if diff := cmp.Diff(was, is); diff != "" {
			t.Errorf("rm -r %s and trash differ:\n%s", target, diff)
		}
		for _, s := range kept.Signals {
			if !slices.Contains(gone.Signals, s) {
				t.Errorf("trash %s has the signal %s, which rm has not", target, s)
			}
		}
	}
}
