package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/marks"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
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

// maxShownFiles limits the files of a call whose new text is judged at once.
const maxShownFiles = 2

// fewFiles reports whether texts go into no more files than are judged at once.
func fewFiles(list []writing) bool {
	files := map[string]bool{}
	for _, w := range list {
		files[w.path] = true
	}
	return len(files) <= maxShownFiles
}

// markShown marks the writes of which the call contains the whole text. A file that several commands of a call write is
// not among them: which of them wrote what is not known.
func markShown(a *engine.Action, r *toolReader, res *place.Resolver) {
	writes := map[string]int{}
	for i := range a.Effects {
		if e := &a.Effects[i]; e.Kind == engine.EffectFileWrite && e.Host == "" {
			writes[e.Target]++
		}
	}
	known, writings := map[string]bool{}, r.writings()
	if !fewFiles(writings) {
		return
	}
	for _, w := range writings {
		if p, ok := res.Named(w.path, r.in.Cwd.Text); ok && r.in.Cwd.Sure == abstract.Literal {
			said, seen := known[p]
			known[p] = (said || !seen) && !strings.ContainsAny(w.text, abstract.Holes)
		}
	}
	for i := range a.Effects {
		e := &a.Effects[i]
		exact := e.Kind == engine.EffectFileWrite && e.Certainty == engine.CertaintyExact && e.Host == ""
		e.Shown = exact && known[e.Target] && writes[e.Target] == 1
	}
}
