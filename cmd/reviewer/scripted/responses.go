package scripted

import "fmt"

// Responses of OpenAI.

func plainResponse(t turn) any {
	return with(responseBase(t), fields{"status": "completed", "output": responseItems(t), "usage": fields{
		"input_tokens": 10, "input_tokens_details": fields{"cached_tokens": 0},
		"output_tokens": 5, "output_tokens_details": fields{"reasoning_tokens": 0}, "total_tokens": 15}})
}

func responseBase(t turn) fields {
	return fields{"id": fmt.Sprintf("resp_%d", t.n), "object": "response", "created_at": 1, "model": t.Model, "tools": []any{},
		"parallel_tool_calls": true, "tool_choice": "auto", "error": nil, "incomplete_details": nil, "instructions": nil, "metadata": fields{}}
}

func responseItems(t turn) []fields {
	items := []fields{{"type": "message", "id": fmt.Sprintf("msg_%d", t.n), "role": "assistant", "status": "completed",
		"content": []fields{{"type": "output_text", "text": t.Say, "annotations": []any{}}}}}
	for i, c := range t.Calls {
		item := fields{"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", t.n, i), "call_id": t.call(i),
			"status": "completed", "name": c.Tool}
		if c.Custom {
			item["type"], item["input"] = "custom_tool_call", c.Input
		} else {
			item["arguments"] = c.arguments()
		}
		if c.Namespace != "" {
			item["namespace"] = c.Namespace
		}
		items = append(items, item)
	}
	return items
}

func streamResponse(t turn) []event {
	var events []event
	add := func(kind string, more fields) {
		events = append(events, typed(with(fields{"type": "response." + kind, "sequence_number": len(events)}, more)))
	}
	add("created", fields{"response": with(responseBase(t), fields{"status": "in_progress", "output": []any{}, "usage": nil})})
	for i, item := range responseItems(t) {
		at := fields{"output_index": i, "item_id": item["id"]}
		add("output_item.added", fields{"output_index": i, "item": begun(item)})
		for _, part := range responseDeltas(item) {
			add(part.name, with(at, part.data.(fields)))
		}
		add("output_item.done", fields{"output_index": i, "item": item})
	}
	add("completed", fields{"response": plainResponse(t)})
	return events
}

// begun is an item before any of its contents has arrived.
func begun(item fields) fields {
	empty := map[string]any{"message": []any{}, "function_call": "", "custom_tool_call": ""}
	return with(item, fields{"status": "in_progress", contentOf(item): empty[item["type"].(string)]})
}

// contentOf is the name of the field with an item's content.
func contentOf(item fields) string {
	return map[string]string{"message": "content", "function_call": "arguments", "custom_tool_call": "input"}[item["type"].(string)]
}

func responseDeltas(item fields) []event {
	switch content := item[contentOf(item)]; item["type"] {
	case "function_call":
		return []event{
			{"function_call_arguments.delta", fields{"delta": content}},
			{"function_call_arguments.done", fields{"arguments": content, "name": item["name"]}},
		}
	case "custom_tool_call":
		return []event{{"custom_tool_call_input.delta", fields{"delta": content}}, {"custom_tool_call_input.done", fields{"input": content}}}
	default:
		part := content.([]fields)[0]
		return []event{
			{"content_part.added", fields{"content_index": 0, "part": with(part, fields{"text": ""})}},
			{"output_text.delta", fields{"content_index": 0, "delta": part["text"], "logprobs": []any{}}},
			{"output_text.done", fields{"content_index": 0, "text": part["text"], "logprobs": []any{}}},
			{"content_part.done", fields{"content_index": 0, "part": part}},
		}
	}
}
