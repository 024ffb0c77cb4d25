package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/catalogue"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/spf13/cobra"
)

// Completes sets the values that a shell offers for a flag.
func Completes(cmd *cobra.Command, flag string, values ...string) {
	completesWith(cmd, flag, func() []string { return values })
}

func completesWith(cmd *cobra.Command, flag string, values func() []string) {
	if cmd.Flags().Lookup(flag) == nil {
		return
	}
	_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	})
}

// Completions adds shell completion of values of this machine: ids of sessions and
// rules, keys of settings, families, agents.
func (a *App) Completions(root *cobra.Command) {
	arguments := map[string]func() []string{
		"session show": a.sessionIDs, "session scope": a.sessionIDs, "session stop": a.sessionIDs, "session resume": a.sessionIDs, "session rollback": a.sessionIDs,
		"audit show": a.sessionIDs, "audit tail": a.sessionIDs, "audit why": a.sessionIDs, "audit verify": a.sessionIDs,
		"audit replay": a.sessionIDs, "audit seal": a.sessionIDs, "audit export": a.sessionIDs, "audit case": a.sessionIDs,
		"audit stats": a.sessionIDs, "config show": a.settingKeys, "policy effective": a.settingKeys, "hook": harness.Names,
	}
	for _, path := range slices.Sorted(maps.Keys(arguments)) {
		cmd, rest, err := root.Find(strings.Fields(path))
		if err != nil || len(rest) > 0 {
			continue
		}
		values := arguments[path]
		cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return values(), cobra.ShellCompDirectiveNoFileComp
		}
	}
	for path, flags := range map[string]map[string]func() []string{
		"policy new case": {"rule": a.ruleIDs}, "policy rules": {"family": a.families},
		"policy new bundle": {"layer": bundles.Layers}, "policy activate": {"layer": bundles.Layers},
		"policy simulate": {"session": a.sessionIDs}, "checkpoint list": {"session": a.sessionIDs},
	} {
		if cmd, _, err := root.Find(strings.Fields(path)); err == nil {
			for flag, values := range flags {
				completesWith(cmd, flag, values)
			}
		}
	}
}

// sessionIDs lists the recorded sessions, or nothing if they cannot be read: shell
// completion has no place for errors.
func (a *App) sessionIDs() []string {
	store, err := a.OpenStore()
	if err != nil {
		return nil
	}
	sessions, err := store.Sessions()
	if err != nil {
		return nil
	}
	ids := []string{"last"}
	for _, s := range sessions {
		if s.Key.Session != "" {
			ids = append(ids, s.Key.Session)
		}
	}
	return ids
}

func (a *App) settingKeys() []string {
	e, err := a.ShownPolicy(context.Background(), "")
	if err != nil {
		return nil
	}
	settings, err := e.Explain()
	if err != nil {
		return nil
	}
	var keys []string
	for _, s := range settings {
		keys = append(keys, s.Key)
	}
	return keys
}

func (a *App) ruleIDs() []string {
	return a.ofRules(func(r catalogue.Entry) string { return r.ID })
}

func (a *App) families() []string {
	return a.ofRules(func(r catalogue.Entry) string { return r.Family })
}

func (a *App) ofRules(word func(catalogue.Entry) string) []string {
	e, err := a.ShownPolicy(context.Background(), "")
	if err != nil {
		return nil
	}
	var words []string
	for _, r := range catalogue.Of(e) {
		words = append(words, word(r))
	}
	slices.Sort(words)
	return slices.Compact(words)
}
