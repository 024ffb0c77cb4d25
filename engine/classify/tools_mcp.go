package classify

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// mcp reads a call of a server's tool: mcp__server__tool. What the server does
// is not known; what the arguments plainly name is.
func (r *reading) mcp() {
	server, name, ok := strings.Cut(strings.TrimPrefix(r.name, "mcp__"), "__")
	if !ok || server == "" || name == "" {
		r.strange = true
		r.opaque("tool", r.name)
	}
	r.tool = tool{action: "mcp." + dottedName(server) + "." + dottedName(name), typ: engine.TypeMCPCall}
	r.scan(verbOf(name))
	r.ends(server, name)
	if noun := sentNoun(name); noun != "" {
		r.add(rawEffect{kind: engine.EffectNetwork, verb: "send", object: noun, egress: true, reversible: engine.R5, target: value{text: strings.ToLower(server)}})
	}
	r.sendsFiles(server, verbOf(name))
}

// ends is a server's tool whose name says that something ends, unless its
// arguments say which files those are. What the server is about is not known,
// as it is not of a program that is in no table.
func (r *reading) ends(server, name string) {
	verb, object := endingVerb(name)
	if verb == "" || slices.ContainsFunc(r.script.effects, func(e rawEffect) bool { return e.kind == engine.EffectFileDelete }) {
		return
	}
	if object == "" {
		object = "item"
	}
	r.add(rawEffect{kind: engine.EffectProcess, verb: verb, object: object, target: value{text: strings.ToLower(server)}})
}

// sendsFiles is a tool that sends, and is told which files.
func (r *reading) sendsFiles(server, verb string) {
	reads := func(e rawEffect) bool { return e.kind == engine.EffectFileRead }
	egress := func(e rawEffect) bool { return e.egress }
	if verb == "send" && slices.ContainsFunc(r.script.effects, reads) && !slices.ContainsFunc(r.script.effects, egress) {
		r.add(rawEffect{kind: engine.EffectNetwork, verb: "send", egress: true, target: value{text: strings.ToLower(server)}})
	}
}

// Words of tool names by what they do to the things that the arguments name.
var (
	readWords = []string{
		"get", "list", "read", "search", "find", "query", "fetch", "show", "view", "describe", "stat", "info", "head", "tail", "cat",
		"browse", "lookup", "count", "diff", "status", "tree", "open", "check", "inspect", "resolve", "ls", "glob", "grep", "download",
		"explore", "screenshot", "analyze", "analyse",
	}
	deleteWords = []string{"delete", "remove", "rm", "unlink", "trash", "destroy", "erase", "purge", "rmdir", "drop", "wipe", "clear"}
	sendWords   = []string{
		"send", "post", "upload", "publish", "push", "share", "submit", "notify", "email", "mail", "reply", "comment", "tweet",
		"message", "forward",
	}
	writeWords = []string{
		"write", "create", "edit", "update", "put", "save", "patch", "append", "insert", "replace", "set", "add", "move", "rename",
		"copy", "mkdir", "touch", "modify", "upsert", "apply", "make", "new", "store", "export",
	}
	runWords = []string{
		"run", "exec", "execute", "eval", "evaluate", "shell", "bash", "terminal", "command", "script", "invoke", "call", "start",
		"spawn",
	}
)

// verbOf tells by the words of a name whether a tool reads, deletes, sends,
// writes or runs; the worst word counts, and none means: not known.
func verbOf(name string) string {
	parts := nameParts(name)
	for _, v := range []struct {
		verb string
		list []string
	}{{"delete", deleteWords}, {"write", writeWords}, {"send", sendWords}, {"run", runWords}, {"read", readWords}} {
		if anyOf(parts, v.list...) {
			return v.verb
		}
	}
	return ""
}

// nameParts splits snake_case, kebab-case and camelCase to lower-case words.
func nameParts(name string) []string {
	var b strings.Builder
	for i, c := range name {
		if c >= 'A' && c <= 'Z' && i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return strings.FieldsFunc(strings.ToLower(b.String()), func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	})
}

// Words of argument names that plainly say what the value is.
var (
	pathWords = []string{
		"path", "paths", "file", "files", "filename", "filepath", "dir", "directory", "folder", "source", "destination", "src", "dest",
		"root", "attachment", "attachments", "local", "localfile",
	}
	urlWords     = []string{"url", "uri", "urls", "href", "link", "endpoint", "webhook", "address"}
	commandWords = []string{"command", "cmd", "script", "commands", "shell", "bash", "commandline"}
	sqlWords     = []string{"sql", "statement"}
	codeWords    = []string{"code", "javascript", "python", "expression", "function"}
)

// maxScan bounds how deep arguments of unknown tools are looked into.
const maxScan = 6

// scan looks for effects in the arguments of a tool whose arguments are not known.
func (r *reading) scan(verb string) { r.scanMap(r.args, verb, 0) }

func (r *reading) scanMap(m map[string]any, verb string, depth int) {
	if depth > maxScan {
		r.opaque("budget", "arguments")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		r.scanValue(m, key, m[key], verb, depth)
	}
}

func (r *reading) scanValue(m map[string]any, key string, v any, verb string, depth int) {
	switch v := v.(type) {
	case string:
		r.scanText(m, key, v, verb)
	case map[string]any:
		r.scanMap(v, verb, depth+1)
	case []any:
		if argv, ok := stringList(v); ok && keyIs(key, commandWords) {
			r.run(interpretShell(quoteAll(argv), r.in))
			return
		}
		for _, item := range v {
			r.scanValue(m, key, item, verb, depth+1)
		}
	}
}

func (r *reading) scanText(m map[string]any, key, text, verb string) {
	switch {
	case text == "":
	case webURL(text):
		r.scanURL(text, verb)
		r.scanRequest(m, text)
	case keyIs(key, commandWords):
		r.scanCommand(m, text)
	case keyIs(key, sqlWords) || keyIs(key, []string{"query"}) && r.isDatabase():
		r.scanSQL(text)
	case keyIs(key, codeWords) && verb == "run":
		r.opaque("code", key)
	case keyIs(key, pathWords) && pathLike(text):
		r.scanPath(text, verb)
	}
}

// keyIs says that the last word of an argument's name is in the list.
func keyIs(key string, list []string) bool {
	parts := nameParts(key)
	return len(parts) > 0 && (slices.Contains(list, parts[len(parts)-1]) || slices.Contains(list, strings.Join(parts, "")))
}

func webURL(text string) bool {
	scheme, rest, ok := strings.Cut(text, "://")
	return ok && rest != "" && len(scheme) <= 10 && !strings.ContainsAny(text, " \t\r\n") && strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+.-") == ""
}

func (r *reading) scanURL(text, verb string) {
	e := rawEffect{kind: engine.EffectNetwork, verb: "fetch", target: value{text: text}}
	if verb == "send" || verb == "write" || verb == "delete" {
		e.verb, e.egress = "send", true
		r.script.signals[engine.SignalPipeExternal] = true
	}
	r.add(e)
}

// scanRequest reads a URL with a method or a body beside it as a client of HTTP
// would send them.
func (r *reading) scanRequest(m map[string]any, url string) {
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
		r.runClient(quoteAll(append(argv, "--", url)), engine.EffectProcess, engine.EffectFileRead)
	}
}

// runClient reads a command that stands for what a server's tool does itself:
// no program is started here, and the effects of some kinds are not its own.
func (r *reading) runClient(command string, without ...engine.EffectKind) {
	s := interpretShell(command, r.in)
	s.commands = nil
	s.effects = slices.DeleteFunc(s.effects, func(e rawEffect) bool { return slices.Contains(without, e.kind) })
	for i := range s.effects {
		s.effects[i].command = -1
	}
	r.run(s)
}

// scanCommand interprets a command, with the list of arguments that may stand
// beside it.
func (r *reading) scanCommand(m map[string]any, text string) {
	if list, ok := m["args"].([]any); ok {
		if argv, ok := stringList(list); ok {
			text += " " + quoteAll(argv)
		}
	}
	r.run(interpretShell(text, r.in))
}

// scanSQL reads a statement as a database client would get it. The client's
// own effects are left out: no program is started here.
func (r *reading) scanSQL(text string) {
	r.runClient("psql -c "+quoteWord(text), engine.EffectProcess, engine.EffectNetwork, engine.EffectFileRead)
}

func (r *reading) isDatabase() bool {
	low := strings.ToLower(r.name)
	return slices.ContainsFunc(strings.Fields("sql postgres database supabase neon sqlite mongo clickhouse snowflake bigquery duckdb _db"), func(w string) bool {
		return strings.Contains(low, w)
	})
}

func pathLike(text string) bool {
	return len(text) <= 4096 && !strings.ContainsAny(text, "\r\n\x00")
}

func (r *reading) scanPath(text, verb string) {
	kind, does := engine.EffectFileRead, "read"
	switch verb {
	case "delete":
		kind, does = engine.EffectFileDelete, "delete"
	case "write":
		kind, does = engine.EffectFileWrite, "write"
	}
	r.path(kind, does, value{text: text}, kind == engine.EffectFileDelete)
}

func stringList(list []any) ([]string, bool) {
	out := make([]string, 0, len(list))
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, len(out) > 0
}

func quoteAll(argv []string) string {
	quoted := make([]string, len(argv))
	for i, a := range argv {
		quoted[i] = quoteWord(a)
	}
	return strings.Join(quoted, " ")
}

// quoteWord writes a text as one shell word.
func quoteWord(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
