package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// infra is a change of what runs elsewhere. A deletion is one of a thing whose
// kind is not known; ends says more.
func infra(c *shell.Call, verb string, deletes, confirmed bool, target string) {
	if deletes {
		ends(c, "delete", "", false, confirmed, abstract.Word(target))
		return
	}
	if confirmed {
		c.Signal(engine.SignalUnconfirmed)
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: verb, Egress: true, Forced: confirmed}, abstract.Word(target))
}

// applies brings a stack to the state that its files describe. Confirmed: no
// person sees the plan before.
func applies(c *shell.Call, confirmed bool) {
	if confirmed {
		c.Signal(engine.SignalUnconfirmed)
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Object: "stack", Egress: true, Forced: confirmed},
		abstract.Word(c.Name))
}

func terraform(c *shell.Call) {
	o := c.Opts
	sub := o.Operand(0)
	if sub.Is("run-all", "run", "--all") && len(o.Operands) > 1 {
		sub = o.Operands[1]
	}
	c.Subs = subName(o.Operand(0))
	confirmed := o.Has("-auto-approve", "--auto-approve", "-force", "--terragrunt-non-interactive", "--non-interactive", "-lock=false")
	destroys := sub.Is("destroy")
	for _, opt := range o.List {
		destroys = destroys || sub.Is("apply") && strings.TrimLeft(opt.Name, "-") == "destroy"
	}
	switch {
	case destroys:
		ends(c, "delete", "stack", true, confirmed, abstract.Word(c.Name))
	case sub.Is("apply"):
		applies(c, confirmed && operandBehind(c, sub).Text == "")
	case sub.Is("import", "taint", "untaint", "refresh"):
		infra(c, "send", false, confirmed, c.Name)
	case sub.Is("state"), sub.Is("workspace"):
		c.Subs = append(c.Subs, subName(o.Operand(1))...)
		if o.Operand(1).Is("rm", "delete", "push", "replace-provider", "mv") {
			if o.Operand(1).Is("rm", "delete") {
				ends(c, "delete", sub.Text, false, confirmed, abstract.Word(c.Name))
				return
			}
			infra(c, "send", false, confirmed, c.Name)
		}
	case sub.Is("force-unlock"):
		infra(c, "send", false, confirmed, c.Name)
	case sub.Is("init", "get", "providers"):
		c.Fetches(abstract.Word(c.Name))
		c.Out.Taint = 0
	case sub.Is("plan", "show", "validate", "output", "version", "graph", "console", "test", "login"):
	default:
		c.Process()
	}
}

// operandBehind is the operand that follows another one: the plan of apply PLAN.
func operandBehind(c *shell.Call, a abstract.Arg) abstract.Arg {
	for i, o := range c.Opts.Operands {
		if o.Is(a.Text) {
			return c.Opts.Operand(i + 1)
		}
	}
	return abstract.Arg{}
}

func stacks(c *shell.Call) {
	o := c.Opts
	sub := o.Operand(0)
	c.Subs = subName(sub)
	confirmed := o.Has("-y", "--yes", "--force", "-f", "--skip-preview", "--auto-approve")
	if o.Has("--check", "--dry-run", "--noexecute") || sub.Is("preview", "diff", "synth", "list", "ls", "stack", "validate", "status",
		"whoami", "version", "logs", "invoke", "local") && !o.Operand(1).Is("rm") {
		if o.Has("--check", "--dry-run") {
			c.Signal(engine.SignalDryRun)
		}
		return
	}
	switch {
	case sub.Is("destroy", "remove", "delete", "down", "rm") || sub.Is("stack") && o.Operand(1).Is("rm"):
		if c.Name == "vagrant" {
			c.Process()
			return
		}
		ends(c, "delete", "stack", true, confirmed, abstract.Word(c.Name))
	case sub.Is("up", "deploy", "update", "apply"):
		approval, _ := o.Get("--require-approval")
		applies(c, confirmed || approval.Is("never") || o.Has("--no-confirm-changeset"))
	case sub.Is("cancel", "import") || strings.HasPrefix(c.Name, "ansible"):
		infra(c, "send", false, confirmed, c.Name)
		if code, ok := o.Get("-a"); ok && c.Name == "ansible" {
			if m, _ := o.Get("-m"); m.Is("shell", "command", "raw", "") {
				c.At(shell.Venue{Wrapper: c.Name, Host: c.Shell.HostName("ssh", o.Operand(0))}, func() { c.Shell.Embed(code, c.Name, false) })
			}
		}
	default:
		c.Process()
	}
}

func aws(c *shell.Call) {
	o := c.Opts
	service, op, host := o.Operand(0), o.Operand(1), awsHost(c)
	c.Subs = append(subName(service), subName(op)...)
	if o.Has("--dryrun", "--dry-run") {
		c.Signal(engine.SignalDryRun)
		return
	}
	confirmed := o.Has("--force", "--skip-final-snapshot", "--force-delete-without-recovery")
	switch {
	case service.Is("s3"):
		awsCopy(c, o, op)
	case service.Is("secretsmanager") && op.Is("get-secret-value"), service.Is("ssm") && op.HasPrefix("get-parameter"), op.Is("get-session-token", "get-login-password", "create-access-key", "export-credentials"):
		c.Signal(engine.SignalCredential)
		c.Fetches(host)
		changed(c, awsChange(c, service, op), confirmed, host)
	case op.Is("delete-public-access-block"):
		changed(c, change{"expose", "bucket"}, confirmed, host)
	case endsOf(c, op) != "":
		verb, object := vocabulary(c).Ending(op.Text)
		ends(c, verb, object, o.Has("--force-delete-without-recovery", "--delete-all-versions"), confirmed, host)
	case service.Is("route53") && deletesInBatch(c, o):
		ends(c, "delete", "record", false, confirmed, host)
	case !vocabulary(c).Reads(op.Text) && service.Text != "" && changed(c, awsChange(c, service, op), confirmed, host):
	case service.Is("rds-data") && op.HasPrefix("execute"):
		infra(c, "send", false, false, host.Text)
		sqlOptions(c)
	case service.Text == "" || service.Is("configure", "help", "sts") || vocabulary(c).Reads(op.Text) || op.Is("filter-log-events", "batch-get-item", "scan", "query"):
		if service.Is("configure") && (op.Text == "" || op.Is("set", "import")) {
			c.Writes("write", abstract.Concat(c.Shell.Read("HOME"), abstract.Word("/.aws/credentials")))
			return
		}
		c.Fetches(host)
		c.Out.Taint &^= abstract.Fetched
	default:
		infra(c, "send", false, confirmed, host.Text)
	}
}

func awsCopy(c *shell.Call, o shell.Options, op abstract.Arg) {
	operands, host := o.Operands[min(2, len(o.Operands)):], awsHost(c)
	switch {
	case op.Is("rm", "rb"):
		object := "object"
		if op.Is("rb") {
			object = "bucket"
		}
		ends(c, "delete", object, o.Has("--force", "--recursive"), o.Has("--force"), host)
	case op.Is("cp", "mv", "sync") && len(operands) > 1:
		from, to := operands[0], operands[1]
		if abstract.IsURL(from) && host.Is("aws") {
			c.Fetches(from)
		} else if abstract.IsURL(from) {
			c.Fetches(host)
		} else {
			c.Reads(from)
			if op.Is("mv") {
				c.Emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "move", Recursive: o.Has("--recursive")}, from)
			}
		}
		if abstract.IsURL(to) {
			if host.Is("aws") {
				host = to
			}
			c.Sends("send", host)
			if acl, ok := o.Get("--acl"); ok && everybody("acl", acl) {
				changed(c, change{"expose", "object"}, false, host)
			}
			if o.Has("--delete") {
				ends(c, "delete", "object", true, false, awsHost(c))
			}
			return
		}
		c.Emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "write", Recursive: true}, to)
		if o.Has("--delete") {
			c.Emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Recursive: true, Contents: true}, to)
		}
	case op.Is("ls", "presign"):
		c.Fetches(host)
		c.Out.Taint &^= abstract.Fetched
	default:
		infra(c, "send", false, false, host.Text)
	}
}

// awsHost is who is asked: aws, or what stands in for it on this machine.
func awsHost(c *shell.Call) abstract.Arg {
	host := abstract.Word("aws")
	for _, at := range c.Opts.All("--endpoint-url") { // the last one counts
		host = abstract.Word("aws")
		if place.Loopback(place.HostOf(at.Value())) {
			host = at
		}
	}
	return host
}

func endsOf(c *shell.Call, op abstract.Arg) string {
	verb, _ := vocabulary(c).Ending(op.Text)
	return verb
}

// deletesInBatch tells whether a batch of changes holds a deletion.
func deletesInBatch(c *shell.Call, o shell.Options) bool {
	batch, _ := o.Get("--change-batch")
	verb, _ := bodyVerb(vocabulary(c), batch.Text)
	return verb == "delete"
}

// operationOf is what the words of a command line say that a tool ends, wherever
// the verb stands among the first of them: instances delete web, delete-db-instance
// shop, pg:reset. n is the number of words up to the verb.
func operationOf(c *shell.Call, words []abstract.Arg) (verb, object string, n int) {
	w := vocabulary(c)
	for i, a := range words[:min(len(words), 4)] {
		if !a.Known() || (w.Reads(a.Text) || w.Makes(a.Text)) && !thingToo(c, a.Text, words[i+1:]) {
			return "", "", i + 1
		}
		if strings.ContainsAny(a.Text, "/@=. ") || strings.Contains(a.Text, "::") {
			continue // a name
		}
		if verb, object = w.Ending(a.Text); verb == "" {
			continue
		}
		switch {
		case object != "":
		case i > 0:
			object = operation.PlainNoun(operation.Singular(words[i-1].Text))
		case len(words) > 2: // delete volume 7
			object = operation.PlainNoun(operation.Singular(words[1].Text))
		}
		return verb, object, i + 1
	}
	return "", "", 0
}

// thingToo tells whether a word that could be an operation names a thing here:
// auth disable, restore delete, log-analytics workspace delete.
func thingToo(c *shell.Call, word string, behind []abstract.Arg) bool {
	first, _, several := strings.Cut(word, "-")
	if several && slices.Contains([]string{"log", "logs", "auth", "search", "dev", "status"}, first) {
		return true
	}
	return slices.Contains([]string{"auth", "restore", "log", "logs", "export"}, word) && len(behind) > 0 && endsOf(c, behind[0]) != ""
}

// everything tells whether options say that all things of a kind are meant, or
// all that is in one.
func everything(o shell.Options) bool {
	return o.Has("--all", "--recursive", "--all-namespaces", "--purge", "--cascade", "--delete-contents", "--force-delete",
		"--all-versions") || o.Exact("-r") || o.Exact("-R")
}

func unasked(o shell.Options) bool {
	return o.Has("-y", "--yes", "-q", "--quiet", "-f", "--force", "--confirm", "--auto-confirm", "--auto-approve", "--assume-yes",
		"--no-prompt", "--non-interactive")
}

// genericCloud judges a tool by the verb among its operands, wherever it
// stands: gcloud compute instances delete, az group delete, fly apps destroy.
func genericCloud(c *shell.Call) {
	o := c.Opts
	if o.Has("--dry-run", "--validate-only") {
		c.Signal(engine.SignalDryRun)
		return
	}
	verb, object, n := operationOf(c, o.Operands)
	if n == 0 {
		n = min(len(o.Operands), 4)
	}
	for _, a := range o.Operands[:min(n, 3)] {
		c.Subs = append(c.Subs, a.Show())
	}
	reads := n > 0 && vocabulary(c).Reads(o.Operands[n-1].Text)
	switch {
	case verb != "":
		ends(c, verb, object, everything(o), unasked(o), abstract.Word(c.Name))
		if o.Operand(0).Is("db") || strings.HasPrefix(o.Operand(0).Text, "pg:") {
			c.Signal(engine.SignalDatabaseDrop)
		}
	case c.Name == "gcloud" && o.Operand(0).Is("secrets") && o.Operand(2).Is("access"), o.Operand(0).Is("auth") && strings.Contains(o.Operand(1).Text, "token"), o.Operand(0).Is("keyvault"):
		c.Signal(engine.SignalCredential)
		c.Fetches(abstract.Word(c.Name))
	case c.Name == "bq" && o.Operand(0).Is("query"), c.Name == "turso" && o.Operand(1).Is("shell"):
		infra(c, "send", false, false, c.Name)
		c.Sql(o.Operands[len(o.Operands)-1])
	case vocabulary(c).Makes(o.Operand(1).Text) && vocabulary(c).Paid(o.Operand(0).Text) != "":
		c.SendsObject("send", vocabulary(c).Paid(o.Operand(0).Text), abstract.Word(c.Name))
	case len(o.Operands) == 0 && c.Name != "vercel", reads:
		c.Fetches(abstract.Word(c.Name))
		c.Out.Taint &^= abstract.Fetched
	case changed(c, optionChanges(c, o.Operands, c.Args), unasked(o), abstract.Word(c.Name)):
	default:
		infra(c, "send", false, o.Has("-y", "--yes", "--auto-confirm"), c.Name)
	}
	sqlOptions(c)
}

// sqlOptions judges the SQL that an option carries: d1 execute --command, spanner
// execute-sql --sql, rds-data execute-statement --sql.
func sqlOptions(c *shell.Call) {
	for _, name := range []string{"--sql", "--command", "--query-string", "--statement"} {
		for i, a := range c.Args {
			if text, ok := strings.CutPrefix(a.Text, name+"="); ok {
				c.Sql(a.With(text))
			} else if a.Is(name) && i+1 < len(c.Args) {
				c.Sql(c.Args[i+1])
			}
		}
	}
}

// serviceTool is a tool of which only the deletions are worth a word.
func serviceTool(c *shell.Call) {
	if c.Name == "vault" || c.Name == "op" {
		secrets(c)
		return
	}
	if c.Opts.Has("--dry-run") {
		c.Signal(engine.SignalDryRun)
		return
	}
	words := c.Opts.Operands
	c.Subs = subName(c.Opts.Operand(0))
	verb, object, n := operationOf(c, words)
	if verb == "" && c.Opts.Operand(0).Is("unregister", "uninstall") {
		verb, n = "remove", 1
	}
	if verb == "" {
		verb, n = optionVerb(c.Opts), 1
	}
	if noun := vocabulary(c).Sent(c.Opts.Operand(0).Text); verb == "" && noun != "" {
		c.SendsObject("send", noun, abstract.Word(c.Name))
		return
	}
	if verb == "" {
		c.Process()
		return
	}
	for _, a := range words[min(1, len(words)):max(min(n, len(words)), min(1, len(words)))] {
		c.Subs = append(c.Subs, a.Show())
	}
	ends(c, verb, object, everything(c.Opts), unasked(c.Opts), abstract.Word(c.Name))
}

// optionVerb is the end that an option asks for, where the subcommand names
// none: sync --delete, unlock --remove-all.
func optionVerb(o shell.Options) string {
	for _, opt := range o.List {
		first, _, _ := strings.Cut(strings.TrimLeft(opt.Name, "-"), "-")
		if slices.Contains([]string{"delete", "remove", "purge", "prune"}, first) && !opt.Value.Is("false", "no", "0") {
			return "remove"
		}
	}
	return ""
}

// javaTool is java -jar TOOL.jar: the client of a service is judged as a
// program of the archive's name.
func javaTool(c *shell.Call) {
	jar, ok := c.Opts.Get("-jar")
	base, known := jar.Base()
	if !ok || !known {
		c.Process()
		return
	}
	c.Process()
	c.Name = strings.TrimSuffix(strings.ToLower(base), ".jar")
	c.Opts = shell.ParseOptions(afterJar(c.Args), shell.Program{Values: " -s -auth -i -user -logger "})
	unlisted(c)
}

func afterJar(args []abstract.Arg) []abstract.Arg {
	for i, a := range args {
		if a.Is("-jar") {
			return args[min(i+2, len(args)):]
		}
	}
	return nil
}

// unlisted is a program of which nothing is known but what its words say. A
// noun and the verb of an end, as clients of services write them (flags delete
// beta, delete-job nightly), is worth a word; `remove x` alone is not, every
// package manager has it.
func unlisted(c *shell.Call) {
	words := c.Opts.Operands
	givesSecrets(c)
	verb, object, n := operationOf(c, words)
	if verb == "" || object == "" || c.Local() || n == 1 && !verbFirst(c, words[0].Text) {
		c.Process()
		return
	}
	if c.Opts.Has("--dry-run", "--dryrun") {
		c.Signal(engine.SignalDryRun)
		c.Process()
		return
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: verb, Object: object, Recursive: everything(c.Opts), Forced: unasked(c.Opts)},
		abstract.Word(c.Name))
}

// kafka's tools say by an option what they do.
func kafka(c *shell.Call) {
	if c.Opts.Exact("--delete") || c.Opts.Exact("--remove") || c.Opts.Exact("--delete-config") ||
		strings.Contains(c.Name, "delete-records") || c.Opts.Exact("--reset-offsets") && c.Opts.Exact("--execute") {
		ends(c, "delete", "topic", false, c.Opts.Has("--force"), abstract.Word("kafka"))
		return
	}
	c.Process()
}

// gh manages a repository on its platform.
func gh(c *shell.Call) {
	o := c.Opts
	group, op := o.Operand(0), o.Operand(1)
	c.Subs = append(subName(group), subName(op)...)
	host := abstract.Word("github")
	if c.Name == "glab" {
		host = abstract.Word("gitlab")
	}
	switch {
	case group.Is("api"):
		c.Subs = subName(group)
		ghAPI(c, o, host)
	case changed(c, platformChange(c, group, op), unasked(o), host):
	case group.Is("auth") && op.Is("token"):
		c.Signal(engine.SignalCredential)
		c.Fetches(host)
	case op.Is("delete", "delete-asset", "archive", "remove"):
		verb, _ := vocabulary(c).Ending(op.Text)
		ends(c, verb, operation.PlainNoun(operation.Singular(group.Text)), false, o.Has("-y", "--yes", "--confirm"), host)
	case group.Is("gist") && op.Is("create"), group.Is("release") && op.Is("create", "upload", "edit"), group.Is("repo") && op.Is("create", "rename", "edit", "sync"):
		if group.Is("repo") && !op.Is("create") {
			c.Sends("send", host)
			return
		}
		c.Signal(engine.SignalPublish)
		if group.Is("gist") {
			c.Reads(o.Operands[2:]...)
		}
		c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Egress: true, Reversible: engine.R5}, host)
	case op.Is("view", "list", "status", "diff", "checks", "watch", "download", "clone", "checkout", "ls", "get") || group.Is("search", "browse", "status", "version", "help", "auth", "config", "alias", "completion", "extension"):
		c.Fetches(host)
		c.Out.Taint &^= abstract.Fetched
		if group.Is("extension") && op.Is("install") {
			c.Signal(engine.SignalPackageInstall, engine.SignalPackageURL)
		}
	case group.Is("secret", "variable", "ssh-key", "gpg-key", "workflow", "ruleset", "run", "codespace"):
		if group.Is("codespace") && op.Is("ssh") {
			c.Sends("exec", host)
			return
		}
		c.Sends("send", host)
	default:
		c.Sends("send", host)
	}
}

// ghAPI is gh api: method, path and body say what it does.
func ghAPI(c *shell.Call, o shell.Options, host abstract.Arg) {
	r := request{method: "fetch"}
	fields := o.All("-f", "-F", "--field", "--raw-field")
	graph := o.Operand(1).Is("graphql")
	for _, f := range fields {
		name, value, _ := strings.Cut(f.Text, "=")
		if graph && name == "query" {
			if file, ok := strings.CutPrefix(value, "@"); ok {
				for _, text := range held(c, f.With(file)) {
					value = text.Text
				}
			}
			f = f.With(value)
			if !strings.Contains(value, "mutation") && f.Known() {
				continue // a question
			}
			r.body(f)
			continue
		}
		if !graph {
			r.body(abstract.UnknownArg())
			r.visibility(name, value)
		}
	}
	for _, f := range o.All("--input") {
		r.body(abstract.UnknownArg())
		r.bodies = append(r.bodies, held(c, f)...)
	}
	m, named := o.Get("-X", "--method")
	r.named(m, named)
	for _, h := range o.All("-H", "--header") {
		r.header(h)
	}
	verb, object := says(c, r, o.Operand(1))
	switch verb {
	case "fetch":
		c.Fetches(host)
		c.Out.Taint &^= abstract.Fetched
	case "send":
		if !changed(c, requestChange(r, o.Operand(1)), false, host) {
			c.Sends(verb, host)
		}
	default:
		if !graph {
			object = nounOfEndpoint(o.Operand(1).Text)
		}
		ends(c, verb, object, false, false, host)
	}
}
