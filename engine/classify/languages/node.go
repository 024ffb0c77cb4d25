package languages

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// node finds the effects of JavaScript code.
func node(c *shell.Call, code abstract.Arg) {
	r := newReader(c, "node", code.Text, SyntaxNode)
	r.call, r.attr = nodeCall, nodeAttr
	r.vars["process.argv"] = listOf(append([]abstract.Arg{c.Path, abstract.UnknownArg()}, c.Opts.Operands...))
	if c.Opts.Has("-e", "--eval", "-p", "--print") {
		r.vars["process.argv"] = listOf(append([]abstract.Arg{c.Path}, c.Opts.Operands...))
	}
	for i := range r.tokens {
		if r.tokens[i].Kind != TokenName {
			continue
		}
		switch r.tokens[i].Text {
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
	if r.at(n).Text != "from" || r.at(n+1).Kind != TokenString {
		return
	}
	r.bind(names, r.at(n+1).Text)
}

// nodeRequire binds const {a, b: c} = require('m') and const a = await
// import('m').
func (r *codeReader) nodeRequire(i int) {
	names, n := r.bindings(i)
	if !r.punct(n, "=") {
		return
	}
	n++
	if r.at(n).Text == "await" {
		n++
	}
	if (r.at(n).Text == "require" || r.at(n).Text == "import") && r.punct(n+1, "(") && r.at(n+2).Kind == TokenString && r.punct(n+3, ")") {
		module := r.at(n + 2).Text
		for k := n + 4; r.punct(k, ".") && r.at(k+1).Kind == TokenName; k += 2 {
			module += "." + r.at(k+1).Text
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
		case t.Kind == TokenName && t.Text == "from" || t.Kind != TokenName:
			return names, i
		case inside && (r.punct(i+1, ":") || r.at(i+1).Text == "as"):
			names[r.at(i+2).Text] = t.Text
			i += 2
		case inside:
			names[t.Text] = t.Text
		case t.Text == "as":
		default:
			names[t.Text] = ""
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
		r.vars[local] = codeValue{name: full, text: abstract.UnknownArg()}
	}
}

func nodeAttr(v codeValue, name string) codeValue {
	if v.known && name == "stdout" {
		return v
	}
	return pythonAttr(v, name)
}

// nodeName returns module.function without irrelevant parts.
func nodeName(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "globalThis."), "global."), "node:")
	name = strings.NewReplacer("/promises", "", ".promises", "", ".default", "", "fs-extra", "fs", "graceful-fs", "fs",
		"process.mainModule.require", "require").Replace(name)
	return strings.TrimSuffix(name, "Sync")
}

func nodeCall(r *codeReader, fn codeValue, args []codeValue, named map[string]codeValue) codeValue {
	c := r.c
	if strings.HasPrefix(fn.name, ".") {
		return nodeMethod(r, fn, args, named)
	}
	if out, ok := nodeDetour(r, nodeName(fn.name), args, named); ok {
		return out
	}
	first := argAt(args, 0).texts()
	_, recursive := named["recursive"]
	_, forced := named["force"]
	switch name := nodeName(fn.name); name {
	case "fs.rm", "fs.rmdir", "fs.unlink", "Deno.remove":
		c.Deletes(recursive, forced, first...)
	case "fs.remove", "fs.emptyDir", "rimraf", "rimraf.rimraf", "rimraf.sync", "rimraf.native", "del", "del.sync", "trash":
		c.Deletes(true, true, flatTexts(args[:min(1, len(args))])...)
	case "shelljs.rm":
		c.Deletes(true, true, slices.DeleteFunc(flatTexts(args), func(a abstract.Arg) bool { return a.HasPrefix("-") })...)
	case "process.chdir", "shelljs.cd", "Deno.chdir":
		chdir(c.Shell, first)
	case "console.log", "console.dir", "console.table", "JSON.stringify", "util.inspect":
		if dumpsEnvironment(argAt(args, 0)) {
			c.Signal(engine.SignalEnvDump)
		}
	case "fs.writeFile", "fs.createWriteStream", "fs.outputFile", "fs.writeJson", "Deno.writeTextFile", "Deno.writeFile", "Bun.write":
		c.Writes("write", first...)
		r.keeps(first[0], argAt(args, 1), false)
	case "fs.appendFile":
		c.Writes("append", first...)
		r.keeps(first[0], argAt(args, 1), true)
	case "fs.truncate":
		c.Writes("truncate", first...)
	case "fs.mkdtemp":
		v := argAt(args, 0).each(func(a abstract.Arg) abstract.Arg { return abstract.Concat(a, abstract.UnknownArg()) })
		c.Writes("create", v.texts()...)
		return v
	case "fs.mkdir", "fs.ensureDir", "Deno.mkdir", "shelljs.mkdir":
		c.Writes("create", first...)
	case "fs.chmod", "fs.chown":
		c.Writes(strings.TrimPrefix(name, "fs."), first...)
	case "fs.symlink", "fs.link":
		links(c, first, argAt(args, 1).texts(), name == "fs.symlink")
	case "fs.rename", "fs.move", "Deno.rename":
		moves(c, first, argAt(args, 1).texts())
	case "fs.copyFile", "fs.cp", "fs.copy":
		copies(c, name != "fs.copyFile", first, argAt(args, 1).texts())
	case "fs.open":
		opens(c, first, argAt(args, 1))
	case "fs.readFile", "fs.createReadStream":
		c.Reads(first...)
		return codeValue{text: abstract.Arg{Text: abstract.HoleText, Taint: abstract.Filed}, known: true}
	case "child_process.exec", "shelljs.exec", "execa.command", "execa.execaCommand":
		c.InDirectory(directory(named), func() {
			for _, code := range first {
				c.Shell.Embed(code, "node", false)
			}
		})
		return codeValue{text: abstract.Arg{Text: abstract.HoleText, Taint: abstract.Substituted}, known: true}
	case "child_process.spawn", "child_process.execFile", "child_process.fork", "Bun.spawn", "execa", "execa.execa", "Deno.run", "Deno.Command":
		for _, key := range []string{"cmd", "args"} {
			if list, ok := named[key]; ok && list.isList {
				args = append(textsOnly(args), list)
			}
		}
		c.InDirectory(directory(named), func() { spawns(c, args, named) })
	case "net.connect", "net.createConnection", "tls.connect", "net.Socket", "Deno.connect", "WebSocket":
		r.connects(nodeHost(args, named))
	case "process.kill":
		kills(c, first...)
	case "eval", "Function", "vm.runInThisContext", "vm.runInNewContext", "vm.runInContext", "setTimeout", "setInterval":
		if code, ok := evaluated(name, args); ok {
			r.runs(code, "node")
		}
	default:
		return nodeValue(r, name, args, named)
	}
	return unknownValue()
}

// textsOnly drops objects of options.
func textsOnly(args []codeValue) []codeValue {
	var out []codeValue
	for _, a := range args {
		if a.fields == nil {
			out = append(out, a)
		}
	}
	return out
}

// nodeHost returns the host of connect(port, host), connect({port, host}), or of a URL.
func nodeHost(args []codeValue, named map[string]codeValue) abstract.Arg {
	switch h, ok := named["host"]; {
	case ok:
		return h.texts()[0]
	case len(args) > 1 && args[1].known:
		return args[1].texts()[0]
	case abstract.IsURL(argAt(args, 0).texts()[0]):
		return args[0].text
	}
	return abstract.Word("localhost")
}

// evaluated returns the code among the arguments of eval and similar functions. Timers
// usually have a function instead.
func evaluated(name string, args []codeValue) (codeValue, bool) {
	switch {
	case len(args) == 0:
		return codeValue{}, false
	case name == "Function":
		return args[len(args)-1], true
	}
	return args[0], !strings.HasPrefix(name, "set") || args[0].known
}

// spawns handles spawn(program, [arguments]).
func spawns(c *shell.Call, args []codeValue, named map[string]codeValue) {
	if _, shell := named["shell"]; shell || len(args) > 0 && args[0].isList {
		starts(c, args, true, false)
		return
	}
	list := codeValue{isList: true, list: args[:min(1, len(args))]}
	if len(args) > 1 && args[1].isList {
		list.list = append(list.list[:len(list.list):len(list.list)], args[1].list...)
	}
	starts(c, []codeValue{list}, false, false)
}

func nodeValue(r *codeReader, name string, args []codeValue, named map[string]codeValue) codeValue {
	first := argAt(args, 0).texts()
	switch name {
	case "require", "import":
		if text, ok := first[0].Literal(); ok {
			return nameValue(text)
		}
	case "String.fromCharCode", "String.fromCodePoint":
		return characters(args)
	case "Buffer.from", "atob":
		if enc := argAt(args, 1).texts()[0]; name == "atob" || enc.Is("base64", "hex") {
			return textValue(decodeLiteral(enc.Text, first[0]))
		}
		return argAt(args, 0)
	case "path.join", "path.resolve":
		v := argAt(args, 0)
		for _, a := range args[min(1, len(args)):] {
			v = combine(v, a, JoinPath)
		}
		v.path = false
		return v
	case "os.homedir":
		return textValue(r.c.Shell.Read("HOME"))
	case "process.cwd":
		return textValue(r.c.Shell.Read("PWD"))
	case "os.tmpdir":
		return textValue(abstract.Word("/tmp"))
	case "fetch", "http.get", "https.get", "http.request", "https.request", "got", "axios":
		return r.nodeFetch(first[0], named)
	}
	if module, fn, ok := strings.Cut(name, "."); ok && (module == "axios" || module == "got" || module == "superagent") {
		return r.request(fn, args, named)
	}
	return unknownValue()
}

func (r *codeReader) nodeFetch(url abstract.Arg, named map[string]codeValue) codeValue {
	method := "get"
	if m, ok := named["method"]; ok {
		method = strings.ToLower(m.texts()[0].Text)
	} else if _, ok := named["body"]; ok {
		method = "post"
	}
	if u, ok := named["url"]; ok && !abstract.IsURL(url) {
		url = u.texts()[0]
	}
	if strings.ContainsAny(method, abstract.Holes) {
		method = "post"
	}
	return r.request(method, []codeValue{textValue(url)}, nil)
}

// nodeMethod handles methods of a value that a call returned.
func nodeMethod(r *codeReader, fn codeValue, args []codeValue, named map[string]codeValue) codeValue {
	self := fn.receiver()
	switch fn.name[1:] {
	case "listen":
		if host := argAt(args, 1); strings.HasPrefix(nodeName(self.origin), "http") || self.origin == "net.createServer" ||
			self.origin == "express" {
			r.c.Listens(listenHost(host), nil)
		}
	case "replace", "replaceAll":
		from, ok := argAt(args, 0).one()
		to, known := argAt(args, 1).one()
		if ok && known && from != "" && argAt(args, 0).known {
			return self.each(func(a abstract.Arg) abstract.Arg { return clipped(a, strings.ReplaceAll(a.Text, from, to)) })
		}
	case "reverse":
		return codeValue{text: abstract.UnknownArg(), known: true}
	case "split":
		if sep, ok := argAt(args, 0).one(); ok && sep == " " {
			return splitWords(self)
		}
		return codeValue{text: abstract.UnknownArg(), known: self.known}
	case "constructor":
		return nodeCall(r, nameValue("Function"), args, named)
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
	case "rmSync", "rm", "unlinkSync", "unlink", "rmdirSync": // of a module with an unknown name
		if len(args) > 0 && self.empty() && self.origin == "" && args[0].known {
			r.c.Deletes(false, false, args[0].texts()...)
		}
	case "query", "execute", "exec":
		r.c.Sql(argAt(args, 0).texts()[0])
	}
	return unknownValue()
}

// listenHost returns the address that a server listens on: all addresses by default.
func listenHost(host codeValue) abstract.Arg {
	if text, ok := host.one(); ok && host.known {
		return abstract.Word(text)
	}
	return abstract.Word("0.0.0.0")
}
