package classify

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/tasks"
)

// mcp reads a call of an MCP tool: mcp__server__tool. What the server does is unknown; what
// the arguments name unambiguously is known.
func (r *toolReader) mcp() {
	server, name, ok := strings.Cut(strings.TrimPrefix(r.name, "mcp__"), "__")
	if !ok || server == "" || name == "" {
		r.strange = true
		r.opaque("tool", r.name)
	}
	r.tool.action = cmp.Or(r.tool.action, "mcp."+mask.DottedName(server)+"."+mask.DottedName(name))
	r.tool.typ = cmp.Or(r.tool.typ, engine.TypeMCPCall)
	words := operation.WordsOf(r.in.Rows)
	r.scan(words.Verb(name))
	r.setsGuard(server+"_"+name, r.args)
	if r.tool.row.Do != nil || r.tool.row.Cases != nil {
		return // a row determines it, not the tool's name
	}
	r.translated(server, name)
	r.ends(server, name)
	if noun := words.Sent(name); noun != "" {
		r.add(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Object: noun, Egress: true, Reversible: engine.R5,
			Target: abstract.Value{Text: strings.ToLower(server)}})
	}
	r.sendsFiles(server, words.Verb(name))
	parts := operation.NameParts(name)
	if len(parts) > 0 && len(parts[0]) <= maxVerb && !r.tool.known && !slices.ContainsFunc(r.script.Effects, isNoRead) {
		r.verb = parts[0]
	}
}

// maxVerb is longer than any verb.
const maxVerb = 32

func isNoRead(e abstract.RawEffect) bool { return e.Kind != engine.EffectFileRead }

// nameSent records whether what is sent to a web address is money or a message to people,
// whichever program or tool sends it.
func (r *toolReader) nameSent() {
	for i := range r.script.Effects {
		e := &r.script.Effects[i]
		scheme, _, _ := strings.Cut(strings.ToLower(e.Target.Text), "://")
		if e.Kind == engine.EffectNetwork && e.Verb == "send" && e.Object == "" && (scheme == "http" || scheme == "https") {
			e.Object = operation.WordsOf(r.in.Rows).Paid(operation.NounOfPath(e.Target.Text))
		}
	}
}

// ends handles an MCP tool whose name means that something ends, unless its arguments name
// files. The server's service is unknown, as it is for a program without a row.
func (r *toolReader) ends(server, name string) {
	verb, object := operation.WordsOf(r.in.Rows).Ending(name)
	if verb == "" || slices.ContainsFunc(r.script.Effects, func(e abstract.RawEffect) bool { return e.Kind == engine.EffectFileDelete }) {
		return
	}
	if object == "" {
		object = "item"
	}
	r.add(abstract.RawEffect{Kind: engine.EffectProcess, Verb: verb, Object: object, Target: abstract.Value{Text: strings.ToLower(server)}})
}

// sendsFiles handles a tool that sends, and whose arguments name files.
func (r *toolReader) sendsFiles(server, verb string) {
	reads := func(e abstract.RawEffect) bool { return e.Kind == engine.EffectFileRead }
	egress := func(e abstract.RawEffect) bool { return e.Egress }
	if verb == "send" && slices.ContainsFunc(r.script.Effects, reads) && !slices.ContainsFunc(r.script.Effects, egress) {
		r.add(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Egress: true, Target: abstract.Value{Text: strings.ToLower(server)}})
	}
}

// Lists of words of argument names that state what the value is.
const (
	pathWords    = "arguments.paths"
	commandWords = "arguments.commands"
	sqlWords     = "arguments.sql"
	codeWords    = "arguments.code"
	graphWords   = "arguments.graphs" // GraphQL
	actWords     = "arguments.acts"   // what an entry of a list does
	nounWords    = "arguments.nouns"  // what it does it to
)

// maxScan limits how deep arguments of unknown tools are examined.
const maxScan = 6

// scan looks for effects in the arguments of a tool whose arguments are unknown.
func (r *toolReader) scan(verb string) { r.scanMap(r.args, verb, 0) }

func (r *toolReader) scanMap(m map[string]any, verb string, depth int) {
	if depth > maxScan {
		r.opaque("budget", "arguments")
		return
	}
	r.proxied(m, depth)
	r.programBeside(m)
	if depth > 0 {
		verb = r.entry(m, verb)
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if depth == 0 && slices.ContainsFunc(r.tool.args, func(a toolArg) bool { return a.name == key }) {
			continue // a row gives its meaning
		}
		r.scanValue(m, key, m[key], verb, depth)
	}
}

func (r *toolReader) scanValue(m map[string]any, key string, v any, verb string, depth int) {
	switch v := v.(type) {
	case string:
		r.scanText(m, key, v, verb)
	case map[string]any:
		if r.keyIs(key, commandWords) {
			r.keyedCommand(v)
		}
		r.scanMap(v, verb, depth+1)
	case []any:
		if argv, ok := mask.StringList(v); ok && (r.keyIs(key, commandWords) || r.runs(key, verb) && slices.ContainsFunc(argv, r.startsProgram)) {
			r.commands(argv)
			return
		}
		for _, item := range v {
			r.scanValue(m, key, item, verb, depth+1)
		}
	}
}

// entry handles an entry of a list of operations: {"op": "delete", "path": "old"}. It returns
// what the entry does to the paths in it; what is read or listed is only described by it.
func (r *toolReader) entry(m map[string]any, verb string) string {
	words := operation.WordsOf(r.in.Rows)
	act, noun := "", ""
	for _, key := range slices.Sorted(maps.Keys(m)) {
		text, ok := m[key].(string)
		switch joined := strings.Join(operation.NameParts(key), ""); {
		case !ok || len(text) > maxVerb:
		case slices.Contains(r.in.Rows.Words(actWords), joined) && text != strings.ToUpper(text): // not a method of HTTP
			act = text
		case slices.Contains(r.in.Rows.Words(nounWords), joined):
			noun = operation.PlainNoun(operation.Singular(text))
		}
	}
	if act == "" || verb == "read" {
		return verb
	}
	if ends, _ := words.Ending(act); noun != "" && (ends == "delete" || ends == "remove") {
		r.add(abstract.RawEffect{Kind: engine.EffectProcess, Verb: ends, Object: noun, Target: abstract.Value{Text: r.server()}})
	}
	if does := words.Verb(act); does == "delete" || does == "write" && verb == "" {
		return does
	}
	return verb
}

// graph handles GraphQL: what the fields of its mutations end, pay or send, as tools with their names would.
func (r *toolReader) graph(text string) {
	for _, field := range operation.Mutations(text) {
		words := operation.WordsOf(r.in.Rows)
		if verb, object := words.Ending(field); verb != "" {
			r.add(abstract.RawEffect{Kind: engine.EffectProcess, Verb: verb, Object: cmp.Or(object, "item"),
				Target: abstract.Value{Text: r.server()}})
		}
		if noun := words.Sent(field); noun != "" {
			r.add(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Object: noun, Egress: true, Reversible: engine.R5,
				Target: abstract.Value{Text: r.server()}})
		}
	}
}

// keyedCommand handles a command whose name is a key: {"dropDatabase": 1}.
func (r *toolReader) keyedCommand(m map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if verb, object := operation.WordsOf(r.in.Rows).Ending(key); verb != "" {
			r.add(abstract.RawEffect{Kind: engine.EffectProcess, Verb: verb, Object: cmp.Or(object, "item"),
				Target: abstract.Value{Text: r.server()}})
		}
	}
}

// commands runs the commands of a list, or the single command whose words it contains.
func (r *toolReader) commands(list []string) {
	if !r.separate(list) {
		r.run(shell.Interpret(mask.QuoteAll(list), r.in))
		return
	}
	r.run(shell.Interpret(strings.Join(list, "\n"), r.in))
}

// runs reports whether a tool runs an argument, or types it into something.
func (r *toolReader) runs(key, verb string) bool {
	return r.keyIs(key, inputWords) && (verb == "run" || r.isTerminal())
}

// isTerminal reports whether a tool controls a terminal, judging by its name.
func (r *toolReader) isTerminal() bool {
	return slices.ContainsFunc(operation.NameParts(r.name), func(p string) bool {
		return slices.Contains(r.in.Rows.Words("servers.terminals"), p)
	})
}

func (r *toolReader) scanText(m map[string]any, key, text, verb string) {
	if verb != "read" && !proseKeys(r.in.Rows)(key) {
		for _, command := range tasks.Manifest(text) {
			r.likeCommand(command)
		}
	}
	switch {
	case text == "":
	case verb != "read" && r.keyIs(key, graphWords) && !hasURL(m) && operation.IsGraph(text):
		r.graph(text)
	case r.sqlIn(key, text):
		r.runClient("psql -c "+mask.QuoteWord(text), engine.EffectProcess, engine.EffectNetwork)
	case abstract.WebURL(text):
		r.scanURL(text, verb)
		r.scanRequest(m, text)
	case r.keyIs(key, commandWords):
		r.scanCommand(m, text)
	case r.keyIs(key, codeWords) && r.isBrowser():
		r.page(key, text)
	case r.keyIs(key, codeWords) && verb == "run":
		r.opaque("code", key)
	case r.keyIs(key, pathWords) && verb == "run" && strings.ContainsAny(text, "(;\n"):
		r.opaque("code", key)
	case (r.keyIs(key, pathWords) || r.keyIs(key, "arguments.targets") && strings.ContainsAny(text, "/~")) && pathLike(text):
		r.scanPath(strings.TrimPrefix(text, "file://"), verb)
	case r.keyIs(key, jsonWords) && r.scanJSON(key, text, verb):
	case r.runs(key, verb) && r.startsProgram(text):
		r.run(shell.Interpret(text, r.in))
	default:
		r.patched(text)
	}
}

// hasURL reports whether one of the arguments is an address: what goes there is read as a request.
func hasURL(m map[string]any) bool {
	for _, v := range m {
		if text, ok := v.(string); ok && abstract.WebURL(text) {
			return true
		}
	}
	return false
}

// scanJSON examines the JSON in an argument's text.
func (r *toolReader) scanJSON(key, text, verb string) bool {
	v, ok := decodedJSON(text)
	if ok && r.jsons < maxScan {
		r.jsons++
		r.scanValue(nil, key, v, verb, 1)
		r.jsons--
	}
	return ok
}

// keyIs reports whether the last word of an argument's name is in a list of the
// policy.
func (r *toolReader) keyIs(key, list string) bool { return lastWord(key, r.in.Rows.Words(list)) }

func lastWord(key string, list []string) bool {
	parts := operation.NameParts(key)
	return len(parts) > 0 && (slices.Contains(list, parts[len(parts)-1]) || slices.Contains(list, strings.Join(parts, "")))
}

func (r *toolReader) scanURL(text, verb string) {
	e := abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "fetch", Target: abstract.Value{Text: text}}
	if verb == "send" || verb == "write" || verb == "delete" {
		e.Verb, e.Egress = "send", true
		r.script.Signals[engine.SignalPipeExternal] = true
	}
	r.add(e)
}

// scanRequest handles a URL with a method or a body next to it as a client of HTTP would send
// them.
func (r *toolReader) scanRequest(m map[string]any, url string) {
	argv := []string{"curl"}
	method, _ := m["method"].(string)
	if slices.Contains([]string{"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"}, strings.ToUpper(method)) {
		argv = append(argv, "-X", strings.ToUpper(method))
	}
	for _, key := range []string{"body", "data", "json", "query"} {
		switch body := m[key].(type) {
		case string:
			if key == "query" && !strings.Contains(body, "mutation") {
				continue // a question
			}
			argv = append(argv, "--data-raw", body)
		case map[string]any:
			if text, err := json.Marshal(body); err == nil {
				argv = append(argv, "--data-raw", string(text))
			}
		}
	}
	if len(argv) > 1 {
		r.runClient(mask.QuoteAll(append(argv, "--", url)), engine.EffectProcess, engine.EffectFileRead)
	}
}

// runClient interprets a command that stands for what an MCP server does itself: no program is
// started here, and some kinds of effects are not the server's.
func (r *toolReader) runClient(command string, without ...engine.EffectKind) {
	s := shell.Interpret(command, r.in)
	s.Commands = nil
	s.Effects = slices.DeleteFunc(s.Effects, func(e abstract.RawEffect) bool { return slices.Contains(without, e.Kind) })
	for i := range s.Effects {
		s.Effects[i].Command = -1
	}
	r.run(s)
}

// scanCommand interprets a command, with a list of arguments that may be next to it.
func (r *toolReader) scanCommand(m map[string]any, text string) {
	if list, ok := m["args"].([]any); ok {
		if argv, ok := mask.StringList(list); ok {
			text += " " + mask.QuoteAll(argv)
		}
	}
	r.run(shell.Interpret(text, r.in))
}

// sqlIn reports whether an argument is SQL: by its name, or because the tool queries a
// database.
func (r *toolReader) sqlIn(key, text string) bool {
	return !r.keyIs(key, commandWords) && r.keyIs(key, sqlWords) && !abstract.WebURL(text) ||
		r.keyIs(key, "arguments.queries") && r.isDatabase()
}

func (r *toolReader) isDatabase() bool {
	low := strings.ToLower(r.name)
	return slices.ContainsFunc(r.in.Rows.Words("servers.databases"), func(w string) bool { return strings.Contains(low, w) })
}

func pathLike(text string) bool { return len(text) <= 4096 && !strings.ContainsAny(text, "\r\n\x00") }

func (r *toolReader) scanPath(text, verb string) {
	kind, does := engine.EffectFileRead, "read"
	switch verb {
	case "delete":
		kind, does = engine.EffectFileDelete, "delete"
	case "write":
		kind, does = engine.EffectFileWrite, "write"
	}
	r.path(kind, does, abstract.Value{Text: text}, kind == engine.EffectFileDelete)
}
