package diff

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
)

// rego compares what the modules of each layer state. The effect of Rego is only known
// by evaluating it.
func (d *differ) rego(a, b *bundles.Effective) error {
	for _, layer := range bundles.Layers() {
		differ, err := d.compare(modules(a.Layer(layer)), modules(b.Layer(layer)))
		if err != nil {
			return fmt.Errorf("the Rego of the %s layer cannot be compared: %w", layer, err)
		}
		for name, texts := range differ {
			was, is := regoVersion(layer, texts[0]), regoVersion(layer, texts[1])
			d.add(Change{Kind: KindRego, Name: name, Did: did(was != nil, is != nil), Direction: Undecided, Before: was, After: is})
		}
	}
	return nil
}

func modules(b *bundles.Bundle) map[string]string {
	if b == nil {
		return nil
	}
	return b.Modules
}

// regoVersion returns the definitions of a rule that the other policy lacks; nil if
// the rule does not exist.
func regoVersion(layer string, texts []string) *Version {
	if texts == nil {
		return nil
	}
	v := &Version{Layers: []string{layer}}
	if len(texts) > 0 {
		v.Value = strings.Join(texts, "\n\n")
	}
	return v
}

// layers compares the layers and their manifests.
func (d *differ) layers(a, b *bundles.Effective) error {
	for _, layer := range bundles.Layers() {
		was, is := a.Layer(layer), b.Layer(layer)
		switch {
		case was == nil && is == nil:
		case was == nil || is == nil:
			d.add(Change{Kind: KindLayer, Name: layer, Did: did(was != nil, is != nil), Direction: Unaffected, Before: release(was),
				After: release(is)})
		default:
			d.manifest(layer, was, is)
		}
	}
	return nil
}

// release names the release in a layer; nil if there is none.
func release(l *bundles.Bundle) *Version {
	if l == nil {
		return nil
	}
	m := l.Manifest.Metadata
	return &Version{Value: strings.TrimSpace(m.Name + " " + m.Version), Layers: []string{l.Layer}}
}

func (d *differ) manifest(layer string, was, is *bundles.Bundle) {
	before, after := manifestFields(was), manifestFields(is)
	for _, name := range bothKeys(before, after) {
		x, wasThere := before[name]
		y, isThere := after[name]
		if wasThere == isThere && reflect.DeepEqual(x.value, y.value) {
			continue
		}
		c := Change{Kind: KindManifest, Name: layer + "." + name, Did: did(wasThere, isThere), Direction: Unaffected}
		if wasThere {
			c.Before = &Version{Value: x.value, Layers: []string{layer}, Place: ".manifest"}
		}
		if isThere {
			c.After = &Version{Value: y.value, Layers: []string{layer}, Place: ".manifest"}
		}
		d.add(c)
	}
}

// manifestFields lists the fields of a manifest; without empty ones and those that
// building adds.
func manifestFields(l *bundles.Bundle) map[string]leaf {
	doc, _ := bundles.Normal(l.Manifest).(map[string]any)
	if more, ok := doc["metadata"].(map[string]any); ok {
		delete(doc, "metadata")
		for key, v := range more {
			doc[key] = v
		}
	}
	for _, built := range []string{"written", "capabilities", "tests_skipped"} {
		delete(doc, built)
	}
	all := map[string]leaf{}
	leavesBelow(nil, "", doc, all)
	for name, f := range all {
		if f.value == nil || reflect.ValueOf(f.value).IsZero() {
			delete(all, name)
		}
	}
	return all
}
