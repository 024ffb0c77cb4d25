package classify

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/prompt"
)

// limits are the limits of one attempt to make facts fit. Strings are measured as JSON, in
// which one byte can take six.
type limits struct {
	resource int // bytes of the resource
	arg      int // bytes of each string among the arguments
	args     int // bytes of all arguments
	text     int // bytes of any other string
	join     int // effects, and commands: above it, effects that are the same for several files are joined
	effects  int
	commands int
	operands int // operands, flags and subcommands, each
	list     int // paths, hosts, contents, opaque pieces
	notes    int // notes of what was cut; if there are few, without MACs
	hashes   int // words and marks, each: losing some makes comparisons less precise, not wrong
}

// attempts are tried in order until the facts fit; the first ones cut nothing from a usual
// call. The last is small enough for any input.
var attempts = []limits{
	{512, 1024, 2048, 512, 40, 40, 24, 12, 40, 12, 64},
	{512, 1024, 2048, 512, 40, 40, 24, 12, 40, 12, 24},
	{512, 1024, 2048, 512, 40, 40, 24, 12, 40, 12, 12},
	{512, 512, 1024, 256, 40, 40, 24, 12, 40, 12, 12},
	{256, 256, 768, 200, 40, 40, 24, 12, 24, 12, 12},
	{256, 256, 512, 160, 24, 40, 24, 8, 16, 12, 8},
	{200, 160, 384, 120, 16, 40, 24, 6, 12, 12, 8},
	{160, 120, 256, 96, 12, 40, 24, 4, 8, 12, 8},
	{160, 120, 200, 96, 8, 40, 24, 4, 6, 12, 6},
	{120, 80, 160, 96, 4, 40, 24, 3, 4, 12, 6},
	{120, 80, 120, 72, 1, 40, 24, 2, 2, 4, 4},
	{80, 60, 100, 56, 1, 40, 24, 2, 1, 4, 4},
	{120, 80, 160, 96, 1, 16, 16, 4, 8, 12, 6},
	{160, 120, 256, 96, 1, 12, 12, 4, 8, 12, 4},
	{160, 120, 256, 96, 1, 8, 8, 4, 8, 12, 4},
	{120, 80, 160, 64, 1, 6, 6, 3, 6, 4, 4},
	{64, 40, 80, 48, 1, 4, 4, 2, 4, 4, 2},
	{40, 24, 0, 32, 1, 2, 2, 1, 2, 4, 2},
	{16, 0, 0, 12, 1, 1, 1, 0, 1, 2, 0},
	{0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0},
}

// shorten makes facts fit into limit bytes of JSON: event, action and the notes of what was
// cut. If effects or commands are left out, the action becomes opaque, so that it does not
// look completely known.
func shorten(f *engine.Facts, limit int, mac func([]byte) string) {
	first := cutter{m: attempts[0], mac: mac}
	var joined engine.Action
	if f.Action != nil {
		joined = *f.Action
		first.join(&joined)
	}
	for i, m := range attempts {
		short := *f
		c := cutter{m: m, mac: mac, cuts: slices.Clone(first.cuts)}
		c.event(&short.Event)
		if f.Action != nil {
			action := joined
			c.action(&action)
			short.Action = &action
		}
		short.Cut = c.cuts
		if sizeOf(&short) <= limit || i == len(attempts)-1 {
			*f = short
			return
		}
	}
}

func sizeOf(f *engine.Facts) int {
	n := jsonSize(f.Event) + len(`"event":,"action":,"cut":,`)
	if f.Action != nil {
		n += jsonSize(f.Action)
	}
	if len(f.Cut) > 0 {
		n += jsonSize(f.Cut)
	}
	return n
}

// jsonSize returns an upper bound for the encoded length: encoding/json escapes <, > and &
// where a record does not.
func jsonSize(v any) int {
	b, err := json.Marshal(v)
	if err != nil {
		return 1 << 30 // facts always encode; if not, they do not fit
	}
	return len(b)
}

// cutter shortens a copy of facts and records what it cut.
type cutter struct {
	m    limits
	mac  func([]byte) string
	cuts []engine.Cut
}

// maxCuts limits the notes: the last one stands for all further ones.
const maxCuts = 12

func (c *cutter) note(field string, size int, text string) {
	if last := c.m.notes - 1; len(c.cuts) > last {
		c.cuts = c.cuts[:c.m.notes]
		c.cuts[last] = engine.Cut{Field: "…", Bytes: c.cuts[last].Bytes + int64(size)}
		return
	}
	cut := engine.Cut{Field: head(field, 64), Bytes: int64(size)}
	if text != "" && c.m.notes == maxCuts {
		cut.MAC = c.mac([]byte(text))[:16]
	}
	c.cuts = append(c.cuts, cut)
}

// ellipsis ends a string that was cut.
const ellipsis = "…"

func (c *cutter) string(field, s string, limit int) string {
	if shortEnough(s, limit) {
		return s
	}
	c.note(field, len(s), s)
	return head(s, limit)
}

// head returns the beginning of s that takes at most limit bytes as JSON, with an ellipsis.
func head(s string, limit int) string {
	if shortEnough(s, limit) {
		return s
	}
	if limit < len(ellipsis) {
		return ""
	}
	n, end := len(ellipsis), 0
	for i, r := range s {
		if n += runeSize(r); n > limit {
			break
		}
		end = i + len(string(r))
	}
	return s[:min(end, len(s))] + ellipsis
}

// shortEnough reports whether s takes at most limit bytes as JSON. Most strings are much
// shorter and need not be counted.
func shortEnough(s string, limit int) bool {
	return len(s) <= limit/6 || len(s) <= limit && escapedSize(s) <= limit
}

func escapedSize(s string) int {
	n := 0
	for _, r := range s {
		n += runeSize(r)
	}
	return n
}

// runeSize returns the length of a character in JSON.
func runeSize(r rune) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t':
		return 2
	case r < 0x20 || r == 0x7f || r == '<' || r == '>' || r == '&' || r == 0x2028 || r == 0x2029 || r == 0xFFFD:
		return 6
	}
	return len(string(r))
}

func (c *cutter) event(e *engine.EventFacts) {
	t := c.m.text
	e.Name, e.Tool = c.string("event.name", e.Name, min(t, 64)), c.string("event.tool", e.Tool, min(t, 200))
	e.CWD, e.Mode = c.string("event.cwd", e.CWD, t), c.string("event.mode", e.Mode, min(t, 32))
	e.PromptID = c.string("event.prompt_id", e.PromptID, min(t, 64))
	e.Args = c.args(e.Args)
	if e.Prompt != nil {
		e.Prompt = c.content("event.prompt", *e.Prompt)
	}
	if e.Goal != nil {
		e.Goal = c.goal(*e.Goal)
	}
	if e.Says != nil {
		says := *e.Says
		says.Missing = c.names("event.says.missing", says.Missing)
		says.Commands = c.names("event.says.commands", says.Commands)
		says.Packages = c.names("event.says.packages", says.Packages)
		says.Symbols = c.names("event.says.symbols", says.Symbols)
		e.Says = &says
	}
	if e.Result != nil {
		r := *e.Result
		r.Class = c.string("event.result.class", r.Class, 6*maxClass)
		if r.Content != nil {
			r.Content = c.content("event.result.content", *r.Content)
		}
		r.Marks, r.Secrets = c.hashes("event.result.marks", r.Marks), c.hashes("event.result.secrets", r.Secrets)
		r.Processes, r.Ports = r.Processes[:min(len(r.Processes), c.m.list)], r.Ports[:min(len(r.Ports), c.m.list)]
		e.Result = &r
	}
}

// names shortens a list of names.
func (c *cutter) names(field string, list []string) []string {
	list = slices.Clone(list[:min(len(list), c.m.list)])
	for i, name := range list {
		list[i] = c.string(field, name, c.m.text)
	}
	return list
}

// goal shortens what is known about a prompt. Prohibitions are cut last: a person's words
// must not be dropped for the names of files.
func (c *cutter) goal(g engine.Goal) *engine.Goal {
	g.Words, g.Marks = c.hashes("event.goal.words", g.Words), c.hashes("event.goal.marks", g.Marks)
	g.Names = c.strings("event.goal.names", g.Names, min(c.m.list, prompt.MaxGoalNames))
	if len(g.Names) == 0 {
		g.Names = nil
	}
	g.Mentions = c.hashes("event.goal.mentions", g.Mentions)
	said := make([]engine.Statement, len(g.Statements))
	for i, k := range g.Statements {
		k.Text = c.string("event.goal.statements.text", k.Text, c.m.text)
		objects := slices.Clone(k.Objects)
		for j, o := range objects {
			objects[j] = c.string("event.goal.statements.objects", o, max(c.m.text, prompt.MaxGoalName))
		}
		k.Objects, said[i] = objects, k
	}
	if g.Statements = said; len(said) == 0 {
		g.Statements = nil
	}
	return &g
}

// hashes keeps the first hashes of a list.
func (c *cutter) hashes(field string, list []string) []string {
	if len(list) <= c.m.hashes {
		return list
	}
	c.note(field, len(list), "")
	if c.m.hashes == 0 {
		return nil
	}
	return list[:c.m.hashes]
}

// content drops kinds of secrets beyond the limit; there are few kinds.
func (c *cutter) content(field string, f engine.ContentFacts) *engine.ContentFacts {
	if len(f.Secrets) > c.m.list {
		c.note(field+".secrets", len(f.Secrets), "")
		keep := map[string]int{}
		for _, k := range slices.Sorted(maps.Keys(f.Secrets))[:c.m.list] {
			keep[k] = f.Secrets[k]
		}
		f.Secrets = keep
	}
	if c.m.text == 0 {
		f.MAC = ""
	}
	return &f
}

// args shortens strings, and then drops arguments, the longest first, until all of them fit.
func (c *cutter) args(args map[string]any) map[string]any {
	if len(args) == 0 {
		return nil
	}
	out, total := map[string]any{}, 2
	for _, k := range slices.Sorted(maps.Keys(args)) {
		v := c.arg("event.args."+k, args[k])
		size := jsonSize(v) + escapedSize(k) + 4
		if total+size > c.m.args {
			c.note("event.args."+k, jsonSize(args[k]), "")
			continue
		}
		total += size
		out[k] = v
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// maxItems limits lists and objects among the arguments.
const maxItems = 24

func (c *cutter) arg(field string, v any) any {
	switch v := v.(type) {
	case string:
		return c.string(field, v, c.m.arg)
	case []any:
		if jsonSize(v) <= c.m.arg {
			return v
		}
		return c.items(field, v)
	case map[string]any:
		if jsonSize(v) <= c.m.arg {
			return v
		}
		return c.fields(field, v)
	}
	return v
}

func (c *cutter) items(field string, v []any) any {
	if len(v) > maxItems {
		c.note(field, len(v), "")
		v = v[:maxItems]
	}
	out := make([]any, len(v))
	for i, item := range v {
		out[i] = c.arg(field+"["+strconv.Itoa(i)+"]", item)
	}
	return out
}

func (c *cutter) fields(field string, m map[string]any) any {
	keys := slices.Sorted(maps.Keys(m))
	if len(keys) > maxItems {
		c.note(field, len(keys), "")
		keys = keys[:maxItems]
	}
	out := map[string]any{}
	for _, k := range keys {
		out[c.string(field+".key", k, 64)] = c.arg(field+"."+k, m[k])
	}
	return out
}

func (c *cutter) action(a *engine.Action) {
	a.Name = c.string("action.name", a.Name, max(min(c.m.text, 200), 12))
	a.Resource = c.string("action.resource", a.Resource, c.m.resource)
	c.slight(a)
	c.join(a)
	dropped := c.commands(a)
	dropped = c.effects(a) || dropped
	a.PossibleCommands = c.possible(a.PossibleCommands)
	a.Paths = c.strings("action.paths", a.Paths, c.m.list)
	a.Hosts = c.strings("action.hosts", a.Hosts, c.m.list)
	a.Contents = c.contents(a.Contents)
	a.Code = c.code(a.Code)
	a.Starts = c.starts(a.Starts)
	if c.m.text == 0 || dropped {
		a.Makes = nil
	}
	if a.Remotes = c.strings("action.remotes", a.Remotes, c.m.list); len(a.Remotes) == 0 {
		a.Remotes = nil
	}
	a.Words, a.Marks = c.hashes("action.words", a.Words), c.hashes("action.marks", a.Marks)
	if c.m.text == 0 {
		a.Tokens = nil
	}
	c.opaque(a, dropped)
}

// strings keeps at most n strings of a list.
func (c *cutter) strings(field string, list []string, n int) []string {
	if len(list) > n {
		c.note(field, len(list), "")
		list = list[:n]
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = c.string(field, s, c.m.text)
	}
	return out
}

// words is strings for a list of a command, which is absent if empty.
func (c *cutter) words(field string, list []string) []string {
	if len(list) == 0 || c.m.operands == 0 {
		if len(list) > 0 {
			c.note(field, len(list), "")
		}
		return nil
	}
	return c.strings(field, list, c.m.operands)
}

func (c *cutter) contents(m map[string]engine.ContentFacts) map[string]engine.ContentFacts {
	if len(m) == 0 {
		return nil
	}
	keys := slices.Sorted(maps.Keys(m))
	if n := max(c.m.list/4, min(c.m.list, 2)); len(keys) > n {
		c.note("action.contents", len(keys), "")
		keys = keys[:n]
	}
	out := map[string]engine.ContentFacts{}
	for _, k := range keys {
		out[c.string("action.contents.key", k, c.m.text)] = *c.content("action.contents", m[k])
	}
	return out
}
