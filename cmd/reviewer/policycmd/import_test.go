package policycmd

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/foreign"
	"github.com/agent-reviewer/reviewer/bundles/safeclaw"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring/wiringtest"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// simulator is SafeClaw's own, as its description has it, for policies of which
// it is known what they mean there.
type simulator struct {
	DefaultEffect string
	Rules         []struct {
		Effect    string
		Condition map[string]any
		Schedule  *struct {
			HoursUtc   []float64
			DaysOfWeek []int
		}
		ExpiresAt string
	}
}

func (s *simulator) answer(actionType, resource string, now time.Time) string {
	for _, r := range s.Rules {
		if end, err := time.Parse(time.RFC3339, r.ExpiresAt); err == nil && !now.Before(end) {
			continue
		}
		if c := r.Schedule; c != nil {
			if len(c.DaysOfWeek) > 0 && !slices.Contains(c.DaysOfWeek, int(now.UTC().Weekday())) {
				continue
			}
			if h := float64(now.UTC().Hour()); len(c.HoursUtc) == 2 && !inHours(h, c.HoursUtc[0], c.HoursUtc[1]) {
				continue
			}
		}
		if holds(r.Condition, actionType, resource) {
			return r.Effect
		}
	}
	return s.DefaultEffect
}

func inHours(h, start, end float64) bool {
	if start > end {
		return h >= start || h < end
	}
	return h >= start && h < end
}

func holds(c map[string]any, actionType, resource string) bool {
	if list, ok := c["any"].([]any); ok {
		return slices.ContainsFunc(list, func(p any) bool { return predicateHolds(p.(map[string]any), actionType, resource) })
	}
	if list, ok := c["all"].([]any); ok {
		return !slices.ContainsFunc(list, func(p any) bool { return !predicateHolds(p.(map[string]any), actionType, resource) })
	}
	return predicateHolds(c, actionType, resource)
}

func predicateHolds(p map[string]any, actionType, resource string) bool {
	var value string
	switch p["field"] {
	case "action.type":
		value = actionType
	case "action.resource":
		value = resource
	default:
		return false
	}
	if list, ok := p["value"].([]any); ok {
		return p["operator"] == "in" && slices.Contains(list, any(value))
	}
	text, ok := p["value"].(string)
	if !ok {
		return false
	}
	switch p["operator"] {
	case "eq":
		return value == text
	case "startsWith":
		return strings.HasPrefix(value, text)
	case "contains":
		return strings.Contains(value, text)
	case "in":
		return slices.Contains(strings.Split(text, ","), value)
	case "matches":
		return patterns[text](value)
	}
	return false
}

// patterns of JavaScript, with what they find, written by hand.
var patterns = map[string]func(string) bool{
	`^git (push|pull)`: func(s string) bool { return strings.HasPrefix(s, "git push") || strings.HasPrefix(s, "git pull") },
	`\.env$`:           func(s string) bool { return strings.HasSuffix(s, ".env") },
	`^\/etc\/.*`:       func(s string) bool { return strings.HasPrefix(s, "/etc/") },
	`[^\x00-\x7f]`:     func(s string) bool { return strings.ContainsFunc(s, func(r rune) bool { return r > 0x7f }) },
	`^\S+$`: func(s string) bool {
		return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r == '\ufeff' || strings.ContainsRune(" \t\n\v\f\r\u00a0\u2028", r) })
	},
	`^.$`:    func(s string) bool { return len([]rune(s)) == 1 && !strings.ContainsAny(s, "\n\r\u2028\u2029") },
	`a{,2}`:  func(s string) bool { return strings.Contains(s, "a{,2}") },
	`(a+)+$`: func(string) bool { return false }, // the guard refuses it
	`^(?:rm|RM)\b`: func(s string) bool {
		return (strings.HasPrefix(s, "rm") || strings.HasPrefix(s, "RM")) && (len(s) == 2 || !wordByte(s[2]))
	},
	`"quoted\\'`:    func(s string) bool { return strings.Contains(s, `"quoted\'`) },
	`\u00e4|\xfc|ö`: func(s string) bool { return strings.ContainsAny(s, "äüö") },
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z'
}

// safeclawWords are types and resources that the predicates are about, with
// what makes trouble in between.
func safeclawWords() (types, resources []string) {
	types = []string{"safe.read.file", "safe.read.grep", "filesystem.write", "code.exec", "code.exec.kill", "network.http", "mcp.github.create_issue", "agent.subagent", "unknown.Foo", "code"}
	resources = []string{"", "ls", "git push origin", "git pulling", "/etc/passwd", "a/.env", "a.env.b", "rm", "rm -rf /", "rmdir x", "a{,2}", "ä", "xöx", "\n", "\v", "\ufeff", "\u2028", "a b", "\"quoted\\'", "'", "\\", "\x00\x01", "aaa", "😀", "*", "safe.*", "${x}"}
	return types, resources
}

func randomPredicate(g *rand.Rand) map[string]any {
	types, resources := safeclawWords()
	p := map[string]any{"field": "action.type", "operator": wiringtest.Pick(g, "eq", "startsWith", "contains", "in", "in", "Eq", "matches")}
	words := types
	if g.IntN(2) == 0 {
		p["field"], words = "action.resource", resources
	}
	if g.IntN(20) == 0 {
		p["field"] = wiringtest.Pick(g, "principal.id", "type", "")
	}
	word := func() string {
		w := []rune(wiringtest.Pick(g, words...))
		return string(w[:g.IntN(len(w)+1)])
	}
	p["value"] = word()
	switch p["operator"] {
	case "matches":
		var all []string
		for source := range patterns {
			all = append(all, source)
		}
		slices.Sort(all)
		p["value"] = wiringtest.Pick(g, all...)
	case "in":
		p["value"] = []any{wiringtest.Pick(g, words...), wiringtest.Pick(g, words...), 5.0, word()}
		if g.IntN(3) == 0 {
			p["value"] = wiringtest.Pick(g, types...) + "," + wiringtest.Pick(g, types...)
		}
	case "eq":
		p["value"] = wiringtest.Pick(g, words...)
		if g.IntN(10) == 0 {
			p["value"] = []any{7.0, nil, true}[g.IntN(3)]
		}
	}
	return p
}

func randomCondition(g *rand.Rand) map[string]any {
	list := []any{}
	for range g.IntN(4) {
		list = append(list, any(randomPredicate(g)))
	}
	switch g.IntN(5) {
	case 0, 1:
		return map[string]any{"any": list}
	case 2, 3:
		return map[string]any{"all": list}
	}
	return randomPredicate(g)
}

// randomSafeclaw is a policy whose meaning is known.
func randomSafeclaw(g *rand.Rand) map[string]any {
	effects := []string{"allow", "deny", "require_approval"}
	hours := []float64{0, 6, 9, 17, 22, 23}
	rules := []any{}
	for range g.IntN(6) {
		r := map[string]any{"id": wiringtest.Pick(g, "a", "b", "A b", "default", ""), "effect": wiringtest.Pick(g, effects...), "condition": randomCondition(g)}
		if g.IntN(3) == 0 {
			s := map[string]any{}
			if g.IntN(3) > 0 {
				s["hoursUtc"] = []any{hours[g.IntN(len(hours))], hours[g.IntN(len(hours))]}
			}
			if g.IntN(3) > 0 {
				s["daysOfWeek"] = []any{g.IntN(7), g.IntN(7)}
			}
			r["schedule"] = s
		}
		if g.IntN(4) == 0 {
			r["expiresAt"] = wiringtest.Pick(g, "2027-01-01T00:00:00Z", "2027-01-01T02:00:00.5+02:00", "2030-06-01T12:00:00Z", "")
		}
		rules = append(rules, r)
	}
	return map[string]any{"name": "Random", "defaultEffect": wiringtest.Pick(g, effects...), "rules": rules}
}

// An imported policy of SafeClaw answers as its simulator does, for every type,
// resource and time: 40 generated policies, 150 with REVIEWER_EVERY=1 (`make
// fidelity`).
func TestImportedSafeclawAnswers(t *testing.T) {
	g := rand.New(rand.NewPCG(7, 11))
	const lists = 60
	var sims []simulator
	var files []string
	for n := range lists {
		raw, err := json.Marshal(randomSafeclaw(g))
		if err != nil {
			t.Fatal(err)
		}
		var s simulator
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		p, err := safeclaw.Import("policy.json", raw, cel.Validate)
		if err != nil {
			t.Fatalf("%v\n%s", err, raw)
		}
		if p.Counts.Left > 0 {
			t.Fatalf("something was not converted: %+v\n%s", p.Remarks, raw)
		}
		p.List.ID = fmt.Sprintf("list%d", n)
		content, err := p.YAML("made of", string(raw))
		if err != nil {
			t.Fatal(err)
		}
		sims, files = append(sims, s), append(files, "access/"+p.List.ID+".yaml", string(content))
	}
	policy := wiringtest.PolicyOf(t, wiringtest.LayerOf("user", files...))
	types, resources := safeclawWords()
	asked, held := 0, 0
	count := sweep.Count(t, "actions asked of SafeClaw's lists")
	for range sweep.Some(40, 150) {
		count.Add(1)
		at := time.Date(2026, 12, 28+g.IntN(5), g.IntN(24), g.IntN(60), 0, 0, time.UTC)
		if g.IntN(5) == 0 {
			at = time.Date(2027, 1, 1, 0, 0, 0, (g.IntN(3)-1)*int(time.Millisecond), time.UTC)
		}
		actionType, resource := wiringtest.Pick(g, types...), wiringtest.Pick(g, resources...)
		said := listAnswers(t, policy, actionType, resource, at)
		for n := range sims {
			want := sims[n].answer(actionType, resource, at)
			got := said[fmt.Sprintf("list%d", n)]
			if got == "" {
				got = "allow"
			}
			asked++
			if got != "allow" {
				held++
			}
			if got != want {
				t.Fatalf("%s %q at %s: the list says %s, SafeClaw %s\n%s", actionType, resource, at, got, want, files[2*n+1])
			}
		}
	}
	if held < asked/10 || held > asked*9/10 {
		t.Errorf("%d of %d answers were held up: the policies ask for too little", held, asked)
	}
}

// listAnswers is what each access list says about a call that does nothing else.
func listAnswers(t *testing.T, p *review.Policy, actionType, resource string, at time.Time) map[string]string {
	t.Helper()
	r := &engine.Record{Phase: engine.PhasePre, T: at.UnixMilli(), Harness: "claude-code", Event: &engine.EventFacts{Tool: "Any"},
		Action: &engine.Action{Name: actionType, Resource: resource, Types: []engine.Type{engine.TypeMessage}, Intent: engine.TypeMessage}}
	return recordAnswers(t, p, r, "/srv/shop")
}

func recordAnswers(t *testing.T, p *review.Policy, r *engine.Record, workspace string) map[string]string {
	t.Helper()
	in := history.NewInput(r, &history.State{Workspace: workspace}, p.View)
	found, err := p.Matcher.Match(context.Background(), &in)
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Decider.Decide(context.Background(), &in, found) // a Review cuts the list of rules that fired
	if err != nil || len(d.Errors) > 0 {
		t.Fatalf("%s %q: %v, %v", r.Action.Name, r.Action.Resource, err, d.Errors)
	}
	words := map[engine.Verdict]string{engine.Block: "deny", engine.Ask: "require_approval"}
	said := map[string]string{}
	for _, r := range d.Rules {
		if rest, ok := strings.CutPrefix(r.ID, "access."); ok {
			list, _, _ := strings.Cut(rest, ".")
			said[list] = words[r.Decision]
		}
	}
	return said
}

// Names in remarks are those that the classifier gives.
func TestSafeclawRenamed(t *testing.T) {
	mac, err := cli.PassingMAC()
	if err != nil {
		t.Fatal(err)
	}
	c := &classify.Classifier{World: classify.System{Home: "/home/anna"}, MAC: mac, Rows: bundles.BuiltInRows()}
	for tool, want := range safeclaw.Renamed() {
		f, err := c.Classify(context.Background(), engine.Event{Phase: engine.PhasePre, Tool: tool, Args: json.RawMessage("{}"), CWD: "/srv/shop"}, "/srv/shop")
		if err != nil || f.Action.Name != want {
			t.Errorf("%s is %v (%v), the remark says %s", tool, f.Action, err, want)
		}
	}
}

// A literal means its text.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", `"`, `\`, "\n\r\t\x00\x7f", "ä😀\u2028\ufeff", `\u0041`, "'\"\"\"", "{x}", "�"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "?")
		if len(s) > 1000 {
			return
		}
		host, err := cel.Compile([]cel.Condition{{ID: "same", When: "action.resource == " + foreign.Quote(s)}})
		if err != nil {
			t.Fatal(err)
		}
		for resource, want := range map[string]int{s: 1, s + "x": 0} {
			found, err := host.Match(context.Background(), &engine.Input{Phase: engine.PhasePre, Action: engine.Action{Resource: resource}})
			if err != nil || len(found) != want || want == 1 && found[0].Error != "" {
				t.Errorf("%q == %s: %v, %v", resource, foreign.Quote(s), found, err)
			}
		}
	})
}
