package classify

import (
	"encoding/base64"
	"encoding/hex"
	"path"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// builtin runs the commands that change the shell itself, or whose output is
// known.
func (c *call) builtin() (outcome, bool) {
	s := c.s
	here := outcome{fail: s.scope.dirs}
	switch c.name {
	case "cd", "chdir", "pushd", "popd":
		c.record()
		o := c.changeDir()
		c.finish()
		return o, true
	case "set", "shift", "unset", "export", "readonly", "declare", "typeset", "local", "read", "mapfile", "readarray", "alias", "unalias", "shopt", "getopts", "hash", "enable":
		c.record()
		c.shellState()
		c.finish()
		return here, true
	case "exit", "return", "break", "continue":
		here.ends = true
		c.record()
		return here, true
	case "eval", "emulate", ".", "source", "trap", "exec", "command", "builtin", "noglob", "nocorrect":
		return c.codeBuiltin()
	}
	if out, ok := c.knownOutput(); ok {
		c.record()
		c.finish()
		here.out = out
		return here, true
	}
	return here, false
}

// changeDir is cd, pushd and popd.
func (c *call) changeDir() outcome {
	s := c.s
	before := s.scope.dirs
	o := outcome{fail: before}
	operands := c.args
	for len(operands) > 0 && operands[0].is("-L", "-P", "-e", "-@", "-n", "--") {
		operands = operands[1:]
	}
	var dirs []value
	switch {
	case c.name == "popd":
		dirs = s.pop()
	case c.name == "pushd" && len(operands) == 0, len(operands) > 0 && operands[0].is("-"):
		dirs = s.scope.previous
	case len(operands) == 0:
		dirs = []value{s.read("HOME").value()}
	default:
		dirs, o.fail = s.target(operands[0])
	}
	if c.name == "pushd" {
		s.scope.stack = append(s.scope.stack[:len(s.scope.stack):len(s.scope.stack)], before)
	}
	if len(dirs) == 0 {
		dirs = []value{{sure: unknown}}
	}
	s.scope.previous = before
	s.scope.enter(dirs)
	return o
}

func (s *shell) pop() []value {
	n := len(s.scope.stack)
	if n == 0 {
		return nil
	}
	dirs := s.scope.stack[n-1]
	s.scope.stack = s.scope.stack[: n-1 : n-1]
	return dirs
}

// target is where cd goes: the directories if it succeeds, and if it fails.
func (s *shell) target(a arg) (dirs, failed []value) {
	failed = s.scope.dirs
	sure := true
	for _, dir := range s.scope.dirs {
		v := s.globDir(joinDir(dir, a))
		dirs = unionValues(dirs, s.searched(dir, a))
		if bare, ok := a.emptied(); ok && bare == "" {
			dirs = unionValues(dirs, s.emptyTarget(a))
		}
		sure = sure && s.exists(v)
		dirs = unionValues(dirs, []value{v})
	}
	if sure {
		failed = dirs
	}
	return dirs, failed
}

// searched are the directories that CDPATH offers for cd.
func (s *shell) searched(dir value, a arg) []value {
	if _, set := s.scope.lookup("CDPATH"); !set || a.hasPrefix("/") || a.hasPrefix(".") {
		return nil
	}
	var dirs []value
	for part := range strings.SplitSeq(s.read("CDPATH").text, ":") {
		dirs = append(dirs, joinDir(joinDir(dir, word(part)), a))
	}
	return dirs
}

// emptyTarget is where cd "$X" and cd $X stay or go if X is empty.
func (s *shell) emptyTarget(a arg) []value {
	if a.quoted {
		return s.scope.dirs
	}
	return []value{s.read("HOME").value()}
}

// exists tells whether a directory is there for sure, so that cd cannot fail.
func (s *shell) exists(v value) bool {
	if v.sure != literal {
		return false
	}
	if v.text == "/" || v.text == s.in.home && s.in.home != "" {
		return true
	}
	if s.in.listDir == nil {
		return false
	}
	_, err := s.in.listDir(v.text)
	return err == nil
}

// globDir looks up a pattern in the last element of a directory's path.
func (s *shell) globDir(v value) value {
	if v.sure != glob {
		return v
	}
	dir, pattern := path.Split(v.text)
	if i := strings.IndexAny(dir, "*?["); i >= 0 {
		return value{prefix, dir[:i]}
	}
	if s.in.listDir == nil {
		return value{prefix, dir}
	}
	names, err := s.in.listDir(path.Clean(dir))
	if err != nil {
		return value{prefix, dir}
	}
	for _, n := range names {
		if wildcard.Text(pattern, n) {
			return value{literal, dir + n}
		}
	}
	return value{prefix, dir}
}

// shellState is the builtins that change variables, parameters and options.
func (c *call) shellState() {
	s := c.s
	s.subscripts(c.args...)
	switch c.name {
	case "set":
		c.set()
	case "shift":
		s.shift(c.args)
	case "unset":
		for _, a := range c.args {
			if !a.hasPrefix("-") {
				s.guardVariable(a.text)
				s.envCode(a.text, word(""))
				s.scope.set(a.text, variable{})
			}
		}
	case "export", "readonly", "declare", "typeset", "local":
		for _, a := range c.args {
			c.assignWord(a)
		}
	case "read":
		c.readWords()
	case "getopts":
		c.getWords()
	case "mapfile", "readarray":
		c.readLines()
	case "alias":
		c.aliases()
	case "hash":
		c.remember()
	case "enable":
		if len(c.args) > 0 && c.args[0].is("-f") {
			s.unseen(unknownArg(), "enable -f")
		}
	}
}

// remember is hash -p PATH NAME: from now on NAME is another program.
func (c *call) remember() {
	for i, a := range c.args {
		if a.is("-p") && i+2 < len(c.args) {
			c.s.setAlias(c.args[i+2].text, c.args[i+1].with(quote(c.args[i+1].text)))
		}
	}
}

func (s *shell) setAlias(name string, body arg) {
	s.overrides(name)
	if agentPrograms(name).run != nil {
		s.runsLater(body.text)
	}
	if s.scope.aliases == nil {
		s.scope.aliases = map[string]arg{}
	}
	s.scope.aliases[name] = body
}

func (c *call) set() {
	s := c.s
	if len(c.args) == 0 {
		c.signal(engine.SignalEnvDump)
	}
	for i, a := range c.args {
		switch {
		case a.is("--"):
			s.scope.args, s.scope.bound = c.args[i+1:], true
			return
		case a.is("-o") && i+1 < len(c.args) && c.args[i+1].is("errexit"):
			s.scope.errexit = true
		case a.is("+o") && i+1 < len(c.args) && c.args[i+1].is("history"):
			c.signal(engine.SignalGuardTamper)
		case a.hasPrefix("-") && !a.is("-o"):
			s.scope.errexit = s.scope.errexit || strings.Contains(a.text, "e")
		case a.is("+e"):
			s.scope.errexit = false
		case !a.hasPrefix("+") && (i == 0 || !c.args[i-1].is("-o", "+o")) && !strings.HasSuffix(previous(c.args, i).text, "o"):
			s.scope.args, s.scope.bound = c.args[i:], true
			return
		}
	}
}

func previous(args []arg, i int) arg {
	if i > 0 {
		return args[i-1]
	}
	return arg{}
}

func (s *shell) shift(args []arg) {
	n := 1
	if len(args) > 0 {
		k, err := strconv.Atoi(args[0].text)
		if err != nil {
			s.scope.args = []arg{{text: holeText, splits: true}}
			return
		}
		n = k
	}
	if n >= 0 && n <= len(s.scope.args) {
		s.scope.args = s.scope.args[n:]
	}
}

// assignWord is export x=v where it is not parsed as an assignment.
func (c *call) assignWord(a arg) {
	name, v, ok := strings.Cut(a.text, "=")
	if !ok || strings.ContainsAny(name, holes+"-") {
		return
	}
	c.s.guardVariable(name)
	c.s.scope.setText(name, a.with(v))
	c.s.envCode(name, a.with(v))
}

func (c *call) aliases() {
	for _, a := range c.args {
		name, body, ok := strings.Cut(a.text, "=")
		if ok {
			c.s.setAlias(name, a.with(body))
		}
	}
}

// knownOutput evaluates the programs that only make text out of text.
func (c *call) knownOutput() (arg, bool) {
	switch c.name {
	case "echo":
		return c.echo(), true
	case "printf":
		return c.printf(), true
	case "test", "[":
		c.s.subscripts(c.args...)
		return arg{}, true
	case "true", ":", "false", "sleep", "wait", "jobs", "bg", "fg", "ulimit", "umask", "times", "let", "clear", "tput", "complete", "compgen", "bind":
		return arg{}, true
	case "pwd":
		return concat(joinDirs(c.s.scope.dirs), word("\n")), true
	case "dirname", "basename", "realpath", "readlink":
		return c.pathPart()
	case "mktemp":
		return c.tempName(), true
	case "seq":
		return unknownArg(), true
	case "whoami", "hostname", "uname", "date", "id", "nproc", "tty", "arch", "logname", "groups", "getconf", "uptime":
		if c.name == "date" || c.name == "hostname" {
			return arg{}, false
		}
		return unknownArg(), true
	}
	return arg{}, false
}

func (c *call) echo() arg {
	args := c.args
	newline, escapes := "\n", false
	for len(args) > 0 && args[0].is("-n", "-e", "-E", "-ne", "-en") {
		if strings.Contains(args[0].text, "n") {
			newline = ""
		}
		escapes = escapes || strings.Contains(args[0].text, "e")
		args = args[1:]
	}
	out := joinWords(args)
	for _, a := range args {
		if a.glob {
			out.text = holeText // the names of files
		}
	}
	if escapes && strings.Contains(out.text, `\`) {
		if hidesText(out.text) || strings.Contains(out.text, `\0`) {
			out.taint |= decoded
		}
		out.text = ansiC(zeroOctal(out.text))
	}
	return concat(out, word(newline))
}

// zeroOctal writes \0162 as $'…' has it: echo -e and %b want a zero before the
// three digits.
func zeroOctal(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		b.WriteByte(s[i])
		if s[i] != '\\' || i+1 == len(s) {
			continue
		}
		i++
		if s[i] != '0' || i+1 == len(s) || s[i+1] < '0' || s[i+1] > '7' {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// printf fills a format whose only conversions are %s, %d and %b.
func (c *call) printf() arg {
	args := c.args
	target := ""
	if len(args) > 2 && args[0].is("-v") {
		c.s.subscripts(args[1])
		target, args = args[1].text, args[2:]
	}
	if len(args) > 0 && args[0].is("--") {
		args = args[1:]
	}
	if len(args) == 0 {
		return arg{}
	}
	out := formatText(args[0], args[1:])
	if hidesText(args[0].text) || strings.Contains(args[0].text, `\0`) {
		out.taint |= decoded
	}
	if target != "" {
		c.s.scope.setText(target, out)
		return arg{}
	}
	return out
}

func formatText(format arg, args []arg) arg {
	var out arg
	for round := 0; round == 0 || len(args) > 0 && round < maxWords; round++ {
		before := len(args)
		rest := ansiC(format.text)
		for rest != "" {
			i := strings.IndexByte(rest, '%')
			if i < 0 || i+1 == len(rest) {
				out, rest = concat(out, format.with(rest)), ""
				break
			}
			out = concat(out, format.with(rest[:i]))
			verb := strings.TrimLeft(rest[i+1:], "-+ #0123456789.")
			if verb == "" {
				return unknownArg()
			}
			rest = verb[1:]
			if verb[0] == '%' {
				out = concat(out, word("%"))
				continue
			}
			next := arg{}
			if len(args) > 0 {
				next, args = args[0], args[1:]
			}
			switch verb[0] {
			case 's', 'd', 'i', 'u':
			case 'b':
				if hidesText(next.text) || strings.Contains(next.text, `\0`) {
					next.taint |= decoded
				}
				next = next.with(ansiC(zeroOctal(next.text)))
			case 'q':
				next = next.with(quote(next.text))
			default:
				next = unknownArg()
			}
			out = concat(out, next)
		}
		if before == len(args) {
			break
		}
	}
	return out
}

// pathPart is dirname, basename and what resolves a path.
func (c *call) pathPart() (arg, bool) {
	var operands []arg
	for _, a := range c.args {
		if !a.hasPrefix("-") {
			operands = append(operands, a)
		}
	}
	if len(operands) == 0 {
		return unknownArg(), true
	}
	a := operands[0]
	switch {
	case c.name == "basename":
		base, ok := a.base()
		if !ok || a.text == "" {
			return unknownArg(), true
		}
		if len(operands) > 1 {
			base = strings.TrimSuffix(base, operands[1].text)
		}
		return a.with(base + "\n"), true
	case c.name == "dirname" && a.known() && !a.glob:
		return a.with(path.Dir(a.text) + "\n"), true
	case c.name != "dirname" && len(c.s.scope.dirs) > 0:
		v := joinDir(c.s.scope.dirs[0], a)
		if len(c.s.scope.dirs) > 1 && !strings.HasPrefix(a.text, "/") {
			return unknownArg(), true
		}
		return concat(v.arg(), word("\n")), true
	}
	// What is above a path that is known by its beginning may be anything.
	return unknownArg(), true
}

// tempName is the output of mktemp: a new name below a directory that is known.
func (c *call) tempName() arg {
	o := parseOptions(c.args, program{values: " -p --tmpdir --suffix "})
	dir := c.s.read("TMPDIR")
	if !dir.known() || dir.text == "" {
		dir = word("/tmp")
	}
	inDir := o.has("-t")
	if p, ok := o.get("-p", "--tmpdir"); ok {
		dir, inDir = p, true
	}
	name := o.operand(0)
	if name.text == "" {
		name, inDir = word("tmp.XXXXXX"), true
	}
	stem := strings.TrimRight(name.text, "X")
	if i := strings.Index(name.text, "XXX"); i >= 0 {
		stem = name.text[:i]
	}
	if inDir && !strings.HasPrefix(stem, "/") {
		stem = strings.TrimSuffix(dir.text, "/") + "/" + stem
	}
	if !o.has("-u", "--dry-run") {
		c.record()
		c.writes("create", word(stem+holeText))
	}
	return word(stem + holeText + "\n")
}

// decodeText undoes an encoding of a literal text.
func decodeText(name, text string) (string, bool) {
	compact := strings.Join(strings.Fields(text), "")
	var out []byte
	var err error
	switch name {
	case "base64":
		out, err = base64.StdEncoding.DecodeString(compact)
		if err != nil {
			out, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(compact, "="))
		}
	case "hex":
		out, err = hex.DecodeString(compact)
	default:
		return "", false
	}
	return strings.ToValidUTF8(string(out), holeText), err == nil
}
