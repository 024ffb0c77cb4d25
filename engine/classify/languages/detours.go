package languages

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// This file handles indirect ways to call a function: through the table that contains it,
// through a library that starts programs, or through a function that calls its argument.

// pythonName returns the usual name of something that is reached indirectly: for
// sys.modules["os"], posix and shutil.os it is the module os; for vars(os)["system"] it is
// os.system.
func pythonName(name string) string {
	if !strings.ContainsAny(name, "._") && name != "posix" {
		return name
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "builtins."), "__builtins__.")
	name = strings.ReplaceAll("."+name, ".__dict__", "")[1:]
	name = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "sys.modules."), "builtins."), "__builtins__.")
	for _, suffix := range []string{".__call__", ".__func__", ".__wrapped__"} {
		name = strings.TrimSuffix(name, suffix)
	}
	for _, module := range []string{"posix.", "nt."} {
		if rest, ok := strings.CutPrefix(name, module); ok {
			return "os." + rest
		}
	}
	for _, module := range []string{"os", "subprocess", "shutil", "sys"} {
		if _, rest, ok := strings.Cut(name, "."+module+"."); ok && name[0] != '.' {
			return module + "." + rest
		}
	}
	return name
}

// pythonDetour handles calls that lead to another function, run code, or start a program
// through a library.
func pythonDetour(r *codeReader, name string, fn codeValue, args []codeValue, named map[string]codeValue) (codeValue, bool) {
	if removesTree(name) {
		return pythonCall(r, nameValue("shutil.rmtree"), args, named), true
	}
	switch name {
	case "vars":
		if of := argAt(args, 0).name; of != "" {
			return nameValue(of), true
		}
	case "operator.attrgetter", "operator.methodcaller":
		return codeValue{name: name + "()", text: abstract.UnknownArg(), list: args}, len(args) > 0
	case "operator.attrgetter()", "operator.methodcaller()":
		return r.operated(fn, args, named), true
	case "importlib.__import__":
		return pythonCall(r, nameValue("__import__"), args, named), true
	case "types.FunctionType", "timeit.timeit", "timeit.repeat", "timeit.Timer", "cProfile.run", "cProfile.runctx", "profile.run", "pdb.run",
		"bdb.run", "trace.run", "code.interact", "test.support.run_code":
		r.runs(argAt(args, 0), "python")
		return unknownValue(), true
	case "runpy.run_path", "runpy.run_module":
		argv := []codeValue{textValue(abstract.Word("python3")), argAt(args, 0)}
		if name == "runpy.run_module" {
			argv = slices.Insert(argv, 1, textValue(abstract.Word("-m")))
		}
		starts(r.c, []codeValue{listValue(argv)}, false, false)
		return unknownValue(), true
	case "pickle.loads", "yaml.unsafe_load", "yaml.full_load", "dill.loads", "cloudpickle.loads", "jsonpickle.decode":
		if v := argAt(args, 0); v.known && (v.text.Known() || v.text.Taint&(abstract.Decoded|abstract.Fetched) != 0) && builds(v.text) {
			r.c.Signal(engine.SignalObfuscated)
			r.c.Shell.Unseen(v.text, name) // a string in the code itself that is deserialised
		}
		return unknownValue(), true
	}
	if strings.HasSuffix(name, ".Template") || strings.HasSuffix(name, ".from_string") {
		if text, ok := argAt(args, 0).one(); ok && reachesOut(text) {
			r.c.Shell.Unseen(argAt(args, 0).text, name) // a template that accesses functions of its host
		}
	}
	return r.startedBy(name, fn, args, named)
}

// removesTree reports whether a function is an alias of shutil.rmtree.
func removesTree(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	known := name == "shutil.rmtree" || strings.HasPrefix(name, "distutils.")
	return !known && slices.Contains([]string{"rmtree", "_rmtree", "remove_tree"}, last)
}

// reachesOut reports whether a template contains names that give access to its host.
func reachesOut(text string) bool {
	return slices.ContainsFunc([]string{"__globals__", "__class__", "__builtins__", "__import__", "popen(", "system("},
		func(word string) bool { return strings.Contains(text, word) })
}

// builds reports whether deserialising a string calls functions, or may do so.
func builds(text abstract.Arg) bool {
	return !text.Known() || strings.Contains(text.Text, "system") ||
		strings.Contains(text.Text, "!!python/") || strings.Contains(text.Text, "py/") ||
		strings.Contains(text.Text, "subprocess") || strings.Contains(text.Text, "exec") || strings.Contains(text.Text, "popen")
}

// operated calls what operator.attrgetter("system") and methodcaller returned.
func (r *codeReader) operated(fn codeValue, args []codeValue, named map[string]codeValue) codeValue {
	name, ok := argAt(fn.list, 0).one()
	if !ok {
		return unknownValue()
	}
	f := pythonAttr(argAt(args, 0), name)
	if fn.name == "operator.attrgetter()" {
		return f
	}
	return r.invoke(f, fn.list[1:], named)
}

// startedBy handles calls of libraries that start programs: sh.rm("-rf", x),
// plumbum.cmd.rm["-rf"](x), pexpect.run("rm x").
func (r *codeReader) startedBy(name string, fn codeValue, args []codeValue, named map[string]codeValue) (codeValue, bool) {
	program := ""
	for _, library := range []string{"sh.", "plumbum.cmd.", "plumbum.local."} {
		if rest, ok := strings.CutPrefix(name, library); ok {
			program = strings.TrimSuffix(strings.TrimSuffix(rest, ".run"), ".bake")
		}
	}
	switch {
	case name == "sh.Command" || name == "plumbum.local":
		if text, ok := argAt(args, 0).one(); ok {
			return nameValue("sh." + text), true
		}
	case program == "contrib.sudo" || program == "cwd" || program == "env" || strings.HasPrefix(program, "path"):
	case program != "":
		argv := slices.Concat([]codeValue{textValue(abstract.Word(program))}, fn.list, args)
		starts(r.c, []codeValue{listValue(argv)}, false, false)
		return codeValue{text: abstract.Arg{Text: abstract.HoleText, Taint: abstract.Substituted}, known: true}, true
	}
	switch name {
	case "pexpect.run", "pexpect.runu", "pexpect.spawn", "pexpect.spawnu", "pexpect.popen_spawn.PopenSpawn", "delegator.run", "envoy.run", "invoke.run",
		"invoke.sudo", "fabric.api.local", "fabric.api.run", "fabric.api.sudo", "fabric.operations.local", "popen2.popen3", "commands.getstatusoutput",
		"distutils.spawn.spawn", "setuptools._distutils.spawn.spawn", "asyncssh.run", "shellescape.run", "sarge.run", "command.run", "easyprocess.EasyProcess":
		starts(r.c, args[:min(1, len(args))], true, false)
		return codeValue{text: abstract.Arg{Text: abstract.HoleText, Taint: abstract.Substituted}, known: true}, true
	}
	return codeValue{}, false
}

// runsMethod handles methods of objects that start programs or containers.
func (r *codeReader) runsMethod(self codeValue, name string, args []codeValue, named map[string]codeValue) {
	switch root, _, _ := strings.Cut(self.origin, "."); {
	case strings.HasSuffix(name, "__subclasses__"):
		r.c.Signal(engine.SignalObfuscated)
		r.c.Shell.Unseen(abstract.UnknownArg(), "python")
	case slices.Contains([]string{"invoke", "fabric"}, root) && slices.Contains([]string{"run", "sudo", "local"}, name),
		root == "IPython" && (name == "system" || name == "getoutput"), self.origin == "get_ipython" && (name == "system" || name == "getoutput"):
		starts(r.c, args[:min(1, len(args))], true, false)
	case slices.Contains([]string{"bdb", "pdb", "trace", "cProfile", "profile"}, root) && slices.Contains([]string{"run", "runctx", "runeval"}, name):
		r.runs(argAt(args, 0), "python")
	case root == "cffi" && name == "system":
		starts(r.c, args[:min(1, len(args))], true, false)
	case root == "code" && slices.Contains([]string{"runsource", "runcode", "push"}, name), root == "timeit" && (name == "timeit" || name == "repeat"):
		r.runs(argAt(args, 0), "python")
	case name == "containers.run" || name == "containers.create":
		r.container(args, named)
	case strings.HasSuffix(name, "s.prune"):
		object := strings.TrimSuffix(name, "s.prune")
		r.docker(abstract.Word(object), abstract.Word("prune"), abstract.Word("-f"))
	}
}

// container translates what Docker's Python client starts to the equivalent command line.
func (r *codeReader) container(args []codeValue, named map[string]codeValue) {
	argv := []abstract.Arg{abstract.Word("run")}
	for host, to := range named["volumes"].fields {
		bind := to.fields["bind"].texts()[0]
		argv = append(argv, abstract.Word("-v"), abstract.Concat(abstract.Word(host+":"), bind))
	}
	for _, v := range named["volumes"].list {
		argv = append(argv, abstract.Word("-v"), v.texts()[0])
	}
	if _, ok := named["privileged"]; ok {
		argv = append(argv, abstract.Word("--privileged"))
	}
	if pid, ok := named["pid_mode"]; ok {
		argv = append(argv, abstract.Word("--pid"), pid.texts()[0])
	}
	argv = append(argv, argAt(args, 0).texts()[0])
	command := argAt(args, 1)
	if c, ok := named["command"]; ok {
		command = c
	}
	if command.known {
		argv = append(argv, abstract.Word("sh"), abstract.Word("-c"), command.texts()[0])
	}
	r.docker(argv...)
}

func (r *codeReader) docker(argv ...abstract.Arg) {
	list := []codeValue{textValue(abstract.Word("docker"))}
	for _, a := range argv {
		list = append(list, textValue(a))
	}
	starts(r.c, []codeValue{listValue(list)}, false, false)
}

// nodeDetour handles calls that lead to another function: f.call(null, x),
// import(m).then(f), Reflect.get(m, "f"), Function("return process")().
func nodeDetour(r *codeReader, name string, args []codeValue, named map[string]codeValue) (codeValue, bool) {
	of, method := name, ""
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		of, method = name[:i], name[i+1:]
	}
	text, literal := argAt(args, 0).one()
	switch {
	case method == "then":
		return r.invoke(argAt(args, 0), []codeValue{nameValue(of)}, nil), true
	case (method == "call" || method == "bind") && len(args) > 1:
		return r.invoke(nameValue(of), args[1:], named), true
	case method == "apply" && of != "Reflect" && len(args) > 1:
		return r.invoke(nameValue(of), args[1].list, named), true
	case name == "Reflect.get" && argAt(args, 0).name != "":
		if field, ok := argAt(args, 1).one(); ok {
			return nameValue(args[0].name + "." + field), true
		}
	case method == "_load" || name == "process.getBuiltinModule":
		return nameValue(text), literal
	case method == "createRequire":
		return nameValue("require"), true
	case name == "process.binding" || name == "process._linkedBinding":
		return nameValue("process.binding." + text), literal
	case name == "process.binding.spawn_sync.spawn" || strings.HasPrefix(name, "process.binding.process_wrap"):
		starts(r.c, []codeValue{named["args"]}, false, false)
		return unknownValue(), true
	case name == "process.dlopen":
		r.c.Shell.Unseen(abstract.UnknownArg(), "node")
	case name == "Function" && returned(text) != "":
		return nameValue("Function." + returned(text)), true
	case strings.HasPrefix(name, "Function.") && len(args) == 0:
		return nameValue(strings.TrimPrefix(name, "Function.")), true
	case (name == "setTimeout" || name == "setInterval" || name == "setImmediate") && len(args) > 2 && r.callable(args[0].name):
		return r.invoke(args[0], args[2:], nil), true
	}
	return codeValue{}, false
}

// returned returns the name that a function returns, if its code does nothing else.
func returned(code string) string {
	name, ok := strings.CutPrefix(strings.TrimSpace(code), "return ")
	if name = strings.Trim(name, " ;"); !ok || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._") != "" {
		return ""
	}
	return name
}

// scriptDetour handles calls of a function by its name in Ruby and Perl:
// Kernel.send(:system, x), method(:system).call(x).
func (r *codeReader) scriptDetour(name string, args []codeValue, named map[string]codeValue) (codeValue, bool) {
	of, method := "", name
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		of, method = name[:i], name[i+1:]
	}
	text, literal := argAt(args, 0).one()
	switch {
	case r.lang == "ruby" && slices.Contains([]string{"send", "public_send", "__send__"}, method) && literal:
		return r.invoke(nameValue(joinName(of, text)), args[1:], named), true
	case r.lang == "ruby" && (method == "method" || method == "instance_method") && literal:
		return nameValue(joinName(of, text)), true
	case r.lang == "ruby" && of != "" && (method == "call" || method == "yield"):
		return r.invoke(nameValue(of), args, named), true
	case r.lang == "perl" && (name == "open3" || name == "open2") && len(args) > 2:
		r.scriptStarts(args[map[string]int{"open2": 2, "open3": min(3, len(args)-1)}[name]:])
		return unknownValue(), true
	case name == "IPC.Run.run" || name == "IPC.Cmd.run" || name == "IPC.System.Simple.system" || name == "POSIX.system" || name == "IPC.Run3.run3":
		r.scriptStarts(args)
		return unknownValue(), true
	case r.lang == "perl" && name == "syscall":
		r.c.Shell.Unseen(abstract.UnknownArg(), r.lang)
		return unknownValue(), true
	}
	return codeValue{}, false
}

// joinName returns the name of a method of a named value; for Kernel and for no object it
// is the function's name.
func joinName(of, name string) string {
	if of == "" || of == "Kernel" || of == "Object" || of == "self" {
		return name
	}
	return of + "." + name
}
