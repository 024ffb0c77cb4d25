package windows

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// psFileCommand finds a cmdlet that acts on items: files, and keys of the
// registry, which PowerShell reaches by the same names.
func psFileCommand(name string) func(c *psCall) psValue {
	switch name {
	case "remove-item", "clear-recyclebin":
		return (*psCall).removeItem
	case "clear-content":
		return func(c *psCall) psValue { c.writes("truncate", c.targets()...); return psValue{} }
	case "set-content", "add-content", "out-file", "export-csv", "export-clixml":
		return (*psCall).setContent
	case "new-item", "mkdir":
		return (*psCall).newItem
	case "copy-item", "move-item", "rename-item":
		return (*psCall).copyItem
	case "get-content":
		return (*psCall).getContent
	case "get-childitem", "get-item", "resolve-path", "get-itemproperty", "get-itempropertyvalue", "get-acl", "get-filehash":
		return (*psCall).getItem
	case "set-itemproperty", "new-itemproperty", "set-item", "remove-itemproperty", "clear-itemproperty", "rename-itemproperty", "copy-itemproperty", "clear-item":
		return (*psCall).itemProperty
	case "expand-archive", "compress-archive":
		return (*psCall).archive
	case "join-path":
		return func(c *psCall) psValue {
			return textPS(abstract.Concat(abstract.Concat(c.operand(0, "path"), abstract.Word("/")), c.operand(len(c.operands)-1, "childpath")))
		}
	case "split-path":
		return (*psCall).splitPath
	case "convert-path", "new-temporaryfile":
		return func(c *psCall) psValue {
			if c.name == "convert-path" {
				return psValue{items: c.targets()}
			}
			return textPS(abstract.Word(c.w.tempFolder() + "/" + abstract.HoleText))
		}
	case "set-acl", "set-filesecurity", "unblock-file":
		return func(c *psCall) psValue {
			c.writes("chmod", c.targets()[:min(1, len(c.targets()))]...)
			return psValue{}
		}
	}
	return nil
}

// provider returns the kind of items that are not files.
func provider(a abstract.Arg) string {
	if isRegistry(a.Text) {
		return "registry"
	}
	text := a.Text
	if i := strings.Index(text, "::"); i >= 0 {
		text = text[:i] + ":"
	}
	name, _, ok := strings.Cut(text, ":")
	if !ok || len(name) < 2 || strings.ContainsAny(name, `/\`+abstract.Holes) {
		return ""
	}
	low := strings.ToLower(name[strings.LastIndexByte(name, '\\')+1:])
	if slices.Contains([]string{"env", "variable", "function", "alias", "cert", "wsman", "ad", "filesystem"}, low) {
		return low
	}
	return ""
}

func (c *psCall) removeItem() psValue {
	e := abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Recursive: c.has("recurse"), Forced: c.has("force")}
	if c.name == "clear-recyclebin" {
		c.emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Recursive: true, Forced: true}, abstract.Word("C:/$Recycle.Bin"))
		return psValue{}
	}
	list := c.targets()
	if len(list) == 0 {
		list = []abstract.Arg{abstract.UnknownArg()}
	}
	for _, t := range list {
		switch low := strings.ToLower(t.Text); { // rd /s /q, as cmd writes it
		case low == "/s" && !t.Quoted && len(list) > 1:
			e.Recursive = true
		case (low == "/q" || low == "/f") && !t.Quoted && len(list) > 1:
			e.Forced = true
		default:
			c.removeOne(e, t)
		}
	}
	return psValue{}
}

func (c *psCall) removeOne(e abstract.RawEffect, t abstract.Arg) {
	switch kind := provider(t); kind {
	case "registry":
		c.w.registry(c.index, "delete", t, abstract.Arg{}, abstract.Arg{}, e.Forced)
	case "", "filesystem":
		if f, ok := c.get("include", "filter"); ok {
			t = abstract.Concat(abstract.Concat(t.With(strings.TrimRight(t.Text, `/\*`)), abstract.Word("/")), f.one())
		}
		c.emit(e, t)
	case "cert", "wsman", "ad":
		c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "delete", Recursive: e.Recursive}, t)
	}
}

// setContent runs Set-Content and similar cmdlets.
func (c *psCall) setContent() psValue {
	list, text := c.operands, c.input()
	file, named := c.get("path", "literalpath", "filepath")
	if !named && len(list) > 0 {
		file, list = list[0], list[1:]
	}
	if v, ok := c.get("value", "inputobject"); ok {
		text = v
	} else if len(list) > 0 {
		text = list[0]
	}
	verb := "write"
	if c.name == "add-content" || c.has("append") {
		verb = "append"
	}
	for _, f := range file.items {
		switch provider(f) {
		case "", "filesystem":
			if s, ok := c.get("stream"); ok {
				f = abstract.Concat(abstract.Concat(f, abstract.Word(":")), s.one())
			}
			c.writes(verb, f)
			c.w.store(f, text.one(), verb == "append")
		}
	}
	return psValue{}
}

func (c *psCall) newItem() psValue {
	path, name := c.operand(0, "path"), c.operand(99, "name")
	if name.Text != "" && path.Text != "" {
		path = abstract.Concat(abstract.Concat(path, abstract.Word("/")), name)
	} else if name.Text != "" {
		path = name
	}
	if provider(path) == "registry" {
		c.w.registry(c.index, "set", path, abstract.Arg{}, abstract.Arg{}, c.has("force"))
		return psValue{items: []abstract.Arg{path}}
	}
	verb, kind := "create", strings.ToLower(c.operand(99, "itemtype", "type").Text)
	switch {
	case c.name == "mkdir" || strings.HasPrefix(kind, "dir") || kind == "container":
		verb = "mkdir"
	case strings.Contains(kind, "link") || kind == "junction":
		verb = "link"
	}
	c.writes(verb, path)
	if v, ok := c.get("value"); ok && verb == "create" {
		c.w.store(path, v.one(), false)
	}
	return psValue{items: []abstract.Arg{path}}
}

// copyItem copies, moves and renames.
func (c *psCall) copyItem() psValue {
	sources, list := []abstract.Arg(nil), c.operands
	if v, ok := c.get("path", "literalpath"); ok {
		sources = v.items
	} else if len(list) > 0 {
		sources, list = list[0].items, list[1:]
	} else {
		sources = c.input().items
	}
	dest, ok := c.get("destination", "newname")
	if !ok && len(list) > 0 {
		dest, ok = list[0], true
	}
	switch {
	case len(sources) > 0 && isRegistry(sources[0].Text):
		c.w.registry(c.index, "set", dest.one(), abstract.Arg{}, abstract.Arg{}, false)
		return psValue{}
	case c.name == "rename-item":
		c.writes("move", sources[:min(1, len(sources))]...)
		return psValue{}
	case c.name == "copy-item":
		c.emit(abstract.RawEffect{Kind: engine.EffectFileRead, Verb: "read", Recursive: c.has("recurse")}, sources...)
	default:
		c.moves(sources, dest.one())
	}
	if _, remote := c.get("tosession"); remote {
		c.w.signal(engine.SignalPipeExternal)
		c.sends("send", abstract.UnknownArg())
		return psValue{}
	}
	if ok {
		verb := map[bool]string{true: "copy", false: "write"}[c.name == "copy-item"]
		c.writes(verb, dest.items...)
		for _, s := range sources {
			if text, known := c.w.written(s); known {
				c.w.store(dest.one(), text, false)
			}
		}
	}
	return dest
}

// moves reports what a move removes; within a directory it only renames.
func (c *winCall) moves(sources []abstract.Arg, dest abstract.Arg) {
	for _, s := range sources {
		e := abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "move", Recursive: true}
		if inPlace(s) && inPlace(dest) {
			e.Kind, e.Recursive = engine.EffectFileWrite, false
		}
		c.emit(e, s)
	}
}

func (c *psCall) getContent() psValue {
	var out []abstract.Arg
	for _, f := range c.targets() {
		if provider(f) == "env" {
			_, name, _ := strings.Cut(f.Text, ":")
			v, _ := c.w.variable(strings.Trim(name, `\/`))
			out = append(out, v)
			continue
		}
		c.reads(f)
		text, ok := c.w.written(f)
		if !ok {
			text = abstract.Arg{Text: abstract.HoleText, Taint: abstract.Filed | c.w.fileTaint(f)}
		}
		out = append(out, text)
	}
	return psValue{items: out}
}

// getItem lists items, which are in its directory.
func (c *psCall) getItem() psValue {
	list := c.targets()
	if len(list) == 0 {
		list = []abstract.Arg{abstract.Word(".")}
	}
	recursive := c.has("recurse") || c.has("depth")
	var out []abstract.Arg
	for _, t := range list {
		switch provider(t) {
		case "env":
			if strings.Trim(t.Text, `\/:*envENV`) == "" {
				c.w.signal(engine.SignalEnvDump)
				out = append(out, c.w.WholeEnvironment())
			}
			continue
		case "", "filesystem":
			c.emit(abstract.RawEffect{Kind: engine.EffectFileRead, Verb: "read", Recursive: recursive}, t)
		}
		out = append(out, c.found(t, recursive)...)
	}
	return psValue{items: out, list: true, kind: "item"}
}

// found returns the paths that a listing passes on.
func (c *psCall) found(t abstract.Arg, recursive bool) []abstract.Arg {
	if c.name != "get-childitem" {
		return []abstract.Arg{t}
	}
	dir, pattern := strings.TrimRight(t.Text, `/\`), ""
	if i := strings.LastIndexAny(dir, `/\`); strings.ContainsAny(dir[i+1:], "*?") {
		dir, pattern = strings.TrimRight(dir[:i+1], `/\`), dir[i+1:]
		if i < 0 {
			dir = "."
		}
	}
	patterns := []abstract.Arg{abstract.Word(pattern)}
	if v, ok := c.get("include", "filter"); ok {
		patterns = v.items
	}
	lead := "/"
	if recursive {
		lead = "/**/"
	}
	if dir == "." && !recursive {
		dir, lead = "", ""
	}
	var out []abstract.Arg
	for _, pt := range patterns {
		if pt.Text == "" {
			pt = abstract.Word("*")
		}
		out = append(out, abstract.Concat(t.With(dir+lead), pt))
	}
	return out
}

// itemProperty changes values of the registry, and attributes of files.
func (c *psCall) itemProperty() psValue {
	item, name := c.operand(0, "path", "literalpath"), c.operand(1, "name")
	if item.Text == "" && c.in != nil {
		item = c.in.one()
	}
	verb := "set"
	if strings.HasPrefix(c.name, "remove-") || strings.HasPrefix(c.name, "clear-") {
		verb = "delete"
	}
	switch provider(item) {
	case "registry":
		if c.name == "set-item" {
			name = abstract.Arg{}
		}
		c.w.registry(c.index, verb, item, name, c.operand(2, "value"), c.has("force"))
	case "env":
		_, env, _ := strings.Cut(item.Text, ":")
		c.w.setEnv(strings.Trim(env, `\/`), c.operand(1, "value"))
	case "function", "alias", "variable":
		if v, ok := c.get("value"); ok && v.code != "" {
			_, f, _ := strings.Cut(item.Text, ":")
			c.p.scope.funcs[strings.ToLower(f)] = psFunction{body: v.code}
		}
	case "", "filesystem":
		if !item.Known() { // a key as well as a file
			c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: verb}, item)
			return psValue{}
		}
		c.writes("chmod", item)
	default:
		c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: verb}, item)
	}
	return psValue{}
}

func (c *psCall) archive() psValue {
	source, dest := c.operand(0, "path", "literalpath"), c.operand(1, "destinationpath")
	if c.name == "compress-archive" {
		if v, ok := c.get("path", "literalpath"); ok {
			c.reads(v.items...)
		} else {
			c.reads(source)
		}
		c.writes("create", dest)
		return psValue{items: []abstract.Arg{dest}}
	}
	if dest.Text == "" {
		dest = abstract.Word(".")
	}
	c.reads(source)
	c.writes("extract", dest)
	return psValue{}
}

func (c *psCall) splitPath() psValue {
	path := c.operand(0, "path", "literalpath")
	if path.Text == "" {
		path = c.input().one()
	}
	i := strings.LastIndexAny(strings.TrimRight(path.Text, `/\`), `/\`)
	switch {
	case c.has("leaf") || i < 0:
		return textPS(path.With(path.Text[i+1:]))
	default:
		return textPS(path.With(path.Text[:i]))
	}
}
