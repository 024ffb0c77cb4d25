package shell

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// Secrets that a command sends to another host are found in its words: each secret is
// a bit of the taint of the texts that contain part of it. So it does not matter in
// which option, or in which part of an address, it is sent.

// Secret returns the taint of texts that contain part of a secret.
func (n *Notes) Secret(what abstract.Secret) abstract.Taint {
	i := slices.Index(n.Out.Secrets, what)
	if i < 0 {
		i = len(n.Out.Secrets)
		if i >= abstract.MaxSecrets {
			return abstract.SecretBit(abstract.MaxSecrets - 1)
		}
		n.Out.Secrets = append(n.Out.Secrets, what)
	}
	return abstract.SecretBit(i)
}

// SecretsIn returns the secrets of which a string contains a part.
func (n *Notes) SecretsIn(t abstract.Taint) []abstract.Secret {
	var list []abstract.Secret
	for i, secret := range n.Out.Secrets {
		if t&abstract.SecretBit(i) != 0 {
			list = append(list, secret)
		}
	}
	return list
}

// variable returns the taint of a variable of the environment. Those in the list of
// plain names contain no secret.
func (s *Machine) variable(name string) abstract.Taint {
	if s.In.PlainName(name) {
		return 0
	}
	return s.Secret(abstract.Secret{What: engine.FlowVariable, Name: name, Class: s.sourced})
}

// PlainName reports whether a variable of that name contains no secret.
func (in Input) PlainName(name string) bool {
	return slices.ContainsFunc(in.Rows.Words("flows.plain"), func(pattern string) bool { return wildcard.Text(pattern, name) })
}

// OfFile returns the taint of what a file contains: none if its name says that it is a version.
func (s *Machine) OfFile(file abstract.Arg) abstract.Taint {
	versions, name := s.In.Rows.Words("flows.versions"), path.Base(file.Text)
	if file.Known() && slices.ContainsFunc(versions, func(pattern string) bool { return wildcard.Text(pattern, name) }) {
		return 0
	}
	return abstract.Filed
}

// settles returns the taint of a value that is assigned to a variable: a single value
// from a file is named after the variable.
func (s *Machine) settles(name string, a abstract.Arg) abstract.Arg {
	for i, secret := range s.Out.Secrets {
		bit := abstract.SecretBit(i)
		one := a.Taint&abstract.Partial != 0 || secret.Class == engine.ClassCredential
		if secret.What == engine.FlowFile && a.Taint&bit != 0 && one {
			a.Taint = a.Taint&^bit | s.Secret(abstract.Secret{What: engine.FlowVariable, Name: name, Class: secret.Class})
		}
	}
	return a
}

// classOf is the kind of file that a target is, if it is one with secrets.
func (s *Machine) classOf(dir, target abstract.Value) engine.Class {
	return s.In.SecretClass(dir, target)
}

// SecretClass returns the class of a target if it is a file with secrets.
func (in Input) SecretClass(dir, target abstract.Value) engine.Class {
	if in.Class == nil || target.Text == "" {
		return ""
	}
	p := abstract.JoinDir(dir, target.Arg())
	if p.Sure == abstract.Unknown {
		p.Text = "/?/" + target.Text
	}
	if c := in.Class(p.Text); c == engine.ClassCredential || c == engine.ClassEnvFile {
		return c
	}
	return ""
}

// watched runs a command, and marks its output with the secrets that it read or
// received. Data from another host is not a secret of this machine.
func (s *Machine) watched(argv []abstract.Arg, run func() Outcome) Outcome {
	before := len(s.Out.Effects)
	saved := s.asked()
	o := run()
	t := s.read(before, argv)
	s.restore(saved)
	s.takesOver(argv)
	if argv[0].Is("set") && t != 0 {
		o.Out = s.wholeEnvironment()
	}
	if o.Out.Text == "" {
		return o
	}
	sends := slices.ContainsFunc(s.Out.Effects[before:], func(e abstract.RawEffect) bool { return e.Kind == engine.EffectNetwork })
	if in := s.Frame.Stdin; in != nil && !sends {
		t |= in.Taint & (abstract.Secrets | abstract.Partial)
	}
	for _, a := range argv[1:] {
		if !sends {
			t |= a.Taint & (abstract.Secrets | abstract.Partial)
		}
	}
	if t&abstract.Secrets != 0 && s.picks(argv[0]) {
		t |= abstract.Partial
	}
	o.Out.Taint |= t
	return o
}

// takesOver notes that a command makes variables of the contents of a file with
// secrets: export $(cat FILE), eval "$(cat FILE)".
func (s *Machine) takesOver(argv []abstract.Arg) {
	if argv[0].Is("export", "declare", "typeset", "local", "eval", "set", "source", ".") {
		s.takenOver(argv[1:])
	}
}

func (s *Machine) takenOver(words []abstract.Arg) {
	for _, a := range words {
		for _, secret := range s.SecretsIn(a.Taint | fromOf(a).Taint) {
			if secret.What == engine.FlowFile && !strings.Contains(a.Text, "=") {
				s.sourced = secret.Class
			}
		}
	}
}

// fromOf returns what a process substitution in the place of a word would read.
func fromOf(a abstract.Arg) abstract.Arg {
	if a.From == nil {
		return abstract.Arg{}
	}
	return *a.From
}

// wholeEnvironment returns what a shell prints about all its variables.
func (s *Machine) wholeEnvironment() abstract.Arg { return s.WholeEnvironment() }

// WholeEnvironment is the output of a program that prints all variables.
func (n *Notes) WholeEnvironment() abstract.Arg {
	return abstract.Arg{Text: abstract.HoleText, Taint: n.Secret(abstract.Secret{What: engine.FlowEnvironment, Name: "environment"})}
}

// asked removes two signals while a command runs, to find out whether this command
// adds them.
func (s *Machine) asked() [2]bool {
	saved := [2]bool{s.Out.Signals[engine.SignalEnvDump], s.Out.Signals[engine.SignalCredential]}
	delete(s.Out.Signals, engine.SignalEnvDump)
	delete(s.Out.Signals, engine.SignalCredential)
	return saved
}

func (s *Machine) restore(saved [2]bool) {
	s.SignalIf(saved[0], engine.SignalEnvDump)
	s.SignalIf(saved[1], engine.SignalCredential)
}

// read returns the taint of the secrets that were read, according to the effects with
// index since and above, and the signals.
func (s *Machine) read(since int, argv []abstract.Arg) abstract.Taint {
	t := s.filesRead(since)
	if s.Out.Signals[engine.SignalEnvDump] {
		t |= s.wholeEnvironment().Taint
	}
	if s.Out.Signals[engine.SignalCredential] && t == 0 {
		t |= s.Secret(abstract.Secret{What: engine.FlowStore, Name: BaseName(argv[0].Text)})
	}
	if BaseName(argv[0].Text) == "printenv" {
		for _, a := range argv[1:] {
			if a.Known() && !a.HasPrefix("-") {
				t |= s.variable(a.Text)
			}
		}
	}
	return t
}

func (s *Machine) filesRead(since int) abstract.Taint {
	var t abstract.Taint
	for _, e := range s.Out.Effects[min(since, len(s.Out.Effects)):] {
		if e.Kind == engine.EffectFileRead && e.Verb != engine.VerbList {
			if c := s.classOf(e.Dir, e.Target); c != "" {
				file := abstract.JoinDir(e.Dir, e.Target.Arg())
				t |= s.Secret(abstract.Secret{What: engine.FlowFile, Path: file, Class: c})
				if e.Guessed {
					t |= abstract.Partial // in whatever form
				}
			}
		}
	}
	return t
}

// picks reports whether a program prints only some of what it reads.
func (s *Machine) picks(program abstract.Arg) bool {
	return slices.Contains(s.In.Rows.Words("flows.pickers"), BaseName(program.Text))
}

// Hands records the secrets that are sent to another host in the words of a command and
// in its standard input. A word that is an address is sent to the host that it names.
func (c *Call) Hands(to string) {
	s := c.Shell
	for i, w := range c.Args {
		login, at := c.login(i), to
		if host := addressHost(w.Text); host != "" {
			at = host
		}
		s.flow(c.Index, at, w, login)
		s.flow(c.Index, at, fromOf(w), login)
		s.file(c, at, w)
	}
	if in := s.Frame.Stdin; in != nil {
		login := func(a abstract.Arg) bool { return a.Is("--password-stdin", "--with-token", "--token-stdin") }
		s.flow(c.Index, to, *in, slices.ContainsFunc(c.Args, login))
	}
}

// addressHost is the host of an address in a word, even if the text before an @ or
// after the host is unknown; empty: the word contains no address.
func addressHost(text string) string {
	_, rest, ok := strings.Cut(text, "://")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return knownHost(rest)
}

// knownHost is the name of a host, or its known end: the owner of that domain receives
// the rest of the name.
func knownHost(text string) string {
	text = text[strings.LastIndexByte(text, '@')+1:]
	if i := strings.LastIndexAny(text, abstract.Holes); i >= 0 {
		text = strings.TrimLeft(strings.TrimLeft(text[i:], abstract.Holes), ".")
	}
	return place.HostOf(abstract.Value{Text: text})
}

// HostOf returns the host, or the name of the service, that a network effect names.
func HostOf(to abstract.Arg) string {
	if host := addressHost(to.Text); host != "" {
		return host
	}
	host, _, _ := strings.Cut(to.Text, "/")
	if host = knownHost(host); host != "" {
		return host
	}
	return strings.ToLower(to.Value().Text)
}

// Strangers records the secrets that a program that is not known to use the network may
// send to hosts in the same words; any: also to hosts in other words.
func (c *Call) Strangers(anyWord bool) {
	if c.Index < 0 || !c.holdsSecret() || c.talks() || c.Shell.picks(c.Path) {
		return
	}
	options := c.Shell.In.Rows.Words("flows.host_options")
	for i, w := range c.Args {
		host, named := addressHost(w.Text), true
		name, value, glued := strings.Cut(w.Text, "=")
		switch {
		case glued && slices.Contains(options, name):
			host = cmp.Or(addressHost(value), knownHost(value))
		case i > 0 && slices.Contains(options, c.Args[i-1].Text):
			host = cmp.Or(host, knownHost(w.Text))
		default:
			named = false
		}
		switch {
		case anyWord && host == "" && bareHost(w):
			host = knownHost(w.Text)
		case anyWord && host == "":
			host = connectionHost(w.Text)
		}
		if (anyWord || named || w.Taint&abstract.Secrets != 0) && (strings.Contains(host, ".") || place.Loopback(host)) {
			c.sendsTo(host)
		}
	}
	if in := c.Shell.Frame.Stdin; in != nil && addressHost(in.Text) != "" && in.Taint&abstract.Secrets != 0 {
		c.sendsTo(addressHost(in.Text))
	}
}

func (c *Call) sendsTo(host string) {
	c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Egress: true}, abstract.Word(host))
}

// connectionHost is the host of a database's connection string: host=db user=a.
func connectionHost(text string) string {
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ';' }) {
		if name, value, ok := strings.Cut(field, "="); ok && slices.Contains([]string{"host", "hostaddr", "server"}, strings.ToLower(name)) {
			return knownHost(value)
		}
	}
	return ""
}

// talks reports whether a command is known to talk to a host.
func (c *Call) talks() bool {
	return slices.ContainsFunc(c.Shell.Out.Effects, func(e abstract.RawEffect) bool {
		return e.Kind == engine.EffectNetwork && e.Command == c.Index
	})
}

// bareHost reports whether a word looks like the name of a host and not like a file.
func bareHost(w abstract.Arg) bool {
	name := w.Text[strings.LastIndexByte(w.Text, '@')+1:]
	name, _, _ = strings.Cut(name, ":")
	last := name[strings.LastIndexByte(name, '.')+1:]
	return strings.Count(name, ".") >= 2 && !strings.ContainsAny(name, "/ ") && len(last) > 1 &&
		strings.Trim(last, "abcdefghijklmnopqrstuvwxyz") == ""
}

// holdsSecret reports whether the words of a command contain a secret other than a
// variable for the client's login.
func (c *Call) holdsSecret() bool {
	words := c.Args
	if in := c.Shell.Frame.Stdin; in != nil {
		words = append(words[:len(words):len(words)], *in)
	}
	for _, w := range words {
		if len(w.Text) >= leastToken && c.Shell.In.Tokens != nil && len(c.Shell.In.Tokens(w.Text)) > 0 {
			return true
		}
		for _, secret := range c.Shell.SecretsIn(w.Taint | fromOf(w).Taint) {
			if secret.What != engine.FlowVariable {
				return true
			}
		}
	}
	return false
}

// flow notes the secrets of one string, and the tokens that are in it.
func (s *Machine) flow(command int, to string, a abstract.Arg, login bool) {
	s.Flow(s.In, command, to, a, login)
}

// Flow records the secrets that one string sends to a host.
func (n *Notes) Flow(in Input, command int, to string, a abstract.Arg, login bool) {
	f := abstract.RawFlow{To: to, Part: a.Taint&abstract.Partial != 0, Login: login, Command: command}
	for _, f.Secret = range n.SecretsIn(a.Taint) {
		n.flows(f)
	}
	if in.Tokens == nil || len(a.Text) < leastToken {
		return
	}
	f.Part = false
	for _, kind := range in.Tokens(a.Text) {
		f.Secret = abstract.Secret{What: engine.FlowToken, Name: kind}
		n.flows(f)
	}
}

// leastToken is shorter than any token that is recognisable by its form.
const leastToken = 12

// maxFlows bounds what is noted for one action.
const maxFlows = 64

func (n *Notes) flows(f abstract.RawFlow) {
	if len(n.Out.Flows) < maxFlows && !slices.Contains(n.Out.Flows, f) {
		n.Out.Flows = append(n.Out.Flows, f)
	}
}

// file notes a file with secrets that a word makes the program send, in the notation
// of clients: @FILE, name=@FILE, name@FILE.
func (s *Machine) file(c *Call, to string, w abstract.Arg) {
	before, name, ok := strings.Cut(w.Text, "@")
	if _, path, given := strings.Cut(w.Text, "src="); given { // --secret id=NAME,src=FILE
		path, _, _ = strings.Cut(path, ",")
		before, name, ok = "", path, true
	}
	if !ok || strings.ContainsAny(before, "/:. ") || name == "" {
		return
	}
	target := w.With(strings.TrimPrefix(name, "@")).Value()
	if class := s.classOf(s.Scope.Dirs[0], target); class != "" {
		file := abstract.Secret{What: engine.FlowFile, Path: abstract.JoinDir(s.Scope.Dirs[0], target.Arg()), Class: class}
		s.flows(abstract.RawFlow{Secret: file, To: to, Command: c.Index})
	}
}

// HandsImage records the secrets that a container is given: files with secrets among
// those that it can read, and words that contain what was read.
func (c *Call) HandsImage(image string, files, words []abstract.Arg) {
	s := c.Shell
	for _, f := range files {
		dir := s.Scope.Dirs[0]
		if class := s.classOf(dir, f.Value()); class != "" {
			file := abstract.Secret{What: engine.FlowFile, Path: abstract.JoinDir(dir, f), Class: class}
			s.flows(abstract.RawFlow{Secret: file, Image: image, Command: c.Index})
		}
	}
	for _, w := range words {
		for _, secret := range s.SecretsIn(w.Taint) {
			if secret.What != engine.FlowVariable {
				s.flows(abstract.RawFlow{Secret: secret, Image: image, Part: w.Taint&abstract.Partial != 0, Command: c.Index})
			}
		}
	}
}

// login reports whether a word is for authentication: a header, or the value of an
// option for a password.
func (c *Call) login(i int) bool {
	text := strings.ToLower(c.Args[i].Text)
	if name, _, ok := strings.Cut(text, ":"); ok && !strings.ContainsAny(name, " /=@") {
		for _, header := range c.Shell.In.Rows.Words("flows.login_headers") {
			if wildcard.Text(header, strings.TrimSpace(name)) {
				return true
			}
		}
	}
	options := c.Shell.In.Rows.Words("flows.login_options")
	name, _, glued := strings.Cut(c.Args[i].Text, "=")
	return glued && slices.Contains(options, name) || i > 0 && slices.Contains(options, c.Args[i-1].Text) ||
		strings.HasPrefix(text, "-p") && slices.Contains(options, "-p")
}

// codeFlows notes the secrets in code of another language that uses the network. The
// code is treated as one string, so every secret is paired with every host.
func (c *Call) codeFlows(since int, code abstract.Arg) {
	s := c.Shell
	t := code.Taint & abstract.Secrets
	if files := s.filesRead(since); files != 0 {
		t |= files | abstract.Partial
	}
	t |= s.environment(code.Text)
	if s.Out.Signals[engine.SignalEnvDump] {
		t |= s.wholeEnvironment().Taint
	}
	talks := false
	for _, e := range s.Out.Effects[min(since, len(s.Out.Effects)):] {
		if e.Kind == engine.EffectNetwork && e.Verb != "listen" {
			talks = true
			s.flow(c.Index, HostOf(e.Target.Arg()), abstract.Arg{Text: code.Text, Taint: t}, false)
		}
	}
	if t&abstract.Secrets != 0 && !talks && callIn().MatchString(code.Text) {
		s.flow(c.Index, codeHost(code.Text), abstract.Arg{Taint: t}, false)
	}
}

// callIn finds that code uses the network, if the call itself is not understood.
var callIn = engine.Regexp(`gethostby|getaddrinfo|getaddress|\bdns\b|HTTP::|LWP::|UserAgent|Net::|` +
	`URI\.open|fetch\(|urlopen|fsockopen|[Ss]ocket\b`)

// hostIn finds the name of a host in a string of code.
var hostIn = engine.Regexp(`["'/.@]([a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,})["'/:?]`)

// codeHost is the host that code names first.
func codeHost(code string) string {
	if host := addressHost(code); host != "" {
		return host
	}
	if m := hostIn().FindStringSubmatch(code); m != nil {
		return m[1]
	}
	return ""
}

// variableIn finds the variables of the environment that code of other languages
// names: os.environ["A"], process.env.A, ENV["A"], $ENV{A}, getenv("A").
var variableIn = engine.Regexp(
	`(?:environ(?:\.get\(|\[)|getenv\(|ENV(?:\.fetch\(|\[|\{)|process\.env\[|env::var\(|env\.get\()\s*["']?(\w+)|process\.env\.(\w+)|` +
		`\{([\w, ]+)\}\s*=\s*process\.env`)

// wholeIn finds that code takes all variables of the environment.
var wholeIn = engine.Regexp(`(?:^|[^=:\s]|[^v][=:])\s*(?:os\.environ\s*[),}\]]|os\.environ\.(?:items|copy|values)\(|` +
	`process\.env\s*[),}\]]|` +
	`ENV\.(?:to_\w+|inspect|map|each)|%ENV\b|\$_ENV\s*[),]|getenv\(\s*\)|env::vars\()`)

// environment is the taint of code that reads variables of the environment. Code that
// reads all of them may pass them to a program that it runs.
func (s *Machine) environment(code string) abstract.Taint {
	var t abstract.Taint
	for _, m := range variableIn().FindAllStringSubmatch(code, abstract.MaxSecrets) {
		for name := range strings.SplitSeq(m[1]+m[2]+m[3], ",") {
			t |= s.variable(strings.TrimSpace(name))
		}
	}
	if wholeIn().MatchString(code) {
		t |= abstract.Partial | s.wholeEnvironment().Taint
	}
	return t
}

// ownForge reports whether a client of a code host addresses the repository that the working directory is of: by name,
// by the client's placeholders for it, or without any name.
func (c *Call) ownForge(service abstract.Arg) bool {
	dir, s := c.Shell.Scope.Dirs[0], c.Shell
	if s.In.Remotes == nil || len(s.Scope.Dirs) != 1 || dir.Sure != abstract.Literal || len(s.GitRemotes) > 0 ||
		!service.Known() || service.Text == "" || service.Text != c.Service.Text || c.Opts.Has("--hostname") {
		return false
	}
	remotes, host := c.Shell.In.Remotes(dir.Text), service.Text+".com" // where the client goes unless it is told otherwise
	repo, named := c.Opts.Get("-R", "--repo")
	if c.Opts.Operand(0).Is("api") {
		path := strings.Split(strings.TrimPrefix(c.Opts.Operand(1).Text, "/"), "/")
		if len(path) < 4 || path[0] != "repos" {
			return false
		}
		repo, named = c.Opts.Operand(1).With(path[1]+"/"+path[2]), path[1] != "{owner}" || path[2] != "{repo}"
	}
	if !named {
		_, other := c.Shell.Scope.Lookup("GH_REPO")
		return !other && remotes.IsAt(host, "")
	}
	return repo.Known() && remotes.IsAt(host, repo.Text)
}
