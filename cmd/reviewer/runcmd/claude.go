package runcmd

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// claudeStreams reports whether a command of Claude Code reads documents from its standard input: its control protocol.
func claudeStreams(command []string) bool {
	const flag, value = "--input-format", "stream-json"
	for i, word := range command {
		if word == flag+"="+value || i > 0 && command[i-1] == flag && word == value {
			return true
		}
	}
	return false
}

// claudeInterrupt is a request of the control protocol.
func claudeInterrupt() []byte {
	return []byte(`{"type":"control_request","request_id":"reviewer-stop","request":{"subtype":"interrupt"}}`)
}

// claudeMessage is a message that the client marks as not from a person. It begins a turn of the model only if it is asked
// to: the client adds others to the turn at hand, or to the next one.
func claudeMessage(text string, turn bool) []byte {
	message := map[string]any{"type": "user", "isSynthetic": true, "priority": "next", "message": map[string]any{
		"role": "user", "content": []map[string]string{{"type": "text", "text": text}}}}
	if !turn {
		message["shouldQuery"] = false
	}
	return encoded(message)
}

// claudeRewind asks the client to forget a message of the conversation and what came after it.
func claudeRewind(id string, to target) []byte {
	request := map[string]any{"subtype": "rewind_conversation", "target_message_uuid": to.message, "interrupt_if_running": true}
	if to.prompt == 0 {
		request["allow_assistant_target"] = true
	}
	return encoded(map[string]any{"type": "control_request", "request_id": id, "request": request})
}

func encoded(document map[string]any) []byte {
	raw, _ := json.Marshal(document) // strings can be encoded
	return raw
}

// claudeRewound reads the answer to such a request.
func claudeRewound(raw json.RawMessage) rewound {
	var answer struct {
		Subtype  string `json:"subtype"`
		Error    string `json:"error"`
		Response struct {
			Rewound bool   `json:"rewound"`
			Prefill string `json:"prefillText"`
			Error   string `json:"error"`
		} `json:"response"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return rewound{why: err.Error()}
	}
	r := answer.Response
	return rewound{r.Rewound, r.Prefill, cmp.Or(r.Error, answer.Error, answer.Subtype)}
}

// claudeTranscript returns a pattern of the transcript of a session.
func claudeTranscript(home, session string) string {
	return filepath.Join(folderOr("CLAUDE_CONFIG_DIR", home, ".claude"), "projects", "*", session+".jsonl")
}

// entry is a line of a transcript, reduced to its place in the conversation.
type entry struct {
	Type    string `json:"type"`
	UUID    string `json:"uuid"`
	Parent  string `json:"parentUuid"`
	Side    bool   `json:"isSidechain"`
	Message struct {
		ID      string          `json:"id"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// claudeTarget finds the message to forget so that a call was never made: the model's message that made it or, if it is the
// first one after a prompt, the prompt. The client has messages of the model written in several lines, of which it accepts
// the first.
func claudeTarget(from io.Reader, call string) (to target, found bool) {
	entries, first := map[string]entry{}, map[string]entry{}
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadBytes('\n')
		var e entry
		if json.Unmarshal(line, &e) == nil && e.UUID != "" && !e.Side {
			entries[e.UUID] = e
			if _, known := first[e.Message.ID]; e.Type == "assistant" && !known {
				first[e.Message.ID] = e
			}
			if e.Type == "assistant" && strings.Contains(string(e.Message.Content), `"id":`+strconv.Quote(call)) {
				to, found = before(entries, first[e.Message.ID]), true
			}
		}
		if err != nil {
			return to, found && to.message != ""
		}
	}
}

// before follows the conversation back from a message of the model to what it answers.
func before(entries map[string]entry, message entry) target {
	at := entries[message.Parent]
	for range len(entries) {
		switch {
		case at.Type == "user" && strings.Contains(string(at.Message.Content), `"type":"tool_result"`):
			return target{message: message.UUID}
		case at.Type == "user":
			return target{message: at.UUID, prompt: len(at.Message.Content)}
		}
		at = entries[at.Parent]
	}
	return target{}
}
