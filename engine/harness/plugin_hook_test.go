package harness

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"testing"
)

// TestMain makes this program stand for `reviewer hook AGENT EVENT` where FAKE_LOG is set: it writes
// down what it was told, and answers as FAKE says.
func TestMain(m *testing.M) {
	if log := os.Getenv("FAKE_LOG"); log != "" {
		os.Exit(fakeHook(log, os.Getenv("FAKE")))
	}
	os.Exit(m.Run())
}

func fakeHook(log, fake string) int {
	name := os.Args[len(os.Args)-1]
	raw, _ := io.ReadAll(os.Stdin)
	dir, _ := os.Getwd()
	line, err := json.Marshal(heard{Name: name, Args: os.Args[1 : len(os.Args)-1], CWD: dir, Document: decoded(raw)})
	f, openErr := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil || openErr != nil {
		return 9
	}
	fmt.Fprintf(f, "%s\n", line)
	f.Close()
	if act, fails := fakeFailures()[fake]; fails {
		return act(name)
	}
	fields := ""
	switch {
	case name == PreToolUse:
		fields = fakeAnswers[fake]
	case fake == "told":
		fields = `"additionalContext":"Read after ` + name + `."`
	}
	fmt.Print(fakeAnswer(name, fields))
	return 0
}

func decoded(raw []byte) (doc map[string]any) {
	if json.Unmarshal(raw, &doc) != nil {
		return nil
	}
	return doc
}

// fakeAnswer is an answer to an event, with further fields.
func fakeAnswer(name, fields string) string {
	return strings.TrimSuffix(`{"hookSpecificOutput":{"hookEventName":"`+name+`",`+fields, ",") + "}}"
}

// fakeAnswers are the fields of answers before a call.
var fakeAnswers = map[string]string{
	"deny":    `"permissionDecision":"deny","permissionDecisionReason":"Not in this folder (rule shop)."`,
	"rewrite": `"updatedInput":{"command":"git push --force-with-lease"},"additionalContext":"It runs with --force-with-lease."`,
	"note":    `"additionalContext":"Mind the tests."`,
}

// forever waits until the process is ended.
func forever() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	<-signals
}

// fakeFailures are ways in which a hook fails at each event.
func fakeFailures() map[string]func(name string) int {
	says := func(text string, exit int) func(string) int {
		return func(string) int { fmt.Print(text); return exit }
	}
	answers := func(fields string) func(string) int {
		return func(name string) int { fmt.Print(fakeAnswer(name, fields)); return 0 }
	}
	return map[string]func(name string) int{
		"malformed": says(`{"hookSpecificOutput":`, 0), "text": says("all is well", 0), "null": says("null", 0), "silent": says("", 0),
		"other": says(`{"hookSpecificOutput":{"hookEventName":"Other"}}`, 0), "exit1": says("", 1), "exit2silent": says("", 2),
		"allow": answers(`"permissionDecision":"allow"`), "list": answers(`"updatedInput":["ls"]`),
		"before": says("hello\n"+fakeAnswer(PreToolUse, fakeAnswers["deny"]), 0),
		"slow":   func(string) int { forever(); return 0 },
		"exit2": func(string) int {
			fmt.Fprintln(os.Stderr, "reviewer could not review this call.")
			return 2
		},
		"killed": func(string) int {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill() // the status shows whether it worked
			}
			forever()
			return 0
		},
	}
}
