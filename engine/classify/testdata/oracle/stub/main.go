// Stub replaces a program that must not run, or does not exist: it
// records how it was called. One that only runs another program runs it.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	log      = "/oracle/log"
	maxStdin = 1 << 20
)

// call is a line of the log.
type call struct {
	Name  string   `json:"name"`
	Args  []string `json:"args"`
	CWD   string   `json:"cwd"`
	Stdin string   `json:"stdin"` // SHA-256 of its first MiB
}

// runners run the program that their operands name; the value lists their
// options that take a value of their own.
var runners = map[string][]string{
	"sudo":    {"-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U", "-r", "-t", "--user", "--group"},
	"doas":    {"-u", "-C"},
	"busybox": nil,
	"toybox":  nil,
}

func main() {
	name := filepath.Base(os.Args[0])
	if err := note(name, os.Args[1:]); err != nil {
		os.Stderr.WriteString("stub " + name + ": " + err.Error() + "\n")
		os.Exit(125)
	}
	if values, ok := runners[name]; ok {
		pass(values, os.Args[1:])
	}
}

func note(name string, args []string) error {
	cwd, err := os.Getwd()
	if err != nil {
		cwd = ""
	}
	c := call{Name: name, Args: args, CWD: cwd}
	if _, runs := runners[name]; !runs {
		h := sha256.New()
		if _, err := io.Copy(h, io.LimitReader(os.Stdin, maxStdin)); err == nil {
			c.Stdin = hex.EncodeToString(h.Sum(nil))
		}
	}
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(line, '\n'))
	return err
}

// pass runs the program after the options.
func pass(values, args []string) {
	for len(args) > 0 {
		switch a := args[0]; {
		case a == "--":
			run(args[1:])
		case slices.Contains(values, a):
			args = args[min(2, len(args)):]
		case strings.HasPrefix(a, "-"):
			args = args[1:]
		case strings.Contains(a, "="):
			k, v, _ := strings.Cut(a, "=")
			os.Setenv(k, v)
			args = args[1:]
		default:
			run(args)
		}
	}
}

func run(args []string) {
	if len(args) == 0 {
		return
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		p := filepath.Join(dir, args[0])
		if strings.Contains(args[0], "/") {
			p = args[0]
		}
		if syscall.Exec(p, args, os.Environ()) == nil {
			return
		}
	}
	os.Exit(127)
}
