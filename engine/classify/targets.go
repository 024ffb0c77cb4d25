package classify

import (
	"encoding/json"
	"strings"
)

// packageScripts runs the scripts of a package.json that the script itself has
// written, those that a subcommand of npm and its like would run.
func (c *call) packageScripts(sub arg, rest []arg) {
	text, ok := c.s.written(word("package.json"))
	if !ok {
		return
	}
	var file struct{ Scripts map[string]string }
	if err := json.Unmarshal([]byte(text.text), &file); err != nil {
		c.s.unseen(unknownArg(), "package.json")
		return
	}
	name := sub.text
	if sub.is("run", "run-script", "rum", "urn") && len(rest) > 0 {
		name = rest[0].text
	}
	names := []string{"pre" + name, name, "post" + name}
	if sub.is("install", "i", "ci", "add", "") {
		names = []string{"preinstall", "install", "postinstall", "prepare"}
	}
	for _, n := range names {
		if code := file.Scripts[n]; code != "" {
			c.child(func() outcome { return c.s.embed(text.with(code), "npm", false) })
		}
	}
}

// manual is man: a page, shown by a program that an option may name.
func manual(c *call) {
	for _, pager := range c.opts.all("-P", "--pager", "-H", "--html") {
		c.s.commandVariable(pager.text, pager)
	}
}

// deletesByBody tells whether a request's body is a GraphQL mutation that
// deletes something.
func deletesByBody(body arg) bool {
	var request struct{ Query string }
	if !strings.Contains(body.text, "mutation") || json.Unmarshal([]byte(body.text), &request) != nil {
		return false
	}
	return deletesByGraph(request.Query)
}
