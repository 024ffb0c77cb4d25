package languages

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// scriptSyntax returns the syntax of Perl, Ruby, PHP, Lua, R, Groovy and AppleScript.
func scriptSyntax(lang string) lexis {
	switch lang {
	case "perl":
		return syntaxPerl
	case "php":
		return syntaxPHP
	case "lua":
		return lexis{comments: []string{"--"}, quotes: `'"`}
	case "Rscript", "rscript":
		return lexis{comments: []string{"#"}, quotes: "'\""}
	case "osascript":
		return lexis{comments: []string{"--"}, quotes: `"`}
	case "groovy":
		return lexis{comments: []string{"//"}, block: true, quotes: `'"`, plain: "'", inserts: "${"}
	}
	return syntaxRuby
}

// script finds the effects of Perl, Ruby, PHP, Lua, R, Groovy and
// AppleScript code.
func script(c *shell.Call, lang string, code abstract.Arg) {
	r := newReader(c, strings.ToLower(lang), code.Text, scriptSyntax(lang))
	r.call, r.attr = scriptCall, scriptAttr
	if r.lang == "osascript" {
		r.appleScript()
		return
	}
	r.vars["ARGV"] = listOf(c.Opts.Operands)
	r.program()
}

// appleScript finds do shell script "…", what is typed into terminals, and deletions by
// other applications.
func (r *codeReader) appleScript() {
	for i, t := range r.tokens {
		switch {
		case t.Kind != TokenName:
		case t.Text == "script" && r.named(i-1, "shell") && r.at(i+1).Kind == TokenString:
			r.c.Shell.Embed(abstract.Word(r.at(i+1).Text), r.lang, false)
		case t.Text == "script" && r.named(i-1, "shell"):
			r.c.Shell.Unseen(abstract.UnknownArg(), r.lang)
		case (t.Text == "script" && r.named(i-1, "do") || t.Text == "text" && r.named(i-1, "write")) && r.at(i+1).Kind == TokenString:
			r.c.Types("", append(shell.TypeText(abstract.Word(r.at(i+1).Text)), shell.Key{Kind: shell.KeyEnter}))
		case t.Text == "script" && r.named(i-1, "do"):
			r.c.Shell.Unseen(abstract.UnknownArg(), r.lang)
		case t.Text == "keystroke" && r.at(i+1).Kind == TokenString:
			r.c.Types("", shell.TypeText(abstract.Word(r.at(i+1).Text)))
			if r.named(i+3, "return") {
				r.c.Types("", []shell.Key{{Kind: shell.KeyEnter}})
			}
		case t.Text == "keystroke" && r.named(i+1, "return") || t.Text == "code" && r.named(i-1, "key"):
			r.c.Types("", []shell.Key{{Kind: shell.KeyEnter}})
		case t.Text == "delete" && r.named(i+1, "POSIX") && r.at(i+3).Kind == TokenString:
			r.c.Deletes(true, false, abstract.Word(r.at(i+3).Text))
		}
	}
}

func scriptAttr(v codeValue, name string) codeValue {
	if name == "execute" && v.known { // Groovy's "command".execute()
		return codeValue{name: ".execute", text: v.text, known: true, alts: v.alts}
	}
	return pythonAttr(v, name)
}

// bare reports whether the arguments of a call follow it without brackets: unlink "x";
// FileUtils.rm_rf "x".
func (r *codeReader) bare(v codeValue, n int) bool {
	if r.lang != "perl" && r.lang != "ruby" && r.lang != "groovy" || v.name == "" || v.known || r.at(n-1).Kind != TokenName {
		return false
	}
	t := r.at(n)
	return t.Kind == TokenString && !r.sigil(n-2) || t.Kind == tokenNumber || r.sigil(n) && !r.sigil(n-2) ||
		t.Kind == TokenName && !codeKeyword(t.Text) && !perlOperator(t.Text) && !r.sigil(n-2) ||
		r.lang == "perl" && (r.punct(n, "-") && v.name == "kill" || r.punct(n, "{") && r.runner(n-1)) ||
		r.lang == "ruby" && r.punct(n, "[") && r.runner(n-1)
}

// runner reports whether a token is the name of a function that runs a program.
func (r *codeReader) runner(i int) bool { return r.named(i, "exec") || r.named(i, "system") }

func perlOperator(name string) bool {
	return slices.Contains([]string{"for", "foreach", "x", "eq", "ne", "lt", "gt", "le", "ge", "cmp", "xor", "not"}, name)
}

// bareArguments evaluates arguments without parentheses: system "rm", "x"; Perl's system {"rm"} "a", "x" and system $rm "a", "x"
// run the program before the list.
func (r *codeReader) bareArguments(i int) ([]codeValue, int) {
	var out []codeValue
	if r.lang == "perl" && r.runner(i-1) {
		block := r.punct(i, "{")
		if block {
			i++
		}
		program, n := r.expression(i)
		if block && r.punct(n, "}") {
			n++
		} else if !r.sigil(i) || !r.starts(n) {
			n = i
		}
		if n > i {
			rest, end := r.bareArguments(n)
			if len(rest) > 0 && rest[0].isList {
				rest = append(slices.Clone(rest[0].list), rest[1:]...)
			}
			return append([]codeValue{program}, rest[min(1, len(rest)):]...), end
		}
	}
	for i < len(r.tokens) && (r.starts(i) || r.punct(i, "-") || r.punct(i, ":")) {
		if r.punct(i, ":") {
			i++
		}
		v, n := r.expression(i)
		out, i = append(out, v), max(n, i+1)
		if !r.punct(i, ",") && !r.punct(i, "=>") {
			break
		}
		i++
	}
	return out, i
}

// modifier binds $_ for a Perl statement that is followed by its loop: unlink for @files;
func (r *codeReader) modifier(i int) {
	if r.lang != "perl" || r.punct(i-1, ".") {
		return
	}
	for j := i + 1; j < i+maxModifier && j < len(r.tokens) && !r.punct(j, ";") && !r.punct(j, "{") && !r.punct(j, "}"); j = r.behind(j) {
		if (r.named(j, "for") || r.named(j, "foreach")) && r.starts(j+1) {
			v, _ := r.expression(j + 1)
			r.vars["_"] = v.element()
			return
		}
	}
}

// maxModifier limits how far after the start of a statement its modifier is searched for,
// in tokens.
const maxModifier = 24

// block binds the parameters of a Ruby block to the elements of the object: each { |f| … },
// each do |f| …
func (r *codeReader) block(v codeValue, n int) (int, bool) {
	if r.lang != "ruby" || !r.punct(n, "{") && !r.named(n, "do") || !r.punct(n+1, "|") {
		return n, false
	}
	item := v.receiver().element()
	for n += 2; n < len(r.tokens) && !r.punct(n, "|"); n++ {
		if r.at(n).Kind == TokenName {
			r.vars[r.at(n).Text] = item
			item = unknownValue()
		}
	}
	return n + 1, true
}

// scriptCall evaluates a call, and returns its result.
func scriptCall(r *codeReader, fn codeValue, args []codeValue, named map[string]codeValue) codeValue {
	if fn.known && fn.name == "" && (r.lang == "php" || r.lang == "perl") {
		fn = nameValue(fn.text.Text) // $f = "system"; $f("…")
	}
	if strings.HasPrefix(fn.name, ".") {
		return scriptMethod(r, fn, args, named)
	}
	name := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(fn.name, "CORE."), "GLOBAL."), "Kernel.")
	if out, ok := r.scriptDetour(name, args, named); ok {
		return out
	}
	for _, does := range []func(string, []codeValue, map[string]codeValue) bool{r.scriptDeletes, r.scriptWrites, r.scriptRuns} {
		if does(name, args, named) {
			return unknownValue()
		}
	}
	return r.scriptValue(name, args, named)
}

func (r *codeReader) scriptDeletes(name string, args []codeValue, named map[string]codeValue) bool {
	c := r.c
	if len(args) == 0 && r.lang == "perl" {
		args = []codeValue{r.lookup("_")}
	}
	targets := flatTexts(args)
	_, recursive := named["recursive"]
	switch name {
	case "unlink", "rmdir", "File.delete", "File.unlink", "Dir.delete", "Dir.rmdir", "Dir.unlink", "FileUtils.rm", "FileUtils.rm_f", "FileUtils.remove", "FileUtils.rmdir", "os.remove", "file.remove", "rm", "rm_f":
		if r.lang == "rscript" {
			for i := range targets {
				targets[i].Glob = strings.ContainsAny(targets[i].Text, "*?")
			}
		}
		if name != "rm" || r.lang == "ruby" {
			c.Deletes(recursive, false, targets...)
		}
	case "File.Path.rmtree", "File.Path.remove_tree", "rmtree", "remove_tree", "rm_r", "rm_rf", "FileUtils.rm_r", "FileUtils.rm_rf", "FileUtils.rmtree", "FileUtils.remove_dir", "FileUtils.remove_entry", "FileUtils.remove_entry_secure":
		c.Deletes(true, true, targets...)
	case "rename", "move", "File.Copy.move", "File.rename", "FileUtils.mv", "FileUtils.move", "mv", "os.rename", "file.rename":
		if len(args) > 1 {
			moves(c, args[0].texts(), args[1].texts())
		}
	case "kill", "Process.kill", "posix_kill":
		if len(targets) > 1 && name != "posix_kill" {
			targets = targets[1:]
		}
		kills(c, targets...)
	default:
		return false
	}
	return true
}

func (r *codeReader) scriptWrites(name string, args []codeValue, named map[string]codeValue) bool {
	c := r.c
	first, second := argAt(args, 0).texts(), argAt(args, 1).texts()
	switch name {
	case "file_put_contents", "File.write", "IO.write", "File.binwrite":
		c.Writes("write", first...)
		r.keeps(first[0], argAt(args, 1), false)
	case "truncate", "File.truncate":
		c.Writes("truncate", first...)
	case "touch", "mkdir", "FileUtils.touch", "FileUtils.mkdir", "FileUtils.mkdir_p", "Dir.mkdir", "dir.create", "file.create", "mkdir_p", "make_path":
		c.Writes("create", flatTexts(args[:min(1, len(args))])...)
	case "write.csv", "write.table", "writeLines", "saveRDS":
		if len(args) > 1 {
			c.Writes("write", second...)
		}
	case "copy", "File.Copy.copy", "FileUtils.cp", "FileUtils.cp_r", "FileUtils.copy", "cp", "cp_r", "file.copy":
		copies(c, strings.HasSuffix(name, "cp_r"), flatTexts(args[:min(1, len(args))]), second)
	case "symlink", "link", "File.symlink", "File.link", "FileUtils.ln", "FileUtils.ln_s", "FileUtils.ln_sf":
		links(c, flatTexts(args[:min(1, len(args))]), second, !strings.HasSuffix(name, "link") || strings.HasSuffix(name, "symlink"))
	case "chmod", "FileUtils.chmod", "FileUtils.chmod_R", "File.chmod":
		if r.lang == "php" {
			c.Writes("chmod", first...)
		} else if len(args) > 1 {
			c.Writes("chmod", flatTexts(args[1:])...)
		}
	case "chdir", "Dir.chdir", "setwd":
		chdir(c.Shell, first)
	case "fopen", "File.open", "File.new", "IO.open", "io.open", "open":
		return r.scriptOpen(name, args)
	default:
		return false
	}
	return true
}

// scriptOpen handles Perl's open(F, ">x") and open(F, "|-", …) and Ruby's File.open. False:
// its result is a value.
func (r *codeReader) scriptOpen(name string, args []codeValue) bool {
	if r.lang != "perl" || name != "open" {
		if t := argAt(args, 0).texts()[0]; r.lang == "ruby" && name == "open" && t.HasPrefix("|") {
			r.c.Shell.Embed(t.With(t.Text[1:]), r.lang, false)
			return true
		}
		if abstract.IsURL(argAt(args, 0).texts()[0]) {
			return false
		}
		opens(r.c, argAt(args, 0).texts(), argAt(args, 1))
		return true
	}
	mode := argAt(args, 1)
	for _, m := range mode.texts() {
		if len(args) > 3 && strings.Contains(m.Text, "|") {
			r.scriptStarts(args[2:]) // a program and its arguments
			continue
		}
		r.perlOpen(m, argAt(args, 2))
	}
	return true
}

func (r *codeReader) perlOpen(mode abstract.Arg, file codeValue) {
	c := r.c
	switch t := strings.TrimSpace(mode.Text); {
	case t == "|-" || t == "-|":
		c.Shell.Embed(file.texts()[0], r.lang, false)
	case strings.HasPrefix(t, "|") || strings.HasSuffix(t, "|"):
		c.Shell.Embed(mode.With(strings.Trim(t, "|")), r.lang, false)
	case strings.HasPrefix(t, ">") || strings.HasPrefix(t, "+"):
		if name := strings.TrimSpace(strings.TrimLeft(t, "+<>")); name != "" && name[0] != ':' {
			c.Writes("write", mode.With(name))
		} else {
			c.Writes("write", file.texts()...)
		}
	case strings.HasPrefix(t, "<"):
		if name := strings.TrimSpace(t[1:]); name != "" && name[0] != ':' {
			c.Reads(mode.With(name))
		} else {
			c.Reads(file.texts()...)
		}
	default:
		c.Reads(mode)
	}
}

// luaSocket reports whether a module of Lua opens connections.
func luaSocket(module string) bool {
	return slices.ContainsFunc([]string{"socket", "ssl", "http", "resty"}, func(name string) bool { return strings.HasPrefix(module, name) })
}

func (r *codeReader) scriptRuns(name string, args []codeValue, named map[string]codeValue) bool {
	c := r.c
	if len(args) == 0 {
		return false
	}
	switch name {
	case "require":
		if module, ok := args[0].one(); ok && r.lang == "lua" && (luaSocket(module)) {
			r.connects(abstract.UnknownArg())
		}
		return false
	case "system2":
		starts(c, []codeValue{plus(listValue(args[:1]), listValue(argAt(args, 1).list), false)}, false, false)
	case "system", "exec", "spawn", "shell_exec", "passthru", "popen", "proc_open", "pcntl_exec", "readpipe", "os.execute", "io.popen", "IO.popen", "Process.spawn", "PTY.spawn", "open3", "open2",
		"Open3.capture2", "Open3.capture2e", "Open3.capture3", "Open3.popen2", "Open3.popen3", "Open3.popen2e", "Open3.pipeline":
		r.scriptStarts(args)
	case "eval", "assert", "create_function", "instance_eval", "class_eval", "load", "loadstring", "Eval.me":
		if code := args[len(args)-1]; code.known {
			r.runs(code, r.lang)
		} else if code.fields == nil && name == "eval" {
			r.c.Shell.Unseen(code.texts()[0], r.lang)
		}
	case "call_user_func", "call_user_func_array", "array_map", "array_walk", "array_filter", "usort", "register_shutdown_function", "do.call":
		f := args[0]
		if text, ok := f.one(); ok && f.known {
			f = nameValue(text)
		}
		var with []codeValue
		for _, a := range args[1:] {
			with = append(with, a.element())
		}
		r.invoke(f, with, nil)
	default:
		return false
	}
	return true
}

// scriptStarts runs a program: a single text is a command line, several are its arguments.
func (r *codeReader) scriptStarts(args []codeValue) {
	switch {
	case r.lang == "php" || r.lang == "lua" || r.lang == "rscript" || len(args) == 1:
		starts(r.c, args[:1], true, false)
	default:
		var argv []codeValue
		for _, a := range args {
			switch {
			case a.isList && r.lang == "ruby" && len(argv) == 0 && len(a.list) == 2:
				argv = append(argv, a.list[0]) // the program, and the name that it is given
			case a.isList:
				argv = append(argv, a.list...)
			case a.fields == nil:
				argv = append(argv, a)
			}
		}
		starts(r.c, []codeValue{listValue(argv)}, false, false)
	}
}

// scriptValue handles calls whose result matters, or that contact hosts.
func (r *codeReader) scriptValue(name string, args []codeValue, named map[string]codeValue) codeValue {
	first := argAt(args, 0)
	switch name {
	case "base64_decode", "decode_base64", "MIME.Base64.decode_base64", "Base64.decode64", "Base64.strict_decode64", "Base64.urlsafe_decode64":
		return textValue(decodeLiteral("base64", first.texts()[0]))
	case "hex2bin":
		return textValue(decodeLiteral("hex", first.texts()[0]))
	case "str_rot13":
		return first.each(rot13)
	case "strrev", "scalar.reverse":
		return first.each(backwards)
	case "glob", "Dir.glob", "Sys.glob", "bsd_glob":
		return first.each(func(a abstract.Arg) abstract.Arg { a.Glob = true; return a })
	case "File.join", "file.path":
		v := first
		for _, a := range args[min(1, len(args)):] {
			v = plus(v, a, true)
		}
		v.path = false
		return v
	case "Dir.home":
		return textValue(r.c.Shell.Read("HOME"))
	case "getenv", "os.getenv", "Sys.getenv", "ENV.fetch":
		return textValue(r.c.Shell.Read(first.texts()[0].Text))
	case "File.expand_path", "path.expand":
		return first.each(func(a abstract.Arg) abstract.Arg { return expandUser(r.c.Shell, a) })
	case "Dir.pwd", "getcwd":
		return textValue(r.c.Shell.Read("PWD"))
	case "Dir.mktmpdir", "Dir.tmpdir", "sys_get_temp_dir", "tempnam", "tempdir", "tempfile", "os.tmpname":
		return textValue(abstract.Arg{Text: "/tmp/" + abstract.HoleText})
	case "Pathname.new", "Pathname", "File":
		first.path = true
		return first
	case "URI", "URI.parse", "String", "qw", "escapeshellarg", "realpath":
		return first
	case "array", "c", "list":
		return listValue(args)
	case "join", "implode", "paste0":
		return r.scriptJoin(name, args)
	case "p", "puts", "print", "print_r", "var_dump", "pp":
		if dumpsEnvironment(first) || first.name == "ENV.to_h" || first.name == "_ENV" || first.name == "os.environ" {
			r.c.Signal(engine.SignalEnvDump)
		}
		return unknownValue()
	}
	return r.scriptNetwork(name, args, named)
}

func (r *codeReader) scriptJoin(name string, args []codeValue) codeValue {
	sep := abstract.Arg{}
	if name != "paste0" && len(args) > 0 {
		sep, args = args[0].texts()[0], args[1:]
	}
	if len(args) == 1 && args[0].isList {
		return joined(sep, args[0])
	}
	return joined(sep, listValue(args))
}

func (r *codeReader) scriptNetwork(name string, args []codeValue, named map[string]codeValue) codeValue {
	c, first := r.c, argAt(args, 0).texts()[0]
	out := codeValue{text: abstract.Arg{Text: abstract.HoleText, Taint: abstract.Filed}, known: true}
	switch name {
	case "file_get_contents", "readfile", "file", "File.read", "IO.read", "File.readlines", "readLines", "read.csv", "read.table", "readRDS", "URI.open", "open", "get", "LWP.Simple.get", "getprint", "Net.HTTP.get", "curl_init", "HTTParty.get", "RestClient.get", "Faraday.get", "source":
		if abstract.IsURL(first) {
			c.Fetches(first)
			out.text.Taint = abstract.Fetched
		} else if strings.HasPrefix(strings.ToLower(name), "file") || strings.HasPrefix(name, "read") || name == "IO.read" {
			c.Reads(first)
		}
		return out
	case "getstore", "mirror", "LWP.Simple.getstore", "download.file":
		c.Fetches(first)
		c.Writes("write", argAt(args, 1).texts()...)
	case "Net.HTTP.post", "Net.HTTP.post_form", "RestClient.post", "RestClient.put", "HTTParty.post", "Faraday.post", "Net.HTTP.put":
		c.Sends("send", first)
	case "RestClient.delete", "HTTParty.delete", "Faraday.delete", "Net.HTTP.Delete.new":
		c.Sends("delete", first)
	case "fsockopen", "stream_socket_client", "TCPSocket.new", "TCPSocket.open", "Socket.tcp", "IO.Socket.INET.new":
		if name == "IO.Socket.INET.new" {
			first = perlPeer(named)
		}
		r.connects(first)
	}
	return unknownValue()
}

// perlPeer returns the host in PeerAddr => "host:port".
func perlPeer(named map[string]codeValue) abstract.Arg {
	for _, key := range []string{"PeerAddr", "PeerHost"} {
		if v, ok := named[key]; ok {
			host := v.texts()[0]
			name, _, _ := strings.Cut(host.Text, ":")
			return host.With(name)
		}
	}
	return abstract.UnknownArg()
}

// scriptMethod handles methods of a value.
func scriptMethod(r *codeReader, fn codeValue, args []codeValue, named map[string]codeValue) codeValue {
	c, self := r.c, fn.receiver()
	switch name := fn.name[1:]; {
	case name == "execute" && self.known:
		starts(c, []codeValue{self}, true, false)
	case name == "execute" || name == "query" || name == "exec" && r.lang == "php":
		c.Sql(argAt(args, 0).texts()[0])
	case name == "send" || name == "public_send":
		r.scriptRuns("send", args, named)
	case self.path && (name == "delete" || name == "unlink" || name == "rmdir"):
		c.Deletes(false, false, self.texts()...)
	case self.path && (name == "rmtree" || name == "deleteDir" || name == "remove_tree" || name == "remove"):
		c.Deletes(true, true, self.texts()...)
	case self.path && (name == "write" || name == "setText" || name == "spew" || name == "append"):
		c.Writes("write", self.texts()...)
	case name == "reverse":
		return self.each(backwards)
	case name == "join" && self.isList:
		return joined(argAt(args, 0).texts()[0], self)
	case name == "request" || abstract.IsURL(argAt(args, 0).texts()[0]):
		return r.request(strings.TrimPrefix(name, "request_"), args, named)
	default:
		return codeValue{text: self.text, known: self.known, alts: self.alts, list: self.list, isList: self.isList,
			path: self.path, origin: self.origin}
	}
	return unknownValue()
}

func flatTexts(args []codeValue) []abstract.Arg {
	var out []abstract.Arg
	for _, v := range args {
		if v.isList {
			out = append(out, flatTexts(v.list)...)
		} else if v.fields == nil {
			out = append(out, v.texts()...)
		}
	}
	if len(out) == 0 {
		return []abstract.Arg{abstract.UnknownArg()}
	}
	return out
}

// copies handles copies in code, of files or of whole trees.
func copies(c *shell.Call, tree bool, from, to []abstract.Arg) {
	c.Reads(from...)
	if tree {
		c.Sweeps(from...)
	}
	c.Writes("write", to...)
}
