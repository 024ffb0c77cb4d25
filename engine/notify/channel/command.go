package channel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// command runs a program with an entry as JSON on its standard input. No shell is used.
type command struct {
	name string
	args []string // the first one is the program, an absolute path
	env  []string
}

func newCommand(name string, k settings.Kind, from Sources) (notify.Channel, error) {
	program := k.Command[0]
	if !filepath.IsAbs(program) {
		return nil, fmt.Errorf("%s is not an absolute path", program)
	}
	if err := runnable(program); err != nil {
		return nil, err
	}
	env, err := environment(k.Env, from)
	return &command{name, k.Command, env}, err
}

// runnable refuses what is not a program, and one that others may change.
func runnable(program string) error {
	f, err := osfile.Open(program)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New(program + " is not a program")
	case filepath.Separator == '/' && info.Mode().Perm()&0o022 != 0:
		return errors.New(program + " can be changed by others; remove their right to write it")
	}
	return nil
}

// environment is the environment of a program: the agent may have changed everything else.
func environment(names []string, from Sources) ([]string, error) {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
	if root := from.Env("SystemRoot"); root != "" && filepath.Separator == '\\' {
		env = []string{"SystemRoot=" + root, "PATH=" + filepath.Join(root, "System32") + ";" + root}
	}
	for _, name := range []string{"HOME", "USERPROFILE", "USER", "LOGNAME", "USERNAME", "LANG", "TZ", "TMPDIR", "TEMP", "TMP"} {
		if v := from.Env(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	for _, name := range names {
		v := from.Env(name)
		if v == "" {
			return nil, fmt.Errorf("the environment variable %s is not set", name)
		}
		env = append(env, name+"="+v)
	}
	return env, nil
}

// Name implements notify.Channel.
func (c *command) Name() string { return c.name }

// Send implements notify.Channel.
func (c *command) Send(ctx context.Context, e notify.Entry) error {
	_, _, err := c.Run(ctx, e)
	return err
}

// Run implements notify.Program. When its time is over, the program is killed with its
// children.
func (c *command) Run(ctx context.Context, e notify.Entry) (string, *int, error) {
	in, err := json.Marshal(e)
	if err != nil {
		return "", nil, &notify.Permanent{Err: err}
	}
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir = filepath.Dir(c.args[0])
	cmd.Env = append(c.env[:len(c.env):len(c.env)], "REVIEWER_ID="+e.ID, "REVIEWER_KIND="+e.Own)
	cmd.Stdin = bytes.NewReader(in)
	out := &beginning{most: maxOutput}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Second // for children that hold on to the output
	together(cmd)
	err = cmd.Run()
	if left := (*exec.ExitError)(nil); errors.As(err, &left) && left.Exited() {
		code := left.ExitCode()
		return out.String(), &code, fmt.Errorf("%s ended with exit code %d", filepath.Base(c.args[0]), code)
	}
	if errors.Is(err, exec.ErrWaitDelay) { // it ended on its own, and left children behind
		err = nil
		cmd.Cancel() // those that are gone do not matter
	}
	if err != nil {
		return out.String(), nil, err
	}
	code := 0
	return out.String(), &code, nil
}

// maxOutput bounds what is kept of a program's output, in bytes.
const maxOutput = 4 << 10

// beginning keeps the first bytes that are written to it.
type beginning struct {
	mu   sync.Mutex
	b    []byte
	most int
}

func (w *beginning) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b = append(w.b, b[:min(len(b), w.most-len(w.b))]...)
	return len(b), nil
}

func (w *beginning) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.ToValidUTF8(string(w.b), "")
}
