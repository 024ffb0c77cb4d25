package operation

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// Words of tool names by what they do to the things that the arguments name.
var (
	readWords = []string{"get", "list", "read", "search", "find", "query", "fetch", "show", "view", "describe", "stat", "info",
		"head", "tail", "cat", "browse", "lookup", "count", "diff", "status", "tree", "open", "check", "inspect", "resolve", "ls",
		"glob", "grep", "download", "explore", "screenshot", "analyze", "analyse"}
	deleteWords = []string{"delete", "remove", "rm", "unlink", "trash", "destroy", "erase", "purge", "rmdir", "drop", "wipe", "clear"}
	SendWords   = []string{"send", "post", "upload", "publish", "push", "share", "submit", "notify", "email", "mail", "reply",
		"comment", "tweet", "message", "forward"}
	writeWords = []string{"write", "create", "edit", "update", "put", "save", "patch", "append", "insert", "replace", "set",
		"add", "move", "rename", "copy", "mkdir", "touch", "modify", "upsert", "apply", "make", "new", "store", "export"}
	runWords = []string{"run", "exec", "execute", "eval", "evaluate", "shell", "bash", "terminal", "command", "script", "invoke",
		"call", "start", "spawn"}
)

// VerbOf tells by the words of a name whether a tool reads, deletes, sends,
// writes or runs; the worst word counts, and none means: not known.
func VerbOf(name string) string {
	parts := NameParts(name)
	for _, v := range []struct {
		verb string
		list []string
	}{{"delete", deleteWords}, {"write", writeWords}, {"send", SendWords}, {"run", runWords}, {"read", readWords}} {
		if abstract.AnyOf(parts, v.list...) {
			return v.verb
		}
	}
	return ""
}

// NameParts splits snake_case, kebab-case and camelCase to lower-case words.
func NameParts(name string) []string {
	var b strings.Builder
	for i, c := range name {
		if c >= 'A' && c <= 'Z' && i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return strings.FieldsFunc(strings.ToLower(b.String()), func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	})
}

// endingWords say, in the name of an operation of a service, that something ends
// there, or is taken out of use. Policy tells the kinds apart: what is deleted
// is gone, what is removed may only be taken off a list, and what is archived
// or disabled can mostly be brought back.
var endingWords = []struct {
	verb  string
	words []string
}{
	{"delete", []string{"delete", "destroy", "terminate", "purge", "drop", "wipe", "erase", "del", "decommission", "truncate",
		"teardown", "nuke", "deprovision", "flushall", "flushdb", "rb", "rdelete"}},
	{"remove", []string{"remove", "rm", "rmi", "unlink", "prune", "undeploy", "deregister", "unsubscribe"}},
	{"clear", []string{"clear", "clean", "cleanup", "cancel", "forget", "unset", "untag", "unpublish"}},
	{"archive", []string{"archive", "kill", "expire"}},
	{"disable", []string{"disable", "deactivate", "revoke", "suspend", "shutdown"}},
}

// EndingVerb tells what an operation's name says that it ends: delete and the
// noun of delete-db-instance, deleteIndex, volume_delete. Empty: nothing. Of
// several such words the worst counts.
func EndingVerb(name string) (verb, noun string) {
	parts := NameParts(name)
	for _, kind := range endingWords {
		for i, p := range parts {
			if slices.Contains(kind.words, p) && !(i > 0 && keepsThings(parts[i-1])) && !(i+1 < len(parts) && parts[i+1] == "later") &&
				(kind.verb == "delete" || i == 0 || i == len(parts)-1) {
				return kind.verb, nounAround(parts, i)
			}
		}
	}
	if len(parts) > 1 && (parts[0] == "schedule" || parts[0] == "request") && parts[len(parts)-1] == "deletion" {
		return "delete", nounAround(parts[:len(parts)-1], 0)
	}
	if i := slices.Index(parts, "reset"); i == 0 || i > 0 && i == len(parts)-1 {
		return "reset", nounAround(parts, i)
	}
	return "", ""
}

// keepsThings tells whether a word before a verb of an end turns it round:
// undelete, no-remove, prevent-destroy.
func keepsThings(word string) bool {
	return word == "un" || word == "no" || word == "not" || word == "prevent" || word == "soft" || word == "after" ||
		word == "on" || word == "restore"
}

// nounAround is what is left of an operation's name without the verb at i.
func nounAround(parts []string, i int) string {
	rest := parts[i+1:]
	if len(rest) == 0 {
		rest = parts[:i]
	}
	if len(rest) == 0 {
		return ""
	}
	return PlainNoun(Singular(strings.Join(rest, "-")))
}

// PlainNoun is a noun, or nothing where a word is more likely a name: it is
// shown and recorded, so it may hold nothing that is anybody's secret.
func PlainNoun(s string) string {
	s = strings.ToLower(s)
	if len(s) < 2 || len(s) > 32 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-_") != "" {
		return ""
	}
	return s
}

// Singular takes the plural off a noun: volumes, policies, addresses.
func Singular(noun string) string {
	switch {
	case len(noun) < 4 || strings.HasSuffix(noun, "ss") || strings.HasSuffix(noun, "us") || strings.HasSuffix(noun, "is"):
		return noun
	case strings.HasSuffix(noun, "ies"):
		return noun[:len(noun)-3] + "y"
	case strings.HasSuffix(noun, "sses") || strings.HasSuffix(noun, "xes") || strings.HasSuffix(noun, "ches"):
		return noun[:len(noun)-2]
	case strings.HasSuffix(noun, "s"):
		return noun[:len(noun)-1]
	}
	return noun
}
