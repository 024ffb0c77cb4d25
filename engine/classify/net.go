package classify

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// netPrograms are the programs that talk to other hosts.
func netPrograms(name string) program {
	switch name {
	case "curl", "curlie":
		return program{values: curlValues, run: curl}
	case "wget", "wget2":
		return program{values: wgetValues, run: wget}
	case "http", "https", "xh", "httpie":
		return program{values: " -a --auth --auth-type -o --output --session --verify --timeout --proxy -p --print ", run: httpie}
	case "aria2c", "axel":
		return program{values: " -d -o -x -s -j --dir --out ", run: fetchAll}
	case "nc", "ncat", "netcat", "socat", "telnet":
		return program{values: " -p -s -w -e -c -X -x -i -q -I -O -T -m --exec --sh-exec -L ", run: netcat}
	case "ssh", "autossh", "mosh", "slogin", "plink", "dbclient":
		return program{first: true, values: sshValues, run: ssh}
	case "scp":
		return program{values: " -P -i -o -F -J -l -c -S -X -D ", run: scp}
	case "sftp", "ftp", "lftp", "tftp":
		return program{values: " -P -i -o -F -J -b -B -u -e -c -p ", run: ftp}
	case "dig", "nslookup", "host", "drill", "ping", "ping6", "traceroute", "mtr", "whois", "finger", "nmap", "getent-hosts", "tcpdump":
		return program{values: " -c -i -w -W -t -s -p -x -b -k -m -n -r ", run: lookUp}
	case "ssh-keyscan", "openssl":
		return program{long: name == "openssl", values: " -connect -in -out -keyout -key -days -subj -newkey -k -pass -servername -config -extensions ", run: openssl}
	case "ssh-copy-id", "ssh-add", "ssh-keygen":
		return program{values: " -i -f -t -b -C -N -p -R -F -l ", run: sshKeys}
	case "mail", "mailx", "sendmail", "mutt", "msmtp", "swaks":
		return program{values: " -s -a -r -c -b -A -S --to --from --server --body ", run: mail}
	case "ngrok", "cloudflared", "localtunnel", "lt", "bore", "frpc", "chisel", "tailscale", "inlets", "zrok", "localhost.run":
		return program{values: " --url --hostname --port -p --name ", run: tunnel}
	case "rclone", "s3cmd", "gsutil", "mc", "b2", "azcopy":
		return program{values: " --config --profile --region ", run: bucket}
	case "nsupdate":
		return program{values: " -k -y -p -t -u -r ", run: nameUpdates}
	case "http-server", "serve", "live-server", "caddy":
		return program{values: " -p --port -a --listen -l --config ", run: server}
	}
	return program{}
}

const (
	curlValues = " -A -b -c -C -d -D -e -E -F -H -K -m -o -P -Q -r -t -T -u -U -w -x -X -y -Y -z --user-agent --cookie --cookie-jar --continue-at --data --data-ascii --data-binary --data-raw --data-urlencode --json --dump-header --referer --cert --key --cacert --capath --form --form-string --header --config --max-time --connect-timeout --output --output-dir --quote --range --upload-file --user --proxy-user --write-out --proxy --request --retry --retry-delay --retry-max-time --url --resolve --connect-to --interface --limit-rate --max-redirs --noproxy --oauth2-bearer --unix-socket --url-query --ciphers --dns-servers --doh-url --socks5 --socks5-hostname --stderr --trace --trace-ascii --variable "
	wgetValues = " -O -o -a -P -U -e -i -t -T -w -Q -l -A -R -D -I -X -B --output-document --output-file --append-output --directory-prefix --user-agent --header --post-data --post-file --body-data --body-file --method --user --password --input-file --tries --timeout --wait --execute --load-cookies --save-cookies --level --accept --reject --ca-certificate --referer "
)

// curl fetches URLs, or sends to them what its data options say.
func curl(c *call) {
	o := c.opts
	urls := append(o.operands[:len(o.operands):len(o.operands)], o.all("--url")...)
	r := request{method: "fetch"}
	m, named := o.get("-X", "--request")
	r.named(m, named)
	for _, h := range o.all("-H", "--header") {
		r.header(h)
	}
	if body := o.all("-d", "--data", "--data-ascii", "--data-binary", "--data-raw", "--data-urlencode", "--json", "-F", "--form", "--form-string", "-T", "--upload-file"); len(body) > 0 {
		if r.method == "fetch" && !named && !(o.has("-G", "--get") && !c.readsFiles(body)) {
			r.method = "send"
		}
		r.bodies = c.bodies(body)
		c.uploads(o, body)
	}
	if c.opts.has("-K", "--config") {
		c.reads(o.all("-K", "--config")...)
	}
	c.reads(o.all("-E", "--cert", "--key")...)
	socket, local := o.get("--unix-socket", "--abstract-unix-socket")
	for _, u := range urls {
		if local {
			r.socket = &socket
		}
		c.requests(r, u)
	}
	for _, host := range detours(o) {
		c.contacts(r.method, host)
	}
	c.saves(urls)
	if code, ok := o.get("--proxy-command"); ok {
		c.s.commandVariable(code.text, code)
	}
}

// detours are the hosts to which curl speaks whatever the host of its URL:
// proxies, and the addresses that are given for a name.
func detours(o options) []arg {
	hosts := o.all("-x", "--proxy", "--preproxy", "--socks4", "--socks4a", "--socks5", "--socks5-hostname")
	for _, a := range o.all("--connect-to", "--resolve") {
		if parts := strings.SplitN(a.text, ":", 3); len(parts) == 3 && strings.Trim(parts[2], ":") != "" {
			hosts = append(hosts, a.with(parts[2]))
		}
	}
	return hosts
}

// httpMethod tells whether a word is a method: in capitals any, else one of the
// usual ones.
func httpMethod(a arg) bool {
	upper := strings.ToUpper(a.text)
	switch upper {
	case "GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE":
		return true
	}
	return a.known() && upper == a.text && strings.Trim(upper, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

func (c *call) readsFiles(body []arg) bool {
	for _, b := range body {
		if strings.Contains(b.text, "@") {
			return true
		}
	}
	return false
}

// uploads notes the files that data options name: @file, name=@file, -T file.
func (c *call) uploads(o options, body []arg) {
	for _, b := range body {
		_, file, ok := strings.Cut(b.text, "@")
		before := b.text[:len(b.text)-len(file)]
		if ok && (strings.HasPrefix(b.text, "@") || strings.HasSuffix(before, "=@")) {
			file, _, _ = strings.Cut(file, ";")
			c.upload(b.with(file))
		}
		if _, file, ok := strings.Cut(b.text, "=<"); ok {
			c.upload(b.with(file))
		}
		if b.from != nil {
			c.upload(b)
		}
		if b.taint&filed != 0 && !b.known() {
			c.signal(engine.SignalPipeExternal) // "text=$(cat notes.txt)"
		}
	}
	for _, f := range o.all("-T", "--upload-file") {
		c.upload(f)
	}
}

func (c *call) upload(file arg) {
	if file.is("-", "/dev/stdin", ".") && c.s.frame.stdin != nil && !c.s.frame.piped {
		return // a here-document: the text is part of the command
	}
	c.signal(engine.SignalPipeExternal)
	c.reads(file)
}

// saves notes the files into which curl writes what it fetches.
func (c *call) saves(urls []arg) {
	o := c.opts
	dir, inDir := o.get("--output-dir")
	outs := o.all("-o", "--output")
	if o.has("-O", "--remote-name", "--remote-name-all", "-J") {
		for _, u := range urls {
			base, _ := arg{text: strings.TrimSuffix(strings.SplitN(u.text, "?", 2)[0], "/")}.base()
			outs = append(outs, word(base))
		}
	}
	outs = append(outs, o.all("-D", "--dump-header", "-c", "--cookie-jar", "--trace", "--trace-ascii", "--stderr")...)
	for _, out := range outs {
		if inDir {
			out = joinPath(dir, out)
		}
		c.writes("write", out)
		c.s.store(out, arg{text: holeText, taint: fetched}, false)
	}
	if len(o.all("-o", "--output")) > 0 && !outs[0].is("-", "/dev/stdout") {
		c.out = arg{}
	}
}

func wget(c *call) {
	o := c.opts
	r := request{method: "fetch"}
	if o.has("--post-data", "--post-file", "--body-data", "--body-file") {
		r.method = "send"
	}
	m, named := o.get("--method")
	r.named(m, named)
	for _, h := range o.all("--header") {
		r.header(h)
	}
	r.bodies = c.bodies(o.all("--post-data", "--body-data"))
	for _, f := range o.all("--post-file", "--body-file") {
		r.bodies = append(r.bodies, c.held(f)...)
	}
	for _, f := range o.all("--post-file", "--body-file") {
		c.upload(f)
	}
	if code, ok := o.get("--use-askpass"); ok {
		c.s.commandVariable(code.text, code)
	}
	for _, u := range o.operands {
		c.requests(r, u)
	}
	if o.has("--spider") {
		return
	}
	out, named := o.get("-O", "--output-document")
	if named && out.is("-") {
		return
	}
	for _, u := range o.operands {
		file := out
		if !named {
			base, _ := arg{text: strings.SplitN(u.text, "?", 2)[0]}.base()
			file = word(base)
			if dir, ok := o.get("-P", "--directory-prefix"); ok {
				file = joinPath(dir, file)
			}
		}
		c.writes("write", file)
		c.s.store(file, arg{text: holeText, taint: fetched}, false)
	}
	c.out = arg{}
}

// httpie writes the method and the items of the body as operands.
func httpie(c *call) {
	operands := c.opts.operands
	r := request{method: "fetch"}
	if len(operands) > 1 && httpMethod(operands[0]) {
		r.named(operands[0], true)
		operands = operands[1:]
	}
	if len(operands) == 0 {
		return
	}
	if raw, ok := c.opts.get("--raw"); ok {
		r.body(raw)
	} else if in := c.s.frame.stdin; in != nil && len(operands) == 1 && !c.opts.has("--ignore-stdin", "-I") {
		r.body(*in)
	}
	for _, item := range operands[1:] {
		c.httpItem(&r, item)
	}
	u := operands[0]
	if u.hasPrefix(":") { // :3000/path is of this machine
		u = u.with("localhost" + u.text)
	}
	c.requests(r, u)
	for _, out := range c.opts.all("-o", "--output") {
		c.writes("write", out)
	}
}

// httpItem is an item of a request: Header:value, name==value for the query,
// name=value and name:=json for the body, name@file.
func (c *call) httpItem(r *request, item arg) {
	name, value, isField := strings.Cut(item.text, "=")
	switch {
	case isField && strings.HasPrefix(value, "="):
	case isField && strings.HasPrefix(value, "@"):
		r.body(unknownArg())
		c.upload(item.with(value[1:]))
	case isField:
		r.field(strings.TrimSuffix(name, ":"), item.with(value))
	case strings.Contains(item.text, ":"):
		r.header(item)
	default:
		if _, file, ok := strings.Cut(item.text, "@"); ok {
			r.body(unknownArg())
			c.upload(item.with(file))
		}
	}
}

func fetchAll(c *call) {
	for _, u := range c.opts.operands {
		c.fetches(u)
	}
}

// netcat is nc and socat: raw connections.
func netcat(c *call) {
	if c.name == "socat" {
		c.socat()
		return
	}
	for _, code := range c.opts.all("-e", "-c", "--exec", "--sh-exec") {
		c.signal(engine.SignalReverseShell)
		if !shellName(baseName(code.text)) {
			c.child(func() outcome { return c.s.embed(code, "nc", false) })
		}
	}
	if c.opts.has("-l", "--listen") {
		c.listens(c.bound4(), nil)
		return
	}
	if c.opts.has("-z") || len(c.opts.operands) == 0 {
		c.fetches(c.opts.operand(0))
		return
	}
	c.sends("send", c.opts.operand(0))
	c.pours()
	c.out.taint |= fetched
}

// bound4 is the address on which nc listens: all of them, where none is named.
func (c *call) bound4() arg {
	if a, ok := c.opts.get("-s"); ok {
		return a
	}
	if len(c.opts.operands) > 1 {
		return c.opts.operand(0)
	}
	return word("0.0.0.0")
}

func (c *call) socat() {
	for _, a := range c.opts.operands {
		kind, rest, _ := strings.Cut(a.text, ":")
		kind = strings.ToLower(kind)
		switch {
		case strings.HasPrefix(kind, "exec") || strings.HasPrefix(kind, "system"):
			c.signal(engine.SignalReverseShell)
			code, _, _ := strings.Cut(rest, ",")
			if !shellName(baseName(strings.Fields(code + " x")[0])) {
				c.child(func() outcome { return c.s.embed(a.with(code), "socat", false) })
			}
		case strings.Contains(kind, "listen") || strings.HasSuffix(kind, "-l"):
			c.signal(engine.SignalListen)
			c.emit(rawEffect{kind: engine.EffectNetwork, verb: "listen"}, word("0.0.0.0"))
		case strings.HasPrefix(kind, "tcp") || strings.HasPrefix(kind, "udp") || strings.HasPrefix(kind, "openssl") || strings.HasPrefix(kind, "ssl"):
			host, _, _ := strings.Cut(rest, ":")
			c.sends("send", a.with(host))
		case kind == "file" || kind == "open":
			c.reads(a.with(rest))
		case kind == "create":
			c.writes("write", a.with(rest))
		}
	}
}

func scp(c *call) {
	operands := c.opts.operands
	if len(operands) < 2 {
		return
	}
	c.transfer(operands[:len(operands)-1], operands[len(operands)-1])
}

func ftp(c *call) {
	host := c.opts.operand(0)
	if len(c.opts.operands) == 0 {
		return
	}
	c.sends("send", remoteHost(host.with(host.text+":")))
	if c.name == "tftp" {
		c.puts(joinWords(append(c.opts.all("-c"), c.opts.operands[1:]...)))
	}
	for _, batch := range c.opts.all("-b") {
		for _, code := range c.held(batch) {
			c.puts(code)
		}
	}
	if in := c.s.frame.stdin; in != nil {
		c.puts(*in)
	}
	for _, code := range c.opts.all("-e", "-c") {
		c.puts(code)
		if strings.Contains(code.text, "!") {
			_, local, _ := strings.Cut(code.text, "!")
			c.child(func() outcome { return c.s.embed(code.with(local), "ftp", false) })
		}
	}
}

// lookUp asks other hosts for something; a name with the output of a command
// in it carries that output away.
func lookUp(c *call) {
	tells := func(a arg) bool { return !a.known() && a.taint&(substituted|filed) != 0 }
	padding, _ := c.opts.get("-p")
	for _, a := range c.opts.operands {
		switch {
		case tells(a):
			c.sends("send", a.with(strings.TrimLeft(a.tail(), ".@")))
			c.signal(engine.SignalPipeExternal)
		case a.hasPrefix("+") || strings.ToUpper(a.text) == a.text && !strings.Contains(a.text, "."):
		case tells(padding):
			c.sends("send", a)
			c.signal(engine.SignalPipeExternal)
		default:
			c.fetches(a.with(strings.TrimPrefix(a.text, "@")))
		}
	}
}

func openssl(c *call) {
	if host, ok := c.opts.get("-connect"); ok {
		name, _, _ := strings.Cut(host.text, ":")
		c.sends("send", host.with(name))
		c.out.taint |= fetched
	}
	c.reads(c.opts.all("-in", "-key")...)
	c.writes("write", c.opts.all("-out", "-keyout")...)
	if c.opts.has("-d") || c.opts.operand(0).is("base64") {
		c.out.taint |= decoded
	}
}

func sshKeys(c *call) {
	switch c.name {
	case "ssh-copy-id":
		host := c.opts.operand(0)
		c.sends("send", remoteHost(host.with(host.text+":")))
	case "ssh-keygen":
		if f, ok := c.opts.get("-f"); ok && !c.opts.has("-l", "-y", "-F", "-e") {
			c.writes("write", f)
		}
	default:
		c.reads(c.opts.operands...)
	}
}

// pours notes that standard input, which is sent, is a file.
func (c *call) pours() {
	in := c.s.frame.stdin
	c.s.signalIf(in != nil && in.taint&filed != 0 && !in.known(), engine.SignalPipeExternal)
}

func mail(c *call) {
	c.reads(c.opts.all("-a", "-A")...)
	c.pours()
	for _, to := range c.opts.operands {
		c.sendsObject("send", "mail", to)
	}
}

func tunnel(c *call) {
	first := c.opts.operand(0)
	if c.name == "tailscale" && !first.is("funnel", "serve", "up") || c.name == "cloudflared" && !first.is("tunnel", "access") || first.is("version", "help", "config", "update") {
		return
	}
	c.signal(engine.SignalTunnel)
	c.emit(rawEffect{kind: engine.EffectNetwork, verb: "listen", egress: true}, word(c.name))
}

// bucket copies to and from stores of objects.
func bucket(c *call) {
	operands := c.opts.operands
	if len(operands) == 0 {
		return
	}
	verb := operands[0]
	c.subs = subName(verb)
	if c.opts.has("-n", "--dry-run", "--dryrun") && c.name != "gsutil" {
		c.signal(engine.SignalDryRun)
		return
	}
	rest := operands[1:]
	switch ends, object, n := operation(operands); {
	case c.bucketOpens(operands):
	case ends != "" && ends != "clear" || verb.is("cleanup", "dedupe"):
		c.bucketEnds(ends, object, operands[max(n, 1):])
	case verb.is("deletefile", "rmdirs"):
		c.bucketEnds("delete", "object", rest)
	case readingVerb(verb.text) || verb.is("lsd", "lsl", "lsf", "cat", "du", "size", "stat", "listremotes"):
		for _, a := range rest {
			c.fetches(a)
		}
	case len(rest) > 1:
		c.bucketCopy(verb, rest)
	}
}

// bucketOpens tells whether a store's tool lets everybody in: acl ch -u
// AllUsers:R, iam ch allUsers:objectViewer, anonymous set public.
func (c *call) bucketOpens(operands []arg) bool {
	if !operands[0].is("acl", "defacl", "iam", "anonymous", "policy", "setacl") {
		return false
	}
	for _, a := range c.args {
		who, _, _ := strings.Cut(strings.ToLower(a.text), ":")
		switch who {
		case "allusers", "allauthenticatedusers", "public", "public-read", "public-read-write", "upload", "--acl-public":
			c.changed(change{"expose", "bucket"}, false, operands[len(operands)-1])
			return true
		}
	}
	return false
}

// bucketEnds deletes objects, or whole buckets. What is below goes too where a
// bucket or a folder is named.
func (c *call) bucketEnds(verb, object string, targets []arg) {
	if verb == "" {
		verb = "clear"
	}
	if len(targets) == 0 {
		targets = []arg{word(c.name)}
	}
	all := c.opts.everything() || c.opts.operand(0).is("rb", "purge", "delete", "rmdir") || c.opts.has("--force")
	for _, t := range targets {
		if object == "" || object == plainNoun(t.text) {
			object = "object"
		}
		c.ends(verb, object, all, c.opts.unasked(), t)
	}
}

// bucketCopy is copy, move and sync. What sync does not find at the source it
// deletes at the other end, and what is moved is gone from its place.
func (c *call) bucketCopy(verb arg, operands []arg) {
	dest := operands[len(operands)-1]
	for _, src := range operands[:len(operands)-1] {
		switch {
		case !isRemote(src):
			c.readsTree(src)
		case verb.is("move", "moveto", "mv"):
			c.ends("remove", "object", false, c.opts.unasked(), src)
		default:
			c.fetches(src)
		}
	}
	mirrors := verb.is("sync") && c.name == "rclone" || optionVerb(c.opts) != "" || verb.is("rsync") && c.opts.exact("-d")
	if isRemote(dest) || c.name == "mc" {
		c.sends("send", dest)
		if mirrors {
			c.ends("remove", "object", false, c.opts.unasked(), dest)
		}
		return
	}
	c.emit(rawEffect{kind: engine.EffectFileWrite, verb: "write", recursive: true}, dest)
	if mirrors || verb.is("sync") {
		c.emit(rawEffect{kind: engine.EffectFileDelete, verb: "delete", recursive: true, contents: true}, dest)
	}
}

// nameUpdates is nsupdate: its input changes the records of a zone.
func nameUpdates(c *call) {
	in := c.s.frame.stdin
	for _, f := range c.opts.operands {
		if text, ok := c.s.written(f); ok {
			in = &text
		}
	}
	if in == nil {
		c.process()
		return
	}
	verb := "send"
	for line := range strings.SplitSeq(in.text, "\n") {
		f := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "update "))
		if len(f) > 0 && (f[0] == "delete" || f[0] == "del") {
			verb = "delete"
		}
	}
	if verb == "delete" {
		c.ends(verb, "record", false, false, word("dns"))
		return
	}
	c.changed(change{verb, "record"}, false, word("dns"))
}

func server(c *call) {
	if c.name == "caddy" && !c.opts.operand(0).is("run", "start", "file-server", "reverse-proxy") {
		c.process()
		return
	}
	bind := word("0.0.0.0")
	if a, ok := c.opts.get("-a", "--listen", "-l"); ok {
		bind = a
	}
	c.listens(bind, nil)
}
