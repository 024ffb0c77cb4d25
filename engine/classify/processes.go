package classify

import (
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// startsOf lists what an action starts and does not wait for: background statements, programs
// whose rows say that what they start continues to run, and the commands of a tool that does
// not wait for them.
func startsOf(r *toolReader, a *engine.Action) []engine.Started {
	list := r.script.Starts
	if leavesRunning(r) && len(a.Commands) > 0 {
		line, _ := r.args[commandArgument(r)].(string)
		line = strings.Join(strings.Fields(firstBytes(line, maxStarting)), " ")
		list = append(list, engine.Started{Line: line, Programs: shell.ProgramsOf(a.Commands)})
	}
	for _, c := range a.Commands {
		if len(list) < engine.MaxStarted && startsSomething(r, c) {
			words := slices.Concat([]string{c.Name}, c.Sub, c.Flags, c.Operands)
			list = append(list, engine.Started{Line: strings.Join(words, " "), Programs: []string{c.Name}})
		}
	}
	return list[:min(len(list), engine.MaxStarted)]
}

// maxStarting limits the bytes of a command from which its line is made.
const maxStarting = 4 << 10

func firstBytes(s string, n int) string { return s[:min(len(s), n)] }

// commandArgument returns the name of the argument that a shell runs.
func commandArgument(r *toolReader) string {
	if len(r.tool.resource) > 0 {
		return r.tool.resource[0]
	}
	return "command"
}

func leavesRunning(r *toolReader) bool {
	return slices.ContainsFunc(r.in.Rows.Words("processes.background"), func(name string) bool { return r.args[name] == true })
}

// startsSomething reports whether a command begins with words that start something which
// continues without it.
func startsSomething(r *toolReader, c engine.Command) bool {
	words := append([]string{programName(c)}, slices.Concat(c.Sub, c.Operands)...)
	return slices.ContainsFunc(r.in.Rows.Words("processes.starts"), func(known string) bool {
		want := strings.Fields(known)
		return len(want) <= len(words) && slices.Equal(want, words[:len(want)]) || slices.Contains(c.Wrappers, known)
	})
}

// listsProcesses reports whether an action lists processes.
func listsProcesses(set *rows.Set, a *engine.Action) bool {
	return slices.ContainsFunc(a.Commands, func(c engine.Command) bool {
		return slices.Contains(set.Words("processes.lists"), programName(c))
	})
}

// maxProcessText is how many bytes of an output are searched for process ids.
const maxProcessText = 16 << 10

var (
	processNumbers = engine.Regexp(`(?m)(?:^\[\d+\]\s+|(?i:\bpid)\b\W{0,3})(\d{1,7})\b|^\s*(\d{1,7})\s*$`)
	listedNumbers  = engine.Regexp(`(?m)^\s*(?:[A-Za-z_][\w.+-]*\s+)?(\d{1,7})\s`)
	answeredPorts  = engine.Regexp(`(?i)(?:\blocalhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|\bport)[:\s=]{1,2}(\d{2,5})\b`)
)

// processesIn finds process ids and ports in the output of a call that starts or lists
// processes.
func processesIn(text string, lists bool) (processes, ports []string) {
	text = firstBytes(text, maxProcessText) + "\n"
	for _, found := range processNumbers().FindAllStringSubmatch(text, -1) {
		processes = addNumber(processes, found[1]+found[2], engine.MaxProcesses)
	}
	if lists {
		for _, found := range listedNumbers().FindAllStringSubmatch(text, -1) {
			processes = addNumber(processes, found[1], engine.MaxProcesses)
		}
		return processes, nil
	}
	for _, found := range answeredPorts().FindAllStringSubmatch(text, -1) {
		ports = addNumber(ports, found[1], engine.MaxPorts)
	}
	return processes, ports
}

func addNumber(list []string, n string, limit int) []string {
	if len(list) < limit && !slices.Contains(list, n) {
		list = append(list, n)
	}
	return list
}

// starts shortens the list of what an action starts.
func (c *cutter) starts(list []engine.Started) []engine.Started {
	list = list[:min(len(list), c.m.list)]
	out := make([]engine.Started, 0, len(list))
	for _, s := range list {
		s.Line = c.string("action.starts.line", s.Line, min(c.m.text, engine.MaxStartedLine))
		s.Programs = c.strings("action.starts.programs", s.Programs, c.m.list)
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// learnTyped records secrets that are typed into a terminal in pieces.
func learnTyped(m *mask.Masker, r *toolReader) {
	if r.script.Terminals == nil {
		return
	}
	for _, l := range r.script.Terminals.Lines {
		m.LearnPieces(l.Parts)
	}
	for _, c := range r.script.Commands {
		m.LearnPieces(keysOf(c.Operands, r.script.Terminals)) // the keys of one command are one part
	}
}

// keysOf returns the operands without those that name a terminal: in "main:0.1ls" nobody typed
// a password.
func keysOf(operands []string, t *engine.Terminals) []string {
	return slices.DeleteFunc(slices.Clone(operands), func(s string) bool {
		return slices.ContainsFunc(t.Lines, func(l engine.TypedLine) bool { return l.Terminal == s })
	})
}

// typedBefore returns the text that the session typed before, with masked parts unknown:
// otherwise a command below the mask would run unseen.
func typedBefore(t *engine.Terminals, m *mask.Masker) *engine.Terminals {
	if t == nil {
		return nil
	}
	out := &engine.Terminals{}
	for _, l := range t.Lines {
		l.Before = m.Replace(l.Before, abstract.HoleText)
		l.Parts = slices.Clone(l.Parts)
		for i := range l.Parts {
			l.Parts[i] = m.Replace(l.Parts[i], abstract.HoleText)
		}
		out.Lines = append(out.Lines, l)
	}
	return out
}

// maskStarts masks the descriptions of what an action starts.
func maskStarts(list []engine.Started, m *mask.Masker) {
	for i := range list {
		list[i].Line, list[i].Programs = m.Text(list[i].Line), m.Texts(list[i].Programs)
	}
}

// startup examines what a tool adds to a start-up file and removes from it.
func (r *toolReader) startup() {
	for _, e := range r.script.Effects {
		if e.Command >= 0 || e.Kind != engine.EffectFileWrite || !shell.StartsShells(e.Target.Text) {
			continue
		}
		for i, name := range slices.Sorted(maps.Keys(r.contents)) {
			if text := r.contents[name]; i < shell.MaxStartup && len(text) <= shell.MaxStartupText {
				shell.LaterGuard(text, r.in, r.script.Signals)
			}
		}
		return
	}
}
