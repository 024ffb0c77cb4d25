package bundles

import (
	"bytes"
	"io"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Tidy returns a YAML file without invisible characters: spaces at the ends of
// lines, carriage returns, more than one empty line, and empty lines at its
// start and end. Everything else is unchanged, comments included. A file whose meaning would change
// is an error, and so is one that is not YAML.
func Tidy(name string, src []byte) ([]byte, error) {
	before, err := contents(name, src)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n")), []byte("\r")) {
		return nil, inFile(name).wrong("was left unchanged: it has carriage returns within lines; end lines with a line feed")
	}
	out := tidied(src, before.texts)
	after, err := contents(name, out)
	if err != nil || !reflect.DeepEqual(before.values, after.values) || !reflect.DeepEqual(before.comments, after.comments) {
		return nil, inFile(name).wrong("was left unchanged: removing spaces at the ends of its lines would change its meaning")
	}
	return out, nil
}

// content is the meaning of a YAML file.
type content struct {
	values   []any
	comments []string
	texts    map[int]bool // lines of multi-line texts, whose spaces matter
}

func contents(name string, src []byte) (content, error) {
	c := content{texts: map[int]bool{}}
	for d := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var doc yaml.Node
		err := d.Decode(&doc)
		if err == io.EOF {
			return c, nil
		}
		if err != nil {
			return c, syntaxError(name, src, err)
		}
		c.add(&doc)
	}
}

// add records a node: its values with their kinds, the comments around it, and the
// lines of its texts.
func (c *content) add(n *yaml.Node) {
	c.values = append(c.values, [4]any{n.Kind, n.Tag, n.Value, n.Anchor})
	for _, comment := range []string{n.HeadComment, n.LineComment, n.FootComment} {
		for line := range strings.Lines(comment) {
			if line = strings.TrimSpace(line); line != "" {
				c.comments = append(c.comments, line)
			}
		}
	}
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		for i := range strings.Count(n.Value, "\n") + 1 {
			c.texts[n.Line+1+i] = true
		}
	case n.Style&quoted != 0 && strings.ContainsAny(n.Value, "\n "):
		c.texts[n.Line] = true
	}
	for _, inner := range n.Content {
		c.add(inner)
	}
}

func tidied(src []byte, texts map[int]bool) []byte {
	var out []string
	for i, line := range strings.Split(string(src), "\n") {
		if line = strings.TrimSuffix(line, "\r"); !texts[i+1] {
			line = strings.TrimRight(line, " \t\r")
		}
		empty := line == "" && (len(out) == 0 || out[len(out)-1] == "")
		if !empty || texts[i+1] {
			out = append(out, line)
		}
	}
	return []byte(strings.TrimRight(strings.Join(out, "\n"), "\n") + "\n")
}
