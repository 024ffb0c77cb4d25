package windows

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
)

// psAliases are the short names that PowerShell defines itself.
var psAliases = map[string]string{
	"rm": "remove-item", "ri": "remove-item", "del": "remove-item", "erase": "remove-item", "rd": "remove-item", "rmdir": "remove-item",
	"cp": "copy-item", "copy": "copy-item", "cpi": "copy-item", "mv": "move-item", "move": "move-item", "mi": "move-item", "ren": "rename-item", "rni": "rename-item",
	"ni": "new-item", "md": "mkdir", "sc": "set-content", "ac": "add-content", "clc": "clear-content", "cli": "clear-item", "gc": "get-content", "cat": "get-content", "type": "get-content",
	"gci": "get-childitem", "ls": "get-childitem", "dir": "get-childitem", "gi": "get-item", "iwr": "invoke-webrequest", "curl": "invoke-webrequest", "wget": "invoke-webrequest",
	"irm": "invoke-restmethod", "iex": "invoke-expression", "icm": "invoke-command", "saps": "start-process", "start": "start-process", "kill": "stop-process", "spps": "stop-process",
	"sp": "set-itemproperty", "rp": "remove-itemproperty", "si": "set-item", "cd": "set-location", "sl": "set-location", "chdir": "set-location", "pushd": "push-location", "popd": "pop-location",
	"echo": "write-output", "write": "write-output", "tee": "tee-object", "ipmo": "import-module", "sal": "set-alias", "nal": "new-alias", "%": "foreach-object", "foreach": "foreach-object",
	"?": "where-object", "where": "where-object", "select": "select-object", "sort": "sort-object", "group": "group-object", "measure": "measure-object", "sleep": "start-sleep",
	"sajb": "start-job", "rjb": "remove-job", "spsv": "stop-service", "sasv": "start-service", "gsv": "get-service", "gps": "get-process", "ps": "get-process", "sls": "select-string",
	"gcim": "get-ciminstance", "icim": "invoke-cimmethod", "gwmi": "get-wmiobject", "iwmi": "invoke-wmimethod", "rcim": "remove-ciminstance", "scim": "set-ciminstance", "ncim": "new-ciminstance",
	"sv": "set-variable", "set": "set-variable", "nv": "new-variable", "gv": "get-variable", "gcm": "get-command", "gal": "get-alias", "rvpa": "resolve-path", "ii": "invoke-item",
	"gp": "get-itemproperty", "gpv": "get-itempropertyvalue", "rnp": "rename-itemproperty", "cpp": "copy-itemproperty", "mp": "move-itemproperty", "ft": "format-table", "fl": "format-list", "fw": "format-wide", "oh": "out-host", "ogv": "out-gridview",
	"nsn": "new-pssession", "etsn": "enter-pssession", "ise": "powershell_ise", "history": "get-history", "h": "get-history", "clhy": "clear-history", "cls": "clear-host", "clear": "clear-host", "pwd": "get-location", "gl": "get-location",
	"gcb": "get-clipboard", "scb": "set-clipboard", "man": "get-help", "help": "get-help", "diff": "compare-object", "compare": "compare-object",
}

// psParameters are the full names of parameters, in the order in which abbreviations
// are resolved: PowerShell accepts any prefix.
var psParameters = []string{
	"-path", "-literalpath", "-destination", "-destinationpath", "-recurse", "-force", "-filter", "-filepath", "-include", "-infile", "-exclude", "-value", "-name", "-newname", "-itemtype",
	"-uri", "-outfile", "-method", "-body", "-source", "-scriptblock", "-command", "-argumentlist", "-verb", "-whatif", "-confirm", "-computername", "-erroraction", "-encoding",
	"-propertytype", "-type", "-target", "-append", "-nonewline", "-usebasicparsing", "-verbose", "-passthru", "-session", "-stream", "-execute", "-disabled", "-wait",
}

// psSwitches take no value.
var psSwitches = []string{"-recurse", "-force", "-whatif", "-confirm", "-verbose", "-passthru", "-wait", "-nonewline",
	"-append", "-usebasicparsing", "-asjob", "-quiet", "-hidden", "-file", "-directory", "-noprofile", "-noninteractive",
	"-nologo", "-raw", "-noclobber", "-asplaintext", "-disablekeepalive", "-skipcertificatecheck", "-asplain", "-leaf", "-parent",
	"-resolve", "-list", "-all", "-full", "-online", "-unique", "-descending", "-casesensitive", "-simplematch",
	"-notypeinformation", "-nonewwindow", "-loaduserprofile", "-asbytestream", "-allowclobber", "-skippublishercheck",
	"-acceptlicense", "-notypeinfo", "-ashashtable", "-compress", "-stable"}

// parameter is the full name of a parameter.
func parameter(text string) string {
	low := strings.ToLower(text)
	switch low {
	case "-r", "-rec":
		return "-recurse"
	case "-f", "-fo":
		return "-force"
	case "-lp", "-pspath":
		return "-literalpath"
	case "-wi":
		return "-whatif"
	case "-cf":
		return "-confirm"
	case "-ea":
		return "-erroraction"
	case "-cn":
		return "-computername"
	case "-sb":
		return "-scriptblock"
	case "-useb":
		return "-usebasicparsing"
	}
	if slices.Contains(psParameters, low) || len(low) < 2 {
		return low
	}
	for _, full := range psParameters {
		if strings.HasPrefix(full, low) && (len(low) > 2 || full == "-path" || full == "-destination" || full == "-name" || full == "-value" ||
			full == "-uri" || full == "-outfile" || full == "-method" || full == "-body" || full == "-command") {
			return full
		}
	}
	return low
}

// psCall is a command with its parameters parsed.
type psCall struct {
	*winCall
	p        *powerShell
	list     []psArg
	flags    []string           // as they are shown
	given    map[string]psValue // by the full name, without the dash
	operands []psValue
	in       *psValue // input from the pipeline
	outputs  []psOutput
}

// arguments reads a command's arguments and redirections up to its end.
func (p *powerShell) arguments(name string, in *psValue) *psCall {
	c := &psCall{winCall: p.call(abstract.Word(name), nil), p: p, given: map[string]psValue{}, in: in}
	for !p.Full {
		if p.skip(false); p.ended() {
			break
		}
		if p.redirection(c) {
			continue
		}
		begin := p.at
		a := p.argument()
		if p.at == begin {
			p.bad = true
			p.at++
			break
		}
		if a.dash && a.one().Text == "--%" {
			end := mask.Run(p.src, p.at, len(p.src), func(c byte) bool { return c != '\n' && c != '|' })
			for _, w := range splitQuoted(p.src[p.at:end], "") {
				c.list = append(c.list, psArg{psValue: textPS(w)})
			}
			p.at = end
			continue
		}
		c.list = append(c.list, a)
	}
	c.sortOut()
	return c
}

// sortOut separates parameters from operands.
func (c *psCall) sortOut() {
	for i := 0; i < len(c.list); i++ {
		a := c.list[i]
		if a.splat {
			c.splat(a.psValue)
			continue
		}
		text := a.one()
		if !a.dash || len(text.Text) < 2 || !mask.Alnum(text.Text[1]) {
			c.operands = append(c.operands, a.psValue)
			continue
		}
		name, v, glued := strings.Cut(text.Text, ":")
		full := parameter(name)
		value := psValue{}
		switch {
		case glued && v == "" && i+1 < len(c.list): // -Path: x
			i++
			value = c.list[i].psValue
		case glued:
			value = textPS(text.With(v))
		case !slices.Contains(psSwitches, full) && i+1 < len(c.list) && !c.list[i+1].dash && !c.list[i+1].splat:
			i++
			value = c.list[i].psValue
		}
		c.given[full[1:]] = value
		c.flags = append(c.flags, shownFlag(text, name, value, glued))
	}
}

func shownFlag(text abstract.Arg, name string, v psValue, glued bool) string {
	low := strings.ToLower(abstract.Arg{Text: name}.Show())
	shown := v.one().Show()
	switch {
	case glued:
		return strings.ToLower(text.Show())
	case v.items == nil || v.code != "" || len(shown) > options.MaxFlagValue || strings.ContainsAny(shown, "\n\r"):
		return low
	}
	return low + "=" + shown
}

// splat passes a table as parameters, or a list as operands.
func (c *psCall) splat(v psValue) {
	if v.hash == nil {
		c.operands = append(c.operands, v.each()...)
		return
	}
	for name, x := range v.hash {
		c.given[parameter("-" + name)[1:]] = x
	}
	for name := range v.hash {
		c.flags = append(c.flags, "-"+name)
	}
	slices.Sort(c.flags)
}

// has reports whether a parameter is given and not $false.
func (c *psCall) has(name string) bool {
	v, ok := c.given[name]
	return ok && v.one().Text != "$false"
}

// onlyTries reports whether -WhatIf is given, without a value or with $true.
func (c *psCall) onlyTries() bool {
	v, ok := c.given["whatif"]
	return ok && (v.items == nil || v.one().Is("$true"))
}

// get returns the first of the parameters that is given.
func (c *psCall) get(names ...string) (psValue, bool) {
	for _, n := range names {
		if v, ok := c.given[n]; ok {
			return v, true
		}
	}
	return psValue{}, false
}

// input returns the pipeline's input; unknown if there is none.
func (c *psCall) input() psValue {
	if c.in != nil {
		return *c.in
	}
	return unknownPS()
}

// targets are the paths that a command acts on.
func (c *psCall) targets() []abstract.Arg {
	if v, ok := c.get("path", "literalpath", "filepath", "fullname"); ok {
		return v.items
	}
	var list []abstract.Arg
	for _, v := range c.operands {
		list = append(list, v.items...)
	}
	if len(list) == 0 && c.in != nil {
		list = c.in.items
	}
	return list
}

// operand is the i-th operand, or the value of a parameter of that name.
func (c *psCall) operand(i int, names ...string) abstract.Arg {
	if v, ok := c.get(names...); ok {
		return v.one()
	}
	if i < len(c.operands) {
		return c.operands[i].one()
	}
	return abstract.Arg{}
}

// redirection reads > file, 2>&1, *>> file.
func (p *powerShell) redirection(c *psCall) bool {
	end := mask.Run(p.src, p.at, len(p.src), func(c byte) bool { return c >= '0' && c <= '9' || c == '*' })
	if end >= len(p.src) || p.src[end] != '>' {
		return false
	}
	stream := p.src[p.at:end]
	op := mask.Run(p.src, end, len(p.src), func(c byte) bool { return c == '>' })
	p.at = op
	if p.is("&") {
		p.at++
		p.at = mask.Run(p.src, p.at, len(p.src), func(c byte) bool { return c >= '0' && c <= '9' })
		return true
	}
	if p.skip(false); p.ended() {
		p.bad = true
		return true
	}
	file := p.argument().one()
	c.outputs = append(c.outputs, psOutput{file, op-end > 1, stream == "2"})
	return true
}

// psOutput is a redirection.
type psOutput struct {
	file         abstract.Arg
	add, failure bool
}

// outputTo reads redirections after an expression and writes its value there.
func (p *powerShell) outputTo(v psValue) {
	c := &psCall{winCall: p.call(abstract.Arg{}, nil), p: p}
	for p.skip(false); p.at < len(p.src) && p.redirection(c); p.skip(false) {
	}
	c.writeOutputs(v)
}

func (c *psCall) writeOutputs(v psValue) {
	for _, o := range c.outputs {
		if winPath(o.file).Text == "/dev/null" {
			continue
		}
		verb := "write"
		if o.add {
			verb = "append"
		}
		c.writes(verb, o.file)
		if !o.failure {
			c.w.store(o.file, v.one(), o.add)
		}
	}
}

// command runs a command by its name.
func (p *powerShell) command(name abstract.Arg, in *psValue) psValue {
	c := p.arguments(name.Text, in)
	c.path = name
	if name.Taint&abstract.Decoded != 0 {
		p.signal(engine.SignalObfuscated)
	}
	if strings.ContainsAny(name.Text, abstract.Holes) && (c.name == "" || strings.ContainsAny(c.name, abstract.Holes)) {
		p.signal(engine.SignalUnknownCommand)
		p.Opaque("command", name.Text)
		c.runBlocks()
		return unknownPS()
	}
	saved := p.frame
	p.frame.muted = p.frame.muted || strings.EqualFold(c.operand(99, "erroraction").Text, "silentlycontinue") ||
		slices.ContainsFunc(c.outputs, func(o psOutput) bool { return o.failure && winPath(o.file).Text == "/dev/null" })
	before := len(p.Out.Effects)
	out := c.run()
	p.hands(before, c.handed()...)
	c.writeOutputs(out)
	p.frame = saved
	if out.one().Taint&abstract.Fetched != 0 {
		p.scope.fetches = true
	}
	return out
}

func (c *psCall) run() psValue {
	p := c.p
	if full, ok := p.scope.aliases[c.name]; ok {
		c.name = full
	}
	if f, ok := p.scope.funcs[c.name]; ok {
		return p.function(f, c)
	}
	if full, ok := psAliases[c.name]; ok && !c.meansProgram(full) {
		c.name = full
	}
	if i := strings.IndexByte(c.name, '\\'); i >= 0 { // Module\Name
		c.name = c.name[i+1:]
	}
	if f := psCommand(c.name); f != nil {
		c.recordPS()
		if c.given["confirm"].one().Text == "$false" {
			p.signal(engine.SignalUnconfirmed)
		}
		if c.onlyTries() {
			p.signal(engine.SignalDryRun)
			return unknownPS()
		}
		return f(c)
	}
	return c.other()
}

// scSubcommands are subcommands of sc.exe, which PowerShell also reads as an alias.
var scSubcommands = []string{"create", "config", "delete", "stop", "start", "query", "qc", "queryex", "failure", "sdset",
	"sdshow", "description"}

// curlBundles are short options of curl in one word, as people write them.
var curlBundles = []string{"-fsSL", "-sSL", "-sL", "-fL", "-LO", "-sS", "-fsS", "-sSf", "-Ls", "-fsSLO", "-kL", "-OL"}

// meansProgram reports whether an alias means the program of that name, judging by the
// form of its arguments.
func (c *psCall) meansProgram(full string) bool {
	if strings.ContainsAny(c.path.Text, `./\`) {
		return true
	}
	first := strings.ToLower(c.operand(0).Text)
	switch c.name {
	case "sc":
		return slices.Contains(scSubcommands, first) || strings.HasPrefix(first, `\\`)
	case "curl", "wget":
		return slices.ContainsFunc(c.list, func(a psArg) bool {
			t := a.one().Text
			return a.dash && (strings.HasPrefix(t, "--") || len(t) == 2 || slices.Contains(curlBundles, t)) && parameter(t) != "-uri"
		})
	case "set", "where", "sort", "diff", "kill", "rm", "cp", "mv", "ls", "tee", "man", "sleep", "start", "ps":
		return slices.ContainsFunc(c.list, func(a psArg) bool { return a.dash && strings.HasPrefix(a.one().Text, "--") })
	}
	return false
}

// recordPS adds the command to the list of commands.
func (c *psCall) recordPS() {
	e := engine.Command{Name: c.name, Flags: c.flags}
	for _, v := range c.operands {
		for _, a := range v.items {
			text := a
			if v.code != "" {
				text = abstract.UnknownArg()
			}
			e.Operands = append(e.Operands, text.Show())
		}
	}
	c.enter(e)
}

// runBlocks runs the script blocks among the arguments: they could run.
func (c *psCall) runBlocks() psValue {
	var out []psValue
	for _, a := range c.list {
		if a.code != "" {
			out = append(out, c.p.with(a.code, c.input()))
		}
	}
	return joinedPS(out)
}

// psCommand returns the function for a known cmdlet; nil if it is not one.
func psCommand(name string) func(c *psCall) psValue {
	if f := psFileCommand(name); f != nil {
		return f
	}
	switch name {
	case "foreach-object":
		return (*psCall).forEach
	case "where-object", "select-object", "sort-object", "get-unique", "group-object", "tee-object", "out-string", "format-list", "format-table", "convertto-json", "select-string":
		return (*psCall).passes
	case "write-output", "write-host":
		return func(c *psCall) psValue { return joinedPS(c.operands) }
	case "invoke-expression":
		return (*psCall).expression
	case "invoke-command", "start-job", "start-threadjob", "measure-command", "invoke-ciminstance":
		return (*psCall).invokeCommand
	case "invoke-webrequest", "invoke-restmethod", "start-bitstransfer":
		return (*psCall).request
	case "start-process", "invoke-item":
		return (*psCall).startProcess
	case "set-location", "push-location":
		return func(c *psCall) psValue { c.w.enter(abstract.FirstOr(c.targets()), false); return psValue{} }
	case "pop-location":
		return func(c *psCall) psValue {
			c.w.dirs = limitDirs(abstract.UnionValues([]abstract.Value{c.w.in.Cwd}, c.w.dirs))
			return psValue{}
		}
	case "get-location":
		return func(c *psCall) psValue { return textPS(c.w.dirs[0].Arg()) }
	case "set-variable", "new-variable":
		return func(c *psCall) psValue {
			c.p.set(strings.ToLower(c.operand(0, "name").Text), textPS(c.operand(1, "value")))
			return psValue{}
		}
	case "set-alias", "new-alias":
		return (*psCall).setAlias
	case "get-command", "get-alias", "get-variable":
		return (*psCall).getCommand
	case "new-object":
		return (*psCall).newObject
	case "add-type", "import-module", "import-pssession":
		return (*psCall).loads
	case "get-history", "clear-history":
		return (*psCall).historyOf
	case "get-clipboard", "get-random", "get-date", "get-wmiobject", "get-ciminstance":
		return func(c *psCall) psValue {
			c.runBlocks()
			return psValue{items: []abstract.Arg{abstract.UnknownArg()}, kind: strings.ToLower(c.operand(0, "class", "classname").Text)}
		}
	}
	return psSystemCommand(name)
}

// psNetworkCommand returns the function for a cmdlet that connects to another machine;
// nil if it is not one.
func psNetworkCommand(name string) func(c *psCall) psValue {
	does := func(f func(c *psCall)) func(c *psCall) psValue {
		return func(c *psCall) psValue { f(c); return unknownPS() }
	}
	switch name {
	case "install-module", "install-package", "install-script", "save-module", "install-psresource", "update-module":
		return does(func(c *psCall) {
			c.w.signal(engine.SignalPackageInstall)
			c.emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "fetch"}, abstract.Word("psgallery"))
		})
	case "send-mailmessage":
		return does(func(c *psCall) {
			if v, ok := c.get("attachments"); ok {
				c.reads(v.items...)
				c.w.signal(engine.SignalPipeExternal)
			}
			c.sends("send", c.operand(99, "smtpserver"))
		})
	case "enter-pssession", "new-pssession", "new-cimsession", "connect-pssession":
		return does(func(c *psCall) { c.sends("connect", c.operand(0, "computername")) })
	case "new-smbmapping", "new-psdrive":
		return does((*psCall).drive)
	}
	return nil
}
