//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// stockServer is a tool server of the agent (Model Context Protocol on standard
// input and output) with one tool, so that a call to such a tool can be
// recorded and reviewed.
func stockServer(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var req struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Version string `json:"protocolVersion"`
			} `json:"params"`
		}
		if err := json.Unmarshal(lines.Bytes(), &req); err != nil {
			return err
		}
		if req.ID == nil {
			continue // a notification
		}
		result := stockAnswer(req.Method, req.Params.Version)
		if _, err := fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", req.ID, result); err != nil {
			return err
		}
	}
	return lines.Err()
}

func stockAnswer(method, version string) string {
	switch method {
	case "initialize":
		return fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"stock","version":"1"}}`, version)
	case "tools/list":
		return `{"tools":[{"name":"count","description":"How many of a product are in stock",` +
			`"inputSchema":{"type":"object","properties":{"product":{"type":"string"}}}}]}`
	case "tools/call":
		return `{"content":[{"type":"text","text":"12"}]}`
	}
	return `{}`
}
