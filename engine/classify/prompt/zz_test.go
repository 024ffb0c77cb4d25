package prompt

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

func TestZZ(t *testing.T) {
	raw, _ := os.ReadFile("/tmp/w/sw/zz.txt")
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		r := statementReader{lexicon: lexiconOf(classifytest.Rows(), true)}
		g := newVocabulary(classifytest.Rows())
		for _, s := range g.sentences(line) {
			words, _ := r.negatedLists(r.contracted(s))
			for _, k := range r.tokens(words) {
				var parts, lists []string
				if k.entry != nil {
					for _, p := range k.parts {
						parts = append(parts, p.act+"."+p.name)
					}
					lists = k.lists
				}
				fmt.Printf("   %q %v %v\n", k.text, parts, lists)
			}
		}
		fmt.Println(line, "=>", renderStatements(statementsOf(line)))
	}
}
