package prompt

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

// The commands of a message that are for the person to run are those of blocks of a shell
// and of code spans after a word for running.
func TestToldCommands(t *testing.T) {
	for text, want := range map[string]string{
		"Run `make check`.":                             "make check",
		"Then **run** `make check` and use `go vet`":    "make check",
		"Execute: `npm run build`":                      "npm run build",
		"I ran `make check`.":                           "",
		"Run `make`.":                                   "",
		"The `run` method":                              "",
		"```bash\nmake a && make b\n# all\nmake c\n```": "make a; make c",
		"```console\n$ make a\ndone it\n```":            "make a",
		"```\nmake a\n```":                              "",
		"```sh\nmake a\ncd web\nmake b\n```":            "make a",
		"```sh\nmake <target>\nmake $X\nmake a...\n```": "",
		"```sh\ncat <<EOF\nmake a\nEOF\n```":            "",
		"```sh\nmake a":                                 "",
		"```python\nrun `make a`\n```":                  "",
		"Run `` and `":                                  "",
	} {
		got := ToldCommands(classifytest.Rows(), &mask.Masker{Mac: classifytest.MAC}, text)
		if g := strings.Join(got, "; "); g != want {
			t.Errorf("%q tells to run %q, want %q", text, g, want)
		}
	}
	many := "```sh\n" + strings.Repeat("make a\n", 100_000) + "```\n"
	if n := len(ToldCommands(classifytest.Rows(), &mask.Masker{Mac: classifytest.MAC}, many)); n > maxTold {
		t.Errorf("%d commands of a long message are listed", n)
	}
}
