package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/languages"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// curl fetches URLs, or sends its data options to them.
func curl(c *shell.Call) {
	o := c.Opts
	urls := append(o.Operands[:len(o.Operands):len(o.Operands)], o.All("--url")...)
	r := request{method: "fetch"}
	m, named := o.Get("-X", "--request")
	r.named(m, named)
	for _, h := range o.All("-H", "--header") {
		r.header(h)
	}
	if body := o.All("-d", "--data", "--data-ascii", "--data-binary", "--data-raw", "--json", "-F", "--form",
		"--form-string", "-T", "--upload-file"); len(body) > 0 || o.Has("--data-urlencode") {
		body = append(body, encoded(o.All("--data-urlencode"))...)
		if r.method == "fetch" && !named && !(o.Has("-G", "--get") && !readsFiles(c, body)) {
			r.method = "send"
		}
		r.bodies = bodies(c, body)
		uploads(c, o, body)
	}
	tells(c, &r, o.All("-H", "--header", "-A", "--user-agent", "-e", "--referer", "-b", "--cookie"))
	c.Reads(o.All("-K", "--config", "-E", "--cert", "--key")...)
	socket, local := o.Get("--unix-socket", "--abstract-unix-socket")
	c.Emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "modify", ForGuard: true}, socket)
	for _, u := range urls {
		if local {
			r.socket = &socket
		}
		requests(c, r, u)
	}
	for _, host := range detours(o) {
		contacts(c, r.method, "", host)
	}
	saves(c, urls)
	if code, ok := o.Get("--proxy-command"); ok {
		c.Shell.CommandVariable(code.Text, code)
	}
}

// encoded returns data that curl encodes for a URL. Of a name and a file, name@file, the file counts.
func encoded(list []abstract.Arg) []abstract.Arg {
	for i, a := range list {
		if at := strings.IndexAny(a.Text, "=@"); at > 0 && a.Text[at] == '@' {
			list[i] = a.With(a.Text[at:])
		}
	}
	return list
}

// tells handles header lines that carry a file in another form; files as they are may be tokens and tags.
func tells(c *shell.Call, r *request, lines []abstract.Arg) {
	for _, line := range lines {
		if line.Taint&abstract.Coded != 0 && !line.Known() && !strings.HasPrefix(strings.ToLower(line.Text), "authorization:") {
			r.body(abstract.UnknownArg())
			c.Signal(engine.SignalPipeExternal)
		}
	}
}

// detours returns the hosts that curl contacts regardless of the host in its URL: proxies,
// and the addresses given for a name.
func detours(o options.Options) []abstract.Arg {
	hosts := o.All("-x", "--proxy", "--preproxy", "--socks4", "--socks4a", "--socks5", "--socks5-hostname")
	for _, a := range o.All("--connect-to", "--resolve") {
		if parts := strings.SplitN(a.Text, ":", 3); len(parts) == 3 && strings.Trim(parts[2], ":") != "" {
			hosts = append(hosts, a.With(parts[2]))
		}
	}
	return hosts
}

// httpMethod reports whether a word is a method: any word in capitals, else one of the
// usual ones.
func httpMethod(a abstract.Arg) bool {
	upper := strings.ToUpper(a.Text)
	switch upper {
	case "GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE":
		return true
	}
	return a.Known() && upper == a.Text && strings.Trim(upper, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

func readsFiles(c *shell.Call, body []abstract.Arg) bool {
	return slices.ContainsFunc(body, func(b abstract.Arg) bool { return strings.Contains(b.Text, "@") })
}

// uploads records the files that data options name: @file, name=@file, -T file.
func uploads(c *shell.Call, o options.Options, body []abstract.Arg) {
	for _, b := range body {
		_, file, ok := strings.Cut(b.Text, "@")
		before := b.Text[:len(b.Text)-len(file)]
		if ok && (strings.HasPrefix(b.Text, "@") || strings.HasSuffix(before, "=@")) {
			file, _, _ = strings.Cut(file, ";")
			upload(c, b.With(file))
		}
		if _, file, ok := strings.Cut(b.Text, "=<"); ok {
			upload(c, b.With(file))
		}
		if b.From != nil {
			upload(c, b)
		}
		if b.Taint&abstract.OfFile != 0 && !b.Known() {
			c.Signal(engine.SignalPipeExternal) // "text=$(cat notes.txt)"
		}
	}
	for _, f := range o.All("-T", "--upload-file") {
		upload(c, f)
	}
}

func upload(c *shell.Call, file abstract.Arg) {
	if file.Is("-", "/dev/stdin", ".") && c.Shell.Frame.Stdin != nil && !c.Shell.Frame.Piped {
		return // a here-document: the text is part of the command
	}
	c.Signal(engine.SignalPipeExternal)
	c.Reads(file)
}

// saves records the files into which curl writes its downloads.
func saves(c *shell.Call, urls []abstract.Arg) {
	o := c.Opts
	dir, inDir := o.Get("--output-dir")
	outs := o.All("-o", "--output")
	if o.Has("-O", "--remote-name", "--remote-name-all", "-J") {
		for _, u := range urls {
			base, _ := abstract.Arg{Text: strings.TrimSuffix(strings.SplitN(u.Text, "?", 2)[0], "/")}.Base()
			outs = append(outs, abstract.Word(base))
		}
	}
	outs = append(outs, o.All("-D", "--dump-header", "-c", "--cookie-jar", "--trace", "--trace-ascii", "--stderr")...)
	for _, out := range outs {
		if inDir {
			out = languages.JoinPath(dir, out)
		}
		c.Writes("write", out)
		c.Shell.Store(out, abstract.Arg{Text: abstract.HoleText, Taint: abstract.Fetched}, false)
	}
	if len(o.All("-o", "--output")) > 0 && !outs[0].Is("-", "/dev/stdout") {
		c.Out = abstract.Arg{}
	}
}

func wget(c *shell.Call) {
	o := c.Opts
	r := request{method: "fetch"}
	if o.Has("--post-data", "--post-file", "--body-data", "--body-file") {
		r.method = "send"
	}
	m, named := o.Get("--method")
	r.named(m, named)
	for _, h := range o.All("--header") {
		r.header(h)
	}
	r.bodies = bodies(c, o.All("--post-data", "--body-data"))
	for _, f := range o.All("--post-file", "--body-file") {
		r.bodies = append(r.bodies, held(c, f)...)
	}
	for _, f := range o.All("--post-file", "--body-file") {
		upload(c, f)
	}
	if code, ok := o.Get("--use-askpass"); ok {
		c.Shell.CommandVariable(code.Text, code)
	}
	for _, u := range o.Operands {
		requests(c, r, u)
	}
	if o.Has("--spider") {
		return
	}
	out, named := o.Get("-O", "--output-document")
	if named && out.Is("-") {
		return
	}
	for _, u := range o.Operands {
		file := out
		if !named {
			base, _ := abstract.Arg{Text: strings.SplitN(u.Text, "?", 2)[0]}.Base()
			file = abstract.Word(base)
			if dir, ok := o.Get("-P", "--directory-prefix"); ok {
				file = languages.JoinPath(dir, file)
			}
		}
		c.Writes("write", file)
		c.Shell.Store(file, abstract.Arg{Text: abstract.HoleText, Taint: abstract.Fetched}, false)
	}
	c.Out = abstract.Arg{}
}

// httpie parses the method and the items of the body from operands.
func httpie(c *shell.Call) {
	operands := c.Opts.Operands
	r := request{method: "fetch"}
	if len(operands) > 1 && httpMethod(operands[0]) {
		r.named(operands[0], true)
		operands = operands[1:]
	}
	if len(operands) == 0 {
		return
	}
	if raw, ok := c.Opts.Get("--raw"); ok {
		r.body(raw)
	} else if in := c.Shell.Frame.Stdin; in != nil && len(operands) == 1 && !c.Opts.Has("--ignore-stdin", "-I") {
		r.body(*in)
	}
	for _, item := range operands[1:] {
		httpItem(c, &r, item)
	}
	u := operands[0]
	if u.HasPrefix(":") { // :3000/path is of this machine
		u = u.With("localhost" + u.Text)
	}
	requests(c, r, u)
	for _, out := range c.Opts.All("-o", "--output") {
		c.Writes("write", out)
	}
}

// httpItem handles an item of a request: Header:value, name==value for the query,
// name=value and name:=json for the body, name@file.
func httpItem(c *shell.Call, r *request, item abstract.Arg) {
	name, value, isField := strings.Cut(item.Text, "=")
	switch {
	case isField && strings.HasPrefix(value, "=@"): // the query
		r.body(abstract.UnknownArg())
		upload(c, item.With(value[2:]))
	case isField && strings.HasPrefix(value, "="):
	case isField && strings.HasPrefix(value, "@"):
		r.body(abstract.UnknownArg())
		upload(c, item.With(value[1:]))
	case isField:
		r.field(strings.TrimSuffix(name, ":"), item.With(value))
	case strings.Contains(item.Text, ":"):
		r.header(item)
	default:
		if _, file, ok := strings.Cut(item.Text, "@"); ok {
			r.body(abstract.UnknownArg())
			upload(c, item.With(file))
		}
	}
}

// handsShell runs the program that is attached to a connection, by the options that the row
// names: a shell with unknown input, or another program.
func handsShell(c *shell.Call) {
	for _, code := range c.Opts.All(c.Words...) {
		c.Signal(engine.SignalReverseShell)
		if !shell.IsShell(shell.BaseName(code.Text)) {
			c.Child(func() shell.Outcome { return c.Shell.Embed(code, "nc", false) })
		}
	}
}

// flushes finds what empties a store of keys in its own protocol.
var flushes = engine.Regexp(`(?im)^['"]?(flushall|flushdb|flush_all|swapdb|config\s+set)\b`)

// talks handles a connection: its input leaves this machine, and its output was fetched.
func talks(c *shell.Call) {
	c.Sends("send", c.Opts.Operand(0))
	pours(c)
	if in := c.Shell.Frame.Stdin; in != nil && flushes().MatchString(in.Text) {
		redisLines(c, shell.Database{Scheme: "redis", Host: c.Opts.Operand(0)}, in.Text)
	}
	c.Out.Taint |= abstract.Fetched
}

// socat connects anything to anything.
func socat(c *shell.Call) {
	for _, a := range c.Opts.Operands {
		kind, rest, _ := strings.Cut(a.Text, ":")
		kind = strings.ToLower(kind)
		switch {
		case strings.HasPrefix(kind, "exec") || strings.HasPrefix(kind, "system"):
			c.Signal(engine.SignalReverseShell)
			code, _, _ := strings.Cut(rest, ",")
			if !shell.IsShell(shell.BaseName(strings.Fields(code + " x")[0])) {
				c.Child(func() shell.Outcome { return c.Shell.Embed(a.With(code), "socat", false) })
			}
		case strings.HasPrefix(kind, "unix-l") || strings.HasPrefix(kind, "unix-recv"):
			at, _, _ := strings.Cut(rest, ",")
			c.Writes("create", a.With(at)) // no other machine reaches it
		case strings.HasPrefix(kind, "unix") && rest != "":
			at, _, _ := strings.Cut(rest, ",")
			c.Writes("modify", a.With(at)) // who listens there is told something
		case strings.Contains(kind, "listen") || strings.HasSuffix(kind, "-l"):
			c.Signal(engine.SignalListen)
			c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "listen"}, abstract.Word("0.0.0.0"))
		case strings.HasPrefix(kind, "tcp") || strings.HasPrefix(kind, "udp") || strings.HasPrefix(kind, "openssl") || strings.HasPrefix(kind, "ssl"):
			host, _, _ := strings.Cut(rest, ":")
			if in := c.Shell.Frame.Stdin; in != nil && flushes().MatchString(in.Text) {
				redisLines(c, shell.Database{Scheme: "redis", Host: a.With(host)}, in.Text)
			}
			c.Sends("send", a.With(host))
		case kind == "file" || kind == "open":
			c.Reads(a.With(rest))
		case kind == "create":
			c.Writes("write", a.With(rest))
		}
	}
}

func scp(c *shell.Call) {
	sshOptions(c)
	sshProgram(c)
	operands := c.Opts.Operands
	if len(operands) < 2 {
		return
	}
	transfers(c, operands[:len(operands)-1], operands[len(operands)-1])
}

func ftp(c *shell.Call) {
	if c.Name == "sftp" {
		sshOptions(c)
		sshProgram(c)
	}
	if to, ok := c.Opts.Get("-u"); ok && c.Name == "ftp" { // ftp -u URL FILE…
		c.Sends("send", to)
		c.Reads(c.Opts.Operands...)
		return
	}
	host := c.Opts.Operand(0)
	if len(c.Opts.Operands) == 0 {
		return
	}
	c.Sends("send", abstract.RemoteHost(host.With(host.Text+":")))
	if c.Name == "tftp" {
		putsFiles(c, shell.JoinWords(append(c.Opts.All("-c"), c.Opts.Operands[1:]...)), host)
	}
	for _, batch := range c.Opts.All("-b") {
		for _, code := range batchText(c, batch) {
			putsFiles(c, code, host)
			batchEscapes(c, code)
		}
	}
	if in := c.Shell.Frame.Stdin; in != nil {
		putsFiles(c, *in, host)
		batchEscapes(c, *in)
	}
	for _, code := range c.Opts.All("-e", "-c") {
		putsFiles(c, code, host)
		if strings.Contains(code.Text, "!") {
			_, local, _ := strings.Cut(code.Text, "!")
			c.Child(func() shell.Outcome { return c.Shell.Embed(code.With(local), "ftp", false) })
		}
	}
}

// batchText returns the contents of a file of commands. A file that is neither known nor under
// version control is recorded as unseen.
func batchText(c *shell.Call, batch abstract.Arg) []abstract.Arg {
	if list := held(c, batch); list != nil || batch.Is("-", "/dev/stdin", "/dev/null") {
		return list
	}
	code, ok := c.Shell.CodeIn(batch, "sftp")
	switch {
	case ok:
		return []abstract.Arg{code.Text}
	case !c.Shell.InVersionControl(batch):
		c.Shell.Unseen(batch, c.Name)
	}
	return nil
}

// batchEscapes runs the lines that sftp hands to a shell of this machine: !COMMAND.
func batchEscapes(c *shell.Call, text abstract.Arg) {
	for line := range strings.SplitSeq(text.Text, "\n") {
		if code, ok := strings.CutPrefix(strings.TrimLeft(line, " @-"), "!"); ok && code != "" {
			c.Child(func() shell.Outcome { return c.Shell.Embed(text.With(code), c.Name, false) })
		}
	}
}

// lookUp handles programs that query other hosts for a name. A name with the output of a
// command in it sends that output to the name server of the rest of the name, or to the
// server that is queried. A name that is only the output is looked up.
func lookUp(c *shell.Call) {
	names := hostNames(c)
	padding, _ := c.Opts.Get("-p")
	for _, a := range names {
		switch {
		case tellsOutput(a) && len(names) == 1 && a.Text == abstract.HoleText && !c.Opts.Has("-h"):
			c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "look_up", Egress: true}, a)
			c.Signal(engine.SignalPipeExternal)
		case tellsOutput(a):
			c.Sends("send", a.With(strings.TrimLeft(a.Tail(), ".@")))
			c.Signal(engine.SignalPipeExternal)
		case tellsOutput(padding):
			c.Sends("send", a)
			c.Signal(engine.SignalPipeExternal)
		default:
			c.Fetches(a.With(strings.TrimPrefix(a.Text, "@")))
		}
	}
}

// hostNames returns the operands of a lookup that name hosts. The others say what is looked
// up: +short, MX.
func hostNames(c *shell.Call) []abstract.Arg {
	return slices.DeleteFunc(slices.Clone(c.Opts.Operands), func(a abstract.Arg) bool {
		return !tellsOutput(a) && (a.HasPrefix("+") || strings.ToUpper(a.Text) == a.Text && !strings.Contains(a.Text, "."))
	})
}

func tellsOutput(a abstract.Arg) bool {
	return !a.Known() && a.Taint&(abstract.Substituted|abstract.OfFile) != 0
}

// tlsConnects handles openssl s_client -connect HOST:PORT.
func tlsConnects(c *shell.Call) {
	if host, ok := c.Opts.Get("-connect"); ok {
		name, _, _ := strings.Cut(host.Text, ":")
		c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Egress: true}, host.With(name))
		in := c.Shell.Frame.Stdin
		c.Shell.SignalIf(in != nil && !in.Known() && (c.Shell.Frame.Piped || in.Taint&abstract.OfFile != 0), engine.SignalPipeExternal)
		c.Out.Taint |= abstract.Fetched
	}
}

// sendsKey handles ssh-copy-id.
func sendsKey(c *shell.Call) {
	host := c.Opts.Operand(0)
	c.Sends("send", abstract.RemoteHost(host.With(host.Text+":")))
}

// pours records that a file is sent.
func pours(c *shell.Call) {
	in := c.Shell.Frame.Stdin
	c.Shell.SignalIf(in != nil && in.Taint&abstract.OfFile != 0 && !in.Known(), engine.SignalPipeExternal)
}

// bucket copies to and from object stores.
func bucket(c *shell.Call) {
	operands := c.Opts.Operands
	if len(operands) == 0 {
		return
	}
	verb := operands[0]
	c.Subs = subName(verb)
	if c.On(true, "-n", "--dry-run", "--dryrun") && c.Name != "gsutil" {
		c.Signal(engine.SignalDryRun)
		return
	}
	rest := operands[1:]
	switch ends, object, n := operationOf(c, operands); {
	case bucketOpens(c, operands):
	case ends != "" && ends != "clear" || verb.Is("cleanup", "dedupe"):
		bucketEnds(c, ends, object, operands[max(n, 1):])
	case verb.Is("deletefile", "rmdirs"):
		bucketEnds(c, "delete", "object", rest)
	case vocabulary(c).Reads(verb.Text) || verb.Is("lsd", "lsl", "lsf", "cat", "du", "size", "stat", "listremotes"):
		for _, a := range rest {
			c.Fetches(a)
		}
	case len(rest) > 1:
		bucketCopy(c, verb, rest)
	}
}

// bucketOpens reports whether the tool of an object store grants access to everyone: acl ch
// -u AllUsers:R, iam ch allUsers:objectViewer, anonymous set public.
func bucketOpens(c *shell.Call, operands []abstract.Arg) bool {
	if !operands[0].Is("acl", "defacl", "iam", "anonymous", "policy", "setacl") {
		return false
	}
	for _, a := range c.Args {
		who, _, _ := strings.Cut(strings.ToLower(a.Text), ":")
		switch who {
		case "allusers", "allauthenticatedusers", "public", "public-read", "public-read-write", "upload", "--acl-public":
			changed(c, change{"expose", "bucket"}, false, operands[len(operands)-1])
			return true
		}
	}
	return false
}

// bucketEnds deletes objects, or whole buckets. Deleting a bucket or a folder also deletes
// its contents.
func bucketEnds(c *shell.Call, verb, object string, targets []abstract.Arg) {
	if verb == "" {
		verb = "clear"
	}
	if len(targets) == 0 {
		targets = []abstract.Arg{abstract.Word(c.Name)}
	}
	all := everything(c) || c.Opts.Operand(0).Is("rb", "purge", "delete", "rmdir") || c.Opts.Has("--force")
	for _, t := range targets {
		if object == "" || object == operation.PlainNoun(t.Text) {
			object = "object"
		}
		ends(c, verb, object, all, unasked(c), t)
	}
}

// inBucket reports whether a path is one of a store: rclone also names a kind of store
// without a name of its own, as :s3:shop.
func inBucket(c *shell.Call, a abstract.Arg) bool {
	return abstract.IsRemote(a) || c.Name == "rclone" && strings.HasPrefix(a.Text, ":")
}

// bucketCopy handles copy, move and sync. sync deletes at the destination what is missing
// at the source, and moved objects are removed from their place.
func bucketCopy(c *shell.Call, verb abstract.Arg, operands []abstract.Arg) {
	dest := operands[len(operands)-1]
	for _, src := range operands[:len(operands)-1] {
		switch {
		case !inBucket(c, src):
			c.ReadsTree(src)
			if verb.Is("move", "moveto", "mv") && (inBucket(c, dest) || c.Name == "mc") {
				c.Emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "move", Recursive: true}, src)
			}
		case verb.Is("move", "moveto", "mv"):
			ends(c, "remove", "object", false, unasked(c), src)
		default:
			c.Fetches(src)
		}
	}
	mirrors := verb.Is("sync") && c.Name == "rclone" || optionVerb(c) != "" || verb.Is("rsync") && c.Opts.Exact("-d")
	if inBucket(c, dest) || c.Name == "mc" {
		c.Sends("send", dest)
		if mirrors {
			ends(c, "remove", "object", false, unasked(c), dest)
		}
		return
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "write", Recursive: true}, dest)
	if mirrors || verb.Is("sync") {
		c.Emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Recursive: true, Contents: true}, dest)
	}
}

// nameUpdates handles nsupdate, whose input changes the records of a zone.
func nameUpdates(c *shell.Call) {
	in := c.Shell.Frame.Stdin
	for _, f := range c.Opts.Operands {
		if text, ok := c.Shell.Written(f); ok {
			in = &text
		}
	}
	if in == nil {
		c.Process()
		return
	}
	verb := "send"
	for line := range strings.SplitSeq(in.Text, "\n") {
		f := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "update "))
		if len(f) > 0 && (f[0] == "delete" || f[0] == "del") {
			verb = "delete"
		}
	}
	if verb == "delete" {
		ends(c, verb, "record", false, false, abstract.Word("dns"))
		return
	}
	changed(c, change{verb, "record"}, false, abstract.Word("dns"))
}
