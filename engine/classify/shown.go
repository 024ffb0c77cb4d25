package classify

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine/classify/marks"
	"mvdan.cc/sh/v3/syntax"
)

// showsSecret reports whether code prints an environment variable whose name indicates a
// secret: echo "$SHOP_TOKEN". Output that goes to another program or into a file is not shown,
// and variables that the code sets are not secrets of the environment.
func showsSecret(tree []*syntax.Stmt) bool {
	var shown []string
	set := map[string]bool{}
	for _, st := range tree {
		syntax.Walk(st, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Assign:
				if n.Name != nil {
					set[n.Name.Value] = true
				}
			case *syntax.Stmt:
				if call, ok := n.Cmd.(*syntax.CallExpr); ok && len(n.Redirs) == 0 {
					shown = append(shown, printed(call)...)
				}
			case *syntax.BinaryCmd:
				return n.Op != syntax.Pipe && n.Op != syntax.PipeAll
			case *syntax.CmdSubst, *syntax.ProcSubst:
				return false
			}
			return true
		})
	}
	return slices.ContainsFunc(shown, func(name string) bool { return !set[name] && marks.NamesSecret(name) })
}

// printed returns the variables whose whole values a command prints.
func printed(call *syntax.CallExpr) []string {
	if len(call.Args) < 2 || !slices.Contains([]string{"echo", "printf", "print"}, call.Args[0].Lit()) {
		return nil
	}
	var names []string
	for _, w := range call.Args[1:] {
		names = append(names, whole(w.Parts)...)
	}
	return names
}

// whole returns the variables of a word that are inserted unchanged: the value is not shown by
// ${A:0:4}, ${#A} and ${A:+set}.
func whole(parts []syntax.WordPart) []string {
	var names []string
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.DblQuoted:
			names = append(names, whole(p.Parts)...)
		case *syntax.ParamExp:
			if p.Param != nil && !p.Length && !p.Width && !p.Excl && p.Slice == nil && p.Repl == nil && p.Exp == nil {
				names = append(names, p.Param.Value)
			}
		}
	}
	return names
}
