package skeleton

import (
	"bytes"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Append puts rows (a YAML list that begins in the first column) behind what a
// file of rules or cases holds. What is there stays as it is, to the byte: rows
// join a list that ends the file, and are a document of their own behind
// anything else. Where the file is not YAML, what comes of it is none either.
func Append(file, rows []byte) []byte {
	if len(bytes.TrimSpace(file)) == 0 {
		return rows
	}
	indent, list := lastList(file)
	text := strings.TrimRight(string(file), "\n") + "\n\n"
	if !list {
		return []byte(text + "---\n" + string(rows))
	}
	return []byte(text + indented(string(rows), indent))
}

// lastList reports whether the file's last document is a list with a row a line,
// and by how much that is indented.
func lastList(file []byte) (indent int, list bool) {
	var last *yaml.Node
	for d := yaml.NewDecoder(bytes.NewReader(file)); ; {
		var doc yaml.Node
		err := d.Decode(&doc)
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, false
		}
		last = doc.Content[0]
	}
	if last == nil || last.Kind != yaml.SequenceNode || last.Style&yaml.FlowStyle != 0 || ended(file) {
		return 0, false
	}
	return last.Column - 1, true
}

// ended reports whether the last document is closed by a line of its own.
func ended(file []byte) bool {
	lines := strings.Split(strings.TrimRight(string(file), " \n"), "\n")
	return strings.HasPrefix(lines[len(lines)-1], "...")
}

func indented(text string, by int) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			lines[i] = strings.Repeat(" ", by) + line
		}
	}
	return strings.Join(lines, "")
}
