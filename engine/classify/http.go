package classify

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// request is what a client of HTTP sends. All clients make one, and one
// function says what it does.
type request struct {
	method string // fetch, send, delete
	bodies []arg
	socket *arg // a socket of this machine instead of a host
}

// named is a method that a person wrote.
func (r *request) named(m arg, ok bool) {
	if ok {
		r.method = httpVerb(m.text)
	}
}

// header is a header line. Some servers take the method from one.
func (r *request) header(line arg) {
	name, value, _ := strings.Cut(line.text, ":")
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "x-http-method-override", "x-http-method", "x-method-override":
		if v := httpVerb(strings.TrimSpace(value)); v == "delete" || r.method == "fetch" {
			r.method = v
		}
	}
}

// body is a text that is sent along.
func (r *request) body(text arg) {
	if r.method == "fetch" {
		r.method = "send"
	}
	r.bodies = append(r.bodies, text)
}

// field is a field of a body that the client writes itself.
func (r *request) field(name string, value arg) {
	if name == "_method" && httpVerb(value.text) == "delete" {
		r.method = "delete"
	}
	quoted, err := json.Marshal(map[string]string{name: value.text})
	if err != nil {
		quoted = []byte(value.text)
	}
	r.body(value.with(string(quoted)))
}

// httpVerb is what an HTTP method does.
func httpVerb(method string) string {
	switch strings.ToUpper(method) {
	case "GET", "HEAD", "OPTIONS":
		return "fetch"
	case "DELETE", "PURGE", "BAN":
		return "delete"
	}
	return "send"
}

// bodies are the texts behind the data options of curl and wget: as they stand
// there, or in a file that the script has written, or at standard input.
func (c *call) bodies(given []arg) []arg {
	var out []arg
	for _, b := range given {
		if i := strings.IndexByte(b.text, '@'); i == 0 || i > 0 && b.text[i-1] == '=' {
			out = append(out, c.held(b.with(b.text[i+1:]))...)
			continue
		}
		out = append(out, b)
	}
	return out
}

// held is what is in a file, as far as that is known.
func (c *call) held(file arg) []arg {
	if file.is("-", "/dev/stdin") && c.s.frame.stdin != nil {
		return []arg{*c.s.frame.stdin}
	}
	if file.from != nil {
		return []arg{*file.from}
	}
	if text, ok := c.s.written(file); ok {
		return []arg{text}
	}
	return nil
}

// says is what method, path and body of a request say that it does, the worst
// of them, and to what.
func (c *call) says(r request, u arg) (verb, object string) {
	verb, object = r.method, nounOfPath(u.text)
	if verb == "send" {
		if v, o := pathVerb(u.text); v != "" {
			verb, object = v, o
		}
	}
	for _, b := range r.bodies {
		if v, o := bodyVerb(b.text); v != "" && (v == "delete" || verb == "send") {
			verb, object = v, o
		}
	}
	return verb, object
}

// requests is one request to one URL.
func (c *call) requests(r request, u arg) {
	verb, object := c.says(r, u)
	c.queries(r, u)
	if r.socket != nil {
		u = r.socket.with("unix:" + r.socket.text)
	}
	if verb == "send" && c.changed(requestChange(r, u), false, u) {
		c.out.taint |= fetched
		return
	}
	if verb == "fetch" || verb == "send" {
		if r.socket == nil || verb != "fetch" {
			c.contacts(verb, u)
		}
		return
	}
	c.emit(rawEffect{kind: engine.EffectNetwork, verb: verb, object: object, egress: true, recursive: wholePath(u.text)}, u)
	c.out.taint |= fetched
}

// contacts is a request that deletes nothing.
func (c *call) contacts(method string, u arg) {
	if strings.HasPrefix(u.text, "file://") {
		c.reads(u.with(strings.TrimPrefix(u.text, "file://")))
		return
	}
	if method == "fetch" && u.taint&(substituted|filed) != 0 && u.value().sure == prefix && strings.Contains(u.text, "/") {
		method = "send" // the output of a command is part of the URL
		c.s.signalIf(u.taint&filed != 0, engine.SignalPipeExternal)
	}
	if method == "fetch" {
		c.fetches(u)
		return
	}
	c.sends(method, u)
	c.out.taint |= fetched
}

// queries finds statements for a database that a request carries: those of
// ClickHouse, InfluxDB and whatever else answers to SQL over HTTP.
func (c *call) queries(r request, u arg) {
	texts := r.bodies
	if _, query, ok := strings.Cut(u.text, "?"); ok {
		if values, err := url.ParseQuery(query); err == nil {
			texts = append(texts[:len(texts):len(texts)], wordsOf(values["q"], values["query"], values["sql"])...)
		}
	}
	host, _ := splitAddress(u.with(u.text[schemeLength(u.text):]))
	for _, t := range texts {
		if text := statementIn(t.text); text != "" {
			for _, l := range readSQL(text, "").losses {
				c.loses(databaseRef{scheme: "http", host: host}, l.verb, l.object)
			}
		}
	}
}

func wordsOf(lists ...[]string) []arg {
	var out []arg
	for _, list := range lists {
		for _, text := range list {
			out = append(out, word(text))
		}
	}
	return out
}

// statementIn is the SQL of a body: all of it, a form's field, or a member of
// JSON that is named after it.
func statementIn(text string) string {
	if _, value, ok := strings.Cut(text, "="); ok && (strings.HasPrefix(text, "q=") || strings.HasPrefix(text, "query=") || strings.HasPrefix(text, "sql=")) {
		if plain, err := url.QueryUnescape(value); err == nil {
			return plain
		}
		return value
	}
	var members struct{ SQL, Statement, Stmt, Query string }
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		if json.Unmarshal([]byte(text), &members) != nil {
			return ""
		}
		return members.SQL + members.Statement + members.Stmt + members.Query
	}
	return text
}

// pathVerb tells whether a segment of a path says that something ends:
// /_delete_by_query, /doDelete, /cache/purge, /keys:delete.
func pathVerb(address string) (verb, object string) {
	path := urlPath(address)
	segments := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == ':' })
	for i, s := range segments {
		if v, noun := endingVerb(s); v != "" && v != "reset" && v != "clear" { // a password is reset, an order cancelled all day
			if noun == "" && i > 0 {
				noun = singular(segments[i-1])
			}
			return v, plainNoun(noun)
		}
	}
	return "", ""
}

func urlPath(address string) string {
	_, path, _ := strings.Cut(address[schemeLength(address):], "/")
	path, _, _ = strings.Cut(path, "?")
	path, _, _ = strings.Cut(path, "#")
	return path
}

// schemeLength is the length of what stands before the host.
func schemeLength(address string) int {
	if i := strings.Index(address, "://"); i >= 0 {
		return i + len("://")
	}
	return 0
}

// nounOfPath is the kind of thing that a path of a REST interface is about: the
// last segment in the plural before the name of the one thing.
func nounOfPath(address string) string {
	segments := strings.Split(strings.Trim(urlPath(address), "/"), "/")
	for i := len(segments) - 1; i >= 0; i-- {
		s := strings.ToLower(segments[i])
		if noun := singular(s); noun != s && plainNoun(noun) != "" {
			return noun
		}
	}
	return ""
}

// wholePath tells whether a path names all that there is: /_all, /*.
func wholePath(address string) bool {
	segments := strings.Split(strings.TrimSuffix(urlPath(address), "/"), "/")
	switch segments[len(segments)-1] {
	case "_all", "*", "all", "%2A":
		return true
	}
	return false
}

// bodyVerb tells what the body of a request does: a mutation of GraphQL, a
// method of JSON-RPC, an action that a member names.
func bodyVerb(text string) (verb, object string) {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "mutation") {
		return graphVerb(trimmed)
	}
	if strings.HasPrefix(trimmed, "<delete") {
		return "delete", ""
	}
	if !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, "[") {
		return "", ""
	}
	d := json.NewDecoder(strings.NewReader(trimmed))
	for n := 0; n < maxBodyValues; n++ { // several values, one a line: the bulk form of search engines
		var v any
		if d.Decode(&v) != nil {
			if n == 0 {
				return graphVerb(trimmed) // not all of it is known
			}
			return "", ""
		}
		if verb, object := valueVerb(v, 0); verb != "" {
			return verb, object
		}
	}
	return "", ""
}

// maxBodyValues bounds the values of a body in the bulk form.
const maxBodyValues = 1000

func valueVerb(v any, depth int) (verb, object string) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if verb, object = memberVerb(key, v[key]); verb == "" && depth < 4 {
				verb, object = valueVerb(v[key], depth+1)
			}
			if verb != "" {
				return verb, object
			}
		}
	case []any:
		for _, item := range v {
			if verb, object = valueVerb(item, depth+1); verb != "" {
				return verb, object
			}
		}
	}
	return "", ""
}

func memberVerb(key string, v any) (verb, object string) {
	text, isText := v.(string)
	_, isMap := v.(map[string]any)
	switch lower := strings.ToLower(key); {
	case lower == "query" && isText:
		return graphVerb(text)
	case isText && (lower == "method" || lower == "action" || lower == "operation" || lower == "command"):
		return endingVerb(text)
	case isMap && (lower == "delete" || lower == "remove_index"):
		return "delete", ""
	}
	return "", ""
}

// graphVerb is what a text of GraphQL ends. Only a mutation changes anything,
// and what it calls its fields by says what they do: volumeDelete, deleteRef.
func graphVerb(text string) (verb, object string) {
	mutation := false
	tokens := tokenize(text, syntaxNode)
	for i, t := range tokens {
		if t.kind != tokenName {
			continue
		}
		if t.text == "mutation" {
			mutation = true
			continue
		}
		alias := i+1 < len(tokens) && tokens[i+1].text == ":" // a: deleteRef, or an argument
		argument := i > 0 && (tokens[i-1].text == "$" || tokens[i-1].text == ":" && !inSelection(tokens[:i]))
		if !mutation || alias || argument {
			continue
		}
		if verb, object := endingVerb(t.text); verb != "" {
			return verb, object
		}
	}
	return "", ""
}

// inSelection tells whether the innermost bracket that is open is a brace.
func inSelection(tokens []token) bool {
	depth := 0
	for i := len(tokens) - 1; i >= 0; i-- {
		switch tokens[i].text {
		case ")", "}", "]":
			depth++
		case "(", "{", "[":
			if depth == 0 {
				return tokens[i].text == "{"
			}
			depth--
		}
	}
	return true
}
