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

// SettingsIn reads an object of settings, JSON with comments and trailing commas,
// each setting given once. Anything that could hide a setting makes it fail.
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

// speaksAsClient reports whether an unknown program is given an event as a client
// gives one to reviewer: it may be a copy of it.
func speaksAsClient(c *shell.Call) bool {
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

// movedBy notes that variables say where a client looks for its settings, which
// a sandbox may do as well.
func movedBy(c *shell.Call) {
	moved := c.Shell.Frame.Remade
	for _, name := range c.Words {
		_, set := c.Shell.Scope.Lookup(name)
		moved = moved || set
	}
	c.Shell.SignalIf(moved, engine.SignalGuardTamper)
}

// injectedBy notes that variables put code into a client that is not its own.
func injectedBy(c *shell.Call) {
	for _, name := range c.Words {
		_, set := c.Shell.Scope.Lookup(name)
		c.Shell.SignalIf(set && c.Shell.Out.Signals[engine.SignalEnvInjected], engine.SignalGuardTamper)
	}
}

// otherSettings notes that a client is given settings next to those that the row
// names, or some about which nothing is known: they may switch its hooks off or
// allow it more.
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

// replacesGuard notes that a package or module is installed or removed that
// contains reviewer's program, or that the client it is installed in is removed or
// gets a certain, perhaps older version. The row names the words that remove.
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

// aimsAtLines is a signal to processes by patterns of their command lines.
func aimsAtLines(c *shell.Call) { c.AimsAtLines(c.Opts.Operands) }

// seeksLines looks processes up by patterns of their command lines.
func seeksLines(c *shell.Call) { c.LooksUpLines(c.Opts.Operands...) }

// seeksInInput looks for the guard in what another program lists, or in the lists
// of processes that the system keeps.
func seeksInInput(c *shell.Call) {
	listed := c.Shell.Frame.Piped || slices.ContainsFunc(c.Opts.Operands, func(a abstract.Arg) bool {
		return strings.HasSuffix(a.Text, "/cmdline") || strings.HasSuffix(a.Text, "/comm")
	})
	if listed && len(c.Opts.Operands) > 0 {
		c.LooksUp(c.Opts.Operands[0])
	}
}

// namesGuardFiles reports that the names of the client's settings are among
// those of files that contain a text, where that text is the guard's name.
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

// holdsFile reports whether a folder contains a file, as far as can be seen.
func holdsFile(c *shell.Call, dir abstract.Arg, name string) bool {
	if c.Shell.In.ListDir == nil {
		return name == "settings.json"
	}
	list, err := c.Shell.In.ListDir(abstract.JoinDir(c.Shell.Scope.Dirs[0], dir).Text)
	return err == nil && slices.Contains(list, name)
}

// locks notes that the lock of the guard's own log is held: nothing can be recorded
// meanwhile, so no call runs.
func locks(c *shell.Call) {
	for _, a := range c.Args {
		at := abstract.JoinDir(c.Shell.Scope.Dirs[0], a)
		c.Shell.SignalIf(at.Sure == abstract.Literal && slices.ContainsFunc(c.Shell.In.Guard, func(g string) bool {
			return place.Within(g, at.Text)
		}), engine.SignalGuardTamper)
	}
}

// hiddenFolders are the names in a folder whose contents are copied that begin
// with a dot: settings of clients are in such folders, and land with the rest.
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
