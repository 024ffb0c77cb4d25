package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// carrier is the grammar of a program that takes files, its arguments or its
// input to another host, beside those whose business are requests.
type carrier struct {
	values string // its options that take a value
	sub    string // the subcommands that send; empty: it always does
	to     string // options whose value is the host
	at     int    // the operand that is the host; -1: none
	relay  bool   // it sends by a service of its own, which is called by its name
	files  string // options whose value is a file that is sent
	puts   string // options whose value are commands like those of ftp
	rest   bool   // the operands behind are files that are sent
}

// carrierOf returns the grammar of a carrier.
func carrierOf(name string) carrier {
	for _, c := range carrierTable {
		if slices.Contains(c.names, name) {
			return c.is
		}
	}
	return carrier{}
}

var carrierTable = []struct {
	names []string
	is    carrier
}{
	{[]string{"ftpput"}, carrier{values: " -u -p -P ", rest: true}},
	{[]string{"smbclient"}, carrier{values: " -U -W -I -p -c -D -A -m -T --command --user ", puts: "-c --command"}},
	{[]string{"wormhole", "magic-wormhole"}, carrier{sub: "send tx", at: -1, relay: true, rest: true}},
	{[]string{"croc"}, carrier{sub: "send", at: -1, relay: true, rest: true}},
	{[]string{"ffsend"}, carrier{sub: "upload up u", at: -1, relay: true, rest: true}},
	{[]string{"grpcurl"}, carrier{values: " -d -H -proto -import-path -cacert -cert -key -authority -max-time -connect-timeout -rpc-header "}},
	{[]string{"websocat", "wscat"}, carrier{values: " -c --connect -H --header -x --execute ", to: "-c --connect"}},
	{[]string{"mosquitto_pub"}, carrier{values: " -h --host -L --url -t --topic -m --message -f --file -p --port -u -P -i -q --cafile --cert --key ", at: -1, to: "-h --host -L --url", files: "-f --file"}},
	{[]string{"kcat", "kafkacat"}, carrier{values: " -b -t -p -X -F -o -c -k -D -K ", sub: "-P", at: -1, to: "-b", rest: true}},
	{[]string{"logger"}, carrier{values: " -n --server -f --file -P --port -p --priority -t --tag -u --socket ", sub: "-n --server", at: -1, to: "-n --server", files: "-f --file"}},
}

// carry sends what a carrier's arguments and input hold.
func carry(c *shell.Call) {
	k := carrierOf(c.Name)
	o, operands := c.Opts, c.Opts.Operands
	if k.sub != "" && !carries(c, k.sub) {
		c.Process()
		return
	}
	if k.sub != "" && !strings.HasPrefix(k.sub, "-") {
		c.Subs, operands = subName(o.Operand(0)), operands[1:]
	}
	c.Reads(o.All(strings.Fields(k.files)...)...)
	for _, code := range o.All(strings.Fields(k.puts)...) {
		puts(c, code)
	}
	hosts := o.All(strings.Fields(k.to)...)
	switch {
	case k.relay:
		hosts = []abstract.Arg{abstract.Word(c.Name)}
		c.Shell.SignalIf(len(operands) > 0, engine.SignalPipeExternal)
	case len(hosts) == 0 && k.at >= 0 && len(operands) > k.at:
		hosts, operands = operands[k.at:k.at+1], slices.Delete(slices.Clone(operands), k.at, k.at+1)
	}
	if k.rest {
		c.Reads(operands...)
	}
	if len(hosts) == 0 {
		c.Process()
	}
	for _, h := range hosts {
		c.Sends("send", h.With(strings.TrimPrefix(h.Text, "//")))
	}
}

// carries tells whether the first operand, or an option, says that data is sent.
func carries(c *shell.Call, sub string) bool {
	words := strings.Fields(sub)
	return c.Opts.Operand(0).Is(words...) || c.Opts.Has(words...)
}

// puts reads the files that commands of a file transfer take away: put FILE,
// mput FILE…, mirror -R DIR.
func puts(c *shell.Call, code abstract.Arg) {
	for _, line := range strings.FieldsFunc(code.Text, func(r rune) bool { return r == ';' || r == '\n' }) {
		f := fieldsOf(code.With(line))
		if len(f) < 2 {
			continue
		}
		files := slices.DeleteFunc(slices.Clone(f[1:]), func(a abstract.Arg) bool { return a.HasPrefix("-") })
		switch back := len(files) < len(f)-1; {
		case f[0].Is("put", "send", "append", "reput") && len(files) > 0:
			c.Reads(files[0])
		case f[0].Is("mput"):
			c.Reads(files...)
		case f[0].Is("mirror") && back && slices.ContainsFunc(f, func(a abstract.Arg) bool { return a.Is("-R", "--reverse") }):
			c.ReadsTree(abstract.FirstOr(append(files, abstract.Word("."))))
		}
	}
}

// browse opens pages. What a browser is told in an address goes to the host.
func browse(c *shell.Call) {
	pages := slices.DeleteFunc(slices.Clone(c.Opts.Operands), func(a abstract.Arg) bool { return !abstract.IsURL(a) })
	if len(pages) == 0 {
		c.Process()
	}
	for _, u := range pages {
		requests(c, request{method: "fetch"}, u)
	}
}

// givesSecrets notes the arguments of a program of which nothing is known: it
// may read the files that they name, which is worth a word if those hold secrets.
func givesSecrets(c *shell.Call) {
	for _, a := range c.Opts.Operands {
		if a.Known() && !abstract.IsURL(a) && strings.ContainsAny(a.Text, "./") {
			c.Emit(abstract.RawEffect{Kind: engine.EffectFileRead, Verb: "read", Guessed: true}, a)
		}
	}
}
