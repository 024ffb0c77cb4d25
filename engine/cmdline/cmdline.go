// Package cmdline compares the commands of shell code, as they are written, with
// patterns such as "git push --force*". A * stands for any text, and a pattern that
// ends in a space and a * also matches the command without further words: "ls *"
// matches ls and ls -la, but not lsof.
//
// Each command of a list, a pipeline or a subshell is compared by itself. Programs
// that only start another command (timeout, nohup, xargs without options) may be left
// out of a pattern.
//
// Out of scope: what a command does, and code within a string, such as that of sh -c.
package cmdline

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// Any reports whether some command of the code, without its redirections, matches one of
// the patterns, with or without the assignments before it. It examines command
// substitutions and the bodies of loops and functions, too. Code that does not parse is
// split at each operator, even within quotes. What the named programs do is not known: their arguments are compared too,
// from each word that may be the name of a program.
func Any(code string, patterns []string, unknown ...string) bool {
	if !slices.ContainsFunc(patterns, func(p string) bool { return strings.Contains(code, start(p)) }) {
		return false // without parsing
	}
	file, err := parse(code)
	if err != nil {
		return slices.ContainsFunc(pieces(code), func(text string) bool { return matches(unwrapped(strings.Fields(text)), patterns) })
	}
	found, timed := false, map[*syntax.Stmt][]string{}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.TimeClause:
			if first := n.Stmt; first != nil {
				for b, ok := first.Cmd.(*syntax.BinaryCmd); ok; b, ok = first.Cmd.(*syntax.BinaryCmd) {
					first = b.X
				}
				timed[first] = timing(n)
			}
		case *syntax.Stmt:
			found = found || matches(forms(code, n, timed[n]), patterns) ||
				len(unknown) > 0 && n.Cmd != nil && matches(handed(words(code, n.Cmd)[assigned(n.Cmd):], unknown), patterns)
		}
		return !found
	})
	return found
}

// All reports whether the code is a list of plain commands, each of which matches one
// of the patterns: no redirections to files, no substitutions, no control structures.
// Only a pattern without a * matches a command that runs other ones, such as find
// -exec.
func All(code string, patterns []string) bool {
	file, err := parse(code)
	if err != nil || len(file.Stmts) == 0 || substitutes(file) {
		return false
	}
	exact := slices.DeleteFunc(slices.Clone(patterns), func(p string) bool { return strings.Contains(p, "*") })
	return !slices.ContainsFunc(file.Stmts, func(s *syntax.Stmt) bool { return !plain(code, s, nil, patterns, exact) })
}

// start returns the text with which each match of a pattern begins, at most a word.
func start(pattern string) string { return pattern[:strings.IndexAny(pattern+"*", " *")] }

// Loose reports whether a command may match a pattern, in whatever order its words are
// written: names are those of the program and of the programs that start it.
func Loose(pattern string, names, words []string) bool {
	want := strings.Fields(pattern)
	return len(want) > 0 && like(path.Base(want[0]), names) &&
		!slices.ContainsFunc(want[1:], func(w string) bool { return !like(w, words) })
}

// like reports whether a word of a pattern may be among words without quotes; a value
// may be joined to its option.
func like(pattern string, words []string) bool {
	return strings.ContainsAny(pattern, "'\"\\$`(){}<>;&|") || strings.Trim(pattern, "*") == "" ||
		slices.ContainsFunc(words, func(w string) bool {
			option, value, _ := strings.Cut(w, "=")
			return match(pattern, w) || match(pattern, option) || match(pattern, value)
		})
}

func parse(code string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(code), "")
}

// substitutes reports whether some text of the code is the output of a command.
func substitutes(file *syntax.File) bool {
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			found = true
		}
		return !found
	})
	return found
}

// plain reports whether a statement is commands that match. time begins the first.
func plain(code string, s *syntax.Stmt, time, patterns, exact []string) bool {
	if s == nil || s.Negated || s.Coprocess || s.Disown || slices.ContainsFunc(s.Redirs, toFile) {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		return plain(code, c.X, time, patterns, exact) && plain(code, c.Y, nil, patterns, exact)
	case *syntax.TimeClause:
		return plain(code, c.Stmt, slices.Concat(time, timing(c)), patterns, exact)
	}
	list := words(code, s.Cmd)
	if len(list) == 0 || strings.Join(list, " ") != text(code, s.Cmd) {
		return false
	}
	if slices.ContainsFunc(unwrapped(list[assigned(s.Cmd):]), launches) {
		patterns = exact
	}
	return matches(unwrapped(slices.Concat(time, list)), patterns)
}

// timing returns the words that time a pipeline.
func timing(c *syntax.TimeClause) []string {
	if c.PosixFormat {
		return []string{"time", "-p"}
	}
	return []string{"time"}
}

// assigned counts the assignments before a command.
func assigned(c syntax.Command) int {
	if call, ok := c.(*syntax.CallExpr); ok {
		return len(call.Assigns)
	}
	return 0
}

// toFile reports whether a redirection reads or writes more than an open file.
func toFile(r *syntax.Redirect) bool {
	return r.Op != syntax.DplOut && r.Op != syntax.DplIn || strings.Trim(r.Word.Lit(), "0123456789") != "" || r.Word.Lit() == ""
}

// launches reports whether a command runs other commands that it is given.
func launches(command string) bool {
	words := strings.Split(command, " ")
	if words[0] == "find" {
		return slices.ContainsFunc(words, func(w string) bool {
			return slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-delete"}, w)
		})
	}
	return slices.Contains([]string{"watch", "setsid", "ionice", "flock"}, words[0])
}

// forms lists the texts by which a simple command can be matched; nil for a statement
// that only contains others. time begins the command.
func forms(code string, s *syntax.Stmt, time []string) []string {
	list := words(code, s.Cmd)
	if list == nil {
		return nil
	}
	all := unwrapped(slices.Concat(time, list))
	if len(s.Redirs) == 0 {
		all = append(all, text(code, s.Cmd)) // with its own white space
	}
	return append(all, unwrapped(list[assigned(s.Cmd):])...)
}

// maxHanded limits the words of a command at which another command may begin.
const maxHanded = 16

// handed lists the commands that programs about which nothing is known may start: the rest of their words from each one
// on that is not an option.
func handed(words, unknown []string) []string {
	var all []string
	for ; len(words) > 0; words = started(words) {
		if !slices.Contains(unknown, path.Base(words[0])) {
			continue
		}
		for i := 1; i < min(len(words), maxHanded); i++ {
			if !strings.HasPrefix(words[i], "-") {
				all = append(all, strings.Join(words[i:], " "))
			}
		}
	}
	return all
}

// words lists the words of a simple command as they are written, assignments first.
func words(code string, c syntax.Command) []string {
	var list []string
	switch c := c.(type) {
	case *syntax.CallExpr:
		for _, a := range c.Assigns {
			list = append(list, text(code, a))
		}
		for _, w := range c.Args {
			list = append(list, text(code, w))
		}
	case *syntax.DeclClause, *syntax.LetClause, *syntax.TestClause, *syntax.ArithmCmd:
		list = []string{text(code, c)}
	}
	return list
}

func text(code string, n syntax.Node) string { return code[n.Pos().Offset():n.End().Offset()] }

// unwrapped lists a command's text, then that of the command that it starts, and so on.
func unwrapped(words []string) []string {
	var all []string
	for len(words) > 0 {
		all = append(all, strings.Join(words, " "))
		words = started(words)
	}
	return all
}

var (
	duration = engine.Regexp(`^[0-9.]+[smhd]?$`)
	optioned = engine.Regexp(`^(?:-[a-z]+|--[a-z-]+(?:=\S+)?|-[ioe][0-9LKM]+|-[0-9]+)$`)
)

// valued are the options with a value of their own of programs that start another one.
var valued = map[string][]string{
	"timeout": {"-s", "-k", "--signal", "--kill-after"}, "nice": {"-n", "--adjustment"}, "stdbuf": {"-i", "-o", "-e", "--input", "--output", "--error"},
	"time": {}, "nohup": {}, "command": {}, "builtin": {}, "noglob": {}, "xargs": nil,
}

// started returns the words of the command that a command starts; nil if it starts none.
func started(words []string) []string {
	program := words[0]
	options, ok := valued[program]
	if !ok {
		return nil
	}
	words = words[1:]
	for options != nil && len(words) > 0 && optioned().MatchString(words[0]) {
		if program == "command" && words[0] != "-p" {
			return nil // it describes the command
		}
		n := 1
		if slices.Contains(options, words[0]) {
			n = min(2, len(words))
		}
		words = words[n:]
	}
	if program == "timeout" {
		if len(words) == 0 || !duration().MatchString(words[0]) {
			return nil
		}
		words = words[1:]
	}
	if len(words) == 0 || strings.HasPrefix(words[0], "-") {
		return nil
	}
	return words
}

var (
	operators = engine.Regexp("[;&|(){}`\n]+")
	leading   = engine.Regexp(`^\s*(?:(?:[A-Za-z_]\w*\+?=\S*|if|then|else|elif|while|until|do|!)\s+)*`)
)

// pieces splits code that does not parse.
func pieces(code string) []string {
	var all []string
	for _, p := range operators().Split(code, -1) {
		all = append(all, leading().ReplaceAllString(p, ""))
	}
	return all
}

func matches(forms, patterns []string) bool {
	return slices.ContainsFunc(forms, func(f string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { return match(p, f) })
	})
}

// literal escapes what is special in wildcard besides the *.
var literal = strings.NewReplacer(`\`, `\\`, "?", `\?`, "[", `\[`)

func match(pattern, text string) bool {
	if base, ok := strings.CutSuffix(pattern, " *"); ok && wildcard.Text(literal.Replace(base), text) {
		return true
	}
	return wildcard.Text(literal.Replace(pattern), text)
}
