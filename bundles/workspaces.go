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
// for all. places are the paths by which the workspace is known, with slashes; home is the person's
// home directory, for paths that begin with ~. Of several paths that contain the workspace, the
// longest counts last. Without one, it is the layer itself.
func (b *Bundle) In(home string, places ...string) *Bundle {
	fits := b.Workspaces()
	fits = slices.DeleteFunc(fits, func(pattern string) bool {
		return !slices.ContainsFunc(places, func(place string) bool { return containsPlace(pattern, home, place) })
	})
	if len(fits) == 0 || b.Layer == Base || b.Layer == Project {
		return b
	}
	slices.SortStableFunc(fits, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	own := *b
	for _, pattern := range fits {
		own.Settings = replacedIn(own.Settings, objectAt(b.Settings, workspacesKey, pattern))
	}
	own.workspaces = fits
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
func containsPlace(pattern, home, place string) bool {
	if rest, below := strings.CutPrefix(pattern, "~"); below {
		pattern = strings.TrimSuffix(home, "/") + rest
	}
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
