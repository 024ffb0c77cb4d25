package classify

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

// times repeats a string up to n bytes.
func times(text string, n int) string { return strings.Repeat(text, max(1, n/len(text))) }

// around puts a command between as many beginnings and ends as n bytes hold.
func around(begin, end string, n int) string {
	k := n / (len(begin) + len(end))
	return strings.Repeat(begin, k) + "echo a" + strings.Repeat(end, k)
}

// numbered is a string with another number each time.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// shapes are commands that grow in one way each. Those of PowerShell begin with PS.
var shapes = map[string]func(n int) string{
	"lines of work":   func(n int) string { return numbered("grep -n \"word %d\" src/app.js | head -5 > out.txt\n", n) },
	"one long text":   func(n int) string { return "git commit -m '" + times("A sentence of plain words.\n", n) + "'" },
	"operands":        func(n int) string { return "git add " + numbered("src/d%d/file.js ", n) },
	"prose in a text": func(n int) string { return "cat > notes.md <<'E'\n" + numbered("line %d of a text\n", n) + "E\n" },
	"code in a text": func(n int) string {
		return "cat > app.py <<'E'\n" + numbered("def f%d(x):\n    return open('a').read()\n", n) + "E\n"
	},
	"removals":            func(n int) string { return numbered("rm build/f%d.o\n", n) },
	"folders":             func(n int) string { return numbered("mkdir -p a/b%d\n", n) },
	"loops":               func(n int) string { return numbered("for f%d in a b; do echo $f; done\n", n) },
	"calls of a function": func(n int) string { return "f() { ls; }\n" + times("f a b\n", n) },
	"quotes":              func(n int) string { return "echo " + times(`"'a'"`, n) },
	"nested code":         func(n int) string { return around("$(", ")", n) },
	"nested quotes":       func(n int) string { return around(`"$(echo `, `)"`, n) },
	"parentheses":         func(n int) string { return around("( ", " )", n) },
	"braces around":       func(n int) string { return around("{ ", "; }", n) },
	"background":          func(n int) string { return around("( ", " & )", n) },
	"conditions":          func(n int) string { return around("if a; then ", "; fi", n) },
	"pipeline":            func(n int) string { return "cat a" + times(" | grep b", n) },
	"texts":               func(n int) string { return times("cat <<E\na b\nE\n", n) },
	"assignments":         func(n int) string { return numbered("V%d=$V1; ", n) + "echo $V1" },
	"appended":            func(n int) string { return times("A+=xyz; ", n) + "echo $A" },
	"elements":            func(n int) string { return times("a+=(x); ", n) + "echo ${a[@]}" },
	"element by element":  func(n int) string { return times("a[1]=x; ", n) + "echo ${a[@]}" },
	"redirections":        func(n int) string { return "cat" + times(" <a >b", n) },
	"variables":           func(n int) string { return "echo " + times("$a", n) },
	"braces":              func(n int) string { return "echo " + times("{a,b}", n) },
	"patterns":            func(n int) string { return "rm " + times("*?[a-z] ", n) },
	"paths":               func(n int) string { return "rm " + numbered("d%d/f ", n) },
	"writes":              func(n int) string { return numbered("echo a > f%d; ", n) },
	"base64":              func(n int) string { return "echo " + times("YWJjZGVmZ2hpamtsbW5vcA", n) + " | base64 -d | sh" },
	"JSON":                func(n int) string { return "curl -d '[" + times(`{"a":"b","token":"c"},`, n) + "1]' http://a.example" },
	"SQL":                 func(n int) string { return `psql -c "` + times("select * from a where b = 'c'; ", n) + `"` },
	"parentheses in SQL":  func(n int) string { return `psql -c "select ` + times("(", n/2) + "1" + times(")", n/2) + `"` },
	"Python":              func(n int) string { return "python3 -c '" + times("x = open(\"a\").read()\n", n) + "'" },
	"functions":           func(n int) string { return numbered("f%d() { ls; }; ", n) + "f0" },
	"beginnings of keys":  func(n int) string { return "echo '" + times("-----BEGIN PRIVATE KEY-----\n", n) + "'" },
	"beginnings of codes": func(n int) string { return "echo " + times("http://a.example/?code=", n) },
	"processes":           func(n int) string { return times("sleep 1 & kill $!; ", n) },
	"remotes":             func(n int) string { return numbered("git remote add r%d https://a.example/b; ", n) },
	"statements of PS":    func(n int) string { return "PS" + times("$a = 'b'; ", n) },
	"strings of PS":       func(n int) string { return "PSiex \"" + times("`\"", n) + "\"" },
	"variables of PS":     func(n int) string { return "PSiex \"" + times("$env:A", n) + "\"" },
	"requests of PS":      func(n int) string { return "PS" + times("irm http://a.example/$env:A; ", n) },
	"blocks of PS":        func(n int) string { return "PS" + around("& { ", " }", n) },
	"tables of PS":        func(n int) string { return "PS" + around("@{a=", "}", n) },
	"commands of cmd":     func(n int) string { return `cmd /c "` + times("echo a & ", n) + `echo"` },
}

// TestLinear: a command of twice the length takes less than three times as long. It
// is the processor's time that counts, so that others at work do not matter; on one
// processor, since idle ones would collect memory in advance; and the best of some tries,
// since memory is collected at any time.
func TestLinear(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	c := &Classifier{World: nowhere(), MAC: classifytest.MAC, Rows: classifytest.Rows()}
	spent(t, c, "ls")
	for name, shape := range shapes {
		best := 0.0
		for try := 0; try < 6 && (try == 0 || best >= 3); try++ {
			once, twice := spent(t, c, shape(40<<10)), spent(t, c, shape(80<<10))
			ratio := float64(twice) / float64(max(once, 2*time.Millisecond))
			if best == 0 || ratio < best {
				best = ratio
			}
		}
		if best >= 3 {
			t.Errorf("%s: %.1f times as long for twice the length", name, best)
		}
	}
}

// spent is how long the processor works for a command.
func spent(t *testing.T, c *Classifier, command string) time.Duration {
	t.Helper()
	tool := "Bash"
	if code, ok := strings.CutPrefix(command, "PS"); ok {
		tool, command = "PowerShell", code
	}
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	begin := processorTime(t)
	e := engine.Event{Phase: engine.PhasePre, Tool: tool, Args: args, CWD: "/srv/shop"}
	if _, err := c.Classify(context.Background(), e, "/srv/shop"); err != nil {
		t.Fatal(err)
	}
	return processorTime(t) - begin
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
