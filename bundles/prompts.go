package bundles

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

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

// joinTexts adds texts to those of settings.yaml. A text in both is an error.
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

// inPrompts returns the position of a text in the layer's file of texts.
func (b *Bundle) inPrompts(name, key string) position {
	if root, err := parseYAML(name, b.Files[name]); err == nil && root != nil {
		if n, _ := keyOf(root, []string{key}); n != nil {
			return nodeAt(name, n)
		}
	}
	return inFile(name)
}
