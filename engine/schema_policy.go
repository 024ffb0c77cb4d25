package engine

import "slices"

// Vocabulary is the vocabulary of one policy, in addition to the words that all
// policies share.
type Vocabulary struct {
	Windows   []string // names of history's windows
	Findings  []string // ids of conditions and access rules: the values of input.findings
	Detectors []string // ids of detectors: the keys of action.detected

	// Subcommand reports whether the first word after a known program is in the
	// command's sub, and so not in its operands; nil: programs are not known.
	Subcommand func(program, word string) bool
	// Misspelt returns the known program whose name is nearly a word that names no known program; empty:
	// there is none. nil: programs are not known.
	Misspelt func(word string) string
}

// PolicySchema returns the JSON Schema of the document that a policy's Rego
// sees: Input, with the findings, and with the policy's own words as closed
// sets. Unknown windows, findings and detectors are not properties.
func PolicySchema(v Vocabulary) map[string]any {
	root := Schema(Input{}, "Input of this policy")
	defs := root["definitions"].(map[string]any)
	close := func(def, field string, keys []string) {
		schema := defs[def].(map[string]any)["properties"].(map[string]any)[field].(map[string]any)
		schema["properties"] = each(keys, schema["additionalProperties"])
		schema["additionalProperties"] = false
	}
	close("historyFacts", "windows", v.Windows)
	close("historyFacts", "fired", v.Findings)
	close("sessionFacts", "written", append(Locations(), LocationNamed))
	close("action", "detected", v.Detectors)
	close("sessionFacts", "counts_by_type", Types())
	close("windowFacts", "by_type", Types())
	properties := root["properties"].(map[string]any)
	properties["findings"] = map[string]any{"type": "array", "items": map[string]any{"type": "string", "enum": sorted(v.Findings)}}
	properties["finding"] = map[string]any{
		"type": "object", "additionalProperties": false, "properties": each(v.Findings, map[string]any{
			"type": "object", "additionalProperties": false, "properties": map[string]any{
				"level":      map[string]any{"type": "string"},
				"measure":    map[string]any{"type": "number"},
				"failed":     map[string]any{"type": "boolean"},
				"confidence": map[string]any{"type": "number"},
				"details":    map[string]any{"type": "string"},
			},
		}),
	}
	root["required"] = append(root["required"].([]string), "findings", "finding")
	return root
}

func each(keys []string, value any) map[string]any {
	all := map[string]any{}
	for _, k := range keys {
		all[k] = value
	}
	return all
}

// sorted returns each word once. It turns nil into an empty list, because a
// missing enum would allow everything.
func sorted(list []string) []string {
	return slices.Compact(append([]string{}, slices.Sorted(slices.Values(list))...))
}
