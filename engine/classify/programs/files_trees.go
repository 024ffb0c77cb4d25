package programs

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// remoteShell handles the command with which rsync reaches another host.
func remoteShell(c *shell.Call) {
	if code, ok := c.Opts.Get("-e", "--rsh"); ok {
		c.Shell.CommandVariable(code.Text, code)
	}
}

// transfer copies operands to the last one.
func transfer(c *shell.Call) {
	n := len(c.Opts.Operands) - 1
	transfers(c, c.Opts.Operands[:n], c.Opts.Operands[n])
}

// mirror deletes what the target has and the sources lack.
func mirror(c *shell.Call) {
	target, emit := lastOperand(c), func(a abstract.Arg) {
		c.Emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Recursive: true, Contents: true}, a)
	}
	if _, there, _ := strings.Cut(target.Text, ":"); !abstract.IsRemote(target) {
		emit(target)
	} else if !target.Known() || !strings.HasPrefix(there, "/") || abstract.IsURL(target) {
		emit(abstract.Word(abstract.HoleText))
	} else {
		onHost(c, target, func() { emit(target.With(there)) })
	}
}

func onHost(c *shell.Call, a abstract.Arg, f func()) {
	c.At(shell.Venue{Wrapper: c.Name, Host: c.Shell.HostName("ssh", abstract.RemoteHost(a))}, f)
}

// transfers copies between hosts in the notation of scp and rsync.
func transfers(c *shell.Call, sources []abstract.Arg, dest abstract.Arg) {
	for _, src := range sources {
		if abstract.IsRemote(src) {
			c.Fetches(abstract.RemoteHost(src))
			arrives(c, src, dest)
		} else if c.Opts.Has("-r", "-a", "-R", "--recursive", "--archive") {
			c.ReadsTree(src)
		} else {
			c.Reads(src)
		}
	}
	if abstract.IsRemote(dest) {
		c.Sends("send", abstract.RemoteHost(dest))
		landsInSystem(c, dest)
		return
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "write", Recursive: true}, dest)
}

// arrives remembers that what a file contains is unknown from now on: it comes from another machine.
func arrives(c *shell.Call, src, dest abstract.Arg) {
	_, name, _ := strings.Cut(src.Text, ":")
	if abstract.IsRemote(dest) || !src.Known() {
		return
	}
	within := dest.With(strings.TrimSuffix(dest.Text, "/") + "/" + path.Base(name))
	if strings.HasSuffix(name, "/") {
		c.Shell.Arrives(dest)
		return
	}
	c.Shell.Arrives(within)
	unread := abstract.UnknownArg()
	c.Shell.Store(dest, unread, false)
	c.Shell.Store(within, unread, false)
}

// landsInSystem records a write if files arrive in a system directory of the other machine.
// Copies to other directories are routine.
func landsInSystem(c *shell.Call, dest abstract.Arg) {
	_, there, ok := strings.Cut(dest.Text, ":")
	if !ok || !dest.Known() || abstract.IsURL(dest) {
		return
	}
	below := func(dir string) bool { return place.Within(dir, there) }
	if there != "/" && !slices.ContainsFunc(c.Shell.In.Rows.Words("places.remote_system"), below) {
		return
	}
	onHost(c, dest, func() { c.Shell.Embed(dest.With("touch -- "+shell.Quote(there)), c.Name, false) })
}

// tarPrograms interprets the programs that tar runs: to read or write, to compress, at
// checkpoints.
func tarPrograms(c *shell.Call) {
	plain := c.Shell.In.Rows.Words("programs.compressing")
	list := c.Opts.All("--to-command", "--use-compress-program", "-I", "--rsh-command", "--info-script", "-F")
	for _, a := range c.Opts.All("--checkpoint-action") {
		if code, ok := strings.CutPrefix(a.Text, "exec="); ok {
			list = append(list, a.With(code))
		}
	}
	for _, code := range list {
		if name, _, _ := strings.Cut(strings.TrimSpace(code.Text), " "); !slices.Contains(plain, name) {
			c.Child(func() shell.Outcome { return c.Shell.Embed(code, "tar", false) })
		}
	}
}

// tarArchive records the archive that tar creates, perhaps on another host.
func tarArchive(c *shell.Call) {
	file, _ := c.Opts.Get("-f", "--file")
	if abstract.IsRemote(file) {
		c.Sends("send", abstract.RemoteHost(file))
		return
	}
	verb := "append"
	if c.Opts.Has("-c", "--create") {
		verb = "write"
	}
	c.Writes(verb, file)
}

// zipTest runs the command with which zip tests its result: -TT CODE.
func zipTest(c *shell.Call) {
	for i, a := range c.Args {
		if a.Is("-TT") && i+1 < len(c.Args) {
			c.Child(func() shell.Outcome { return c.Shell.Embed(c.Args[i+1], "zip", false) })
		}
	}
}

// findLeading removes the options of find that precede its roots. With -f, on BSD, they
// name one.
func findLeading(args []abstract.Arg) (rest, roots []abstract.Arg) {
	for len(args) > 0 {
		n := 1
		switch {
		case args[0].Is("-f", "-D") && len(args) > 1:
			if n = 2; args[0].Is("-f") {
				roots = append(roots, args[1])
			}
		case !args[0].Is("-H", "-L", "-P", "-E", "-X", "-d", "-s", "-x", "--") && !args[0].HasPrefix("-O"):
			return args, roots
		}
		args = args[n:]
	}
	return args, roots
}

// find walks trees and may delete what it finds, or run a command on it.
func find(c *shell.Call) {
	args, roots := findLeading(c.Args)
	for len(args) > 0 && !args[0].HasPrefix("-") && !args[0].Is("(", "!", ")") {
		roots = append(roots, args[0])
		args = args[1:]
	}
	if len(roots) == 0 {
		roots = []abstract.Arg{abstract.Word(".")}
	}
	c.Opts = options.Options{Parsed: true, Operands: roots, Flags: findFlags(args)}
	c.Lists(roots...)
	names, narrow := findNames(args)
	c.Out = relativeNames(roots)
	c.Out.Found = foundNames(roots, names, narrow)
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a.Is("-delete"):
			findDelete(c, roots, names, narrow, emptyFolders(args[:i]))
		case a.Is("-exec", "-execdir", "-ok", "-okdir"):
			end := findEnd(args, i)
			if !a.HasPrefix("-ok") || c.Shell.Frame.Stdin != nil { // else find asks a person about each file
				findExec(c, a.Text, args[i+1:end], roots, names)
			}
			i = end
		case a.Is("-fprint", "-fprintf", "-fprint0", "-fls") && i+1 < len(args):
			c.Writes("write", args[i+1])
		}
	}
}

func findFlags(args []abstract.Arg) []abstract.Given {
	var out []abstract.Given
	inside := false // the command of -exec, whose options are its own
	for i, a := range args {
		switch {
		case a.Is(";", "+"):
			inside = false
		case !inside && i+1 < len(args) && args[i+1].Known() && a.Is("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex"):
			out = append(out, abstract.Given{Text: a.Text + "=" + args[i+1].Text, Word: a, Valued: true, Value: &args[i+1]})
		case a.HasPrefix("-") && a.Known() && !inside:
			out = append(out, abstract.Given{Text: a.Text, Word: a})
			inside = a.Is("-exec", "-execdir", "-ok", "-okdir")
		}
	}
	return out
}

// maxFindNames limits the alternatives of find that are followed individually.
const maxFindNames = 8

// alternative is a part of find's expression; -o separates them.
type alternative struct {
	name         string // pattern of a -name or -path test; empty: any name
	prunes, acts bool
}

// findAlternatives returns the alternatives of an expression, and whether it has a test that
// selects only some of the files without a name.
func findAlternatives(args []abstract.Arg) (list []alternative, narrow bool) {
	list = []alternative{{}}
	first, open := 0, []int{} // the first alternative that what follows is about, and where parentheses open
	for i := 0; i < len(args); i++ {
		last := &list[len(list)-1]
		switch a := args[i]; {
		case a.Is("-regex", "-iregex"): // not a pattern of names, so that any may be selected
			narrow, i = true, i+1
		case a.Is("-name", "-iname", "-path", "-ipath", "-wholename"):
			negated := i > 0 && args[i-1].Is("!", "-not")
			if i++; last.name == "" && !negated && i < len(args) {
				last.name = args[i].Text[strings.LastIndexByte(args[i].Text, '/')+1:]
			}
		case a.Is("-exec", "-execdir", "-ok", "-okdir"):
			mark(list[first:], alternative{acts: true})
			i = findEnd(args, i)
		case a.Is("-delete", "-ls") || a.HasPrefix("-print") || a.HasPrefix("-fprint"):
			mark(list[first:], alternative{acts: true})
		case a.Is("-prune"):
			mark(list[first:], alternative{prunes: true})
		case a.Is("-empty"):
			narrow = true
		case a.Is("-o", "-or", ","):
			first, list = len(list), append(list, alternative{})
		case a.Is("("):
			open = append(open, len(list)-1)
		case a.Is(")") && len(open) > 0:
			first, open = open[len(open)-1], open[:len(open)-1]
		}
	}
	return list, narrow
}

func mark(list []alternative, with alternative) {
	for i := range list {
		list[i].prunes, list[i].acts = list[i].prunes || with.prunes, list[i].acts || with.acts
	}
}

// findNames returns the patterns of -name or -path tests, one for each alternative, and
// whether any test selects only some of the files. If an alternative has no such test, any
// file may be selected, and there is one empty pattern. An alternative that only leaves out
// folders, as in -name .git -prune -o -print, selects nothing.
func findNames(args []abstract.Arg) (names []string, narrow bool) {
	list, narrow := findAlternatives(args)
	explicit := slices.ContainsFunc(list, func(a alternative) bool { return a.acts })
	for _, a := range list {
		if !a.prunes || a.acts || !explicit {
			names = append(names, a.name)
		}
	}
	anything := func(name string) bool { return name == "" || name == "*" || strings.ContainsAny(name, abstract.Holes) }
	if len(names) == 0 || len(names) > maxFindNames || slices.ContainsFunc(names, anything) {
		names = []string{""}
	}
	return names, narrow && len(list) == 1
}

// findEnd returns where the command of an -exec ends.
func findEnd(args []abstract.Arg, i int) int {
	for i++; i < len(args) && !args[i].Is(";", "+"); i++ {
	}
	return i
}

// findMatches returns what find passes to its actions: any file under a root.
func findMatches(root abstract.Arg, name string) abstract.Arg {
	if name == "" {
		name = "**"
		return abstract.Arg{Text: strings.TrimSuffix(root.Text, "/") + "/" + name, Glob: true, Quoted: true, Taint: root.Taint}
	}
	return abstract.Arg{Text: strings.TrimSuffix(root.Text, "/") + "/**/" + name, Glob: true, Quoted: true, Taint: root.Taint}
}

// allMatches returns what a search passes on, by root and name.
func allMatches(roots []abstract.Arg, names []string) []abstract.Arg {
	var found []abstract.Arg
	for _, root := range roots {
		for _, name := range names {
			found = append(found, findMatches(root, name))
		}
	}
	return found
}

// foundNames returns what a search prints, unless it selects by other facts than names.
func foundNames(roots []abstract.Arg, names []string, narrow bool) *abstract.Found {
	if names[0] == "" && narrow {
		return nil
	}
	return abstract.FoundFiles(allMatches(roots, names))
}

// emptyFolders reports whether the tests before an action select only empty folders. A test
// that it does not know may select others.
func emptyFolders(tests []abstract.Arg) bool {
	folders, empty := false, false
	for i := 0; i < len(tests); i++ {
		switch a := tests[i]; {
		case a.Is("-empty"):
			empty = true
		case a.Is("-type") && i+1 < len(tests) && tests[i+1].Is("d"):
			folders, i = true, i+1
		case a.Is("-depth", "-xdev", "-mount", "-print"):
		case a.Is("-name", "-iname", "-path", "-ipath", "-mindepth", "-maxdepth"):
			i++
		case a.Is("!", "-not") && i+1 < len(tests) && tests[i+1].Is("-name", "-iname", "-path", "-ipath"):
			i += 2
		default:
			return false
		}
	}
	return folders && empty
}

func findDelete(c *shell.Call, roots []abstract.Arg, names []string, narrow, empty bool) {
	for _, r := range roots {
		for _, name := range names {
			e := abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Recursive: name == "" && !narrow}
			if empty {
				e.Reversible = engine.R3 // as by rmdir
			}
			c.Emit(e, findMatches(r, name))
		}
	}
}

func findExec(c *shell.Call, how string, template, roots []abstract.Arg, names []string) {
	if len(template) == 0 {
		return
	}
	found := allMatches(roots, names)
	for i := range found {
		findRun(c, how, template, found[i], roots[i/len(names)])
	}
}

// findRun runs a command on what a root and a pattern select.
func findRun(c *shell.Call, how string, template []abstract.Arg, m, root abstract.Arg) {
	s := c.Shell
	s.Subshell(func() shell.Outcome {
		s.Frame.Via = shell.AppendText(s.Frame.Via, "find"+how)
		s.Frame.Depth++
		if strings.HasSuffix(how, "dir") {
			s.Scope.Enter([]abstract.Value{{Sure: abstract.Prefix, Text: abstract.JoinDir(s.Scope.Dirs[0], root).Text}})
			m.Text = "./" + m.Text[strings.LastIndexByte(m.Text, '/')+1:]
		}
		if s.Frame.Depth > shell.MaxDepth {
			s.OverBudget("find")
			return shell.Outcome{}
		}
		return s.Invoke(replaceMark(template, "{}", m), c.Node)
	})
}

// plainMarks replaces the placeholders of fd and parallel for parts of a path with those
// for the whole path: what they stand for is under the same folders.
func plainMarks(words []abstract.Arg) []abstract.Arg {
	plain := strings.NewReplacer("{.}", "{}", "{/}", "{}", "{/.}", "{}", "{//}", "{}/..")
	out := make([]abstract.Arg, len(words))
	for i, a := range words {
		a.Text = plain.Replace(a.Text)
		out[i] = a
	}
	return out
}

// fd handles fd, a find with a simpler grammar.
func fd(c *shell.Call) {
	args := c.Args
	var template []abstract.Arg
	for i, a := range c.Args {
		if a.Is("-x", "-X", "--exec", "--exec-batch") {
			args, template = c.Args[:i], c.Args[i+1:]
			break
		}
	}
	k, _, _ := c.Shell.In.Rows.Program(c.Name)
	c.Opts = options.Parse(args, grammar(c, k.Program))
	roots := c.Opts.All("--base-directory", "--search-path")
	if len(c.Opts.Operands) > 1 {
		roots = append(roots, c.Opts.Operands[1:]...)
	}
	if len(roots) == 0 {
		roots = []abstract.Arg{abstract.Word(".")}
	}
	c.Lists(roots...)
	c.Out = relativeNames(roots)
	name, plain := fdName(c)
	if plain {
		c.Out.Found = foundNames(roots, []string{name}, false)
	}
	if len(template) == 0 {
		return
	}
	marked := false
	template = plainMarks(template)
	for i, a := range template {
		if a.Is(";") {
			template = template[:i]
			break
		}
		marked = marked || strings.Contains(a.Text, "{")
	}
	if !marked {
		template = append(template[:len(template):len(template)], abstract.Word("{}"))
	}
	findExec(c, "-exec", template, roots, []string{name})
}

// fdName returns the names that fd selects as a pattern; plain: it is exact enough to be followed.
func fdName(c *shell.Call) (name string, plain bool) {
	p := c.Opts.Operand(0).Text
	if ext, ok := c.Opts.Get("-e", "--extension"); ok {
		return "*." + ext.Text, true
	} else if p == "" || p == "." {
		return "", true
	}
	plain = c.Opts.Has("-g", "--glob", "-F", "--fixed-strings") || !strings.ContainsAny(p, `\[](){}|+*?^$`)
	return "*" + strings.Trim(p, "^$") + "*", plain
}

// unpacks takes files out of an archive. The row names the words, as KEY:WORD:
// file and to are options, or the number of an operand; from is the first operand
// that names a member; keep, force, strip and absolute are options. A
// program that asks before it overwrites has keep:file, one that overwrites
// silently has silent.
func unpacks(c *shell.Call) {
	u := shell.Unpacking{Dir: abstract.Word(".")}
	for _, word := range c.Words {
		key, name, _ := strings.Cut(word, ":")
		number, err := strconv.Atoi(name)
		value, given := c.Opts.Get(name)
		switch {
		case key == "file" && err == nil && number < len(c.Opts.Operands):
			u.File = c.Opts.Operands[number]
		case key == "from" && number < len(c.Opts.Operands):
			u.Members = c.Opts.Operands[number:]
		case key == "file" && given:
			u.File = value
		case key == "to" && given:
			u.Dir = value
		case key == "to" && err == nil && number < len(c.Opts.Operands):
			u.Dir = c.Opts.Operands[number]
		case key == "glued":
			for _, a := range c.Args {
				if a.HasPrefix(name) && len(a.Text) > len(name) {
					u.Dir = a.With(a.Text[len(name):])
				}
			}
		case key == "strip" && given:
			u.Strip, _ = strconv.Atoi(value.Text)
		case key == "silent":
			u.Silent = true
		case key == "absolute":
			u.Absolute = u.Absolute || c.Opts.Has(name)
		case key == "keep":
			u.Keeps = u.Keeps || name == "file" || c.Opts.Has(name)
		case key == "force":
			u.Forced = u.Forced || c.Opts.Has(name) || slices.ContainsFunc(c.Args, func(a abstract.Arg) bool { return a.Is(name) })
		}
	}
	c.Unpacks(u)
}
