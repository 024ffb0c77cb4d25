package programs

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// SettingsIn reads an object of settings, each given once. Comments are not
// read, as is anything else behind which something could hide.
func SettingsIn(text string) (map[string]json.RawMessage, bool) {
	d := json.NewDecoder(strings.NewReader(text))
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
	_, err := d.Token()
	return all, err == io.EOF
}

// speaksAsClient says that a program of which nothing is known is told of an
// event as a client tells reviewer: a copy of it serves as well.
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

// misled notes that a client is started so that it looks for its settings
// elsewhere, or with code in it that is not its own.
func misled(c *shell.Call) {
	c.Shell.SignalIf(c.Shell.Frame.Remade, engine.SignalGuardTamper)
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		_, moved := c.Shell.Scope.Lookup(name)
		c.Shell.SignalIf(moved, engine.SignalGuardTamper)
	}
	for _, name := range []string{"LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "BASH_ENV"} {
		_, set := c.Shell.Scope.Lookup(name)
		c.Shell.SignalIf(set && c.Shell.Out.Signals[engine.SignalEnvInjected], engine.SignalGuardTamper)
	}
}

// harmlessSettings are those of a client that neither allow nor run anything.
var harmlessSettings = []string{"model", "outputStyle", "language", "theme", "verbose", "includeCoAuthoredBy",
	"cleanupPeriodDays", "alwaysThinkingEnabled", "effortLevel", "spinnerTipsEnabled"}

// otherSettings says that a client is given settings of which some, or what
// they are is not known, may switch its hooks off or allow it more.
func otherSettings(c *shell.Call) bool {
	return slices.ContainsFunc(c.Opts.All("--settings"), func(a abstract.Arg) bool {
		if !strings.HasPrefix(strings.TrimSpace(a.Text), "{") {
			file, ok := c.Shell.CodeIn(a, "json")
			if !ok {
				return true
			}
			a = file.Text
		}
		all, read := SettingsIn(a.Text)
		return !a.Known() || !read ||
			slices.ContainsFunc(slices.Sorted(maps.Keys(all)), func(k string) bool { return !slices.Contains(harmlessSettings, k) })
	})
}

// replacesGuard notes that a package or module is installed or taken away that
// holds reviewer's program, or that the client it stands at is taken away or
// gets a certain, perhaps older version.
func replacesGuard(c *shell.Call, packages []abstract.Arg, removed bool) {
	for _, p := range packages {
		name, version := p.Text, ""
		if i := strings.LastIndexByte(name, '@'); i > 0 {
			name, version = name[:i], name[i+1:]
		}
		switch base := shell.BaseName(name); {
		case base == place.GuardProgram:
			c.Signal(engine.SignalGuardTamper)
		case c.Shell.In.Knows.Agent(base) && (removed || strings.Trim(version, "0123456789.") == "" && version != ""):
			c.Signal(engine.SignalGuardTamper)
		}
	}
}
