package bundles

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

// openLists are the lists whose items, and the maps whose keys, are not from a vocabulary: names
// of the world outside the policy, or names that the setting itself defines.
var openLists = map[string]string{
	"agents' own words": "grants.modes grants.undo.modes grants.approved.modes grants.client.silent grants.client.edits unattended_modes " +
		"interventions.resume.dangerous_tools guard.client_rules.*.tools",
	"programs": "grants.wrappers grants.undo.programs grants.client.programs grants.client.edit_programs code.runners resources.miners " +
		"processes.lists processes.by_port processes.engines processes.filters processes.services processes.units processes.runtimes " +
		"save.later save.wipes services.local places.overwriters places.unpackers secrets.listing secrets.searchers rewrite.planners packages.beside " +
		"hosts.services lists.environment_printers lists.image_clients lists.lane_programs lists.npm_installers lists.python_installers lists.script_runtimes lists.unit_managers " +
		"workspace.makers workspace.editors workspace.starters lists.agents lists.destroying_verbs lists.fetching_wrappers lists.outward_verbs lists.password_tools lists.permission_verbs lists.ssh lists.version_control",
	"paths": "zones scope.paths workspace.allowed workspace.denied isolation.read isolation.write isolation.hidden isolation.masked " +
		"isolation.devices isolation.own isolation.protected isolation.made isolation.agent_read.* isolation.agent_write.* " +
		"isolation.agent_protected.* rules.disabled_in system.rights system.serial system.harmless_devices guard.traces inbound.logins " +
		"checkpoints.generated packages.lockfiles scope.built_with",
	"expressions": "lists.image_registries lists.keeping_options lists.removing_options " +
		"code.run_elsewhere scope.caches system.all_processes system.asked processes.managers registry.asked registry.off " +
		"registry.removed execution.records execution.replays execution.proxies places.data permissions.broad permissions.broad_below " +
		"services.deploys services.speaks services.pays services.presses services.team services.production services.migrations services.rehearsals services.merges services.stops services.restarts services.selects services.made_again " +
		"packages.upgrades goals.requests.operates.scale goals.requests.operates.cycle goals.requests.operates.configure goals.requests.operates.switch_on goals.requests.operates.switch_off goals.requests.operates.route " +
		"goals.requests.operates_unsaid goals.requests.drafts goals.requests.draft_options goals.sends goals.requests.places goals.requests.mounts goals.requests.desktop workspace.settings secrets.plain secrets.variables secrets.unnamed secrets.hunted packages.essential packages.broad integrity.tests",
	"hosts, ports and addresses": "scope.hosts isolation.hosts isolation.ports isolation.agent_hosts.* processes.ports hosts.known hosts.repository " +
		"hosts.drops hosts.metadata services.stores services.payments services.messengers inbound.local packages.sources",
	"words of names, verbs and objects": "lists.handling_verbs lists.removing_verbs lists.changing_verbs lists.installed_kinds lists.sharing_verbs lists.overwriting_verbs lists.copy_marks lists.ending_verbs lists.package_installs lists.published_folders lists.secret_names lists.starting_verbs lists.unchecked_endings " +
		"goals.requests.pictures goals.requests.operates_any goals.requests.typed goals.requests.drains_more goals.requests.ended_by goals.requests.answers services.stages services.reading services.orphans workspace.executable workspace.writing workspace.keeping workspace.closed save.keeps processes.common processes.handled processes.orders system.power system.disk_records system.guards system.admin_groups " +
		"services.published services.ends services.unknown_ends services.wide services.recovery services.audit services.grants services.names " +
		"services.reviews services.money services.messages databases.block databases.block_unseen databases.images markers.production markers.test " +
		"markers.clusters git.protected secrets.stores secrets.images secrets.exports packages.known packages.popular.npm " +
		"packages.popular.python isolation.variables",
	"objects, numbers and texts": "patterns.composites risk.failed_similar side_effects.names guard.client_rules interventions.notification_channels " +
		"interventions.notification_channels.*.to interventions.notification_channels.*.headers interventions.encrypt_incidents_to " +
		"interventions.recommendations.*.immediate interventions.recommendations.*.preventive interventions.kinds.*.command interventions.kinds.*.env",
	"what people call things, and the commands and tools of an act": "goals.answers.* goals.same_words goals.same_words.* goals.short goals.short.* goals.runs.tests goals.runs.servers goals.runs.serves goals.runs.scripts goals.runs.without " +
		"goals.synonyms goals.synonyms.* goals.names goals.acts goals.acts.*.commands goals.acts.*.with_operands goals.acts.*.sends goals.acts.*.expressions goals.acts.*.effects " +
		"goals.acts.*.effects.* goals.acts.*.words goals.acts.*.tools goals.acts.*.tools.*",
	"names that are defined here":                                     "windows interventions.kinds former_harms workspaces",
	"kinds of intervention, of which own_kinds_test.go has the tests": "interventions.ladders.* interventions.progressive interventions.severity.below",
}

// Each list, and each map, either has a vocabulary, and then a layer with another word cannot be
// loaded, or it is among the open ones above.
func TestUnknownNamesInSettings(t *testing.T) {
	open := strings.Fields(strings.Join(slices.Collect(func(yield func(string) bool) {
		for _, names := range openLists {
			if !yield(names) {
				return
			}
		}
	}), " "))
	const unknown = "no_such_name"
	checked := 0
	var visit func(path string, s *SchemaNode, wrap func(v any) any)
	visit = func(path string, s *SchemaNode, wrap func(v any) any) {
		for key, node := range s.Properties {
			visit(below(path, key), node, func(v any) any { return wrap(map[string]any{key: v}) })
		}
		var value any
		switch {
		case s.Items != nil:
			value = []any{unknown, "other_" + unknown}
			visit(path+".*", s.Items, func(v any) any {
				if item, ok := v.(map[string]any); ok && path == "patterns.composites" {
					item["factor"] = 2
				}
				return wrap([]any{v})
			})
		case s.Others.SchemaNode != nil:
			value = map[string]any{unknown: sample(s.Others.SchemaNode)}
			key := "loop"
			if strings.HasSuffix(path, "disabled_in") {
				key = "/srv/shop"
			}
			visit(path+".*", s.Others.SchemaNode, func(v any) any { return wrap(map[string]any{key: v}) })
		default:
			return
		}
		if i := slices.Index(open, path); i >= 0 {
			open = slices.Delete(open, i, i+1)
			return
		}
		checked++
		raw, err := json.Marshal(wrap(value))
		if err != nil {
			t.Fatal(err)
		}
		_, err = assembled(t, [2]string{User, string(raw)})
		if err == nil || !strings.Contains(err.Error(), `"`+unknown+`"`) || !strings.Contains(err.Error(), "user/settings.yaml:1: ") {
			t.Errorf("%s: %s: %v", path, raw, err)
		}
	}
	visit("", tree(t), func(v any) any { return v })
	if len(open) > 0 {
		t.Errorf("not in the schema, or twice in this test: %s", open)
	}
	if checked < 30 {
		t.Errorf("only %d lists have a vocabulary", checked)
	}
}

// sample is a value that the schema allows.
func sample(s *SchemaNode) any {
	switch {
	case s.Enum != nil:
		return s.Enum[0]
	case s.Items != nil:
		return []any{"soft_correction"}
	case s.Properties != nil:
		return map[string]any{}
	}
	return map[string]any{"min": 1, "max": 0.1, "replace": "A text."}[s.Merge]
}

// A name may be of any layer, below or above, of a rule that is disabled, of an access list, of a
// row in another layer's files, or of Rego alone.
func TestNamesOfOtherLayers(t *testing.T) {
	organisation := map[string][]byte{
		"rules/own.yaml":    []byte("id: acme.deploy\ntitle: Deploys\ndecision: ask\nseverity: high\nmessage: This deploys.\nmatch: {commands: [deploy]}\n"),
		"patterns/own.yaml": []byte("id: acme.flailing\ntitle: Fails\ndecision: warn\nseverity: low\nmessage: It fails.\nmeasure: 'history.windows[\"recent\"].failed'\nthreshold: 3\n"),
		"access/own.yaml":   []byte("id: prod\ndefault: allow\nrules:\n  - {id: shell, effect: deny, tools: [psql]}\n"),
		"own.rego":          []byte("package policies.organisation\n\nimport rego.v1\n\nfindings contains {\"id\": \"acme.weekend\", \"decision\": \"ask\"} if input.time.weekday == \"sunday\"\n"),
		"settings.yaml":     []byte("rules: {disabled: [publish]}\n"),
	}
	for name, test := range map[string]struct {
		layer, settings, wrong string
	}{
		"a rule of the organisation":            {User, "rules: {disabled: [acme.deploy]}", ""},
		"the project names it":                  {Project, "rules: {enforcement: {acme.deploy: enforce}}", ""},
		"a rule that the organisation disables": {User, "rules: {enforcement: {publish: warn}, disabled: [publish]}", ""},
		"a pattern of the organisation":         {Project, "patterns: {thresholds: {acme.flailing: 2}}", ""},
		"a rule is not a pattern":               {Project, "patterns: {thresholds: {acme.deploy: 2}}", `"acme.deploy"`},
		"a rule of an access list":              {User, "rules: {enforcement: {access.prod.shell: warn}}", ""},
		"a finding of Rego without a row":       {User, "rules: {enforcement: {acme.weekend: warn}}", ""},
		"a finding of Rego without an id":       {User, "interventions: {stops: {repeated: [organisation.unnamed]}}", ""},
		"a rule of an access list has no row":   {User, "rules: {disabled: [access.prod.shell]}", `"access.prod.shell"`},
		"no layer has it":                       {User, "rules: {enforcement: {acme.weekday: warn}}", `"acme.weekday"`},
		"a rule of a layer that is not there":   {Project, "rules: {enforcement: {shop.deploy: warn}}", `"shop.deploy"`},
	} {
		t.Run(name, func(t *testing.T) {
			layers := []*Bundle{shippedBundle(t)}
			for layer, files := range map[string]map[string][]byte{Organisation: organisation, test.layer: {"settings.yaml": []byte(test.settings)}} {
				b, err := FromFiles(files, layer)
				if err != nil {
					t.Fatal(err)
				}
				layers = append(layers, b)
			}
			slices.SortFunc(layers, func(a, b *Bundle) int { return slices.Index(Layers(), a.Layer) - slices.Index(Layers(), b.Layer) })
			_, err := Assemble(layers...)
			if (err == nil) != (test.wrong == "") || !strings.Contains(fmt.Sprint(err), test.wrong) {
				t.Errorf("%s: %v", test.settings, err)
			}
		})
	}
}

// The settings of the base layer have only known names, too.
func TestNamesOfTheBase(t *testing.T) {
	files := map[string][]byte{}
	for name, content := range shippedBundle(t).Files {
		files[name] = content
	}
	files["data.yaml"] = []byte(strings.Replace(string(files["data.yaml"]), "repeated: [deny_workaround,", "repeated: [deny_workround,", 1))
	b, err := FromFiles(files, Base)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = Assemble(b); err == nil || strings.Count(err.Error(), "\n") > 0 || !strings.Contains(err.Error(), `"deny_workround"; did you mean "deny_workaround"?`) {
		t.Error(err)
	}
}

// The agents in settings of isolation are those that reviewer knows.
func TestNamesOfAgents(t *testing.T) {
	for key, node := range tree(t).Properties["isolation"].Properties {
		if !strings.HasPrefix(key, "agent_") {
			continue
		}
		var names []string
		for _, v := range node.Keys.Enum {
			names = append(names, fmt.Sprint(v))
		}
		if !slices.Equal(names, harness.Names()) {
			t.Errorf("isolation.%s has the agents %v, want %v", key, names, harness.Names())
		}
	}
}
