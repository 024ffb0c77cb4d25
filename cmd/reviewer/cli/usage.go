package cli

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// flagGroup matches cobra's error about flags that exclude each other.
var flagGroup = engine.Regexp(`^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`)

// plainFlags rewords the errors about flags that do not fit together.
func plainFlags(err error) error {
	both := flagGroup().FindStringSubmatch(err.Error())
	if both == nil {
		return err
	}
	return errors.New("--" + strings.ReplaceAll(both[1], " ", " and --") + " exclude each other: give one of them")
}

// WithoutCall returns the reason of an error about a file, without the system call and the path,
// for messages that name the path as it was given.
func WithoutCall(err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return at.Err
	}
	return err
}
