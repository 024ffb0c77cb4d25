package transcript

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// codexEnd returns the result of a call that ended.
func codexEnd(i codexItem) engine.Result {
	output := cmp.Or(i.Shown, strings.TrimSpace(i.Stdout+"\n"+i.Stderr))
	r := ended(output, "")
	switch {
	case i.Type == "mcp_tool_call_end":
		r = codexServerEnd(i.Result)
	case i.Type == "McpToolCall":
		r = codexServerItem(i)
	case i.Exit != nil && *i.Exit != 0:
		r = ended("", exitCode(strconv.Itoa(*i.Exit), output))
	case i.Success != nil && !*i.Success || i.Exit == nil && i.Status == "failed":
		r = ended("", cmp.Or(output, "failed"))
	}
	if i.Status == "declined" {
		r = ended("", cmp.Or(output, i.Status))
		r.Refused = true
	}
	r.DurationMS = codexDuration(i.Duration)
	return r
}

// exitCode words a failure as Claude Code does.
func exitCode(code, output string) string { return "Exit code " + code + "\n" + output }

func codexServerEnd(raw json.RawMessage) engine.Result {
	var result struct {
		OK *struct {
			Content json.RawMessage `json:"content"`
			Wrong   bool            `json:"isError"`
		} `json:"Ok"`
		Err json.RawMessage `json:"Err"`
	}
	switch err := json.Unmarshal(orNull(raw), &result); {
	case err != nil:
		return ended(string(raw), "")
	case result.OK == nil:
		return ended("", cmp.Or(contentText(result.Err), "failed"))
	case result.OK.Wrong:
		return ended("", cmp.Or(contentText(result.OK.Content), "failed"))
	}
	return engine.Result{Output: result.OK.Content}
}

// codexServerItem is the result in the item of a call of a server's tool.
func codexServerItem(i codexItem) engine.Result {
	var result struct {
		Content json.RawMessage `json:"content"`
		Wrong   bool            `json:"isError"`
	}
	var failed struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(orNull(i.Error), &failed) // without a message it is a failure, too
	err := json.Unmarshal(orNull(i.Result), &result)
	text := contentText(result.Content)
	if err != nil || result.Wrong || i.Status == "failed" {
		return ended("", cmp.Or(text, failed.Message, "failed"))
	}
	return ended(text, "")
}

func codexDuration(raw json.RawMessage) int64 {
	var d struct {
		Seconds float64 `json:"secs"`
		Nanos   float64 `json:"nanos"`
	}
	if json.Unmarshal(orNull(raw), &d) != nil {
		return 0
	}
	return int64(max(0, min(d.Seconds*1000+d.Nanos/1e6, 1<<53-1)))
}

// codexResult is a tool's result for the model: a string with a head of times
// and ids, JSON with an exit code, or parts.
func codexResult(i codexItem) engine.Result {
	text := contentText(i.Output)
	if i.Type == "tool_search_output" {
		return ended("", "")
	}
	var structured struct {
		Output   *string `json:"output"`
		Content  *string `json:"content"`
		Success  *bool   `json:"success"`
		Metadata struct {
			Exit     int     `json:"exit_code"`
			Duration float64 `json:"duration_seconds"`
		} `json:"metadata"`
	}
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &structured) == nil {
		switch {
		case structured.Output != nil:
			r := codexText(*structured.Output, strconv.Itoa(structured.Metadata.Exit))
			r.DurationMS = int64(max(0, min(structured.Metadata.Duration*1000, 1<<53-1)))
			return r
		case structured.Content != nil && structured.Success != nil && !*structured.Success:
			return codexText(*structured.Content, "1")
		case structured.Content != nil:
			return codexText(*structured.Content, "0")
		}
	}
	head, body, cut := strings.Cut(text, "\nOutput:\n") // times and ids, which differ every time
	if !cut {
		return codexText(text, "0")
	}
	return codexText(body, codexExit(head))
}

// codexExit returns the exit code in the head of a result. A command that is still
// running has none.
func codexExit(head string) string {
	if strings.HasPrefix(head, "Script failed") || strings.HasPrefix(head, "Script terminated") {
		return "1"
	}
	for line := range strings.Lines(head) {
		for _, start := range []string{"Process exited with code ", "Exit code: "} {
			if code, is := strings.CutPrefix(line, start); is {
				return strings.TrimSpace(code)
			}
		}
	}
	return "0"
}

func codexText(text, code string) engine.Result {
	if isCodexRefusal(text) {
		r := ended("", text)
		r.Refused = true
		return r
	}
	if text == "aborted" || strings.HasPrefix(text, "aborted by user") {
		r := ended("", text)
		r.Interrupted = true
		return r
	}
	if strings.HasPrefix(text, codexUnknown) {
		return ended("", text)
	}
	if code != "0" {
		return ended("", exitCode(code, text))
	}
	return ended(text, "")
}

// codexUnknown begins the result of a call of a tool that the client does not have. No
// hook is called for it.
const codexUnknown = "unsupported call: "

// isCodexRefusal recognises, by the client's own words, a call that did not
// run. Anything else counts as a call that ran.
func isCodexRefusal(text string) bool {
	for _, start := range []string{
		"exec command rejected by user", "patch rejected by user", "rejected by user", "user rejected ", "user cancelled MCP tool call",
		"Command blocked by PreToolUse hook", "Tool call blocked by PreToolUse hook", "approval policy is ", "patch rejected: ",
	} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return strings.HasPrefix(text, "exec_command failed") && strings.Contains(text, "Rejected(")
}
