package languages

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// Extract finds the effects of code in a language.
func Extract(c *shell.Call, lang string, code abstract.Arg) {
	switch lang {
	case "python":
		python(c, code)
	case "node":
		node(c, code)
	default:
		script(c, lang, code)
	}
}

// python finds the effects of Python code.
func python(c *shell.Call, code abstract.Arg) {
	r := newReader(c, "python", code.Text, syntaxPython)
	r.call, r.attr = pythonCall, pythonAttr
	argv := c.Opts.Operands
	if c.Opts.Has("-c") {
		argv = append([]abstract.Arg{abstract.Word("-c")}, argv...)
	}
	r.vars["sys.argv"] = listOf(argv)
	r.program()
}

func listOf(args []abstract.Arg) codeValue {
	var list []codeValue
	for _, a := range args {
		list = append(list, textValue(a))
	}
	return listValue(list)
}

func (r *codeReader) dotted(i int) (string, int) {
	name := r.at(i).Text
	for i++; r.punct(i, ".") && r.at(i+1).Kind == TokenName; i += 2 {
		name += "." + r.at(i+1).Text
	}
	return name, i
}

// pythonImport binds the names of an import statement and returns its end.
func (r *codeReader) pythonImport(i int, module string) int {
	for brackets := false; ; {
		switch t := r.at(i); {
		case t.Kind == tokenPunct && (t.Text == "(" || t.Text == ","):
			brackets = brackets || t.Text == "("
			i++
			continue
		case t.Kind == tokenLine && brackets && i < len(r.tokens):
			i++
			continue
		case r.punct(i, "*") && module != "":
			r.stars = append(r.stars, strings.TrimSuffix(module, "."))
			return i + 1
		case t.Kind != TokenName:
			return i
		}
		name, n := r.dotted(i)
		local, _, _ := strings.Cut(name, ".")
		full := module + name
		if module == "" {
			full = local
		}
		if r.named(n, "as") {
			local, full = r.at(n+1).Text, module+name
			n += 2
		}
		r.vars[local] = nameValue(full)
		delete(r.funcs, local)
		i = n
	}
}

// pythonAttr evaluates v.name.
func pythonAttr(v codeValue, name string) codeValue {
	switch {
	case v.known && (name == "parent" || name == "parents"):
		return codeValue{text: abstract.UnknownArg(), known: true, path: true}
	case v.known && (name == "content" || name == "text"):
		return v
	case v.known || v.isList || len(v.alts) > 0 || v.fields != nil:
		v.name = "." + name
		return v
	case v.name != "":
		return codeValue{name: v.name + "." + name, text: v.text}
	}
	return codeValue{name: "." + name, origin: v.origin, text: v.text}
}

// pythonCall evaluates a call, and returns its result.
func pythonCall(r *codeReader, fn codeValue, args []codeValue, named map[string]codeValue) codeValue {
	c := r.c
	if strings.HasPrefix(fn.name, ".") {
		return pythonMethod(r, fn, args, named)
	}
	first := argAt(args, 0).texts()
	name := pythonName(fn.name)
	if out, ok := pythonDetour(r, name, fn, args, named); ok {
		return out
	}
	if pythonFiles(r.c, name, args, named) || pythonProcesses(r.c, name, args) || endsProcess(r, fn) {
		return unknownValue()
	}
	if v, ok := processObject(name, args); ok {
		return v
	}
	switch name {
	case "print", "pprint", "pprint.pprint", "json.dumps", "json.dump", "str", "repr":
		if dumpsEnvironment(argAt(args, 0)) {
			c.Signal(engine.SignalEnvDump)
		}
		if name == "str" {
			return argAt(args, 0)
		}
	case "shlex.quote", "shlex.join":
		return argAt(args, 0)
	case "shlex.split":
		return splitWords(argAt(args, 0))
	case "open", "io.open", "codecs.open":
		mode := argAt(args, 1)
		if m, ok := named["mode"]; ok {
			mode = m
		}
		opens(c, first, mode)
		return openedFile(first)
	case "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.Popen", "asyncio.create_subprocess_exec":
		_, shell := named["shell"]
		if list, ok := named["args"]; ok {
			args = []codeValue{list}
		}
		spread := strings.HasPrefix(name, "asyncio")
		c.InDirectory(directory(named), func() {
			starts(c, args, shell, spread)
			if program, ok := named["executable"]; ok && !shell {
				startsAs(c, program, args, spread)
			}
		})
		return codeValue{text: abstract.Arg{Text: abstract.HoleText, Taint: abstract.Substituted}, known: true}
	case "compile":
		return argAt(args, 0)
	case "exec", "eval", "execfile":
		r.runs(argAt(args, 0), "python")
	case "pickle.load", "marshal.load", "marshal.loads", "dill.load", "joblib.load", "torch.load":
		if first[0].Taint&abstract.Fetched != 0 { // such data can run any code when it is deserialised
			c.Shell.Unseen(first[0], name)
		}
	case "__import__", "importlib.import_module":
		if text, ok := first[0].Literal(); ok {
			return nameValue(text)
		}
	case "globals", "vars", "locals":
		return nameValue("builtins")
	case "getattr":
		text, literal := argAt(args, 1).texts()[0].Literal()
		if of := argAt(args, 0); pythonModule(pythonName(of.name)) || strings.HasPrefix(of.origin, "ctypes.") {
			c.Signal(engine.SignalObfuscated)
			if literal {
				return pythonAttr(of, text)
			}
		}
	default:
		return pythonValue(r, name, args, named)
	}
	return unknownValue()
}

// pythonModule reports whether a name is one of the modules whose functions run, load or
// change things. Nobody uses getattr to get a function of these, except to hide its name;
// for any other object it is a usual way to access a field.
func pythonModule(name string) bool {
	root, _, _ := strings.Cut(name, ".")
	switch root {
	case "builtins", "__builtins__", "os", "posix", "nt", "subprocess", "shutil", "pty", "sys", "importlib", "runpy", "ctypes", "pickle", "marshal", "socket":
		return true
	}
	return false
}

// pythonFiles handles calls that change or name files; it reports whether name is one.
func pythonFiles(c *shell.Call, name string, args []codeValue, named map[string]codeValue) bool {
	first := argAt(args, 0).texts()
	switch name {
	case "os.chdir":
		chdir(c.Shell, first)
	case "distutils.dir_util.remove_tree", "send2trash.send2trash":
		c.Deletes(true, false, first...)
	case "os.open":
		if argAt(args, 1).name == "os.O_RDONLY" {
			c.Reads(first...)
		} else {
			c.Writes("write", first...)
		}
	case "shutil.unpack_archive":
		c.Reads(first...)
		c.Writes("write", argAt(args, 1).texts()...)
	case "shutil.make_archive":
		c.Writes("write", argAt(args, 0).each(func(a abstract.Arg) abstract.Arg {
			return abstract.Concat(a, abstract.Arg{Text: "." + abstract.HoleText})
		}).texts()...)
		c.Sweeps(argAt(args, 2).texts()...)
	case "logging.FileHandler", "fileinput.FileInput", "fileinput.input":
		if _, edits := named["inplace"]; edits || name == "logging.FileHandler" {
			c.Writes("write", first...)
		} else {
			c.Reads(first...)
		}
	case "os.remove", "os.unlink", "os.rmdir", "os.removedirs":
		c.Deletes(false, false, first...)
	case "shutil.rmtree":
		c.Deletes(true, true, first...)
	case "os.rename", "os.replace", "os.renames", "shutil.move":
		moves(c, first, argAt(args, 1).texts())
	case "shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree":
		copies(c, name == "shutil.copytree", first, argAt(args, 1).texts())
	case "os.chmod", "os.chown", "os.lchown":
		c.Writes(strings.TrimPrefix(name, "os."), first...)
	case "os.symlink", "os.link":
		links(c, first, argAt(args, 1).texts(), name == "os.symlink")
	case "os.truncate":
		c.Writes("truncate", first...)
	case "os.mkdir", "os.makedirs":
		c.Writes("create", first...)
	default:
		return false
	}
	return true
}

// pythonValue handles calls whose result matters, or that contact hosts.
func pythonValue(r *codeReader, name string, args []codeValue, named map[string]codeValue) codeValue {
	first := argAt(args, 0).texts()
	switch name {
	case "Path", "pathlib.Path", "PurePath", "pathlib.PosixPath":
		v := textValue(abstract.Word("."))
		for i, a := range args {
			if i == 0 {
				v = codeValue{text: first[0], known: true, alts: a.alts}
			} else {
				v = combine(v, a, JoinPath)
			}
		}
		v.path = true
		return v
	case "os.walk", "os.listdir", "os.scandir":
		return listing(name, argAt(args, 0))
	case "tempfile.mkdtemp", "tempfile.mktemp", "tempfile.TemporaryDirectory", "tempfile.NamedTemporaryFile":
		return codeValue{text: abstract.Arg{Text: "/tmp/tmp" + abstract.HoleText}, known: true, path: true}
	case "tempfile.mkstemp":
		return listValue([]codeValue{unknownValue(), textValue(abstract.Arg{Text: "/tmp/tmp" + abstract.HoleText})})
	case "tempfile.gettempdir":
		return textValue(abstract.Word("/tmp"))
	case "chr":
		return characters(args)
	case "bytes", "bytearray":
		if argAt(args, 0).isList {
			return characters(args[0].list)
		}
		return argAt(args, 0)
	case "input", "sys.stdin.read", "sys.stdin.buffer.read", "sys.stdin.readline", "sys.stdin.readlines":
		return r.standardInput()
	case "Path.home", "pathlib.Path.home":
		return codeValue{text: r.c.Shell.Read("HOME"), known: true, path: true}
	case "Path.cwd", "pathlib.Path.cwd", "os.getcwd":
		return codeValue{text: r.c.Shell.Read("PWD"), known: true, path: true}
	case "os.path.expanduser", "os.path.expandvars":
		return argAt(args, 0).each(func(a abstract.Arg) abstract.Arg { return expandUser(r.c.Shell, a) })
	case "os.path.join":
		v := argAt(args, 0)
		for _, a := range args[min(1, len(args)):] {
			v = combine(v, a, JoinPath)
		}
		return v
	case "os.path.abspath", "os.path.realpath", "os.path.normpath", "os.fspath", "list", "sorted", "set", "tuple", "reversed":
		return argAt(args, 0)
	case "os.getenv", "os.environ.get":
		return textValue(r.c.Shell.Read(first[0].Text))
	case "glob.glob", "glob.iglob":
		return argAt(args, 0).each(func(a abstract.Arg) abstract.Arg { a.Glob = true; return a })
	case "codecs.decode":
		if how, ok := argAt(args, 1).one(); ok && strings.HasPrefix(how, "rot") {
			return argAt(args, 0).each(rot13)
		}
		return textValue(decodeLiteral(name+argAt(args, 1).texts()[0].Text, first[0]))
	case "base64.b64decode", "bytes.fromhex", "binascii.unhexlify", "zlib.decompress", "base64.b32decode":
		return textValue(decodeLiteral(name, first[0]))
	}
	return pythonNetwork(r, name, args, named)
}

// decodeLiteral decodes a literal; what it cannot decode is unknown.
func decodeLiteral(name string, a abstract.Arg) abstract.Arg {
	kind := "base64"
	if strings.Contains(name, "hex") {
		kind = "hex"
	}
	if text, ok := shell.DecodeText(kind, a.Text); ok && a.Known() && !strings.Contains(name, "b32") && !strings.Contains(name, "zlib") {
		return abstract.Arg{Text: text, Taint: a.Taint | abstract.Decoded}
	}
	return abstract.Arg{Text: abstract.HoleText, Taint: a.Taint | abstract.Decoded}
}

func expandUser(s *shell.Machine, a abstract.Arg) abstract.Arg {
	if a.Text == "~" || a.HasPrefix("~/") {
		return abstract.Concat(s.Read("HOME"), a.With(a.Text[1:]))
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
	case fn == "urlopen" && argAt(args, 0).origin != "":
		// what the request does was recorded where it was created
	case fn == "urlopen" || fn == "urlretrieve" || name == "urllib.request.Request":
		method, given := named["method"]
		_, sends := named["data"]
		switch {
		case given:
			r.request(strings.ToLower(method.texts()[0].Text), args, named)
		case sends || fn == "urlopen" && len(args) > 1:
			r.c.Sends("send", first[0])
		default:
			r.gets(first[0])
		}
		if fn == "Request" {
			return codeValue{text: abstract.UnknownArg(), origin: name}
		}
		if fn == "urlretrieve" && len(args) > 1 {
			r.c.Writes("write", args[1].texts()...)
			r.c.Shell.Store(args[1].texts()[0], abstract.Arg{Text: abstract.HoleText, Taint: abstract.Fetched}, false)
		}
	case module == "requests" || module == "httpx" || module == "aiohttp":
		return r.request(fn, args, named)
	default:
		return r.pythonConnects(name, args, named)
	}
	return codeValue{text: abstract.Arg{Text: abstract.HoleText, Taint: abstract.Fetched}, known: true}
}

// pythonConnects handles calls that open a connection, or wait for one.
func (r *codeReader) pythonConnects(name string, args []codeValue, named map[string]codeValue) codeValue {
	host := argAt(args, 0)
	if h, ok := named["host"]; ok {
		host = h
	}
	switch name {
	case "smtplib.SMTP", "smtplib.SMTP_SSL", "ftplib.FTP", "ftplib.FTP_TLS", "telnetlib.Telnet", "asyncio.open_connection", "socket.create_connection", "websocket.create_connection", "websockets.connect":
		r.c.Sends("send", connectHost([]codeValue{host})[0])
		r.socket = r.socket || name == "socket.create_connection" || name == "asyncio.open_connection"
	case "sqlite3.connect":
		if file := argAt(args, 0); !file.texts()[0].Is(":memory:") {
			r.c.Writes("create", file.texts()...)
		}
		return codeValue{text: argAt(args, 0).texts()[0], origin: name}
	case "psycopg2.connect", "psycopg.connect", "pymysql.connect", "MySQLdb.connect", "mysql.connector.connect", "mariadb.connect":
		return codeValue{text: serverAddress(args, named), origin: name}
	case "http.client.HTTPConnection", "http.client.HTTPSConnection":
		return codeValue{text: host.texts()[0], origin: name}
	case "http.server.HTTPServer", "http.server.ThreadingHTTPServer", "socketserver.TCPServer", "socketserver.ThreadingTCPServer":
		r.c.Listens(connectHost([]codeValue{host})[0], nil)
	case "uvicorn.run", "werkzeug.serving.run_simple":
		if h, ok := named["host"]; ok {
			r.c.Listens(h.texts()[0], nil)
		}
	case "webbrowser.open":
		r.c.Fetches(host.texts()[0])
	default:
		if strings.HasSuffix(name, ".execute") || strings.HasSuffix(name, ".executescript") {
			r.c.Sql(host.texts()[0])
		}
	}
	return unknownValue()
}

// request handles a call of an HTTP library, whose method is the verb.
func (r *codeReader) request(method string, args []codeValue, named map[string]codeValue) codeValue {
	out := codeValue{text: abstract.Arg{Text: abstract.HoleText, Taint: abstract.Fetched}, known: true}
	url := argAt(args, 0).texts()[0]
	if method == "request" {
		method, url = strings.ToLower(url.Text), argAt(args, 1).texts()[0]
	}
	switch method {
	case "get", "head", "options", "stream":
		r.gets(url)
	case "post", "put", "patch":
		r.c.Sends("send", url)
	case "delete":
		r.c.Sends("delete", url)
	default:
		return unknownValue()
	}
	return out
}

// gets handles a request without a body. What a file contains is sent if it is a part of the address.
func (r *codeReader) gets(url abstract.Arg) {
	if url.Taint&abstract.OfFile == 0 || url.Value().Sure != abstract.Prefix {
		r.c.Fetches(url)
		return
	}
	r.c.Sends("send", url)
	r.c.Signal(engine.SignalPipeExternal)
}

// dumpsEnvironment reports whether a value is the whole environment.
func dumpsEnvironment(v codeValue) bool {
	return v.name == "os.environ" || v.name == "process.env" || v.name == "ENV"
}

// directory returns the directory in which a process is started, if the call names one.
func directory(named map[string]codeValue) []abstract.Arg {
	if v, ok := named["cwd"]; ok && !v.empty() {
		return v.texts()[:1]
	}
	return nil
}

// chdir changes the directory of the code that follows.
func chdir(s *shell.Machine, to []abstract.Arg) {
	var dirs []abstract.Value
	for _, dir := range s.Scope.Dirs {
		for _, a := range to {
			dirs = abstract.UnionValues(dirs, []abstract.Value{abstract.JoinDir(dir, a)})
		}
	}
	s.Scope.Enter(dirs)
}

// listing returns the result of os.walk, os.listdir and os.scandir: names, or a tree of
// directories, under a directory.
func listing(name string, dir codeValue) codeValue {
	below := dir.each(func(a abstract.Arg) abstract.Arg { return JoinPath(a, abstract.UnknownArg()) })
	switch name {
	case "os.walk":
		return codeValue{isList: true, more: true, text: abstract.UnknownArg(),
			list: []codeValue{listValue([]codeValue{either(dir, below), unknownValue(), unknownValue()})}}
	case "os.scandir":
		below.path = true
		return below
	}
	return unknownValue()
}

// standardInput returns what the code reads from its standard input.
func (r *codeReader) standardInput() codeValue {
	if in := r.c.Shell.Frame.Stdin; in != nil {
		return textValue(*in)
	}
	return unknownValue()
}

func joined(sep abstract.Arg, list codeValue) codeValue {
	out := textValue(abstract.Arg{})
	for i, v := range list.list {
		if i > 0 {
			out = combine(out, textValue(sep), abstract.Concat)
		}
		out = combine(out, v, abstract.Concat)
	}
	if list.more {
		out = textValue(abstract.UnknownArg())
	}
	return out.each(func(a abstract.Arg) abstract.Arg { a.Taint |= abstract.Decoded; return a })
}

// connectHost returns the host of an address: ("host", port), or "host".
func connectHost(args []codeValue) []abstract.Arg {
	first := argAt(args, 0)
	if first.isList {
		first = first.at(0)
	}
	return first.texts()
}

// opens handles open(path, mode).
func opens(c *shell.Call, paths []abstract.Arg, mode codeValue) {
	m := mode.texts()[0].Text
	switch {
	case !mode.known || !strings.ContainsAny(m, "wax+"+abstract.Holes):
		c.Reads(paths...)
	case strings.Contains(m, "a"):
		c.Writes("append", paths...)
	default:
		c.Writes("write", paths...)
	}
}

// openedFile returns the result of open.
func openedFile(paths []abstract.Arg) codeValue {
	v := codeValue{text: abstract.Arg{Text: abstract.HoleText, Taint: abstract.Filed}, known: true}
	if len(paths) == 1 {
		v.opened = &paths[0]
	}
	return v
}

// keeps records a string that code writes into a file.
func (r *codeReader) keeps(file abstract.Arg, text codeValue, add bool) {
	if known, ok := text.one(); ok {
		r.c.Shell.Store(file, abstract.Word(known), add)
	}
}

// moves handles renames in code.
func moves(c *shell.Call, from, to []abstract.Arg) {
	for _, src := range from {
		e := abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "move", Recursive: true}
		if c.Shell.StaysNear(src, to[0]) {
			e = abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "move"}
		}
		c.Emit(e, src)
	}
	c.Writes("write", to...)
}

// links makes names that stand for other files.
func links(c *shell.Call, from, to []abstract.Arg, symbolic bool) {
	c.Writes("link", to...)
	for _, name := range to {
		for _, source := range from {
			c.Shell.Linked(source, name, symbolic)
		}
	}
}

// starts runs a program from code: a list of arguments, a command line for a shell, or
// arguments spread over the call.
func starts(c *shell.Call, args []codeValue, inShell, spread bool) {
	if len(args) == 0 {
		return
	}
	if len(args[0].alts) > 0 && args[0].alts[0].isList {
		for _, v := range args[0].alts {
			starts(c, append([]codeValue{v}, args[1:]...), inShell, spread)
		}
		return
	}
	if args[0].isList || spread {
		list := args[0]
		if !list.isList {
			list = listValue(args)
		}
		for _, argv := range argvs(list) {
			c.Child(func() shell.Outcome { return c.Shell.Invoke(argv, c.Node) })
		}
		return
	}
	for _, code := range args[0].texts() {
		if inShell || strings.ContainsAny(code.Text, " \t") {
			c.Shell.Embed(code, "subprocess", false)
		} else {
			c.Child(func() shell.Outcome { return c.Shell.Invoke([]abstract.Arg{code}, c.Node) })
		}
	}
}

// argvs returns the argument lists that a list of values may represent.
func argvs(list codeValue) [][]abstract.Arg {
	out := [][]abstract.Arg{nil}
	for _, v := range list.list {
		texts := v.texts()
		if len(out)*len(texts) > shell.MaxAlts {
			texts = []abstract.Arg{abstract.JoinArgs(texts)}
		}
		var next [][]abstract.Arg
		for _, argv := range out {
			for _, a := range texts {
				a.Quoted = true
				next = append(next, append(argv[:len(argv):len(argv)], a))
			}
		}
		out = next
	}
	if list.more {
		for i := range out {
			out[i] = append(out[i], abstract.UnknownArg())
		}
	}
	return out
}
