package term

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Outputs are the formats that a command writes in one run: one goes to
// standard output, the others to files.
type Outputs struct {
	List    []Output // as given; after read at least one
	Formats []string // the first is the default
	Given   []string // -f, as FORMAT or FORMAT=FILE
	Put     Put      // where a name is not that of a file; nil: each must be one
	file    string   // -o: where the first format goes
	written bool
}

// Flags adds -f, which may be repeated, and -o to a command.
func (o *Outputs) Flags(cmd *cobra.Command, formats ...string) {
	o.Formats = formats
	o.Given = formats[:1]
	cmd.Flags().VarP(&formatsFlag{out: o}, "format", "f",
		"`format` of the result, or format=file; may be repeated: "+strings.Join(formats, ", "))
	completeFormats(cmd, formats)
	cmd.Flags().StringVarP(&o.file, "output", "o", "", "write the first format to this `file` (default standard output)")
}

// Read parses the flags. Only one format can go to standard output.
func (o *Outputs) Read() error {
	if err := o.read(); err != nil {
		return &UsageError{err}
	}
	return nil
}

func (o *Outputs) read() error {
	o.List = nil
	places := map[string]string{} // file -> the format that it is for
	for i, given := range o.Given {
		format, file, named := strings.Cut(given, "=")
		if named && file == "" {
			return fmt.Errorf("-f %s: expected the name of a file after =, such as %s=report.%s", given, format, format)
		}
		if i == 0 && o.file != "" {
			if named {
				return fmt.Errorf("-f %s and -o %s both name a file for the first format; keep one of them", given, o.file)
			}
			file = o.file
		}
		out := Output{Format: canonical(format, o.Formats), File: file, Formats: o.Formats}
		if err := out.Known(); err != nil {
			return err
		}
		place := filepath.Clean(file)
		if other, taken := places[place]; taken {
			return fmt.Errorf("-f %s: the format %s already goes to %s; give this one its own file, as in -f %s=report.%s", given, other,
				cmp.Or(file, "standard output"), format, format)
		}
		places[place] = format
		o.List = append(o.List, out)
	}
	return nil
}

// Written reports whether a result was written, or an attempt was made.
func (o *Outputs) Written() bool { return o.written }

// Write writes every format, each in its place: files before standard output.
func (o *Outputs) Write(stdout io.Writer, fn func(w io.Writer, out *Output) error) error {
	o.written = true
	list := slices.Clone(o.List)
	slices.SortStableFunc(list, func(x, y Output) int { return cmp.Compare(toScreen(x), toScreen(y)) })
	for i := range list {
		list[i].Put = o.Put
		if err := list[i].Write(stdout, func(w io.Writer) error { return fn(w, &list[i]) }); err != nil {
			return err
		}
	}
	return nil
}

func toScreen(o Output) int {
	if o.File == "" {
		return 1
	}
	return 0
}

// formatsFlag is -f of a command that writes several formats.
type formatsFlag struct {
	out   *Outputs
	given bool
}

// String implements pflag.Value.
func (f *formatsFlag) String() string { return strings.Join(f.out.Given, ",") }

// Type implements pflag.Value.
func (f *formatsFlag) Type() string { return "stringArray" }

// Set implements pflag.Value. The first one replaces the default.
func (f *formatsFlag) Set(text string) error {
	if !f.given {
		f.out.Given, f.given = nil, true
	}
	f.out.Given = append(f.out.Given, text)
	return nil
}

// TextOnScreen reports whether a command's result for people goes to standard output.
func TextOnScreen(cmd *cobra.Command) bool {
	if o := OutputOf(cmd); o != nil {
		return o.Format == Text && o.File == ""
	}
	flag := cmd.Flags().Lookup("format")
	if flag == nil {
		return false
	}
	f, ok := flag.Value.(*formatsFlag)
	if !ok || f.out.Read() != nil { // errors are reported when the command reads it
		return false
	}
	return slices.ContainsFunc(f.out.List, func(o Output) bool { return o.Format == Text && o.File == "" })
}
