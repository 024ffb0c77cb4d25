package prompt

import (
	"fmt"
	"hash/fnv"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/marks"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

// MaxActionWords and MaxGoalWords limit the words of an action and of a prompt that
// are hashed; the first ones are.
const (
	MaxActionWords = 24
	MaxGoalWords   = 64
)

// looking are programs that only show or move what others have made: they are in most
// commands and do not indicate what is wanted.
var looking = []string{"cat", "head", "tail", "less", "more", "wc", "sort", "uniq", "cut", "tr", "awk", "sed", "grep", "egrep",
	"fgrep", "rg", "find", "fd", "xargs", "ls", "dir", "tree", "cd", "pwd", "echo", "printf", "tee", "test", "true", "false",
	"sleep", "exit", "which", "type", "env", "export", "set", "unset", "source", "bash", "sh", "zsh", "sudo", "timeout", "time",
	"mkdir", "touch", "cp", "mv", "rm", "ln", "chmod", "stat", "file", "du", "df", "basename", "dirname", "realpath", "diff",
	"cmp", "get-content", "get-childitem", "select-string", "write-output", "write-host", "set-location"}

// WordHashes returns the hashes of the first n distinct words of masked texts that say
// what they are about, without inflections. The same word has the same hash in a
// prompt and in an action. Names are split: cartTotal and cart_total are cart and
// total.
func WordHashes(texts []string, n int) []string {
	var out []string
	seen := map[string]bool{}
	for _, text := range texts {
		for _, run := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
			if strings.Contains(run, mask.Redacted) {
				continue
			}
			for _, w := range splitName(run) {
				if w = Stem(strings.ToLower(w)); w == "" || seen[w] {
					continue
				}
				if len(out) >= n {
					return out
				}
				seen[w] = true
				out = append(out, HashWord(w))
			}
		}
	}
	return out
}

// HashWord is a hash that is not keyed: words of masked texts are not secrets.
func HashWord(w string) string {
	h := fnv.New32a()
	h.Write([]byte(w))
	return fmt.Sprintf("%08x", h.Sum32())
}

// splitName splits camelCase and snake_case.
func splitName(s string) []string {
	var list []string
	start, last := 0, rune(0)
	for i, r := range s {
		if r == '_' || unicode.IsUpper(r) && unicode.IsLower(last) {
			list = append(list, s[start:i])
			if start = i; r == '_' {
				start++
			}
		}
		last = r
	}
	return append(list, s[start:])
}

// Stem removes the commonest endings of a word in lower case; empty for filler words.
// It need not be correct, only the same for both sides.
func Stem(w string) string {
	if len(w) < 3 || slices.Contains(marks.StopWords, w) || strings.Trim(w, "0123456789") == "" {
		return ""
	}
	for _, e := range []struct{ end, with string }{
		{"ization", "ize"}, {"ations", "ate"}, {"ation", "ate"}, {"ies", "y"}, {"sses", "ss"}, {"ings", ""}, {"ing", ""}, {"edly", ""}, {"ied", "y"}, {"ed", ""}, {"ers", "er"}, {"es", ""}, {"s", ""},
	} {
		base, ok := strings.CutSuffix(w, e.end)
		if !ok || len(base) < 3 || e.end == "s" && strings.HasSuffix(base, "s") {
			continue
		}
		w = base + e.with
		break
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] && !strings.ContainsAny(w[n-1:], "lsz") {
		w = w[:n-1] // stopped: stop
	}
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e") // remove, removing
	}
	return w
}

// ActionWords returns the words of a masked action: of its description, of the
// paths, of the commands. The contents of files do not count.
func ActionWords(a *engine.Action, args map[string]any) []string {
	var texts []string
	for _, name := range []string{"description", "subject", "query", "pattern"} {
		if s, ok := args[name].(string); ok {
			texts = append(texts, s)
		}
	}
	for _, p := range a.Paths {
		texts = append(texts, strings.TrimSuffix(p, path.Ext(p)))
	}
	for _, c := range a.Commands {
		if !slices.Contains(looking, c.Name) {
			texts = append(texts, c.Name)
		}
		texts = append(texts, c.Sub...)
		texts = append(texts, c.Operands...)
	}
	if len(a.Paths) == 0 && len(a.Commands) == 0 {
		texts = append(texts, a.Resource)
	}
	return WordHashes(texts, MaxActionWords)
}
