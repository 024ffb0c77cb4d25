package bundles

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// ownKindsKey is the setting in which an organisation defines kinds of intervention.
const ownKindsKey = "interventions.kinds"

// mergeOrganisation is the x-merge of settings that only the organisation may set.
const mergeOrganisation = "organisation"

// OwnKinds lists the kinds of intervention that a layer defines, by name. Using them
// needs a signature: see bundles/trust.
func (b *Bundle) OwnKinds() []string { return ownKindsOf(b.Settings) }

// OwnKinds lists the kinds of intervention that the policy has besides the built-in ones.
func (e *Effective) OwnKinds() []string { return ownKindsOf(e.Settings) }

// OwnKindsIn is OwnKinds for the files of a layer above the base, without reading the rest.
func OwnKindsIn(files map[string][]byte) ([]string, error) {
	b := Bundle{Layer: Organisation, Files: files}
	err := b.addSettings()
	return b.OwnKinds(), err
}

func ownKindsOf(settings map[string]any) []string {
	return slices.Sorted(maps.Keys(objectAt(settings, "interventions", "kinds")))
}

func objectAt(doc map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		doc, _ = doc[key].(map[string]any)
	}
	return doc
}

// baseHasNoKinds refuses a base layer that defines kinds: only the organisation's
// layer is checked for that right.
func baseHasNoKinds(b *Bundle, settings map[string]any) error {
	if len(ownKindsOf(settings)) == 0 {
		return nil
	}
	return b.where(ownKindsKey).as("settings.layer").wrong("%s: %s", ownKindsKey, onlyOrganisation)
}

const onlyOrganisation = "only the organisation's layer may define kinds of intervention, in a signed bundle"

// kinds checks the kinds that the organisation defines, and that every kind that is
// named exists, after everything is merged.
func (m *merger) kinds(merged map[string]any) {
	own := objectAt(merged, "interventions", "kinds")
	for _, name := range slices.Sorted(maps.Keys(own)) {
		kind, _ := own[name].(map[string]any)
		if why := wrongKind(name, kind); why != "" {
			path := below(ownKindsKey, name)
			m.errs = append(m.errs, m.place(path).wrong("%s: %s", path, why))
		}
	}
	known := append(engine.Interventions(), slices.Sorted(maps.Keys(own))...)
	m.namedKinds("interventions.progressive", list(objectAt(merged, "interventions")["progressive"]), known)
	ladders := objectAt(merged, "interventions", "ladders")
	for _, id := range slices.Sorted(maps.Keys(ladders)) {
		m.namedKinds(below("interventions.ladders", id), list(ladders[id]), known)
	}
	for _, name := range slices.Sorted(maps.Keys(objectAt(merged, "interventions", "severity", "below"))) {
		m.namedKinds(below("interventions.severity.below", name), []any{name}, known)
	}
}

func (m *merger) namedKinds(path string, names []any, known []string) {
	for i, v := range names {
		name := fmt.Sprint(v)
		if slices.Contains(known, name) {
			continue
		}
		near := ""
		if word := engine.Nearest(name, known); word != "" {
			near = fmt.Sprintf("; did you mean %q?", word)
		}
		at := m.place(path, below(path, fmt.Sprint(i)))
		m.errs = append(m.errs, at.wrong("%s: %q is not a kind of intervention; expected one of %s%s", path, name,
			strings.Join(known, ", "), near))
	}
}

// fullPath matches an absolute path of any system: a policy may be checked on a
// different machine from the one on which it is used.
var fullPath = engine.Regexp(`^(/|[A-Za-z]:[\\/]|\\\\)`)

// wrongKind reports a problem of a kind's definition; empty: none.
func wrongKind(name string, kind map[string]any) string {
	var ways []string
	for _, key := range []string{"webhook", "webhook_file", "webhook_env", "command"} {
		if kind[key] != nil {
			ways = append(ways, key)
		}
	}
	command := list(kind["command"])
	switch {
	case slices.Contains(engine.Interventions(), name):
		return "this is a built-in kind; give it another name"
	case len(ways) != 1:
		return "give exactly one of webhook, webhook_file, webhook_env and command"
	case len(command) > 0 && !fullPath().MatchString(fmt.Sprint(command[0])):
		return fmt.Sprintf("command begins with %q; give the absolute path of a program, and its arguments one by one", fmt.Sprint(command[0]))
	case len(command) > 0 && (kind["secret_file"] != nil || kind["secret_env"] != nil || kind["proxy"] != nil):
		return "secret_file, secret_env and proxy are for a webhook; name the variables of a command in env"
	case len(command) == 0 && kind["env"] != nil:
		return "env is for a command"
	case kind["secret_file"] != nil && kind["secret_env"] != nil:
		return "give one of secret_file and secret_env"
	}
	return ""
}
