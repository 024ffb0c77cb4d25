package settings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

// codexOff is the setting with which a configuration of Codex turns all hooks
// off.
const codexOff = "[features] hooks = false"

// codexConfig is config.toml, to which no hook is written: hooks.json is easier for a person to read.
func codexConfig() Format {
	return Format{Inspect: func(raw []byte, _ string) Findings {
		doc, err := parseTOML(raw)
		if err != nil {
			return Findings{Problem: err.Error()}
		}
		var found Findings
		if table(doc, "features")["hooks"] == false {
			found.Off = append(found.Off, Off{Name: codexOff})
		}
		for _, group := range tables(table(doc, "hooks")[harness.PreToolUse]) {
			for _, h := range tables(group["hooks"]) {
				found.Foreign = append(found.Foreign, foreignTable(harness.PreToolUse, group, h))
			}
		}
		return found
	}}
}

func foreignTable(event string, group, h map[string]any) ForeignHook {
	matcher, _ := group["matcher"].(string)
	kind, _ := h["type"].(string)
	command, _ := h["command"].(string)
	return ForeignHook{Event: event, Matcher: matcher, Type: kind, What: command}
}

// codexRequirements is requirements.toml: its hooks need no trust, and `[features] hooks = true` keeps
// every configuration from turning them off.
func codexRequirements(h harness.Harness) Format {
	e := entry{agent: h.Name, command: "command", timeout: "timeout", unit: h.Unit, guarded: true}
	f := blockFormat(nil, func(raw []byte, _ string) Findings { return codexManaged(e, hooksOf(h), raw) })
	f.Install = func(old []byte, c HookCommand) ([]byte, error) {
		if err := c.check(); err != nil {
			return nil, err
		}
		pin, err := codexPin(old)
		if err != nil {
			return nil, err
		}
		return withBlock(old, pin+codexBlock(e, hooksOf(h), c))
	}
	return f
}

// codexPin returns the lines that keep hooks on, empty where the file has them.
func codexPin(old []byte) (string, error) {
	rest, _, err := withoutBlock(old)
	if err != nil {
		return "", err
	}
	doc, err := parseTOML(rest)
	if err != nil {
		return "", err
	}
	features, has := doc["features"].(map[string]any)
	switch {
	case features["hooks"] == true:
		return "", nil
	case has:
		return "", fmt.Errorf("settings: [features] must contain `hooks = true`, or every repository can turn hooks off; add it first")
	}
	return "[features]\nhooks = true\n\n", nil
}

func codexBlock(e entry, hooks []Hook, c HookCommand) string {
	var b strings.Builder
	for _, h := range c.given(hooks) {
		fmt.Fprintf(&b, "[[hooks.%s]]\n", h.Event)
		if h.aboutTool() {
			b.WriteString("matcher = \".*\"\n")
		}
		fmt.Fprintf(&b, "[[hooks.%s.hooks]]\ntype = \"command\"\ncommand = %s\ntimeout = %d\n\n",
			h.Event, quoteTOML(e.line(c, h)), e.limit(h))
	}
	return b.String()
}

func codexManaged(e entry, hooks []Hook, raw []byte) Findings {
	doc, err := parseTOML(raw)
	if err != nil {
		return Findings{Problem: err.Error()}
	}
	found := Findings{Pinned: table(doc, "features")["hooks"] == true}
	found.AllowManagedHooksOnly = doc["allow_managed_hooks_only"] == true
	for event, groups := range table(doc, "hooks") {
		for _, group := range tables(groups) {
			for _, h := range tables(group["hooks"]) {
				e.inspectTable(&found, hooks, event, group, h)
			}
		}
	}
	slices.SortFunc(found.Own, func(a, b OwnHook) int { return strings.Compare(a.Event, b.Event) })
	return found
}

// inspectTable examines a hook that is written in TOML.
func (e entry) inspectTable(found *Findings, hooks []Hook, event string, group, h map[string]any) {
	raw, err := json.Marshal(h)
	if err != nil {
		return // of a type that JSON does not have, so it is not a hook
	}
	i := slices.IndexFunc(hooks, func(h Hook) bool { return h.Event == event })
	own := ownEntry(e.agent, raw)
	o, err := parseObject(raw)
	switch {
	case err != nil || i < 0:
	case own != nil:
		own.Event = event
		own.Matcher, _ = group["matcher"].(string)
		own.Problems, own.Open = e.problems(*own, o, hooks[i], ""), e.open(*own, hooks[i])
		found.Own = append(found.Own, *own)
	case hooks[i].gate():
		found.Foreign = append(found.Foreign, foreignTable(event, group, h))
	}
}
