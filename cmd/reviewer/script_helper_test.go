package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// claims is a folder in which each process of the tests makes one with the name of each script
// that it runs; empty: this process runs all scripts. It is passed on in claimsVariable.
var claims = os.Getenv(claimsVariable)

const claimsVariable = "REVIEWER_SCRIPT_CLAIMS"

// claim skips a script that another process of the tests runs.
func claim(e *testscript.Env) error {
	if claims == "" {
		return nil
	}
	err := os.Mkdir(filepath.Join(claims, filepath.Base(e.WorkDir)), 0o700)
	if errors.Is(err, fs.ErrExist) {
		e.T().Skip("another process of the tests runs this script")
	}
	return err
}

// helper is a second process of the tests that runs scripts at the same time: in each process,
// commands of scripts run one after the other, since they have its working directory and its environment.
type helper struct {
	process *exec.Cmd
	alive   io.Closer // the helper ends when this is closed
	output  bytes.Buffer
}

// startHelper starts a helper if all scripts run; nil: there is none.
func startHelper() (*helper, error) {
	if claims != "" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(1) // the process that started this one has ended
		}()
		return nil, nil
	}
	flag.Parse()
	set := map[string]string{}
	flag.Visit(func(f *flag.Flag) { set[f.Name] = f.Value.String() })
	selected := strings.Trim(set["test.run"], "^$")
	if selected != "" && selected != "TestScript" || set["test.list"] != "" || set["test.count"] != "" && set["test.count"] != "1" ||
		testing.CoverMode() != "" || runtime.NumCPU() == 1 || runtime.GOOS == "windows" {
		return nil, nil
	}
	var err error
	if claims, err = os.MkdirTemp("", "claims"); err != nil {
		return nil, err
	}
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(arg string) bool {
		return strings.HasPrefix(arg, "-test.run=") || strings.HasPrefix(arg, "-test.testlogfile=") || strings.Contains(arg, "profile=")
	})
	h := &helper{process: exec.Command(os.Args[0], append(args, "-test.run=^TestScript$")...)}
	if h.process.Path, err = os.Executable(); err != nil {
		return nil, err
	}
	h.process.Env = append(os.Environ(), claimsVariable+"="+claims)
	h.process.Stdout, h.process.Stderr = &h.output, &h.output
	if h.alive, err = h.process.StdinPipe(); err != nil {
		return nil, err
	}
	return h, h.process.Start()
}

// finish waits for the helper, prints what it printed, and returns the exit code of both.
func (h *helper) finish(code int) int {
	if h == nil {
		return code
	}
	defer os.RemoveAll(claims)
	err := h.process.Wait()
	if h.alive.Close(); err != nil || testing.Verbose() {
		os.Stdout.Write(h.output.Bytes())
	}
	if err != nil && code == 0 {
		fmt.Println("the second process, which runs some of the scripts:", err)
		code = 1
	}
	return code
}
