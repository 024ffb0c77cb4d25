package bundles

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// Workspaces lists the paths for which the layer has settings of their own.
func (b *Bundle) Workspaces() []string {
	return slices.Sorted(maps.Keys(objectAt(b.Settings, workspacesKey)))
}

// In returns the layer with the settings that it has for a workspace, in place of those that it has
// for all. place is the workspace, with slashes; home is the person's home directory, for paths that
// begin with ~ (empty: it is unknown); real returns a path without symbolic links. Of several paths that
// contain the workspace, the longest counts last. Without one, it is the layer itself.
func (b *Bundle) In(home, place string, real func(string) string) *Bundle {
	fits := b.Workspaces()
	place = real(place) // a link in a folder with milder settings does not make them apply to what it leads to
	fits = slices.DeleteFunc(fits, func(pattern string) bool {
		rest, below := strings.CutPrefix(pattern, "~")
		if below && home == "" {
			return true
		}
		if below {
			pattern = strings.TrimSuffix(home, "/") + rest
		}
		return !containsPlace(pattern, place) && !containsPlace(real(pattern), place)
	})
	slices.SortStableFunc(fits, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	return b.Of(fits...)
}

// Of returns the layer with the settings that it has for some of its Workspaces, those that count last at the end.
func (b *Bundle) Of(fits ...string) *Bundle {
	if len(fits) == 0 || b.Layer == Base || b.Layer == Project {
		return b
	}
	own := *b
	for _, pattern := range fits {
		own.Settings = replacedIn(own.Settings, objectAt(b.Settings, workspacesKey, pattern))
	}
	own.workspaces, own.written = fits, b.Settings
	return &own
}

// replacedIn returns settings with others in their place; sections are joined.
func replacedIn(settings, by map[string]any) map[string]any {
	all := maps.Clone(settings)
	for key, v := range by {
		section, is := v.(map[string]any)
		if before, was := all[key].(map[string]any); is && was {
			v = replacedIn(before, section)
		}
		all[key] = v
	}
	return all
}

// containsPlace reports whether a path of the setting is that of a workspace, or of a folder above it.
func containsPlace(pattern, place string) bool {
	if len(place) > 1 && place[1] == ':' { // a drive of Windows, where letter case does not count
		pattern, place = strings.ReplaceAll(strings.ToLower(pattern), `\`, "/"), strings.ToLower(place)
	}
	for pattern = path.Clean(pattern); ; place = path.Dir(place) {
		if wildcard.Match(pattern, place) {
			return true
		}
		if place == path.Dir(place) {
			return false
		}
	}
}
