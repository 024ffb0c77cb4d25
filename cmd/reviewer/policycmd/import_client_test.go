package policycmd

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/permissions"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring/wiringtest"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// clientRule is a permission rule of Claude Code.
type clientRule struct{ key, tool, spec string }

func (r clientRule) String() string {
	if r.spec == "" {
		return r.tool
	}
	return r.tool + "(" + r.spec + ")"
}

// clientPart is one command of a compound one, before it is written.
type clientPart struct {
	assigns, wrappers, words []string
	redirection              string
	nested                   bool // in a subshell, a loop or a substitution
}

func (p clientPart) String() string {
	return strings.Join(slices.Concat(p.assigns, p.wrappers, p.words), " ") + p.redirection
}

// clientCall is a command with the parts that Claude Code compares, and what stands for
// them in the text.
type clientCall struct {
	text  string
	parts []clientPart
}

// matches reports whether a text is what a rule for Bash describes: a final :* or " *"
// requires the end of a word, any other * stands for any text.
func (r clientRule) matches(text string) bool {
	pattern := strings.TrimSuffix(r.spec, ":*")
	if pattern == r.spec {
		pattern = strings.TrimSuffix(r.spec, " *")
	}
	expr := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*")
	if pattern != r.spec {
		expr += "( .*)?"
	}
	return regexp.MustCompile("(?s)^(" + expr + ")$").MatchString(text)
}

// texts lists what a rule is compared with: rules that deny or ask see the command
// without its variables, too; every rule sees it without the wrappers that start it.
func (p clientPart) texts(allow bool) []string {
	var all []string
	for n := range len(p.wrappers) + 1 {
		text := strings.Join(slices.Concat(p.wrappers[n:], p.words), " ")
		if len(p.assigns) == 0 || !allow {
			all = append(all, text)
		}
		if n == 0 {
			all = append(all, strings.Join(append(slices.Clone(p.assigns), text), " "))
		}
	}
	return all
}

// launches reports whether a command runs others: a rule with a * never allows it.
func (p clientPart) launches() bool {
	return slices.Contains([]string{"watch", "setsid"}, p.words[0]) || p.words[0] == "find" && slices.Contains(p.words, "-exec")
}

// answer is Claude Code's for a command: deny before ask before allow. A rule that
// allows has to match each part, and what else the call has is examined elsewhere.
func (c clientCall) answer(rules []clientRule) string {
	for _, key := range []string{"deny", "ask"} {
		for _, r := range rules {
			if r.key == key && slices.ContainsFunc(c.parts, func(p clientPart) bool {
				return r.tool == "Bash" && (r.spec == "" || r.spec == "*" || slices.ContainsFunc(p.texts(false), r.matches))
			}) {
				return key
			}
		}
	}
	for _, p := range c.parts {
		if !slices.ContainsFunc(rules, func(r clientRule) bool {
			if r.key != "allow" || r.tool != "Bash" {
				return false
			}
			return r.spec == "" || r.spec == "*" || !p.nested && p.redirection == "" && !(p.launches() && strings.Contains(r.spec, "*")) &&
				slices.ContainsFunc(p.texts(true), r.matches)
		}) {
			return ""
		}
	}
	return "allow"
}

// clientGrammar makes commands and rules out of the same few words, so that they meet.
type clientGrammar struct{ *rand.Rand }

func (g clientGrammar) word() string {
	return wiringtest.Pick(g.Rand, "push", "pushy", "--force", "--force-with-lease", "-f", "-rf", "-rfv", "origin", "main", "test", "test:unit", "run", "publish",
		"get", "delete", "x", "ü", "a:b", "'a && b'", `"q; rm -rf x"`, `"it's"`, "-exec", "$HOME", "'*'", "a=b", "[x]", "?")
}

func (g clientGrammar) part() clientPart {
	p := clientPart{words: []string{wiringtest.Pick(g.Rand, "git", "git", "rm", "rm", "npm", "npm", "kubectl", "ls", "lsof", "find", "./run.sh", "watch", "sudo", "env", "docker", "echo")}}
	for range g.IntN(4) {
		p.words = append(p.words, g.word())
	}
	if g.IntN(8) == 0 {
		p.assigns = []string{wiringtest.Pick(g.Rand, "X=1", "NODE_ENV=test", "A='b c'")}
	}
	if g.IntN(6) == 0 {
		p.wrappers = append(p.wrappers, wiringtest.Pick(g.Rand, "timeout 5", "timeout -k 2 1.5m", "time", "nice", "nice -n 5", "nohup", "stdbuf -oL", "command", "builtin", "noglob", "xargs"))
		if g.IntN(4) == 0 {
			p.wrappers = append(p.wrappers, wiringtest.Pick(g.Rand, "nohup", "timeout 7", "nice -n 3"))
		}
		if p.assigns != nil && p.wrappers[0] == "time" {
			p.wrappers[0] = "nohup" // after a variable, time is not the shell's
		}
	}
	if g.IntN(10) == 0 {
		p.redirection = wiringtest.Pick(g.Rand, " > out", " < in", " >> a", " 2> /dev/null")
	}
	return p
}

func (g clientGrammar) call() clientCall {
	var c clientCall
	for n := range 1 + max(0, g.IntN(5)-2) {
		if n > 0 {
			c.text += wiringtest.Pick(g.Rand, " && ", " || ", "; ", " | ", " |& ", " & ", "\n", "&&", ";")
		}
		p := g.part()
		text := p.String()
		if g.IntN(12) == 0 {
			p.nested = true
			text = fmt.Sprintf(wiringtest.Pick(g.Rand, "(%s)", "{ %s; }", "if true; then %s; fi", "for i in 1; do %s; done"), text)
			if strings.HasPrefix(text, "if") {
				c.parts = append(c.parts, clientPart{words: []string{"true"}, nested: true})
			}
		}
		c.text, c.parts = c.text+text, append(c.parts, p)
		if g.IntN(20) == 0 {
			inner := g.part()
			inner.nested = true
			outer := "echo $(" + inner.String() + ")"
			c.text += "; " + outer
			c.parts = append(c.parts, inner, clientPart{words: strings.Fields(outer), nested: true})
		}
	}
	return c
}

func (g clientGrammar) rule() clientRule {
	r := clientRule{key: wiringtest.Pick(g.Rand, "deny", "ask", "allow"), tool: "Bash"}
	p := g.part()
	words := p.words
	if g.IntN(8) == 0 {
		words = append(slices.Clone(p.wrappers), words...)
	}
	if g.IntN(4) == 0 {
		words[g.IntN(len(words))] = "*"
	}
	r.spec = strings.Join(words, " ")
	switch g.IntN(12) {
	case 0, 1, 2:
		r.spec += " *"
	case 3, 4:
		r.spec += ":*"
	case 5, 6:
		r.spec += "*"
	case 7:
		r.spec = r.spec[:strings.LastIndexAny(r.spec[:len(r.spec)-1], "abcdefghijklmnopqrstuvwxyz-")+1] + "*"
	case 8:
		r.spec = "* " + words[len(words)-1]
	case 9:
		r.spec = wiringtest.Pick(g.Rand, "", "*", ":*", "()", "git:* push", "rm -rf && ls", `git \*`, " ls", "ls ", "* *", "git * x:*", "ls > *", "**", "X=1 *", "echo 'a*")
	}
	return r
}

// importedRules are rules, the list that they become, and those that it stands for.
type importedRules struct {
	rules   []clientRule
	effects map[string]string // of the list's rules, by finding
	file    string
}

// importClient imports rules, each on a line of its own, through the text of the list.
func importClient(t *testing.T, id string, rules []clientRule) *importedRules {
	t.Helper()
	raw := "{\n"
	var sorted []clientRule
	for _, key := range []string{"deny", "ask", "allow"} {
		var lines []string
		for _, r := range rules {
			if r.key == key {
				text, err := json.Marshal(r.String())
				if err != nil {
					t.Fatal(err)
				}
				lines, sorted = append(lines, string(text)), append(sorted, r)
			}
		}
		raw += fmt.Sprintf("%q: [%s]", key, strings.Join(lines, ",\n"))
		raw += map[string]string{"allow": "}"}[key] + map[bool]string{true: ",\n"}[key != "allow"]
		if len(lines) == 0 {
			sorted = append(sorted, clientRule{}) // the line of an empty list
		}
	}
	p, err := permissions.Import("settings.json", []byte(raw), false, cel.Validate)
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	left := map[int]bool{}
	for _, r := range p.Remarks {
		left[r.Line] = left[r.Line] || strings.Contains(r.Text, "is left out: ") && !strings.Contains(r.Text, "it never decides")
	}
	m := &importedRules{effects: map[string]string{}}
	for i, r := range sorted {
		if !left[i+2] {
			m.rules = append(m.rules, r)
		}
	}
	p.List.ID = id
	content, err := p.YAML()
	if err != nil {
		t.Fatal(err)
	}
	lists, err := bundles.ParseAccess("list.yaml", content)
	if err != nil {
		t.Fatalf("%v\n%s", err, content)
	}
	for _, r := range lists[0].Rules {
		m.effects[lists[0].FindingID(r.ID)] = map[string]string{"deny": "deny", "require_approval": "ask", "allow": "allow"}[r.Effect]
	}
	m.file = string(content)
	return m
}

// clientPolicy is a policy with the lists that rules become.
func clientPolicy(t *testing.T, sets [][]clientRule) (*review.Policy, []*importedRules) {
	t.Helper()
	var layer []string
	var all []*importedRules
	for n, rules := range sets {
		m := importClient(t, fmt.Sprintf("list%d", n), rules)
		layer, all = append(layer, fmt.Sprintf("access/list%d.yaml", n), m.file), append(all, m)
	}
	return wiringtest.PolicyOf(t, wiringtest.LayerOf("user", layer...)), all
}

// found is the answer of each list about a call, by the list's index.
func found(t *testing.T, p *review.Policy, c *classify.Classifier, lists []*importedRules, e engine.Event, workspace string) []string {
	t.Helper()
	f, err := c.Classify(context.Background(), e, workspace)
	if err != nil {
		t.Fatal(err)
	}
	in := history.NewInput(&engine.Record{Phase: engine.PhasePre, Harness: "claude-code", T: 1, Event: &f.Event, Action: f.Action}, &history.State{Workspace: workspace}, p.View)
	findings, err := p.Matcher.Match(context.Background(), &in)
	if err != nil {
		t.Fatal(err)
	}
	answers := make([]string, len(lists))
	for _, finding := range findings {
		if finding.Error != "" {
			t.Fatalf("%s: %s", finding.ID, finding.Error)
		}
		for n, m := range lists {
			if effect := m.effects[finding.ID]; effect != "" {
				answers[n] = effect
			}
		}
	}
	return answers
}

// An imported list answers as Claude Code's own rules do, without those that are named
// as left out: generated sets of rules for Bash and 500 generated commands, 5,000 with
// REVIEWER_EVERY=1 (`make fidelity`).
func TestImportedPermissionsAsTheClient(t *testing.T) {
	g := clientGrammar{rand.New(rand.NewPCG(3, 14))}
	var sets [][]clientRule
	for n := range 24 {
		var rules []clientRule
		for range 1 + n%6 {
			r := g.rule()
			if n%3 == 0 && len(rules) > 0 {
				r.key = rules[0].key
			}
			rules = append(rules, r)
		}
		sets = append(sets, rules)
	}
	policy, lists := clientPolicy(t, sets)
	mac, err := cli.PassingMAC()
	if err != nil {
		t.Fatal(err)
	}
	c := &classify.Classifier{World: classify.System{Home: "/home/anna"}, MAC: mac, Rows: bundles.BuiltInRows()}
	counts := map[string]int{}
	commands := sweep.Some(500, 5000)
	sweep.Count(t, "commands").Add(int64(commands))
	for i := range 5000 {
		call := g.call()
		if !sweep.Has(i, 10) {
			continue
		}
		got := found(t, policy, c, lists, wiringtest.Shell(call.text), "/srv/shop")
		for n, m := range lists {
			want := call.answer(m.rules)
			counts[want]++
			if got[n] != want {
				t.Fatalf("%q: the list says %q, Claude Code %q\n%v\n%s", call.text, got[n], want, m.rules, m.file)
			}
		}
	}
	for _, key := range []string{"deny", "ask", "allow", ""} {
		if counts[key] < commands/5 {
			t.Errorf("only %d of the answers are %q: the rules meet too few commands", counts[key], key)
		}
	}
}

// reaches reports whether a path is what a rule for files describes, as in .gitignore:
// below the rule's folder, or below what it matches there.
func (r clientRule) reaches(file, cwd string) bool {
	pattern, folder := r.spec, cwd+"/"
	for _, base := range [][2]string{{"//", "/"}, {"~/", "/home/anna/"}, {"/", "/srv/shop/"}, {"./", cwd + "/"}} {
		if rest, ok := strings.CutPrefix(pattern, base[0]); ok {
			pattern, folder = rest, base[1]
			break
		}
	}
	below, ok := strings.CutPrefix(file, folder)
	if !ok {
		return false
	}
	if !strings.ContainsAny(r.spec[:1], "~/") && !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern
	}
	return pathMatches(strings.Split(pattern, "/"), strings.Split(below, "/"))
}

// pathMatches reports whether a pattern matches a path or one of its folders.
func pathMatches(pattern, names []string) bool {
	switch {
	case len(pattern) == 0:
		return true
	case pattern[0] == "**" && len(pattern) == 1:
		return len(names) > 0
	case pattern[0] == "**":
		return pathMatches(pattern[1:], names) || len(names) > 0 && pathMatches(pattern, names[1:])
	case len(names) == 0:
		return false
	}
	ok, err := path.Match(pattern[0], names[0])
	return err == nil && ok && pathMatches(pattern[1:], names[1:])
}

// fileAnswer is Claude Code's answer for a tool and its file: rules for Edit apply to
// all tools that edit, those that keep from reading also to these.
func fileAnswer(rules []clientRule, tool, file, cwd string) string {
	for _, key := range []string{"deny", "ask", "allow"} {
		for _, r := range rules {
			applies := r.tool == "Edit" && tool != "Read" || r.tool == "Read" && (tool == "Read" || key != "allow")
			if r.key == key && applies && r.reaches(file, cwd) {
				return key
			}
		}
	}
	return ""
}

// Rules for files answer as in Claude Code, too: generated rules and 300 calls, 3,000
// with REVIEWER_EVERY=1.
func TestImportedPermissionsOfFilesAsTheClient(t *testing.T) {
	g := rand.New(rand.NewPCG(2, 71))
	name := func() string { return wiringtest.Pick(g, "a", "b", "src", "docs", "a.go", "b.md", ".env", "ab") }
	var sets [][]clientRule
	for range 30 {
		var rules []clientRule
		for range 1 + g.IntN(4) {
			r := clientRule{key: wiringtest.Pick(g, "deny", "ask", "allow"), tool: wiringtest.Pick(g, "Read", "Edit", "Edit", "Write", "Glob")}
			var parts []string
			for range 1 + g.IntN(3) {
				parts = append(parts, wiringtest.Pick(g, name(), name(), "*", "*.md", "[ab]", "?", "**"))
			}
			if parts[0] == "**" && len(parts) == 1 {
				parts = append(parts, name())
			}
			bases := []string{"//srv/shop/", "//", "~/", "/", "", "./"}
			if r.key == "allow" && len(parts) == 1 {
				bases = bases[:5] // ./name allows only in the folder itself: what more Claude Code allows is unknown
			}
			r.spec = wiringtest.Pick(g, bases...) + strings.Join(parts, "/")
			rules = append(rules, r)
		}
		sets = append(sets, rules)
	}
	policy, lists := clientPolicy(t, sets)
	mac, err := cli.PassingMAC()
	if err != nil {
		t.Fatal(err)
	}
	c := &classify.Classifier{World: classify.System{Home: "/home/anna"}, MAC: mac, Rows: bundles.BuiltInRows()}
	counts := map[string]int{}
	calls := sweep.Some(300, 3000)
	sweep.Count(t, "calls of file tools").Add(int64(calls))
	for i := range 3000 {
		tool, file := wiringtest.Pick(g, "Read", "Edit", "Write"), wiringtest.Pick(g, "/srv/shop/", "/srv/shop/", "/srv/shop/src/", "/home/anna/", "/home/bob/", "/", "/srv/")+name()
		for range g.IntN(3) {
			file += "/" + name()
		}
		e := files(tool, file)[0]
		e.CWD = wiringtest.Pick(g, "/srv/shop", "/srv/shop", "/srv/shop/src", "/srv/docs")
		if !sweep.Has(i, 10) {
			continue
		}
		got := found(t, policy, c, lists, e, "/srv/shop")
		for n, m := range lists {
			want := fileAnswer(m.rules, tool, file, e.CWD)
			counts[want]++
			if got[n] != want {
				t.Fatalf("%s %s in %s: the list says %q, Claude Code %q\n%v\n%s", tool, file, e.CWD, got[n], want, m.rules, m.file)
			}
		}
	}
	for _, key := range []string{"deny", "ask", "allow", ""} {
		if counts[key] < calls/5 {
			t.Errorf("only %d of the answers are %q: the rules meet too few files", counts[key], key)
		}
	}
}
