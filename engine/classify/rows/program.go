package rows

import (
	"maps"
	"slices"
	"strings"
)

// Program is a row: what is known about a program, or about one of its subcommands.
// Lists of words are texts in which spaces separate the words.
type Program struct {
	About       string             `json:"about,omitempty" yaml:"about"`             // what the program is, for the page of all programs
	Kind        string             `json:"kind,omitempty" yaml:"kind"`               // what others ask for: agent, database, terminal
	Checks      string             `json:"checks,omitempty" yaml:"checks"`           // it looks whether the work is good: true, or with one of these words; like does not bring it along
	Like        string             `json:"like,omitempty" yaml:"like"`               // another program: what this row does not say is as in that one's
	Service     string             `json:"service,omitempty" yaml:"service"`         // what it talks to; absent: it is called as the program is
	Endpoint    string             `json:"endpoint,omitempty" yaml:"endpoint"`       // options whose value is in for the service, where that is on this machine
	Daemon      string             `json:"daemon,omitempty" yaml:"daemon"`           // options whose value is the machine on which all of it happens
	Optional    string             `json:"optional,omitempty" yaml:"optional"`       // words before a subcommand that change nothing: docker container
	Values      string             `json:"values,omitempty" yaml:"values"`           // options whose value is the next word; * for a subcommand: those of the row *
	Glued       string             `json:"glued,omitempty" yaml:"glued"`             // options whose value, if they have one, is in the same word
	Flags       string             `json:"flags,omitempty" yaml:"flags"`             // options without one, whatever the program or the row that it is like says
	Persistent  string             `json:"persistent,omitempty" yaml:"persistent"`   // options with a value that all subcommands know too
	Grammar     string             `json:"grammar,omitempty" yaml:"grammar"`         // of first, long, literal, letters, exact, undashed and own
	Dir         string             `json:"dir,omitempty" yaml:"dir"`                 // options whose value is the directory in which it works
	Language    string             `json:"language,omitempty" yaml:"language"`       // it runs code in this language, where no case holds
	ReadsOnly   bool               `json:"reads_only,omitempty" yaml:"reads_only"`   // does no more than read the files that it names
	Depth       *int               `json:"depth,omitempty" yaml:"depth"`             // how many operands name what is done; absent: as far as cases ask for them
	DryRun      string             `json:"dry_run,omitempty" yaml:"dry_run"`         // options with which it only shows what it would do
	Usage       string             `json:"usage,omitempty" yaml:"usage"`             // words with which, alone after the names of subcommands, it only says how it is used
	Wraps       *Wrapper           `json:"wraps,omitempty" yaml:"wraps"`             // it runs the command among its arguments
	Hops        []Hop              `json:"hops,omitempty" yaml:"hops"`               // it runs code on another machine or in a container
	Code        string             `json:"code,omitempty" yaml:"code"`               // options whose value is a command line
	Scripts     string             `json:"scripts,omitempty" yaml:"scripts"`         // options whose value is a script that is run
	Runs        *int               `json:"runs,omitempty" yaml:"runs"`               // operands from here on are a command that is run
	Script      *int               `json:"script,omitempty" yaml:"script"`           // this operand is a script that is run
	Dangerous   string             `json:"dangerous,omitempty" yaml:"dangerous"`     // options that its authors mark as dangerous; true: whatever it is given
	Before      []Case             `json:"before,omitempty" yaml:"before"`           // all that hold count, before the case that does
	Notes       []Case             `json:"notes,omitempty" yaml:"notes"`             // the same after it; those of a program hold for its subcommands
	Cases       []Case             `json:"cases,omitempty" yaml:"cases"`             // the first that holds says what is done
	Subcommands map[string]Program `json:"subcommands,omitempty" yaml:"subcommands"` // by their names
	Go          string             `json:"go,omitempty" yaml:"go"`                   // where no case holds: a function in Go for what rows cannot say
	Replace     bool               `json:"replace,omitempty" yaml:"replace"`         // nothing of the base layer's row holds any more
	Examples    []Example          `json:"examples,omitempty" yaml:"examples"`
}

// Case is what a call does if its conditions hold, all of them.
type Case struct {
	Sub      string            `json:"sub,omitempty" yaml:"sub"`           // the first operands: words, a|b for one of several, * for any text, - for none; alternatives after commas
	Names    string            `json:"names,omitempty" yaml:"names"`       // the program, or the subcommand of this row, was called by one of these names
	Means    string            `json:"means,omitempty" yaml:"means"`       // the words that are given say one of these: end, read, send, change, option
	Option   string            `json:"option,omitempty" yaml:"option"`     // one of these options is given
	Without  string            `json:"without,omitempty" yaml:"without"`   // none of these options is given
	Value    map[string]string `json:"value,omitempty" yaml:"value"`       // options by the values of which one is given: a|b, a*, *a*, - for an option without one
	Other    map[string]string `json:"other,omitempty" yaml:"other"`       // options by values; another one is given, or one that is unknown
	Words    []string          `json:"words,omitempty" yaml:"words"`       // all of these are among the operands: a|b for one of several
	Any      string            `json:"any,omitempty" yaml:"any"`           // one operand at least is one of these: a|b, * for any text, number
	Has      string            `json:"has,omitempty" yaml:"has"`           // a selector that selects something
	Bare     bool              `json:"bare,omitempty" yaml:"bare"`         // there is no argument at all
	Operands string            `json:"operands,omitempty" yaml:"operands"` // how many operands there are: 2, or 2+ for at least 2
	Do       []Step            `json:"do" yaml:"do"`
}

// Step is one thing that a case says: exactly one of the keys up to go, and how.
// Those from read to takes have a selector of words as their value; network,
// system, process and end have a verb, and on says what they concern.
type Step struct {
	Read    string `json:"read,omitempty" yaml:"read"`
	Write   string `json:"write,omitempty" yaml:"write"` // with verb: append, create, truncate, link, modify; else write
	Delete  string `json:"delete,omitempty" yaml:"delete"`
	Fetch   string `json:"fetch,omitempty" yaml:"fetch"`
	Send    string `json:"send,omitempty" yaml:"send"` // to hosts
	Listen  string `json:"listen,omitempty" yaml:"listen"`
	Install string `json:"install,omitempty" yaml:"install"` // packages; on: from where; verb: fetch (nothing of theirs runs), install (for all the machine)
	Code    string `json:"code,omitempty" yaml:"code"`       // code of a shell, or in language
	Script  string `json:"script,omitempty" yaml:"script"`
	Run     string `json:"run,omitempty" yaml:"run"`     // a command and its arguments
	Aims    string `json:"aims,omitempty" yaml:"aims"`   // at processes, units or patterns of them: it is a signal if they are the guard's
	Seeks   string `json:"seeks,omitempty" yaml:"seeks"` // processes by their names: if the guard's, numbers that nobody can tell may be theirs from then on
	Takes   string `json:"takes,omitempty" yaml:"takes"` // hold of processes: the same, and the client's are the guard's too
	Network string `json:"network,omitempty" yaml:"network"`
	System  string `json:"system,omitempty" yaml:"system"` // $0: the first operand is the verb
	Process string `json:"process,omitempty" yaml:"process"`
	End     string `json:"end,omitempty" yaml:"end"`     // something at a service ends: delete, remove, clear, archive, disable, reset, or a word for one
	Meant   string `json:"meant,omitempty" yaml:"meant"` // what the case's means found is done: to whom
	Signal  string `json:"signal,omitempty" yaml:"signal"`
	Out     string `json:"out,omitempty" yaml:"out"` // what it prints: none, unknown, local (nothing that was fetched), decoded, names (of files below on), parts (of the files on)
	As      string `json:"as,omitempty" yaml:"as"`   // the operands after the subcommand are those of this program
	Go      string `json:"go,omitempty" yaml:"go"`   // a function, and words that it is handed

	On          string `json:"on,omitempty" yaml:"on"` // a selector
	Verb        string `json:"verb,omitempty" yaml:"verb"`
	Object      string `json:"object,omitempty" yaml:"object"`       // the kind of thing; $0: as the first operand says, $noun: as the words mean
	Language    string `json:"language,omitempty" yaml:"language"`   // of a shell where it is absent; sql
	Mode        string `json:"mode,omitempty" yaml:"mode"`           // a selector: the permissions that the targets get
	If          string `json:"if,omitempty" yaml:"if"`               // only with one of these options
	Unless      string `json:"unless,omitempty" yaml:"unless"`       // not with one of these options
	Recursive   string `json:"recursive,omitempty" yaml:"recursive"` // true, or the options that make it so; usual: those with which most tools say so
	Forced      string `json:"forced,omitempty" yaml:"forced"`       // true, or the options that make it so
	Confirmed   string `json:"confirmed,omitempty" yaml:"confirmed"` // options with which nobody is asked, or usual: forced, and the signal unconfirmed
	Contents    bool   `json:"contents,omitempty" yaml:"contents"`   // what is in the target, not the target
	In          string `json:"in,omitempty" yaml:"in"`               // options whose value is the directory in which it happens
	Suffix      string `json:"suffix,omitempty" yaml:"suffix"`       // follows each target; ? is what nobody can tell: /? is a file in a folder
	Size        string `json:"size,omitempty" yaml:"size"`           // a selector: how many bytes are written, or left where the verb is truncate
	Privileged  bool   `json:"privileged,omitempty" yaml:"privileged"`
	Egress      bool   `json:"egress,omitempty" yaml:"egress"`
	Persistence bool   `json:"persistence,omitempty" yaml:"persistence"`
	Reversible  string `json:"reversible,omitempty" yaml:"reversible"` // R0 to R5
}

// Wrapper is the grammar of a program that runs another one: what is between
// its name and the command.
type Wrapper struct {
	Values      string `json:"values,omitempty" yaml:"values"`             // options before the command whose value is the next word
	Skip        int    `json:"skip,omitempty" yaml:"skip"`                 // operands before the command
	Sub         string `json:"sub,omitempty" yaml:"sub"`                   // words of which one has to come first
	CommandWith string `json:"command_with,omitempty" yaml:"command_with"` // operands are a command only with one of these options; none: never
	Assigns     bool   `json:"assigns,omitempty" yaml:"assigns"`           // VAR=x before the command
	Unsets      string `json:"unsets,omitempty" yaml:"unsets"`             // options whose value is a variable that the command does not get
	Clears      string `json:"clears,omitempty" yaml:"clears"`             // options with which the command gets no variable of the environment
	Splits      string `json:"splits,omitempty" yaml:"splits"`             // options whose value is several words, which take its place
	Code        string `json:"code,omitempty" yaml:"code"`                 // options whose value is shell code
	After       string `json:"after,omitempty" yaml:"after"`               // all after one of these options is the command; without one there is none
	Dir         string `json:"dir,omitempty" yaml:"dir"`                   // options whose value is the directory to run in
	Joined      bool   `json:"joined,omitempty" yaml:"joined"`             // the operands are assembled and are shell code
	Privileged  bool   `json:"privileged,omitempty" yaml:"privileged"`     // the command has more rights
	Deferred    bool   `json:"deferred,omitempty" yaml:"deferred"`         // the command goes on when the wrapper has ended
	Ignores     bool   `json:"ignores,omitempty" yaml:"ignores"`           // the command ignores that its terminal goes away
	Detaches    string `json:"detaches,omitempty" yaml:"detaches"`         // options with which the command is deferred
	Waits       string `json:"waits,omitempty" yaml:"waits"`               // options with which it is not
	Persists    string `json:"persists,omitempty" yaml:"persists"`         // options with which the command runs again later
	Root        bool   `json:"root,omitempty" yaml:"root"`                 // the first operand is the root directory that the command sees
	RootOption  string `json:"root_option,omitempty" yaml:"root_option"`   // options whose value is that
	Bounds      bool   `json:"bounds,omitempty" yaml:"bounds"`             // the first operand is the time after which the command is ended
	Fetches     string `json:"fetches,omitempty" yaml:"fetches"`           // fetches the command from there if it has to
	FetchesWith string `json:"fetches_with,omitempty" yaml:"fetches_with"` // only with one of these words first
	From        string `json:"from,omitempty" yaml:"from"`                 // options whose value says where the command is fetched from
	Named       bool   `json:"named,omitempty" yaml:"named"`               // the command's own name can say that too
	Before      string `json:"before,omitempty" yaml:"before"`             // a function in Go that looks at the arguments before the command runs
	Go          string `json:"go,omitempty" yaml:"go"`                     // a function in Go reads the arguments
}

// Hop is the grammar of a program that runs a command, or code, in another place:
// on another machine, or in a container.
type Hop struct {
	Names    string `json:"names,omitempty" yaml:"names"`       // the program was called by one of these names
	Sub      string `json:"sub,omitempty" yaml:"sub"`           // words that come first, as in a case; options may be between them
	Kind     string `json:"kind" yaml:"kind"`                   // what the place is called by: ssh, vm, container, pod, app
	Operands int64  `json:"operands,omitempty" yaml:"operands"` // how many are before the command; the first of them names the place
	Name     string `json:"name,omitempty" yaml:"name"`         // options whose value names the place
	Values   string `json:"values,omitempty" yaml:"values"`     // options whose value is the next word
	Code     string `json:"code,omitempty" yaml:"code"`         // options whose value is shell code
	Joined   bool   `json:"joined,omitempty" yaml:"joined"`     // the operands are assembled and are shell code
	Remote   bool   `json:"remote,omitempty" yaml:"remote"`     // it is reached by a network
}

// Example is a command and what is found of it.
type Example struct {
	Run     string   `json:"run" yaml:"run"`
	Effects []string `json:"effects,omitempty" yaml:"effects"` // kind, verb, target, and words such as recursive, forced
	Never   []string `json:"never,omitempty" yaml:"never"`     // effects or signals that are not found
	Signals []string `json:"signals,omitempty" yaml:"signals"`
}

// Words of a program's grammar.
const (
	First    = "first"    // options end at the first operand
	Long     = "long"     // a single dash begins a long option: terraform, find, java
	Literal  = "literal"  // "--" is nothing special
	Letters  = "letters"  // the first argument is letters of options even without a dash: tar xf
	Exact    = "exact"    // long options cannot be shortened
	Undashed = "undashed" // what looks like an option is never the value of another one
	Own      = "own"      // it reads --help itself
)

// Grammars lists the words of a program's grammar.
func Grammars() []string { return []string{First, Long, Literal, Letters, Exact, Undashed, Own} }

// What the words of a command mean.
const (
	End     = "end"    // something ends: instances delete web, delete-db-instance
	Reads   = "read"   // something is shown: list, get, describe
	Sends   = "send"   // people get a message, or money: refunds create
	Changes = "change" // something is opened to all, someone gets rights, or what protects is switched off
	Removes = "option" // an option removes something: --delete, --prune
)

// Meanings lists what the words of a command may mean.
func Meanings() []string { return []string{End, Reads, Sends, Changes, Removes} }

// Usual stands for the options by which most tools say that all is meant, or
// that nobody is to be asked.
const Usual = "usual"

// Outs lists what a step may say about what a program prints.
func Outs() []string { return []string{"none", "unknown", "local", "decoded", "names", "parts"} }

// Unread is a language that nothing here reads.
const Unread = "unread"

// Kinds of programs.
const (
	Agent    = "agent"    // a coding agent
	Terminal = "terminal" // it runs what is typed, or opens windows in which someone types
	Database = "database" // a client, or a tool that changes the form of a database
)

// Vocabulary lists what the text of a key may be, nil if that is open.
func (Program) Vocabulary(key string) []string {
	if key == "kind" {
		return []string{Agent, Database, Terminal}
	}
	return nil
}

// Vocabulary lists what the text of a key may be, nil if that is open.
func (Step) Vocabulary(key string) []string {
	switch key {
	case "out":
		return Outs()
	case "reversible":
		return []string{"R0", "R1", "R2", "R3", "R4", "R5"}
	}
	return nil
}

// Has reports whether a list of words holds one.
func Has(words, word string) bool {
	return words != "" && slices.Contains(strings.Fields(words), word)
}

// Without is a list of words without those of another one.
func Without(words, others string) string {
	if others == "" {
		return words
	}
	return strings.Join(slices.DeleteFunc(strings.Fields(words), func(w string) bool { return Has(others, w) }), " ")
}

// Op is the key that says what a step does, and its value. A step that says
// nothing, or two things, has none.
func (s Step) Op() (key, value string) {
	for _, op := range s.ops() {
		if op.value == "" {
			continue
		}
		if key != "" {
			return "", ""
		}
		key, value = op.key, op.value
	}
	return key, value
}

type op struct{ key, value string }

func (s Step) ops() []op {
	return []op{{"read", s.Read}, {"write", s.Write}, {"delete", s.Delete}, {"fetch", s.Fetch}, {"send", s.Send}, {"listen", s.Listen},
		{"install", s.Install}, {"code", s.Code}, {"script", s.Script}, {"run", s.Run}, {"aims", s.Aims}, {"takes", s.Takes},
		{"seeks", s.Seeks}, {"network", s.Network}, {"system", s.System}, {"process", s.Process},
		{"end", s.End}, {"meant", s.Meant}, {"signal", s.Signal}, {"out", s.Out}, {"as", s.As}, {"go", s.Go}}
}

// Ops lists the keys of which a step has one.
func Ops() []string {
	var keys []string
	for _, op := range (Step{}).ops() {
		keys = append(keys, op.key)
	}
	return keys
}

// Does reports whether a row says what the program does. One that only says how
// its arguments are read, or that it runs others, does not make it known.
func (p Program) Does() bool {
	return len(p.Cases)+len(p.Subcommands) > 0 || p.Go != "" || p.Language != "" || p.ReadsOnly
}

// over puts a row of a higher layer over p: what it says counts, its cases come
// first, and lists are joined.
func (p Program) over(higher Program) Program {
	if higher.Replace {
		return higher
	}
	join := func(a, b string) string { return strings.TrimSpace(a + " " + b) }
	p.Values, p.Glued, p.Flags = join(p.Values, higher.Values), join(p.Glued, higher.Glued), join(p.Flags, higher.Flags)
	p.Values, p.Glued, p.Persistent = Without(p.Values, higher.Flags), Without(p.Glued, higher.Flags), Without(p.Persistent, higher.Flags)
	p.Persistent, p.Grammar, p.DryRun = join(p.Persistent, higher.Persistent), join(p.Grammar, higher.Grammar), join(p.DryRun, higher.DryRun)
	p.Code, p.Scripts, p.Dangerous = join(p.Code, higher.Code), join(p.Scripts, higher.Scripts), join(p.Dangerous, higher.Dangerous)
	p.Before, p.Notes = slices.Concat(p.Before, higher.Before), slices.Concat(p.Notes, higher.Notes)
	p.Dir = join(p.Dir, higher.Dir)
	p.Cases = slices.Concat(higher.Cases, p.Cases)
	p.Examples = slices.Concat(p.Examples, higher.Examples)
	p.ReadsOnly = p.ReadsOnly && higher.ReadsOnly
	p.Hops = slices.Concat(higher.Hops, p.Hops)
	p.Wraps, p.Depth = either(higher.Wraps, p.Wraps), either(higher.Depth, p.Depth)
	p.Runs, p.Script = either(higher.Runs, p.Runs), either(higher.Script, p.Script)
	if higher.Go != "" {
		p.Go = higher.Go
	}
	if higher.Language != "" {
		p.Language = higher.Language
	}
	if higher.Kind != "" {
		p.Kind = higher.Kind
	}
	for _, text := range []struct{ low, high *string }{{&p.About, &higher.About}, {&p.Service, &higher.Service}, {&p.Like, &higher.Like}} {
		if *text.high != "" {
			*text.low = *text.high
		}
	}
	p.Endpoint, p.Daemon = join(p.Endpoint, higher.Endpoint), join(p.Daemon, higher.Daemon)
	p.Optional, p.Usage = join(p.Optional, higher.Optional), join(p.Usage, higher.Usage)
	p.Subcommands = joined(p.Subcommands, higher.Subcommands)
	return p
}

func either[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

// joined are the subcommands of two rows, each under its own names.
func joined(low, high map[string]Program) map[string]Program {
	if len(high) == 0 {
		return low
	}
	all := map[string]Program{}
	for _, subs := range []map[string]Program{low, high} {
		for names, row := range subs {
			for _, name := range strings.Fields(names) {
				if below, ok := all[name]; ok {
					row = below.over(row)
				}
				all[name] = row
			}
		}
	}
	return all
}

// SubcommandNames lists the keys of the rows of subcommands, in order.
func (p Program) SubcommandNames() []string { return slices.Sorted(maps.Keys(p.Subcommands)) }

// Subcommand returns the row of a subcommand: of its name, of a beginning such as
// +*, or the one that is called *.
func (p Program) Subcommand(name string) (Program, bool) {
	rest, ok := p.Subcommands["*"]
	for _, names := range p.SubcommandNames() {
		if names != "*" && Fits(strings.Fields(names), name) {
			row := p.Subcommands[names]
			if row.Values == "*" {
				row.Values = rest.Values
			}
			return row, true
		}
	}
	return rest, ok
}
