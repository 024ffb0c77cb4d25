package harness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// author is how the documents of an agent say who wrote a prompt. The zero value: they do not say it.
type author struct {
	key     string // of the document; empty: there is none
	typed   string // its values if a person typed the prompt, separated by spaces
	unknown string // its values if the prompt came with the command line or through an SDK, from whomever; any other: nobody typed it

	line string // key of the line that was submitted, where the client makes the prompt of it; empty: there is none
}

// keys lists the names that the documents have.
func (a author) keys() []string {
	return slices.DeleteFunc([]string{a.key, a.line}, func(name string) bool { return name == "" })
}

// claudeAuthor is what Claude Code declares in the schema of its hooks. Version 2.1.332 does not write it yet, so most prompts
// say nothing.
func claudeAuthor() author { return author{key: "source", typed: "user", unknown: "sdk"} }

// read completes an event with what its document says about the author of its prompt.
func (a author) read(d document, e *engine.Event) error {
	if a.line != "" {
		if err := d.set(&e.Prompt, a.line); err != nil {
			return err
		}
	}
	if a.key != "" && e.Agent != "" {
		e.Phase, e.Unverified = engine.PhaseOther, "nobody typed this prompt: it is for a sub-agent"
		return nil
	}
	if a.key == "" || !d.has(a.key) {
		return nil
	}
	var value string
	_ = d.set(&value, a.key) // of another type: nobody knows it
	typed, person := a.judge(value)
	if e.Typed = typed; !person {
		e.Phase, e.Unverified = engine.PhaseOther, fmt.Sprintf("nobody typed this prompt, as its %s shows", a.key)
	}
	return nil
}

// judge reports whether a value means that a person typed the prompt, and whether a person can have written it at all.
func (a author) judge(value string) (typed, person bool) {
	has := func(list string) bool { return value != "" && strings.Contains(" "+list+" ", " "+value+" ") }
	return has(a.typed), has(a.typed) || has(a.unknown)
}

// FromPerson reports whether a prompt of Claude Code can be a person's, by the value of its source. Empty: it says nothing.
func FromPerson(source string) bool {
	_, person := claudeAuthor().judge(source)
	return source == "" || person
}
