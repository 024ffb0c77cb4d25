package windows

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// property is a property of an object, or a static field of a type.
func (p *powerShell) property(v psValue, name string, static bool) psValue {
	if x, ok := v.hash[name]; ok {
		return x
	}
	if static {
		switch name {
		case "newline":
			return textPS(abstract.Word("\n"))
		case "empty":
			return textPS(abstract.Arg{})
		}
		if strings.HasSuffix(v.kind, "environmentvariabletarget") {
			return textPS(abstract.Word(name))
		}
		return psValue{items: []abstract.Arg{abstract.UnknownArg()}, kind: v.kind + "::" + name}
	}
	switch name {
	case "fullname", "pspath", "path", "value", "definition", "providerpath", "directoryname", "psparentpath", "allusersallhosts", "currentuserallhosts", "alluserscurrenthost", "currentusercurrenthost":
		return v
	case "name", "basename", "pschildname":
		v.items = slices.Clone(v.items)
		for i, a := range v.items {
			v.items[i] = a.With(a.Text[strings.LastIndexAny(a.Text, `/\`)+1:])
		}
		return v
	case "content", "rawcontent", "downloadstring", "responsetext":
		return psValue{items: []abstract.Arg{{Text: abstract.HoleText, Taint: v.one().Taint}}}
	}
	return psValue{items: []abstract.Arg{{Text: abstract.HoleText, Taint: v.one().Taint}}, kind: strings.TrimPrefix(v.kind+"."+name, ".")}
}

// method runs a call of a .NET method: string methods return their result, others add
// effects.
func (p *powerShell) method(v psValue, name string, args []psValue) psValue {
	if !p.Spend(len(args) + 1) {
		return unknownPS()
	}
	first := psValue{}
	if len(args) > 0 {
		first = args[0]
	}
	if v.code != "" && slices.Contains([]string{"invoke", "invokereturnasis", "invokewithcontext", "getnewclosure"}, name) {
		if name == "getnewclosure" {
			return v
		}
		return p.function(psFunction{params: p.blockParams(v.code), body: v.code},
			&psCall{winCall: p.call(abstract.Word("&"), nil), p: p, operands: args})
	}
	if typ, ok := strings.CutPrefix(v.kind, "["); ok {
		return p.static(typ, name, args)
	}
	if out, ok := p.textMethod(v, name, args); ok {
		return out
	}
	return p.objectMethod(v, name, first, args)
}

// textMethod evaluates string methods with which code can be assembled.
func (p *powerShell) textMethod(v psValue, name string, args []psValue) (psValue, bool) {
	text, at := v.one(), func(i int) abstract.Arg {
		if i < len(args) {
			return args[i].one()
		}
		return abstract.Arg{}
	}
	known := text.Known() && !slices.ContainsFunc(args, func(a psValue) bool { return !a.one().Known() && a.code == "" })
	n, numeric := psNumber(at(0))
	switch name {
	case "replace":
		if !known || at(0).Text == "" {
			return psValue{items: []abstract.Arg{{Text: abstract.HoleText, Taint: text.Taint}}}, true
		}
		text.Taint |= abstract.Decoded
		return textPS(abstract.Concat(abstract.Arg{Taint: text.Taint}, text.With(strings.ReplaceAll(text.Text, at(0).Text, at(1).Text)))), true
	case "tolower", "tolowerinvariant", "toupper", "toupperinvariant", "tostring", "normalize":
		return psValue{items: []abstract.Arg{text}, list: false}, v.kind == "" || v.kind == "char"
	case "trim", "trimstart", "trimend":
		return textPS(text.With(strings.Trim(text.Text, " \t\n"+at(0).Text))), v.kind == ""
	case "tochararray":
		return castPS("char[]", textPS(text)), true
	case "split":
		if !known {
			return psValue{items: []abstract.Arg{{Text: abstract.HoleText, Taint: text.Taint}}, list: true}, true
		}
		out := psValue{list: true}
		for _, part := range strings.FieldsFunc(text.Text, func(r rune) bool {
			return strings.ContainsRune(at(0).Text+map[bool]string{true: " "}[len(args) == 0], r)
		}) {
			out.items = append(out.items, text.With(part))
		}
		return out, true
	case "substring":
		if !known || !numeric || n < 0 || n > len(text.Text) {
			return psValue{items: []abstract.Arg{{Text: abstract.HoleText, Taint: text.Taint}}}, true
		}
		end := len(text.Text)
		if m, ok := psNumber(at(1)); ok && m >= 0 && n+m <= end {
			end = n + m
		}
		text.Taint |= abstract.Decoded
		return textPS(text.With(text.Text[n:end])), true
	case "insert":
		if !known || !numeric || n < 0 || n > len(text.Text) {
			return unknownPS(), true
		}
		return textPS(text.With(text.Text[:n] + at(1).Text + text.Text[n:])), true
	case "foreach", "where":
		if len(args) > 0 && args[0].code != "" {
			var out []psValue
			for _, item := range v.each() {
				out = append(out, p.with(args[0].code, item))
			}
			if name == "where" {
				return v, true
			}
			return joinedPS(out), true
		}
	}
	return psValue{}, false
}

// objectMethod runs methods of objects that have effects.
func (p *powerShell) objectMethod(v psValue, name string, first psValue, args []psValue) psValue {
	before := len(p.Out.Effects)
	out := p.acts(v, name, first, args)
	var values []handed
	for _, a := range args {
		values = p.valuesOf(values, "", a)
	}
	p.hands(before, p.valuesOf(values, "", v)...)
	return out
}

func (p *powerShell) acts(v psValue, name string, first psValue, args []psValue) psValue {
	e := abstract.RawEffect{Command: p.last()}
	kind := v.kind
	switch {
	case strings.HasPrefix(name, "download"), name == "openread" && strings.Contains(kind, "webclient"), name == "getstringasync", name == "getbytearrayasync", name == "getasync":
		p.scope.fetches = true
		e.Kind, e.Verb = engine.EffectNetwork, "fetch"
		p.emit(e, first.one())
		if strings.HasPrefix(name, "downloadfile") && len(args) > 1 {
			p.emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "download", Command: e.Command}, args[1].one())
			p.store(args[1].one(), abstract.Arg{Text: abstract.HoleText, Taint: abstract.Fetched}, false)
		}
		return psValue{items: []abstract.Arg{{Text: abstract.HoleText, Taint: abstract.Fetched}}}
	case strings.HasPrefix(name, "upload"), name == "openwrite" && strings.Contains(kind, "webclient"), name == "postasync", name == "putasync", name == "sendasync":
		p.signal(engine.SignalPipeExternal)
		p.emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Egress: true, Command: e.Command}, first.one())
		if strings.HasPrefix(name, "uploadfile") && len(args) > 1 {
			p.emit(abstract.RawEffect{Kind: engine.EffectFileRead, Verb: "read", Command: e.Command}, args[len(args)-1].one())
		}
	case name == "deleteasync":
		p.emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "delete", Egress: true, Command: e.Command}, first.one())
	case name == "open" && strings.Contains(kind, "xmlhttp") && len(args) > 1:
		p.scope.fetches = true
		p.emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "fetch", Command: e.Command}, args[1].one())
	case name == "delete" && strings.Contains(kind, "shadowcopy"):
		p.signal(engine.SignalDiskWrite)
		p.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "delete", Command: e.Command}, abstract.Word("shadow copies"))
	case name == "delete" && (strings.HasPrefix(kind, "win32_") || strings.HasPrefix(kind, "msft_")):
		p.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "delete", Command: e.Command}, abstract.Word(kind))
	case name == "delete" && kind != "" && len(args) <= 1, name == "deletefile", name == "deletefolder":
		target := v.one()
		if strings.Contains(kind, "filesystemobject") {
			target = first.one()
		}
		p.emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete",
			Recursive: len(args) > 0 || name == "deletefolder", Command: e.Command}, target)
	case name == "moveto":
		p.emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "move", Command: e.Command}, v.one())
	case name == "kill":
		p.emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "kill", Command: e.Command}, v.one())
	case name == "run" || name == "exec" || name == "shellexecute" || name == "executeshellcommand":
		p.process(func() { p.embed(joinPlain(joinedPS(args[:min(2, len(args))]).items), "com", p.interpreter.cmd) })
	case name == "create" && (strings.Contains(kind, "win32_process") || strings.Contains(kind, "wmi")):
		p.process(func() { p.embed(first.one(), "wmi", p.interpreter.cmd) })
	case name == "invokescript", name == "addscript":
		return p.embedHere(first.one(), name)
	case name == "invoke" || name == "dynamicinvoke" || name == "invokemember":
		p.Opaque("code", name)
	case name == "setvalue" && strings.Contains(kind, "registry"):
		p.registry(e.Command, "set", v.one(), first.one(), itemAt(args, 1), false)
	case name == "connect" && strings.Contains(kind, "tcpclient"), name == "connect" && strings.Contains(kind, "socket"):
		p.emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "connect", Egress: true, Command: e.Command}, first.one())
	}
	return psValue{items: []abstract.Arg{{Text: abstract.HoleText, Taint: v.one().Taint | first.one().Taint}}, kind: kind}
}

// last returns the latest command, to which the effects of an expression belong.
func (p *powerShell) last() int { return len(p.Out.Commands) - 1 }

// static runs [Type]::Method(…).
func (p *powerShell) static(typ, name string, args []psValue) psValue {
	first := psValue{}
	if len(args) > 0 {
		first = args[0]
	}
	switch typ {
	case "io.file", "io.directory", "io.fileinfo", "io.directoryinfo", "microsoft.visualbasic.fileio.filesystem":
		return p.fileMethod(typ, name, first.one(), args)
	case "convert":
		return convertPS(name, first.one())
	case "char":
		return castPS("char", first)
	case "string":
		if name == "join" && len(args) > 1 {
			return joinPS(joinedPS(args[1:]), first.one())
		}
		if name == "format" && len(args) > 1 {
			return formatPS(first.one(), joinedPS(args[1:]))
		}
		if name == "concat" {
			return joinPS(joinedPS(args), abstract.Arg{})
		}
	case "io.path":
		return p.pathMethod(name, args)
	case "environment":
		return p.environmentMethod(name, args)
	case "scriptblock":
		return psValue{items: first.items, kind: "scriptblock", code: first.one().Text}
	case "diagnostics.process":
		if name == "start" {
			p.startProcess(first.one(), args[min(1, len(args)):])
			return unknownPS()
		}
		return psValue{items: first.items, kind: "process"}
	case "reflection.assembly", "appdomain", "activator", "runtime.interopservices.marshal", "reflection.assemblyname":
		return p.reflection(name, first)
	case "net.webrequest", "net.httpwebrequest":
		p.scope.fetches = true
		p.emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "fetch", Command: p.last()}, first.one())
		return psValue{items: []abstract.Arg{{Text: abstract.HoleText, Taint: abstract.Fetched}}}
	case "microsoft.win32.registry":
		if name == "setvalue" && len(args) > 1 {
			p.registry(p.last(), "set", first.one(), args[1].one(), itemAt(args, 2), false)
		}
		return psValue{items: first.items, kind: "registrykey"}
	case "wmiclass", "management.automation.powershell", "powershell":
		return psValue{items: []abstract.Arg{abstract.UnknownArg()}, kind: "powershell"}
	}
	if name == "new" {
		return psValue{items: slices.Clip(joinedPS(args).items), kind: typ, list: false}
	}
	if name == "getstring" { // [Text.Encoding]::UTF8.GetString is a method of a property
		return first
	}
	return psValue{items: []abstract.Arg{{Text: abstract.HoleText, Taint: first.one().Taint}}, kind: typ}
}

// fileMethod is [IO.File]::X and [IO.Directory]::X.
func (p *powerShell) fileMethod(typ, name string, file abstract.Arg, args []psValue) psValue {
	e := abstract.RawEffect{Kind: engine.EffectFileRead, Verb: "read", Command: p.last()}
	switch {
	case name == "delete" || strings.HasPrefix(name, "deletefile") || strings.HasPrefix(name, "deletedirectory"):
		e.Kind, e.Verb = engine.EffectFileDelete, "delete"
		e.Recursive = strings.HasSuffix(typ, "directory") && len(args) > 1 || name == "deletedirectory"
	case strings.HasPrefix(name, "writeall"), strings.HasPrefix(name, "create"), name == "openwrite", name == "open":
		e.Kind, e.Verb = engine.EffectFileWrite, "write"
		if len(args) > 1 && strings.HasPrefix(name, "writeall") {
			p.store(file, args[1].one(), false)
		}
	case strings.HasPrefix(name, "appendall"), name == "appendtext":
		e.Kind, e.Verb = engine.EffectFileWrite, "append"
	case strings.HasPrefix(name, "set"), name == "encrypt":
		e.Kind, e.Verb = engine.EffectFileWrite, "chmod"
	case name == "move" || name == "copy" || name == "replace":
		if name != "copy" {
			e.Kind, e.Verb = engine.EffectFileDelete, "move"
		}
		if len(args) > 1 {
			p.emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: map[bool]string{true: "copy", false: "write"}[name == "copy"],
				Command: e.Command}, args[1].one())
		}
	case strings.HasPrefix(name, "read"), name == "openread", name == "opentext":
		p.emit(e, file)
		if text, ok := p.written(file); ok {
			return textPS(text)
		}
		return psValue{items: []abstract.Arg{{Text: abstract.HoleText, Taint: abstract.Filed | p.fileTaint(file)}}}
	case strings.HasPrefix(name, "get"), strings.HasPrefix(name, "enumerate"):
		p.emit(e, file)
		return psValue{items: []abstract.Arg{abstract.Concat(file, abstract.Word("/*"))}, list: true}
	default: // Exists and its like
		return psValue{items: []abstract.Arg{abstract.UnknownArg()}, kind: "bool"}
	}
	p.emit(e, file)
	return unknownPS()
}

// convertPS is [Convert]::X.
func convertPS(name string, a abstract.Arg) psValue {
	var b []byte
	var err error
	switch name {
	case "frombase64string":
		b, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(a.Text), ""))
	case "fromhexstring":
		b, err = hex.DecodeString(a.Text)
	case "tochar", "toint32", "tobyte", "toint16":
		if name == "tochar" {
			return castPS("char", textPS(a))
		}
		return psValue{items: []abstract.Arg{a}, kind: "number"}
	default:
		return psValue{items: []abstract.Arg{{Text: abstract.HoleText, Taint: a.Taint}}}
	}
	if err != nil || !a.Known() || len(b) > abstract.MaxText {
		return psValue{items: []abstract.Arg{{Text: abstract.HoleText, Taint: a.Taint | abstract.Decoded}}, kind: "bytes"}
	}
	return psValue{items: []abstract.Arg{{Text: bytesText(b), Taint: a.Taint | abstract.Decoded}}, kind: "bytes"}
}

// bytesText reads bytes as text: UTF-16 where every second byte is zero.
func bytesText(b []byte) string {
	if len(b) >= 2 && len(b)%2 == 0 && b[1] == 0 {
		units := make([]uint16, len(b)/2)
		for i := range units {
			units[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8
		}
		return string(utf16.Decode(units))
	}
	return strings.ToValidUTF8(string(b), abstract.HoleText)
}

func (p *powerShell) pathMethod(name string, args []psValue) psValue {
	switch name {
	case "combine", "join":
		return textPS(joinBy(joinedPS(args).items, abstract.Word("/")))
	case "gettemppath", "gettempfilename":
		return textPS(abstract.Word(p.tempFolder() + "/" + map[bool]string{true: abstract.HoleText}[name == "gettempfilename"]))
	case "getfullpath":
		return joinedPS(args)
	}
	return unknownPS()
}

func (p *powerShell) environmentMethod(name string, args []psValue) psValue {
	at := joinedPS(args).items
	switch {
	case name == "setenvironmentvariable" && len(at) >= 2:
		if len(at) > 2 && !strings.EqualFold(at[2].Text, "process") {
			p.setEnvLasting(p.last(), at[0], at[1], strings.EqualFold(at[2].Text, "machine"))
		}
		p.setEnv(at[0].Text, at[1])
	case name == "getenvironmentvariable" && len(at) > 0:
		v, _ := p.interpreter.variable(at[0].Text)
		return textPS(v)
	case name == "getenvironmentvariables":
		p.signal(engine.SignalEnvDump)
	case name == "getfolderpath" && len(at) > 0 && p.in.Home != "":
		switch strings.ToLower(at[0].Text) {
		case "userprofile":
			return textPS(abstract.Word(p.in.Home))
		case "applicationdata":
			return textPS(abstract.Word(p.in.Home + "/AppData/Roaming"))
		case "localapplicationdata":
			return textPS(abstract.Word(p.in.Home + "/AppData/Local"))
		case "startup":
			return textPS(abstract.Word(p.in.Home + "/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup"))
		case "desktop", "mydocuments":
			return textPS(abstract.Word(p.in.Home + "/Documents"))
		}
	}
	return unknownPS()
}

// reflection notes code that is loaded by reflection and cannot be read.
func (p *powerShell) reflection(name string, first psValue) psValue {
	switch {
	case name == "loadwithpartialname":
	case strings.HasPrefix(name, "load") || name == "unsafeloadfrom":
		code := first.one()
		if name == "load" || code.Taint != 0 {
			p.unseen(abstract.Arg{Text: abstract.HoleText, Taint: code.Taint | abstract.Decoded}, "Assembly."+name)
		} else {
			p.emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "exec", Command: p.last()}, code)
		}
	case name == "getdelegateforfunctionpointer", name == "definedynamicassembly", name == "copy":
		p.Opaque("code", name)
	case name == "createinstance":
		return psValue{items: []abstract.Arg{abstract.UnknownArg()}, kind: "com"}
	}
	return unknownPS()
}

// startProcess starts a program as [Diagnostics.Process]::Start does.
func (p *powerShell) startProcess(name abstract.Arg, args []psValue) {
	words := splitQuoted(joinedPS(args).one().Text, "")
	p.process(func() { p.under("start-process", true, func() { p.start(name, words) }) })
}

// itemAt returns an argument of a method; empty if there are fewer.
func itemAt(args []psValue, i int) abstract.Arg {
	if i >= len(args) {
		return abstract.Arg{}
	}
	return args[i].one()
}
