package sources

import (
	"bytes"
	"cmp"
	"errors"
	"hash/fnv"
	"io"
	"slices"

	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// kind is the kind of a file.
type kind int

const (
	unknown kind = iota
	chain        // lines of one chain of reviewer's log, as they were written
	export       // records as `reviewer audit export` writes them, of any number of chains
	ledger       // the machine's chain: no session
	broken       // begins as a chain does and cannot be read
	session      // a transcript of an agent
)

// head is the information in a file's beginning.
type head struct {
	kind     kind
	format   string   // of a transcript
	several  bool     // of a format whose files hold several sessions, in any order
	sessions []string // ids, in the order in which they come up; a chain has one
	session  string   // the first of them
	harness  string   // of a chain: the agent whose hook wrote it
	chain    string   // id of the chain
	first    int64    // number of the chain's first line in the file
	links    []uint64 // digests that copies of the file's beginning share with it
	orphan   string   // id of the first line, where it continues one that is not there
	why      error    // of broken
}

// Bounds of a head. A recognised transcript is read until its session is known: its
// first line may contain a large prompt.
const (
	firstLook = 16 << 10 // bytes
	nextLook  = 64 << 10 // what readers need to know their format
	lastLook  = 16 << 20
	maxIDs    = 8  // session ids of a head
	maxLinks  = 16 // of each key
)

// readHead reads as much of a file as is needed to identify it, and returns that, too.
// It returns an error of the reader together with what could be identified.
func readHead(r io.Reader) (head, []byte, error) {
	var text []byte
	for size := firstLook; ; size *= 4 {
		part := make([]byte, size-len(text))
		n, err := io.ReadFull(r, part)
		text = append(text, part[:n]...)
		ended := err != nil
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = nil
		}
		h := headOf(text)
		if ended || size >= lastLook || h.isWhole(text) {
			return h, text, err
		}
	}
}

// isWhole reports whether reading more of the text would add nothing.
func (h head) isWhole(text []byte) bool {
	switch h.kind {
	case unknown:
		return len(text) >= nextLook
	case broken:
		return !errors.Is(h.why, errHalf) || len(text) > maxExportedLine
	case session:
		if h.several {
			return false
		}
		much := len(text) >= nextLook && bytes.Count(text, []byte("\n")) > 50
		return much || h.session != "" && (len(h.links) > 0 || len(text) >= nextLook)
	}
	return true
}

// named sets the session of a file that names none by its path, in formats whose files are
// named so.
func (h *head) named(path string) {
	if id := transcript.SessionOf(h.format, path); id != "" && len(h.sessions) == 0 {
		h.session, h.sessions = id, []string{id}
	}
}

func headOf(text []byte) head {
	if audit.IsLine(text) {
		return chainHead(firstLine(text), false)
	}
	if raw, ok := exportedLine(text); ok {
		return chainHead(raw, true)
	}
	if format, ok := transcript.Recognise(text); ok {
		h := head{kind: session, format: format.Name, several: format.Several, sessions: sessionsOf(format, text),
			links: links(text), orphan: orphan(text)}
		if len(h.sessions) > 0 {
			h.session = h.sessions[0]
		}
		return h
	}
	return head{}
}

func firstLine(text []byte) []byte {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1]
	}
	return text
}

// exportedLine finds the first record of what was exported, after the bracket
// that begins an array.
func exportedLine(text []byte) ([]byte, bool) {
	first := firstLine(text)
	if string(bytes.TrimSpace(first)) == "[" {
		first = firstLine(text[len(first):])
	}
	if !bytes.HasSuffix(first, []byte("\n")) {
		return first, bytes.HasPrefix(first, []byte(`{"id":"`)) && bytes.Contains(first, []byte(`","v":1,"prev":"`))
	}
	return audit.Exported(first)
}

var errHalf = errors.New("the first line is truncated")

func chainHead(line []byte, exported bool) head {
	if !bytes.HasSuffix(line, []byte("\n")) {
		return head{kind: broken, why: errHalf}
	}
	r, err := history.DecodeLine(line)
	if err != nil {
		return head{kind: broken, why: err}
	}
	session, agent := r.Session, r.Harness
	if r.State != nil {
		state, err := history.Decode(r.State)
		if err != nil {
			return head{kind: broken, why: err}
		}
		session, agent = cmp.Or(session, state.Session), cmp.Or(agent, state.Harness)
	}
	h := head{kind: chain, session: session, sessions: []string{session}, harness: agent, chain: r.Chain, first: r.N}
	switch {
	case exported:
		h.kind = export
	case session == "":
		h.kind = ledger
	}
	return h
}

// sessionsOf lists the ids of sessions that a transcript's beginning names, its
// own first. Files that name the same one belong together, such as those of its
// sub-agents, and resumed copies that keep the ids of the lines they copy.
func sessionsOf(format transcript.Reader, text []byte) []string {
	var ids []string
	if format.Name != harness.ClaudeCode { // whose lines all name it
		t, _ := format.Read(bytes.NewReader(text))
		for _, part := range transcript.Split(t, "") {
			if part.Session != "" && !slices.Contains(ids, part.Session) {
				ids = append(ids, part.Session)
			}
		}
	}
	if format.Several {
		return ids
	}
	for _, key := range []string{"sessionId", "session_id"} {
		for _, id := range values(text, key, maxLinks) {
			if !slices.Contains(ids, id) && len(ids) < maxIDs {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// links returns digests of the ids that a copy of the file shares with it.
//
// A fork, or a session that was resumed under another id, begins with a copy of
// what came before, in which the ids of lines (uuid) and of calls are those of
// the original, or it names the session that it was made from. So two files that
// share calls share ids among their first ones. For a copy of a later part, such
// as that after a compaction, see orphan.
func links(text []byte) []uint64 {
	var found []uint64
	for _, key := range []string{"uuid", "call_id", "tool_call_id", "forked_from_id"} {
		for _, id := range values(text, key, maxLinks) {
			if len(id) >= 16 { // shorter ones are counters, valid in one file only
				found = append(found, digest(id))
			}
		}
	}
	return found
}

// orphan returns the id of a transcript's first line where that has a parent:
// then the file is a copy of a later part of another one, which is looked for
// among the files next to it.
func orphan(text []byte) string {
	for line := range bytes.Lines(text) {
		id := values(line, "uuid", 1)
		if len(id) == 0 {
			continue
		}
		if len(values(line, "parentUuid", 1)) > 0 || len(values(line, "logicalParentUuid", 1)) > 0 {
			return id[0]
		}
		return ""
	}
	return ""
}

func digest(id string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, id)
	return h.Sum64()
}

// values returns the first texts that follow a key. Keys inside a string
// have other quotes.
func values(text []byte, key string, most int) []string {
	quoted := []byte(`"` + key + `"`)
	var found []string
	for len(found) < most {
		i := bytes.Index(text, quoted)
		if i < 0 {
			break
		}
		text = text[i+len(quoted):]
		rest, ok := bytes.CutPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte(":"))
		if !ok {
			continue
		}
		rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(`"`))
		if end := bytes.IndexByte(rest, '"'); ok && end > 0 && end <= maxID {
			found = append(found, string(rest[:end]))
		}
	}
	return found
}

// maxID bounds an id in bytes; what is longer is not one.
const maxID = 200

// formatNames lists the supported formats, for messages.
func formatNames() []string {
	var names []string
	for _, r := range transcript.Readers() {
		names = append(names, r.Name)
	}
	return names
}
