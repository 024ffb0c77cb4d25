package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
)

// Crashed records the origin of a panic, and returns an error about it. The value of
// a panic can quote the contents of a call, so only its type is shown.
func (a *App) Crashed(p any) string {
	text := fmt.Sprintf("internal error (%T); please report it", p)
	home, err := a.StateHome()
	if err != nil {
		return text
	}
	path := filepath.Join(home, "crash.txt")
	if os.WriteFile(path, trace(), 0o600) != nil {
		return text // best effort: no answer depends on it
	}
	return text + ", with the file " + path
}

// AbortIfFatal lets an error that nothing can recover from, such as too little memory, end this
// process by a signal (an exception on Windows) and without a core dump: the runtime would exit
// with 2, which means findings.
func AbortIfFatal() {
	NoCoreDump()
	debug.SetTraceback("crash")
}

// trace lists the stack without values: the runtime's own stack trace contains
// arguments.
func trace() []byte {
	const most = 64
	calls := make([]uintptr, most)
	frames := runtime.CallersFrames(calls[:runtime.Callers(2, calls)])
	var b bytes.Buffer
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		fmt.Fprintf(&b, "%s\n\t%s:%d\n", f.Function, f.File, f.Line)
	}
	return b.Bytes()
}
