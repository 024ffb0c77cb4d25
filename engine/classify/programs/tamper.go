package programs

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// SettingsIn parses an object of settings: JSON with comments and trailing commas, each key
// once. It fails on anything that could hide a setting.
func SettingsIn(text string) (map[string]json.RawMessage, bool) {
	plain, err := hujson.Standardize([]byte(text))
	if err != nil {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(plain))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	all := map[string]json.RawMessage{}
	for d.More() {
		key, err := d.Token()
		name, ok := key.(string)
		if _, twice := all[name]; err != nil || !ok || twice {
			return nil, false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, false
		}
		all[name] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	_, err = d.Token()
	return all, err == io.EOF
}

// posesAsClient reports whether an unknown program gets the arguments of reviewer's hook: it
// may be a copy of reviewer.
func posesAsClient(c *shell.Call) bool {
	if c.Known {
		return false
	}
	for i := range len(c.Args) - 1 {
		if c.Args[i].Is("hook") && c.Args[i+1].Is("claude-code") {
			return true
		}
	}
	return false
}

// movedBy records that variables change where a client reads its settings, which a sandbox may
// do as well.
func movedBy(c *shell.Call) {
	moved := c.Shell.Frame.Remade
	for _, name := range c.Words {
		_, set := c.Shell.Scope.Lookup(name)
		moved = moved || set
	}
	c.Shell.SignalIf(moved, engine.SignalGuardTamper)
}

// injectedBy records that variables load other code into a client.
func injectedBy(c *shell.Call) {
	for _, name := range c.Words {
		_, set := c.Shell.Scope.Lookup(name)
		c.Shell.SignalIf(set && c.Shell.Out.Signals[engine.SignalEnvInjected], engine.SignalGuardTamper)
	}
}

// otherSettings records that a client is given settings other than those that the row names,
// or unknown ones: they may turn its hooks off or allow more.
func otherSettings(c *shell.Call) {
	c.Shell.SignalIf(slices.ContainsFunc(c.Opts.All("--settings"), func(a abstract.Arg) bool {
		if !strings.HasPrefix(strings.TrimSpace(a.Text), "{") {
			file, ok := c.Shell.CodeIn(a, "json")
			if !ok {
				return true
			}
			a = file.Text
		}
		all, read := SettingsIn(a.Text)
		return !a.Known() || !read ||
			slices.ContainsFunc(slices.Sorted(maps.Keys(all)), func(k string) bool { return !slices.Contains(c.Words, k) })
	}), engine.SignalAgentUnguarded)
}

// replacesGuard records that a package or module that contains reviewer's program is installed
// or removed, or that the client into which it is installed is removed or gets a certain,
// perhaps older version. The row names the words that remove.
func replacesGuard(c *shell.Call) {
	removed := c.Opts.Operand(0).Is(c.Words...)
	for _, p := range c.Opts.Operands[min(1, len(c.Opts.Operands)):] {
		name, version := p.Text, ""
		if i := strings.LastIndexByte(name, '@'); i > 0 {
			name, version = name[:i], name[i+1:]
		}
		switch base := shell.BaseName(name); {
		case slices.Contains(place.GuardPrograms(), base):
			c.Signal(engine.SignalGuardTamper)
		case c.Shell.In.Knows.Agent(base) && (removed || strings.Trim(version, "0123456789.") == "" && version != ""):
			c.Signal(engine.SignalGuardTamper)
		}
	}
}

// aimsAtLines records a signal to processes by patterns of their command lines.
func aimsAtLines(c *shell.Call) { c.AimsAtLines(c.Opts.Operands) }

// seeksLines records that processes are looked up by patterns of their command lines.
func seeksLines(c *shell.Call) { c.LooksUpLines(c.Opts.Operands...) }

// seeksInInput searches for the guard in the output of another program, or in the system's
// lists of processes.
func seeksInInput(c *shell.Call) {
	listed := c.Shell.Frame.Piped || slices.ContainsFunc(c.Opts.Operands, func(a abstract.Arg) bool {
		return strings.HasSuffix(a.Text, "/cmdline") || strings.HasSuffix(a.Text, "/comm")
	})
	if listed && len(c.Opts.Operands) > 0 {
		c.LooksUp(c.Opts.Operands[0])
	}
}

// namesGuardFiles records that the files of the client's settings are among those that contain
// a string, if that string is the guard's name.
func namesGuardFiles(c *shell.Call) {
	words := behindSubs(c)
	patterns := append(c.Opts.All("-e", "--regexp"), words[:min(1, len(words))]...)
	if !slices.ContainsFunc(patterns, place.NamesGuard) {
		return
	}
	roots := words[min(1, len(words)):]
	if len(roots) == 0 {
		roots = []abstract.Arg{abstract.Word(".")}
	}
	for _, root := range roots {
		for _, dir := range []string{"/.claude", ""} {
			at := root.With(strings.TrimSuffix(root.Text, "/") + dir)
			if dir == "" && shell.BaseName(strings.TrimSuffix(root.Text, "/")) != ".claude" {
				continue
			}
			for _, name := range []string{"settings.json", "settings.local.json"} {
				if holdsFile(c, at, name) {
					c.Out = abstract.Concat(at.With(at.Text+"/"+name+"\n"), c.Out)
				}
			}
		}
	}
}

// holdsFile reports whether a folder contains a file, as far as is known.
func holdsFile(c *shell.Call, dir abstract.Arg, name string) bool {
	if c.Shell.In.ListDir == nil {
		return name == "settings.json"
	}
	list, err := c.Shell.In.ListDir(abstract.JoinDir(c.Shell.Scope.Dirs[0], dir).Text)
	return err == nil && slices.Contains(list, name)
}

// locks records that the lock of the guard's own log is held: nothing can be recorded
// meanwhile, so every call is denied.
func locks(c *shell.Call) {
	for _, a := range c.Args {
		at := abstract.JoinDir(c.Shell.Scope.Dirs[0], a)
		c.Shell.SignalIf(at.Sure == abstract.Literal && slices.ContainsFunc(c.Shell.In.Guard, func(g string) bool {
			return place.Within(g, at.Text)
		}), engine.SignalGuardTamper)
	}
}

// hiddenFolders returns the names that begin with a dot in a folder whose contents are copied:
// settings of clients are in such folders, and are copied with the rest.
func hiddenFolders(c *shell.Call, source abstract.Arg) []string {
	if c.Shell.In.ListDir == nil || !source.Known() || !strings.HasSuffix(source.Text, "/.") && !strings.HasSuffix(source.Text, "/") {
		return nil
	}
	list, err := c.Shell.In.ListDir(abstract.JoinDir(c.Shell.Scope.Dirs[0], source.With(strings.TrimSuffix(source.Text, "/."))).Text)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(list), func(n string) bool { return !strings.HasPrefix(n, ".") || n == ".git" })
}
