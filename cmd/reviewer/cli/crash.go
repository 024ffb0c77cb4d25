package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Crashed keeps where a panic came from, and returns what may be told of it.
// The value of a panic can quote what a call holds: only its type is told.
func (a *App) Crashed(p any) string {
	text := fmt.Sprintf("it failed inside (%T); please report it", p)
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

// trace lists the places in the code that led here, without values: a stack as
// the runtime prints it holds the words of arguments.
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
