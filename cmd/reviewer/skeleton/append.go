package skeleton

import (
	"bytes"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Append appends rows (a YAML list that begins in the first column) to a file of rules
// or cases. Existing bytes stay unchanged: rows join a list that ends the file, and
// otherwise become a document of their own. If the file is not YAML, the result is not
// either.
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

// lastList reports whether the file's last document is a block list, and its
// indentation.
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
