package conform

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Respell returns a document with each key at its own path in the schema: keys that are other spellings
// (x-means) are moved, and so are those of an object in place of a single value (x-nested).
func Respell(schema, doc map[string]any) (map[string]any, error) {
	r := respelling{root: schema, out: map[string]any{}}
	r.section(nil, schema, doc)
	return r.out, errors.Join(r.errs...)
}

type respelling struct {
	root, out map[string]any
	errs      []error
}

func (r *respelling) section(at []string, schema, doc map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(doc)) {
		above, path, node := at, append(slices.Clip(at), key), child(schema, key)
		sub, isObject := doc[key].(map[string]any)
		nested, _ := node["x-nested"].(string)
		in := schema
		if means, another := node["x-means"].(string); another && means == "" && isObject {
			r.section(nil, r.root, sub)
			continue
		} else if means != "" {
			path = strings.Split(means, ".")
			above, in = path[:len(path)-1], r.root
			for _, name := range above {
				in = child(in, name)
			}
			node = child(in, path[len(path)-1])
		}
		switch {
		case nested != "" && isObject:
			for _, name := range slices.Sorted(maps.Keys(sub)) {
				if name == nested {
					r.set(path, sub[name])
				} else {
					r.section(above, in, map[string]any{name: sub[name]})
				}
			}
		case isObject && len(sub) > 0 && node["properties"] != nil:
			r.section(path, node, sub)
		default:
			r.set(path, doc[key])
		}
	}
}

// child returns the schema of a key that a schema names; nil: it names none.
func child(schema map[string]any, key string) map[string]any {
	properties, _ := schema["properties"].(map[string]any)
	node, _ := properties[key].(map[string]any)
	return node
}

// set stores a value. Two spellings of one setting must agree.
func (r *respelling) set(path []string, v any) {
	to := r.out
	for _, key := range path[:len(path)-1] {
		next, ok := to[key].(map[string]any)
		if _, there := to[key]; there && !ok {
			r.errs = append(r.errs, fmt.Errorf("%s is set twice, to different values; keep one of them", key))
		}
		if !ok {
			next = map[string]any{}
			to[key] = next
		}
		to = next
	}
	last := path[len(path)-1]
	if before, there := to[last]; there && !reflect.DeepEqual(before, v) {
		r.errs = append(r.errs, fmt.Errorf("%s is set twice, to different values; keep one of them", strings.Join(path, ".")))
	}
	to[last] = v
}
