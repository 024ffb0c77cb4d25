package classify

import (
	"slices"
	"strings"
	"unicode"

	"github.com/agent-reviewer/reviewer/engine"
)

// wrapper is the grammar of a program that runs another one: what stands
// between its name and the command.
type wrapper struct {
	values     string // its options that take a value
	skip       int    // operands before the command
	sub        string // a subcommand that has to come first
	assigns    bool   // VAR=x before the command
	code       string // options whose value is shell code
	dir        string // options whose value is the directory to run in
	joined     bool   // the operands are put together and parsed as shell code
	privileged bool
	deferred   bool
	root       bool   // the first operand is the root directory that the command sees
	rootOption string // options whose value is that
	bounds     bool   // the first operand is the time after which the command is ended
	fetches    string // fetches the program from there if it has to
}

// wrapperOf is the table of wrappers.
func wrapperOf(name string) (wrapper, bool) {
	switch name {
	case "sudo":
		return wrapper{values: " -u -g -p -C -D -R -T -U -h -r -t --user --group --prompt --chdir --chroot --host --role --type --close-from --other-user --command-timeout ", dir: " -D --chdir ", assigns: true, privileged: true}, true
	case "doas":
		return wrapper{values: " -u -C -a ", privileged: true}, true
	case "pkexec":
		return wrapper{values: " --user ", privileged: true}, true
	case "su":
		return wrapper{values: " -c --command -s --shell -g --group -G -w ", code: " -c --command ", privileged: true}, true
	case "runuser":
		return wrapper{values: " -c --command -u --user -s --shell -g --group -G -w ", code: " -c --command ", privileged: true}, true
	case "env":
		return wrapper{values: " -u --unset -C --chdir ", dir: " -C --chdir ", assigns: true}, true
	case "cross-env", "dotenv", "dotenvx":
		return wrapper{values: " -f -e ", assigns: true}, true
	case "nohup":
		return wrapper{deferred: true}, true
	case "setsid", "fakeroot", "caffeinate", "proxychains", "proxychains4", "torsocks", "dbus-run-session", "catchsegv", "eatmydata", "busybox", "toybox", "ssh-agent", "unbuffer", "chronic", "tsocks", "winpty", "rlwrap":
		return wrapper{values: " -a -t "}, true
	case "nice":
		return wrapper{values: " -n --adjustment "}, true
	case "ionice":
		return wrapper{values: " -c -n -p -P -u --class --classdata "}, true
	case "chrt":
		return wrapper{values: " -T -P -D -p ", skip: 1}, true
	case "taskset", "faketime":
		return wrapper{values: " -f ", skip: 1}, true
	case "stdbuf":
		return wrapper{values: " -i -o -e --input --output --error "}, true
	case "timeout", "gtimeout":
		return wrapper{values: " -s -k --signal --kill-after ", skip: 1, bounds: true}, true
	case "time", "gtime":
		return wrapper{values: " -f -o --format --output "}, true
	case "watch":
		return wrapper{values: " -n --interval -q ", joined: true}, true
	case "flock":
		return wrapper{values: " -w -E -c --wait --timeout --conflict-exit-code --command ", code: " -c --command ", skip: 1}, true
	case "prlimit":
		return wrapper{values: " -p --pid -o --output "}, true
	case "strace", "ltrace":
		return wrapper{values: " -e -o -p -s -u -a -E -I -O -S -P -X -b "}, true
	case "valgrind", "perf", "hyperfine":
		return wrapper{sub: perfSub(name), values: " -e -o -w -r -n ", joined: name == "hyperfine"}, true
	case "chroot", "arch-chroot":
		return wrapper{values: " --userspec --groups -u ", skip: 1, root: true}, true
	case "systemd-nspawn":
		return wrapper{values: " -D --directory -u --user -M --machine -E --setenv --bind --bind-ro ", rootOption: " -D --directory "}, true
	case "sshpass":
		return wrapper{values: " -p -f -d -P "}, true
	case "distrobox":
		return wrapper{sub: "enter", skip: 1, values: " -n --name "}, true
	case "toolbox":
		return wrapper{sub: "run", values: " -c --container -d -r "}, true
	case "flatpak-spawn":
		return wrapper{values: ""}, true
	case "unshare":
		return wrapper{values: " -R -w -S -G --root --wd --setuid --setgid --propagation --setgroups "}, true
	case "nsenter":
		return wrapper{values: " -t -S -G --target --setuid --setgid "}, true
	case "setpriv", "setarch", "linux64":
		return wrapper{values: " --reuid --regid --groups --inh-caps --bounding-set "}, true
	case "systemd-run":
		return wrapper{values: " -p --property -u --unit -M --machine -E --setenv --uid --gid --slice --description --on-active --on-boot --on-calendar --on-unit-active --working-directory -d ", dir: " --working-directory ", deferred: true}, true
	case "firejail", "xvfb-run":
		return wrapper{values: " -s -n -e -f -p --server-num --server-args "}, true
	case "chpst":
		return wrapper{values: " -u -U -b -e -/ -n -l -L -m -d -o -p -f -c "}, true
	case "gdb":
		return wrapper{values: " -ex -x -p ", sub: "--args"}, true
	}
	return runnerOf(name)
}

func perfSub(name string) string {
	if name == "perf" {
		return "stat record trace"
	}
	return ""
}

// runnerOf is the table of programs that find a project's tools.
func runnerOf(name string) (wrapper, bool) {
	switch name {
	case "npx":
		return wrapper{values: " -p --package -c --call -w --workspace ", code: " -c --call "}, true
	case "bunx", "pnpx":
		return wrapper{values: " -p --package "}, true
	case "uvx":
		return wrapper{values: " --from --with --python -p --index-url ", fetches: "pip"}, true
	case "poetry", "pipenv", "pdm", "hatch", "rye", "pixi":
		return wrapper{sub: "run", values: " -C --directory -p "}, true
	case "uv":
		return wrapper{sub: "run", values: " --with --python -p --extra --group --env-file --directory --project --index-url --package --with-requirements "}, true
	case "pipx":
		return wrapper{sub: "run", values: " --spec --python ", fetches: "pip"}, true
	case "conda", "mamba", "micromamba":
		return wrapper{sub: "run", values: " -n --name -p --prefix --cwd ", dir: " --cwd "}, true
	case "pnpm":
		return wrapper{sub: "exec dlx", values: " -C --dir --filter -F --package ", dir: " -C --dir "}, true
	case "yarn":
		return wrapper{sub: "exec dlx", values: " --cwd -p ", dir: " --cwd "}, true
	case "npm":
		return wrapper{sub: "exec x", values: " -c --call -p --package --prefix -w --workspace ", code: " -c --call "}, true
	case "bundle", "asdf":
		return wrapper{sub: "exec"}, true
	case "mise", "rtx":
		return wrapper{sub: "exec x"}, true
	case "direnv":
		return wrapper{sub: "exec", skip: 1}, true
	case "doppler", "op", "infisical":
		return wrapper{sub: "run", values: " -p --project -c --config --env-file --env "}, true
	case "aws-vault":
		return wrapper{sub: "exec", skip: 1}, true
	}
	return wrapper{}, false
}

// wrapper runs the command inside one of the wrappers.
func (c *call) wrapper() (outcome, bool) {
	switch c.name {
	case "xargs":
		return c.xargs(), true
	case "parallel":
		return c.parallel()
	case "script":
		return c.scriptCommand()
	case "nix-shell", "nix", "tmux", "screen", "coreutils", "bwrap":
		return c.oddWrapper()
	}
	w, ok := wrapperOf(c.name)
	if !ok {
		return outcome{}, false
	}
	if c.name == "env" {
		c.args = splitStrings(c.args)
	}
	o := parseOptions(c.args, program{values: w.values, first: c.name != "su" && (c.name != "runuser" || startsWith(c.args, "-u", "--user")), literal: w.sub == "--args"})
	if w.sub == "--args" {
		if len(c.args) == 0 || !c.args[0].is("--args") {
			return outcome{}, false
		}
		o.operands = c.args
	}
	rest := o.operands
	if w.sub != "" {
		if len(rest) == 0 || !strings.Contains(" "+w.sub+" ", " "+rest[0].text+" ") {
			return outcome{}, false
		}
		if rest[0].is("dlx") {
			w.fetches = "npm"
		}
		inner := parseOptions(rest[1:], program{values: w.values, first: true})
		o.list, rest = append(o.list, inner.list...), inner.operands
	}
	c.wrapperSignals(w, o)
	c.withoutVariables(o)
	c.runsPackage(o, rest)
	if w.code != "" {
		if code, ok := o.get(strings.Fields(w.code)...); ok {
			return c.under(w, o, func() outcome { return c.s.embed(code, c.name, false) }), true
		}
	}
	if c.name == "su" || c.name == "runuser" && !o.has("-u", "--user") {
		return outcome{}, false
	}
	return c.unwrap(w, o, rest)
}

func (c *call) wrapperSignals(w wrapper, o options) {
	if w.privileged {
		c.signal(engine.SignalPrivilege)
	}
	if c.name == "setsid" && o.has("-f", "--fork") || w.deferred && (c.name != "systemd-run" || !o.has("--wait", "--pty", "--scope")) {
		c.signal(engine.SignalDeferred)
	}
	if c.name == "systemd-run" && o.has("--on-calendar", "--on-boot", "--on-active", "--on-unit-active") {
		c.signal(engine.SignalPersistence)
	}
}

// unwrap takes a wrapper's own arguments off and runs what is left.
func (c *call) unwrap(w wrapper, o options, rest []arg) (outcome, bool) {
	if len(rest) < w.skip {
		return outcome{}, false
	}
	w.bounds = w.bounds && endsAll(rest[0], o)
	root, rooted := o.get(strings.Fields(w.rootOption)...)
	if w.root {
		root, rooted = rest[0], true
	}
	rest = rest[w.skip:]
	if w.skip > 0 && w.code != "" && len(rest) > 1 && strings.Contains(w.code, " "+rest[0].text+" ") {
		return c.under(w, o, func() outcome { return c.s.embed(rest[1], c.name, false) }), true
	}
	var assigns []arg
	for w.assigns && len(rest) > 0 && isAssignment(rest[0]) {
		assigns = append(assigns, rest[0])
		rest = rest[1:]
	}
	if len(rest) > 0 && rest[0].is("--") {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return outcome{}, false
	}
	if rooted {
		c.at(c.changedRoot(root), func() { c.s.invoke(rest, c.node) })
		return outcome{fail: c.s.scope.dirs}, true
	}
	return c.under(w, o, func() outcome {
		for _, a := range assigns {
			c.assignWord(a)
		}
		if w.joined {
			return c.s.embed(joinWords(rest), c.name, false)
		}
		return c.s.invoke(rest, c.node)
	}), true
}

// under runs f as a child process of the wrapper.
func (c *call) under(w wrapper, o options, f func() outcome) outcome {
	s := c.s
	return c.nested(func() outcome {
		s.frame.privileged = s.frame.privileged || w.privileged
		s.frame.bounded = s.frame.bounded && !c.detaches(w, o) || w.bounds
		if d, ok := o.get(strings.Fields(w.dir)...); ok {
			s.scope.enter([]value{joinDir(s.scope.dirs[0], d)})
		}
		if w.fetches != "" {
			s.note(engine.EffectNetwork, "fetch", word(w.fetches))
		}
		return f()
	})
}

// detaches tells whether the command goes on after its wrapper has ended.
func (c *call) detaches(w wrapper, o options) bool {
	return w.deferred && c.name != "nohup" || c.name == "setsid" && o.has("-f", "--fork")
}

// endingSignals are signals that end a program.
var endingSignals = []string{"term", "kill", "int", "hup", "quit", "15", "9", "2", "1", "3"}

// endsAll tells whether a timeout(1) ends its command and what that starts:
// the time is known and more than none, and the signal is one that ends things.
func endsAll(limit arg, o options) bool {
	if !positiveTime(limit) || o.has("-f", "--foreground") {
		return false
	}
	if after, ok := o.get("-k", "--kill-after"); ok {
		return positiveTime(after)
	}
	signal, ok := o.get("-s", "--signal")
	return !ok || slices.Contains(endingSignals, strings.TrimPrefix(strings.ToLower(signal.text), "sig"))
}

// positiveTime tells whether a text is a time of sleep(1) and more than none.
func positiveTime(a arg) bool {
	n := strings.TrimRight(a.text, "smhd")
	return len(a.text)-len(n) <= 1 && strings.Trim(n, "0123456789.") == "" && strings.Count(n, ".") <= 1 && strings.Trim(n, "0.") != ""
}

func startsWith(args []arg, options ...string) bool {
	return len(args) > 0 && args[0].is(options...)
}

func isAssignment(a arg) bool {
	name, _, ok := strings.Cut(a.text, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// splitStrings puts the words of env's -S option in its place.
func splitStrings(args []arg) []arg {
	for i, a := range args {
		text, ok := strings.CutPrefix(a.text, "--split-string=")
		switch {
		case a.is("-S", "--split-string", "-vS", "-iS") && i+1 < len(args):
			return slices.Concat(args[:i], fieldsOf(args[i+1]), args[i+2:])
		case ok:
			return slices.Concat(args[:i], fieldsOf(a.with(text)), args[i+1:])
		case a.hasPrefix("-S"):
			return slices.Concat(args[:i], fieldsOf(a.with(a.text[2:])), args[i+1:])
		case !a.hasPrefix("-") && !isAssignment(a):
			return args
		}
	}
	return args
}

func fieldsOf(a arg) []arg {
	var out []arg
	for _, f := range strings.Fields(a.text) {
		out = append(out, a.with(strings.Trim(f, `'"`)))
	}
	if len(out) > maxWords {
		return append(out[:maxWords], arg{text: holeText, splits: true})
	}
	return out
}

// xargs runs a command with the words of its standard input as arguments.
func (c *call) xargs() outcome {
	s := c.s
	o := parseOptions(c.args, program{first: true, values: " -I -J -n -P -L -d -a -s -E -R -S --max-args --max-procs --max-lines --replace --arg-file --delimiter --eof --max-chars --process-slot-var "})
	argv := o.operands
	if len(argv) == 0 {
		argv = []arg{word("echo")}
	}
	for _, file := range o.all("-a", "--arg-file") {
		s.note(engine.EffectFileRead, "read", file)
	}
	mark, each := o.get("-I", "--replace", "-J")
	words := s.inputWords(xargsSeparator(o, each))
	if o.has("-a", "--arg-file") {
		words = []arg{{text: holeText, splits: true, taint: filed}}
	}
	var o2 outcome
	run := func(argv []arg) {
		o2 = c.nested(func() outcome {
			s.frame.wrappers = s.frame.wrappers[:len(s.frame.wrappers)-1]
			s.frame.via = appendText(s.frame.via, "xargs")
			s.frame.stdin, s.frame.piped = nil, false
			return s.invoke(argv, c.node)
		})
	}
	if !each {
		run(append(argv[:len(argv):len(argv)], words...))
		return o2
	}
	for _, w := range words {
		run(replaceMark(argv, mark.text, w))
	}
	return o2
}

// xargsSeparator tells what stands between the arguments that xargs reads:
// blanks, but the ends of lines where each line is put in somewhere.
func xargsSeparator(o options, lines bool) func(rune) bool {
	end, given := o.get("-d", "--delimiter")
	switch {
	case o.has("-0", "--null"):
		return func(r rune) bool { return r == 0 }
	case given && end.known() && len(end.text) == 1:
		return func(r rune) bool { return r == rune(end.text[0]) }
	case lines || given:
		return func(r rune) bool { return r == '\n' || r == 0 }
	}
	return blankOrNUL
}

// blankOrNUL is what stands between words, and NUL.
func blankOrNUL(r rune) bool { return unicode.IsSpace(r) || r == 0 }

// inputWords are the words of standard input, as far as they are known.
func (s *shell) inputWords(separator func(rune) bool) []arg {
	in := s.frame.stdin
	if in == nil {
		return []arg{{text: holeText, splits: true}}
	}
	var out []arg
	seen := map[string]bool{}
	for _, f := range inputFields(in.text, separator) {
		f = strings.Trim(f, "'\" \t")
		if strings.Contains(f, holeText) {
			f = strings.TrimRight(f, "\n")
		}
		if !seen[f] {
			seen[f] = true
			out = append(out, arg{text: f, taint: in.taint, splits: f == holeText})
		}
	}
	if len(out) > maxAlts {
		return []arg{joinArgs(out)}
	}
	return out
}

// inputFields splits standard input; between quotes, nothing is a separator.
func inputFields(text string, separator func(rune) bool) []string {
	if !separator(' ') || !strings.ContainsAny(text, `'"`) {
		return strings.FieldsFunc(text, separator)
	}
	quote := rune(0)
	return strings.FieldsFunc(text, func(r rune) bool {
		switch {
		case quote == r:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		}
		return quote == 0 && separator(r)
	})
}

func replaceMark(argv []arg, mark string, with arg) []arg {
	out := make([]arg, len(argv))
	for i, a := range argv {
		if mark != "" && strings.Contains(a.text, mark) {
			a.text = strings.ReplaceAll(a.text, mark, with.text)
			a.taint |= with.taint
			a.quoted = true
		}
		out[i] = a
	}
	return out
}

// parallel runs a template for each argument after ::: or each line of input.
func (c *call) parallel() (outcome, bool) {
	s := c.s
	o := parseOptions(c.args, program{first: true, values: " -j --jobs -a --arg-file -S --sshlogin --results --joblog --timeout --delay -N -n -I --colsep "})
	var template, items []arg
	list := &template
	for _, a := range o.operands {
		if a.is(":::", ":::+") {
			list = &items
			continue
		}
		*list = append(*list, a)
	}
	if items == nil {
		items = s.inputWords(blankOrNUL)
	}
	if len(items) > maxAlts {
		items = []arg{joinArgs(items)}
	}
	code := joinWords(template)
	var last outcome
	for _, item := range items {
		var text arg
		if strings.Contains(code.text, "{}") {
			text = concat(code.with(strings.ReplaceAll(code.text, "{}", item.text)), arg{taint: item.taint})
		} else {
			text = concat(concat(code, word(" ")), item)
		}
		last = s.embed(text, "parallel", false)
	}
	return last, true
}

// scriptCommand is script(1): -c takes code on Linux, operands are the command
// on BSD.
func (c *call) scriptCommand() (outcome, bool) {
	o := parseOptions(c.args, program{values: " -c --command -t -E -o -O -I -B -F "})
	if code, ok := o.get("-c", "--command"); ok {
		return c.nested(func() outcome { return c.s.embed(code, "script", false) }), true
	}
	if len(o.operands) > 1 {
		return c.nested(func() outcome { return c.s.invoke(o.operands[1:], c.node) }), true
	}
	return outcome{}, false
}

// oddWrapper is what fits no table.
func (c *call) oddWrapper() (outcome, bool) {
	s := c.s
	switch c.name {
	case "coreutils":
		if len(c.args) > 0 && c.args[0].hasPrefix("--coreutils-prog=") {
			argv := append([]arg{word(strings.TrimPrefix(c.args[0].text, "--coreutils-prog="))}, c.args[1:]...)
			return c.nested(func() outcome { return s.invoke(argv, c.node) }), true
		}
	case "nix-shell":
		o := parseOptions(c.args, program{long: true, values: " --run --command -p --packages -A "})
		if code, ok := o.get("--run", "--command"); ok {
			return c.nested(func() outcome { return s.embed(code, "nix-shell", false) }), true
		}
	case "nix":
		for i, a := range c.args {
			if a.is("-c", "--command") && i+1 < len(c.args) {
				return c.nested(func() outcome { return s.invoke(c.args[i+1:], c.node) }), true
			}
		}
	case "tmux", "screen":
		return c.terminal()
	case "bwrap":
		return c.bubble()
	}
	return outcome{}, false
}

// bubble is bwrap: the command sees the files of this machine as they are put
// together for it, which here counts as seeing all of them.
func (c *call) bubble() (outcome, bool) {
	const none, two = " --unshare-all --share-net --unshare-user --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup --die-with-parent --new-session --as-pid-1 --clearenv --disable-userns ", " --bind --bind-try --dev-bind --dev-bind-try --ro-bind --ro-bind-try --symlink --setenv --file --bind-data --ro-bind-data --chmod "
	args, other := c.args, false
	for len(args) > 0 && args[0].hasPrefix("--") && !args[0].is("--") {
		option, n := " "+args[0].text+" ", 2
		switch {
		case strings.Contains(none, option):
			n = 1
		case strings.Contains(two, option):
			n = 3
		}
		if n > len(args) {
			return outcome{}, false
		}
		other = other || n == 3 && strings.Contains(option, "bind") && args[1].text != args[2].text || args[0].is("--tmpfs")
		args = args[n:]
	}
	if len(args) > 0 && args[0].is("--") {
		args = args[1:]
	}
	if len(args) == 0 {
		return outcome{}, false
	}
	return c.nested(func() outcome {
		c.s.frame.remade = c.s.frame.remade || other
		return c.s.invoke(args, c.node)
	}), true
}

// terminal is tmux and screen: what is typed into another shell is code.
func (c *call) terminal() (outcome, bool) {
	s := c.s
	o := parseOptions(c.args, program{values: " -t -s -n -c -S -L -f -x -y -F -p -X "})
	if len(o.operands) == 0 || c.name == "tmux" && len(o.operands) < 2 {
		return outcome{}, false
	}
	rest := o.operands
	if c.name == "screen" && !o.has("-d", "-D", "-X") {
		return outcome{}, false
	}
	if c.name == "screen" && o.has("-X") {
		if code, ok := o.get("-X"); !ok || !code.is("stuff") {
			return outcome{}, false
		}
	}
	if c.name == "tmux" {
		if !rest[0].is("new-session", "new", "new-window", "neww", "split-window", "splitw", "send-keys", "send", "run-shell", "run", "respawn-pane") {
			return outcome{}, false
		}
		rest = rest[1:]
	}
	for len(rest) > 1 && rest[len(rest)-1].is("Enter", "C-m", "KPEnter") {
		rest = rest[:len(rest)-1]
	}
	c.signal(engine.SignalDeferred)
	return c.under(wrapper{deferred: true}, options{}, func() outcome { return s.embed(joinWords(rest), c.name, false) }), true
}
