package languages

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// processObject returns an object of psutil that represents an existing process; false: the
// call has nothing to do with such objects.
func processObject(name string, args []codeValue) (codeValue, bool) {
	switch name {
	case "psutil.Process":
		return codeValue{name: name, text: argAt(args, 0).texts()[0]}, true
	case "psutil.process_iter":
		return listValue([]codeValue{{name: "psutil.Process", text: abstract.Word("*")}}), true // any of them
	}
	return codeValue{}, false
}

// endsProcess handles methods of such an object; it reports whether the method ends or
// stops the process.
func endsProcess(r *codeReader, fn codeValue) bool {
	switch fn.name {
	case "psutil.Process.kill", "psutil.Process.terminate", "psutil.Process.suspend", "psutil.Process.send_signal":
		kills(r.c, fn.text)
		return true
	}
	return false
}

func kills(c *shell.Call, targets ...abstract.Arg) {
	c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "kill"}, targets...)
}

// pythonProcesses handles calls that start or end processes and return nothing relevant; it
// reports whether name is one.
func pythonProcesses(c *shell.Call, name string, args []codeValue) bool {
	first := argAt(args, 0).texts()
	switch name {
	case "os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "commands.getoutput", "pexpect.spawn", "pexpect.spawnu", "pexpect.run", "pexpect.runu", "asyncio.create_subprocess_shell":
		for _, code := range first {
			c.Shell.Embed(code, "python", false)
		}
	case "pty.spawn":
		starts(c, args, false, false)
	case "os.execv", "os.execvp", "os.execve", "os.execvpe", "os.posix_spawn", "os.posix_spawnp":
		startsAs(c, argAt(args, 0), args[min(1, len(args)):], false)
	case "os.execl", "os.execlp", "os.execle", "os.execlpe":
		startsAs(c, argAt(args, 0), args[min(1, len(args)):], true)
	case "os.spawnl", "os.spawnlp", "os.spawnle", "os.spawnlpe", "os.spawnv", "os.spawnvp", "os.spawnve", "os.spawnvpe":
		startsAs(c, argAt(args, 1), args[min(2, len(args)):], strings.Contains(name, "spawnl"))
	case "os.kill", "os.killpg":
		kills(c, first...)
	default:
		return false
	}
	return true
}

// startsAs runs a program under the name that comes first in its arguments: some do what that name says, most do not.
func startsAs(c *shell.Call, program codeValue, args []codeValue, spread bool) {
	starts(c, args, false, spread)
	if len(args) == 0 {
		return
	}
	list := args
	if !spread {
		list = args[0].list
	}
	if len(list) == 0 || slices.EqualFunc(program.texts(), list[0].texts(), func(a, b abstract.Arg) bool { return a.Text == b.Text }) {
		return
	}
	starts(c, []codeValue{listValue(append([]codeValue{program}, list[1:]...))}, false, false)
}

// runs handles exec and eval: code in a string.
func (r *codeReader) runs(v codeValue, lang string) {
	if !v.known || !v.text.Known() {
		r.c.Shell.Unseen(v.texts()[0], lang)
		return
	}
	r.c.Extract(lang, v.text, "eval")
}
