package prompt

import (
	"slices"
	"strings"
)

// A paragraph of more lines or bytes than these is not taken for what a person wrote in this prompt.
const (
	maxOwnLines = 10
	maxOwnBytes = 1500
)

// ownStatements splits a prompt, of which quotations are left out already, into what the person
// certainly wrote, and what they may have handed over: what follows a line that announces a text, such
// as a heading, and long paragraphs. The second may forbid something, and never permits it.
func (g *vocabulary) ownStatements(own string) (typed, handed string) {
	var first, second strings.Builder
	over := false
	for _, block := range paragraphs(own) {
		long := len(block) > maxOwnLines || len(strings.Join(block, "\n")) > maxOwnBytes
		for _, line := range block {
			bare := strings.TrimSpace(line)
			over = over || strings.HasPrefix(bare, "#") && strings.HasPrefix(strings.TrimLeft(bare, "#"), " ")
			if b := &first; over || long || strings.HasPrefix(bare, "- [") || changed(bare) {
				second.WriteString(line + "\n")
			} else {
				b.WriteString(line + "\n")
			}
			over = over || slices.ContainsFunc(g.list("hands_over"), func(end string) bool { return strings.HasSuffix(bare, end) })
		}
		first.WriteByte('\n')
		second.WriteByte('\n')
	}
	return first.String(), second.String()
}

// paragraphs returns the lines of each paragraph.
func paragraphs(text string) [][]string {
	var list [][]string
	var block []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\n"); strings.TrimSpace(line) != "" {
			block = append(block, line)
			continue
		}
		if len(block) > 0 {
			list, block = append(list, block), nil
		}
	}
	if len(block) > 0 {
		list = append(list, block)
	}
	return list
}

// changed reports whether a line looks like one of a diff.
func changed(line string) bool {
	return len(line) > 1 && (line[0] == '+' || line[0] == '-') && line[1] > ' '
}
