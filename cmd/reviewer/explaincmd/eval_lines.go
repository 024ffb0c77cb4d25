package explaincmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
)

// readLines evaluates the lines of standard input. An error ends nothing.
func (t *evaluation) readLines(ctx context.Context, a *cli.App, args []string) error {
	switch {
	case t.out.Format != "text" || t.out.File != "":
		return cli.Usage("with --interactive values are printed as text: leave -f and -o out, or give EXPR")
	case len(args) > 1:
		return cli.Usage("with --interactive the only argument is EVENT: expressions are read from standard input")
	case slices.Contains(args, "-"):
		return cli.Usage("standard input has the expressions, so it cannot have the event: give a file, --bash or --tool")
	}
	d, err := t.decideOrEmpty(ctx, a, args)
	if err != nil {
		return err
	}
	lines, err := a.Lines()
	if err != nil {
		return fmt.Errorf("read from the terminal: %w", err)
	}
	defer lines.Close()
	if lines.Editing() {
		fmt.Fprintln(lines, ":help lists what else can be typed; Ctrl-D ends.")
	}
	failed := 0
	for end := false; !end; {
		lines.Prompt = t.language() + "> "
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read an expression: %w", err)
		}
		if end, err = t.answer(ctx, a, lines, &d, strings.TrimSpace(line)); err != nil {
			fmt.Fprintln(lines, "error:", cli.Masked(err.Error()))
			failed++
		}
	}
	if failed > 0 && !lines.Editing() {
		return fmt.Errorf("%s had an error", engine.Counted(failed, "line", "lines"))
	}
	return nil
}

const evalHelp = `An expression prints its value.
:cel, :rego      the language of what follows, from here on
:bash COMMAND    another event: this shell command
:input           the event and its facts, which expressions see
:quit            leave`

// answer evaluates a line or follows its instruction; end: it is :quit.
func (t *evaluation) answer(ctx context.Context, a *cli.App, w io.Writer, d **decided, line string) (end bool, err error) {
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case line == "":
	case word == ":quit" || word == ":q":
		return true, nil
	case word == ":cel", word == ":rego":
		if t.rego = word == ":rego"; strings.TrimSpace(rest) != "" {
			return t.answer(ctx, a, w, d, strings.TrimSpace(rest))
		}
	case word == ":bash":
		next := *t
		next.bash, next.tool, next.args = strings.TrimSpace(rest), "", ""
		found, err := next.decideOrEmpty(ctx, a, nil)
		if err != nil {
			return false, err
		}
		*t, *d = next, found
	case word == ":input":
		fmt.Fprintln(w, shortJSON((*d).input))
	case word == ":help":
		fmt.Fprintln(w, evalHelp)
	case strings.HasPrefix(word, ":"):
		return false, fmt.Errorf("unknown instruction %s; :help lists them", word)
	default:
		x, err := t.evaluate(ctx, *d, line)
		if err != nil {
			return false, err
		}
		fmt.Fprintln(w, strings.TrimSuffix(x.text()+": "+x.undefined, ": "))
	}
	return false, nil
}
