package main

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// A copied session is recognised although its transcript is written after the hook began.
func TestAwaitTranscript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s2.jsonl")
	synctest.Test(t, func(t *testing.T) { awaitTranscript(t, path) })
}

func awaitTranscript(t *testing.T, path string) {
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
	if took := time.Since(begin); took != transcriptWait {
		t.Errorf("it was waited for %s", took)
	}
}
