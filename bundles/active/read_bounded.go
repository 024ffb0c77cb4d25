package active

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// missing is the error for a file that does not exist.
type missing string

func (m missing) Error() string        { return string(m) + ": no such file" }
func (m missing) Is(target error) bool { return target == fs.ErrNotExist }

// ReadBounded reads a regular file of at most a given number of bytes.
func ReadBounded(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	err = osfile.Missing(path, err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing(path)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%s has more than %d bytes, the limit for such a file", path, most)
	}
	return b, err
}
