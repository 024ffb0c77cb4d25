package harness

import (
	"strings"
	"testing"
)

// TestAskedBy: a question, its answer and a plan are read as the client reports them; answers in the arguments are not the person's.
func TestAskedBy(t *testing.T) {
	ask := `"tool_name":"AskUserQuestion","tool_use_id":"q","tool_input":{"questions":[{"question":"Push?","options":[{"label":"Yes","description":"and delete"},{"label":"No"}]}]ANSWERS}`
	read := func(event, rest string) (string, string) {
		e, err := DecodeClaudeCode(event, []byte(`{"hook_event_name":"`+event+`","session_id":"s",`+rest+`}`), "")
		if err != nil {
			t.Fatal(err)
		}
		if e.Asked == nil {
			return "", string(e.Args)
		}
		text := e.Asked.Plan
		for _, p := range e.Asked.Parts {
			text += p.Text + " " + strings.Join(p.Options, "|") + " " + p.Answer
		}
		return text, string(e.Args)
	}
	none, own := strings.Replace(ask, "ANSWERS", "", 1), strings.Replace(ask, "ANSWERS", `,"answers":{"Push?":"Yes"}`, 1)
	for name, c := range map[string]struct{ event, rest, want string }{
		"asked":                       {PreToolUse, none, "Push? Yes|No "},
		"asked with an answer":        {PreToolUse, own, "Push? Yes|No "},
		"answered":                    {PostToolUse, own + `,"tool_response":{"answers":{"Push?":"No"}}`, "Push? Yes|No No"},
		"answered in arguments only":  {PostToolUse, own + `,"tool_response":{}`, ""},
		"answered with something":     {PostToolUse, own + `,"tool_response":"Yes"`, ""},
		"failed":                      {PostToolUseFailure, own + `,"error":"no"`, ""},
		"of a sub-agent":              {PreToolUse, none + `,"agent_id":"a"`, ""},
		"another tool":                {PreToolUse, strings.Replace(none, "AskUserQuestion", "mcp__x__AskUserQuestion", 1), ""},
		"a plan":                      {PreToolUse, `"tool_name":"ExitPlanMode","tool_use_id":"q","tool_input":{"plan":"Push"}`, "Push"},
		"an approved plan":            {PostToolUse, `"tool_name":"ExitPlanMode","tool_use_id":"q","tool_input":{"plan":"Push"},"tool_response":{"plan":"Push"}`, "Push"},
		"a plan that was changed":     {PostToolUse, `"tool_name":"ExitPlanMode","tool_use_id":"q","tool_input":{"plan":"Push"},"tool_response":{"plan":"Rest"}`, ""},
		"a plan without what it said": {PostToolUse, `"tool_name":"ExitPlanMode","tool_use_id":"q","tool_input":{"plan":"Push"},"tool_response":"ok"`, ""},
	} {
		got, args := read(c.event, c.rest)
		if got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
		if strings.Contains(args, "answers") && !strings.Contains(c.rest, "mcp__") {
			t.Errorf("%s: the arguments contain answers: %s", name, args)
		}
	}
}
