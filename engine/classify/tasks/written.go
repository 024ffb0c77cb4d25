package tasks

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// Limits of what is read of a file that contains commands.
const (
	maxLines   = 512       // command lines
	maxDecoded = 128 << 10 // bytes of a document that is parsed
	maxNested  = 32        // levels of it
)

// Reader finds command lines in other texts: settings, build files, programs in a
// language without an interpreter here.
type Reader struct {
	Prose func(key string) bool        // texts for people are under the key
	Does  func(function string) string // what a call of the function does: run, delete, read, send; empty: nothing
}

// Lines lists the command lines in a string of a kind. Lines that are not commands have
// no effect, since they name no program.
func (r Reader) Lines(kind, text string) []string {
	var list []string
	switch kind {
	case "make":
		list = append(makeLines(text), foreignLines(text)...)
	case "lines":
		list = append(plainLines(text), foreignLines(text)...)
	case "strings":
		list = r.settings(text, r.commandsOf, plainLines)
	case "compose":
		list = r.settings(text, r.compose, plainLines)
	case "python":
		list = r.started(text)
	case "awk":
		list = append(r.quoted(text), r.calls(text)...)
	case "xml":
		list = xmlLines(text)
	case "lisp":
		list = append(r.lisp(text), r.quoted(text)...)
	case "haskell", "ocaml", "nim", "julia", "dart", "swift", "jvm":
		list = append(r.applied(text), r.calls(text)...)
	case "notebook":
		list = r.cells(text)
	case engine.CodeMarkdown:
		list = documentBlocks(text)
	case "tex":
		list = texLines(text)
	case "ruby", "groovy":
		list = append(bareCalls(text), r.calls(text)...)
	case "docker":
		list = imageLines(text)
	case "quoted":
		list = r.quoted(text)
	default:
		list = r.calls(text)
	}
	return list[:min(len(list), maxLines)]
}

// joined joins the continued lines of a string.
func joined(text string) []string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\\\n", " ")
	return strings.Split(text, "\n")
}

// leadWords are words before a command in files of commands.
const leadWords = `call|execute|silent!?|spawn|exec|ExecStart|run|command|shell|platform shell|system|Type|\.shell|\.system|run-shell|` +
	`ProxyCommand|LocalCommand|KnownHostsCommand`

var (
	lineLead  = engine.Regexp(`^[\s>]*(?:[-@+!:*]+\s*|(?:` + leadWords + `)\b[\s=({]+|[0-9,$]*e\s+)*`)
	lineKey   = engine.Regexp(`^\s*[\w.$-]+\s*(?::|[?:+!]?=)\s*(.+)$`)
	removes   = engine.Regexp(`\bfile\(\s*REMOVE(?:_RECURSE)?\s+(.+?)\)*$`)
	inBrace   = engine.Regexp(`(?:\bCOMMAND\s|\b(?:then|[Mm]atch\b.*)\s+exec\s|\b(?:system|run_command|execute_process)\((?:\s*COMMAND\s)?)\s*(.+?)\)*$`)
	makeValue = engine.Regexp(`\$[({](\w+)[)}]`)
	makeCall  = engine.Regexp(`\$\(call\s+([\w.-]+)\s*,([^()]*)\)`)
	makeShell = engine.Regexp(`\$[({]shell\s+(.*)[)}]`)
	makeSet   = engine.Regexp(`^\s*(?:export\s+|override\s+)*([\w.-]+)\s*[?:+]*=\s*(.*)$`)
)

// plainLines returns the lines of a string as commands: as written, and after a key or a
// word that runs them.
func plainLines(text string) []string {
	var list []string
	for _, line := range joined(text) {
		bare := line[len(lineLead().FindString(line)):]
		if bare == "" || bare[0] == '#' {
			continue
		}
		list = append(list, unquoted(bare))
		if m := lineKey().FindStringSubmatch(line); m != nil {
			list = append(list, unquoted(m[1]))
		}
		if m := removes().FindStringSubmatch(line); m != nil {
			list = append(list, "rm -rf -- "+m[1])
		}
		if m := inBrace().FindStringSubmatch(line); m != nil {
			list = append(list, unquoted(m[1]))
		}
	}
	return list
}

var bareCall = engine.Regexp(`(?m)\b(sh|bat|commandLine|execute|system|delete)[ \t]+(['"].*)$`)

// bareCalls returns calls without brackets whose words are literals: sh 'make', in
// Ruby and Groovy.
func bareCalls(text string) []string {
	var list []string
	for _, m := range bareCall().FindAllStringSubmatch(text, maxLines) {
		var argv []string
		for _, l := range literal().FindAllStringSubmatch(m[2], 16) {
			argv = append(argv, literalText(l))
		}
		switch {
		case m[1] == "delete":
			list = append(list, "rm -rf -- "+quoteAll(argv))
		case len(argv) == 1:
			list = append(list, argv[0])
		default:
			list = append(list, quoteAll(argv))
		}
	}
	return list
}

// unquoted is a string without the quotes around all of it.
func unquoted(s string) string {
	s = strings.TrimSpace(s)
	if n := len(s); n > 1 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] && strings.Count(s, s[:1]) == 2 {
		return s[1 : n-1]
	}
	return s
}

// Limits of a line with expanded variables, and of a value.
const (
	maxMakeLine = 8 << 10
	maxMakeText = 1 << 10
)

// makeLines returns the command lines of a makefile: recipes with any prefix, and
// those that make runs while it reads the file, with its variables expanded.
func makeLines(text string) []string {
	values := map[string]string{"RM": "rm -f"}
	for _, line := range joined(text) {
		if m := makeSet().FindStringSubmatch(line); m != nil && !strings.HasPrefix(line, "\t") && len(m[2]) <= maxMakeText {
			values[m[1]] = m[2]
		}
	}
	var list []string
	for _, line := range joined(text) {
		for range 3 {
			if len(line) > maxMakeLine || !strings.Contains(line, "$") {
				break
			}
			line = makeCall().ReplaceAllStringFunc(line, func(s string) string { return calledValue(s, values) })
			line = makeValue().ReplaceAllStringFunc(line, func(s string) string {
				if v, ok := values[s[2:len(s)-1]]; ok && !strings.Contains(v, s) {
					return v
				}
				return "${" + s[2:len(s)-1] + "}"
			})
		}
		list = append(list, makeLine(line)...)
		if len(list) > maxLines {
			return list
		}
	}
	return list
}

// calledValue returns the value of $(call NAME,WORD,…): the value of NAME, in which
// $(1) is the first word.
func calledValue(text string, values map[string]string) string {
	m := makeCall().FindStringSubmatch(text)
	body, ok := values[m[1]]
	if !ok {
		return text
	}
	for i, word := range strings.SplitN(m[2], ",", 9) {
		n := strconv.Itoa(i + 1)
		body = strings.NewReplacer("$("+n+")", word, "${"+n+"}", word, "$"+n, word).Replace(body)
	}
	return body
}

func makeLine(line string) (list []string) {
	if m := makeShell().FindStringSubmatch(line); m != nil {
		list = append(list, strings.ReplaceAll(m[1], "$$", "$"))
	}
	line = strings.ReplaceAll(line, "$$", "$")
	if _, code, ok := strings.Cut(line, "!="); ok {
		list = append(list, strings.TrimSpace(code))
	}
	if _, code, ok := strings.Cut(line, ";"); ok {
		list = append(list, strings.TrimLeft(code, " \t@-+"))
	}
	if bare := strings.TrimLeft(line, "\t @+->"); bare != "" && bare[0] != '#' {
		list = append(list, bare)
	}
	return list
}

// settings parses a document of JSON or YAML; others are read as text.
func (r Reader) settings(text string, take func(doc any) []string, otherwise func(string) []string) []string {
	var doc any
	if json.Unmarshal([]byte(text), &doc) == nil {
		return take(doc)
	}
	if otherwise == nil {
		otherwise = func(string) []string { return nil }
	}
	if len(text) > maxDecoded {
		return otherwise(text)
	}
	var list []string
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for range 16 {
		doc = nil
		if err := decoder.Decode(&doc); err != nil {
			if len(list) == 0 && doc == nil && !strings.HasSuffix(err.Error(), "EOF") {
				return otherwise(text)
			}
			break
		}
		list = append(list, take(doc)...)
	}
	return list
}

func (r Reader) commandsOf(doc any) []string { return append(pods(doc, 0), r.texts(nil, doc, 0)...) }

// texts lists the texts of a document that could be commands, and lists of strings as
// one command.
func (r Reader) texts(list []string, v any, depth int) []string {
	if depth > maxNested || len(list) > maxLines {
		return list
	}
	switch v := v.(type) {
	case string:
		if strings.ContainsAny(strings.TrimSpace(v), " \n") {
			list = append(list, v)
		}
	case []any:
		if argv, ok := words(v); ok && len(argv) > 1 {
			list = append(list, quoteAll(argv))
		}
		for _, item := range v {
			list = r.texts(list, item, depth+1)
		}
	case map[string]any:
		if file, ok := v["path"].(string); ok && v["state"] == "absent" {
			list = append(list, "rm -rf -- "+shell.Quote(file))
		}
		for _, key := range sortedKeys(v) {
			if !r.Prose(key) {
				list = r.texts(list, v[key], depth+1)
			}
		}
	}
	return list
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func words(list []any) ([]string, bool) {
	argv := make([]string, 0, len(list))
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			return nil, false
		}
		argv = append(argv, s)
	}
	return argv, true
}

var (
	xmlProgram = engine.Regexp(`<executable>\s*([^<]*?)\s*</executable>|<exec\b[^>]*executable="([^"]*)"`)
	xmlWord    = engine.Regexp(`<arg(?:ument)?>\s*([^<]*?)\s*</arg(?:ument)?>|<arg\b[^>]*(?:value|line)="([^"]*)"`)
	xmlDelete  = engine.Regexp(`<delete\b[^>]*(?:dir|file)="([^"]*)"`)
)

// xmlLines are the programs that build files of Maven and Ant start, each with the
// arguments up to the next one, and what they delete.
func xmlLines(text string) []string {
	var list []string
	for _, m := range xmlDelete().FindAllStringSubmatch(text, maxLines) {
		list = append(list, "rm -rf -- "+shell.Quote(m[1]))
	}
	programs := xmlProgram().FindAllStringSubmatchIndex(text, maxLines)
	for i, at := range programs {
		end := len(text)
		if i+1 < len(programs) {
			end = programs[i+1][0]
		}
		m := xmlProgram().FindStringSubmatch(text[at[0]:at[1]])
		line := m[1] + m[2]
		for _, word := range xmlWord().FindAllStringSubmatch(text[at[1]:end], 32) {
			line += " " + word[1] + word[2]
		}
		list = append(list, line)
	}
	return list
}

// compose returns the services of a compose file as containers, with their access to
// the host.
func (r Reader) compose(doc any) []string {
	file, _ := doc.(map[string]any)
	services, _ := file["services"].(map[string]any)
	var list []string
	for _, name := range sortedKeys(services) {
		if s, ok := services[name].(map[string]any); ok {
			list = append(list, service(s))
		}
	}
	return list
}

func service(s map[string]any) string {
	argv := []string{"docker", "run"}
	if s["privileged"] == true {
		argv = append(argv, "--privileged")
	}
	for _, option := range []struct{ key, flag string }{
		{"pid", "--pid"}, {"network_mode", "--network"}, {"ipc", "--ipc"}, {"user", "--user"},
	} {
		if v, ok := s[option.key].(string); ok {
			argv = append(argv, option.flag+"="+v)
		}
	}
	for _, key := range []string{"volumes", "cap_add", "devices", "env_file", "security_opt"} {
		flag := map[string]string{
			"volumes": "-v", "cap_add": "--cap-add", "devices": "--device", "env_file": "--env-file", "security_opt": "--security-opt",
		}[key]
		for _, v := range listOf(s[key]) {
			if text := mountText(v); text != "" {
				argv = append(argv, flag, text)
			}
		}
	}
	image, _ := s["image"].(string)
	if argv = append(argv, strings.TrimSpace(image)); image == "" {
		argv[len(argv)-1] = "image"
	}
	line := quoteAll(argv)
	for _, key := range []string{"entrypoint", "command"} {
		switch v := s[key].(type) {
		case string:
			line += " " + v
		case []any:
			if more, ok := words(v); ok {
				line += " " + quoteAll(more)
			}
		}
	}
	return line
}

func listOf(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	if v == nil {
		return nil
	}
	return []any{v}
}

// mountText is a volume in the short form.
func mountText(v any) string {
	if m, ok := v.(map[string]any); ok {
		source, _ := m["source"].(string)
		target, _ := m["target"].(string)
		if source == "" || target == "" {
			return ""
		}
		return source + ":" + target
	}
	text, _ := v.(string)
	return text
}

var imageRun = engine.Regexp(`(?i)^\s*(?:ONBUILD\s+)?(?:RUN|CMD|ENTRYPOINT)\s+((?:--\S+\s+)*)(.+)$`)

// imageLines are the commands that build an image, in a container of their own.
func imageLines(text string) []string {
	var list []string
	for _, line := range joined(text) {
		m := imageRun().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		var argv []any
		code := m[2]
		if json.Unmarshal([]byte(code), &argv) == nil {
			if parts, ok := words(argv); ok {
				code = quoteAll(parts)
			}
		}
		list = append(list, quoteAll([]string{"docker", "run", "image", "sh", "-c", code}))
	}
	return list
}

// quoted returns the quoted texts of settings in any other format, and lists of such
// texts as one command.
func (r Reader) quoted(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		key := strings.Trim(strings.TrimSpace(strings.SplitN(line, "=", 2)[0]), `"'`)
		if strings.HasPrefix(key, "#") || r.Prose(key) {
			continue
		}
		for _, m := range literal().FindAllStringSubmatch(line, 64) {
			if s := literalText(m); strings.ContainsAny(s, " \t") {
				list = append(list, s)
			}
		}
		if _, items, ok := strings.Cut(line, "["); ok {
			var run []string
			for _, m := range literal().FindAllStringSubmatch(items, 64) {
				run = append(run, literalText(m))
			}
			if len(run) > 1 {
				list = append(list, quoteAll(run))
			}
		}
	}
	return append(list, blocks(text)...)
}

// blocks returns texts of several lines: in three quotes of either kind, and
// after <<WORD.
func blocks(text string) []string {
	var list []string
	for _, pattern := range []func() *regexp.Regexp{tripled, heredoc} {
		for _, m := range pattern().FindAllStringSubmatch(text, 32) {
			list = append(list, m[len(m)-1])
		}
	}
	return list
}

var (
	literal = engine.Regexp(`"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|` + "`([^`]*)`")
	tripled = engine.Regexp(`(?s)(?:"""|''')(.*?)(?:"""|''')`)
	heredoc = engine.Regexp(`(?s)<<[-~]?['"]?\w+['"]?\n(.*?)\n\s*[A-Z_]+\s*(?:\n|$)`)
	escaped = strings.NewReplacer(`\"`, `"`, `\'`, `'`, `\\`, `\`, `\n`, "\n", `\t`, "\t")
)

// literalText returns the value of a literal.
func literalText(m []string) string {
	if m[1] != "" {
		return escaped.Replace(m[1])
	}
	return m[2] + m[3]
}

// quoteAll joins words into a command.
func quoteAll(argv []string) string {
	quoted := make([]string, len(argv))
	for i, word := range argv {
		quoted[i] = shell.Quote(word)
	}
	return strings.Join(quoted, " ")
}
