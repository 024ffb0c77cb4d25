package audit

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/engine"
)

// The notes of the ledger about the installation. The details of all but the first are texts for people.
const (
	NoteHooks       = "installation_hooks"    // Note.Hooks were installed, or were found when nothing was known about their file
	NoteBroken      = "installation_broken"   // the resident process found a problem
	NoteWhole       = "installation_whole"    // that problem is gone
	NoteChanged     = "installation_changed"  // something happened that people are told of it once
	NoteRepaired    = "installation_repaired" // the resident process wrote managed hooks again; people are told of it once
	NoteTold        = "installation_told"     // they were told for the first time
	NoteUninstalled = "uninstall"             // hooks were removed; detail: who did it, and Uninstalling
)

// Installation is what the ledger has about the hooks of this installation.
type Installation struct {
	Hooks   []engine.Hooks     // that should be there
	Removed map[[2]string]bool // by agent and layer: a person uninstalled the hooks
	Broken  []string           // problems that are not gone
	Events  map[string]Event   // by text: everything that was found, changed or repaired
	Written int                // how many records there are of hooks and installations
}

// Event is something of which people are told.
type Event struct {
	Told bool // they were
	Gone bool // it was a problem, which is gone
}

// Untold lists what nobody was told yet.
func (i *Installation) Untold() []string {
	var list []string
	for text, e := range i.Events {
		if !e.Told {
			list = append(list, text)
		}
	}
	slices.Sort(list)
	return list
}

// Uninstalling is the text of the record by which a person removes the hooks of agents in a layer of their settings.
func Uninstalling(agents []string, layer string) string {
	return "the hooks of " + strings.Join(agents, ", ") + " in the " + layer + " settings are removed"
}

var uninstalling = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`the hooks of ([a-z, -]+) in the ([a-z]+) settings are removed$`)
})

// note follows a note about the installation. Where a key counts, only a signed act removes the hooks of user
// settings; those of a machine only root can remove.
func (i *Installation) note(n *engine.Note, keyed bool) {
	switch n.What {
	case "install":
		i.Written++
	case NoteHooks:
		if n.Hooks != nil {
			i.add(*n.Hooks)
		}
	case NoteUninstalled:
		i.remove(n.Detail, func(layer string) bool { return !keyed || layer == "managed" })
	case NoteBroken:
		if i.Events[n.Detail] = (Event{}); !slices.Contains(i.Broken, n.Detail) {
			i.Broken = append(i.Broken, n.Detail)
		}
	case NoteWhole:
		i.Broken = slices.DeleteFunc(i.Broken, func(text string) bool { return text == n.Detail })
		i.Events[n.Detail] = Event{i.Events[n.Detail].Told, true}
	case NoteChanged, NoteRepaired:
		i.Events[n.Detail] = Event{}
	case NoteTold:
		i.Events[n.Detail] = Event{true, i.Events[n.Detail].Gone}
	}
}

func (i *Installation) add(h engine.Hooks) {
	i.Written++
	delete(i.Removed, [2]string{h.Agent, h.Layer})
	i.Hooks = append(slices.DeleteFunc(i.Hooks, func(o engine.Hooks) bool { return o.Agent == h.Agent && o.File == h.File }), h)
}

// remove follows a record with the text of Uninstalling, if it counts for the layer.
func (i *Installation) remove(text string, counts func(layer string) bool) {
	m := uninstalling().FindStringSubmatch(text)
	if m == nil || !counts(m[2]) {
		return
	}
	for agent := range strings.SplitSeq(m[1], ", ") {
		i.Removed[[2]string{agent, m[2]}] = true
		i.Hooks = slices.DeleteFunc(i.Hooks, func(o engine.Hooks) bool { return o.Agent == agent && o.Layer == m[2] })
	}
}
