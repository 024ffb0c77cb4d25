package classify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// Rewrite returns the raw arguments of a call after the operations of a
// policy; what no operation names is not changed.
//
// Indexes are those of the facts that Classify gives for the same call, and
// stay so: an operation never moves what a later one names.
//
//	set_flag      gives an option its value where the command has it already;
//	              otherwise it goes after the subcommands (and what was
//	              inserted there), before the operands and "--"
//	drop_flag     removes every occurrence: the word as Command.Flags lists
//	              it, --flag with or without a value, a letter of a cluster
//	replace_arg   puts the value in the place of a word
//	insert_arg    puts the value directly after the word before it; 0 is in
//	              front of the program, which makes it a wrapper's. Several at
//	              one index keep their order
//	set_field     sets a field of the tool's input, but not its code
//
// An error says which operation does not fit and why. A string in it can be raw.
func (c *Classifier) Rewrite(ctx context.Context, e engine.Event, workspace string, ops []engine.Operation) (json.RawMessage, error) {
	facts, err := c.Classify(ctx, e, workspace)
	if err != nil {
		return nil, err
	}
	if facts.Action == nil {
		return nil, errors.New("modify: this event is not a tool call")
	}
	w := &rewriter{tool: e.Tool, facts: &facts, args: e.Args, program: c.Program, in: c.shellInput(e)}
	w.in.Disk = shell.NewDisk(place.NewResolver(c.World, workspace, w.in.Rows))
	if len(w.args) == 0 {
		w.args = json.RawMessage("{}")
	}
	for i, op := range ops {
		if err := w.apply(op); err != nil {
			return nil, fmt.Errorf("operation %d (%s): %w", i+1, op.Op, err)
		}
	}
	return w.result()
}

// rewriter applies operations to one call.
type rewriter struct {
	tool    string
	facts   *engine.Facts
	args    json.RawMessage
	program string
	in      shell.Input
	draft   *draft // of the shell code; nil: no operation needs it
	listed  bool   // the code is the only item of a list
}

func (w *rewriter) apply(op engine.Operation) error {
	value, err := w.value(op.Value)
	if err != nil {
		return err
	}
	if op.Op == engine.OpSetField {
		return w.setField(op.Field, value)
	}
	if err := w.open(); err != nil {
		return err
	}
	s, err := w.draft.command(op.Command)
	if err != nil {
		return err
	}
	switch op.Op {
	case engine.OpDropFlag:
		return s.dropFlag(op.Flag)
	case engine.OpSetFlag:
		return s.setFlag(op.Flag, value)
	case engine.OpReplaceArg, engine.OpInsertArg:
		text, ok := value.(string)
		if !ok {
			return errors.New("its value is not a string")
		}
		if op.Op == engine.OpInsertArg {
			return s.insertArg(op.Arg, text)
		}
		return s.replaceArg(op.Arg, text)
	}
	return fmt.Errorf("unknown operation%s", hint(engine.Nearest(op.Op, engine.Operations())))
}

// value resolves a value: text that policy sees masked must not be written back, and policy
// does not know the path of this program.
func (w *rewriter) value(v any) (any, error) {
	text, ok := v.(string)
	switch {
	case !ok:
		return v, nil
	case strings.Contains(text, mask.Redacted):
		return nil, errors.New("its value contains a masked secret, which would replace the real one")
	case strings.ContainsFunc(text, shell.Misleading):
		return nil, errors.New("its value contains an invisible character")
	case text != engine.ReviewerProgram:
		return v, nil
	case w.program == "":
		return nil, fmt.Errorf("the path of %s is unknown", engine.ReviewerProgram)
	}
	return w.program, nil
}

// open parses the call's shell code.
func (w *rewriter) open() error {
	if w.draft != nil {
		return nil
	}
	field, role := codeField(w.in.Rows, w.tool)
	switch role {
	case rows.RoleShell:
	case rows.RolePowerShell:
		return errors.New("PowerShell commands cannot be modified; use set_field")
	default:
		return fmt.Errorf("the tool %s does not run a shell command; use set_field", w.tool)
	}
	f, err := findField(w.args, field)
	if err != nil {
		return err
	}
	src, err := w.source(f, field)
	if err != nil {
		return err
	}
	w.draft, err = newDraft(src, w.in, w.facts)
	return err
}

// source returns the code in a field: a string, or a list of one.
func (w *rewriter) source(f *field, name string) (src string, err error) {
	var list []string
	switch {
	case f == nil:
	case json.Unmarshal(f.value, &src) == nil:
		return src, nil
	case json.Unmarshal(f.value, &list) == nil && len(list) == 1:
		w.listed = true
		return list[0], nil
	case len(list) > 1:
		return "", fmt.Errorf("the field %s contains several commands; only a single one can be modified", name)
	}
	return "", fmt.Errorf("the field %s does not contain a command", name)
}

// codeField returns the field of a tool's input that contains code, and its role.
func codeField(set *rows.Set, tool string) (name, role string) {
	for _, a := range toolOf(set, tool).args {
		if a.role == rows.RoleShell || a.role == rows.RolePowerShell || a.role == rows.RoleCode {
			return a.name, a.role
		}
	}
	return "", rows.RoleNone
}

func (w *rewriter) setField(name string, value any) error {
	if code, _ := codeField(w.in.Rows, w.tool); name == code && name != "" {
		return fmt.Errorf("the field %s is code: policy may change its words but not write it", name)
	}
	args, err := setField(w.args, name, value)
	if err == nil {
		w.args = args
	}
	return err
}

func (w *rewriter) result() (json.RawMessage, error) {
	if w.draft == nil {
		return w.args, nil
	}
	src, err := w.draft.text()
	if err != nil {
		return nil, err
	}
	field, _ := codeField(w.in.Rows, w.tool)
	if !w.listed {
		return setField(w.args, field, src)
	}
	list, err := plainJSON([]string{src})
	if err != nil {
		return nil, err
	}
	f, err := findField(w.args, field)
	if err != nil {
		return nil, err
	}
	return f.replace(w.args, list), nil
}

// hint adds the closest valid name to an error.
func hint(near string) string {
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", near)
}
