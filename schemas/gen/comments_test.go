package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A description begins with a capital letter, unless its first word is the name of a field, a
// value or a place.
func TestFirstWords(t *testing.T) {
	const source = `package p

type T struct {
	Lost     int    ` + "`json:\"lost,omitempty\"`" + ` // percentage of lines that the write removes
	Shrinks  bool   ` + "`json:\"shrinks\"`" + `        // lost is 90 or more
	Lines    []int  ` + "`json:\"lines\"`" + `          // lines of the file
	// lines are complete
	Complete bool   ` + "`json:\"complete\"`" + `
	What     string ` + "`json:\"what\"`" + `           // path
	Kind     string ` + "`json:\"kind\"`" + `           // what is forbidden
	State    string ` + "`json:\"state\"`" + `          // ran or failed; denied in transcripts
	Host     string ` + "`json:\"host\"`" + `           // host or service that receives it
	Path     string ` + "`json:\"path\"`" + `           // action.path, shortened
}
`
	tree, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	fields := tree.Decls[0].(*ast.GenDecl).Specs[0].(*ast.TypeSpec).Type.(*ast.StructType)
	want := map[string]string{
		"Lost": "Percentage of lines that the write removes.", "Shrinks": "lost is 90 or more.", "Lines": "Lines of the file.",
		"Complete": "lines are complete.", "What": "Path.", "Kind": "What is forbidden.", "State": "ran or failed; denied in transcripts.",
		"Host": "Host or service that receives it.", "Path": "action.path, shortened.",
	}
	if diff := cmp.Diff(want, fieldComments(fields)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
