package scripted

import "fmt"

// fields is an object of a protocol.
type fields map[string]any

func with(base, more fields) fields {
	all := fields{}
	for _, part := range []fields{base, more} {
		for name, value := range part {
			all[name] = value
		}
	}
	return all
}

// Chat Completions of OpenAI.

func chatBase(t turn) fields {
	return fields{"id": fmt.Sprintf("chatcmpl-%d", t.n), "created": 1, "model": t.Model}
}

func chatCalls(t turn) (calls []fields, finish string) {
	finish = "stop"
	for i, c := range t.Calls {
		finish = "tool_calls"
		calls = append(calls, fields{"index": i, "id": t.call(i), "type": "function",
			"function": fields{"name": c.Tool, "arguments": c.arguments()}})
	}
	return calls, finish
}

func chatUsage() fields {
	return fields{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
}

func plainChat(t turn) any {
	calls, finish := chatCalls(t)
	message := fields{"role": "assistant", "content": t.Say}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return with(chatBase(t), fields{"object": "chat.completion", "usage": chatUsage(),
		"choices": []fields{{"index": 0, "message": message, "finish_reason": finish}}})
}

func streamChat(t turn) []event {
	calls, finish := chatCalls(t)
	chunk := func(delta fields, finish, usage any) event {
		return event{data: with(chatBase(t), fields{"object": "chat.completion.chunk", "usage": usage,
			"choices": []fields{{"index": 0, "delta": delta, "finish_reason": finish}}})}
	}
	events := []event{chunk(fields{"role": "assistant", "content": t.Say}, nil, nil)}
	if calls != nil {
		events = append(events, chunk(fields{"tool_calls": calls}, nil, nil))
	}
	return append(events, chunk(fields{}, finish, chatUsage()), event{data: "[DONE]"})
}

// Messages of Anthropic.

// messageTokens is what the model reports to have written per message: limits of tokens are reached after a few.
const messageTokens = 60

func plainMessage(t turn) any {
	content, stop := messageBlocks(t)
	return fields{"id": fmt.Sprintf("msg_%06d", t.n), "type": "message", "role": "assistant", "model": t.Model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": fields{"input_tokens": 900, "output_tokens": messageTokens}}
}

func messageBlocks(t turn) (content []fields, stop string) {
	content = []fields{} // not null
	stop = "end_turn"
	if t.Say != "" {
		content = append(content, fields{"type": "text", "text": t.Say})
	}
	for i, c := range t.Calls {
		stop = "tool_use"
		content = append(content, fields{"type": "tool_use", "id": t.callAs("toolu_%06d%02d", i), "name": c.Tool, "input": c.Input})
	}
	return content, stop
}

func streamMessage(t turn) []event {
	content, stop := messageBlocks(t)
	message := with(plainMessage(t).(fields), fields{"content": []any{}, "stop_reason": nil})
	events := []event{typed(fields{"type": "message_start", "message": message})}
	for i, block := range content {
		start, delta := fields{"type": "text", "text": ""}, fields{"type": "text_delta", "text": t.Say}
		if block["type"] == "tool_use" {
			start = with(block, fields{"input": fields{}})
			delta = fields{"type": "input_json_delta", "partial_json": argumentsOf(block["input"])}
		}
		events = append(events,
			typed(fields{"type": "content_block_start", "index": i, "content_block": start}),
			typed(fields{"type": "content_block_delta", "index": i, "delta": delta}),
			typed(fields{"type": "content_block_stop", "index": i}))
	}
	return append(events,
		typed(fields{"type": "message_delta", "delta": fields{"stop_reason": stop, "stop_sequence": nil},
			"usage": fields{"output_tokens": messageTokens}}),
		typed(fields{"type": "message_stop"}))
}

// typed is an event whose name is in its data too.
func typed(data fields) event { return event{name: data["type"].(string), data: data} }

// Gemini.

func plainGemini(t turn) any {
	parts := []fields{{"text": t.Say}}
	for i, c := range t.Calls {
		parts = append(parts, fields{"functionCall": fields{"id": t.call(i), "name": c.Tool, "args": c.Input}})
	}
	if !t.tools() && t.Config.MIME == "application/json" {
		parts = []fields{{"text": `{"reasoning":"short","model_choice":"flash","complexity_reasoning":"short",` +
			`"complexity_score":1,"next_speaker":"user"}`}}
	}
	return fields{"modelVersion": ModelName, "responseId": fmt.Sprintf("r%d", t.n),
		"candidates":    []fields{{"content": fields{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": fields{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}}
}

func streamGemini(t turn) []event { return []event{{data: plainGemini(t)}} }
