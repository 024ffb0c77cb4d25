package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// A clientCall is a program that the client of a script starts.
type clientCall struct {
	Dir   string
	Env   []string
	Args  []string
	Stdin string
}

// clientResult is how it ended.
type clientResult struct {
	Code           int
	Stdout, Stderr string
	Err            string // it was not started
}

// asClient is a client as far as a hook can tell: a program that starts the command in its arguments, or for as long as
// a script runs those that it reads. With --copy, it copies its input.
func asClient() {
	switch {
	case len(os.Args) == 1:
		in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
		for {
			var call clientCall
			if in.Decode(&call) != nil {
				return // the script has ended
			}
			if err := out.Encode(call.run()); err != nil {
				panic(err)
			}
		}
	case os.Args[1] == "--copy":
		if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
			panic(err)
		}
		return
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		os.Exit(max(cmd.ProcessState.ExitCode(), 1))
	}
}

func (c *clientCall) run() (r clientResult) {
	for _, one := range c.Env {
		if value, ok := bytes.CutPrefix([]byte(one), []byte("PATH=")); ok {
			_ = os.Setenv("PATH", string(value)) // where exec.Command looks
		}
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Dir, c.Env, bytes.NewReader([]byte(c.Stdin)), &stdout, &stderr
	err := cmd.Run()
	if r.Stdout, r.Stderr = stdout.String(), stderr.String(); cmd.ProcessState == nil {
		r.Err = fmt.Sprint(err)
		return r
	}
	r.Code = cmd.ProcessState.ExitCode()
	return r
}

// lastingClient is the client of a script: one process from the first command to the end.
type lastingClient struct {
	in  *json.Encoder
	out *json.Decoder
}

type clientOf struct{}

func clientProcess(ts *testscript.TestScript) *lastingClient {
	own := ts.Value(clientOf{}).(**lastingClient)
	if *own != nil {
		return *own
	}
	// Another script's command may have the environment of this process at the moment.
	cmd := exec.Command(filepath.Join(atStart.programs, "claude"))
	cmd.Dir, cmd.Env, cmd.Stderr = ts.Getenv("WORK"), environment(ts), os.Stderr
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = in.Close()
		_ = cmd.Wait() // it ends with its input
	})
	*own = &lastingClient{json.NewEncoder(in), json.NewDecoder(out)}
	return *own
}

// claude PROGRAM [ARG…] has the client of the script run a program.
func claude(ts *testscript.TestScript, neg bool, args []string) {
	call := clientCall{Dir: ts.MkAbs("."), Args: args, Env: environment(ts)}
	if hidden(ts, "stdin").Len() > 0 {
		ts.Check(ts.Exec("claude", "--copy"))
		call.Stdin = ts.ReadFile("stdout")
	}
	client := clientProcess(ts)
	var result clientResult
	ts.Check(client.in.Encode(call))
	ts.Check(client.out.Decode(&result))
	fmt.Fprint(ts.Stdout(), result.Stdout)
	fmt.Fprint(ts.Stderr(), result.Stderr)
	if result.Err != "" || (result.Code != 0) != neg {
		ts.Fatalf("exit code %d %s", result.Code, result.Err)
	}
}
