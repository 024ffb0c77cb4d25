package cli

import "github.com/agent-reviewer/reviewer/engine"

// Document is the output of a command with -f json.
type Document struct {
	Command string // such as "audit verify"
	Title   string
	Of      any    // a value of its type
	List    string // the document has this one field, a list of Of; empty: Of is the document
}

// Schema returns the JSON Schema of a document.
func (d Document) Schema() ([]byte, error) {
	title := "reviewer " + d.Command + ": " + d.Title
	if d.List != "" {
		return engine.DocumentSchemaJSON(engine.ListDocument(d.List, d.Of), title)
	}
	return engine.DocumentSchemaJSON(d.Of, title)
}
