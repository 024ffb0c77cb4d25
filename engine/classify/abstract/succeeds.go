package abstract

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"mvdan.cc/sh/v3/syntax"
)

// changingCommands change what a later command or its exit status means.
var changingCommands = []string{"trap", "hash", "alias", "enable", "source", ".", "eval", "exec", "set", "shopt", "builtin", "command"}

// passingOptions are the options of wrappers with which the wrapper waits for its command and ends with its status, and those
// whose value is the next word.
var (
	passingWrappers = []string{"sudo", "doas", "time", "env", "nice"}
	passingOptions  = []string{"-u", "-g", "-n", "-H", "-E", "-p", "--"}
	passingValues   = []string{"-u", "-g"}
)

// Succeeds reports whether code succeeds only if one of its commands does: the last statement is that command, or
// a chain of && with it. In a pipe, behind ||, in a loop or in the background the exit status shows nothing.
func Succeeds(s *Script, command int) bool {
	if command < 0 || command >= len(s.Commands) || command >= len(s.Origins) || len(s.Tree) == 0 {
		return false
	}
	c, node := &s.Commands[command], s.Origins[command].Node
	return node != nil && len(c.Via) == 0 && chained(s.Tree[len(s.Tree)-1], node) && passes(s, c, node) &&
		!slices.ContainsFunc(s.Tree, renames)
}

// renames reports whether code gives names of programs, or its exit status, another meaning.
func renames(st *syntax.Stmt) bool {
	found := false
	syntax.Walk(st, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			found = true
		case *syntax.CallExpr:
			found = found || len(n.Args) > 0 && slices.Contains(changingCommands, n.Args[0].Lit())
		case *syntax.Assign:
			found = found || n.Name != nil && changesPrograms(n.Name.Value)
		case *syntax.Word:
			name, _, assigned := strings.Cut(n.Lit(), "=")
			found = found || assigned && changesPrograms(name)
		}
		return !found
	})
	return found
}

func changesPrograms(variable string) bool {
	return variable == "PATH" || variable == "BASH_ENV" || strings.HasPrefix(variable, "LD_") || strings.HasPrefix(variable, "DYLD_")
}

// chained reports whether a statement succeeds only if a command does.
func chained(st *syntax.Stmt, node *syntax.CallExpr) bool {
	if st == nil || st.Background || st.Coprocess || st.Disown || st.Negated {
		return false
	}
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		return c == node
	case *syntax.BinaryCmd:
		return c.Op == syntax.AndStmt && (chained(c.X, node) || chained(c.Y, node))
	case *syntax.TimeClause:
		return chained(c.Stmt, node)
	}
	return false
}

// passes reports whether the words before a program wait for it and end with its exit status: wrappers with options that
// do not change that, or a container in which the program runs.
func passes(s *Script, c *engine.Command, node *syntax.CallExpr) bool {
	i := slices.IndexFunc(s.Commands, func(o engine.Command) bool { return len(o.Sub) > 0 && slices.Contains(c.Wrappers, o.Name) })
	for _, w := range c.Wrappers {
		if slices.Contains(passingWrappers, w) {
			continue
		}
		if i < 0 || s.Commands[i].Name != w || s.Origins[i].Node != node || s.Commands[i].Sub[len(s.Commands[i].Sub)-1] != "exec" ||
			s.Commands[i].Has("-d", "--detach", "-d*") {
			return false
		}
	}
	value := false
	for _, word := range node.Args {
		text := word.Lit()
		switch base := text[strings.LastIndexByte(text, '/')+1:]; {
		case value:
			value = false
		case base == c.Name || i >= 0 && base == s.Commands[i].Name:
			return base == text
		case slices.Contains(passingOptions, text):
			value = slices.Contains(passingValues, text)
		case !slices.Contains(passingWrappers, base) && !strings.Contains(text, "="):
			return false
		}
	}
	return false
}
