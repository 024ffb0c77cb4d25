// Package term writes the output of commands: to a terminal, in colours and in its
// width, or to files that are written atomically; and it shows the progress of a long
// run.
//
// Out of scope: the contents of the output.
package term

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Output is the format and destination of a command's result: -f and -o mean the same everywhere.
type Output struct {
	Format  string
	File    string
	Formats []string // the first is the default
	Put     Put      // where File is not a file; nil: it must be one
	written bool
}

// Put writes a result somewhere other than to a file, if the name is not that of a file.
type Put func(name string, content []byte) (done bool, err error)

// Written reports whether a result was written, or an attempt was made.
func (o *Output) Written() bool { return o.written }

// OutputOf returns the Output of a command; nil: it has none, or several.
func OutputOf(cmd *cobra.Command) *Output {
	flag := cmd.Flags().Lookup("format")
	if flag == nil {
		return nil
	}
	value, ok := flag.Value.(*formatFlag)
	if !ok {
		return nil
	}
	return (*Output)(value)
}

// Text is the format for people, of every command that has one.
const Text = "text"

// Flags adds -f and -o to a command.
func (o *Output) Flags(cmd *cobra.Command, formats ...string) {
	o.FormatFlag(cmd, formats...)
	cmd.Flags().StringVarP(&o.File, "output", "o", "", "write the result to this file (default standard output)")
}

// FormatFlag adds -f alone, to a command whose result is a stream or goes elsewhere.
func (o *Output) FormatFlag(cmd *cobra.Command, formats ...string) {
	o.Formats = formats
	o.Format = formats[0]
	cmd.Flags().VarP((*formatFlag)(o), "format", "f", "format of the result: "+strings.Join(formats, ", "))
	completeFormats(cmd, formats)
}

// formatFlag is -f: a format that the command does not have is refused before
// anything runs.
type formatFlag Output

// String implements pflag.Value.
func (f *formatFlag) String() string { return f.Format }

// Type implements pflag.Value.
func (f *formatFlag) Type() string { return "string" }

// Set implements pflag.Value.
func (f *formatFlag) Set(name string) error {
	o := (*Output)(f)
	o.Format = canonical(name, o.Formats)
	return o.Known()
}

// canonical is the current name of a format: text was called pretty in some
// commands, and table in others.
func canonical(name string, formats []string) string {
	old := name == "pretty" || name == "table"
	if old && !slices.Contains(formats, name) && slices.Contains(formats, Text) {
		return Text
	}
	return name
}

// completeFormats completes the values of -f.
func completeFormats(cmd *cobra.Command, formats []string) {
	// The flag was just added; an error would only disable completions.
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// Write makes the result in memory and then writes it atomically.
func (o *Output) Write(stdout io.Writer, fn func(w io.Writer) error) error {
	if err := o.Known(); err != nil {
		return err
	}
	var b bytes.Buffer
	err := fn(&b)
	if err != nil && b.Len() == 0 {
		return err
	}
	o.written = true
	if o.File == "" {
		_, werr := stdout.Write(b.Bytes())
		return errors.Join(err, werr)
	}
	if werr := o.keep(b.Bytes()); werr != nil {
		return errors.Join(err, fmt.Errorf("write result: %w", werr))
	}
	return err
}

func (o *Output) keep(content []byte) error {
	if o.Put != nil {
		if done, err := o.Put(o.File, content); done || err != nil {
			return err
		}
	}
	if scheme, _, other := strings.Cut(o.File, "://"); other {
		return fmt.Errorf("%s: this command writes only files, and nothing to %s", o.File, scheme)
	}
	return WriteWhole(o.File, content)
}

// Known returns an error if the command does not have the format.
func (o *Output) Known() error {
	if slices.Contains(o.Formats, o.Format) {
		return nil
	}
	return Unknown("format", o.Format, o.Formats)
}

// WriteLine writes a document as one line.
func WriteLine(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
