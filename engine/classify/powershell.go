package classify

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxPowerShell bounds the text, in bytes; Windows passes no longer command lines than 32 KiB.
const maxPowerShell = 64 << 10

// interpretPowerShell says what a PowerShell script would do. What it does not
// know is opaque.
func interpretPowerShell(src string, in shellInput) script {
	s := &powerShell{in: in, out: script{signals: map[engine.Signal]bool{}}}
	s.source(src)
	return s.out
}

type powerShell struct {
	in      shellInput
	out     script
	fetches bool // something is fetched somewhere in the script
	muted   bool
	depth   int
}

func (s *powerShell) opaque(reason, where string) {
	if o := (engine.Opaque{Reason: reason, Where: clip(where, 120)}); !slices.Contains(s.out.opaque, o) {
		s.out.opaque = append(s.out.opaque, o)
	}
}

func (s *powerShell) source(src string) {
	if s.depth++; s.depth > 4 || len(src) > maxPowerShell {
		s.opaque("budget", src)
		return
	}
	defer func() { s.depth-- }()
	p := &psParser{src: src, vars: map[string]value{}, home: s.in.home, cwd: s.in.cwd}
	p.block(0)
	if p.bad {
		s.opaque("syntax", src)
	}
	low := strings.ToLower(src)
	s.fetches = s.fetches || slices.ContainsFunc(strings.Fields("invoke-webrequest invoke-restmethod downloadstring downloadfile downloaddata net.webclient httpclient iwr irm start-bitstransfer"), func(w string) bool { return strings.Contains(low, w) })
	s.muted = strings.Contains(low, "silentlycontinue")
	for i := range p.commands {
		s.command(p.commands, i)
	}
}

// command turns one command into effects.
func (s *powerShell) command(all []psCommand, i int) {
	words := all[i].words
	for len(words) >= 2 && words[1].text == "=" && !words[1].quoted { // $x = command
		words = words[2:]
	}
	if len(words) == 0 || len(all[i].words) != len(words) && (words[0].quoted || words[0].sure == unknown) {
		return
	}
	for _, w := range words {
		if w.method {
			s.method(w)
		}
	}
	if call := words[0].text; (call == "&" || call == ".") && !words[0].quoted && len(words) > 1 {
		words = words[1:]
		if words[0].sure == unknown && !words[0].block {
			s.out.signals[engine.SignalUnknownCommand] = true
			s.opaque("command", words[0].text)
			return
		}
	} else if words[0].quoted || words[0].block || words[0].method || words[0].sure == unknown {
		s.redirects(newPSCall(words, all, i)) // a value that is printed
		return
	}
	s.run(newPSCall(words, all, i))
}

// psCall is a command with its parameters sorted out.
type psCall struct {
	name     string // lower case, aliases resolved
	words    []psWord
	flags    []string // lower case, with the dash
	named    map[string]psWord
	operands []psWord
	piped    bool
	producer *psCommand // what writes into it
	redirect []psWord   // files that the output goes to
	index    int
}

// psSwitches take no value.
const psSwitches = wordlist(`-recurse -r -rec -recur -recurs -force -fo -f -whatif -wi -confirm -verbose -vb -passthru -wait -nonewline -append -usebasicparsing -asjob -quiet -q -hidden
	-file -directory -noprofile -noninteractive -nologo -raw -noclobber -s -asplaintext -parallel -y -disablekeepalive -skipcertificatecheck`)

func newPSCall(words []psWord, all []psCommand, i int) *psCall {
	c := &psCall{name: resolvePS(words[0].text), words: words, named: map[string]psWord{}, piped: all[i].piped, index: -1}
	if c.piped {
		for j := i - 1; j >= 0; j-- {
			if all[j].feeds {
				c.producer = &all[j]
				break
			}
		}
	}
	for k := 1; k < len(words); k++ {
		w := words[k]
		low := strings.ToLower(w.text)
		switch {
		case !w.quoted && w.sure == literal && strings.HasSuffix(low, ">") && strings.Trim(low, "0123456789*>") == "":
			if k+1 < len(words) {
				c.redirect = append(c.redirect, words[k+1])
				k++
			}
		case w.quoted || w.sure != literal || !strings.HasPrefix(low, "-") || len(low) < 2:
			c.operands = append(c.operands, w)
		default:
			name, val, glued := strings.Cut(low, ":")
			c.flags = append(c.flags, low)
			switch {
			case glued:
				c.named[name] = psWord{value: value{text: val}}
			case !psSwitches.has(name) && k+1 < len(words) && !(strings.HasPrefix(words[k+1].text, "-") && !words[k+1].quoted):
				k++
				c.named[name] = words[k]
			}
		}
	}
	return c
}

// has says that a switch is set; PowerShell takes any unambiguous beginning.
func (c *psCall) has(name string, least int) bool {
	return slices.ContainsFunc(c.flags, func(f string) bool {
		f, _, _ = strings.Cut(f, ":")
		return len(f) >= least && strings.HasPrefix(name, f)
	})
}

// target returns the paths that a command acts on.
func (c *psCall) targets() []psWord {
	var list []psWord
	for _, n := range []string{"-path", "-literalpath", "-lp", "-p", "-filepath", "-pa", "-lit"} {
		if w, ok := c.named[n]; ok {
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		list = append(list, c.operands...)
	}
	if len(list) == 0 && c.piped {
		list = append(list, c.produced())
	}
	return list
}

// produced is what a listing hands on: something in its directory.
func (c *psCall) produced() psWord {
	w := psWord{value: value{sure: unknown}}
	if c.producer == nil || len(c.producer.words) == 0 || c.producer.words[0].sure != literal {
		return w
	}
	from := newPSCall(c.producer.words, []psCommand{{}}, 0)
	if from.name != "get-childitem" && from.name != "get-item" {
		return w
	}
	list := from.targets()
	if len(list) == 0 {
		return psWord{value: value{glob, "*"}}
	}
	if list[0].sure == literal && from.name == "get-childitem" && !strings.ContainsAny(list[0].text, "*?[") {
		return psWord{value: value{glob, strings.TrimRight(list[0].text, `/\`) + "/*"}}
	}
	return psWord{value: list[0].value}
}

// pathOf makes a path of a word: separators of Windows become slashes.
func pathOf(w psWord) value {
	v := w.value
	if v.sure == unknown {
		return value{sure: unknown}
	}
	if v.text = strings.ReplaceAll(v.text, `\`, "/"); v.sure == literal && strings.ContainsAny(v.text, "*?[") {
		v.sure = glob
	}
	return v
}

func (s *powerShell) add(c *psCall, e rawEffect) {
	e.dir, e.command = s.in.cwd, c.index
	if e.kind == engine.EffectFileDelete || e.kind == engine.EffectFileWrite {
		if s.muted {
			s.out.signals[engine.SignalMuted] = true
		}
		if drive, _, ok := strings.Cut(e.target.text, ":"); ok && len(drive) > 1 { // a registry key, a variable
			e.kind, e.verb = engine.EffectSystemCall, "registry"
		}
	}
	s.out.effects = append(s.out.effects, e)
}

// record lists the command.
func (s *powerShell) record(c *psCall) {
	cmd := engine.Command{Name: c.name, Flags: c.flags}
	for _, w := range c.operands {
		text := w.text
		if w.sure != literal {
			text = "?"
		}
		cmd.Operands = append(cmd.Operands, text)
	}
	c.index = len(s.out.commands)
	s.out.commands = append(s.out.commands, cmd)
}

// redirects writes the output to files.
func (s *powerShell) redirects(c *psCall) {
	for _, w := range c.redirect {
		if strings.ToLower(w.text) != "$null" {
			s.add(c, rawEffect{kind: engine.EffectFileWrite, verb: "write", target: pathOf(w)})
		}
	}
}

// method knows calls of .NET that matter.
func (s *powerShell) method(w psWord) {
	low := strings.ToLower(w.raw)
	c := &psCall{name: low, operands: w.call, index: -1}
	first := psWord{value: value{sure: unknown}}
	if len(w.call) > 0 {
		first = w.call[0]
	}
	switch {
	case strings.HasSuffix(low, "::delete") || strings.HasSuffix(low, ".delete"):
		s.add(c, rawEffect{kind: engine.EffectFileDelete, verb: "delete", target: pathOf(first), recursive: strings.Contains(low, "directory") || len(w.call) > 1})
	case strings.Contains(low, "::writeall") || strings.Contains(low, "::appendall") || strings.Contains(low, "::create"):
		s.add(c, rawEffect{kind: engine.EffectFileWrite, verb: "write", target: pathOf(first)})
	case strings.Contains(low, "::readall"):
		s.add(c, rawEffect{kind: engine.EffectFileRead, verb: "read", target: pathOf(first)})
	case strings.Contains(low, ".download"):
		s.add(c, rawEffect{kind: engine.EffectNetwork, verb: "fetch", target: first.value})
	case strings.Contains(low, ".upload"):
		s.add(c, rawEffect{kind: engine.EffectNetwork, verb: "send", target: first.value, egress: true})
	case strings.Contains(low, "frombase64string") || strings.Contains(low, "::load"):
		s.out.signals[engine.SignalObfuscated] = true
		s.opaque("code", w.raw)
	case strings.Contains(low, ".invoke") || strings.Contains(low, "scriptblock]::create"):
		s.opaque("code", w.raw)
	}
}

// encoded runs the text of -EncodedCommand: base64 of UTF-16.
func (s *powerShell) encoded(w psWord) {
	s.out.signals[engine.SignalObfuscated] = true
	b, err := base64.StdEncoding.DecodeString(w.text)
	if err != nil || len(b)%2 != 0 || w.sure != literal {
		s.opaque("code", "-EncodedCommand")
		return
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8
	}
	s.source(string(utf16.Decode(units)))
}
