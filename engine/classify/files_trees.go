package classify

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// rsync copies trees, perhaps to or from another host.
func rsync(c *call) {
	if c.opts.has("-n", "--dry-run") {
		c.signal(engine.SignalDryRun)
		c.reads(c.opts.operands...)
		return
	}
	if shell, ok := c.opts.get("-e", "--rsh"); ok {
		c.s.commandVariable(shell.text, shell)
	}
	operands := c.opts.operands
	if len(operands) < 2 {
		return
	}
	sources, dest := operands[:len(operands)-1], operands[len(operands)-1]
	deletes := c.opts.has("--delete", "--delete-after", "--delete-before", "--delete-during", "--delete-excluded", "--del", "--delete-delay")
	c.transfer(sources, dest)
	if c.opts.has("--remove-source-files") {
		c.deletes(true, false, sources...)
	}
	if deletes {
		target := dest
		if isRemote(dest) {
			target = word(holeText)
		}
		c.emit(rawEffect{kind: engine.EffectFileDelete, verb: "delete", recursive: true, contents: true}, target)
	}
}

// transfer copies between hosts as scp and rsync name them.
func (c *call) transfer(sources []arg, dest arg) {
	for _, src := range sources {
		if isRemote(src) {
			c.fetches(remoteHost(src))
		} else if c.opts.has("-r", "-a", "-R", "--recursive", "--archive") {
			c.readsTree(src)
		} else {
			c.reads(src)
		}
	}
	if isRemote(dest) {
		c.sends("send", remoteHost(dest))
		return
	}
	c.emit(rawEffect{kind: engine.EffectFileWrite, verb: "write", recursive: true}, dest)
}

// isRemote tells whether a path is written as host:path or as a URL.
func isRemote(a arg) bool {
	colon := strings.IndexByte(a.text, ':')
	slash := strings.IndexByte(a.text, '/')
	drive := colon == 1 && strings.HasPrefix(a.text[2:], `\`)
	return colon > 0 && !drive && (slash < 0 || slash > colon) || isURL(a)
}

func isURL(a arg) bool {
	i := strings.Index(a.text, "://")
	return i > 0 && i < 12
}

// remoteHost is the host of user@host:path or of a URL.
func remoteHost(a arg) arg {
	if isURL(a) {
		return a
	}
	host, _, _ := strings.Cut(a.text, ":")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	return a.with(host)
}

func tar(c *call) {
	if len(c.args) > 0 && !c.args[0].hasPrefix("-") && c.args[0].text != "" {
		c.args[0].text = "-" + c.args[0].text
		c.opts = parseOptions(c.args, program{values: tarValues})
	}
	o := c.opts
	for _, code := range append(o.all("--to-command", "--use-compress-program", "-I", "--rsh-command", "--info-script", "-F"), checkpointCode(o)...) {
		if !plainCompressor(code.text) {
			c.child(func() outcome { return c.s.embed(code, "tar", false) })
		}
	}
	file, _ := o.get("-f", "--file")
	dirs := o.all("-C", "--directory")
	switch {
	case o.has("-x", "--extract", "--get"):
		c.reads(file)
		if o.has("-O", "--to-stdout", "--to-command") {
			return
		}
		if len(dirs) == 0 {
			dirs = []arg{word(".")}
		}
		for _, d := range dirs {
			c.emit(rawEffect{kind: engine.EffectFileWrite, verb: "write", recursive: true}, d.with(strings.TrimSuffix(d.text, "/")+"/"+holeText))
		}
	case o.has("-c", "-r", "-u", "--create", "--append", "--update"):
		c.inDirectory(dirs, func() {
			c.readsTree(o.operands...)
			if o.has("--remove-files") {
				c.deletes(true, false, o.operands...)
			}
		})
		if isRemote(file) {
			c.sends("send", remoteHost(file))
			return
		}
		c.writes("write", file)
	default:
		c.reads(file)
	}
}

func checkpointCode(o options) []arg {
	var out []arg
	for _, a := range o.all("--checkpoint-action") {
		if code, ok := strings.CutPrefix(a.text, "exec="); ok {
			out = append(out, a.with(code))
		}
	}
	return out
}

func plainCompressor(name string) bool {
	switch strings.Fields(name + " x")[0] {
	case "gzip", "pigz", "bzip2", "pbzip2", "xz", "zstd", "lz4", "lzip", "lzma", "lzop", "unzstd", "brotli":
		return true
	}
	return false
}

// inDirectory runs f as if the command had changed into the last of dirs.
func (c *call) inDirectory(dirs []arg, f func()) {
	if len(dirs) == 0 {
		f()
		return
	}
	c.s.subshell(func() outcome {
		var to []value
		for _, d := range c.s.scope.dirs {
			for _, a := range dirs {
				d = joinDir(d, a)
			}
			to = append(to, d)
		}
		c.s.scope.enter(to)
		f()
		return outcome{}
	})
}

func archive(c *call) {
	o := c.opts
	switch c.name {
	case "zip":
		if code, ok := o.get("-TT", "--unzip-command"); ok {
			c.child(func() outcome { return c.s.embed(code, "zip", false) })
		}
		for i, a := range c.args {
			if a.is("-TT") && i+1 < len(c.args) {
				c.child(func() outcome { return c.s.embed(c.args[i+1], "zip", false) })
			}
		}
		c.writes("write", o.operand(0))
		if len(o.operands) > 1 {
			c.readsTree(o.operands[1:]...)
			if o.has("-m", "--move") {
				c.deletes(true, false, o.operands[1:]...)
			}
		}
	case "unzip", "unrar", "7z", "7za":
		c.unpack()
	default:
		c.out.taint |= decoded
		if o.has("-c", "--stdout", "-l", "--list", "-t") || len(o.operands) == 0 {
			c.reads(o.operands...)
			return
		}
		c.writes("write", o.operands...)
	}
}

func (c *call) unpack() {
	o := c.opts
	c.reads(o.operand(0))
	if o.has("-l", "-t", "-p", "-Z", "-v", "-z") || o.operand(0).is("l", "t") {
		return
	}
	dir := word(".")
	if d, ok := o.get("-d"); ok {
		dir = d
	}
	for _, a := range c.args {
		if strings.HasPrefix(c.name, "7z") && a.hasPrefix("-o") {
			dir = a.with(a.text[2:])
		}
	}
	c.emit(rawEffect{kind: engine.EffectFileWrite, verb: "write", recursive: true, forced: o.has("-o")}, dir.with(strings.TrimSuffix(dir.text, "/")+"/"+holeText))
}

// find walks trees and may delete what it finds, or run a command on it.
func find(c *call) {
	args := c.args
	for len(args) > 0 && args[0].is("-H", "-L", "-P", "-E", "-X", "-s", "-x") {
		args = args[1:]
	}
	var roots []arg
	for len(args) > 0 && !args[0].hasPrefix("-") && !args[0].is("(", "!", ")") {
		roots = append(roots, args[0])
		args = args[1:]
	}
	if len(roots) == 0 {
		roots = []arg{word(".")}
	}
	c.opts = options{parsed: true, operands: roots, flags: findFlags(args)}
	c.reads(roots...)
	c.out = relativeNames(c, roots)
	name, narrow := findName(args)
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a.is("-delete"):
			c.findDelete(roots, name, narrow)
		case a.is("-exec", "-execdir", "-ok", "-okdir"):
			end := i + 1
			for end < len(args) && !args[end].is(";", "+") {
				end++
			}
			c.findExec(a.text, args[i+1:end], roots, name)
			i = end
		case a.is("-fprint", "-fprintf", "-fprint0", "-fls") && i+1 < len(args):
			c.writes("write", args[i+1])
		}
	}
}

func findFlags(args []arg) []given {
	var out []given
	inside := false // the command of -exec, whose options are its own
	for i, a := range args {
		switch {
		case a.is(";", "+"):
			inside = false
		case !inside && i+1 < len(args) && args[i+1].known() && a.is("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex"):
			out = append(out, given{text: a.text + "=" + args[i+1].text, word: a, valued: true, value: &args[i+1]})
		case a.hasPrefix("-") && a.known() && !inside:
			out = append(out, given{text: a.text, word: a})
			inside = a.is("-exec", "-execdir", "-ok", "-okdir")
		}
	}
	return out
}

// findName is the pattern of a -name or -path test, and whether any test picks
// some of the files only.
func findName(args []arg) (name string, narrow bool) {
	for i := 0; i+1 < len(args); i++ {
		switch args[i].text {
		case "-name", "-iname", "-path", "-wholename", "-ipath", "-regex":
			if name == "" {
				name = args[i+1].text[strings.LastIndexByte(args[i+1].text, '/')+1:]
			}
		case "-empty":
			narrow = true
		case "-o", "-or":
			return "", false
		}
	}
	if name == "*" || strings.ContainsAny(name, holes) {
		name = ""
	}
	return name, narrow
}

// matches is what find hands to its actions: any file below a root.
func findMatches(root arg, name string) arg {
	if name == "" {
		name = "**"
		return arg{text: strings.TrimSuffix(root.text, "/") + "/" + name, glob: true, quoted: true, taint: root.taint}
	}
	return arg{text: strings.TrimSuffix(root.text, "/") + "/**/" + name, glob: true, quoted: true, taint: root.taint}
}

func (c *call) findDelete(roots []arg, name string, narrow bool) {
	for _, r := range roots {
		e := rawEffect{kind: engine.EffectFileDelete, verb: "delete", recursive: name == "" && !narrow}
		c.emit(e, findMatches(r, name))
	}
}

func (c *call) findExec(how string, template, roots []arg, name string) {
	if len(template) == 0 {
		return
	}
	s := c.s
	for _, root := range roots {
		m := findMatches(root, name)
		s.subshell(func() outcome {
			s.frame.via = appendText(s.frame.via, "find"+how)
			s.frame.depth++
			if strings.HasSuffix(how, "dir") {
				s.scope.enter([]value{{sure: prefix, text: joinDir(s.scope.dirs[0], root).text}})
				m.text = "./" + m.text[strings.LastIndexByte(m.text, '/')+1:]
			}
			if s.frame.depth > maxDepth {
				s.overBudget("find")
				return outcome{}
			}
			argv := replaceMark(template, "{}", m)
			for i := range argv {
				argv[i].glob = argv[i].glob || argv[i].text == m.text
			}
			return s.invoke(argv, c.node)
		})
	}
}

// fd is find with a friendlier grammar.
func fd(c *call) {
	const values = " -e -t -d -E -c -S -g -o --extension --type --max-depth --min-depth --exact-depth --exclude --color --size --changed-within --changed-before --owner -j --threads --base-directory --search-path --max-results --format "
	args := c.args
	var template []arg
	for i, a := range c.args {
		if a.is("-x", "-X", "--exec", "--exec-batch") {
			args, template = c.args[:i], c.args[i+1:]
			break
		}
	}
	c.opts = parseOptions(args, program{values: values})
	roots := c.opts.all("--base-directory", "--search-path")
	if len(c.opts.operands) > 1 {
		roots = append(roots, c.opts.operands[1:]...)
	}
	if len(roots) == 0 {
		roots = []arg{word(".")}
	}
	c.reads(roots...)
	c.out = relativeNames(c, roots)
	if len(template) == 0 {
		return
	}
	marked := false
	for i, a := range template {
		if a.is(";") {
			template = template[:i]
			break
		}
		marked = marked || strings.Contains(a.text, "{")
	}
	if !marked {
		template = append(template[:len(template):len(template)], word("{}"))
	}
	name := ""
	if ext, ok := c.opts.get("-e", "--extension"); ok {
		name = "*." + ext.text
	} else if p := c.opts.operand(0).text; p != "" && p != "." {
		name = "*" + strings.Trim(p, "^$") + "*"
	}
	c.findExec("-exec", template, roots, name)
}
