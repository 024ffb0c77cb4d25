package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// systemPrograms are those of the scripts: among them a shell of POSIX, as Git Bash is on
// machines of people, which knows a few programs of Unix itself.
func systemPrograms() map[string]func() {
	return map[string]func(){"sh": asShell, "reviewer": asReviewer, "claude": asVersionedClient}
}

// putProgram makes this binary a program of another name.
func putProgram(self, path string) error { return copyProgram(self, path+".exe") }

// become does nothing: here, each command of a script has a process of its own.
func become(string) error { return nil }

// asVersionedClient is asClient with a version: $VERSION, if it is set. Elsewhere the
// client of the scripts is a shell script.
func asVersionedClient() {
	if os.Args[1] != "--version" {
		asClient()
		return
	}
	fmt.Println(cmp.Or(os.Getenv("VERSION"), "2.1.329") + " (Claude Code)")
}

// asReviewer is the program with a person at a terminal, where a script says so:
// testscript opens no terminal here.
func asReviewer() {
	if os.Getenv("TYPED") == "" {
		main()
	}
	a := &cli.App{Streams: term.Streams{Stdin: typed{os.Stdin}, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv}}
	os.Exit(run(context.Background(), a, os.Args[1:]))
}

// typed is input that someone types.
type typed struct{ io.Reader }

func (typed) Terminal() bool { return true }

// workdirRoot is a folder with a short path for the files of scripts: tables shorten
// the long paths of temporary folders, and the scripts look for the ends of paths.
func workdirRoot(t *testing.T) string {
	dir, err := os.MkdirTemp(`C:\`, "t")
	if err != nil {
		return ""
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// forSystem returns the scripts as they run on this system: what is typed into a
// terminal there is handed over as plain input, paths in what is printed may have
// either separator, and a missing file is reported in the words of the system.
func forSystem(t *testing.T, files []string) []string {
	dir := t.TempDir()
	var changed []string
	for _, name := range files {
		script, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		script = engine.Regexp(`(?m)^((?:\[[^]]*\] )*)ttyin -stdin (\S+)\n(.*)$`)().ReplaceAll(script,
			[]byte("${1}stdin $2\nenv TYPED=1\n$3\nenv TYPED="))
		script = engine.Regexp(`(?m)^(?:\[[^]]*\] )*(?:! )?(?:(?:stdout|stderr) .*|grep '[^'\n]*')`)().ReplaceAllFunc(script, eitherSystem)
		script = engine.Regexp(`(?m)^((?:! )?exec) ((?:cp|mv|rm|mkdir|cat|grep|ls|tar|sleep|sed)(?: [^'"&\n]*)?)$`)().ReplaceAll(script, []byte("$1 sh -c '$2'"))
		script = engine.Regexp(`(?m)^((?:! )?exec) (grep -[a-z]+ )'([^'"\n]*)'( [^'"&\n]*)$`)().ReplaceAll(script, []byte(`$1 sh -c '$2"$3"$4'`))
		to := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(to, script, 0o600); err != nil {
			t.Fatal(err)
		}
		changed = append(changed, to)
	}
	return changed
}

// eitherSystem is a line of a script with an expression that fits what is printed on
// Windows as well: a path with backslashes is in quotes where it has to be one word.
func eitherSystem(line []byte) []byte {
	line = engine.Regexp(`(\.\*(?:/[\w.-]+)+)(/?)`)().ReplaceAll(line, []byte(`$1"?$2`))
	line = bytes.ReplaceAll(line, []byte("/"), []byte(`[/\\]+`))
	return engine.Regexp(`no such file( or directory)?`)().ReplaceAll(line, []byte(`([Nn]o such file|.*cannot find the \w+ specified|File not found|Path not found)\.?`))
}

// asShell is sh -c TEXT [NAME ARG…].
func asShell() {
	if len(os.Args) < 3 || os.Args[1] != "-c" {
		fmt.Fprintln(os.Stderr, "sh: only -c is known here")
		os.Exit(2)
	}
	text, args := os.Args[2], os.Args[3:]
	if len(args) > 0 {
		text = strings.ReplaceAll(text, `"$0"`, syntaxQuote(args[0]))
		args = args[1:]
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "sh")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	r, err := interp.New(interp.StdIO(os.Stdin, os.Stdout, os.Stderr), interp.Params(append([]string{"--"}, args...)...),
		interp.Env(expand.ListEnviron(os.Environ()...)), interp.ExecHandlers(runTool))
	if err == nil {
		err = r.Run(context.Background(), file)
	}
	var status interp.ExitStatus
	switch {
	case errors.As(err, &status):
		os.Exit(int(status))
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// runTool runs what is not a program of this system by a function of its name.
func runTool(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
		run, ok := unixTools[args[0]]
		if !ok {
			return next(ctx, args)
		}
		in := interp.HandlerCtx(ctx)
		for i, a := range args[1:] {
			if !strings.HasPrefix(a, "-") && i >= ownNames[args[0]] && !filepath.IsAbs(a) {
				args[i+1] = filepath.Join(in.Dir, a)
			}
		}
		if code := run(args[1:], in.Stdin, in.Stdout); code != 0 {
			return interp.ExitStatus(code)
		}
		return nil
	}
}

func syntaxQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// ownNames tells how many arguments of a tool are not names of files. Where that is not
// known, the tool looks for files in the directory of the script.
var ownNames = map[string]int{"grep": 9, "sed": 9, "sleep": 1, "tar": 9, "head": 2}

// unixTools are programs in the forms in which the scripts use them.
var unixTools = map[string]func(args []string, in io.Reader, out io.Writer) int{
	"cat": func(args []string, in io.Reader, out io.Writer) int {
		if len(args) == 0 {
			_, err := io.Copy(out, in)
			return failed(err)
		}
		for _, name := range args {
			b, err := os.ReadFile(name)
			if failed(err) != 0 {
				return 1
			}
			out.Write(b)
		}
		return 0
	},
	"cp": func(args []string, _ io.Reader, _ io.Writer) int {
		_, names := dashesOf(args)
		return eachName(names, func(from, to string) error {
			if info, err := os.Stat(from); err != nil || info.IsDir() {
				return errors.Join(err, os.CopyFS(to, os.DirFS(from)))
			}
			b, err := os.ReadFile(from)
			return errors.Join(err, os.WriteFile(to, b, 0o600))
		})
	},
	"mv": func(args []string, _ io.Reader, _ io.Writer) int { return eachName(args, os.Rename) },
	"rm": func(args []string, _ io.Reader, _ io.Writer) int {
		_, names := dashesOf(args)
		for _, name := range names {
			if failed(os.RemoveAll(name)) != 0 {
				return 1
			}
		}
		return 0
	},
	"mkdir": func(args []string, _ io.Reader, _ io.Writer) int {
		_, names := dashesOf(args)
		for _, name := range names {
			if failed(os.MkdirAll(name, 0o700)) != 0 {
				return 1
			}
		}
		return 0
	},
	"grep":  grepTool,
	"ls":    lsTool,
	"tar":   tarTool,
	"sed":   sedTool,
	"head":  headTool,
	"sort":  sortTool,
	"sleep": sleepTool,
}

// matchesLine reports whether some line has a regular expression.
func matchesLine(expression, text string) bool {
	re, err := regexp.Compile("(?m)" + expression)
	return err == nil && re.MatchString(text)
}

func failed(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// eachName does something with each name and the last one, or a name of its own in it.
func eachName(names []string, do func(from, to string) error) int {
	if len(names) < 2 {
		return failed(errors.New("two names are missing"))
	}
	last := names[len(names)-1]
	for _, from := range names[:len(names)-1] {
		to := last
		if info, err := os.Stat(last); err == nil && info.IsDir() {
			to = filepath.Join(last, filepath.Base(from))
		}
		if failed(do(from, to)) != 0 {
			return 1
		}
	}
	return 0
}

func dashesOf(args []string) (options, rest []string) {
	for _, a := range args {
		if strings.HasPrefix(a, "-") && len(a) > 1 {
			options = append(options, a)
		} else {
			rest = append(rest, a)
		}
	}
	return options, rest
}
