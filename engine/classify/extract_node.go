package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// extractNode finds the effects of JavaScript code.
func extractNode(c *call, code arg) {
	r := newReader(c, "node", code.text, syntaxNode)
	r.call, r.attr = nodeCall, nodeAttr
	r.vars["process.argv"] = listOf(append([]arg{c.path, unknownArg()}, c.opts.operands...))
	if c.opts.has("-e", "--eval", "-p", "--print") {
		r.vars["process.argv"] = listOf(append([]arg{c.path}, c.opts.operands...))
	}
	for i := range r.tokens {
		if r.tokens[i].kind != tokenName {
			continue
		}
		switch r.tokens[i].text {
		case "import":
			r.nodeImport(i + 1)
		case "const", "let", "var":
			r.nodeRequire(i + 1)
		}
	}
	r.program()
}

// nodeImport binds import a, {b as c}, * as d from 'm'.
func (r *codeReader) nodeImport(i int) {
	names, n := r.bindings(i)
	if r.at(n).text != "from" || r.at(n+1).kind != tokenString {
		return
	}
	r.bind(names, r.at(n+1).text)
}

// nodeRequire binds const {a, b: c} = require('m') and const a = await
// import('m').
func (r *codeReader) nodeRequire(i int) {
	names, n := r.bindings(i)
	if !r.punct(n, "=") {
		return
	}
	n++
	if r.at(n).text == "await" {
		n++
	}
	if (r.at(n).text == "require" || r.at(n).text == "import") && r.punct(n+1, "(") && r.at(n+2).kind == tokenString && r.punct(n+3, ")") {
		module := r.at(n + 2).text
		for k := n + 4; r.punct(k, ".") && r.at(k+1).kind == tokenName; k += 2 {
			module += "." + r.at(k+1).text
		}
		r.bind(names, module)
	}
}

// bindings reads the names on the left side: local name -> name in the module,
// empty for the module itself.
func (r *codeReader) bindings(i int) (map[string]string, int) {
	names := map[string]string{}
	inside := false
	for ; i < len(r.tokens); i++ {
		t := r.at(i)
		switch {
		case r.punct(i, "{"):
			inside = true
		case r.punct(i, "}"):
			inside = false
		case r.punct(i, ",") || r.punct(i, "*"):
		case t.kind == tokenName && t.text == "from" || t.kind != tokenName:
			return names, i
		case inside && (r.punct(i+1, ":") || r.at(i+1).text == "as"):
			names[r.at(i+2).text] = t.text
			i += 2
		case inside:
			names[t.text] = t.text
		case t.text == "as":
		default:
			names[t.text] = ""
		}
	}
	return names, i
}

func (r *codeReader) bind(names map[string]string, module string) {
	for local, name := range names {
		full := module
		if name != "" {
			full += "." + name
		}
		r.vars[local] = codeValue{name: full, text: unknownArg()}
	}
}

func nodeAttr(v codeValue, name string) codeValue {
	if v.known && name == "stdout" {
		return v
	}
	return pythonAttr(v, name)
}

// nodeName is module.function without what does not matter.
func nodeName(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "globalThis."), "global."), "node:")
	name = strings.NewReplacer("/promises", "", ".promises", "", ".default", "", "fs-extra", "fs", "graceful-fs", "fs", "process.mainModule.require", "require").Replace(name)
	return strings.TrimSuffix(name, "Sync")
}

func nodeCall(r *codeReader, fn codeValue, args []codeValue, named map[string]codeValue) codeValue {
	c := r.c
	if strings.HasPrefix(fn.name, ".") {
		return nodeMethod(r, fn, args, named)
	}
	first := argAt(args, 0).texts()
	_, recursive := named["recursive"]
	_, forced := named["force"]
	switch name := nodeName(fn.name); name {
	case "fs.rm", "fs.rmdir", "fs.unlink", "Deno.remove":
		c.deletes(recursive, forced, first...)
	case "fs.remove", "fs.emptyDir", "rimraf", "rimraf.rimraf", "rimraf.sync", "rimraf.native", "del", "del.sync", "trash":
		c.deletes(true, true, flatTexts(args[:min(1, len(args))])...)
	case "shelljs.rm":
		c.deletes(true, true, slices.DeleteFunc(flatTexts(args), func(a arg) bool { return a.hasPrefix("-") })...)
	case "process.chdir", "shelljs.cd", "Deno.chdir":
		c.s.chdir(first)
	case "console.log", "console.dir", "console.table", "JSON.stringify", "util.inspect":
		if dumpsEnvironment(argAt(args, 0)) {
			c.signal(engine.SignalEnvDump)
		}
	case "fs.writeFile", "fs.createWriteStream", "fs.outputFile", "fs.writeJson", "Deno.writeTextFile", "Deno.writeFile", "Bun.write":
		c.writes("write", first...)
	case "fs.appendFile":
		c.writes("append", first...)
	case "fs.truncate":
		c.writes("truncate", first...)
	case "fs.mkdtemp":
		v := argAt(args, 0).each(func(a arg) arg { return concat(a, unknownArg()) })
		c.writes("create", v.texts()...)
		return v
	case "fs.mkdir", "fs.ensureDir", "Deno.mkdir", "shelljs.mkdir":
		c.writes("create", first...)
	case "fs.chmod", "fs.chown":
		c.writes(strings.TrimPrefix(name, "fs."), first...)
	case "fs.symlink", "fs.link":
		c.writes("link", argAt(args, 1).texts()...)
	case "fs.rename", "fs.move", "Deno.rename":
		c.moves(first, argAt(args, 1).texts())
	case "fs.copyFile", "fs.cp", "fs.copy":
		c.reads(first...)
		c.writes("write", argAt(args, 1).texts()...)
	case "fs.open":
		c.opens(first, argAt(args, 1))
	case "fs.readFile", "fs.createReadStream":
		c.reads(first...)
		return codeValue{text: arg{text: holeText, taint: filed}, known: true}
	case "child_process.exec", "shelljs.exec", "execa.command", "execa.execaCommand":
		c.inDirectory(directory(named), func() {
			for _, code := range first {
				c.s.embed(code, "node", false)
			}
		})
		return codeValue{text: arg{text: holeText, taint: substituted}, known: true}
	case "child_process.spawn", "child_process.execFile", "child_process.fork", "Bun.spawn", "execa", "execa.execa", "Deno.run", "Deno.Command":
		for _, key := range []string{"cmd", "args"} {
			if list, ok := named[key]; ok && list.isList {
				args = append(textsOnly(args), list)
			}
		}
		c.inDirectory(directory(named), func() { c.spawns(args, named) })
	case "net.connect", "net.createConnection", "tls.connect", "net.Socket", "Deno.connect", "WebSocket":
		r.connects(nodeHost(args, named))
	case "process.kill":
		c.kills(first...)
	case "eval", "Function", "vm.runInThisContext", "vm.runInNewContext", "vm.runInContext", "setTimeout", "setInterval":
		if code, ok := evaluated(name, args); ok {
			r.runs(code, "node")
		}
	default:
		return nodeValue(r, name, args, named)
	}
	return unknownValue()
}

// textsOnly leaves out objects of options.
func textsOnly(args []codeValue) []codeValue {
	var out []codeValue
	for _, a := range args {
		if a.fields == nil {
			out = append(out, a)
		}
	}
	return out
}

// nodeHost is the host of connect(port, host), connect({port, host}), or a URL.
func nodeHost(args []codeValue, named map[string]codeValue) arg {
	switch h, ok := named["host"]; {
	case ok:
		return h.texts()[0]
	case len(args) > 1 && args[1].known:
		return args[1].texts()[0]
	case isURL(argAt(args, 0).texts()[0]):
		return args[0].text
	}
	return word("localhost")
}

// evaluated picks the code among the arguments of eval and its kin. A timer
// mostly has a function instead.
func evaluated(name string, args []codeValue) (codeValue, bool) {
	switch {
	case len(args) == 0:
		return codeValue{}, false
	case name == "Function":
		return args[len(args)-1], true
	}
	return args[0], !strings.HasPrefix(name, "set") || args[0].known
}

// spawns is spawn(program, [arguments]).
func (c *call) spawns(args []codeValue, named map[string]codeValue) {
	if _, shell := named["shell"]; shell || len(args) > 0 && args[0].isList {
		c.starts(args, true, false)
		return
	}
	list := codeValue{isList: true, list: args[:min(1, len(args))]}
	if len(args) > 1 && args[1].isList {
		list.list = append(list.list[:len(list.list):len(list.list)], args[1].list...)
	}
	c.starts([]codeValue{list}, false, false)
}

func nodeValue(r *codeReader, name string, args []codeValue, named map[string]codeValue) codeValue {
	first := argAt(args, 0).texts()
	switch name {
	case "require", "import":
		if text, ok := first[0].literal(); ok {
			return nameValue(text)
		}
	case "String.fromCharCode", "String.fromCodePoint":
		return characters(args)
	case "Buffer.from", "atob":
		if enc := argAt(args, 1).texts()[0]; name == "atob" || enc.is("base64", "hex") {
			return textValue(decodeLiteral(enc.text, first[0]))
		}
		return argAt(args, 0)
	case "path.join", "path.resolve":
		v := argAt(args, 0)
		for _, a := range args[min(1, len(args)):] {
			v = combine(v, a, joinPath)
		}
		v.path = false
		return v
	case "os.homedir":
		return textValue(r.c.s.read("HOME"))
	case "process.cwd":
		return textValue(r.c.s.read("PWD"))
	case "os.tmpdir":
		return textValue(word("/tmp"))
	case "fetch", "http.get", "https.get", "http.request", "https.request", "got", "axios":
		return r.nodeFetch(first[0], named)
	}
	if module, fn, ok := strings.Cut(name, "."); ok && (module == "axios" || module == "got" || module == "superagent") {
		return r.request(fn, args, named)
	}
	return unknownValue()
}

func (r *codeReader) nodeFetch(url arg, named map[string]codeValue) codeValue {
	method := "get"
	if m, ok := named["method"]; ok {
		method = strings.ToLower(m.texts()[0].text)
	} else if _, ok := named["body"]; ok {
		method = "post"
	}
	if u, ok := named["url"]; ok && !isURL(url) {
		url = u.texts()[0]
	}
	if strings.ContainsAny(method, holes) {
		method = "post"
	}
	return r.request(method, []codeValue{textValue(url)}, nil)
}

// nodeMethod is a method of a value that a call has returned.
func nodeMethod(r *codeReader, fn codeValue, args []codeValue, named map[string]codeValue) codeValue {
	self := fn.receiver()
	switch fn.name[1:] {
	case "listen":
		if host := argAt(args, 1); strings.HasPrefix(nodeName(self.origin), "http") || self.origin == "net.createServer" || self.origin == "express" {
			r.c.listens(listenHost(host), nil)
		}
	case "replace", "replaceAll":
		from, ok := argAt(args, 0).one()
		to, known := argAt(args, 1).one()
		if ok && known && from != "" && argAt(args, 0).known {
			return self.each(func(a arg) arg { return clipped(a, strings.ReplaceAll(a.text, from, to)) })
		}
	case "reverse":
		return codeValue{text: unknownArg(), known: true}
	case "split":
		if sep, ok := argAt(args, 0).one(); ok && sep == " " {
			return splitWords(self)
		}
		return codeValue{text: unknownArg(), known: self.known}
	case "toString", "trim", "text", "json", "catch":
		return self
	case "concat":
		return plus(self, argAt(args, 0), false)
	case "then":
		r.invoke(argAt(args, 0), []codeValue{self}, nil)
		return self
	case "forEach", "map":
		return self
	case "join":
		if self.isList {
			return joined(argAt(args, 0).texts()[0], self)
		}
	case "rmSync", "rm", "unlinkSync", "unlink", "rmdirSync": // of a module that is not known by name
		if len(args) > 0 && self.empty() && self.origin == "" && args[0].known {
			r.c.deletes(false, false, args[0].texts()...)
		}
	case "query", "execute", "exec":
		r.c.sql(argAt(args, 0).texts()[0])
	}
	return unknownValue()
}

// listenHost is where a server listens: everywhere if nothing is said.
func listenHost(host codeValue) arg {
	if text, ok := host.one(); ok && host.known {
		return word(text)
	}
	return word("0.0.0.0")
}
