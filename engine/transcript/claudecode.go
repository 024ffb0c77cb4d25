package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// ReadClaudeCode reads what Claude Code wrote about a session: the
// JSON Lines of its transcript folder, of a sub-agent's file, or of
// `--output-format stream-json`. The format is the client's own and changes:
// what is unknown is skipped, what cannot be read is listed in Bad.
//
// All branches are read, including those that a person rewound: their calls did
// run. Results are paired by id; a call without a result stays a call. The
// calls of one message come before any of their results: the agent chose them
// all before it saw one.
func ReadClaudeCode(r io.Reader) (Transcript, error) {
	t := newClaudeReader()
	err := eachLine(r, maxTranscriptLine, t.line)
	return t.end(), err
}

func newClaudeReader() *claudeReader {
	return &claudeReader{
		out:   Transcript{Harness: harness.ClaudeCode, Unasked: map[string]bool{}},
		calls: map[string]int{}, done: map[string]int{}, prompts: map[string]bool{},
		agents: map[string]string{}, refused: map[string]bool{}, batch: map[string]string{},
	}
}

// claudeReader keeps state from one line to the next.
type claudeReader struct {
	out     Transcript
	at      int               // number of the line
	calls   map[string]int    // tool_use id -> index of its event
	done    map[string]int    // tool_use id -> index of its result's event
	prompts map[string]bool   // uuids of prompts: a resumed session repeats them
	agents  map[string]string // uuid of a side chain's line -> its agent
	refused map[string]bool   // tool_use ids that a line next to the result says were refused
	batch   map[string]string // tool_use id -> id of the message that it is part of
	turn    string            // id of the message that is read
	cwd     string
	mode    string
	prompt  string // id of the latest prompt
}

// claudeLine is one document of a transcript or stream: the fields that are read.
type claudeLine struct {
	Type        string          `json:"type"`
	Subtype     string          `json:"subtype"`
	UUID        string          `json:"uuid"`
	Parent      string          `json:"parentUuid"`
	Session     string          `json:"sessionId"`
	Version     string          `json:"version"`
	Timestamp   string          `json:"timestamp"`
	CWD         string          `json:"cwd"`
	Mode        string          `json:"permissionMode"`
	PromptID    string          `json:"promptId"`
	Source      string          `json:"promptSource"`
	Agent       string          `json:"agentId"`
	Sidechain   bool            `json:"isSidechain"`
	Meta        bool            `json:"isMeta"`
	Summary     bool            `json:"isCompactSummary"`
	Hidden      bool            `json:"isVisibleInTranscriptOnly"`
	Denial      string          `json:"toolDenialKind"`
	Message     json.RawMessage `json:"message"`
	Result      json.RawMessage `json:"toolUseResult"`
	Data        json.RawMessage `json:"data"`       // progress
	Attachment  json.RawMessage `json:"attachment"` // attachment
	StreamID    string          `json:"session_id"` // from here on: stream-json
	StreamTool  string          `json:"parent_tool_use_id"`
	StreamCall  string          `json:"tool_use_id"`
	StreamValue json.RawMessage `json:"tool_use_result"`
	Client      string          `json:"claude_code_version"`
	Synthetic   bool            `json:"isSynthetic"`
	Denials     []struct {
		Call string `json:"tool_use_id"`
	} `json:"permission_denials"`
}

type claudeMessage struct {
	ID      string          `json:"id"`
	Content json.RawMessage `json:"content"`
}

type claudeBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Call    string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

// line reads the documents of one line. The client writes one; two were seen
// where two processes appended at once.
func (t *claudeReader) line(n int, line []byte) {
	t.at = n
	t.out.Lines++
	switch {
	case line == nil:
		t.bad(errLongLine)
		return
	case !utf8.Valid(line):
		t.bad(errors.New("not valid UTF-8"))
		return
	}
	var l claudeLine
	var several *json.SyntaxError
	if err := json.Unmarshal(line, &l); !errors.As(err, &several) { // with half the memory of a decoder
		t.read(l, err)
		return
	}
	for d := json.NewDecoder(bytes.NewReader(line)); ; {
		var l claudeLine
		if err := d.Decode(&l); err == io.EOF || !t.read(l, err) {
			return
		}
	}
}

// read adds a document; whole reports whether another may follow.
func (t *claudeReader) read(l claudeLine, err error) (whole bool) {
	var mistyped *json.UnmarshalTypeError // the rest of the document is there
	if err != nil {
		t.bad(err)
		if !errors.As(err, &mistyped) {
			return false
		}
	}
	if err := t.document(l); err != nil {
		t.bad(err)
	}
	return true
}

func (t *claudeReader) bad(why error) { t.out.bad(t.at, why) }

func (t *claudeReader) document(l claudeLine) error {
	l.fromStream()
	t.remember(&l)
	switch l.Type {
	case "assistant", "user":
		return t.message(l)
	case "progress":
		return t.progress(l)
	case "attachment":
		return t.attachment(l)
	case "system":
		if l.Subtype == "permission_denied" {
			t.refused[l.StreamCall] = true
		}
	case "result":
		for _, d := range l.Denials {
			t.refused[d.Call] = true
		}
	}
	return nil
}

// fromStream gives the fields of stream-json the names of the transcript. A
// stream names no sub-agent, only the call that started it.
func (l *claudeLine) fromStream() {
	l.Session, l.Version = cmp.Or(l.Session, l.StreamID), cmp.Or(l.Version, l.Client)
	l.Agent = cmp.Or(l.Agent, l.StreamTool)
	if l.Result == nil {
		l.Result = l.StreamValue
	}
	l.Meta = l.Meta || l.Synthetic
}

// remember stores what later lines omit.
func (t *claudeReader) remember(l *claudeLine) {
	t.out.Session, t.out.Version = cmp.Or(t.out.Session, l.Session), cmp.Or(t.out.Version, l.Version)
	t.cwd, t.mode, t.prompt = cmp.Or(l.CWD, t.cwd), cmp.Or(l.Mode, t.mode), cmp.Or(l.PromptID, t.prompt)
	if l.Sidechain && l.Agent == "" {
		l.Agent = cmp.Or(t.agents[l.Parent], l.UUID)
	}
	if l.Agent != "" && l.UUID != "" {
		t.agents[l.UUID] = l.Agent
	}
}

func (t *claudeReader) event(l claudeLine, name string) engine.Event {
	e := engine.Event{
		Harness: harness.ClaudeCode, Name: name, Phase: harness.PhaseOf(name), Session: cmp.Or(l.Session, t.out.Session),
		Agent: l.Agent, CWD: cmp.Or(l.CWD, t.cwd), Mode: t.mode, PromptID: t.prompt,
	}
	if at, err := time.Parse(time.RFC3339, l.Timestamp); err == nil {
		e.Time = at.UnixMilli()
	}
	return e
}

func (t *claudeReader) message(l claudeLine) error {
	var m claudeMessage
	if err := json.Unmarshal(orNull(l.Message), &m); err != nil {
		return fmt.Errorf("message: %w", err)
	}
	t.turn = m.ID
	var text string
	if json.Unmarshal(orNull(m.Content), &text) == nil {
		t.addPrompt(l, text)
		return nil
	}
	var blocks []claudeBlock
	if err := json.Unmarshal(orNull(m.Content), &blocks); err != nil {
		return fmt.Errorf("message: %w", err)
	}
	return t.blocks(l, blocks)
}

func (t *claudeReader) blocks(l claudeLine, blocks []claudeBlock) error {
	var texts []string
	var errs []error
	results := 0
	for _, b := range blocks {
		switch b.Type {
		case "tool_use":
			errs = append(errs, t.call(l, b))
		case "tool_result":
			results++
		case "text":
			texts = append(texts, b.Text)
		}
	}
	for _, b := range blocks {
		if b.Type == "tool_result" {
			errs = append(errs, t.result(l, b, results == 1))
		}
	}
	if results == 0 {
		t.addPrompt(l, strings.Join(texts, "\n"))
	}
	return errors.Join(errs...)
}

func (t *claudeReader) call(l claudeLine, b claudeBlock) error {
	if l.Type != "assistant" {
		return errors.New("tool_use in a line that is not the assistant's")
	}
	if b.ID == "" || b.Name == "" || len(b.Input) == 0 || b.Input[0] != '{' {
		return errors.New("tool_use without id, name or an object as its input")
	}
	if _, twice := t.calls[b.ID]; twice {
		return nil
	}
	e := t.event(l, harness.PreToolUse)
	e.Call, e.Tool, e.Args = b.ID, b.Name, b.Input
	t.calls[b.ID], t.batch[b.ID] = len(t.out.Events), t.turn
	t.out.Events = append(t.out.Events, e)
	if b.Name == "EndConversation" {
		t.out.Unasked[b.ID] = true
	}
	return nil
}

// inBatches moves each result after the last call of the message that made its
// call. batch names the messages by their calls.
func inBatches(events []engine.Event, batch map[string]string) []engine.Event {
	last := map[string]int{}
	for i := range events {
		if m := batch[events[i].Call]; m != "" && events[i].Phase == engine.PhasePre {
			last[m] = i
		}
	}
	held := map[string][]engine.Event{}
	out := make([]engine.Event, 0, len(events))
	for i, e := range events {
		m := batch[e.Call]
		if m != "" && i < last[m] && e.Phase == engine.PhasePost {
			held[m] = append(held[m], e)
			continue
		}
		if out = append(out, e); m != "" && i == last[m] {
			out = append(out, held[m]...)
		}
	}
	return out
}

// result pairs a result with its call. only: the line has no other result, so the
// client's notes next to the message are about this one.
func (t *claudeReader) result(l claudeLine, b claudeBlock, only bool) error {
	i, known := t.calls[b.Call]
	if !known {
		return fmt.Errorf("result of the call %q, which is not in the transcript", b.Call)
	}
	if _, twice := t.done[b.Call]; twice {
		return nil
	}
	name := harness.PostToolUse
	if b.IsError {
		name = harness.PostToolUseFailure
	}
	pre := t.out.Events[i]
	e := t.event(l, name)
	e.Agent, e.Call, e.Tool, e.Args = pre.Agent, pre.Call, pre.Tool, pre.Args
	if !only {
		l.Result, l.Denial = nil, ""
	}
	e.Result = claudeResult(l, b)
	t.done[b.Call] = len(t.out.Events)
	t.out.Events = append(t.out.Events, e)
	if strings.HasPrefix(e.Result.Error, "<tool_use_error>") {
		t.out.Unasked[b.Call] = true
	}
	return nil
}

func claudeResult(l claudeLine, b claudeBlock) *engine.Result {
	r := &engine.Result{Failed: b.IsError}
	var side struct {
		Interrupted bool    `json:"interrupted"`
		Duration    float64 `json:"durationMs"`
	}
	if len(l.Result) > 0 && l.Result[0] == '{' && json.Unmarshal(l.Result, &side) == nil {
		r.Interrupted, r.DurationMS = side.Interrupted, int64(max(0, min(side.Duration, 1<<53-1)))
	}
	if !b.IsError {
		r.Output = b.Content
		if len(l.Result) > 0 && l.Result[0] != '"' {
			r.Output = l.Result
		}
		return r
	}
	r.Error = blockText(b.Content)
	r.Interrupted = r.Interrupted || strings.HasPrefix(r.Error, "[Request interrupted by user")
	r.Refused = l.Denial != "" || isRefusal(r.Error)
	return r
}

// isRefusal recognises, by the client's own words, a call that did not run. Newer
// clients also mark it outside the text. Anything else counts as a call that ran and
// failed.
func isRefusal(text string) bool {
	for _, start := range []string{
		"PreToolUse:", "Hook PreToolUse:",
		"The user doesn't want to proceed with this tool use", "The user doesn't want to take this action",
		"Permission to use ", "Permission for this ", "Claude requested permissions to ", "This command requires approval",
	} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// blockText is the text of a result's content: a string, or blocks of text.
func blockText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(orNull(raw), &text) == nil {
		return text
	}
	var blocks []claudeBlock
	if json.Unmarshal(orNull(raw), &blocks) != nil {
		return string(raw)
	}
	var texts []string
	for _, b := range blocks {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "\n")
}

// progress contains the calls of sub-agents in the form of older clients.
func (t *claudeReader) progress(l claudeLine) error {
	var data struct {
		Type    string     `json:"type"`
		Agent   string     `json:"agentId"`
		Message claudeLine `json:"message"`
	}
	if err := json.Unmarshal(orNull(l.Data), &data); err != nil || data.Type != "agent_progress" {
		return nil // other progress has other shapes and contains no call
	}
	inner := data.Message
	inner.Session, inner.CWD, inner.Sidechain = l.Session, l.CWD, true
	inner.Agent = cmp.Or(data.Agent, l.UUID)
	inner.Timestamp = cmp.Or(inner.Timestamp, l.Timestamp)
	if inner.Type != "assistant" && inner.Type != "user" {
		return nil
	}
	return t.message(inner)
}

// attachment reads the record of a hook that refused a call, in versions whose result
// is only the hook's reason.
func (t *claudeReader) attachment(l claudeLine) error {
	var a struct {
		Type  string `json:"type"`
		Event string `json:"hookEvent"`
		Call  string `json:"toolUseID"`
	}
	if json.Unmarshal(orNull(l.Attachment), &a) == nil && a.Type == "hook_blocking_error" && a.Event == harness.PreToolUse {
		t.refused[a.Call] = true
	}
	return nil
}

// end applies notes that appear before or after the results that they are about.
func (t *claudeReader) end() Transcript {
	t.markRefused()
	t.out.Events = inBatches(t.out.Events, t.batch)
	return t.out
}

func (t *claudeReader) markRefused() {
	for id := range t.refused {
		if i, ok := t.done[id]; ok && t.out.Events[i].Result.Failed {
			t.out.Events[i].Result.Refused = true
		}
	}
}

// addPrompt adds a prompt, where a line is one: text of a person to the main agent.
func (t *claudeReader) addPrompt(l claudeLine, text string) {
	if l.Type != "user" || l.Agent != "" || l.Meta || l.Summary || l.Hidden || len(l.Result) > 0 || !harness.FromPerson(l.Source) {
		return
	}
	text = typed(text)
	if text == "" || l.UUID != "" && t.prompts[l.UUID] {
		return
	}
	t.prompts[l.UUID] = true
	e := t.event(l, harness.UserPromptSubmit)
	e.Prompt = text
	t.out.Events = append(t.out.Events, e)
}

// typed returns what a person typed: the client wraps commands in tags, and
// writes notices of its own as if a person had.
func typed(text string) string {
	text = strings.TrimSpace(text)
	for _, notice := range []string{engine.RunMessage, "<local-command-", "<bash-", "<task-notification", "<system-reminder",
		"<teammate-message", "[Request interrupted by user"} {
		if strings.HasPrefix(text, notice) {
			return ""
		}
	}
	if strings.HasPrefix(text, "<command-") {
		return strings.TrimSpace(tagged(text, "command-name") + " " + tagged(text, "command-args"))
	}
	return text
}

func tagged(text, tag string) string {
	_, rest, found := strings.Cut(text, "<"+tag+">")
	inner, _, closed := strings.Cut(rest, "</"+tag+">")
	if !found || !closed {
		return ""
	}
	return inner
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// IsClaudeCode reports whether a file that begins with head was
// written by Claude Code. The last line of head may be cut off.
func IsClaudeCode(head []byte) bool {
	if bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("[")) {
		return false // an array of the lines' documents
	}
	for i, line := range bytes.Split(head, []byte("\n")) {
		if i < 50 && isClaudeLine(topLevel(line)) {
			return true
		}
	}
	return false
}

func isClaudeLine(keys map[string]string) bool {
	_, side := keys["isSidechain"]
	_, parent := keys["parentUuid"]
	if isQwenLine(keys) {
		return false
	}
	if side && parent {
		return true
	}
	_, session := keys["session_id"]
	_, uuid := keys["uuid"]
	switch keys["type"] {
	case "system", "assistant", "user", "result":
		return session && uuid
	case "summary":
		return keys["leafUuid"] != ""
	case "file-history-snapshot":
		return keys["messageId"] != ""
	}
	return false
}

// topLevel returns the keys of an object and the values that are strings, as
// far as the text goes.
func topLevel(line []byte) map[string]string {
	d := json.NewDecoder(bytes.NewReader(line))
	keys := map[string]string{}
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return keys
	}
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return keys
		}
		keys[key] = ""
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return keys
		}
		var text string
		if json.Unmarshal(value, &text) == nil {
			keys[key] = text
		}
	}
	return keys
}

// spokenInClaudeCode: a message has a line for each of its parts, and the usage so far in each.
func spokenInClaudeCode(line []byte) (string, int64, bool) {
	var l struct {
		Type    string `json:"type"`
		Message struct {
			ID    string `json:"id"`
			Usage struct {
				Output int64 `json:"output_tokens"`
			} `json:"usage"`
		} `json:"message"`
	}
	ok := json.Unmarshal(line, &l) == nil && l.Type == "assistant"
	return l.Message.ID, l.Message.Usage.Output, ok
}
