package cli

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FlagError adds the expected value to an error about a flag.
func FlagError(cmd *cobra.Command, err error) error {
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		return WithNear(fmt.Errorf("%w (`%s --help` lists the flags)", err, cmd.CommandPath()), "--"+unknown.GetSpecifiedName(), names)
	}
	if wrong := (*pflag.InvalidValueError)(nil); errors.As(err, &wrong) {
		if usage := (*term.UsageError)(nil); errors.As(wrong.Unwrap(), &usage) {
			return usage
		}
		if expected, there := flagValues[wrong.GetFlag().Value.Type()]; there {
			return fmt.Errorf("--%s %s: expected %s", wrong.GetFlag().Name, wrong.GetValue(), expected)
		}
	}
	if alone := (*pflag.ValueRequiredError)(nil); errors.As(err, &alone) {
		return fmt.Errorf("--%s needs a value (`%s --help` lists the flags)", alone.GetFlag().Name, cmd.CommandPath())
	}
	return err
}

// flagValues describes the values of flags, by pflag's names of their types.
var flagValues = map[string]string{
	"bool": "true or false", "int": "a whole number", "float64": "a number", "duration": "a time such as 5s or 1m30s",
	"span": "a time such as 90m, 12h or 2d",
}

// WithNear adds a suggestion: the name that was probably meant.
func WithNear(err error, word string, names []string) error {
	near := engine.Nearest(word, names)
	if near == "" {
		return err
	}
	return fmt.Errorf("%w; did you mean %q?", err, near)
}

// PolicyVar defines a flag that names a policy. Given several times, it names the layers of one policy.
func PolicyVar(f *pflag.FlagSet, to *string, name, value, usage string) {
	*to = value
	f.Var(&policyRef{to: to}, name, usage+"; may be repeated, for the layers of one policy")
}

// policyRef is the value of a flag that names a policy.
type policyRef struct {
	to    *string
	given bool
}

func (p *policyRef) String() string { return *p.to }
func (p *policyRef) Type() string   { return "string" }

func (p *policyRef) Set(text string) error {
	if p.given && text != "" {
		text = *p.to + active.StackMark + text
	}
	*p.to, p.given = text, true
	return nil
}

// oneValue lets a flag be given once: of several values all but the last would be ignored.
type oneValue struct {
	pflag.Value
	name   string
	before string
	given  bool
}

func (v *oneValue) Set(text string) error {
	if v.given && text != v.before {
		return Usage("--%s takes one value, and has two: %s and %s", v.name, v.before, text)
	}
	v.given, v.before = true, text
	return v.Value.Set(text)
}

// OneValueEach refuses a second, different value of the flags of a command and its subcommands that take one.
func OneValueEach(cmd *cobra.Command) {
	once := func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "string", "int", "int64", "float64", "duration":
			// Other types say themselves what a second value means, and are found by their type.
			if own := reflect.TypeOf(f.Value).Elem().PkgPath(); strings.HasSuffix(own, "/spf13/pflag") {
				f.Value = &oneValue{Value: f.Value, name: f.Name}
			}
		}
	}
	cmd.Flags().VisitAll(once)
	cmd.PersistentFlags().VisitAll(once)
	for _, c := range cmd.Commands() {
		OneValueEach(c)
	}
}
