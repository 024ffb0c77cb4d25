package transcript

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// shellCalls translates a shell command, given as a string or as a list of words.
func shellCalls(tool string, args map[string]any) []toolCall {
	args = aliasBash.renamed(args)
	if words, ok := argv(args["command"]); ok {
		if patch, is := patchOfWords(words); is {
			return inDir(patchCalls(map[string]any{"input": patch}), word(args, "workdir"))
		}
		args["command"] = commandLine(words, args["env"])
	}
	command, ok := args["command"].(string)
	if !ok {
		return []toolCall{encoded(tool, args)}
	}
	if patch, is := patchOfScript(command); is {
		return inDir(patchCalls(map[string]any{"input": patch}), word(args, "workdir"))
	}
	return []toolCall{inItsDir(args)}
}

func inDir(calls []toolCall, dir string) []toolCall {
	for i := range calls {
		calls[i].dir = dir
	}
	return calls
}

// inItsDir returns a command with the directory that its arguments name.
func inItsDir(args map[string]any) toolCall {
	dir := ""
	for _, name := range []string{"workdir", "working_directory", "dir_path", "directory", "cwd"} {
		if dir = word(args, name); dir != "" {
			break
		}
	}
	c := encoded("Bash", args)
	c.dir = dir
	return c
}

// commandLine returns the command of a list of words. Of a shell with a script, only
// the script is returned.
func commandLine(words []string, env any) string {
	set, _ := env.(map[string]any)
	if len(set) == 0 && len(words) == 3 && isShell(words[0]) && slices.Contains([]string{"-c", "-lc", "-ic", "-lic"}, words[1]) {
		return words[2]
	}
	var line []string
	for _, name := range slices.Sorted(maps.Keys(set)) {
		line = append(line, shellQuote(name+"="+word(set, name)))
	}
	if len(line) > 0 {
		line = append([]string{"env"}, line...)
	}
	for _, w := range words {
		line = append(line, shellQuote(w))
	}
	return strings.Join(line, " ")
}

func isShell(program string) bool {
	return slices.Contains([]string{"bash", "sh", "zsh", "dash"}, path.Base(program))
}
