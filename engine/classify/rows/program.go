package rows

import (
	"maps"
	"slices"
	"strings"
)

// Program is a row: what is known about a program, or about one of its subcommands. Lists
// of words are texts in which spaces separate the words.
type Program struct {
	About       string             `json:"about,omitempty" yaml:"about"`             // what the program is, for the page of all programs
	Kind        string             `json:"kind,omitempty" yaml:"kind"`               // kind of program that rules ask for: agent, database, terminal
	Checks      string             `json:"checks,omitempty" yaml:"checks"`           // it checks the work: true, or with one of these words; not inherited through like
	Like        string             `json:"like,omitempty" yaml:"like"`               // another program, whose row applies to everything that this row omits
	Service     string             `json:"service,omitempty" yaml:"service"`         // its service; absent: the name of the program
	Endpoint    string             `json:"endpoint,omitempty" yaml:"endpoint"`       // options whose value replaces the service if it is an address of this machine
	Daemon      string             `json:"daemon,omitempty" yaml:"daemon"`           // options whose value is the machine on which the command takes effect
	Optional    string             `json:"optional,omitempty" yaml:"optional"`       // words before a subcommand that change nothing: docker container
	Values      string             `json:"values,omitempty" yaml:"values"`           // options whose value is the next word; * for a subcommand: those of the row *
	Glued       string             `json:"glued,omitempty" yaml:"glued"`             // options whose value, if they have one, is in the same word
	Flags       string             `json:"flags,omitempty" yaml:"flags"`             // options without a value, even if the program's row or like differs
	Persistent  string             `json:"persistent,omitempty" yaml:"persistent"`   // options with a value that all subcommands accept too
	Grammar     string             `json:"grammar,omitempty" yaml:"grammar"`         // any of first, long, literal, letters, abbreviates, undashed, booleans, switches and own
	Variables   string             `json:"variables,omitempty" yaml:"variables"`     // environment variables whose words come before the arguments
	Dir         string             `json:"dir,omitempty" yaml:"dir"`                 // options whose value is the working directory
	Language    string             `json:"language,omitempty" yaml:"language"`       // it runs code in this language if no case applies
	ReadsOnly   bool               `json:"reads_only,omitempty" yaml:"reads_only"`   // it only reads the files that it names
	Depth       *int               `json:"depth,omitempty" yaml:"depth"`             // number of operands that name an operation; absent: as many as cases ask for
	DryRun      string             `json:"dry_run,omitempty" yaml:"dry_run"`         // options with which it only shows what it would do
	Usage       string             `json:"usage,omitempty" yaml:"usage"`             // words that only print usage if nothing but names of subcommands comes before them
	Wraps       *Wrapper           `json:"wraps,omitempty" yaml:"wraps"`             // it runs the command in its arguments
	Hops        []Hop              `json:"hops,omitempty" yaml:"hops"`               // it runs code on another machine or in a container
	Code        string             `json:"code,omitempty" yaml:"code"`               // options whose value is a command line
	Scripts     string             `json:"scripts,omitempty" yaml:"scripts"`         // options whose value is a script that is run
	Runs        *int               `json:"runs,omitempty" yaml:"runs"`               // operands from this one on are a command that is run
	Script      *int               `json:"script,omitempty" yaml:"script"`           // this operand is a script that is run
	Dangerous   string             `json:"dangerous,omitempty" yaml:"dangerous"`     // options that its authors mark as dangerous; true: regardless of its arguments
	Before      []Case             `json:"before,omitempty" yaml:"before"`           // all that apply, before the first case that applies
	Notes       []Case             `json:"notes,omitempty" yaml:"notes"`             // the same after it; those of a program also apply to its subcommands
	Cases       []Case             `json:"cases,omitempty" yaml:"cases"`             // the first that applies defines what the program does
	Subcommands map[string]Program `json:"subcommands,omitempty" yaml:"subcommands"` // subcommands by name
	Go          string             `json:"go,omitempty" yaml:"go"`                   // if no case applies: a Go function for what rows cannot express
	Replace     bool               `json:"replace,omitempty" yaml:"replace"`         // the base layer's row no longer applies
	Examples    []Example          `json:"examples,omitempty" yaml:"examples"`
}

// Case defines what a call does if all of its conditions are true.
type Case struct {
	Sub      string            `json:"sub,omitempty" yaml:"sub"`           // the first operands: words, a|b for one of several, * for any text, - for none; alternatives are separated by commas
	Names    string            `json:"names,omitempty" yaml:"names"`       // the program, or the subcommand of this row, was called by one of these names
	Means    string            `json:"means,omitempty" yaml:"means"`       // the words of the call mean one of these: end, read, send, change, option
	Option   string            `json:"option,omitempty" yaml:"option"`     // one of these options is given
	Without  string            `json:"without,omitempty" yaml:"without"`   // none of these options is given
	Value    map[string]string `json:"value,omitempty" yaml:"value"`       // options with values of which one is given: a|b, a*, *a, - for an option without one
	Other    map[string]string `json:"other,omitempty" yaml:"other"`       // options with values; another value is given, or an unknown one
	Words    []string          `json:"words,omitempty" yaml:"words"`       // all of these are among the operands: a|b for one of several
	Any      string            `json:"any,omitempty" yaml:"any"`           // at least one operand is one of these: a|b, * for any text, number
	Has      string            `json:"has,omitempty" yaml:"has"`           // a selector that selects something
	Bare     bool              `json:"bare,omitempty" yaml:"bare"`         // there are no arguments at all
	Answered bool              `json:"answered,omitempty" yaml:"answered"` // standard input is short lines that answer yes to what the program asks
	Operands string            `json:"operands,omitempty" yaml:"operands"` // number of operands: 2, or 2+ for at least 2
	Do       []Step            `json:"do" yaml:"do"`
}

// Step is one thing that a case does: exactly one of the keys up to go, and details. The
// values of the keys from read to takes are selectors of words; network, system, process
// and end have a verb, publish has a kind of object, and on selects what they refer to.
type Step struct {
	Read    string `json:"read,omitempty" yaml:"read"`   // with verb: list (names), measure (sizes), sweep (a tree, as far as reviewer's keys are concerned)
	Write   string `json:"write,omitempty" yaml:"write"` // with verb: append, create, truncate, link, modify; else write
	Delete  string `json:"delete,omitempty" yaml:"delete"`
	Fetch   string `json:"fetch,omitempty" yaml:"fetch"`
	Send    string `json:"send,omitempty" yaml:"send"` // to hosts
	Listen  string `json:"listen,omitempty" yaml:"listen"`
	Install string `json:"install,omitempty" yaml:"install"` // packages; on: their source; verb: fetch (none of their code runs), install (for the whole machine)
	Code    string `json:"code,omitempty" yaml:"code"`       // shell code, or code in language
	Script  string `json:"script,omitempty" yaml:"script"`
	Run     string `json:"run,omitempty" yaml:"run"`     // a command and its arguments
	Aims    string `json:"aims,omitempty" yaml:"aims"`   // processes, units or patterns that receive a signal: a signal fact if the guard is among them
	Seeks   string `json:"seeks,omitempty" yaml:"seeks"` // processes looked up by name: if the guard is among them, unknown process ids may be its ids from then on
	Takes   string `json:"takes,omitempty" yaml:"takes"` // processes that are attached to: the same, and the client counts as the guard too
	Network string `json:"network,omitempty" yaml:"network"`
	System  string `json:"system,omitempty" yaml:"system"` // $0: the first operand is the verb
	Process string `json:"process,omitempty" yaml:"process"`
	End     string `json:"end,omitempty" yaml:"end"`         // something at a service ends: delete, remove, clear, archive, disable, reset, or a synonym
	Publish string `json:"publish,omitempty" yaml:"publish"` // an object of this kind (package, image, release) is published at the service or on; with verb delete, a published one is removed
	Meant   string `json:"meant,omitempty" yaml:"meant"`     // does what the case's means found, to these words
	Signal  string `json:"signal,omitempty" yaml:"signal"`
	Out     string `json:"out,omitempty" yaml:"out"` // what it prints: none, unknown, local (nothing that was fetched), decoded, names (of files below on), parts (of the files in on), coded (all of the files in on, or of its input, in another form)
	As      string `json:"as,omitempty" yaml:"as"`   // the operands after the subcommand belong to this program
	Go      string `json:"go,omitempty" yaml:"go"`   // a function, and words that are passed to it

	On          string `json:"on,omitempty" yaml:"on"` // a selector
	Verb        string `json:"verb,omitempty" yaml:"verb"`
	Object      string `json:"object,omitempty" yaml:"object"`       // the kind of object; $0: named by the first operand, $noun: as the words mean
	Language    string `json:"language,omitempty" yaml:"language"`   // language of code; absent: shell; or sql
	Mode        string `json:"mode,omitempty" yaml:"mode"`           // a selector: the permissions that the targets get
	If          string `json:"if,omitempty" yaml:"if"`               // only with one of these options
	Unless      string `json:"unless,omitempty" yaml:"unless"`       // not with one of these options
	Recursive   string `json:"recursive,omitempty" yaml:"recursive"` // true, or the options that make it recursive; usual: those that most tools use
	Forced      string `json:"forced,omitempty" yaml:"forced"`       // true, or the options that force it
	Confirmed   string `json:"confirmed,omitempty" yaml:"confirmed"` // options that skip confirmation, or usual: forced, and the signal unconfirmed
	Contents    bool   `json:"contents,omitempty" yaml:"contents"`   // acts on the contents of the target, not the target itself
	In          string `json:"in,omitempty" yaml:"in"`               // options whose value is the directory in which it happens
	Suffix      string `json:"suffix,omitempty" yaml:"suffix"`       // appended to each target; ? is an unknown part: /? is some file in a folder
	Size        string `json:"size,omitempty" yaml:"size"`           // a selector: number of bytes written, or left if the verb is truncate
	Privileged  bool   `json:"privileged,omitempty" yaml:"privileged"`
	Egress      bool   `json:"egress,omitempty" yaml:"egress"`
	Persistence bool   `json:"persistence,omitempty" yaml:"persistence"`
	Reversible  string `json:"reversible,omitempty" yaml:"reversible"` // R0 to R5
}

// Wrapper is the grammar of a program that runs another one: what is between its name and
// the command.
type Wrapper struct {
	Values      string `json:"values,omitempty" yaml:"values"`             // options before the command whose value is the next word
	Skip        int    `json:"skip,omitempty" yaml:"skip"`                 // number of operands before the command
	Sub         string `json:"sub,omitempty" yaml:"sub"`                   // words of which one must come first
	CommandWith string `json:"command_with,omitempty" yaml:"command_with"` // operands are a command only with one of these options; none: never
	Assigns     bool   `json:"assigns,omitempty" yaml:"assigns"`           // VAR=x before the command
	Unsets      string `json:"unsets,omitempty" yaml:"unsets"`             // options whose value is a variable that the command does not get
	Clears      string `json:"clears,omitempty" yaml:"clears"`             // options that clear the environment of the command
	Splits      string `json:"splits,omitempty" yaml:"splits"`             // options whose value consists of several words, which replace it
	Code        string `json:"code,omitempty" yaml:"code"`                 // options whose value is shell code
	After       string `json:"after,omitempty" yaml:"after"`               // everything after one of these options is the command; without one there is no command
	Dir         string `json:"dir,omitempty" yaml:"dir"`                   // options whose value is the working directory
	Joined      bool   `json:"joined,omitempty" yaml:"joined"`             // the operands are joined and are shell code
	Privileged  bool   `json:"privileged,omitempty" yaml:"privileged"`     // the command has elevated privileges
	Deferred    bool   `json:"deferred,omitempty" yaml:"deferred"`         // the command continues after the wrapper has ended
	Ignores     bool   `json:"ignores,omitempty" yaml:"ignores"`           // the command ignores that its terminal is closed
	Detaches    string `json:"detaches,omitempty" yaml:"detaches"`         // options with which the command is deferred
	Waits       string `json:"waits,omitempty" yaml:"waits"`               // options with which it is not
	Persists    string `json:"persists,omitempty" yaml:"persists"`         // options with which the command runs again later
	Root        bool   `json:"root,omitempty" yaml:"root"`                 // the first operand is the root directory of the command
	RootOption  string `json:"root_option,omitempty" yaml:"root_option"`   // options whose value is the root directory
	Bounds      bool   `json:"bounds,omitempty" yaml:"bounds"`             // the first operand is the time limit of the command
	Fetches     string `json:"fetches,omitempty" yaml:"fetches"`           // source from which the command is fetched if it is missing
	FetchesWith string `json:"fetches_with,omitempty" yaml:"fetches_with"` // only with one of these words first
	From        string `json:"from,omitempty" yaml:"from"`                 // options whose value is the source of the command
	Named       bool   `json:"named,omitempty" yaml:"named"`               // the command's own name can give its source too
	Writes      string `json:"writes,omitempty" yaml:"writes"`             // a selector: files that the wrapper itself writes
	Before      string `json:"before,omitempty" yaml:"before"`             // a Go function that inspects the arguments before the command runs
	Go          string `json:"go,omitempty" yaml:"go"`                     // a Go function that reads the arguments
}

// Hop is the grammar of a program that runs a command, or code, elsewhere: on another
// machine, or in a container.
type Hop struct {
	Names    string `json:"names,omitempty" yaml:"names"`       // the program was called by one of these names
	Sub      string `json:"sub,omitempty" yaml:"sub"`           // words that come first, as in a case; options may be between them
	Kind     string `json:"kind" yaml:"kind"`                   // prefix of the place's name: ssh, vm, container, pod, app
	Operands int64  `json:"operands,omitempty" yaml:"operands"` // number of operands before the command; the first of them names the place
	Name     string `json:"name,omitempty" yaml:"name"`         // options whose value names the place
	Values   string `json:"values,omitempty" yaml:"values"`     // options whose value is the next word
	Code     string `json:"code,omitempty" yaml:"code"`         // options whose value is shell code
	Joined   bool   `json:"joined,omitempty" yaml:"joined"`     // the operands are joined and are shell code
	Remote   bool   `json:"remote,omitempty" yaml:"remote"`     // it is reached over a network
}

// Example is a command and what is found in it.
type Example struct {
	Run     string   `json:"run" yaml:"run"`
	Effects []string `json:"effects,omitempty" yaml:"effects"` // kind, verb, target, and words such as recursive, forced
	Never   []string `json:"never,omitempty" yaml:"never"`     // effects or signals that must not be found
	Signals []string `json:"signals,omitempty" yaml:"signals"`
}

// Words of a program's grammar.
const (
	First       = "first"       // options end at the first operand
	Long        = "long"        // a single dash starts a long option: terraform, find, java
	Literal     = "literal"     // "--" has no special meaning
	Letters     = "letters"     // the first argument consists of option letters even without a dash: tar xf
	Abbreviates = "abbreviates" // long options can be abbreviated: getopt_long, git
	Undashed    = "undashed"    // a word that looks like an option is never the value of another option
	Booleans    = "booleans"    // true or false after an option without a value is its value
	Switches    = "switches"    // a word after an option without a value is never its value
	Own         = "own"         // the program parses --help itself
)

// Grammars lists the words of a program's grammar.
func Grammars() []string {
	return []string{First, Long, Literal, Letters, Abbreviates, Undashed, Booleans, Switches, Own}
}

// What the words of a command can mean.
const (
	End     = "end"    // something ends: instances delete web, delete-db-instance
	Reads   = "read"   // something is shown: list, get, describe
	Sends   = "send"   // people receive a message or money: refunds create
	Changes = "change" // something is opened to everyone, someone gets rights, or a protection is switched off
	Removes = "option" // an option removes something: --delete, --prune
)

// Meanings lists what the words of a command can mean.
func Meanings() []string { return []string{End, Reads, Sends, Changes, Removes} }

// Usual stands for the options that most tools use for everything, or to skip confirmation.
const Usual = "usual"

// Outs lists the values that describe what a program prints.
func Outs() []string {
	return []string{"none", "unknown", "local", "decoded", "names", "lines", "parts", "coded"}
}

// Unread is a language that cannot be analysed here.
const Unread = "unread"

// Kinds of programs.
const (
	Agent    = "agent"    // a coding agent
	Terminal = "terminal" // it runs what is typed, or opens windows in which someone types
	Database = "database" // a client, or a tool that changes the schema of a database
)

// Vocabulary lists the values that a key allows, nil if any text is allowed.
func (Program) Vocabulary(key string) []string {
	if key == "kind" {
		return []string{Agent, Database, Terminal}
	}
	return nil
}

// Vocabulary lists the values that a key allows, nil if any text is allowed.
func (Step) Vocabulary(key string) []string {
	switch key {
	case "out":
		return Outs()
	case "reversible":
		return []string{"R0", "R1", "R2", "R3", "R4", "R5"}
	}
	return nil
}

// Has reports whether a list of words contains a word.
func Has(words, word string) bool {
	return words != "" && slices.Contains(strings.Fields(words), word)
}

// Without returns a list of words without those of another list.
func Without(words, others string) string {
	if others == "" {
		return words
	}
	return strings.Join(slices.DeleteFunc(strings.Fields(words), func(w string) bool { return Has(others, w) }), " ")
}

// Op returns the key that defines what a step does, and its value. A step with none of these
// keys, or with two, has none.
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
		{"end", s.End}, {"publish", s.Publish}, {"meant", s.Meant}, {"signal", s.Signal}, {"out", s.Out}, {"as", s.As}, {"go", s.Go}}
}

// Ops lists the keys of which a step has exactly one.
func Ops() []string {
	var keys []string
	for _, op := range (Step{}).ops() {
		keys = append(keys, op.key)
	}
	return keys
}

// Does reports whether a row defines what the program does. A row that only defines how its
// arguments are parsed, or that it runs other programs, does not make it known.
func (p Program) Does() bool {
	return len(p.Cases)+len(p.Subcommands) > 0 || p.Go != "" || p.Language != "" || p.ReadsOnly
}

// over merges a row of a higher layer into p: its values take precedence, its cases come
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
	p.Dir, p.Variables = join(p.Dir, higher.Dir), join(p.Variables, higher.Variables)
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

// joined merges the subcommands of two rows by name.
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

// Subcommand returns the row of a subcommand: by its name, by a prefix such as +*, or the
// row *.
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
