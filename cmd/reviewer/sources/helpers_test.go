package sources

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/transcript"
	"github.com/klauspost/compress/zstd"
)

// classifier knows nothing of what calls mean.
type classifier struct{}

func (classifier) Classify(_ context.Context, e engine.Event, _ string) (engine.Facts, error) {
	return engine.Facts{Event: engine.EventFacts{Name: e.Name, Tool: e.Tool}}, nil
}

func (classifier) Rewrite(context.Context, engine.Event, string, []engine.Operation) (json.RawMessage, error) {
	return nil, errors.New("nothing is rewritten here")
}

func (classifier) Mask(text string) string { return text }

func options() Options {
	return Options{Classifier: func(transcript.Transcript) engine.Classifier { return classifier{} }}
}

// claude is a transcript of Claude Code: of each word a line or two, a minute
// apart. c1 is a call and its result, c1? a call without one, "c1." only its
// result, p1! a prompt; anything else is a line as it stands.
func claude(session string, words ...string) string { return claudeFrom(0, "", session, words...) }

// claudeFrom begins at a minute; agent names a sub-agent.
func claudeFrom(minute int, agent, session string, words ...string) string {
	var b strings.Builder
	line := func(word, kind, message string) {
		side := ""
		if agent != "" {
			side = fmt.Sprintf(`"agentId":%q,`, agent)
		}
		fmt.Fprintf(&b, `{"parentUuid":null,"isSidechain":%t,%s"type":%q,"message":%s,"uuid":"uuid-of-line-%s","timestamp":"2026-11-02T09:%02d:00.000Z","cwd":"/srv/shop","sessionId":%q}`+"\n",
			agent != "", side, kind, message, word, minute, session)
	}
	for _, w := range words {
		call := strings.TrimRight(w, "?.")
		switch {
		case strings.HasSuffix(w, "!"):
			line(w, "user", fmt.Sprintf(`{"role":"user","content":%q}`, w))
		case strings.ContainsAny(w, "{ "):
			b.WriteString(w + "\n")
		default:
			if !strings.HasSuffix(w, ".") {
				line(w, "assistant", fmt.Sprintf(`{"content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%q}}]}`, call, call))
			}
			if !strings.HasSuffix(w, "?") {
				line(w+"-result", "user", fmt.Sprintf(`{"content":[{"type":"tool_result","tool_use_id":%q,"content":"ok"}]}`, call))
			}
		}
		minute++
	}
	return b.String()
}

// folder writes files, each a name and a content.
func folder(t testing.TB, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		write(t, filepath.Join(dir, files[i]), files[i+1])
	}
	return dir
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func gz(content string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, content)
	w.Close()
	return b.String()
}

func zst(content string) string {
	var b bytes.Buffer
	w, _ := zstd.NewWriter(&b)
	io.WriteString(w, content)
	w.Close()
	return b.String()
}

// tarred is an archive of files, each a name and a content.
func tarred(files ...string) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w.WriteHeader(&tar.Header{Name: files[i], Mode: 0o600, Size: int64(len(files[i+1])), Typeflag: tar.TypeReg})
		io.WriteString(w, files[i+1])
	}
	w.Close()
	return b.String()
}

// home is a state directory with an audit log of these sessions; each has calls
// calls, and a file is followed by another after a few of them.
func home(t testing.TB, calls int, sessions ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	store := audit.Store{Dir: dir, RotateBytes: 3000, KeyframeEvery: 4, Keep: true, Now: func() int64 { return 1_700_000_000_000 }}
	for _, session := range sessions {
		key := engine.SessionKey{Harness: "claude-code", Session: session}
		err := store.Update(t.Context(), key, func(tail history.Tail) error {
			err := tail.Append(&engine.Record{Kind: engine.KindOpen, T: 1_700_000_000_000, Session: session, Harness: "claude-code", Open: &engine.Open{Workspace: "/srv/shop"}})
			for i := range calls {
				err = errors.Join(err, tail.Append(&engine.Record{
					Kind: engine.KindPre, Phase: engine.PhasePre, T: 1_700_000_000_000, Session: session, Harness: "claude-code", Call: fmt.Sprint("c", i+1),
					Event: &engine.EventFacts{Tool: "Bash", Args: map[string]any{"command": "a <b> & c"}}, Action: &engine.Action{Name: "shell"},
				}))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// exported is what `reviewer audit export` writes of a home.
func exported(t testing.TB, dir, format string) string {
	t.Helper()
	store := audit.Store{Dir: dir}
	sessions, err := store.Sessions()
	if err != nil {
		t.Fatal(err)
	}
	x, err := audit.NewExporter(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err = x.Export(&b, func(yield func(*engine.Record, error) bool) {
		for _, one := range sessions {
			for r, err := range store.Records(one.Key, 0) {
				if !yield(r, err) {
					return
				}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// told tells a set: of each family a line per session with its calls, a copied
// one with a star, !! where it ends before its end, and what was wrong. Families
// are in order of their text.
func told(t testing.TB, set *Set) string {
	t.Helper()
	var all []string
	for _, l := range set.Lost {
		all = append(all, fmt.Sprintf("(lost %s)\n", filepath.Base(l.Path)))
	}
	for i := range set.Families {
		all = append(all, toldFamily(t, &set.Families[i]))
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

func toldFamily(t testing.TB, f *Family) string {
	t.Helper()
	var b strings.Builder
	before := "- "
	for s := range f.Recorded(t.Context()) {
		fmt.Fprintf(&b, "%s%s:", before, s.Session)
		before = "  "
		for m, err := range s.Events {
			switch {
			case err != nil:
				b.WriteString(" !!")
			case m.Record.Phase == engine.PhasePre:
				b.WriteString(" " + m.Record.Call)
				if m.Copied {
					b.WriteString("*")
				}
			}
		}
		for _, at := range s.Sources().Troubles {
			fmt.Fprintf(&b, " (%s:%d %s)", filepath.Base(at.Path), at.Line, at.Why)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func find(t testing.TB, args ...string) *Set {
	t.Helper()
	set, err := Find(t.Context(), args, options())
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// cutInflated is gzip data that ends, without its end, where so much is inflated.
func cutInflated(content string, at int) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, content[:at])
	w.Flush()
	return b.String()
}
