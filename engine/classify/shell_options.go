package classify

import "strings"

// options are a program's arguments, taken apart by its grammar.
type options struct {
	list     []option
	operands []arg
	flags    []given // one for each word that holds options
	parsed   bool
}

// given is one word of options, as it was given.
type given struct {
	text    string // as it is shown: a value that stands apart behind =, --context=prod
	word    arg
	letters string // the options of a cluster: rf of -rf, o of -oFILE; empty: the word is one option
	valued  bool   // the option, or the last letter, has a value
	value   *arg   // that value where it stands apart
}

func (o options) flagTexts() []string { return textsOf(o.flags) }

func textsOf(flags []given) []string {
	var out []string
	for _, g := range flags {
		out = append(out, g.text)
	}
	return out
}

// option is one option that was given.
type option struct {
	name  string // with its dashes
	value arg
	has   bool // a value was given
	at    int  // number of operands before it
}

// parseOptions takes arguments apart. Options that take a value are in the
// program's grammar; everything else that begins with a dash is a flag.
func parseOptions(args []arg, p program) options {
	o := options{parsed: true}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.is("--") && !p.literal:
			o.operands = append(o.operands, args[i+1:]...)
			return o
		case !a.hasPrefix("-") || a.is("-"):
			if p.first {
				o.operands = append(o.operands, args[i:]...)
				return o
			}
			o.operands = append(o.operands, a)
		case a.hasPrefix("--") || p.long:
			i += o.longOption(args, i, p)
		default:
			i += o.cluster(args, i, p)
		}
	}
	return o
}

// longOption adds --name, --name=value or --name value; it returns how many
// further arguments it has used.
func (o *options) longOption(args []arg, i int, p program) int {
	a := args[i]
	name, value, has := strings.Cut(a.text, "=")
	o.flags = append(o.flags, given{text: a.show(), word: a, valued: has})
	opt := option{name: name, at: len(o.operands)}
	if has {
		opt.value, opt.has = a.with(value), true
	} else if p.takes(name) && i+1 < len(args) {
		opt.value, opt.has = args[i+1], true
		o.keepValue(&args[i+1])
		o.list = append(o.list, opt)
		return 1
	}
	o.list = append(o.list, opt)
	return 0
}

// keepValue writes a value that stands apart behind the flag it belongs to:
// an organisation's rules ask for `--context=prod` however it was spelled. Code
// and prose are no value to ask for.
func (o *options) keepValue(v *arg) {
	last := &o.flags[len(o.flags)-1]
	last.valued, last.value = true, v
	if text := v.show(); len(text) <= maxFlagValue && !strings.ContainsAny(text, "\n\r") {
		last.text += "=" + text
	}
}

// maxFlagValue is the length of a flag's value that is kept: names, paths,
// addresses.
const maxFlagValue = 120

// cluster adds -abc or -ovalue.
func (o *options) cluster(args []arg, i int, p program) int {
	a := args[i]
	letters := a.text[1:]
	o.flags = append(o.flags, given{text: a.show(), word: a, letters: letters})
	for k, r := range letters {
		opt := option{name: "-" + string(r), at: len(o.operands)}
		if !p.takes(opt.name) && !p.glues(opt.name) {
			o.list = append(o.list, opt)
			continue
		}
		opt.has = true
		if rest := letters[k+len(string(r)):]; rest != "" {
			last := &o.flags[len(o.flags)-1]
			last.letters, last.valued = strings.TrimSuffix(letters, rest), true
			opt.value = a.with(rest)
			o.list = append(o.list, opt)
			return 0
		}
		if i+1 < len(args) && p.takes(opt.name) {
			opt.value = args[i+1]
			o.list = append(o.list, opt)
			o.keepValue(&args[i+1])
			return 1
		}
		opt.has = false
		o.list = append(o.list, opt)
	}
	return 0
}

// has tells whether one of the options was given; long ones may be shortened,
// as getopt_long and git allow.
func (o options) has(names ...string) bool {
	for _, opt := range o.list {
		for _, n := range names {
			if opt.matches(n) {
				return true
			}
		}
	}
	return false
}

func (o options) exact(name string) bool {
	for _, opt := range o.list {
		if opt.name == name {
			return true
		}
	}
	return false
}

func (opt option) matches(name string) bool {
	if opt.name == name {
		return true
	}
	return len(opt.name) >= 5 && strings.HasPrefix(name, "--") && strings.HasPrefix(name, opt.name)
}

// get returns the value of the last of the options that was given.
func (o options) get(names ...string) (arg, bool) {
	list := o.all(names...)
	if len(list) == 0 {
		return arg{}, false
	}
	return list[len(list)-1], true
}

// all returns the values of all of the options that were given.
func (o options) all(names ...string) []arg {
	var out []arg
	for _, opt := range o.list {
		for _, n := range names {
			if opt.matches(n) && opt.has {
				out = append(out, opt.value)
				break
			}
		}
	}
	return out
}

// operand returns the i-th operand, empty if there is none.
func (o options) operand(i int) arg {
	if i < len(o.operands) {
		return o.operands[i]
	}
	return arg{}
}

// perhapsFiles are the values that stand apart behind a letter. Programs that
// read share a table of letters, and not all of them take a value for each:
// what is no number may be a file.
func (o options) perhapsFiles() []arg {
	var out []arg
	for _, g := range o.flags {
		if g.letters != "" && g.value != nil && strings.Trim(g.value.text, "0123456789+-bckKMGTP") != "" {
			out = append(out, *g.value)
		}
	}
	return out
}

func plainFlags(args []arg) (flags []given, operands []arg) {
	for _, a := range args {
		if a.hasPrefix("-") && len(a.text) > 1 {
			flags = append(flags, given{text: a.show(), word: a})
		} else {
			operands = append(operands, a)
		}
	}
	return flags, operands
}

// program says how to read a program's arguments and what it does with them.
type program struct {
	values  string // options that take a value, separated and surrounded by blanks
	glued   string // options whose value, where they have one, stands in the same word, as mysql's -p; like values
	first   bool   // options end at the first operand
	long    bool   // a single dash begins a long option: terraform, find, java
	literal bool   // "--" is nothing special
	own     bool   // reads --help itself
	reading bool   // does no more than read the files that it names
	run     func(c *call)
}

func (p program) takes(name string) bool {
	return p.values != "" && strings.Contains(p.values, " "+name+" ")
}

func (p program) glues(name string) bool {
	return p.glued != "" && strings.Contains(p.glued, " "+name+" ")
}

func (p program) reads() bool { return p.reading }
