package cases

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// Excerpt is a case that was cut out of a log, and what the log did not contain.
type Excerpt struct {
	Case Case
	Lost []string // each once, in the order in which it was found
}

// Cut makes a case from the records of one session up to number n, and expects the decision
// that was recorded for it. home is the person's home directory if the records do not show
// it. The machine is reconstructed from what was recorded about each call: paths that no
// call touched are missing.
func Cut(name, home string, records []*engine.Record, n int64) (Excerpt, error) {
	for _, r := range records {
		if r.N == n && r.Decision == nil {
			return Excerpt{}, fmt.Errorf("record %s contains no decision", r.ID())
		} else if r.N == n {
			return CutExpecting(name, home, records, n, Expect{Decision: r.Decision.Decision, RulesExactly: r.Decision.RuleIDs()})
		}
	}
	return Excerpt{}, fmt.Errorf("the session has no record %d", n)
}

// CutExpecting is Cut for callers that expect a decision of record n other than
// the recorded one, or whose records have no decisions, such as those of a transcript.
func CutExpecting(name, home string, records []*engine.Record, n int64, expect Expect) (Excerpt, error) {
	c := &cutter{calls: map[string]call{}, numbers: map[string]int{}, there: map[string]bool{}, git: map[string]string{}}
	c.out, c.last = Case{Name: name, Home: home, Workspace: noWorkspace}, n
	var last *engine.Record
	events := 0 // events before the last record
	for _, r := range records {
		if r.N > n {
			break
		}
		last, events = r, len(c.out.Events)
		if r.Harness != "" && r.Harness != Harness {
			c.out.Harness = r.Harness
		}
		c.take(r)
	}
	switch {
	case last == nil || last.N != n:
		return Excerpt{}, fmt.Errorf("the session has no record %d", n)
	case len(c.out.Events) == events:
		return Excerpt{}, fmt.Errorf("a case cannot represent record %s", last.ID())
	}
	c.out.Events[events].Expect = &expect
	if len(c.git) > 0 {
		c.out.Git = c.git
	}
	return Excerpt{c.out, c.lost}, nil
}

// cutter converts a session's records to events.
type cutter struct {
	out       Case
	last      int64 // number of the record that has the expectations
	lost      []string
	now       time.Time
	begun     bool
	mode, cwd string
	calls     map[string]call // by the agent's id
	numbers   map[string]int  // of calls, by the id of their record
	there     map[string]bool // short path -> exists, at this point of the session
	git       map[string]string
}

// call is a call that was made.
type call struct {
	number int
	args   map[string]any
}

func (c *cutter) lose(what string) {
	if !slices.Contains(c.lost, what) {
		c.lost = append(c.lost, what)
	}
}

func (c *cutter) take(r *engine.Record) {
	if c.now.IsZero() {
		c.begin(r)
	}
	if r.Answer != nil && r.Answer.Mode == engine.ModeDuplicate {
		return
	}
	if r.Event != nil && r.Event.Standing != nil {
		c.lose("the text of instruction files") // only what they forbid is recorded
	}
	e, told := c.event(r)
	if !told {
		return
	}
	c.machine(r)
	e.At = c.advance(r.T)
	c.follow(&e, r)
	c.out.Events = append(c.out.Events, e)
	if e.Tool != "" {
		c.now = c.now.Add(time.Millisecond) // as Steps does
	}
}

// begin sets the initial state of the case.
func (c *cutter) begin(r *engine.Record) {
	c.now = time.UnixMilli(r.T).UTC()
	c.out.Now = c.now.Format(time.RFC3339Nano)
	switch {
	case r.Kind != engine.KindOpen:
		c.lose("how the session began")
	case r.Open != nil && r.Open.Workspace != "":
		c.out.Workspace, c.cwd = r.Open.Workspace, r.Open.Workspace
	}
}

// advance returns how long after the previous event something happened.
func (c *cutter) advance(ms int64) string {
	t := time.UnixMilli(ms).UTC()
	after := max(0, t.Sub(c.now))
	c.now = c.now.Add(after)
	if after == time.Second {
		return ""
	}
	return "+" + after.String()
}

// follow notes the agent's directory and mode, and which agent it is.
func (c *cutter) follow(e *Event, r *engine.Record) {
	if r.Agent != "" && r.Agent != engine.MainAgent {
		e.Agent = r.Agent
	}
	if r.Event == nil {
		return
	}
	if r.Event.Says != nil {
		c.lose("the agent's last message") // only what it claims is recorded
	}
	if cwd := r.Event.CWD; cwd != "" && cwd != c.cwd {
		c.cwd, e.CWD = cwd, cwd
	}
	if mode := r.Event.Mode; mode != "" && mode != c.mode {
		c.mode, e.Mode = mode, mode
	}
}

// event converts a record to an event; false: the case has no event for it.
func (c *cutter) event(r *engine.Record) (Event, bool) {
	switch {
	case r.Kind == engine.KindControl:
		return c.choice(r.Control)
	case r.Kind == engine.KindPre && r.Event != nil:
		args := c.arguments(r)
		if r.Event.Tool == "" {
			return Event{}, false
		}
		c.calls[r.Call] = call{len(c.calls) + 1, args}
		c.numbers[r.ID()] = len(c.calls)
		return Event{Tool: r.Event.Tool, Args: args, Tokens: tokensBefore(r)}, true
	case r.Kind == engine.KindPost && r.Event != nil:
		return c.result(r)
	case r.Kind == engine.KindPrompt:
		c.lose("the text of prompts")
		return Event{Prompt: "(not recorded)", Tokens: tokensBefore(r)}, true
	case r.Phase == engine.PhaseStart && !c.begun:
		c.begun = true // every case starts with this event
		return Event{}, false
	case slices.Contains(Event{}.Vocabulary("phase"), string(r.Phase)):
		return Event{Phase: string(r.Phase)}, true
	}
	return Event{}, false
}

// tokensBefore returns how many tokens the model wrote before an event.
func tokensBefore(r *engine.Record) int {
	if r.Event == nil || r.Event.Usage == nil {
		return 0
	}
	return int(r.Event.Usage.Tokens)
}

func (c *cutter) choice(by *engine.Control) (Event, bool) {
	const unsaid = "not said"
	if by == nil {
		return Event{}, false
	}
	switch by.Do {
	case engine.ControlStop:
		return Event{Stop: cmp.Or(by.Reason, unsaid)}, true
	case engine.ControlResume:
		return Event{Resume: cmp.Or(by.Reason, unsaid), With: by.Mode}, true
	case engine.ControlRestore:
		return Event{Restore: cmp.Or(by.Reason, unsaid)}, true
	}
	word, allows := strings.CutPrefix(by.Do, "allow_")
	of := c.numbers[by.Record]
	if !allows || of == 0 {
		return Event{}, false
	}
	e := Event{Allow: word}
	if of != len(c.calls) {
		e.Call = of
	}
	return e, true
}

// longCall is the duration in milliseconds from which on a case has it: shorter ones only differ from run
// to run.
const longCall = 1000

// result converts the result of a call to an event.
func (c *cutter) result(r *engine.Record) (Event, bool) {
	of, known := c.calls[r.Call]
	if !known {
		c.lose("the call of a recorded result")
		return Event{}, false
	}
	e := Event{Result: &Result{}}
	if of.number != len(c.calls) {
		e.Call = of.number
	}
	if facts := r.Event.Result; facts != nil {
		if facts.Outcome == engine.OutcomeFailed {
			e.Result.Failed = cmp.Or(facts.Class, failedResult)
		}
		if facts.MS >= longCall {
			e.Result.MS = int(facts.MS)
		}
		if facts.Content != nil && facts.Content.Bytes > 0 {
			c.lose("the results of calls")
		}
	}
	if args := c.arguments(r); len(args) > 0 && !reflect.DeepEqual(args, of.args) {
		e.Result.Args = args
	}
	if before := &c.out.Events[len(c.out.Events)-1]; before.Tool != "" && e.Call == 0 && e.Result.Args == nil && r.N != c.last {
		before.Result = e.Result // it belongs to its call: a blocked call has no result
		return Event{}, false
	}
	return e, true
}

// arguments returns the arguments as far as they were recorded. Texts that were not
// recorded have their original length.
func (c *cutter) arguments(r *engine.Record) map[string]any {
	raw, err := json.Marshal(r.Event.Args)
	var args map[string]any
	if err != nil || json.Unmarshal(raw, &args) != nil {
		c.lose("the arguments of a call")
		return nil
	}
	for key, v := range args {
		args[key] = c.argument(r.Event.Tool, v)
	}
	for _, cut := range r.Cut {
		if strings.HasPrefix(cut.Field, "event.args") {
			c.lose("the end of long arguments")
		}
	}
	return args
}

func (c *cutter) argument(tool string, v any) any {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, "REDACTED_") {
			c.lose("secrets")
		}
	case []any:
		for i := range v {
			v[i] = c.argument(tool, v[i])
		}
	case map[string]any:
		if text, isContent := filler(v); isContent {
			c.lose("the texts passed to " + tool)
			return text
		}
		for key := range v {
			v[key] = c.argument(tool, v[key])
		}
	}
	return v
}

// filler stands for a string of which only the size is known.
func filler(facts map[string]any) (string, bool) {
	const most = 10_000
	bytes, sized := facts["bytes"].(float64)
	lines, counted := facts["lines"].(float64)
	if _, mac := facts["mac"]; !sized || !counted || !mac && bytes > 0 {
		return "", false
	}
	n, rows := int(min(bytes, most)), int(min(lines, most))
	if n == 0 {
		return "", true
	}
	return strings.Repeat("x\n", min(rows, n/2)) + strings.Repeat("x", max(0, n-2*rows)), true
}

// machine notes what existed when an event happened.
func (c *cutter) machine(r *engine.Record) {
	if r.Action == nil || r.Kind != engine.KindPre {
		return
	}
	c.code(r)
	if slices.Contains(r.Action.Signals, engine.SignalOwnForge) {
		c.lose("the remotes of the repository")
	}
	for _, e := range r.Action.Effects {
		pushes := e.Kind == engine.EffectNetwork && e.Egress && e.Command >= 0 && r.Action.Commands[e.Command].Name == "git"
		if pushes || strings.HasSuffix(e.Object, "remote") {
			c.lose("the remotes of the repository")
		}
		if e.Host != "" || e.Short == "" {
			continue
		}
		if e.Certainty == engine.CertaintyGlob {
			c.lose("what patterns such as " + e.Short + " matched")
		}
		if e.Certainty != engine.CertaintyExact {
			continue
		}
		c.home(e)
		c.state(e)
		c.exists(e)
	}
}

// code notes that a call runs commands that are in files, whose texts are not recorded.
func (c *cutter) code(r *engine.Record) {
	if r.Event == nil {
		return
	}
	raw, err := json.Marshal(r.Event.Args)
	hidden := func(cmd engine.Command) bool { return !strings.Contains(string(raw), cmd.Name) }
	if err == nil && slices.ContainsFunc(r.Action.Commands, hidden) {
		c.lose("the contents of the files that it runs")
	}
}

func (c *cutter) home(e engine.Effect) {
	if rest, ok := strings.CutPrefix(e.Short, "~"); ok {
		if home, ok := strings.CutSuffix(e.Target, rest); ok && path.IsAbs(home) {
			c.out.Home = home
		}
	}
}

func (c *cutter) state(e engine.Effect) {
	if e.Git == "" {
		return
	}
	name := placeOf(e)
	if before := c.git[name]; before != "" && before != e.Git {
		c.lose("the first state of " + name + " in git (" + before + ")")
	}
	c.git[name] = e.Git
}

// placeOf returns a path in the notation of cases.
func placeOf(e engine.Effect) string {
	return strings.TrimPrefix(path.Clean(e.Short), "./")
}

func (c *cutter) exists(e engine.Effect) {
	if e.Exists == "" {
		return
	}
	if c.out.Files == nil {
		c.out.Files = map[string]File{}
	}
	name := placeOf(e)
	is := e.Exists == "yes"
	was, known := c.there[name]
	c.there[name] = is
	switch {
	case known && was && !is:
		c.lose("the deletion of " + name)
	case !is || known && was:
	case !known:
		c.out.Files[name] = c.file(e, name)
		c.filled(e, name)
	default:
		before := &c.out.Events[len(c.out.Events)-1]
		if before.Files == nil {
			before.Files = map[string]File{}
		}
		before.Files[name] = c.file(e, name)
	}
}

// filled puts a file into a folder whose deletion was recorded as a loss: deleting an empty
// folder is not one.
func (c *cutter) filled(e engine.Effect, name string) {
	lost := slices.Contains([]engine.Reversibility{"", engine.R4, engine.R5}, e.Reversibility)
	if e.Entry != "dir" || e.Kind != engine.EffectFileDelete || !lost {
		return
	}
	delete(c.out.Files, name)
	inside := path.Join(name, "file")
	if c.out.Files[inside] = (File{}); e.Git != "" {
		c.git[inside] = e.Git
	}
}

func (c *cutter) file(e engine.Effect, name string) File {
	switch e.Entry {
	case "dir":
		if e.Kind != engine.EffectFileRead { // deleting an empty one is hardly a loss
			c.lose("the contents of folders")
		}
		return File{Folder: true}
	case "link":
		c.lose("the target of the link " + name)
	default:
		c.lose("the contents of files")
	}
	return File{}
}
