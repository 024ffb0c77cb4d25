package settings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// form describes the JSON documents in which an agent keeps hooks.
type form struct {
	agent     string
	hooks     []Hook   // to install
	bare      bool     // the events are members of the document itself, not of its member hooks
	flat      bool     // an event has a list of hooks, not of groups of hooks
	matcher   string   // of a group that is called for every tool
	others    []string // members next to the events that are not lists
	fixed     []fixed  // members that the document needs
	pins      []fixed  // members that keep weaker layers from turning its hooks off
	off       []offSwitch
	comments  bool // the agent reads comments in these documents
	dedicated bool // the file contains hooks only: it is removed when nothing else is left

	handler  func(HookCommand, Hook) any
	problems func(own OwnHook, h object, hook Hook, client string) []string
	open     func(own OwnHook, hook Hook) bool
}

// fixed is a member of a document and its value.
type fixed struct{ path, value string }

// format returns how files of this form are edited.
func (f form) format() Format {
	return Format{Install: f.install, Uninstall: f.uninstall, Inspect: f.inspect}
}

// readOnly is format for files to which no hook is written.
func (f form) readOnly() Format { return Format{Inspect: f.inspect} }

func (f form) install(settings []byte, c HookCommand) ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	top, err := f.read(settings)
	if err != nil {
		return nil, err
	}
	list, err := f.events(top)
	if err != nil {
		return nil, err
	}
	list, places, err := f.without(list, f.eventNames())
	if err != nil {
		return nil, err
	}
	for _, h := range c.given(f.hooks) {
		if list, err = f.insert(list, c, h, places); err != nil {
			return nil, err
		}
	}
	if top, err = f.fix(f.put(top, list)); err != nil {
		return nil, err
	}
	return f.print(settings, top)
}

// uninstall returns settings without entries of reviewer, and without the
// lists that only contained those.
func (f form) uninstall(settings []byte) ([]byte, error) {
	top, err := f.read(settings)
	if err != nil {
		return nil, err
	}
	list, err := f.events(top)
	if err != nil {
		return nil, err
	}
	rest, places, err := f.without(list, nil)
	switch {
	case err != nil:
		return nil, err
	case len(places) == 0:
		return settings, nil
	case !f.bare && len(rest) == 0:
		top = slices.Delete(top, top.index("hooks"), top.index("hooks")+1)
	default:
		top = f.put(top, rest)
	}
	if f.dedicated && f.onlyFixed(top) {
		return nil, nil
	}
	return f.print(settings, top)
}

// read reads a document. Its comments are left out if the agent does so, too.
func (f form) read(settings []byte) (object, error) {
	if f.comments {
		settings = plainJSON(settings, false)
	}
	return readSettings(settings)
}

func (f form) print(old []byte, top object) ([]byte, error) {
	if f.comments && commented(old) {
		return printOver(old, top)
	}
	return top.print()
}

func (f form) eventNames() []string {
	var names []string
	for _, h := range f.hooks {
		names = append(names, h.Event)
	}
	return names
}

// events returns the object whose members are the events.
func (f form) events(top object) (object, error) {
	if f.bare {
		return slices.Clone(top), nil
	}
	raw := top.value("hooks")
	if raw == nil {
		return object{}, nil
	}
	hooks, err := parseObject(raw)
	if err != nil {
		return nil, fmt.Errorf("settings: hooks %w; correct it first, the client ignores the whole file", err)
	}
	return hooks, nil
}

func (f form) put(top, events object) object {
	if f.bare {
		return events
	}
	return top.set("hooks", events.bytes())
}

// fix adds what the document needs. A member with another value is a person's decision, and
// an error.
func (f form) fix(top object) (object, error) {
	for _, m := range slices.Concat(f.fixed, f.pins) {
		now := string(top.at(m.path))
		switch now {
		case m.value:
		case "":
			top = top.setAt(strings.Split(m.path, "."), json.RawMessage(m.value))
		default:
			return nil, fmt.Errorf("settings: %s is %s, and hooks need %s there; correct it first", m.path, now, m.value)
		}
	}
	return top, nil
}

func (f form) onlyFixed(top object) bool {
	for _, m := range top {
		own := func(x fixed) bool {
			key, _, deeper := strings.Cut(x.path, ".")
			return key == m.key && string(top.at(x.path)) == x.value && (!deeper || single(m.value))
		}
		if !slices.ContainsFunc(slices.Concat(f.fixed, f.pins), own) {
			return false
		}
	}
	return true
}

// single reports whether an object has one member.
func single(raw json.RawMessage) bool {
	o, err := parseObject(raw)
	return err == nil && len(o) == 1
}

// without removes reviewer's entries, and returns for each event the position of the
// first one among its groups. Lists that become empty are removed too, except those of
// the events to keep.
func (f form) without(o object, keep []string) (object, map[string]int, error) {
	places := map[string]int{}
	var rest object
	for _, m := range o {
		if slices.Contains(f.others, m.key) {
			rest = append(rest, m)
			continue
		}
		groups, err := parseList(m.value)
		if err != nil {
			return nil, nil, fmt.Errorf("settings: %s %w; correct it first, the client ignores the whole file", f.name(m.key), err)
		}
		others, place := f.withoutOwn(groups)
		if place >= 0 {
			places[m.key] = place
			m.value = listBytes(others)
		}
		if place < 0 || len(others) > 0 || slices.Contains(keep, m.key) {
			rest = append(rest, m)
		}
	}
	return rest, places, nil
}

// name is the path of an event in the document, for messages.
func (f form) name(event string) string {
	if f.bare {
		return event
	}
	return "hooks." + event
}

func (f form) withoutOwn(groups []json.RawMessage) (others []json.RawMessage, place int) {
	place = -1
	for _, raw := range groups {
		left, found := f.groupWithoutOwn(raw)
		if found && place < 0 {
			place = len(others)
		}
		if left != nil {
			others = append(others, left)
		}
	}
	return others, place
}

// groupWithoutOwn returns nil for a group that contained nothing else.
func (f form) groupWithoutOwn(raw json.RawMessage) (json.RawMessage, bool) {
	if f.flat {
		if ownEntry(f.agent, raw) != nil {
			return nil, true
		}
		return raw, false
	}
	group, err := parseObject(raw)
	if err != nil {
		return raw, false
	}
	list, err := parseList(group.value("hooks"))
	if err != nil {
		return raw, false
	}
	n := len(list)
	list = slices.DeleteFunc(list, func(h json.RawMessage) bool { return ownEntry(f.agent, h) != nil })
	switch {
	case len(list) == n:
		return raw, false
	case len(list) == 0:
		return nil, true
	}
	return group.set("hooks", listBytes(list)).bytes(), true
}

func (f form) insert(o object, c HookCommand, h Hook, places map[string]int) (object, error) {
	var groups []json.RawMessage
	if raw := o.value(h.Event); raw != nil {
		var err error
		if groups, err = parseList(raw); err != nil {
			return nil, err
		}
	}
	group, err := f.group(c, h)
	if err != nil {
		return nil, fmt.Errorf("encode hook of %s: %w", h.Event, err)
	}
	place, had := places[h.Event]
	if !had {
		place = len(groups)
	}
	return o.set(h.Event, listBytes(slices.Insert(groups, place, group))), nil
}

// group returns the entry of an event's list.
func (f form) group(c HookCommand, h Hook) (json.RawMessage, error) {
	if f.flat {
		return encoded(f.handler(c, h))
	}
	group := struct {
		Matcher string `json:"matcher,omitempty"`
		Hooks   []any  `json:"hooks"`
	}{Hooks: []any{f.handler(c, h)}}
	if h.aboutTool() {
		group.Matcher = f.matcher
	}
	return encoded(group)
}
