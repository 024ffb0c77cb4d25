package classify

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// extractPython finds the effects of Python code.
func extractPython(c *call, code arg) {
	r := &codeReader{c: c, tokens: tokenize(code.text, syntaxPython), vars: map[string]codeValue{}, call: pythonCall, attr: pythonAttr}
	for i := 0; i < len(r.tokens); i++ {
		switch t := r.tokens[i]; {
		case t.kind != tokenName || i > 0 && r.punct(i-1, "."):
		case t.text == "import":
			r.pythonImport(i+1, "")
		case t.text == "from" && r.at(i+1).kind == tokenName:
			module, n := r.dotted(i + 1)
			if r.at(n).text == "import" {
				r.pythonImport(n+1, module+".")
				i = n
			}
		}
	}
	r.run(0, len(r.tokens))
}

func (r *codeReader) dotted(i int) (string, int) {
	name := r.at(i).text
	for i++; r.punct(i, ".") && r.at(i+1).kind == tokenName; i += 2 {
		name += "." + r.at(i+1).text
	}
	return name, i
}

// pythonImport binds the names of an import statement.
func (r *codeReader) pythonImport(i int, module string) {
	for r.at(i).kind == tokenName || r.punct(i, "(") || r.punct(i, ",") {
		if r.at(i).kind != tokenName {
			i++
			continue
		}
		name, n := r.dotted(i)
		local, _, _ := strings.Cut(name, ".")
		full := module + name
		if module == "" {
			full = local
		}
		if r.at(n).text == "as" {
			local, full = r.at(n+1).text, module+name
			n += 2
		}
		r.vars[local] = codeValue{name: full, text: unknownArg()}
		i = n
	}
}

// pythonAttr is v.name.
func pythonAttr(v codeValue, name string) codeValue {
	switch {
	case v.known && (name == "parent" || name == "parents"):
		return codeValue{text: unknownArg(), known: true, path: true}
	case v.known && (name == "content" || name == "text"):
		return v
	case v.known || v.isList || len(v.alts) > 0:
		v.name = "." + name
		return v
	case v.name != "":
		return codeValue{name: v.name + "." + name, text: unknownArg()}
	}
	return codeValue{name: "." + name, text: unknownArg()}
}

// pythonCall is what a call does and returns.
func pythonCall(r *codeReader, fn codeValue, args []codeValue, named map[string]codeValue) codeValue {
	c := r.c
	if strings.HasPrefix(fn.name, ".") {
		return pythonMethod(r, fn, args, named)
	}
	first := argAt(args, 0).texts()
	name := strings.TrimPrefix(strings.TrimPrefix(fn.name, "builtins."), "__builtins__.")
	switch name {
	case "os.remove", "os.unlink", "os.rmdir", "os.removedirs":
		c.deletes(false, false, first...)
	case "shutil.rmtree":
		c.deletes(true, true, first...)
	case "os.rename", "os.replace", "os.renames", "shutil.move":
		c.moves(first, argAt(args, 1).texts())
	case "shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree":
		c.reads(first...)
		c.writes("write", argAt(args, 1).texts()...)
	case "os.chmod", "os.chown", "os.lchown":
		c.writes(strings.TrimPrefix(name, "os."), first...)
	case "os.symlink", "os.link":
		c.writes("link", argAt(args, 1).texts()...)
	case "os.truncate":
		c.writes("truncate", first...)
	case "os.mkdir", "os.makedirs":
		c.writes("create", first...)
	case "open", "io.open", "codecs.open":
		mode := argAt(args, 1)
		if m, ok := named["mode"]; ok {
			mode = m
		}
		c.opens(first, mode)
		return codeValue{text: arg{text: holeText, taint: filed}, known: true}
	case "os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "commands.getoutput", "pty.spawn", "asyncio.create_subprocess_shell":
		for _, code := range first {
			c.s.embed(code, "python", false)
		}
	case "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.Popen", "asyncio.create_subprocess_exec":
		_, shell := named["shell"]
		c.starts(args, shell, strings.HasPrefix(name, "asyncio"))
		return codeValue{text: arg{text: holeText, taint: substituted}, known: true}
	case "os.execv", "os.execvp", "os.execve", "os.execvpe", "os.posix_spawn", "os.posix_spawnp":
		c.starts(args[min(1, len(args)):], false, false)
	case "os.execl", "os.execlp", "os.execle", "os.execlpe":
		c.starts(args[min(1, len(args)):], false, true)
	case "os.spawnl", "os.spawnlp", "os.spawnv", "os.spawnvp":
		c.starts(args[min(2, len(args)):], false, strings.Contains(name, "spawnl"))
	case "os.kill", "os.killpg":
		c.kills(first...)
	case "exec", "eval", "compile", "execfile", "runpy.run_path":
		r.runs(argAt(args, 0), "python")
	case "__import__", "importlib.import_module":
		if text, ok := first[0].literal(); ok {
			return codeValue{name: text, text: unknownArg()}
		}
	case "getattr":
		if text, ok := argAt(args, 1).texts()[0].literal(); ok {
			c.signal(engine.SignalObfuscated)
			return pythonAttr(argAt(args, 0), text)
		}
	default:
		return pythonValue(r, name, args, named)
	}
	return unknownValue()
}

func argAt(args []codeValue, i int) codeValue {
	if i < len(args) {
		return args[i]
	}
	return unknownValue()
}

// pythonValue is a call that matters for what it returns, or talks to others.
func pythonValue(r *codeReader, name string, args []codeValue, named map[string]codeValue) codeValue {
	first := argAt(args, 0).texts()
	switch name {
	case "Path", "pathlib.Path", "PurePath", "pathlib.PosixPath":
		v := textValue(word("."))
		for i, a := range args {
			if i == 0 {
				v = codeValue{text: first[0], known: true, alts: a.alts}
			} else {
				v = combine(v, a, joinPath)
			}
		}
		v.path = true
		return v
	case "Path.home", "pathlib.Path.home":
		return codeValue{text: r.c.s.read("HOME"), known: true, path: true}
	case "Path.cwd", "pathlib.Path.cwd", "os.getcwd":
		return codeValue{text: r.c.s.read("PWD"), known: true, path: true}
	case "os.path.expanduser", "os.path.expandvars":
		return textValue(r.c.s.expandUser(first[0]))
	case "os.path.join":
		v := argAt(args, 0)
		for _, a := range args[min(1, len(args)):] {
			v = combine(v, a, joinPath)
		}
		return v
	case "os.path.abspath", "os.path.realpath", "os.path.normpath", "os.fspath", "str", "bytes", "list", "sorted", "set", "tuple", "reversed":
		return argAt(args, 0)
	case "os.getenv", "os.environ.get":
		return textValue(r.c.s.read(first[0].text))
	case "glob.glob", "glob.iglob":
		a := first[0]
		a.glob = true
		return textValue(a)
	case "base64.b64decode", "bytes.fromhex", "binascii.unhexlify", "codecs.decode", "zlib.decompress", "base64.b32decode":
		return textValue(decodeLiteral(name, first[0]))
	}
	return pythonNetwork(r, name, args, named)
}

// decodeLiteral decodes a literal; what it cannot decode is not known.
func decodeLiteral(name string, a arg) arg {
	kind := "base64"
	if strings.Contains(name, "hex") {
		kind = "hex"
	}
	if text, ok := decodeText(kind, a.text); ok && a.known() {
		return arg{text: text, taint: a.taint | decoded}
	}
	return arg{text: holeText, taint: a.taint | decoded}
}

func (s *shell) expandUser(a arg) arg {
	if a.text == "~" || a.hasPrefix("~/") {
		return concat(s.read("HOME"), a.with(a.text[1:]))
	}
	return a
}

func pythonNetwork(r *codeReader, name string, args []codeValue, named map[string]codeValue) codeValue {
	module, fn, _ := strings.Cut(name, ".")
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		fn = name[i+1:]
	}
	first := argAt(args, 0).texts()
	switch {
	case fn == "urlopen" || fn == "urlretrieve" || name == "urllib.request.Request":
		if _, sends := named["data"]; sends || fn == "urlopen" && len(args) > 1 {
			r.c.sends("send", first[0])
		} else {
			r.c.fetches(first[0])
		}
		if fn == "urlretrieve" && len(args) > 1 {
			r.c.writes("write", args[1].texts()...)
			r.c.s.store(args[1].texts()[0], arg{text: holeText, taint: fetched}, false)
		}
	case module == "requests" || module == "httpx" || module == "aiohttp":
		return r.request(fn, args, named)
	default:
		return unknownValue()
	}
	return codeValue{text: arg{text: holeText, taint: fetched}, known: true}
}

// request is a call of an HTTP library: its verb is the method.
func (r *codeReader) request(method string, args []codeValue, named map[string]codeValue) codeValue {
	out := codeValue{text: arg{text: holeText, taint: fetched}, known: true}
	url := argAt(args, 0).texts()[0]
	if method == "request" {
		method, url = strings.ToLower(url.text), argAt(args, 1).texts()[0]
	}
	switch method {
	case "get", "head", "options", "stream":
		r.c.fetches(url)
	case "post", "put", "patch":
		r.c.sends("send", url)
	case "delete":
		r.c.sends("delete", url)
	default:
		return unknownValue()
	}
	return out
}

// pythonMethod is a call of a method of a value: a path, a file, a string.
func pythonMethod(r *codeReader, fn codeValue, args []codeValue, named map[string]codeValue) codeValue {
	c := r.c
	name := fn.name[1:]
	self := codeValue{text: fn.text, known: fn.known, alts: fn.alts, path: fn.path, list: fn.list, isList: fn.isList}
	targets := self.texts()
	switch {
	case name == "unlink" || name == "rmdir" && self.path:
		c.deletes(false, false, targets...)
	case name == "rmtree":
		c.deletes(true, true, targets...)
	case name == "write_text" || name == "write_bytes":
		c.writes("write", targets...)
	case self.path && (name == "touch" || name == "mkdir"):
		c.writes("create", targets...)
	case self.path && (name == "rename" || name == "replace" || name == "move"):
		c.moves(targets, argAt(args, 0).texts())
	case self.path && (name == "chmod" || name == "symlink_to"):
		c.writes("chmod", targets...)
	case self.path && name == "open":
		c.opens(targets, argAt(args, 0))
	case self.path && (name == "read_text" || name == "read_bytes"):
		c.reads(targets...)
	case self.path && (name == "glob" || name == "rglob" || name == "iterdir"):
		pattern := "*"
		if len(args) > 0 && args[0].known {
			pattern = args[0].text.text
		}
		t := joinPath(self.text, word(pattern))
		t.glob = true
		return codeValue{text: t, known: true, path: true}
	case self.path && name == "expanduser":
		self.text = c.s.expandUser(self.text)
		return self
	case self.path && name == "joinpath":
		self.text = joinPath(self.text, argAt(args, 0).texts()[0])
		return self
	case name == "format":
		return textValue(self.text.with(holeAtBraces(self.text.text)))
	case name == "join" && len(args) == 1 && args[0].isList:
		return joined(self.text, args[0].list)
	case name == "connect":
		c.emit(rawEffect{kind: engine.EffectNetwork, verb: "send", egress: true}, connectHost(args)...)
	case name == "execute" || name == "executescript":
		c.sql(argAt(args, 0).texts()[0])
	case isURL(argAt(args, 0).texts()[0]):
		return r.request(name, args, named)
	case name == "read" || name == "decode" || name == "strip" || name == "encode" || name == "resolve" || name == "absolute" || name == "splitlines" || name == "split":
		return self
	}
	return unknownValue()
}

func holeAtBraces(s string) string {
	if i := strings.IndexByte(s, '{'); i >= 0 {
		return s[:i] + holeText
	}
	return s
}

func joined(sep arg, list []codeValue) codeValue {
	var out arg
	for i, v := range list {
		if i > 0 {
			out = concat(out, sep)
		}
		out = concat(out, v.texts()[0])
	}
	out.taint |= decoded
	return textValue(out)
}

func connectHost(args []codeValue) []arg {
	if len(args) == 1 && args[0].isList && len(args[0].list) > 0 {
		return args[0].list[0].texts()
	}
	return []arg{unknownArg()}
}

// opens is open(path, mode).
func (c *call) opens(paths []arg, mode codeValue) {
	m := mode.texts()[0].text
	switch {
	case !mode.known || !strings.ContainsAny(m, "wax+"+holes):
		c.reads(paths...)
	case strings.Contains(m, "a"):
		c.writes("append", paths...)
	default:
		c.writes("write", paths...)
	}
}

// moves renames files from code.
func (c *call) moves(from, to []arg) {
	for _, src := range from {
		e := rawEffect{kind: engine.EffectFileDelete, verb: "move", recursive: true}
		if c.s.staysNear(src, to[0]) {
			e = rawEffect{kind: engine.EffectFileWrite, verb: "move"}
		}
		c.emit(e, src)
	}
	c.writes("write", to...)
}

// starts runs a program from code: a list of arguments, a command line for a
// shell, or arguments spread over the call.
func (c *call) starts(args []codeValue, shell, spread bool) {
	if len(args) == 0 {
		return
	}
	if args[0].isList || spread {
		list := args
		if args[0].isList {
			list = args[0].list
		}
		var argv []arg
		for _, v := range list {
			a := v.texts()[0]
			a.quoted = true
			argv = append(argv, a)
		}
		c.child(func() outcome { return c.s.invoke(argv, c.node) })
		return
	}
	for _, code := range args[0].texts() {
		if shell || strings.ContainsAny(code.text, " \t") {
			c.s.embed(code, "subprocess", false)
		} else {
			c.child(func() outcome { return c.s.invoke([]arg{code}, c.node) })
		}
	}
}

// runs is exec and eval: code in a string.
func (r *codeReader) runs(v codeValue, lang string) {
	if !v.known || !v.text.known() {
		r.c.s.unseen(v.texts()[0], lang)
		return
	}
	r.c.extract(lang, v.text, "eval")
}

func (c *call) kills(targets ...arg) {
	for _, t := range targets {
		if t.is("-1", "0") {
			c.signal(engine.SignalKillAll)
		}
	}
	c.emit(rawEffect{kind: engine.EffectProcess, verb: "kill"}, targets...)
}
