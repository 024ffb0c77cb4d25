package bundles

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/bundles/conform"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/schemas"
	"go.yaml.in/yaml/v3"
)

// SchemaNode is the part of a node of schemas/settings.json that this package reads.
// The schema's description explains the keywords.
type SchemaNode struct {
	Description string                 `json:"description"`
	Merge       string                 `json:"x-merge"`
	Ascending   []string               `json:"x-ascending"`
	Rising      *rising                `json:"x-rising"`
	Order       []any                  `json:"x-order"` // mildest first; else the order of enum
	Enum        []any                  `json:"enum"`
	Within      string                 `json:"x-within"`
	Names       []string               `json:"x-names"` // vocabularies and words: of a list's items, or of a map's keys
	Form        string                 `json:"x-form"`  // what an item of a list is: host, word or path
	Unavailable string                 `json:"x-unavailable"`
	NoValues    map[string]string      `json:"x-unavailable-values"`
	Means       *string                `json:"x-means"`  // another spelling of the setting at this path; empty: of the top level (conform.Respell)
	Nested      string                 `json:"x-nested"` // an object in place of the value has it under this key
	Earlier     *earlier               `json:"x-earlier"`
	Machine     bool                   `json:"x-machine"` // no workspace has it for itself
	Common      []string               `json:"x-common"`  // keys of the settings that people set most; at the root only
	Properties  map[string]*SchemaNode `json:"properties"`
	Others      others                 `json:"additionalProperties"`
	Items       *SchemaNode            `json:"items"`
	Keys        struct{ Enum []any }   `json:"propertyNames"`
}

// rising returns the rows and columns of a table, in the order in which no cell may be
// milder than the previous one.
type rising struct{ Rows, Columns []string }

// earlier is the default of earlier designs, and why it is another one now.
type earlier struct {
	Value any
	Why   string
}

// others describes the keys that a section does not name; nil: there are none.
type others struct{ *SchemaNode }

// UnmarshalJSON reads false, or a node.
func (o *others) UnmarshalJSON(raw []byte) error {
	if string(raw) == "false" {
		return nil
	}
	return json.Unmarshal(raw, &o.SchemaNode)
}

// Child returns the node of a key; nil if the key is unknown.
func (s *SchemaNode) Child(key string) *SchemaNode {
	if node := s.Properties[key]; node != nil {
		return node
	}
	return s.Others.SchemaNode
}

// section reports whether the keys under a node are settings of their own: they are
// not if the node is merged as a whole.
func (s *SchemaNode) section() bool {
	return s.Merge == "" && (s.Properties != nil || s.Others.SchemaNode != nil && s.Others.Merge != "")
}

const settingsSchema = "settings.json"

// settingsTree and settingsDocument are the settings schema, as this package reads it
// and as written; it is embedded, so it is read once. They must not be changed.
var (
	settingsTree     = sync.OnceValues(readSettings[*SchemaNode])
	settingsDocument = sync.OnceValues(readSettings[map[string]any])
)

// SettingsSchema returns the settings schema. It must not be changed.
func SettingsSchema() (*SchemaNode, error) { return settingsTree() }

func readSettings[T any]() (s T, err error) {
	raw, err := schemas.FS.ReadFile(settingsSchema)
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil {
		return s, fmt.Errorf("read the settings schema: %w", err)
	}
	return s, nil
}

func (b *Bundle) addSettings() error {
	content, there := b.Files["settings.yaml"]
	if !there {
		return nil
	}
	if b.Layer == Base {
		return inFile("settings.yaml").wrong("the base layer's settings are its data.yaml, under the key reviewer")
	}
	schema, err := settingsDocument()
	if err != nil {
		return err
	}
	if b.Settings, err = decodeYAML("settings.yaml", content); err != nil {
		return err
	}
	if b.Settings, err = conform.Respell(schema, b.Settings); err == nil {
		err = respellWorkspaces(schema, b.Settings)
	}
	if err != nil {
		return inFile("settings.yaml").wrong("%w", err)
	}
	return nil
}

// Normal gives every number one Go type, so that values of YAML and JSON compare.
func Normal(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return map[string]any{}
	}
	var out any
	if json.Unmarshal(raw, &out) != nil || out == nil {
		return map[string]any{}
	}
	return out
}

// validateAll compares the settings of all layers with the schema.
func (s *SchemaNode) validateAll(layers []*Bundle, base map[string]any) error {
	var errs []error
	for i, l := range layers {
		settings := l.Settings
		switch {
		case i == 0:
			settings = base
		case l.written != nil:
			settings = l.written // those of workspaces are checked where they are written
		}
		if !l.checked {
			errs = append(errs, s.validate(l, settings))
		}
	}
	return errors.Join(errs...)
}

// validate compares a layer's settings with the schema. Each error is
// file:line: setting: what is wrong.
func (s *SchemaNode) validate(b *Bundle, doc map[string]any) error {
	schema, err := settingsDocument()
	if err != nil {
		return err
	}
	found := map[string]error{}
	s.problems("", schema, doc, found)
	s.checkWorkspaces(b, schema, doc, found)
	var errs []error
	for _, at := range slices.Sorted(maps.Keys(found)) {
		errs = append(errs, b.whereIs(at).wrong("%s: %w", cmp.Or(at, "(top)"), found[at]))
	}
	return errors.Join(errs...)
}

// problems compares the settings at a path with the schema; found gets what is wrong, by path.
func (s *SchemaNode) problems(path string, schema, doc map[string]any, found map[string]error) {
	refused := map[string]error{}
	s.refuse("", doc, refused)
	own := maps.Clone(refused)
	for _, p := range conform.Check(schema, Normal(doc)) {
		if at := strings.Join(p.At, "."); !covered(refused, at, p) {
			own[at] = errors.Join(own[at], errors.New(plainly(p.Message)+s.instead(p, doc)))
		}
	}
	for at, err := range own {
		at = strings.Trim(below(path, at), ".")
		found[at] = errors.Join(found[at], err)
	}
}

var tooFewItems = engine.Regexp(`^minimum (\d+) items required, but found (\d+) items`)

// plainly rewords messages of schemas.
func plainly(message string) string {
	m := tooFewItems().FindStringSubmatch(message)
	if m == nil {
		return message
	}
	least, _ := strconv.Atoi(m[1])
	return fmt.Sprintf("expected at least %s, but got %s", engine.Counted(least, "item", "items"), m[2])
}

// refuse notes unknown keys, with a suggestion, and keys and values that are known but
// not available.
func (s *SchemaNode) refuse(at string, doc map[string]any, found map[string]error) {
	for key, v := range doc {
		path, node := below(at, key), s.Child(key)
		if node == nil {
			found[path] = s.noSuchKey(key)
			continue
		}
		if sub, ok := v.(map[string]any); ok && node.section() && (len(sub) > 0 || node.Unavailable == "") {
			node.refuse(path, sub, found)
			continue
		}
		if why := node.unavailable(v); why != "" {
			found[path] = errors.New(why)
		}
		if items, ok := v.([]any); ok && node.Items != nil {
			for i, item := range items {
				if why := node.Items.unavailable(item); why != "" {
					found[below(path, strconv.Itoa(i))] = errors.New(why)
				}
			}
		}
	}
}

func (s *SchemaNode) noSuchKey(key string) error {
	if s.Unavailable != "" {
		return errors.New(s.Unavailable)
	}
	if first, rest, dotted := strings.Cut(key, "."); dotted && slices.Contains(s.keys(), first) {
		return fmt.Errorf("unknown key %q; settings are nested: write %s: {%s: …}", key, first, strings.ReplaceAll(rest, ".", ": {"))
	}
	return fmt.Errorf("unknown key %s", engine.Suggest(key, s.keys()))
}

// unavailable reports why a key or its value is not available; empty: it is.
func (s *SchemaNode) unavailable(v any) string {
	if s.Unavailable != "" {
		return s.Unavailable
	}
	why := s.NoValues[fmt.Sprint(v)]
	if why == "" {
		return ""
	}
	if word, ok := v.(string); ok {
		v = strconv.Quote(word)
	}
	if s.Enum == nil {
		return fmt.Sprintf("%v: %s", v, why)
	}
	return fmt.Sprintf("%v: %s; expected %s", v, why, strings.Trim(fmt.Sprint(s.Enum), "[]"))
}

// keys lists the available keys of a section.
func (s *SchemaNode) keys() []string {
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		if s.Properties[key].Unavailable == "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// instead reports the word that is not in the schema's list of words, and the most
// similar one.
func (s *SchemaNode) instead(p conform.Problem, doc any) string {
	node, v := s.follow(p.At, doc)
	if hint := unquoted(p.Message, v); p.Keyword == "type" && hint != "" {
		return hint
	}
	if node == nil || p.Keyword != "enum" {
		return map[bool]string{true: "; write a path in the workspace, such as packages/*/src or **/*.md"}[node != nil && node.Form == "path"]
	}
	allowed := node.Enum
	if above, _ := s.follow(p.At[:max(0, len(p.At)-1)], doc); allowed == nil && above != nil { // it is about the key
		allowed, v = above.Keys.Enum, p.At[len(p.At)-1]
	}
	var words []string
	for _, w := range allowed {
		words = append(words, fmt.Sprint(w))
	}
	if near := engine.Nearest(fmt.Sprint(v), words); near != "" {
		return fmt.Sprintf(", got %q; did you mean %q?", fmt.Sprint(v), near)
	}
	return fmt.Sprintf(", got %q", fmt.Sprint(v))
}

// follow returns the node and the value at a path of keys and indexes; nil if it does
// not exist.
func (s *SchemaNode) follow(keys []string, v any) (*SchemaNode, any) {
	for _, key := range keys {
		switch at := v.(type) {
		case map[string]any:
			s, v = s.Child(key), at[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(at) {
				return nil, nil
			}
			s, v = s.Items, at[i]
		}
		if s == nil {
			return nil, nil
		}
	}
	return s, v
}

// covered reports whether the schema's finding at a path was reported already.
func covered(refused map[string]error, at string, p conform.Problem) bool {
	if refused[at] != nil {
		return true
	}
	return p.Keyword == "additionalProperties" && anyBelow(refused, at)
}

// anyBelow reports whether a key of the object at a path is among those found.
func anyBelow(found map[string]error, at string) bool {
	for path := range found {
		if at == "" || strings.HasPrefix(path, at+".") { // a key may contain dots
			return true
		}
	}
	return false
}

// where returns the place of a setting of the bundle, such as risk.low_threshold, or
// of the nearest that is written above it. It reads the files again, because only
// errors need it.
func (b *Bundle) where(setting string) position {
	for _, w := range slices.Backward(b.workspaces) {
		if contains(objectAt(b.Settings, workspacesKey, w), strings.Split(setting, ".")) {
			return b.whereIs(below(below(workspacesKey, w), setting))
		}
	}
	return b.whereIs(setting)
}

func (b *Bundle) whereIs(setting string) position {
	keys := strings.Split(setting, ".")
	best, fewest := inFile("settings.yaml"), len(keys)
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		rest, ok := b.settingKeys(name, keys)
		if !ok {
			continue
		}
		root, err := parseYAML(name, b.Files[name])
		if err != nil || root == nil {
			continue
		}
		if n, left := keyOf(root, rest); n != nil && left <= fewest {
			best, fewest = nodeAt(name, n), left
		}
	}
	if b.Layer != Base {
		best.layer = b.Layer
	}
	return best
}

// settingKeys returns the keys under which a file has a setting, where it may.
func (b *Bundle) settingKeys(name string, keys []string) ([]string, bool) {
	if b.Layer != Base {
		if rest, text := strings.CutPrefix(strings.Join(keys, "."), textsKey+"."); text && name == b.prompts() {
			return strings.Split(rest, "."), true
		}
		return keys, name == "settings.yaml"
	}
	keys = append([]string{"reviewer"}, keys...)
	if base := path.Base(name); base != "data.yaml" && base != "data.json" {
		return nil, false
	}
	dir := path.Dir(name)
	if dir == "." {
		return keys, true
	}
	above := strings.Split(dir, "/")
	if len(above) > len(keys) || !slices.Equal(above, keys[:len(above)]) {
		return nil, false
	}
	return keys[len(above):], true
}

// keyOf follows keys as far as they exist, and returns how many are left. A key may
// contain dots, as the ids of rules do: then several parts are one key.
func keyOf(n *yaml.Node, keys []string) (at *yaml.Node, left int) {
	if n.Kind == yaml.SequenceNode && len(keys) > 0 {
		return itemOf(n, keys)
	}
	if n.Kind != yaml.MappingNode {
		return nil, len(keys)
	}
	for used := len(keys); used > 0; used-- {
		key := strings.Join(keys[:used], ".")
		for i := 0; i < len(n.Content); i += 2 {
			if n.Content[i].Value != key {
				continue
			}
			if at, left = keyOf(n.Content[i+1], keys[used:]); at == nil {
				at = n.Content[i]
			}
			return at, left
		}
	}
	return nil, len(keys)
}

// itemOf is keyOf for a list, whose items have their index as key.
func itemOf(n *yaml.Node, keys []string) (at *yaml.Node, left int) {
	i, err := strconv.Atoi(keys[0])
	if err != nil || i < 0 || i >= len(n.Content) {
		return nil, len(keys)
	}
	if at, left = keyOf(n.Content[i], keys[1:]); at == nil {
		at = n.Content[i]
	}
	return at, left
}

// promptsKey is the setting that names a layer's file of texts for interventions, and
// textsKey the settings that the file contains.
const (
	promptsKey = "interventions.custom_prompts_path"
	textsKey   = "interventions.texts"
)

// defaultPrompts is the file of texts of a layer that names none; it need not exist.
const defaultPrompts = "config/intervention_prompts.yaml"

// prompts returns the name of the layer's file of texts; empty: it has none. The base
// layer's texts are in its data.
func (b *Bundle) prompts() string {
	if b.Layer == Base {
		return ""
	}
	if name, ok := objectAt(b.Settings, "interventions")["custom_prompts_path"].(string); ok {
		return path.Clean(name)
	}
	if _, there := b.Files[defaultPrompts]; there {
		return defaultPrompts
	}
	return ""
}

// addPrompts adds the texts of the layer's file to its settings.
func (b *Bundle) addPrompts() error {
	name := b.prompts()
	if name == "" {
		return nil
	}
	if why := b.notPrompts(name); why != "" {
		return b.where(promptsKey).wrong("%s: %s", promptsKey, why)
	}
	texts, err := decodeYAML(name, b.Files[name])
	if err != nil {
		return err
	}
	return b.joinTexts(name, texts)
}

// notPrompts reports why a file cannot be the layer's file of texts; empty: it can.
func (b *Bundle) notPrompts(name string) string {
	_, there := b.Files[name]
	switch {
	case b.Layer == Project && name != defaultPrompts:
		return "the project layer may not set this, since the agent can write it"
	case !fs.ValidPath(name), strings.ContainsAny(name, `\:`), strings.HasPrefix(name, "~"):
		return `"` + name + `" is outside the policy's folder; name a file in it, such as ` + defaultPrompts +
			": another file would not be signed with the policy, and the agent might be able to change it"
	case !there && name != defaultPrompts:
		return `no file of this policy is called "` + name + `"; a file of texts ends in .yaml, and is neither hidden nor in cases/`
	case FileKind(name) != "":
		return `"` + name + `" has another purpose; name a file of texts, such as ` + defaultPrompts
	}
	return ""
}

// joinTexts adds texts to those of settings.yaml. A key in both is an error.
func (b *Bundle) joinTexts(name string, texts map[string]any) error {
	if len(texts) == 0 {
		return nil
	}
	if b.Settings == nil {
		b.Settings = map[string]any{}
	}
	all := b.Settings
	for _, key := range strings.Split(textsKey, ".") {
		below, ok := all[key].(map[string]any)
		if all[key] != nil && !ok {
			return nil // which the schema reports
		}
		if !ok {
			below = map[string]any{}
			all[key] = below
		}
		all = below
	}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		if _, twice := all[key]; twice {
			errs = append(errs, b.inPrompts(name, key).wrong("%s: settings.yaml has this text as well (%s); keep one of the two", key, textsKey))
			continue
		}
		all[key] = texts[key]
	}
	return errors.Join(errs...)
}

// inPrompts returns the position of a string in the layer's file of texts.
func (b *Bundle) inPrompts(name, key string) position {
	if root, err := parseYAML(name, b.Files[name]); err == nil && root != nil {
		if n, _ := keyOf(root, []string{key}); n != nil {
			return nodeAt(name, n)
		}
	}
	return inFile(name)
}

// workspacesKey is the setting by which the organisation and a person give other settings to
// single workspaces.
const workspacesKey = "workspaces"

// checkWorkspaces compares the settings of single workspaces with the schema; found gets what is
// wrong, by path.
func (s *SchemaNode) checkWorkspaces(b *Bundle, schema, doc map[string]any, found map[string]error) {
	for pattern, v := range objectAt(doc, workspacesKey) {
		at := below(workspacesKey, pattern)
		own, ok := v.(map[string]any)
		switch {
		case !ok:
			continue // the schema reports it
		case b.Layer == Base:
			found[at] = errors.New("only the layers organisation and user may give a workspace settings of its own")
		case !rooted(pattern):
			found[at] = errors.New("expected an absolute path, or one that begins with ~/")
		case own[workspacesKey] != nil:
			found[below(at, workspacesKey)] = errors.New("the settings of a workspace contain none of others; write its paths next to this one")
		}
		s.problems(at, schema, own, found)
		s.ofMachine(at, own, found)
	}
}

// ofMachine notes settings that apply to the whole machine.
func (s *SchemaNode) ofMachine(at string, doc map[string]any, found map[string]error) {
	for key := range doc {
		switch node := s.Child(key); {
		case node == nil:
		case node.Machine:
			found[below(at, key)] = errors.New("this applies to the whole machine; set it outside workspaces")
		default:
			node.ofMachine(below(at, key), objectAt(doc, key), found)
		}
	}
}

func rooted(pattern string) bool {
	return strings.HasPrefix(pattern, "~/") || fullPath().MatchString(pattern)
}

// respellWorkspaces is conform.Respell for the settings of single workspaces.
func respellWorkspaces(schema, doc map[string]any) error {
	all, _ := doc[workspacesKey].(map[string]any)
	for pattern, v := range all {
		own, ok := v.(map[string]any)
		if !ok {
			continue
		}
		written, err := conform.Respell(schema, own)
		if err != nil {
			return err
		}
		all[pattern] = written
	}
	return nil
}

// contains reports whether settings have a value at a path of keys.
func contains(settings any, keys []string) bool {
	for _, key := range keys {
		section, ok := settings.(map[string]any)
		if !ok {
			return true // an item of a list
		}
		if settings, ok = section[key]; !ok {
			return false
		}
	}
	return true
}
