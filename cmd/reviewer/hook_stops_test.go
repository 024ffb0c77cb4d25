package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// A copied session is recognised although its transcript is written after the hook began.
func TestAwaitTranscript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s2.jsonl")
	e := engine.Event{Call: "toolu_of_this_session", Transcript: path}
	go func() {
		time.Sleep(100 * time.Millisecond)
		_ = os.WriteFile(path, []byte("toolu_of_the_stopped_session\n"), 0o600)
		time.Sleep(100 * time.Millisecond)
		_ = os.WriteFile(path, []byte("toolu_of_the_stopped_session\ntoolu_of_this_session\n"), 0o600)
	}()
	stops{}.Await(e)
	if !transcript.Mentions(e, []string{"toolu_of_the_stopped_session"}) {
		t.Error("it was not waited for")
	}
	begin := time.Now()
	stops{}.Await(engine.Event{Call: "toolu_never_written", Transcript: path})
	if time.Since(begin) < transcriptWait {
		t.Error("it was not waited long enough")
	}
}
