package programs

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/sql"
)

// request is an HTTP request. All clients produce one, and one function determines what it
// does.
type request struct {
	method string // fetch, send, delete
	bodies []abstract.Arg
	socket *abstract.Arg // a socket of this machine instead of a host
}

// named sets a method that a person wrote.
func (r *request) named(m abstract.Arg, ok bool) {
	if ok {
		r.method = shell.HttpVerb(m.Text)
	}
}

// header handles a header line. Some servers take the method from one.
func (r *request) header(line abstract.Arg) {
	name, value, _ := strings.Cut(line.Text, ":")
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "x-http-method-override", "x-http-method", "x-method-override":
		if v := shell.HttpVerb(strings.TrimSpace(value)); v == "delete" || r.method == "fetch" {
			r.method = v
		}
	}
}

// body handles a string that is sent.
func (r *request) body(text abstract.Arg) {
	if r.method == "fetch" {
		r.method = "send"
	}
	r.bodies = append(r.bodies, text)
}

// field handles a field of a body that the client encodes itself.
func (r *request) field(name string, value abstract.Arg) {
	if name == "_method" && shell.HttpVerb(value.Text) == "delete" {
		r.method = "delete"
	}
	quoted, err := json.Marshal(map[string]string{name: value.Text})
	if err != nil {
		quoted = []byte(value.Text)
	}
	r.body(value.With(string(quoted)))
}

// bodies returns the texts of the data options of curl and wget: given directly, in a file
// that the script has written, or on standard input.
func bodies(c *shell.Call, given []abstract.Arg) []abstract.Arg {
	var out []abstract.Arg
	for _, b := range given {
		if i := strings.IndexByte(b.Text, '@'); i == 0 || i > 0 && b.Text[i-1] == '=' {
			out = append(out, held(c, b.With(b.Text[i+1:]))...)
			continue
		}
		out = append(out, b)
	}
	return out
}

// held returns the contents of a file, as far as they are known.
func held(c *shell.Call, file abstract.Arg) []abstract.Arg {
	if file.Is("-", "/dev/stdin") && c.Shell.Frame.Stdin != nil {
		return []abstract.Arg{*c.Shell.Frame.Stdin}
	}
	if file.From != nil {
		return []abstract.Arg{*file.From}
	}
	if text, ok := c.Shell.Written(file); ok {
		return []abstract.Arg{text}
	}
	return nil
}

// says returns what the method, path and body of a request do, the worst of them, and its
// object.
func says(c *shell.Call, r request, u abstract.Arg) (verb, object string) {
	verb, object = r.method, operation.NounOfPath(u.Text)
	if verb == "send" {
		if v, o := operation.PathVerb(vocabulary(c), u.Text); v != "" {
			verb, object = v, o
		}
	}
	for _, b := range r.bodies {
		if v, o := operation.BodyVerb(vocabulary(c), b.Text); v != "" && (v == "delete" || verb == "send") {
			verb, object = v, o
		}
	}
	return verb, object
}

// requests handles one request to one URL.
func requests(c *shell.Call, r request, u abstract.Arg) {
	verb, object := says(c, r, u)
	queries(c, r, u)
	if r.socket != nil {
		u = r.socket.With("unix:" + r.socket.Text)
	}
	if Engine(c.Shell.In.Rows, u.Text) {
		c.Shell.SignalIf(verb == "fetch", engine.SignalCredential)
		c.Shell.SignalIf(verb != "fetch", engine.SignalContainerHost)
	}
	if verb == "send" && changed(c, requestChange(c, r, u), false, u) {
		c.Out.Taint |= abstract.Fetched
		return
	}
	if verb == "fetch" || verb == "send" {
		if r.socket == nil || verb != "fetch" {
			contacts(c, verb, vocabulary(c).Paid(operation.NounOfPath(u.Text)), u)
		}
		return
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: verb, Object: object, Egress: true, Recursive: operation.WholePath(u.Text)}, u)
	c.Out.Taint |= abstract.Fetched
}

// Engine reports whether a request goes to the container engine of this machine: it reveals
// the environment of containers, and anyone who can start a container controls the machine.
func Engine(set *rows.Set, url string) bool {
	socket, local := strings.CutPrefix(url, "unix:")
	host := place.HostOf(abstract.Word(url).Value())
	return slices.ContainsFunc(set.Words("services.engines"), func(word string) bool {
		if strings.HasPrefix(word, ":") {
			return place.Loopback(host) && strings.Contains(url+"/", word+"/")
		}
		return local && strings.HasSuffix(socket, word)
	})
}

// contacts handles a request that deletes nothing. The path shows whether it sends money or
// a message.
func contacts(c *shell.Call, method, object string, u abstract.Arg) {
	if strings.HasPrefix(u.Text, "file://") {
		c.Reads(u.With(strings.TrimPrefix(u.Text, "file://")))
		return
	}
	if method == "fetch" && u.Taint&(abstract.Substituted|abstract.OfFile) != 0 && u.Value().Sure == abstract.Prefix &&
		strings.Contains(u.Text, "/") {
		method = "send" // the output of a command is part of the URL
		c.Shell.SignalIf(u.Taint&abstract.OfFile != 0, engine.SignalPipeExternal)
	}
	if method == "fetch" {
		c.Fetches(u)
		return
	}
	c.SendsObject(method, object, u)
	c.Out.Taint |= abstract.Fetched
}

// queries finds database statements in a request: those of ClickHouse, InfluxDB and other
// servers that accept SQL over HTTP.
func queries(c *shell.Call, r request, u abstract.Arg) {
	texts := r.bodies
	if _, query, ok := strings.Cut(u.Text, "?"); ok {
		if values, err := url.ParseQuery(query); err == nil {
			texts = append(texts[:len(texts):len(texts)], wordsOf(values["q"], values["query"], values["sql"])...)
		}
	}
	host, _ := shell.SplitAddress(u.With(u.Text[operation.SchemeLength(u.Text):]))
	for _, t := range texts {
		if text := statementIn(t.Text); text != "" {
			for _, l := range sql.Read(text, "").Losses {
				c.Loses(shell.Database{Scheme: "http", Host: host}, l.Verb, l.Object)
			}
		}
	}
}

func wordsOf(lists ...[]string) []abstract.Arg {
	var out []abstract.Arg
	for _, list := range lists {
		for _, text := range list {
			out = append(out, abstract.Word(text))
		}
	}
	return out
}

// statementIn returns the SQL in a body: all of it, a form field, or a JSON member with a
// name such as sql or query.
func statementIn(text string) string {
	if _, value, ok := strings.Cut(text, "="); ok &&
		(strings.HasPrefix(text, "q=") || strings.HasPrefix(text, "query=") || strings.HasPrefix(text, "sql=")) {
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
