package classify

import (
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// pythonMethod is a call of a method of a value: a path, a file, a string.
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
	switch name {
	case "unlink":
		c.deletes(false, false, self.texts()...)
	case "rmtree":
		c.deletes(true, true, self.texts()...)
	case "write_text", "write_bytes":
		c.writes("write", self.texts()...)
	case "connect":
		if len(args) > 0 {
			r.connects(connectHost(args)[0])
		}
	case "execute", "executescript":
		c.sqlAt(databaseOf(self), argAt(args, 0).texts()[0])
	default:
		if isURL(argAt(args, 0).texts()[0]) || name == "request" && isURL(argAt(args, 1).texts()[0]) {
			return r.request(name, args, named)
		}
		return textMethod(self, name, args, named)
	}
	return unknownValue()
}

// databaseOf is the database that a connection, or a cursor of one, is for.
func databaseOf(v codeValue) databaseRef {
	switch scheme, ok := drivers[v.origin]; {
	case !ok || !v.text.known():
		return databaseRef{scheme: "sql"}
	case scheme == "sqlite":
		return databaseRef{scheme: scheme, name: v.text}
	default:
		d := databaseRef{scheme: scheme}
		d.address(v.text)
		return d
	}
}

// drivers are the functions that open databases, with the schemes of their
// addresses.
var drivers = map[string]string{
	"sqlite3.connect": "sqlite", "psycopg2.connect": "postgres", "psycopg.connect": "postgres",
	"pymysql.connect": "mysql", "MySQLdb.connect": "mysql", "mysql.connector.connect": "mysql", "mariadb.connect": "mysql",
}

// serverAddress writes what a driver is told of its database as one text: a
// URL or host=… dbname=… as it stands, or the arguments of these names.
func serverAddress(args []codeValue, named map[string]codeValue) arg {
	out := argAt(args, 0).texts()[0]
	if len(args) == 0 {
		out = word("")
	}
	for _, key := range []string{"dsn", "host", "dbname", "database", "db"} {
		v, ok := named[key]
		switch field := map[string]string{"host": " host=", "dsn": ""}[key]; {
		case !ok:
		case key == "host" || key == "dsn":
			out = concat(out, concat(word(field), v.texts()[0]))
		default:
			out = concat(out, concat(word(" dbname="), v.texts()[0]))
		}
	}
	return out
}

// pathMethod is a method of pathlib.Path; false if it is none.
func (r *codeReader) pathMethod(self codeValue, name string, args []codeValue, named map[string]codeValue) (codeValue, bool) {
	c, targets := r.c, self.texts()
	switch name {
	case "rmdir":
		c.deletes(false, false, targets...)
	case "touch", "mkdir":
		c.writes("create", targets...)
	case "rename", "replace", "move":
		c.moves(targets, argAt(args, 0).texts())
	case "chmod", "symlink_to", "hardlink_to":
		c.writes("chmod", targets...)
	case "open":
		mode := argAt(args, 0)
		if m, ok := named["mode"]; ok {
			mode = m
		}
		c.opens(targets, mode)
		return codeValue{text: arg{text: holeText, taint: filed}, known: true}, true
	case "read_text", "read_bytes":
		c.reads(targets...)
		return codeValue{text: arg{text: holeText, taint: filed}, known: true}, true
	case "glob", "rglob", "iterdir":
		pattern := "*"
		if text, ok := argAt(args, 0).one(); ok && len(args) > 0 {
			pattern = text
		}
		if name == "rglob" {
			pattern = "**/" + pattern
		}
		return self.each(func(a arg) arg { a = joinPath(a, word(pattern)); a.glob = true; return a }), true
	case "expanduser":
		return self.each(func(a arg) arg { return c.s.expandUser(a) }), true
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

// objectMethod is a method of what a library's call has made.
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
				to = textValue(word("."))
			}
			c.writes("write", to.texts()...)
		}
	case "socket":
		if name == "bind" {
			c.listens(connectHost(args)[0], nil)
		}
	case "ctypes":
		switch name {
		case "system", "popen":
			c.s.embed(first[0], "python", false)
		case "unlink", "remove", "rmdir":
			c.deletes(false, false, first...)
		}
	case "paramiko", "fabric":
		switch name {
		case "connect":
			r.vars["ssh host"] = argAt(args, 0)
		case "exec_command", "run", "sudo":
			host := r.lookup("ssh host").texts()[0]
			c.child(func() outcome { return c.s.invoke([]arg{word("ssh"), host, first[0]}, c.node) })
		}
	case "http":
		if name == "request" {
			r.request(strings.ToLower(first[0].text), []codeValue{textValue(self.text)}, named)
		}
	case "flask", "Flask":
		if h, ok := named["host"]; ok && name == "run" {
			c.listens(h.texts()[0], nil)
		}
	case "boto3", "botocore", "google", "azure", "kubernetes", "stripe", "digitalocean", "oci", "openstack":
		if verb, _, _ := strings.Cut(name, "_"); verb == "delete" || verb == "terminate" || verb == "destroy" || verb == "purge" {
			c.signal(engine.SignalInfraDelete)
			c.emit(rawEffect{kind: engine.EffectNetwork, verb: "delete", egress: true, reversible: engine.R5}, word(library))
		}
	}
}

// textMethod is a method of a string or a list.
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
			return self.each(func(a arg) arg { return clipped(a, strings.ReplaceAll(a.text, from, to)) })
		}
	case "lower":
		return self.each(func(a arg) arg { return a.with(strings.ToLower(a.text)) })
	case "upper":
		return self.each(func(a arg) arg { return a.with(strings.ToUpper(a.text)) })
	case "strip", "rstrip", "lstrip":
		if len(args) == 0 {
			return self.each(func(a arg) arg { return a.with(strings.TrimSpace(a.text)) })
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

// clipped is a with another text that is not too long.
func clipped(a arg, text string) arg {
	if len(text) > maxText {
		text = cutText(text)
	}
	return a.with(text)
}

// splitWords is the list of words of a text without quotes.
func splitWords(v codeValue) codeValue {
	text, ok := v.one()
	if !ok || !v.known || strings.ContainsAny(text, `"'\`) {
		return v
	}
	var list []codeValue
	for _, w := range strings.Fields(text) {
		list = append(list, textValue(v.text.with(w)))
	}
	return listValue(list)
}

func rot13(a arg) arg {
	out := a.with(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return 'a' + (r-'a'+13)%26
		case r >= 'A' && r <= 'Z':
			return 'A' + (r-'A'+13)%26
		}
		return r
	}, a.text))
	out.taint |= decoded
	return out
}
