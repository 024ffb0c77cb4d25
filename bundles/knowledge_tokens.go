package bundles

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// token checks what secrets of a kind look like.
func (c *rowCheck) token(names string, row rows.Token, n *yaml.Node) {
	for _, name := range strings.Fields(names) {
		if !rows.TokenKind(name) {
			c.p.wrong(n, "%q: a kind of secret is 2 to 30 small letters, digits and _", name)
		}
	}
	if len(row.Forms)+len(row.Inside) == 0 && row.Go == "" {
		c.p.wrong(n, "%s: a token needs forms, such as shop_live_ alnum 24", names)
	}
	nodes := RowValues(n)
	c.forms(nodes["forms"], row.Forms, rows.ParseForm)
	c.forms(nodes["inside"], row.Inside, rows.ParseInside)
	if c.adds && (len(row.Inside) > 0 || row.Go != "") {
		c.p.wrong(n, "%s: a token of the %s layer has forms only, which begin in their own way", names, c.layer)
	}
	c.words(nodes["go"], row.Go, rows.TokenFunctions(), "a function that finds tokens")
	if e := nodes["examples"]; e != nil && row.Examples != nil {
		c.specimens(RowValues(e)["match"], row.Examples.Match)
		c.specimens(RowValues(e)["no_match"], row.Examples.NoMatch)
	}
}

func (c *rowCheck) specimens(n *yaml.Node, texts []string) {
	for i, text := range texts {
		if _, err := rows.Specimen(text); err != nil {
			c.p.wrong(n.Content[i], "%v", err)
		}
	}
}

// forms refuses forms that cannot be read, that stand there twice, and in a
// layer that only adds those that could hide something.
func (c *rowCheck) forms(n *yaml.Node, forms []string, parse func(string) (rows.Form, error)) {
	for i, text := range forms {
		form, err := parse(text)
		if err == nil && c.adds {
			err = form.Narrow()
		}
		if err != nil {
			c.p.wrong(n.Content[i], "%v", err)
		}
		for _, earlier := range forms[:i] {
			if strings.Join(strings.Fields(earlier), " ") == strings.Join(strings.Fields(text), " ") {
				c.p.wrong(n.Content[i], "%s is given twice", text)
			}
		}
	}
}
