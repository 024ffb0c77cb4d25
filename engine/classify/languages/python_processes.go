package languages

import (
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

// runs handles exec and eval: code in a string.
func (r *codeReader) runs(v codeValue, lang string) {
	if !v.known || !v.text.Known() {
		r.c.Shell.Unseen(v.texts()[0], lang)
		return
	}
	r.c.Extract(lang, v.text, "eval")
}
