package languages

import (
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// pythonMethod handles a method call on a value: a path, a file, a string.
func pythonMethod(r *codeReader, fn codeValue, args []codeValue, named map[string]codeValue) codeValue {
	c := r.c
	name, self := fn.name[1:], fn.receiver()
	switch {
	case self.path:
		if out, ok := r.pathMethod(self, name, args, named); ok {
			return out
		}
	case self.origin != "":
		r.objectMethod(self, name, args, named)
	}
	r.runsMethod(self, name, args, named)
	if self.opened != nil && name == "write" {
		r.keeps(*self.opened, argAt(args, 0), true)
	}
	switch name {
	case "unlink":
		c.Deletes(false, false, self.texts()...)
	case "rmtree":
		c.Deletes(true, true, self.texts()...)
	case "write_text", "write_bytes":
		c.Writes("write", self.texts()...)
		r.keeps(self.texts()[0], argAt(args, 0), false)
	case "connect":
		if len(args) > 0 {
			r.connects(connectHost(args)[0])
		}
	case "execute", "executescript":
		c.SqlAt(databaseOf(self), argAt(args, 0).texts()[0])
	default:
		if abstract.IsURL(argAt(args, 0).texts()[0]) || name == "request" && abstract.IsURL(argAt(args, 1).texts()[0]) {
			return r.request(name, args, named)
		}
		return textMethod(self, name, args, named)
	}
	return unknownValue()
}

// databaseOf returns the database of a connection or a cursor.
func databaseOf(v codeValue) shell.Database {
	switch scheme, ok := drivers[v.origin]; {
	case !ok || !v.text.Known():
		return shell.Database{Scheme: "sql"}
	case scheme == "sqlite":
		return shell.Database{Scheme: scheme, Name: v.text}
	default:
		d := shell.Database{Scheme: scheme}
		d.Address(v.text)
		return d
	}
}

// drivers maps the functions that open databases to the schemes of their addresses.
var drivers = map[string]string{
	"sqlite3.connect": "sqlite", "psycopg2.connect": "postgres", "psycopg.connect": "postgres",
	"pymysql.connect": "mysql", "MySQLdb.connect": "mysql", "mysql.connector.connect": "mysql", "mariadb.connect": "mysql",
}

// serverAddress returns the database address that a driver is given as one string: a URL or
// host=… dbname=… as written, or the arguments with these names.
func serverAddress(args []codeValue, named map[string]codeValue) abstract.Arg {
	out := argAt(args, 0).texts()[0]
	if len(args) == 0 {
		out = abstract.Word("")
	}
	for _, key := range []string{"dsn", "host", "dbname", "database", "db"} {
		v, ok := named[key]
		switch field := map[string]string{"host": " host=", "dsn": ""}[key]; {
		case !ok:
		case key == "host" || key == "dsn":
			out = abstract.Concat(out, abstract.Concat(abstract.Word(field), v.texts()[0]))
		default:
			out = abstract.Concat(out, abstract.Concat(abstract.Word(" dbname="), v.texts()[0]))
		}
	}
	return out
}

// pathMethod handles methods of pathlib.Path; false: it is not one.
func (r *codeReader) pathMethod(self codeValue, name string, args []codeValue, named map[string]codeValue) (codeValue, bool) {
	c, targets := r.c, self.texts()
	switch name {
	case "rmdir":
		c.Deletes(false, false, targets...)
	case "touch", "mkdir":
		c.Writes("create", targets...)
	case "rename", "replace", "move":
		moves(c, targets, argAt(args, 0).texts())
	case "symlink_to", "hardlink_to":
		links(c, argAt(args, 0).texts(), targets, name == "symlink_to")
	case "chmod":
		c.Writes("chmod", targets...)
	case "open":
		mode := argAt(args, 0)
		if m, ok := named["mode"]; ok {
			mode = m
		}
		opens(c, targets, mode)
		return openedFile(targets), true
	case "read_text", "read_bytes":
		c.Reads(targets...)
		return codeValue{text: abstract.Arg{Text: abstract.HoleText, Taint: abstract.Filed}, known: true}, true
	case "glob", "rglob", "iterdir":
		pattern := "*"
		if text, ok := argAt(args, 0).one(); ok && len(args) > 0 {
			pattern = text
		}
		if name == "rglob" {
			pattern = "**/" + pattern
		}
		return self.each(func(a abstract.Arg) abstract.Arg { a = JoinPath(a, abstract.Word(pattern)); a.Glob = true; return a }), true
	case "expanduser":
		return self.each(func(a abstract.Arg) abstract.Arg { return expandUser(c.Shell, a) }), true
	case "joinpath":
		for _, a := range args {
			self = plus(self, a, true)
		}
		return self, true
	case "resolve", "absolute", "as_posix":
		return self, true
	default:
		return codeValue{}, false
	}
	return unknownValue(), true
}

// objectMethod handles methods of what a library call returned.
func (r *codeReader) objectMethod(self codeValue, name string, args []codeValue, named map[string]codeValue) {
	c := r.c
	first := argAt(args, 0).texts()
	library, _, _ := strings.Cut(self.origin, ".")
	switch library {
	case "zipfile", "tarfile":
		if name == "extractall" || name == "extract" {
			to := argAt(args, 0)
			if name == "extract" {
				to = argAt(args, 1)
			}
			if p, ok := named["path"]; ok {
				to = p
			}
			if to.empty() {
				to = textValue(abstract.Word("."))
			}
			c.Writes("write", to.texts()...)
		}
	case "socket":
		if name == "bind" {
			c.Listens(connectHost(args)[0], nil)
		}
	case "ctypes":
		switch name {
		case "system", "popen":
			c.Shell.Embed(first[0], "python", false)
		case "unlink", "remove", "rmdir":
			c.Deletes(false, false, first...)
		}
	case "paramiko", "fabric":
		switch name {
		case "connect":
			r.vars["ssh host"] = argAt(args, 0)
		case "exec_command", "run", "sudo":
			host := r.lookup("ssh host").texts()[0]
			c.Child(func() shell.Outcome {
				return c.Shell.Invoke([]abstract.Arg{abstract.Word("ssh"), host, first[0]}, c.Node)
			})
		}
	case "http":
		if name == "request" {
			r.request(strings.ToLower(first[0].Text), []codeValue{textValue(self.text)}, named)
		}
	case "flask", "Flask":
		if h, ok := named["host"]; ok && name == "run" {
			c.Listens(h.texts()[0], nil)
		}
	case "boto3", "botocore", "google", "azure", "kubernetes", "stripe", "digitalocean", "oci", "openstack":
		if verb, _, _ := strings.Cut(name, "_"); verb == "delete" || verb == "terminate" || verb == "destroy" || verb == "purge" {
			c.Signal(engine.SignalInfraDelete)
			c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "delete", Egress: true, Reversible: engine.R5}, abstract.Word(library))
		}
	}
}

// textMethod handles methods of a string or a list.
func textMethod(self codeValue, name string, args []codeValue, named map[string]codeValue) codeValue {
	switch name {
	case "format":
		if len(self.texts()) == 1 {
			return fillBraces(self.text, args, named)
		}
	case "join":
		if list := argAt(args, 0); list.isList && len(args) == 1 {
			return joined(self.texts()[0], list)
		}
	case "replace":
		from, ok := argAt(args, 0).one()
		to, known := argAt(args, 1).one()
		if ok && known && from != "" {
			return self.each(func(a abstract.Arg) abstract.Arg { return clipped(a, strings.ReplaceAll(a.Text, from, to)) })
		}
	case "lower":
		return self.each(func(a abstract.Arg) abstract.Arg { return a.With(strings.ToLower(a.Text)) })
	case "upper":
		return self.each(func(a abstract.Arg) abstract.Arg { return a.With(strings.ToUpper(a.Text)) })
	case "strip", "rstrip", "lstrip":
		if len(args) == 0 {
			return self.each(func(a abstract.Arg) abstract.Arg { return a.With(strings.TrimSpace(a.Text)) })
		}
	case "split":
		if len(args) == 0 {
			return splitWords(self)
		}
		return codeValue{text: self.text, known: self.known, alts: self.alts, path: self.path}
	case "read", "decode", "encode", "splitlines", "values", "items", "copy", "readlines":
		if len(self.fields) > 0 && name == "values" {
			var list []codeValue
			for _, key := range slices.Sorted(maps.Keys(self.fields)) {
				list = append(list, self.fields[key])
			}
			return listValue(list)
		}
		if dumpsEnvironment(self) {
			return unknownValue()
		}
		return self
	}
	return codeValue{text: self.text, origin: self.origin}
}

// clipped returns a with another text, limited in length.
func clipped(a abstract.Arg, text string) abstract.Arg {
	if len(text) > abstract.MaxText {
		text = abstract.CutText(text)
	}
	return a.With(text)
}

// splitWords returns the list of words of a string without quotes.
func splitWords(v codeValue) codeValue {
	text, ok := v.one()
	if !ok || !v.known || strings.ContainsAny(text, `"'\`) {
		return v
	}
	var list []codeValue
	for _, w := range strings.Fields(text) {
		list = append(list, textValue(v.text.With(w)))
	}
	return listValue(list)
}

func rot13(a abstract.Arg) abstract.Arg {
	out := a.With(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return 'a' + (r-'a'+13)%26
		case r >= 'A' && r <= 'Z':
			return 'A' + (r-'A'+13)%26
		}
		return r
	}, a.Text))
	out.Taint |= abstract.Decoded
	return out
}
