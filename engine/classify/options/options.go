// Package options parses the arguments of a program by its grammar.
package options

import (
	"slices"
	"strings"
	"unicode"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// Options are a program's arguments, parsed by its grammar.
type Options struct {
	List     []Option
	Operands []abstract.Arg
	Flags    []abstract.Given // one for each word that contains options
	Parsed   bool
	Ends     bool // "--" ended the options
}

// FlagTexts returns the options as they were given.
func (o Options) FlagTexts() []string { return TextsOf(o.Flags) }

// TextsOf returns the texts of words of options.
func TextsOf(flags []abstract.Given) []string {
	var out []string
	for _, g := range flags {
		out = append(out, g.Text)
	}
	return out
}

// Option is one option that was given.
type Option struct {
	Name  string // with its dashes
	Value abstract.Arg
	Has   bool          // a value was given
	At    int           // number of operands before it
	word  string        // in a cluster that may be no cluster, the whole word
	off   bool          // its value switches it off: --volumes=false
	short bool          // it may be an abbreviation of a longer option
	typed bool          // the grammar says that it can have a value
	next  *abstract.Arg // the word after it, if that may be its value although the grammar knows of none
}

// Parse parses arguments. Options that take a value are in the program's
// grammar; everything else that begins with a dash is a flag.
func Parse(args []abstract.Arg, p Grammar) Options {
	o := Options{Parsed: true}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.Is("--") && !p.Literal:
			o.Operands, o.Ends = append(o.Operands, args[i+1:]...), true
			return o
		case !a.HasPrefix("-") || a.Is("-"):
			if p.First {
				o.Operands = append(o.Operands, args[i:]...)
				return o
			}
			o.Operands = append(o.Operands, a)
		case a.HasPrefix("--") || p.Long:
			i += o.longOption(args, i, p)
		default:
			i += o.cluster(args, i, p)
		}
	}
	return o
}

// longOption adds --name, --name=value or --name value; it returns how many
// further arguments it has used.
func (o *Options) longOption(args []abstract.Arg, i int, p Grammar) (used int) {
	a := args[i]
	name, value, has := strings.Cut(a.Text, "=")
	o.Flags = append(o.Flags, abstract.Given{Text: a.Show(), Word: a, Valued: has})
	full, short := p.whole(name)
	opt := Option{Name: name, At: len(o.Operands), short: short, typed: p.takes(full) || p.glues(full)}
	switch {
	case has:
		opt.Value, opt.Has = a.With(value), true
	case i+1 == len(args):
	case p.takes(full) && p.mayBe(args[i+1]):
		opt.Value, opt.Has = args[i+1], true
		o.keepValue(&args[i+1])
		used = 1
	case p.Booleans && !opt.typed && args[i+1].Is("true", "false"):
		opt.Value, opt.Has = args[i+1], true
		if opt.Value.Is("false") { // --force true is shown, and found by rules, as --force
			o.keepValue(&args[i+1])
		}
		used = 1
	default:
		opt.next = p.mayFollow(&args[i+1])
	}
	opt.off = !opt.typed && opt.Has && opt.Value.Known() && slices.Contains(p.Offs, strings.ToLower(opt.Value.Text))
	o.List = append(o.List, opt)
	return used
}

// keepValue joins a separate value to its flag, so that rules can test for
// `--context=prod` however it was written. Code and prose are left out.
func (o *Options) keepValue(v *abstract.Arg) {
	last := &o.Flags[len(o.Flags)-1]
	last.Valued, last.Value = true, v
	if text := v.Show(); len(text) <= MaxFlagValue && !strings.ContainsAny(text, "\n\r") {
		last.Text += "=" + text
	}
}

// MaxFlagValue is the length of a flag's value that is kept: names, paths,
// addresses.
const MaxFlagValue = 120

// maxCluster is the number of letters from which a word is hardly a cluster of options, and may be a
// value that its program takes in the same word.
const maxCluster = 6

// cluster adds -abc or -ovalue.
func (o *Options) cluster(args []abstract.Arg, i int, p Grammar) int {
	a := args[i]
	letters, word := a.Text[1:], ""
	if len(letters) > maxCluster || strings.ContainsFunc(letters, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		word = a.Show()
	}
	o.Flags = append(o.Flags, abstract.Given{Text: a.Show(), Word: a, Letters: letters})
	for k, r := range letters {
		opt, rest := Option{Name: "-" + string(r), At: len(o.Operands), word: word}, letters[k+len(string(r)):]
		if !p.takes(opt.Name) && !p.glues(opt.Name) {
			if strings.HasPrefix(rest, "=") || rest == "-" { // -n=false, apt-get -s-
				opt.Value = a.With(strings.TrimPrefix(rest, "="))
				opt.off = opt.Value.Known() && slices.Contains(p.Offs, strings.ToLower(opt.Value.Text))
				args = args[:i+1]
				defer func() { o.List = append(o.List, opt) }() // after the letters of its value, which may be options too
				continue
			} else if rest == "" && i+1 < len(args) {
				opt.next = p.mayFollow(&args[i+1])
			}
			o.List = append(o.List, opt)
			continue
		}
		opt.Has, opt.typed, opt.word = true, true, ""
		if rest != "" {
			last := &o.Flags[len(o.Flags)-1]
			last.Letters, last.Valued = strings.TrimSuffix(letters, rest), true
			opt.Value = a.With(rest)
			o.List = append(o.List, opt)
			return 0
		}
		if i+1 < len(args) && p.takes(opt.Name) && p.mayBe(args[i+1]) {
			opt.Value = args[i+1]
			o.List = append(o.List, opt)
			o.keepValue(&args[i+1])
			return 1
		}
		opt.Has = false
		o.List = append(o.List, opt)
	}
	return 0
}

// whole returns the option that a long one abbreviates, if only one of those with a value begins
// so and no other is known to, and whether it may be an abbreviation: the program allows them, and has no option of exactly
// this name.
func (p Grammar) whole(name string) (full string, short bool) {
	if !p.Abbreviates || len(name) < 3 || !strings.HasPrefix(name, "--") || p.takes(name) || p.glues(name) || p.Names != nil && p.Names(name) {
		return name, false
	}
	full = name
	if strings.Contains(p.Flags, " "+name) {
		return name, true
	}
	for _, option := range strings.Fields(p.Values + p.Glued) {
		if strings.HasPrefix(option, name) && full != name {
			return name, true
		} else if strings.HasPrefix(option, name) {
			full = option
		}
	}
	return full, true
}

// Has reports whether one of the options was given, perhaps abbreviated, and not with a value that
// switches it off.
func (o Options) Has(names ...string) bool {
	for _, opt := range o.List {
		for _, n := range names {
			if !opt.off && opt.Matches(n) {
				return true
			}
		}
	}
	return false
}

// negates reports whether the option is --no-name or, for --no-name, --name.
func (opt Option) negates(name string) bool {
	plain, long := strings.CutPrefix(name, "--")
	if positive, ok := strings.CutPrefix(plain, "no-"); ok && opt.isPlainly("--"+positive) {
		return true
	}
	return long && (opt.isPlainly("--no-"+plain) || opt.respells("--no-"+plain))
}

// respells reports whether the option is the long option name in another spelling: --dryRun.
func (opt Option) respells(name string) bool {
	bare := strings.NewReplacer("-", "", "_", "")
	return strings.HasPrefix(opt.Name, "--") && strings.HasPrefix(name, "--") && strings.EqualFold(bare.Replace(opt.Name), bare.Replace(name))
}

// Exact reports whether an option was given by its full name.
func (o Options) Exact(name string) bool {
	return slices.ContainsFunc(o.List, func(opt Option) bool { return opt.Name == name })
}

// Matches reports whether the option is name, perhaps abbreviated.
func (opt Option) Matches(name string) bool {
	return opt.Name == name || opt.short && strings.HasPrefix(name, opt.Name)
}

// isPlainly reports whether the option is name, or an abbreviation long enough to be no other one:
// git reset --h is --hard and not --help.
func (opt Option) isPlainly(name string) bool {
	return opt.Name == name || len(opt.Name) >= 5 && opt.Matches(name)
}

// Names lists the options as engine.Command does.
func (o Options) Names() []string {
	var list []string
	add := func(name string) {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	for _, opt := range o.List {
		switch {
		case opt.word != "":
			add(opt.word)
		case opt.off:
			add(opt.Name + "=" + opt.Value.Text)
		case opt.short:
			add(opt.Name + "*")
		default:
			add(opt.Name)
		}
	}
	if o.Ends {
		add("--")
	}
	return list
}

// On reports whether one of the options is on: the last of them, and of those that negate
// them (--no-name), decides. One with a value that means off, or may mean it, is off, and so is
// one with any value that does not mean on, if there are words for that.
func (o Options) On(ons, offs []string, names ...string) bool {
	on := false
	for _, opt := range o.List {
		if slices.ContainsFunc(names, opt.isPlainly) {
			on = !opt.isOff(ons, offs)
		} else if slices.ContainsFunc(names, opt.negates) || slices.ContainsFunc(names, opt.respells) && opt.isOff(ons, offs) {
			on = false
		}
	}
	return on
}

// isOff reports whether an option is given with a value that switches it off.
func (opt Option) isOff(ons, offs []string) bool {
	text := func(a abstract.Arg) string { return strings.ToLower(a.Text) }
	sure := len(ons) > 0
	switch {
	case opt.typed && !sure:
		return false
	case opt.Has || opt.Value.Text != "":
		return !opt.Value.Known() || slices.Contains(offs, text(opt.Value)) || sure && !slices.Contains(ons, text(opt.Value))
	case opt.next == nil || opt.next.Known():
		return opt.next != nil && slices.Contains(offs, text(*opt.next))
	}
	maybe := strings.Map(func(r rune) rune {
		if strings.ContainsRune(abstract.Holes, r) {
			return '*'
		}
		return r
	}, text(*opt.next))
	return slices.ContainsFunc(offs, func(word string) bool { return wildcard.Text(maybe, word) })
}

// Get returns the value of the last of the options that was given.
func (o Options) Get(names ...string) (abstract.Arg, bool) {
	list := o.All(names...)
	if len(list) == 0 {
		return abstract.Arg{}, false
	}
	return list[len(list)-1], true
}

// All returns the values of all of the options that were given.
func (o Options) All(names ...string) []abstract.Arg {
	var out []abstract.Arg
	for _, opt := range o.List {
		for _, n := range names {
			if opt.Matches(n) && opt.Has {
				out = append(out, opt.Value)
				break
			}
		}
	}
	return out
}

// Operand returns the i-th operand, empty if there is none.
func (o Options) Operand(i int) abstract.Arg {
	if i < len(o.Operands) {
		return o.Operands[i]
	}
	return abstract.Arg{}
}

// PerhapsFiles are the separate values after option letters. Programs that read share
// a table of letters, and not all of them take a value for each letter: a value that
// is not a number may be a file.
func (o Options) PerhapsFiles() []abstract.Arg {
	var out []abstract.Arg
	for _, g := range o.Flags {
		if g.Letters != "" && g.Value != nil && strings.Trim(g.Value.Text, "0123456789+-bckKMGTP") != "" {
			out = append(out, *g.Value)
		}
	}
	return out
}

// Grammar describes how a program's arguments are written.
type Grammar struct {
	Values      string                   // options that take a value, separated and surrounded by spaces
	Glued       string                   // options whose value, if they have one, is in the same word, as mysql's -p; like values
	Flags       string                   // options without a value, as far as they could be taken for longer ones that take one; like values
	First       bool                     // options end at the first operand
	Long        bool                     // a single dash begins a long option: terraform, find, java
	Literal     bool                     // "--" has no special meaning
	Abbreviates bool                     // a long option may be abbreviated, unless an option of that name exists
	Names       func(option string) bool // whether the program is known to have an option
	Offs        []string                 // values with which an option that needs none is off
	Undashed    bool                     // a word that looks like an option is never the value of another option
	Booleans    bool                     // true and false after an option without a value are its value: npm
	Switches    bool                     // the word after an option without a value is never its value: git, getopt, Go
	Own         bool                     // handles --help itself
}

// mayBe reports whether a word may be the value of the option before it.
func (p Grammar) mayBe(a abstract.Arg) bool {
	if !p.Undashed || !a.HasPrefix("-") {
		return true
	}
	name := strings.TrimLeft(a.Text, "-")
	return name == "" || !a.HasPrefix("--") && len(name) > 1 || strings.ContainsAny(name[:1], " \t\n0123456789")
}

// mayFollow returns a word that may be the value of an option before it for which the grammar
// knows of no value.
func (p Grammar) mayFollow(a *abstract.Arg) *abstract.Arg {
	if p.Switches || a.HasPrefix("-") || !a.Known() && !p.Booleans {
		return nil
	}
	return a
}

func (p Grammar) takes(name string) bool {
	return p.Values != "" && strings.Contains(p.Values, " "+name+" ")
}

func (p Grammar) glues(name string) bool {
	return p.Glued != "" && strings.Contains(p.Glued, " "+name+" ")
}
