package operation

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/languages"
)

// IsGraph reports whether a text is a document of GraphQL with a mutation.
func IsGraph(text string) bool { return len(Mutations(text)) > 0 }

// Mutations returns the names of the fields that the mutations of a GraphQL document call:
// volumeDelete, deleteRef. Fields of their results, arguments and aliases are left out.
func Mutations(text string) []string {
	if !strings.Contains(text, "mutation") && !strings.Contains(text, "Mutation") {
		return nil
	}
	var fields []string
	mutation, braces, brackets := false, 0, 0
	tokens := languages.Tokenize(graphComments(text), languages.SyntaxNode)
	for i, t := range tokens {
		switch t.Text {
		case "{":
			braces++
			continue
		case "}":
			if braces--; braces <= 0 {
				mutation, braces = false, 0
			}
			continue
		case "(", "[":
			brackets++
			continue
		case ")", "]":
			brackets = max(brackets-1, 0)
			continue
		}
		if t.Kind != languages.TokenName || brackets > 0 {
			continue
		}
		switch before, after := textAt(tokens, i-1), textAt(tokens, i+1); {
		case braces == 0 && t.Text == "mutation":
			mutation = true
		case braces == 0 && t.Text == "Mutation" && before == "on": // a fragment
			mutation = true
		case mutation && braces == 1 && after != ":" && before != "@" && !strings.HasSuffix(before, "..."):
			fields = append(fields, t.Text)
		}
	}
	return fields
}

func textAt(tokens []languages.Token, i int) string {
	if i < 0 || i >= len(tokens) {
		return ""
	}
	return tokens[i].Text
}

// graphComments removes comments, which begin with # outside of strings.
func graphComments(text string) string {
	if !strings.Contains(text, "#") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		quoted := false
		for k := range len(line) {
			if line[k] == '"' {
				quoted = !quoted
			}
			if line[k] == '#' && !quoted {
				lines[i] = line[:k]
				break
			}
		}
	}
	return strings.Join(lines, "\n")
}
