package bundles

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// assembled joins the built-in policy with layers of one settings.yaml each,
// given as layer: settings.
func assembled(t *testing.T, settings ...[2]string) (*Effective, error) {
	t.Helper()
	layers := []*Bundle{shippedBundle(t)}
	for _, s := range settings {
		layers = append(layers, layer(t, s[0], "settings.yaml", s[1]))
	}
	return Assemble(layers...)
}

// at follows a path such as risk.low_threshold.
func at(doc map[string]any, path string) any {
	keys := strings.Split(path, ".")
	for _, key := range keys[:len(keys)-1] {
		doc, _ = doc[key].(map[string]any)
	}
	return doc[keys[len(keys)-1]]
}

func TestSettingsMerge(t *testing.T) {
	for name, test := range map[string]struct {
		layers [][2]string
		path   string
		want   any
		origin string
	}{
		"default": {nil, "risk.high_threshold", 0.8, ""},

		"min: the user's first value replaces":               {[][2]string{{User, "risk: {high_threshold: 0.9}"}}, "risk.high_threshold", 0.9, User},
		"replace: an object that is merged as a whole":       {[][2]string{{User, "interventions: {recommendations: {goal_drift: {immediate: [Look.]}}}"}}, "interventions.recommendations.goal_drift", map[string]any{"immediate": []any{"Look."}}, User},
		"min: the organisation's first value too":            {[][2]string{{Organisation, "resources: {max_file_operations: 900}"}}, "resources.max_file_operations", 900.0, Organisation},
		"min: a second value only tightens":                  {[][2]string{{Organisation, "risk: {high_threshold: 0.7}"}, {User, "risk: {high_threshold: 0.9}"}}, "risk.high_threshold", 0.7, Organisation},
		"min: a second value tightens":                       {[][2]string{{Organisation, "risk: {high_threshold: 0.9}"}, {User, "risk: {high_threshold: 0.7}"}}, "risk.high_threshold", 0.7, User},
		"min: the project does not loosen":                   {[][2]string{{Project, "resources: {max_file_operations: 900}"}}, "resources.max_file_operations", 100.0, ""},
		"min: the project tightens":                          {[][2]string{{Project, "resources: {max_file_operations: 9}"}}, "resources.max_file_operations", 9.0, Project},
		"min: the project after the user":                    {[][2]string{{User, "resources: {max_file_operations: 900}"}, {Project, "resources: {max_file_operations: 950}"}}, "resources.max_file_operations", 900.0, User},
		"max: replaces":                                      {[][2]string{{User, "risk: {privileged: 0}"}}, "risk.privileged", 0.0, User},
		"max: the project does not loosen":                   {[][2]string{{Project, "risk: {privileged: 0}"}}, "risk.privileged", 0.2, ""},
		"max: the project tightens":                          {[][2]string{{Project, "risk: {privileged: 0.5}"}}, "risk.privileged", 0.5, Project},
		"max: below zero":                                    {[][2]string{{Project, "risk: {reversibility: {R2: -0.2}}"}}, "risk.reversibility.R2", -0.2, Project},
		"union: always adds":                                 {[][2]string{{User, "zones: [~/a/]"}, {Project, "zones: [~/b/, ~/a/]"}}, "zones", append(zones(t), "~/a/", "~/b/"), Project},
		"union: nothing new":                                 {[][2]string{{Project, "zones: [~/.ssh/]"}}, "zones", zones(t), ""},
		"intersect: replaces":                                {[][2]string{{User, "hosts: {known: [a, b]}"}}, "hosts.known", []any{"a", "b"}, User},
		"intersect: a second value only removes":             {[][2]string{{Organisation, "hosts: {known: [a, b]}"}, {User, "hosts: {known: [b, c]}"}}, "hosts.known", []any{"b"}, User},
		"intersect: the project cannot add":                  {[][2]string{{Project, "hosts: {known: [a]}"}}, "hosts.known", []any{}, ""},
		"intersect: the project removes":                     {[][2]string{{User, "rules: {disabled: [publish, git_force_push]}"}, {Project, "rules: {disabled: [publish]}"}}, "rules.disabled", []any{"publish"}, Project},
		"intersect: the project removes all":                 {[][2]string{{User, "rules: {disabled: [publish, git_force_push]}"}, {Project, "rules: {disabled: []}"}}, "rules.disabled", []any{}, Project},
		"strictest: replaces":                                {[][2]string{{User, "enforcement: observe"}}, "enforcement", "observe", User},
		"strictest: a second value only tightens":            {[][2]string{{Organisation, "enforcement: warn"}, {User, "enforcement: observe"}}, "enforcement", "warn", Organisation},
		"strictest: the project does not loosen":             {[][2]string{{Project, "enforcement: observe"}}, "enforcement", "enforce", ""},
		"strictest: the project tightens":                    {[][2]string{{User, "enforcement: observe"}, {Project, "enforcement: warn"}}, "enforcement", "warn", Project},
		"strictest, in an order of its own":                  {[][2]string{{Project, "grant: true"}}, "grant", false, ""},
		"strictest, in an order of its own, tighter":         {[][2]string{{User, "grant: true"}, {Project, "grant: false"}}, "grant", false, Project},
		"strictest: sets of rules":                           {[][2]string{{User, "rules: {builtin: none}"}, {Project, "rules: {builtin: essential}"}}, "rules.builtin", "essential", Project},
		"strictest: a cell of the matrix":                    {[][2]string{{Project, "matrix: {low: {high: warn}}"}}, "matrix.low.high", "warn", Project},
		"strictest: not milder":                              {[][2]string{{Project, "matrix: {high: {low: allow}}"}}, "matrix.high.low", "block", ""},
		"first":                                              {[][2]string{{Organisation, "interventions: {strategy: progressive}"}, {User, "interventions: {strategy: pattern_specific}"}}, "interventions.strategy", "progressive", Organisation},
		"first, of the user":                                 {[][2]string{{User, "interventions: {strategy: progressive}"}}, "interventions.strategy", "progressive", User},
		"replace":                                            {[][2]string{{Organisation, "messages: {allowed: Fine.}"}}, "messages.allowed", "Fine.", Organisation},
		"replace: the user after the organisation":           {[][2]string{{Organisation, "messages: {allowed: Fine.}"}, {User, "messages: {allowed: Good.}"}}, "messages.allowed", "Good.", User},
		"entries: the user's replaces nothing":               {[][2]string{{User, "rules: {enforcement: {git_force_push: observe}}"}}, "rules.enforcement", map[string]any{"git_force_push": "observe"}, ""},
		"entries: have their own origin":                     {[][2]string{{User, "rules: {enforcement: {delete_broad: warn}}"}}, "rules.enforcement.delete_broad", "warn", User},
		"entries: the project does not loosen":               {[][2]string{{Project, "rules: {enforcement: {delete_broad: observe}}"}}, "rules.enforcement", map[string]any{}, ""},
		"entries: the project tightens":                      {[][2]string{{User, "rules: {enforcement: {delete_broad: observe}}"}, {Project, "rules: {enforcement: {delete_broad: warn}}"}}, "rules.enforcement.delete_broad", "warn", Project},
		"entries: a second value does not loosen":            {[][2]string{{Organisation, "rules: {enforcement: {delete_broad: warn}}"}, {User, "rules: {enforcement: {delete_broad: observe}}"}}, "rules.enforcement.delete_broad", "warn", Organisation},
		"entries: not below what an organisation insists on": {[][2]string{{Organisation, "enforcement: enforce"}, {User, "rules: {enforcement: {delete_broad: observe}}"}}, "rules.enforcement", map[string]any{}, ""},
		"entries: next to the layer's own enforcement":       {[][2]string{{User, "enforcement: enforce\nrules: {enforcement: {delete_broad: observe}}"}}, "rules.enforcement.delete_broad", "observe", User},
		"switched off by the user":                           {[][2]string{{User, "enabled: false"}}, "enabled", false, User},
		"not switched off by the project":                    {[][2]string{{Project, "enabled: false"}}, "enabled", true, ""},
		"switched on by the project":                         {[][2]string{{User, "enabled: false"}, {Project, "enabled: true"}}, "enabled", true, Project},
		"the prefilter is switched off by the project":       {[][2]string{{Project, "prefilter: {enabled: false}"}}, "prefilter.enabled", false, Project},
		"the project watches reads too":                      {[][2]string{{User, "workspace: {enforce: off}"}, {Project, "workspace: {enforce: all}"}}, "workspace.enforce", "all", Project},

		"the same value": {[][2]string{{User, "risk: {high_threshold: 0.8}"}}, "risk.high_threshold", 0.8, ""},
		"next to others": {[][2]string{{User, "risk: {high_threshold: 0.9}"}}, "risk.medium_threshold", 0.6, ""},
		"empty":          {[][2]string{{User, "# nothing"}}, "risk.medium_threshold", 0.6, ""},
	} {
		e, err := assembled(t, test.layers...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for what, doc := range map[string]any{"settings": e.Document, "data": e.Data["reviewer"]} {
			if d := cmp.Diff(test.want, at(doc.(map[string]any), test.path)); d != "" {
				t.Errorf("%s, %s: %s", name, what, d)
			}
		}
		if got := e.Origin[test.path]; got != test.origin {
			t.Errorf("%s: the value comes from %q, want %q", name, got, test.origin)
		}
	}
}

func zones(t *testing.T) []any {
	t.Helper()
	return at(shippedBundle(t).Data, "reviewer.zones").([]any)
}

func TestSettingsErrors(t *testing.T) {
	for name, test := range map[string]struct {
		layers [][2]string
		want   []string
	}{
		"unknown key":         {[][2]string{{User, "risk:\n  hgih_threshold: 0.9"}}, []string{`user/settings.yaml:2: risk.hgih_threshold: unknown key "hgih_threshold"; did you mean "high_threshold"?`}},
		"unknown section":     {[][2]string{{Project, "rules: {}\nrisks: {}"}}, []string{`project/settings.yaml:2: risks: unknown key "risks"; did you mean "risk"?`}},
		"unlike any":          {[][2]string{{User, "resources: {colour: 1}"}}, []string{`user/settings.yaml:1: resources.colour: unknown key "colour"; expected one of max_execution_time_seconds, max_file_bytes, max_file_operations, max_memory_mb, max_token_usage, miners`}},
		"out of range":        {[][2]string{{User, "# a\nrisk:\n  low_threshold: 1.5\n"}}, []string{"user/settings.yaml:3: risk.low_threshold: must be <= 1 but found 1.5"}},
		"another type":        {[][2]string{{Organisation, "zones: ~/x"}}, []string{"organisation/settings.yaml:1: zones: expected array, but got string"}},
		"no section":          {[][2]string{{User, "risk: high"}}, []string{"user/settings.yaml:1: risk: expected object, but got string"}},
		"unknown word":        {[][2]string{{User, "enforcement: enforced"}}, []string{`user/settings.yaml:1: enforcement: value must be one of "observe", "warn", "enforce", got "enforced"; did you mean "enforce"?`}},
		"item":                {[][2]string{{User, "hosts:\n  known: [a, 7]"}}, []string{"user/settings.yaml:2: hosts.known.1: expected string, but got number"}},
		"nothing":             {[][2]string{{User, "risk: {low_threshold: }"}}, []string{"user/settings.yaml:1: risk.low_threshold: expected number, but got null"}},
		"several at once":     {[][2]string{{User, "grant: 1\nrisk: {a: 1, low_threshold: 2}"}}, []string{"settings.yaml:1: grant", "settings.yaml:2: risk.a", "settings.yaml:2: risk.low_threshold"}},
		"base's only":         {[][2]string{{User, "risk: {failed_similar: [0]}"}}, []string{"user/settings.yaml:1: risk.failed_similar: only the base layer may set this"}},
		"windows":             {[][2]string{{User, "windows: {mine: {last: 3}}"}}, []string{"windows: only the base layer may set this"}},
		"not the project's":   {[][2]string{{Project, "\nmessages: {allowed: x}"}}, []string{"project/settings.yaml:2: messages.allowed: the project layer may not set this"}},
		"not available yet":   {[][2]string{{User, "audit: {prompts: true}"}}, []string{"user/settings.yaml:1: audit.prompts: not available yet"}},
		"no memory for a run": {[][2]string{{User, "resources: {max_memory_mb: 10}"}}, []string{"user/settings.yaml:1: resources.max_memory_mb: must be >= 16 but found 10"}},
		"no such profile":     {[][2]string{{User, "isolation: {profile: strickt}"}}, []string{`isolation.profile: value must be one of "observe", "workspace", "strict", got "strickt"; did you mean "strict"?`}},
		"no time to live":     {[][2]string{{User, "cache: {ttl_minutes: 0}"}}, []string{"user/settings.yaml:1: cache.ttl_minutes: must be > 0 but found 0"}},
		"no such pattern key": {[][2]string{{User, "patterns: {sensitivty: high}"}}, []string{`user/settings.yaml:1: patterns.sensitivty: unknown key "sensitivty"; did you mean "sensitivity"?`}},
		"no such sensitivity": {[][2]string{{User, "patterns: {sensitivity: higher}"}}, []string{`patterns.sensitivity: value must be one of "low", "medium", "high", got "higher"; did you mean "high"?`}},
		"nor another level":   {[][2]string{{User, "audit: {log_level: trace}"}}, []string{`audit.log_level: value must be one of "debug", "info", "warn", "error", got "trace"`}},
		"a project's level":   {[][2]string{{Project, "audit: {log_level: error}"}}, []string{"audit.log_level: the project layer may not set this"}},
		"a channel's word": {[][2]string{{User, "interventions: {notification_channels: [email, slack, desktop, pager]}"}}, []string{
			`user/settings.yaml:1: interventions.notification_channels.0: "email": a word does not say where to; write {name: team, kind: smtp, `,
			`notification_channels.1: "slack": a word does not say where to; write {name: team, kind: slack, `,
			`notification_channels.2: "desktop": a channel has a name; write {name: screen, kind: desktop}`,
			"notification_channels.3: expected object, but got string"}},
		"nor a cleanup":          {[][2]string{{User, "interventions: {auto_cleanup: true}"}}, []string{"interventions.auto_cleanup: true: nothing that a session left is deleted without a person: `reviewer session abort` lists it; "}},
		"no such value":          {[][2]string{{User, "mode: asinc"}}, []string{`user/settings.yaml:1: mode: value must be one of "async", "blocking", got "asinc"; did you mean "async"?`}},
		"next to one that is":    {[][2]string{{User, "audit: {prompts: 1, retain_days: 9}"}}, []string{"audit.prompts: not available yet"}},
		"another place":          {[][2]string{{User, "rules: {custom_rules_path: ./x}"}}, []string{"rules.custom_rules_path: write rules as rows in rules/*.yaml, or in Rego in *.rego, of this layer"}},
		"another name":           {[][2]string{{User, "limits: {max_file_operations: 7}"}}, []string{"limits.max_file_operations: use resources.max_file_operations"}},
		"never suggested":        {[][2]string{{User, "safty: 1"}}, []string{`safty: unknown key "safty"; expected one of`}},
		"entry":                  {[][2]string{{User, "rules:\n  enforcement:\n    delete_broad: warn\n    git.push: never"}}, []string{`user/settings.yaml:4: rules.enforcement.git.push: value must be one of "observe", "warn", "enforce"`}},
		"location":               {[][2]string{{User, "prefilter: {locations: [isnide]}"}}, []string{`"unknown", got "isnide"; did you mean "inside"?`}},
		"the log":                {[][2]string{{Project, "audit: {retain_days: 1}"}}, []string{"audit.retain_days: the project layer may not set this"}},
		"no time":                {[][2]string{{User, "audit: {retain_days: 0}"}}, []string{"audit.retain_days: must be >= 1 but found 0"}},
		"wrong in two layers":    {[][2]string{{User, "grant: 1"}, {Project, "grants: true"}}, []string{"user/settings.yaml:1: grant", "project/settings.yaml:1: grants"}},
		"in two layers":          {[][2]string{{User, "windows: {}"}, {Project, "messages: {allowed: x}"}}, []string{"user/settings.yaml:1: windows", "project/settings.yaml:1: messages.allowed"}},
		"out of order":           {[][2]string{{User, "risk: {medium_threshold: 0.2}"}}, []string{"user/settings.yaml:1: risk.low_threshold (0.3) is above risk.medium_threshold (0.2); levels must increase"}},
		"a milder cell below":    {[][2]string{{User, "matrix:\n  high: {high: allow}\n  medium: {high: warn}"}}, []string{"user/settings.yaml:2: matrix.high.high (allow) is milder than matrix.medium.high (warn): a higher risk"}},
		"a milder cell in a row": {[][2]string{{User, "matrix: {low: {low: allow, medium: warn}, minimal: {low: allow}}"}, {Project, "# nothing"}}, []string{"user/settings.yaml:1: matrix.low.low (allow) is milder than matrix.low.medium (warn)"}},
		"out of order together": {
			[][2]string{{Organisation, "risk: {high_threshold: 0.9}"}, {User, "rationality: {medium_threshold: 0.9}"}},
			[]string{"user/settings.yaml:1: rationality.medium_threshold (0.9) is above rationality.high_threshold (0.8)"},
		},
	} {
		_, err := assembled(t, test.layers...)
		checkErrors(t, name, err, test.want...)
	}
}

// An error in the base layer is found in the file that has it.
func TestBaseSettingsErrors(t *testing.T) {
	base := layer(t, Base, "data.yaml", "reviewer:\n  grant: false\n", "reviewer/risk/data.yaml", "low_treshold: 0.3\n",
		"reviewer/rules/data.yaml", "# a\n# b\nbuiltin: some\n")
	_, err := Assemble(base)
	checkErrors(t, "base", err,
		`reviewer/risk/data.yaml:1: risk.low_treshold: unknown key "low_treshold"; did you mean "low_threshold"?`,
		"reviewer/rules/data.yaml:3: rules.builtin: value must be one of")
}

// leaves lists the settings of the schema: those that merging looks at.
func leaves(at string, s *SchemaNode) map[string]*SchemaNode {
	all := map[string]*SchemaNode{}
	for key, node := range s.Properties {
		if node.Unavailable != "" {
			continue
		}
		path := strings.TrimPrefix(at+"."+key, ".")
		if node.Properties == nil {
			all[path] = node
			continue
		}
		maps.Copy(all, leaves(path, node))
	}
	return all
}

func tree(t *testing.T) *SchemaNode {
	t.Helper()
	s, err := SettingsSchema()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each setting of the schema is in the default policy, and the other way around.
func TestEverySettingIsSet(t *testing.T) {
	base := shippedBundle(t).Data["reviewer"].(map[string]any)
	if err := tree(t).validate(shippedBundle(t), base); err != nil {
		t.Errorf("the default policy does not conform to its schema: %v", err)
	}
	for path, s := range leaves("", tree(t)) {
		if at(base, path) == nil {
			t.Errorf("%s has no value in data.yaml", path)
		}
		if s.Merge != "" && !slices.Contains([]string{"min", "max", "union", "extend", "intersect", mergeNarrow, mergeFirst, mergeOrganisation, "append", "strictest", "replace"}, s.Merge) {
			t.Errorf("%s: x-merge is %q", path, s.Merge)
		}
		if s.Merge == "strictest" && s.Enum == nil && s.Order == nil {
			t.Errorf("%s has no order of strictness", path)
		}
	}
}

// bound is a node of the schema, as far as numbers have bounds there.
type bound struct {
	Type       string
	Minimum    float64
	Maximum    *float64
	Properties map[string]*bound
}

var bounded = sync.OnceValues(readSettings[*bound])

// bounds are those that the schema gives a number.
func bounds(t *testing.T, path string) (low, high float64, whole bool) {
	t.Helper()
	node, err := bounded()
	if err != nil {
		t.Fatal(err)
	}
	for key := range strings.SplitSeq(path, ".") {
		node = node.Properties[key]
	}
	high = 1000
	if node.Maximum != nil {
		high = *node.Maximum
	}
	return node.Minimum, high, node.Type == "integer"
}

// random returns settings of a few random paths that a layer may set.
func random(t *testing.T, g *rand.Rand, all map[string]*SchemaNode, name string) map[string]any {
	t.Helper()
	doc := map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		s := all[path]
		kind := s.Merge
		if s.section() {
			kind = s.Others.Merge
		}
		if kind == "" || slices.Contains([]string{"replace", mergeFirst, "append"}, kind) && name == Project || kind == mergeOrganisation && name != Organisation ||
			g.IntN(3) > 0 {
			continue
		}
		keys, into := strings.Split(path, "."), doc
		for _, key := range keys[:len(keys)-1] {
			if into[key] == nil {
				into[key] = map[string]any{}
			}
			into = into[key].(map[string]any)
		}
		into[keys[len(keys)-1]] = value(t, g, path, s)
	}
	return doc
}

func value(t *testing.T, g *rand.Rand, path string, s *SchemaNode) any {
	switch s.Merge {
	case "min", "max":
		low, high, whole := bounds(t, path)
		if whole {
			return float64(int64(low) + g.Int64N(int64(high-low)+1))
		}
		return low + g.Float64()*(high-low)
	case "union", "extend", "intersect":
		words := []any{"a", "b", "inside", "~/.ssh/", "temp"}
		g.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		return words[:g.IntN(len(words))]
	case mergeNarrow:
		words := []any{".", "src", "src/api", "docs", "srcs"}
		g.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		return words[:1+g.IntN(len(words)-1)]
	case "strictest":
		return s.ranking()[g.IntN(len(s.ranking()))]
	}
	if s.section() {
		entries := map[string]any{}
		for _, id := range []string{"a", "b.c"} {
			if g.IntN(2) == 0 {
				entries[id] = value(t, g, path, s.Others.SchemaNode)
			}
		}
		return entries
	}
	return "some text"
}

// looser says how one value is milder than another, as the words of the schema
// have it; empty: it is not.
func looser(s *SchemaNode, before, after any) string {
	kind := s.Merge
	if s.section() {
		kind = "entries"
	}
	switch kind {
	case "min":
		if after.(float64) > before.(float64) {
			return fmt.Sprintf("%v became %v", before, after)
		}
	case "max":
		if after.(float64) < before.(float64) {
			return fmt.Sprintf("%v became %v", before, after)
		}
	case "union", "extend":
		for _, v := range before.([]any) {
			if !slices.ContainsFunc(after.([]any), func(w any) bool { return reflect.DeepEqual(v, w) }) {
				return fmt.Sprintf("%v was lost", v)
			}
		}
	case "intersect":
		for _, v := range after.([]any) {
			if !slices.ContainsFunc(before.([]any), func(w any) bool { return reflect.DeepEqual(v, w) }) {
				return fmt.Sprintf("%v was added", v)
			}
		}
	case mergeNarrow:
		for _, v := range after.([]any) {
			if !slices.ContainsFunc(before.([]any), func(o any) bool { return ContainsPlace(o, v) }) {
				return fmt.Sprintf("%v was added", v)
			}
		}
	case "strictest":
		if s.Rank(after) < s.Rank(before) {
			return fmt.Sprintf("%v became %v", before, after)
		}
	case "entries":
		return looserEntry(s.Others.SchemaNode, before.(map[string]any), after.(map[string]any))
	default:
		if !cmp.Equal(before, after) {
			return fmt.Sprintf("%v became %v", before, after)
		}
	}
	return ""
}

// looserEntry is looser of sections whose keys are free: a word that is not there
// is as strict as can be, a number that is not is nothing, and a list is empty.
func looserEntry(s *SchemaNode, before, after map[string]any) string {
	for id, v := range after {
		was, there := before[id]
		switch {
		case s.Merge == "strictest" && !there:
			was = s.Strictest()
		case (s.Merge == "max" || s.Merge == "min") && !there:
			continue
		case s.Merge == "union" && !there:
			was = []any{}
		}
		if how := looser(s, was, v); how != "" {
			return id + ": " + how
		}
	}
	return ""
}

// Whatever the project says, no setting is milder with it than without it; and
// a second layer of a person's does not loosen what the first one said.
func TestLaterLayersNeverLoosen(t *testing.T) {
	all := leaves("", tree(t))
	g := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		org, user, project := random(t, g, all, Organisation), random(t, g, all, User), random(t, g, all, Project)
		// Levels out of order are refused; that is another test's business.
		merge := func(layers ...map[string]any) map[string]any {
			m := newMerger(nil)
			merged := Normal(shippedBundle(t).Data["reviewer"]).(map[string]any)
			for i, doc := range layers {
				if m.layer = (&Bundle{Layer: Layers()[i+1]}); doc != nil {
					m.object("", tree(t), merged, Normal(doc).(map[string]any))
				}
			}
			if len(m.errs) > 0 {
				t.Fatal(m.errs)
			}
			return merged
		}
		without, with := merge(org, user, nil), merge(org, user, project)
		alone := merge(org, nil, nil)
		for path, s := range all {
			if how := looser(s, at(without, path), at(with, path)); how != "" {
				t.Fatalf("the project loosened %s: %s", path, how)
			}
			if s.Merge != "replace" && at(org, path) != nil {
				if how := looser(s, at(alone, path), at(without, path)); how != "" && !s.section() {
					t.Fatalf("the user loosened what the organisation set, %s: %s", path, how)
				}
			}
		}
	}
}

// The result of layers does not depend on how their files are written.
func TestSettingsFormDoesNotMatter(t *testing.T) {
	a, err := assembled(t, [2]string{User, "resources: {max_file_operations: 7}\nrisk: {privileged: 1}"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := assembled(t, [2]string{User, "risk:\n  privileged: 1.0 # all of it\nresources:\n  max_file_operations: 7.0\n"})
	if err != nil {
		t.Fatal(err)
	}
	if a.Config != b.Config || a.Digest == b.Digest {
		t.Errorf("configurations %.12s and %.12s, want the same; digests %.12s and %.12s, want two", a.Config, b.Config, a.Digest, b.Digest)
	}
}

// The built-in policy is not validated when it is alone. Its settings are the
// same as those of a copy, which is.
func TestShippedEqualsChecked(t *testing.T) {
	files := map[string][]byte{}
	maps.Copy(files, shippedBundle(t).Files)
	copied, err := FromFiles(files, Base)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Assemble(shippedBundle(t))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Assemble(copied)
	if err != nil {
		t.Fatal(err)
	}
	if a.Digest != b.Digest || a.Config != b.Config || !cmp.Equal(a.View, b.View) || !cmp.Equal(Normal(a.Data), Normal(b.Data)) {
		t.Error("the built-in policy and its copy come to different policies")
	}
}

// Only what the JSON of a policy can hold is read.
func FuzzDecodeYAML(f *testing.F) {
	f.Add("a: 1\nb: [1, {c: 2026-01-01}]")
	f.Add("? {a: b}\n: c")
	f.Add("a: &x {b: 1}\nc: *x\n<<: *x")
	f.Add("a: !!float .nan")
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := decodeYAML("f.yaml", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.yaml:") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if _, err := json.Marshal(doc); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var plain map[string]any
		if err := yaml.Unmarshal([]byte(text), &plain); err != nil || len(plain) != len(doc) {
			t.Fatalf("%q: %v, %v", text, doc, err)
		}
	})
}

// The configuration blocks of earlier designs, pasted whole, set what they say.
func TestOtherSpellings(t *testing.T) {
	for _, c := range []struct{ settings, key, want string }{
		{"step_reviewer: {enabled: true, mode: async, risk: {high_threshold: 0.75}, rules: {builtin: all}, performance: {async_threshold: 0.2}}", "risk.high_threshold", "0.75"},
		{"step_reviewer: {mode: async}", "mode", "async"},
		{"reviewer: {enabled: true, risk_threshold: 0.65, review_mode: async}", "risk.risk_threshold", "0.65"},
		{"safety: {step_reviewer: {risk: {high_threshold: 0.7}, rules: {disabled: [warn_external_network]}}}", "rules.disabled", "[warn_external_network]"},
		{"interventions: {soft_correction: {enabled: false, max_attempts: 2}}", "interventions.soft_correction", "false"},
		{"interventions: {soft_correction: {enabled: true, max_attempts: 2}}", "interventions.max_attempts", "2"},
		{"interventions: {soft_correction: {max_attempts: 2}}", "interventions.soft_correction", "true"},
		{"interventions: {context_reinforcement: {enabled: true, reinforcement_strength: strong}}", "interventions.reinforcement_strength", "strong"},
		{"interventions: {resource_throttling: {enabled: true, reduction_factors: {moderate: 0.8}}}", "interventions.reduction_factors.moderate", "0.8"},
		{"interventions: {checkpoint_rollback: {enabled: true, safe_checkpoint_criteria: {min_success_rate: 0.9}}}", "interventions.safe_checkpoint_criteria.min_success_rate", "0.9"},
		{"interventions: {emergency_stop: {enabled: false, auto_cleanup: false, preserve_incident_data_days: 40}}", "interventions.hard_stop", "false"},
		{"interventions: {emergency_stop: {preserve_incident_data_days: 40}}", "interventions.preserve_incident_data_days", "40"},
		{"interventions: {strategy: {type: progressive, effectiveness_threshold: 0.7}}", "interventions.strategy", "progressive"},
		{"interventions: {strategy: {effectiveness_threshold: 0.7}}", "interventions.effectiveness_threshold", "0.7"},
		{"{mode: async, reviewer: {review_mode: async}}", "mode", "async"},
	} {
		e, err := assembled(t, [2]string{User, c.settings})
		if err != nil {
			t.Errorf("%s: %v", c.settings, err)
			continue
		}
		if got := fmt.Sprint(at(e.Document, c.key)); got != c.want {
			t.Errorf("%s: %s is %s, want %s", c.settings, c.key, got, c.want)
		}
	}
	for settings, want := range map[string]string{
		"reviewer: true": "reviewer: expected an object",
		"{mode: blocking, reviewer: {review_mode: async}}":      "mode is set twice, to different values",
		"{risk: 3, risk_threshold: 0.7}":                        "risk is set twice",
		"interventions: {soft_correction: {enable: true}}":      `unknown key "enable"`,
		"interventions: {soft_correction: {enabled: 3}}":        "expected boolean",
		"reviewer: {risk_thresold: 0.5}":                        `unknown key "risk_thresold"`,
		"interventions: {emergency_stop: {auto_cleanup: true}}": "nothing that a session left is deleted without a person",
	} {
		b, err := Load(folder("settings.yaml", settings), User)
		if err == nil {
			_, err = Assemble(shippedBundle(t), b)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", settings, err, want)
		}
	}
	// A project still only tightens.
	e, err := assembled(t, [2]string{Project, "{interventions: {emergency_stop: {enabled: false}}, reviewer: {enabled: false}}"})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(at(e.Document, "interventions.hard_stop"), at(e.Document, "enabled")); got != "true true" {
		t.Errorf("a project sets hard_stop and enabled to %s", got)
	}
}

// An earlier default is listed only where the default is another one.
func TestEarlierDefaults(t *testing.T) {
	e, err := assembled(t)
	if err != nil {
		t.Fatal(err)
	}
	for path, node := range leaves("", tree(t)) {
		if was := node.Earlier; was != nil && (was.Why == "" || fmt.Sprint(was.Value) == fmt.Sprint(at(e.Document, path))) {
			t.Errorf("%s: %v", path, was)
		}
	}
}

// The settings that config show prints first exist, and are few.
func TestCommonSettings(t *testing.T) {
	tree, err := SettingsSchema()
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range tree.Common {
		node := tree
		for part := range strings.SplitSeq(key, ".") {
			if node = node.Child(part); node == nil {
				t.Fatalf("x-common names %s, which is not a setting", key)
			}
		}
		if node.Description == "" || slices.Contains(tree.Common[:i], key) {
			t.Errorf("%s has no description, or is there twice", key)
		}
	}
	if n := len(tree.Common); n < 20 || n > 30 {
		t.Errorf("%d settings come first", n)
	}
}
