package operation

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/languages"
)

// PathVerb reports whether a segment of a path means that something ends: /_delete_by_query,
// /doDelete, /cache/purge, /keys:delete.
func PathVerb(w *Words, address string) (verb, object string) {
	path := URLPath(address)
	segments := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == ':' })
	for i, s := range segments {
		if v, noun := w.Ending(s); v != "" && v != "reset" && v != "clear" { // resetting a password or cancelling an order is routine
			if noun == "" && i > 0 {
				noun = Singular(segments[i-1])
			}
			return v, PlainNoun(noun)
		}
	}
	return "", ""
}

// WholePath reports whether a path refers to everything: /_all, /*.
func WholePath(address string) bool {
	segments := strings.Split(strings.TrimSuffix(URLPath(address), "/"), "/")
	return slices.Contains([]string{"_all", "*", "all", "%2A"}, segments[len(segments)-1])
}

// BodyVerb returns what the body of a request does: a GraphQL mutation, a JSON-RPC method,
// or an action that a member names.
func BodyVerb(w *Words, text string) (verb, object string) {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "mutation") {
		return graphVerb(w, trimmed)
	}
	if strings.HasPrefix(trimmed, "<delete") {
		return "delete", ""
	}
	if !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, "[") {
		return "", ""
	}
	d := json.NewDecoder(strings.NewReader(trimmed))
	for n := 0; n < maxBodyValues; n++ { // several values, one per line: the bulk form of search engines
		var v any
		if d.Decode(&v) != nil {
			if n == 0 {
				return graphVerb(w, trimmed) // not all of it is known
			}
			return "", ""
		}
		if verb, object := valueVerb(w, v, 0); verb != "" {
			return verb, object
		}
	}
	return "", ""
}

// maxBodyValues limits the values of a body in the bulk format.
const maxBodyValues = 1000

func valueVerb(w *Words, v any, depth int) (verb, object string) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if verb, object = memberVerb(w, key, v[key]); verb == "" && depth < 4 {
				verb, object = valueVerb(w, v[key], depth+1)
			}
			if verb != "" {
				return verb, object
			}
		}
	case []any:
		for _, item := range v {
			if verb, object = valueVerb(w, item, depth+1); verb != "" {
				return verb, object
			}
		}
	}
	return "", ""
}

func memberVerb(w *Words, key string, v any) (verb, object string) {
	text, isText := v.(string)
	_, isMap := v.(map[string]any)
	switch lower := strings.ToLower(key); {
	case lower == "query" && isText:
		return graphVerb(w, text)
	case isText && (lower == "method" || lower == "action" || lower == "operation" || lower == "command"):
		return w.Ending(text)
	case isMap && (lower == "delete" || lower == "remove_index"):
		return "delete", ""
	}
	return "", ""
}

// graphVerb returns what a GraphQL text ends. Only mutations change anything, and the names
// of their fields show what they do: volumeDelete, deleteRef.
func graphVerb(w *Words, text string) (verb, object string) {
	if fields := Mutations(text); len(fields) > 0 {
		for _, field := range fields {
			if verb, object := w.Ending(field); verb != "" {
				return verb, object
			}
		}
		return "", ""
	}
	mutation := false // not all of the text is known
	tokens := languages.Tokenize(text, languages.SyntaxNode)
	for i, t := range tokens {
		if t.Kind != languages.TokenName {
			continue
		}
		if t.Text == "mutation" {
			mutation = true
			continue
		}
		alias := i+1 < len(tokens) && tokens[i+1].Text == ":" // a: deleteRef, or an argument
		argument := i > 0 && (tokens[i-1].Text == "$" || tokens[i-1].Text == ":" && !inSelection(tokens[:i]))
		if !mutation || alias || argument {
			continue
		}
		if verb, object := w.Ending(t.Text); verb != "" {
			return verb, object
		}
	}
	return "", ""
}

// inSelection reports whether the innermost open bracket is a brace.
func inSelection(tokens []languages.Token) bool {
	depth := 0
	for i := len(tokens) - 1; i >= 0; i-- {
		switch tokens[i].Text {
		case ")", "}", "]":
			depth++
		case "(", "{", "[":
			if depth == 0 {
				return tokens[i].Text == "{"
			}
			depth--
		}
	}
	return true
}
