// Package term writes what commands say: on a terminal in colours and as wide as
// it is, or into files that appear whole or not at all; and it shows how far a
// long run is.
//
// Not its business: what is said.
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

// Output is where a command's result goes: -f and -o mean the same everywhere.
type Output struct {
	Format  string
	File    string
	Formats []string // the first is the default
}

// Flags adds -f and -o to a command.
func (o *Output) Flags(cmd *cobra.Command, formats ...string) {
	o.Formats = formats
	cmd.Flags().StringVarP(&o.Format, "format", "f", formats[0], "format of the result: "+strings.Join(formats, ", "))
	cmd.Flags().StringVarP(&o.File, "output", "o", "", "write the result to this file (default standard output)")
}

// Write makes the result in memory and then puts it in its place whole.
func (o *Output) Write(stdout io.Writer, fn func(w io.Writer) error) error {
	if err := o.Known(); err != nil {
		return err
	}
	var b bytes.Buffer
	err := fn(&b)
	if o.File == "" {
		_, werr := stdout.Write(b.Bytes())
		return errors.Join(err, werr)
	}
	if werr := WriteWhole(o.File, b.Bytes()); werr != nil {
		return errors.Join(err, fmt.Errorf("write result: %w", werr))
	}
	return err
}

// Known is an error where the format is none of this command's.
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
