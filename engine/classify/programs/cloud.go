package programs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// Lists by which a module of Ansible becomes the command that does the same:
// "file state=absent: rm -rf $path".
const (
	moduleCommands = "ansible.modules"    // what it does on the other hosts
	moduleSources  = "ansible.controller" // what it does here: the file that it copies
)

// ansible runs a module on other hosts. A module that is not in the lists is only a request
// to these hosts.
func ansible(c *shell.Call) {
	m, _ := c.Opts.Get("-m", "--module-name")
	args, _ := c.Opts.Get("-a", "--args")
	name := m.Text[strings.LastIndexByte(m.Text, '.')+1:]
	if name == "" {
		name = "command"
	}
	given := moduleArguments(args.Text)
	if code, ok := moduleCommand(c, moduleSources, name, given); ok && args.Known() {
		if file, found := strings.CutPrefix(code, "sh "); found && !holdsCode(c, file) {
			c.Shell.Opaque("code", name) // it runs on all the hosts, and its code is unknown
		}
		c.Child(func() shell.Outcome { return c.Shell.Embed(args.With(code), c.Name, false) })
	}
	code, ok := moduleCommand(c, moduleCommands, name, given)
	if !ok {
		return
	}
	whole := args
	switch {
	case args.Known():
		whole = args.With(code)
	case code != args.Text: // it is not known which of the values is unknown
		whole = abstract.UnknownArg()
	}
	c.At(shell.Venue{Wrapper: c.Name, Host: c.Shell.HostName("ssh", c.Opts.Operand(0))}, func() { c.Shell.Embed(whole, c.Name, false) })
}

// holdsCode reports whether the first word of a command is a file whose text is known, or
// that is under version control.
func holdsCode(c *shell.Call, command string) bool {
	name := append(strings.Fields(command), "")[0]
	_, ok := c.Shell.CodeIn(abstract.Word(name), "shell")
	return ok || c.Shell.InVersionControl(abstract.Word(name))
}

// moduleCommand returns the command of the first entry of a list with a matching module and
// values.
func moduleCommand(c *shell.Call, list, name string, given map[string][]string) (string, bool) {
	for _, entry := range c.Shell.In.Rows.Words(list) {
		conditions, command, _ := strings.Cut(entry, ": ")
		words := strings.Fields(conditions)
		if len(words) > 0 && words[0] == name && moduleFits(words[1:], given) {
			return filledIn(command, given), true
		}
	}
	return "", false
}

// moduleFits reports whether the arguments have all of these values, key=a|b; key=* matches
// any value.
func moduleFits(conditions []string, given map[string][]string) bool {
	for _, condition := range conditions {
		key, values, _ := strings.Cut(condition, "=")
		value := strings.ToLower(strings.Join(given[key], " "))
		if values == "*" && value == "" || values != "*" && !slices.Contains(strings.Split(values, "|"), value) {
			return false
		}
	}
	return true
}

// filledIn replaces $key in a command with the values of arguments. A word whose argument
// is missing is left out; $_ is the whole text, as code.
func filledIn(command string, given map[string][]string) string {
	words := strings.Fields(command)
	for i, word := range words {
		before, rest, ok := strings.Cut(word, "$")
		key := rest
		if end := strings.IndexFunc(rest, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) }); end > 0 {
			key = rest[:end]
		}
		switch values := given[key]; {
		case !ok:
		case len(values) == 0:
			words[i] = ""
		case key == "_":
			words[i] = before + values[0]
		default:
			words[i] = ""
			for _, value := range values {
				words[i] += " " + before + shell.Quote(value) + rest[len(key):]
			}
		}
	}
	return strings.Join(words, " ")
}

// moduleArguments parses key=value words, with quotes, or JSON; the whole text is under _.
// A list has several values.
func moduleArguments(text string) map[string][]string {
	given := map[string][]string{}
	var object map[string]any
	if json.Unmarshal([]byte(text), &object) == nil {
		for key, value := range object {
			list, ok := value.([]any)
			if !ok {
				list = []any{value}
			}
			for _, v := range list {
				given[key] = append(given[key], fmt.Sprint(v))
			}
		}
	} else {
		for _, word := range argumentWords(text) {
			if key, value, ok := strings.Cut(word, "="); ok {
				given[key] = moduleList(value)
			}
		}
	}
	given["_"] = []string{text}
	return given
}

// moduleList returns the members of a comma-separated list of plain names: libc6,bash.
func moduleList(value string) []string {
	if strings.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,_+-") != "" {
		return []string{value}
	}
	return strings.Split(value, ",")
}

// argumentWords returns the words of a string, with all quotes removed.
func argumentWords(text string) (words []string) {
	var word strings.Builder
	quote := rune(0)
	for _, r := range text + " " {
		switch {
		case quote == r:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
		case quote == 0 && unicode.IsSpace(r):
			if word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
		default:
			word.WriteRune(r)
		}
	}
	return words
}

// awsCopy copies between this machine and a bucket, or from one to another.
func awsCopy(c *shell.Call) {
	o, host := c.Opts, c.Service
	from, to := o.Operand(2), o.Operand(3)
	switch {
	case abstract.IsURL(from) && host.Is("aws"):
		c.Fetches(from)
	case abstract.IsURL(from):
		c.Fetches(host)
	default:
		c.Reads(from)
		if o.Operand(1).Is("mv") {
			c.Emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "move", Recursive: o.Has("--recursive")}, from)
		}
	}
	if !abstract.IsURL(to) {
		c.Emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "write", Recursive: true}, to)
		if o.Has("--delete") {
			c.Emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Recursive: true, Contents: true}, to)
		}
		return
	}
	if host.Is("aws") {
		host = to
	}
	c.Sends("send", host)
	if acl, ok := o.Get("--acl"); ok && everybody("acl", acl) {
		changed(c, change{"expose", "object"}, false, host)
	}
	if o.Has("--delete") {
		ends(c, "delete", "object", true, false, c.Service)
	}
}

// javaTool handles java -jar TOOL.jar: the client of a service is judged as a program with
// the archive's name.
func javaTool(c *shell.Call) {
	jar, ok := c.Opts.Get("-jar")
	base, known := jar.Base()
	if !ok || !known {
		c.Process()
		return
	}
	c.Process()
	c.Name = strings.TrimSuffix(strings.ToLower(base), ".jar")
	c.Opts = options.Parse(afterJar(c.Args), options.Grammar{Values: " -s -auth -i -user -logger "})
	unlisted(c)
}

func afterJar(args []abstract.Arg) []abstract.Arg {
	for i, a := range args {
		if a.Is("-jar") {
			return args[min(i+2, len(args)):]
		}
	}
	return nil
}

// ghAPI handles gh api: method, path and body determine what it does.
func ghAPI(c *shell.Call) {
	o, host, r := c.Opts, c.Service, request{method: "fetch"}
	fields := o.All("-f", "-F", "--field", "--raw-field")
	graph := o.Operand(1).Is("graphql")
	for _, f := range fields {
		name, value, _ := strings.Cut(f.Text, "=")
		if graph && name == "query" {
			if file, ok := strings.CutPrefix(value, "@"); ok {
				for _, text := range held(c, f.With(file)) {
					value = text.Text
				}
			}
			f = f.With(value)
			if !strings.Contains(value, "mutation") && f.Known() {
				continue // a query, which changes nothing
			}
			r.body(f)
			continue
		}
		if !graph {
			r.body(abstract.UnknownArg())
			r.visibility(name, value)
		}
	}
	for _, f := range o.All("--input") {
		r.body(abstract.UnknownArg())
		r.bodies = append(r.bodies, held(c, f)...)
	}
	m, named := o.Get("-X", "--method")
	r.named(m, named)
	for _, h := range o.All("-H", "--header") {
		r.header(h)
	}
	verb, object := says(c, r, o.Operand(1))
	switch verb {
	case "fetch":
		c.Fetches(host)
		c.Out.Taint &^= abstract.Fetched
	case "send":
		if !changed(c, requestChange(c, r, o.Operand(1)), false, host) {
			c.Sends(verb, host)
		}
	default:
		if !graph {
			object = nounOfEndpoint(o.Operand(1).Text)
		}
		ends(c, verb, object, false, false, host)
	}
}

// change describes what an operation does to an object elsewhere without removing it: it
// opens it to everyone (expose), grants rights to it (grant), disables its protection or
// its logging (disable), or sets a record of names (send). The object is the kind of thing,
// or the right.
type change struct{ verb, object string }

// optionChanges returns the change that the words and options of a command line describe,
// for any cloud. Empty: none is known.
func optionChanges(c *shell.Call, words []abstract.Arg) change {
	if ch := documentChange(c, words); ch.verb != "" {
		return ch
	}
	args := c.Args
	for i, a := range args {
		name, value, has := strings.Cut(a.Text, "=")
		if !strings.HasPrefix(name, "--") {
			continue
		}
		v := a.With(value)
		if !has && i+1 < len(args) && !args[i+1].HasPrefix("-") {
			v = args[i+1]
		}
		if ch := optionChange(c, name[2:], v, words); ch.verb != "" {
			return ch
		}
	}
	if about(words, "dns", "route53", "record", "record-sets") && makes(vocabulary(c), words) {
		return change{"send", "record"}
	}
	return change{}
}

// optionChange returns the change that one option makes to the object that the words name.
func optionChange(c *shell.Call, name string, v abstract.Arg, words []abstract.Arg) change {
	off, negated := strings.CutPrefix(name, "no-")
	switch {
	case everybody(name, v), about(words, "attribute") && sharedWithAll(name, v.Text):
		return change{"expose", thingOf(vocabulary(c), words)}
	case slices.Contains([]string{"role", "policy-arn", "clusterrole", "group-name"}, name) &&
		about(words, "iam", "role", "clusterrolebinding", "rolebinding"):
		return change{"grant", rightName(v.Text)}
	case negated && protects(c, off) || protects(c, name) && switchedOff(v.Text):
		return change{"disable", protectionName(off)}
	case name == "backup-retention-period" && v.Is("0"):
		return change{"disable", "backup"}
	}
	return change{}
}

// everybody reports whether an option opens something to everyone: an access list, a
// member, a range of addresses, a policy document, or a switch of its own.
func everybody(name string, v abstract.Arg) bool {
	text := strings.ToLower(v.Text)
	switch name {
	case "acl", "predefined-acl", "canned-acl":
		return strings.HasPrefix(text, "public") || text == "authenticated-read"
	case "member", "principal", "grant-read", "grant-write", "grant-full-control":
		return text == "*" || strings.HasSuffix(text, "allusers") || strings.HasSuffix(text, "allauthenticatedusers")
	case "cidr", "cidr-ip", "source-ranges", "source-address-prefixes", "source-address-prefix", "authorized-networks", "ip-permissions":
		return text == "*" || text == "internet" || strings.Contains(text, "0.0.0.0/0") || strings.Contains(text, "::/0")
	case "public-access-block-configuration":
		return strings.Contains(text, "false")
	case "auth-type":
		return text == "none"
	case "public-access":
		return text == "blob" || text == "container"
	case "visibility":
		return text == "public"
	case "publicly-accessible", "allow-unauthenticated", "allow-blob-public-access":
		return !switchedOff(text)
	}
	return false
}

// sharedWithAll reports whether an attribute of a snapshot or an image shares
// it with everyone.
func sharedWithAll(name, value string) bool {
	switch name {
	case "group-names", "values-to-add", "user-ids":
		return value == "all"
	case "launch-permission", "create-volume-permission":
		return strings.Contains(value, "Add") && strings.Contains(value, "all")
	}
	return false
}

// protects recognises the options that protect something from loss, or log what is done to
// it.
func protects(c *shell.Call, name string) bool {
	return slices.ContainsFunc(operation.NameParts(name), func(part string) bool { return listed(c, "protecting", part) })
}

// switchedOff recognises values with which an option is turned off.
func switchedOff(text string) bool {
	text = strings.ToLower(text)
	return slices.Contains([]string{"off", "false", "none", "disabled"}, text) ||
		strings.Contains(text, "suspended") || strings.Contains(text, "enabled=false")
}

func protectionName(option string) string {
	option = strings.TrimPrefix(option, "enable-")
	return operation.PlainNoun(strings.TrimSuffix(strings.TrimSuffix(option, "-configuration"), "-specification"))
}

// rightName returns the last part of the name of a role or a policy; empty if unknown.
func rightName(name string) string {
	name = strings.ToLower(name[strings.LastIndexAny(name, "/:")+1:])
	name = strings.NewReplacer(".", "-", " ", "-").Replace(name)
	if len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return ""
	}
	return name
}

// thingOf returns the kind of object of a command line: the word before the operation, or
// the noun in the operation's own name.
func thingOf(w *operation.Words, words []abstract.Arg) string {
	for i, a := range words[:min(len(words), 4)] {
		parts := operation.NameParts(a.Text)
		if len(parts) == 0 || !w.Makes(parts[0]) && !w.Changes(parts[0]) {
			continue
		}
		if len(parts) > 1 {
			return operation.PlainNoun(operation.Singular(strings.Join(parts[1:], "-")))
		}
		if i > 0 {
			return operation.PlainNoun(operation.Singular(words[i-1].Text))
		}
	}
	return ""
}

// makes reports whether the first words create or change something.
func makes(w *operation.Words, words []abstract.Arg) bool {
	for _, a := range words[:min(len(words), 4)] {
		for _, part := range operation.NameParts(a.Text) {
			if w.Makes(part) || w.Changes(part) {
				return true
			}
		}
	}
	return false
}

// about reports whether one of the first words is one of the names, or contains it as a
// part: add-iam-policy-binding.
func about(words []abstract.Arg, names ...string) bool {
	for _, a := range words[:min(len(words), 4)] {
		for _, n := range names {
			if a.Is(n) || strings.Contains("-"+a.Text+"-", "-"+n+"-") {
				return true
			}
		}
	}
	return false
}

// changed adds the effect of a change; false: no change is known.
func changed(c *shell.Call, ch change, confirmed bool, host abstract.Arg) bool {
	switch {
	case ch.verb == "":
		return false
	case ch.verb == "disable":
		ends(c, ch.verb, ch.object, false, confirmed, host)
		return true
	case confirmed:
		c.Signal(engine.SignalUnconfirmed)
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: ch.verb, Object: ch.object, Egress: true, Forced: confirmed}, host)
	return true
}

// documentChange returns what a policy document that an option gives allows.
func documentChange(c *shell.Call, words []abstract.Arg) change {
	for _, doc := range documents(c) {
		switch right := operation.DocumentRight(doc); right {
		case "":
		case "everybody":
			return change{"expose", thingOf(vocabulary(c), words)}
		default:
			return change{"grant", right}
		}
	}
	return change{}
}

// documents returns the policy documents that options give, as a string or as the name of a
// file.
func documents(c *shell.Call) []string {
	var out []string
	for _, name := range []string{"--policy", "--policy-document"} {
		v, ok := c.Opts.Get(name)
		if !ok {
			continue
		}
		if path, isFile := strings.CutPrefix(v.Text, "file://"); isFile {
			for _, text := range held(c, v.With(path)) {
				out = append(out, text.Text)
			}
			continue
		}
		out = append(out, v.Text)
	}
	return out
}

// nounOfEndpoint returns the kind of object of an API path of a code platform:
// repos/ana/shop is a repository, and repos/ana/shop/issues/7 an issue.
func nounOfEndpoint(endpoint string) string {
	parts := strings.Split(strings.Trim(endpoint, "/"), "/")
	if parts[0] == "repos" && len(parts) > 3 {
		parts = parts[3:]
	}
	if parts[0] == "projects" && len(parts) > 2 {
		parts = parts[2:]
	}
	if last := parts[len(parts)-1]; last == "protection" {
		return last
	}
	return operation.PlainNoun(operation.Singular(parts[0]))
}

// verbFirst distinguishes delete-job from watch-del.
func verbFirst(c *shell.Call, op string) bool {
	parts := operation.NameParts(op)
	first, _ := vocabulary(c).Ending(parts[0])
	return len(parts) > 1 && first != ""
}

// requestChange returns the change that the path and body of a request describe.
func requestChange(c *shell.Call, r request, u abstract.Arg) change {
	path := strings.Trim(u.Text, "/")
	if operation.SchemeLength(u.Text) > 0 {
		path = operation.URLPath(u.Text)
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if s == "repos" || s == "projects" || s == "orgs" || s == "zones" {
			return platformPath(c, segments[i:], r.bodies)
		}
	}
	return change{}
}

// platformPath returns the path below a repository, a project or a zone.
func platformPath(c *shell.Call, segments []string, bodies []abstract.Arg) change {
	for _, s := range segments[1:] {
		switch noun := listedAs(c, "entries", s); {
		case noun == "record":
			return change{"send", noun}
		case noun != "":
			return change{"grant", noun}
		case s == "protection" || s == "rulesets":
			return change{"change", operation.Singular(s)}
		}
	}
	for _, b := range bodies {
		if opensRepository(b.Text) {
			return change{"expose", "repository"}
		}
	}
	return change{}
}

// opensRepository reports whether a body makes a repository public.
func opensRepository(body string) bool {
	var doc struct{ Private, Visibility any }
	return json.Unmarshal([]byte(body), &doc) == nil && (doc.Visibility == "public" || doc.Private == false || doc.Private == "false")
}

// visibility returns the field of a request that sets who can see a repository.
func (r *request) visibility(name, value string) {
	if name == "private" || name == "visibility" {
		r.field(name, abstract.Word(value))
	}
}
