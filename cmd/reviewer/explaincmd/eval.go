package explaincmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/spf13/cobra"
)

// evaluation is the command line of `policy eval`.
type evaluation struct {
	event
	out         term.Output
	rego        bool
	interactive bool
}

// evaluated is the value of an expression.
type evaluated struct {
	Language string        `json:"language"`          // cel, rego
	Type     string        `json:"type,omitempty"`    // of a CEL expression
	Value    any           `json:"value,omitempty"`   // of a CEL expression
	Results  []rego.Result `json:"results,omitempty"` // of a Rego query; none: it is undefined

	undefined string // the part of a Rego query that makes it undefined, with the name that may be meant
}

// EvalCommand is `reviewer policy eval`.
func EvalCommand(a *cli.App) *cobra.Command {
	var t evaluation
	cmd := &cobra.Command{
		Use:   "eval EXPR [EVENT] | eval [EVENT]",
		Short: "Evaluate an expression in CEL or Rego for an event",
		Long: "EXPR is an expression of any type as in the condition of a rule, with the variables, functions,\n" +
			"definitions and settings of the policy; with --rego it is a query over input and data. EVENT is\n" +
			"as for `policy explain`: a file, - for standard input, the id of a record, or --bash or --tool.\n" +
			"Without an event the input is empty.\n\n" +
			"Without EXPR, on a terminal or with --interactive, expressions are read line by line; :help lists\n" +
			"what else can be typed there.",
		Example: "  reviewer policy eval 'action.commands.map(c, c.name)' --bash 'git push | tee log'\n" +
			"  reviewer policy eval --rego data.reviewer.decision f8dc9b3b-37\n" +
			"  reviewer policy eval --policy ./policy --bash 'kubectl delete ns shop'",
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if t.interactive || len(args) == 0 && a.StdinTerminal() {
				return t.readLines(cmd.Context(), a, args)
			}
			if len(args) == 0 || strings.TrimSpace(args[0]) == "" {
				return cli.Usage("no expression: expected EXPR, such as 'action.types'; or --interactive, which reads expressions line by line")
			}
			d, err := t.decideOrEmpty(cmd.Context(), a, args[1:])
			if err != nil {
				return err
			}
			x, err := t.evaluate(cmd.Context(), d, args[0])
			if err != nil {
				return err
			}
			if x.undefined != "" {
				fmt.Fprintln(a.Stderr, "undefined: "+x.undefined)
			}
			return t.out.Result(a.Stdout, x, func(w io.Writer) { fmt.Fprintln(w, x.text()) })
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVar(&t.rego, "rego", false, "EXPR is a query in Rego")
	cmd.Flags().BoolVarP(&t.interactive, "interactive", "i", false, "read expressions from standard input, line by line")
	t.out.Flags(cmd, "text", "json")
	return cmd
}

func (t *evaluation) language() string {
	if t.rego {
		return "rego"
	}
	return "cel"
}

func (t *evaluation) evaluate(ctx context.Context, d *decided, text string) (*evaluated, error) {
	decider, matcher, err := d.hosts()
	if err != nil {
		return nil, err
	}
	if t.rego {
		x := &evaluated{Language: t.language()}
		x.Results, err = decider.Query(ctx, d.input, d.record.Findings, text)
		if err == nil && len(x.Results) == 0 {
			part, near := decider.Undefined(ctx, d.input, d.record.Findings, text)
			if x.undefined = part; near != "" {
				x.undefined += "; did you mean " + near + "?"
			}
		}
		return x, err
	}
	x := &evaluated{Language: t.language()}
	x.Value, x.Type, err = matcher.Eval(text, d.input)
	if problems := cel.Problems(err); len(problems) > 0 {
		lines := make([]string, len(problems))
		for i, p := range problems {
			lines[i] = fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Message)
		}
		return nil, errors.New(strings.Join(lines, "\n"))
	}
	return x, err
}

// text is a value for people: JSON, on one line if it is short.
func (x *evaluated) text() string {
	if x.Language == "cel" {
		return shortJSON(x.Value)
	}
	var lines []string
	for _, r := range x.Results {
		for _, name := range slices.Sorted(maps.Keys(r.Variables)) {
			lines = append(lines, name+" = "+shortJSON(r.Variables[name]))
		}
		if len(r.Variables) == 0 {
			for _, v := range r.Values {
				lines = append(lines, shortJSON(v))
			}
		}
	}
	return cmp.Or(strings.Join(lines, "\n"), "undefined")
}

func shortJSON(v any) string {
	const most = 100
	if doc, err := json.Marshal(v); err == nil && len(doc) <= most {
		return string(doc)
	}
	var b strings.Builder
	if err := term.WriteJSON(&b, v); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// decideOrEmpty is decide; without an event the input is empty.
func (t *evaluation) decideOrEmpty(ctx context.Context, a *cli.App, args []string) (*decided, error) {
	if len(args) > 0 || t.bash != "" || t.tool != "" || t.args != "" {
		d, err := t.decide(ctx, a, args)
		if err == nil && d.missing != "" {
			fmt.Fprintln(a.Stderr, "not known: "+d.missing+"; another policy made this record")
		}
		return d, err
	}
	e, err := a.ShownPolicy(ctx, t.policy)
	if err != nil {
		return nil, err
	}
	policy, err := wiring.Compile(ctx, e)
	if err != nil {
		return nil, err
	}
	return &decided{effective: e, policy: policy, record: &engine.Record{}, input: &engine.Input{}}, nil
}
