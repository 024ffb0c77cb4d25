package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Conversation keeps the lines of a client's transcript that are the user's and
// the assistant's: prompts, tool calls and results. The client's own texts
// (its instructions, lists of tools and skills, shapes of requests) go, since
// they are others' work and no part of what happened; each line that stays
// names the nearest line that stays as its parent.
func Conversation(transcript []byte) ([]byte, error) {
	parents := map[string]string{} // of the lines that go
	var out bytes.Buffer
	for _, line := range bytes.Split(bytes.TrimSpace(transcript), []byte("\n")) {
		var head struct {
			Type   string  `json:"type"`
			UUID   string  `json:"uuid"`
			Parent *string `json:"parentUuid"`
		}
		if err := json.Unmarshal(line, &head); err != nil {
			return nil, fmt.Errorf("read transcript: %w", err)
		}
		if head.Type != "user" && head.Type != "assistant" {
			if head.UUID != "" && head.Parent != nil {
				parents[head.UUID] = *head.Parent
			}
			continue
		}
		if head.Parent != nil {
			line = bytes.Replace(line, quote(*head.Parent), quote(nearest(*head.Parent, parents)), 1)
		}
		out.Write(append(line, '\n'))
	}
	return out.Bytes(), nil
}

func quote(uuid string) []byte { return []byte(`"parentUuid":"` + uuid + `"`) }

func nearest(uuid string, parents map[string]string) string {
	for range len(parents) {
		parent, gone := parents[uuid]
		if !gone {
			break
		}
		uuid = parent
	}
	return uuid
}
