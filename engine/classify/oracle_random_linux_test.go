package classify

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// TestOracleRandom runs programs of a grammar in the sandbox: a command whose
// words come about in one of many ways, in one of many constructs, up to three
// deep. What it does must have been predicted. A sample of five hundred generated programs runs;
// all of them with REVIEWER_EVERY=1 (`make fidelity`).
func TestOracleRandom(t *testing.T) {
	box := newOracleBox(t)
	g := &shellGrammar{Rand: rand.New(rand.NewPCG(7, 11))}
	seen := map[string]bool{}
	var list []suiteCase
	for len(list) < 500 {
		if src := g.program(); !seen[src] {
			seen[src] = true
			list = append(list, suiteCase{fmt.Sprintf("program %d", len(list)), src})
		}
	}
	world, opaque := oracleWorld(t), 0
	for _, c := range list {
		if notUnderstood(oracleAction(t, world, c)) {
			opaque++
		}
	}
	if share := float64(opaque) / float64(len(list)); share > 0.2 {
		t.Errorf("%.2f of the programs are not understood, want 0.2 at most", share)
	}
	list = sweep.Nth(list, sweep.Some(8, 1))
	sweep.Count(t, "generated programs run in the sandbox").Add(int64(len(list)))
	tally := box.check(t, list)
	t.Logf("%d programs: something to predict in %d, not understood %d, ended %d, missing %d", tally.cases, tally.seen, tally.opaque, tally.late, tally.missing)
	if share := float64(tally.seen) / float64(tally.cases); share < 0.95 {
		t.Errorf("something was to be seen in %.2f of the programs, want 0.95: the grammar makes programs that do not work", share)
	}
}

// shellGrammar makes programs up.
type shellGrammar struct {
	*rand.Rand
	names int
}

func (g *shellGrammar) pick(list ...string) string { return list[g.IntN(len(list))] }

// name is a new name.
func (g *shellGrammar) name() string {
	g.names++
	return fmt.Sprintf("%s%d", g.pick("v", "x", "fn", "item"), g.names)
}

func (g *shellGrammar) program() string {
	g.names = 0
	src := g.statement(strings.Fields(g.pick("rm -rf /opt/x", "rm -f /opt/file", "rm -r /opt/y", "mv /opt/a /tmp/gone", "touch /opt/new",
		"mkdir -p /opt/p/q", "cp a /opt/copy", "git push origin", "truncate -s0 /etc/app.conf", "ln -s /opt/y /opt/name", "chmod 600 /opt/file")))
	for range g.IntN(3) {
		src = g.construct(src)
	}
	return src
}

// statement is a command, the words of which come about in some way.
func (g *shellGrammar) statement(words []string) string {
	v, w := g.name(), g.name()
	line, last := strings.Join(words, " "), len(words)-1
	head, tail := strings.Join(words[:last], " "), words[last]
	switch g.IntN(28) {
	case 0:
		return fmt.Sprintf("%s='%s'; $%s", v, line, v)
	case 1:
		return fmt.Sprintf("%s=(%s); \"${%s[@]}\"", v, line, v)
	case 2:
		return fmt.Sprintf("%s=(ls %s); \"${%s[@]:1}\"", v, line, v)
	case 3:
		return fmt.Sprintf("set -- %s; \"$@\"", line)
	case 4:
		return fmt.Sprintf("%s() { %s \"$1\"; }; %s %s", v, head, v, tail)
	case 5:
		return fmt.Sprintf("%s() { local %s=$1; shift; \"$@\" \"$%s\"; }; %s %s %s", v, w, w, v, tail, head)
	case 6:
		return fmt.Sprintf("printf -v %s '%%s ' %s; $%s", v, line, v)
	case 7:
		return fmt.Sprintf("read -r %s %s <<< '%s'; $%s $%s", v, w, line, v, w)
	case 8:
		return fmt.Sprintf("mapfile -t %s < <(printf '%%s\\n' %s); \"${%s[@]}\"", v, line, v)
	case 9:
		return fmt.Sprintf("IFS=, read -ra %s <<< '%s'; \"${%s[@]}\"", v, strings.Join(words, ","), v)
	case 10:
		return fmt.Sprintf("{%s}", strings.Join(words, ","))
	case 11:
		return fmt.Sprintf("$(echo %s) %s", head, tail)
	case 12:
		return fmt.Sprintf("%s=%s.bak; %s ${%s%%.bak}", v, tail, head, v)
	case 13:
		return fmt.Sprintf("%s='%s'; declare -n %s=%s; $%s", v, line, w, v, w)
	case 14:
		return fmt.Sprintf("%s='%s'; %s=%s; ${!%s}", v, line, w, v, w)
	case 15:
		return fmt.Sprintf("if [ -e /nowhere ]; then %s=ls; else %s='%s'; fi; $%s", v, v, head, v+" "+tail)
	case 16:
		return fmt.Sprintf("while read -r %s; do %s \"$%s\"; done <<< %s", v, head, v, tail)
	case 17:
		return fmt.Sprintf("for %s in %s; do %s \"$%s\"; done", v, tail, head, v)
	case 18:
		return fmt.Sprintf("echo %s | xargs %s", tail, head)
	case 19:
		return fmt.Sprintf("%s=([2]=%s [0]='%s'); ${%s[0]} ${%s[2]}", v, tail, head, v, v)
	case 20:
		return fmt.Sprintf("declare -A %s=([k]='%s' [l]=ls); ${%s[k]}", v, line, v)
	case 21:
		return fmt.Sprintf(": ${%s:=%s}; $%s", v, line, v)
	case 22:
		return fmt.Sprintf("%s='%s'; %s+=' %s'; $%s", v, head, v, tail, v)
	case 23:
		return fmt.Sprintf("exec 7<<< '%s'; read -r %s <&7; $%s", line, v, v)
	case 24:
		return fmt.Sprintf("set -- -o '%s'; while getopts o: %s; do $OPTARG; done", line, v)
	case 25:
		return fmt.Sprintf("%s=%s; %s \"${%s/#\\//\\/}\"", v, tail, head, v)
	case 26:
		return fmt.Sprintf("cd /; %s ./%s", head, strings.TrimPrefix(tail, "/"))
	}
	return fmt.Sprintf("%s=0; (( %s += 1 )); [[ $%s -eq 1 ]] && %s", v, v, v, line)
}

// construct is a piece of shell in which a statement runs.
func (g *shellGrammar) construct(src string) string {
	v := g.name()
	switch g.IntN(30) {
	case 0:
		return "( " + src + " )"
	case 1:
		return "{ " + src + "; }"
	case 2:
		return "if true; then " + src + "; fi"
	case 3:
		return "if false; then :; else " + src + "; fi"
	case 4:
		return v + "() { " + src + "; }; " + v
	case 5:
		return "eval " + shell.Quote(src)
	case 6:
		return "bash -c " + shell.Quote(src)
	case 7:
		return "bash <<'END'\n" + src + "\nEND"
	case 8:
		return "bash <<< " + shell.Quote(src)
	case 9:
		return "source <(printf '%s\\n' " + shell.Quote(src) + ")"
	case 10:
		return "printf '%s\\n' " + shell.Quote(src) + " | bash"
	case 11:
		return "echo " + base64.StdEncoding.EncodeToString([]byte(src+"\n")) + " | base64 -d | bash"
	case 12:
		return "bash -c " + shell.Quote("trap "+shell.Quote(src)+" EXIT; true")
	case 13:
		return "while true; do " + src + "; break; done"
	case 14:
		return "until false; do " + src + "; break; done"
	case 15:
		return "for ((" + v + "=0; " + v + "<1; " + v + "++)); do " + src + "; done"
	case 16:
		return "case " + v + " in " + v[:1] + "*) " + g.pick(src, ": ;& z) "+src, ": ;;& z) : ;& *) "+src, ": ;;& *) "+src) + ";; *) :;; esac"
	case 17:
		return src + " &\nwait"
	case 18:
		return v + "=$(" + src + "\n)"
	case 19:
		return ": \"${" + v + ":-$(" + src + "\n)}\""
	case 20:
		return "cat <(" + src + "\n) > /dev/null"
	case 21:
		return "[[ -z $(" + src + "\n) ]]"
	case 22:
		return "true && { " + src + "; }"
	case 23:
		return "false || { " + src + "; }"
	case 24:
		return "{ " + src + "; } | cat"
	case 25:
		return v + "=" + shell.Quote(src) + "; bash -c \"$" + v + "\""
	case 26:
		return v + "=" + shell.Quote(src) + "; export " + v + "; bash -c 'eval \"$" + v + "\"'"
	case 27:
		return "printf '%s\\n' " + shell.Quote(src) + " > /tmp/" + v + "; . /tmp/" + v
	case 28:
		return "printf '%s\\n' " + shell.Quote(src) + " > /tmp/" + v + "; chmod +x /tmp/" + v + "; bash /tmp/" + v
	}
	return "select " + v + " in a; do " + src + "; break; done <<< 1"
}
