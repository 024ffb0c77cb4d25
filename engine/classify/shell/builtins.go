package shell

import (
	"encoding/base64"
	"encoding/hex"
	"path"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// builtin runs the commands that change the shell itself, or whose output is
// known.
func (c *Call) builtin() (Outcome, bool) {
	s := c.Shell
	here := Outcome{Fail: s.Scope.Dirs}
	switch c.Name {
	case "cd", "chdir", "pushd", "popd":
		c.Record()
		o := c.changeDir()
		c.Finish()
		return o, true
	case "set", "shift", "unset", "export", "readonly", "declare", "typeset", "local", "read", "mapfile", "readarray", "alias", "unalias", "shopt", "getopts", "hash", "enable":
		c.Record()
		c.shellState()
		c.Finish()
		return here, true
	case "exit", "return", "break", "continue":
		here.ends = true
		c.Record()
		if c.Name == "exit" {
			s.leave()
		}
		return here, true
	case "eval", "emulate", ".", "source", "trap", "exec", "command", "builtin", "noglob", "nocorrect":
		return c.codeBuiltin()
	}
	if out, ok := c.knownOutput(); ok {
		c.Record()
		c.Finish()
		here.Out = out
		return here, true
	}
	return here, false
}

// changeDir runs cd, pushd and popd.
func (c *Call) changeDir() Outcome {
	s := c.Shell
	before := s.Scope.Dirs
	o := Outcome{Fail: before}
	operands := c.Args
	for len(operands) > 0 && operands[0].Is("-L", "-P", "-e", "-@", "-n", "--") {
		operands = operands[1:]
	}
	var dirs []abstract.Value
	switch {
	case c.Name == "popd":
		dirs = s.pop()
	case c.Name == "pushd" && len(operands) == 0, len(operands) > 0 && operands[0].Is("-"):
		dirs = s.Scope.previous
	case len(operands) == 0:
		dirs = []abstract.Value{s.Read("HOME").Value()}
	default:
		dirs, o.Fail = s.target(operands[0])
	}
	if c.Name == "pushd" {
		s.Scope.stack = append(s.Scope.stack[:len(s.Scope.stack):len(s.Scope.stack)], before)
	}
	if len(dirs) == 0 {
		dirs = []abstract.Value{{Sure: abstract.Unknown}}
	}
	s.Scope.previous = before
	s.Scope.Enter(dirs)
	return o
}

func (s *Machine) pop() []abstract.Value {
	n := len(s.Scope.stack)
	if n == 0 {
		return nil
	}
	dirs := s.Scope.stack[n-1]
	s.Scope.stack = s.Scope.stack[: n-1 : n-1]
	return dirs
}

// target returns where cd goes: the directories if it succeeds, and if it fails.
func (s *Machine) target(a abstract.Arg) (dirs, failed []abstract.Value) {
	failed = s.Scope.Dirs
	sure := true
	for _, dir := range s.Scope.Dirs {
		v := s.globDir(abstract.JoinDir(dir, a))
		dirs = abstract.UnionValues(dirs, s.searched(dir, a))
		if bare, ok := a.Emptied(); ok && bare == "" {
			dirs = abstract.UnionValues(dirs, s.emptyTarget(a))
		}
		sure = sure && s.exists(v)
		dirs = abstract.UnionValues(dirs, []abstract.Value{v})
	}
	if sure {
		failed = dirs
	}
	return dirs, failed
}

// searched are the directories that CDPATH offers for cd.
func (s *Machine) searched(dir abstract.Value, a abstract.Arg) []abstract.Value {
	if _, set := s.Scope.Lookup("CDPATH"); !set || a.HasPrefix("/") || a.HasPrefix(".") {
		return nil
	}
	var dirs []abstract.Value
	for part := range strings.SplitSeq(s.Read("CDPATH").Text, ":") {
		dirs = append(dirs, abstract.JoinDir(abstract.JoinDir(dir, abstract.Word(part)), a))
	}
	return dirs
}

// emptyTarget returns the directories after cd "$X" and cd $X if X is empty.
func (s *Machine) emptyTarget(a abstract.Arg) []abstract.Value {
	if a.Quoted {
		return s.Scope.Dirs
	}
	return []abstract.Value{s.Read("HOME").Value()}
}

// exists reports whether a directory certainly exists, so that cd cannot fail. If
// nothing is known about the machine, as in a transcript, a directory that is named
// literally is assumed to exist.
func (s *Machine) exists(v abstract.Value) bool {
	if v.Sure != abstract.Literal {
		return false
	}
	if v.Text == "/" || v.Text == s.In.Home && s.In.Home != "" {
		return true
	}
	if s.In.ListDir == nil {
		return s.here()
	}
	_, err := s.In.ListDir(v.Text)
	return err == nil
}

// globDir looks up a pattern in the last element of a directory's path.
func (s *Machine) globDir(v abstract.Value) abstract.Value {
	if v.Sure != abstract.Glob {
		return v
	}
	dir, pattern := path.Split(v.Text)
	if i := strings.IndexAny(dir, "*?["); i >= 0 {
		return abstract.Value{Sure: abstract.Prefix, Text: dir[:i]}
	}
	if s.In.ListDir == nil {
		return abstract.Value{Sure: abstract.Prefix, Text: dir}
	}
	names, err := s.In.ListDir(path.Clean(dir))
	if err != nil {
		return abstract.Value{Sure: abstract.Prefix, Text: dir}
	}
	for _, n := range names {
		if wildcard.Text(pattern, n) {
			return abstract.Value{Sure: abstract.Literal, Text: dir + n}
		}
	}
	return abstract.Value{Sure: abstract.Prefix, Text: dir}
}

// shellState runs the builtins that change variables, parameters and options.
func (c *Call) shellState() {
	s := c.Shell
	s.subscripts(c.Args...)
	switch c.Name {
	case "set":
		c.set()
	case "shift":
		s.shift(c.Args)
	case "unset":
		for _, a := range c.Args {
			if !a.HasPrefix("-") {
				s.GuardVariable(a.Text)
				s.TakesMarker(a.Text)
				s.envCode(a.Text, abstract.Word(""))
				s.Scope.set(a.Text, variable{})
			}
		}
	case "export", "readonly", "declare", "typeset", "local":
		for _, a := range c.Args {
			c.AssignWord(a)
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
		if len(c.Args) > 0 && c.Args[0].Is("-f") {
			s.Unseen(abstract.UnknownArg(), "enable -f")
		}
	}
}

// remember runs hash -p PATH NAME: from now on NAME is another program.
func (c *Call) remember() {
	for i, a := range c.Args {
		if a.Is("-p") && i+2 < len(c.Args) {
			c.Shell.setAlias(c.Args[i+2].Text, c.Args[i+1].With(Quote(c.Args[i+1].Text)))
		}
	}
}

func (s *Machine) setAlias(name string, body abstract.Arg) {
	s.overrides(name)
	if s.In.Knows.Agent(name) {
		s.runsLater(body.Text)
	}
	if s.Scope.aliases == nil {
		s.Scope.aliases = map[string]abstract.Arg{}
	}
	s.Scope.aliases[name] = body
}

func (c *Call) set() {
	s := c.Shell
	if len(c.Args) == 0 {
		c.Signal(engine.SignalEnvDump)
	}
	for i, a := range c.Args {
		switch {
		case a.Is("--"):
			s.Scope.args, s.Scope.bound = c.Args[i+1:], true
			return
		case a.Is("-o") && i+1 < len(c.Args) && c.Args[i+1].Is("errexit"):
			s.Scope.errexit = true
		case a.Is("+o") && i+1 < len(c.Args) && c.Args[i+1].Is("history"):
			c.Signal(engine.SignalGuardTamper)
		case a.HasPrefix("-") && !a.Is("-o"):
			s.Scope.errexit = s.Scope.errexit || strings.Contains(a.Text, "e")
		case a.Is("+e"):
			s.Scope.errexit = false
		case !a.HasPrefix("+") && (i == 0 || !c.Args[i-1].Is("-o", "+o")) && !strings.HasSuffix(previous(c.Args, i).Text, "o"):
			s.Scope.args, s.Scope.bound = c.Args[i:], true
			return
		}
	}
}

func previous(args []abstract.Arg, i int) abstract.Arg {
	if i > 0 {
		return args[i-1]
	}
	return abstract.Arg{}
}

func (s *Machine) shift(args []abstract.Arg) {
	n := 1
	if len(args) > 0 {
		k, err := strconv.Atoi(args[0].Text)
		if err != nil {
			s.Scope.args = []abstract.Arg{{Text: abstract.HoleText, Splits: true}}
			return
		}
		n = k
	}
	if n >= 0 && n <= len(s.Scope.args) {
		s.Scope.args = s.Scope.args[n:]
	}
}

// AssignWord runs export x=v where it is not parsed as an assignment.
func (c *Call) AssignWord(a abstract.Arg) {
	name, v, ok := strings.Cut(a.Text, "=")
	if !ok || strings.ContainsAny(name, abstract.Holes+"-") {
		return
	}
	c.Shell.GuardVariable(name)
	if v == "" {
		c.Shell.TakesMarker(name)
	}
	c.Shell.Scope.SetText(name, a.With(v))
	c.Shell.envCode(name, a.With(v))
}

func (c *Call) aliases() {
	for _, a := range c.Args {
		name, body, ok := strings.Cut(a.Text, "=")
		if ok {
			c.Shell.setAlias(name, a.With(body))
		}
	}
}

// knownOutput evaluates programs that only transform text.
func (c *Call) knownOutput() (abstract.Arg, bool) {
	switch c.Name {
	case "echo":
		return c.echo(), true
	case "printf":
		return c.printf(), true
	case "test", "[":
		c.Shell.subscripts(c.Args...)
		return abstract.Arg{}, true
	case "true", ":", "false", "sleep", "wait", "jobs", "bg", "fg", "ulimit", "umask", "times", "let", "clear", "tput", "complete", "compgen", "bind":
		c.completes()
		return abstract.Arg{}, true
	case "pwd":
		return abstract.Concat(JoinDirs(c.Shell.Scope.Dirs), abstract.Word("\n")), true
	case "dirname", "basename", "realpath", "readlink":
		return c.pathPart()
	case "mktemp":
		return c.tempName(), true
	case "seq":
		return abstract.UnknownArg(), true
	case "whoami", "hostname", "uname", "date", "id", "nproc", "tty", "arch", "logname", "groups", "getconf", "uptime":
		if c.Name == "date" || c.Name == "hostname" {
			return abstract.Arg{}, false
		}
		return abstract.UnknownArg(), true
	}
	return abstract.Arg{}, false
}

// completes runs compgen: -C COMMAND, and the words of -W, which are expanded.
func (c *Call) completes() {
	if c.Name != "compgen" {
		return
	}
	o := options.Parse(c.Args, options.Grammar{Values: " -A -C -F -G -P -S -W -X -o "})
	for _, code := range o.All("-C") {
		c.Shell.Embed(code, c.Name, false)
	}
	for _, words := range o.All("-W") {
		c.Shell.Embed(words.With(": "+words.Text), c.Name, false)
	}
	for _, name := range o.All("-F") {
		c.Shell.Invoke([]abstract.Arg{name}, c.Node)
	}
}

func (c *Call) echo() abstract.Arg {
	args := c.Args
	newline, escapes := "\n", false
	for len(args) > 0 && args[0].Is("-n", "-e", "-E", "-ne", "-en") {
		if strings.Contains(args[0].Text, "n") {
			newline = ""
		}
		escapes = escapes || strings.Contains(args[0].Text, "e")
		args = args[1:]
	}
	out := JoinWords(args)
	for _, a := range args {
		if a.Glob {
			out.Text = abstract.HoleText // the names of files
		}
	}
	if escapes && strings.Contains(out.Text, `\`) {
		if hidesText(out.Text) || strings.Contains(out.Text, `\0`) {
			out.Taint |= abstract.Decoded
		}
		out.Text = ansiC(zeroOctal(out.Text))
	}
	return abstract.Concat(out, abstract.Word(newline))
}

// zeroOctal converts \0162 to the notation of $'…': echo -e and %b require a
// zero before the three digits.
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
func (c *Call) printf() abstract.Arg {
	args := c.Args
	target := ""
	if len(args) > 2 && args[0].Is("-v") {
		c.Shell.subscripts(args[1])
		target, args = args[1].Text, args[2:]
	}
	if len(args) > 0 && args[0].Is("--") {
		args = args[1:]
	}
	if len(args) == 0 {
		return abstract.Arg{}
	}
	out := formatText(args[0], args[1:])
	if hidesText(args[0].Text) || strings.Contains(args[0].Text, `\0`) {
		out.Taint |= abstract.Decoded
	}
	if target != "" {
		c.Shell.Scope.SetText(target, out)
		return abstract.Arg{}
	}
	return out
}

func formatText(format abstract.Arg, args []abstract.Arg) abstract.Arg {
	var out abstract.Arg
	for round := 0; round == 0 || len(args) > 0 && round < MaxWords; round++ {
		before := len(args)
		rest := ansiC(format.Text)
		for rest != "" {
			i := strings.IndexByte(rest, '%')
			if i < 0 || i+1 == len(rest) {
				out, rest = abstract.Concat(out, format.With(rest)), ""
				break
			}
			out = abstract.Concat(out, format.With(rest[:i]))
			verb := strings.TrimLeft(rest[i+1:], "-+ #0123456789.")
			if verb == "" {
				return abstract.UnknownArg()
			}
			rest = verb[1:]
			if verb[0] == '%' {
				out = abstract.Concat(out, abstract.Word("%"))
				continue
			}
			next := abstract.Arg{}
			if len(args) > 0 {
				next, args = args[0], args[1:]
			}
			switch verb[0] {
			case 's', 'd', 'i', 'u':
			case 'b':
				if hidesText(next.Text) || strings.Contains(next.Text, `\0`) {
					next.Taint |= abstract.Decoded
				}
				next = next.With(ansiC(zeroOctal(next.Text)))
			case 'q':
				next = next.With(Quote(next.Text))
			default:
				next = abstract.UnknownArg()
			}
			out = abstract.Concat(out, next)
		}
		if before == len(args) {
			break
		}
	}
	return out
}

// pathPart runs dirname, basename and programs that resolve a path.
func (c *Call) pathPart() (abstract.Arg, bool) {
	var operands []abstract.Arg
	for _, a := range c.Args {
		if !a.HasPrefix("-") {
			operands = append(operands, a)
		}
	}
	if len(operands) == 0 {
		return abstract.UnknownArg(), true
	}
	a := operands[0]
	switch {
	case c.Name == "basename":
		base, ok := a.Base()
		if !ok || a.Text == "" {
			return abstract.UnknownArg(), true
		}
		if len(operands) > 1 {
			base = strings.TrimSuffix(base, operands[1].Text)
		}
		return a.With(base + "\n"), true
	case c.Name == "dirname" && a.Known() && !a.Glob:
		return a.With(path.Dir(a.Text) + "\n"), true
	case c.Name != "dirname" && len(c.Shell.Scope.Dirs) > 0:
		v := abstract.JoinDir(c.Shell.Scope.Dirs[0], a)
		if len(c.Shell.Scope.Dirs) > 1 && !strings.HasPrefix(a.Text, "/") {
			return abstract.UnknownArg(), true
		}
		return abstract.Concat(v.Arg(), abstract.Word("\n")), true
	}
	// The parent of a path of which only the beginning is known is unknown.
	return abstract.UnknownArg(), true
}

// tempName returns the output of mktemp: a new name under a known directory.
func (c *Call) tempName() abstract.Arg {
	o := options.Parse(c.Args, options.Grammar{Values: " -p --tmpdir --suffix "})
	dir := c.Shell.Read("TMPDIR")
	if !dir.Known() || dir.Text == "" {
		dir = abstract.Word("/tmp")
	}
	inDir := o.Has("-t")
	if p, ok := o.Get("-p", "--tmpdir"); ok {
		dir, inDir = p, true
	}
	name := o.Operand(0)
	if name.Text == "" {
		name, inDir = abstract.Word("tmp.XXXXXX"), true
	}
	stem := strings.TrimRight(name.Text, "X")
	if i := strings.Index(name.Text, "XXX"); i >= 0 {
		stem = name.Text[:i]
	}
	if inDir && !strings.HasPrefix(stem, "/") {
		stem = strings.TrimSuffix(dir.Text, "/") + "/" + stem
	}
	if !o.Has("-u", "--dry-run") {
		c.Record()
		c.Writes("create", abstract.Word(stem+abstract.HoleText))
	}
	return abstract.Word(stem + abstract.HoleText + "\n")
}

// DecodeText undoes an encoding of a literal text.
func DecodeText(name, text string) (string, bool) {
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
	return strings.ToValidUTF8(string(out), abstract.HoleText), err == nil
}
