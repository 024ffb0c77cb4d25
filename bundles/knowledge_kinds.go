package bundles

import (
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// paths checks a row of places/: which paths are of a class.
func (c *rowCheck) paths(names string, row rows.Paths, n *yaml.Node) {
	for _, name := range strings.Fields(names) {
		c.class(name, row, n)
	}
	if !row.Says() && len(row.Also) == 0 && row.Decides == nil && !row.Replace {
		c.p.wrong(n, "%s: a row says which paths it means, by names, extensions, ends, home, system, folders, inside, parts or packages", names)
	}
	c.pathEntry(row, n)
	nodes := RowValues(n)
	for key, entry := range map[string]*rows.Paths{"except": row.Except, "decides": row.Decides} {
		if entry != nil {
			c.nested(*entry, nodes[key], key)
		}
	}
	for i, also := range row.Also {
		at := nodes["also"].Content[i]
		c.nested(also, at, "also")
		if also.Except != nil {
			c.nested(*also.Except, RowValues(at)["except"], "except")
		}
	}
}

// class checks that a row's name is a class, and that the layer may have it.
func (c *rowCheck) class(name string, row rows.Paths, n *yaml.Node) {
	loosens := name == string(engine.ClassGenerated) || name == rows.Packages
	switch known := append(engine.Classes(), rows.Packages); {
	case !slices.Contains(known, name):
		c.p.wrong(n, "there is no class of paths %s", engine.Meant(name, known))
	case c.adds && loosens:
		c.p.wrong(n, "%s: a row of the %s layer only makes facts stricter; say this in the organisation's layer", name, c.layer)
	case c.adds && row.Replace:
		c.p.wrong(n, "%s: replace: a row of the %s layer takes nothing away; say this in the organisation's layer", name, c.layer)
	case row.Replace && name == string(engine.ClassGuard):
		c.p.wrong(n, "guard: replace: reviewer's own files stay guarded; leave replace out")
	case row.Decides != nil && name != string(engine.ClassAgent):
		c.p.wrong(n, "%s: decides is for agent_config only", name)
	}
}

// nested checks an entry of a row, which says no more than which paths it means.
func (c *rowCheck) nested(entry rows.Paths, n *yaml.Node, key string) {
	inner := entry.Except
	if key == "also" {
		inner = nil
	}
	if entry.About != "" || entry.Replace || entry.Examples != nil || len(entry.Also) > 0 || entry.Decides != nil || inner != nil {
		c.p.wrong(n, "%s: an entry says only which paths it means, and one of also what it excepts", key)
	}
	if !entry.Says() {
		c.p.wrong(n, "%s: an entry means no path without names, extensions, ends, home, system, folders, inside, parts or packages", key)
	}
	c.pathEntry(entry, n)
}

// pathEntry checks the lists of a row or an entry of one.
func (c *rowCheck) pathEntry(entry rows.Paths, n *yaml.Node) {
	nodes := RowValues(n)
	if entry.Below+entry.NotBelow != "" && entry.Folders+entry.Inside == "" && !entry.Packages {
		c.p.wrong(n, "below and not_below say what stands below folders, inside or packages; name one of these too")
	}
	lists := entry.Lists()
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		seen := map[string]bool{}
		for _, name := range rows.List(lists[key]) {
			if seen[name] {
				c.p.wrong(nodes[key], "%s: %s is given twice", key, name)
			}
			seen[name] = true
			if why := pathName(key, name); why != "" {
				c.p.wrong(nodes[key], "%s: %q %s", key, name, why)
			}
		}
	}
}

// pathName says what is wrong with a name in a list; empty: nothing.
func pathName(key, name string) string {
	_, malformed := path.Match(name, "")
	drive := len(name) > 2 && name[1] == ':' && name[2] == '/'
	switch {
	case malformed != nil:
		return "is no pattern: close the [ or put a backslash before it"
	case key != "names" && strings.ToLower(name) != name:
		return "has a capital; write it in lower case, letter case means nothing here"
	case strings.Contains(name, "/") && rows.Has("names extensions parts below not_below", key):
		return "has a slash; ends, home, system, folders and inside name more than one part of a path"
	case key == "extensions" && !strings.HasPrefix(name, "."):
		return "is no extension: it does not begin with a dot"
	case key == "system" && !strings.HasPrefix(name, "/") && !drive:
		return "is not absolute; home, folders and ends name paths that are not"
	case key != "system" && (strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~")):
		return "begins at the root or in a home directory; leave that out, or use system"
	case strings.HasSuffix(name, "/"):
		return "ends in a slash; leave that out"
	}
	return ""
}
