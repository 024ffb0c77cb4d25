package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/rogpeppe/go-internal/testscript"
)

// root is the folder of the repository.
const root = "../.."

// The shell blocks of the README are run as a newcomer would paste them: all in one
// shell, from top to bottom, with a home directory of their own. A block that begins
// with ```sh person needs a person at a terminal, and is left out where an agent
// started the tests. A block that begins with ```console shows a command and parts of
// its output.

var updateReadme = flag.Bool("update-readme", false, "write the output that the README shows")

const readme = root + "/README.md"

var (
	shellBlock   = engine.Regexp("(?ms)^```sh( person)?\n(.*?)^```$")
	consoleBlock = engine.Regexp("(?ms)^```console\n\\$ (.*?)\n(.*?)^```$")
)

// stubs replace what a newcomer has and the test must not start: make would run these
// tests again.
const stubs = `make() {
	case $1 in
	demo) bash "$TESTDATA/demo/demo.sh" "$(command -v reviewer)" ;;
	build) mkdir -p bin && cp "$(command -v reviewer)" bin/reviewer && cp "$(command -v reviewer-hook)" bin/reviewer-hook ;;
	*) grep -q "^$1:" "$TESTDATA/../Makefile" ;;
	esac
}
`

// readmeScript joins the shell blocks of the README, and puts what each console block
// prints into a file of the folder $OUT.
func readmeScript(text string, person bool) string {
	var b strings.Builder
	b.WriteString("set -e\n" + stubs)
	for i, block := range consoleBlock().FindAllStringSubmatch(text, -1) {
		fmt.Fprintf(&b, "%s > \"$OUT/%d\" 2>&1\n", block[1], i)
	}
	for _, block := range shellBlock().FindAllStringSubmatch(text, -1) {
		if block[1] == "" || person {
			b.WriteString(block[2])
		}
	}
	return b.String()
}

func TestReadme(t *testing.T) {
	raw, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	if n := len(shellBlock().FindAllString(text, -1)); n < 10 {
		t.Fatalf("the README has %d shell blocks, want 10 or more", n)
	}
	const most = 250
	if n := strings.Count(text, "\n"); n > most {
		t.Errorf("the README has %d lines, want %d at most", n, most)
	}
	out := t.TempDir()
	t.Run("blocks", func(t *testing.T) { runReadme(t, text, out) })
	checkPictures(t, text, out)
}

func runReadme(t *testing.T, text, out string) {
	person, err := condition("person")
	if err != nil {
		t.Fatal(err)
	}
	if !person {
		t.Log("an agent started these tests: the blocks for a person are left out")
	}
	script := "[person] ttyin -stdin enter\nexec bash readme.sh\nstdout 'denied with exit status 2'\n-- readme.sh --\n" + readmeScript(text, person)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "readme.txtar"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:       dir,
		Condition: condition,
		Cmds:      scriptCommands(),
		Setup: func(e *testscript.Env) error {
			if err := setUp(e); err != nil {
				return err
			}
			e.Setenv("REVIEWER_HOME", "")
			e.Setenv("OUT", out)
			if !person {
				return nil
			}
			code, err := newCode(cli.StateHomeOf(e.Getenv("HOME"))) // the person gives a code that they have: install makes one otherwise
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(e.WorkDir, "enter"), []byte(strings.Repeat(code+"\n", 3)), 0o600)
		},
	})
}

// checkPictures compares what console blocks show with what their commands print. A
// line … stands for any lines.
func checkPictures(t *testing.T, text, out string) {
	t.Helper()
	for i, block := range consoleBlock().FindAllStringSubmatch(text, -1) {
		raw, err := os.ReadFile(filepath.Join(out, fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		shown := picture(block[2], string(raw))
		if shown == block[2] {
			continue
		}
		if !*updateReadme {
			t.Errorf("the README shows another output of %s: go test ./cmd/reviewer -run TestReadme -update-readme\ngot:\n%s", block[1], shown)
			continue
		}
		text = strings.Replace(text, block[2], shown, 1)
		if err := os.WriteFile(readme, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// picture returns the part of an output that a block shows: from its first line to the
// next empty one, after a line … where more comes before.
func picture(block, output string) string {
	first, rest, found := strings.Cut(block, "…\n")
	if !found {
		return output
	}
	heading, _, _ := strings.Cut(rest, "\n")
	_, part, found := strings.Cut(output, heading+"\n")
	if !found {
		return output
	}
	part, _, _ = strings.Cut(part, "\n\n")
	return first + "…\n" + heading + "\n" + strings.TrimSuffix(part, "\n") + "\n"
}
