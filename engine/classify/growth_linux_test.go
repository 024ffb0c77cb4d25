package classify

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// memory is how many bytes are taken while an event is classified: a measure of the
// work that does not depend on who else is at work.
func memory(t testing.TB, c *Classifier, tool, key, text string) uint64 {
	t.Helper()
	args, err := json.Marshal(map[string]string{key: text, "file_path": "/srv/shop/a.md"})
	if err != nil {
		t.Skip("no text")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e := engine.Event{Phase: engine.PhasePre, Tool: tool, Args: args, CWD: "/srv/shop"}
	if _, err := c.Classify(context.Background(), e, "/srv/shop"); err != nil {
		t.Skip(err)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// FuzzGrowth: a string of twice the length takes less than three times the memory,
// whatever is repeated in it, as a command and as what is written.
func FuzzGrowth(f *testing.F) {
	for _, seed := range []string{"echo a; ", "$(echo ", "\"'a'", "<<E\na\nE\n", "{a,b}", "-----BEGIN PRIVATE KEY-----\n", "sk-", "password is secret ",
		"```sh\nrm -rf /opt/a\n```\n", "~~~python\nx\n", "a=\"b\"\n", "http://a.example/?code=", "import os\n", "def a():\n  ", "f(", "=>{", "|&;<>()\n",
		"token: ", "%{a}", "\\", "/*", "#{", "`", "é", "\x00"} {
		f.Add(seed)
	}
	c := &Classifier{World: nowhere(), MAC: classifytest.MAC, Rows: classifytest.Rows()}
	memory(f, c, "Bash", "command", "ls")
	f.Fuzz(func(t *testing.T, unit string) {
		if unit == "" || len(unit) > 64 {
			t.Skip("repeated texts are short")
		}
		for tool, key := range map[string]string{"Bash": "command", "Write": "content"} {
			once := memory(t, c, tool, key, times(unit, 16<<10))
			twice := memory(t, c, tool, key, times(unit, 32<<10))
			if twice > 3*max(once, 4<<20) {
				t.Errorf("%s of %q: %d bytes for 16 KiB, %d for 32 KiB", tool, unit, once, twice)
			}
		}
	})
}

// TestLinearLarge is TestLinear for what an agent may write at once: from 512 KiB to 1 MiB.
func TestLinearLarge(t *testing.T) {
	if !sweep.Every() {
		t.Skip("takes half a minute; REVIEWER_EVERY=1 runs it")
	}
	c := &Classifier{World: nowhere(), MAC: classifytest.MAC, Rows: classifytest.Rows()}
	for _, unit := range []string{"-----BEGIN PRIVATE KEY-----\n", "sk-", "password is secret ", "http://a.example/?code=", "word ",
		"```sh\nls\n```\n", "{\"token\": \"b\"},\n", "x = open('a').read()\n"} {
		best := 0.0
		for try := 0; try < 3 && (try == 0 || best >= 3); try++ {
			once, twice := timeOfWriting(t, c, times(unit, 512<<10)), timeOfWriting(t, c, times(unit, 1<<20))
			if ratio := float64(twice) / float64(max(once, 10*time.Millisecond)); best == 0 || ratio < best {
				best = ratio
			}
			t.Logf("%q: %v for 512 KiB, %v for 1 MiB", strings.TrimSpace(unit), once, twice)
		}
		if best >= 3 {
			t.Errorf("%q: %.1f times as long for twice the length", unit, best)
		}
	}
}

// timeOfWriting is how long the processor works for a string that is written.
func timeOfWriting(t *testing.T, c *Classifier, text string) time.Duration {
	t.Helper()
	begin := processorTime(t)
	memory(t, c, "Write", "content", text)
	return processorTime(t) - begin
}
