package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// cloudPrograms are the tools that manage machines and services elsewhere.
func cloudPrograms(name string) program {
	switch name {
	case "terraform", "tofu", "terragrunt", "opentofu":
		return program{long: true, values: " -target -var -var-file -state -out -lock-timeout -parallelism ", run: terraform}
	case "pulumi", "cdk", "sam", "serverless", "sls", "sst", "copilot-cli", "cdktf", "ansible-playbook", "ansible", "packer", "vagrant":
		return program{values: " --require-approval -s --stack --stage --region -i -e --extra-vars -l --limit -t --tags --profile -m -a ", run: stacks}
	case "aws":
		return program{values: awsValues, run: aws}
	case "vault", "doppler", "consul", "nomad", "etcdctl", "rabbitmqctl", "rabbitmqadmin", "nats", "pulsar-admin", "confluent", "circleci", "buildkite", "travis", "gitlab-runner", "jenkins-cli",
		"sentry-cli", "datadog-ci", "newrelic", "pd", "grafana-cli", "splunk", "algolia", "ldcli", "flipt", "auth0", "okta", "twilio", "shopify", "fastly", "cfcli", "atlas", "mongocli", "deck", "apigeecli", "influx", "restic", "borg", "velero", "kopia", "duplicity":
		return program{values: " -a --address --namespace -n --server --context --project --config -s --stream -o --output --org --host --port --vhost -p -u -r --repo ", run: serviceTool}
	case "kafka-topics", "kafka-topics.sh", "kafka-configs", "kafka-configs.sh", "kafka-consumer-groups", "kafka-consumer-groups.sh", "kafka-acls", "kafka-acls.sh", "kafka-delete-records", "kafka-delete-records.sh":
		return program{run: kafka}
	case "gcloud", "az", "doctl", "flyctl", "fly", "heroku", "railway", "vercel", "netlify", "supabase", "wrangler", "firebase", "linode-cli", "hcloud", "oci", "ibmcloud", "scw", "exo", "civo", "render", "dokku", "cf", "eb", "amplify", "planetscale", "pscale", "neonctl", "turso", "stripe", "bq", "ossutil", "aliyun":
		return program{values: " -a --app --project --region --zone -g --resource-group --name -n --subscription --format --query -o --output --account --configuration -c --config --org --context --team --scope ", run: genericCloud}
	case "java":
		return program{long: true, first: true, values: " -jar -cp -classpath --class-path -p --module-path ", run: javaTool}
	case "gh", "glab", "hub":
		return program{values: ghValues, run: gh}
	}
	return program{}
}

const (
	awsValues = " --profile --region --output --query --endpoint-url --cli-input-json --bucket --key --filters --instance-ids --exclude --include --acl --sse --storage-class --body --cli-binary-format --payload --document-name --parameters --targets --secret-id --name --function-name --stack-name --table-name --db-instance-identifier --db-cluster-identifier --user-name --role-name --policy-arn --policy-document --group-id --volume-id --snapshot-id --hosted-zone-id --change-batch --policy --versioning-configuration --public-access-block-configuration --backup-retention-period --principal --statement-id --action --role --group-name "
	ghValues  = " -R --repo -b --body -F --body-file -t --title -B --base -H --head -l --label -a --assignee -r --reviewer -m --milestone -p --project --jq -q --json -L --limit -s --state -f --raw-field --field -X --method --template --hostname --notes -n --notes-file --target --input -d --description --homepage -e --env -o --org -w --workflow --ref --branch --search -S --author -c --comment --env-file "
)

// infra is a change of what runs elsewhere. A deletion is one of a thing whose
// kind is not known; ends says more.
func (c *call) infra(verb string, deletes, confirmed bool, target string) {
	if deletes {
		c.ends("delete", "", false, confirmed, word(target))
		return
	}
	if confirmed {
		c.signal(engine.SignalUnconfirmed)
	}
	c.emit(rawEffect{kind: engine.EffectNetwork, verb: verb, egress: true, forced: confirmed}, word(target))
}

// applies brings a stack to the state that its files describe. Confirmed: no
// person sees the plan before.
func (c *call) applies(confirmed bool) {
	if confirmed {
		c.signal(engine.SignalUnconfirmed)
	}
	c.emit(rawEffect{kind: engine.EffectNetwork, verb: "send", object: "stack", egress: true, forced: confirmed}, word(c.name))
}

// ends is the end of something at a service: of what kind it is, whether all
// that is in it or of its kind goes too, and whether nobody is asked before.
func (c *call) ends(verb, object string, all, confirmed bool, target arg) {
	if !loopback(hostOf(target.value())) {
		c.signal(engine.SignalInfraDelete)
	}
	if confirmed {
		c.signal(engine.SignalUnconfirmed)
	}
	c.emit(rawEffect{kind: engine.EffectNetwork, verb: verb, object: object, egress: true, recursive: all, forced: confirmed, reversible: engine.R5}, target)
}

func terraform(c *call) {
	o := c.opts
	sub := o.operand(0)
	if sub.is("run-all", "run", "--all") && len(o.operands) > 1 {
		sub = o.operands[1]
	}
	c.subs = subName(o.operand(0))
	confirmed := o.has("-auto-approve", "--auto-approve", "-force", "--terragrunt-non-interactive", "--non-interactive", "-lock=false")
	destroys := sub.is("destroy")
	for _, opt := range o.list {
		destroys = destroys || sub.is("apply") && strings.TrimLeft(opt.name, "-") == "destroy"
	}
	switch {
	case destroys:
		c.ends("delete", "stack", true, confirmed, word(c.name))
	case sub.is("apply"):
		c.applies(confirmed && c.operandBehind(sub).text == "")
	case sub.is("import", "taint", "untaint", "refresh"):
		c.infra("send", false, confirmed, c.name)
	case sub.is("state"), sub.is("workspace"):
		c.subs = append(c.subs, subName(o.operand(1))...)
		if o.operand(1).is("rm", "delete", "push", "replace-provider", "mv") {
			if o.operand(1).is("rm", "delete") {
				c.ends("delete", sub.text, false, confirmed, word(c.name))
				return
			}
			c.infra("send", false, confirmed, c.name)
		}
	case sub.is("force-unlock"):
		c.infra("send", false, confirmed, c.name)
	case sub.is("init", "get", "providers"):
		c.fetches(word(c.name))
		c.out.taint = 0
	case sub.is("plan", "show", "validate", "output", "version", "graph", "console", "test", "login"):
	default:
		c.process()
	}
}

// operandBehind is the operand that follows another one: the plan of apply PLAN.
func (c *call) operandBehind(a arg) arg {
	for i, o := range c.opts.operands {
		if o.is(a.text) {
			return c.opts.operand(i + 1)
		}
	}
	return arg{}
}

func stacks(c *call) {
	o := c.opts
	sub := o.operand(0)
	c.subs = subName(sub)
	confirmed := o.has("-y", "--yes", "--force", "-f", "--skip-preview", "--auto-approve")
	if o.has("--check", "--dry-run", "--noexecute") || sub.is("preview", "diff", "synth", "list", "ls", "stack", "validate", "status", "whoami", "version", "logs", "invoke", "local") && !o.operand(1).is("rm") {
		if o.has("--check", "--dry-run") {
			c.signal(engine.SignalDryRun)
		}
		return
	}
	switch {
	case sub.is("destroy", "remove", "delete", "down", "rm") || sub.is("stack") && o.operand(1).is("rm"):
		if c.name == "vagrant" {
			c.process()
			return
		}
		c.ends("delete", "stack", true, confirmed, word(c.name))
	case sub.is("up", "deploy", "update", "apply"):
		approval, _ := o.get("--require-approval")
		c.applies(confirmed || approval.is("never") || o.has("--no-confirm-changeset"))
	case sub.is("cancel", "import") || strings.HasPrefix(c.name, "ansible"):
		c.infra("send", false, confirmed, c.name)
		if code, ok := o.get("-a"); ok && c.name == "ansible" {
			if m, _ := o.get("-m"); m.is("shell", "command", "raw", "") {
				c.at(venue{wrapper: c.name, host: c.s.hostName("ssh", o.operand(0))}, func() { c.s.embed(code, c.name, false) })
			}
		}
	default:
		c.process()
	}
}

func readingVerb(op string) bool {
	for _, p := range []string{"list", "ls", "get", "describe", "show", "info", "status", "logs", "log", "version", "help", "whoami", "print", "view", "check", "search", "lookup", "read", "tail", "wait", "inspect", "export", "doctor", "open", "docs", "dev", "local", "sts", "head-object", "diff", "auth", "login"} {
		if op == p || strings.HasPrefix(op, p+"-") {
			return true
		}
	}
	return false
}

func aws(c *call) {
	o := c.opts
	service, op, host := o.operand(0), o.operand(1), c.awsHost()
	c.subs = append(subName(service), subName(op)...)
	if o.has("--dryrun", "--dry-run") {
		c.signal(engine.SignalDryRun)
		return
	}
	confirmed := o.has("--force", "--skip-final-snapshot", "--force-delete-without-recovery")
	switch {
	case service.is("s3"):
		c.awsCopy(o, op)
	case service.is("secretsmanager") && op.is("get-secret-value"), service.is("ssm") && op.hasPrefix("get-parameter"), op.is("get-session-token", "get-login-password", "create-access-key", "export-credentials"):
		c.signal(engine.SignalCredential)
		c.fetches(host)
		c.changed(c.awsChange(service, op), confirmed, host)
	case op.is("delete-public-access-block"):
		c.changed(change{"expose", "bucket"}, confirmed, host)
	case endsOf(op) != "":
		verb, object := endingVerb(op.text)
		c.ends(verb, object, o.has("--force-delete-without-recovery", "--delete-all-versions"), confirmed, host)
	case service.is("route53") && deletesInBatch(o):
		c.ends("delete", "record", false, confirmed, host)
	case !readingVerb(op.text) && service.text != "" && c.changed(c.awsChange(service, op), confirmed, host):
	case service.is("rds-data") && op.hasPrefix("execute"):
		c.infra("send", false, false, host.text)
		c.sqlOptions()
	case service.text == "" || service.is("configure", "help", "sts") || readingVerb(op.text) || op.is("filter-log-events", "batch-get-item", "scan", "query"):
		if service.is("configure") && (op.text == "" || op.is("set", "import")) {
			c.writes("write", concat(c.s.read("HOME"), word("/.aws/credentials")))
			return
		}
		c.fetches(host)
		c.out.taint &^= fetched
	default:
		c.infra("send", false, confirmed, host.text)
	}
}

func (c *call) awsCopy(o options, op arg) {
	operands, host := o.operands[min(2, len(o.operands)):], c.awsHost()
	switch {
	case op.is("rm", "rb"):
		object := "object"
		if op.is("rb") {
			object = "bucket"
		}
		c.ends("delete", object, o.has("--force", "--recursive"), o.has("--force"), host)
	case op.is("cp", "mv", "sync") && len(operands) > 1:
		from, to := operands[0], operands[1]
		if isURL(from) && host.is("aws") {
			c.fetches(from)
		} else if isURL(from) {
			c.fetches(host)
		} else {
			c.reads(from)
			if op.is("mv") {
				c.emit(rawEffect{kind: engine.EffectFileDelete, verb: "move", recursive: o.has("--recursive")}, from)
			}
		}
		if isURL(to) {
			if host.is("aws") {
				host = to
			}
			c.sends("send", host)
			if acl, ok := o.get("--acl"); ok && everybody("acl", acl) {
				c.changed(change{"expose", "object"}, false, host)
			}
			if o.has("--delete") {
				c.ends("delete", "object", true, false, c.awsHost())
			}
			return
		}
		c.emit(rawEffect{kind: engine.EffectFileWrite, verb: "write", recursive: true}, to)
		if o.has("--delete") {
			c.emit(rawEffect{kind: engine.EffectFileDelete, verb: "delete", recursive: true, contents: true}, to)
		}
	case op.is("ls", "presign"):
		c.fetches(host)
		c.out.taint &^= fetched
	default:
		c.infra("send", false, false, host.text)
	}
}

// awsHost is who is asked: aws, or what stands in for it on this machine.
func (c *call) awsHost() arg {
	host := word("aws")
	for _, at := range c.opts.all("--endpoint-url") { // the last one counts
		host = word("aws")
		if loopback(hostOf(at.value())) {
			host = at
		}
	}
	return host
}

func endsOf(op arg) string {
	verb, _ := endingVerb(op.text)
	return verb
}

// deletesInBatch tells whether a batch of changes holds a deletion.
func deletesInBatch(o options) bool {
	batch, _ := o.get("--change-batch")
	verb, _ := bodyVerb(batch.text)
	return verb == "delete"
}

// operation is what the words of a command line say that a tool ends, wherever
// the verb stands among the first of them: instances delete web, delete-db-instance
// shop, pg:reset. n is the number of words up to the verb.
func operation(words []arg) (verb, object string, n int) {
	for i, a := range words[:min(len(words), 4)] {
		if !a.known() || (readingVerb(a.text) || makingVerb(a.text)) && !thingToo(a.text, words[i+1:]) {
			return "", "", i + 1
		}
		if strings.ContainsAny(a.text, "/@=. ") || strings.Contains(a.text, "::") {
			continue // a name
		}
		if verb, object = endingVerb(a.text); verb == "" {
			continue
		}
		switch {
		case object != "":
		case i > 0:
			object = plainNoun(singular(words[i-1].text))
		case len(words) > 2: // delete volume 7
			object = plainNoun(singular(words[1].text))
		}
		return verb, object, i + 1
	}
	return "", "", 0
}

// thingToo tells whether a word that could be an operation names a thing here:
// auth disable, restore delete, log-analytics workspace delete.
func thingToo(word string, behind []arg) bool {
	first, _, several := strings.Cut(word, "-")
	if several && slices.Contains([]string{"log", "logs", "auth", "search", "dev", "status"}, first) {
		return true
	}
	return slices.Contains([]string{"auth", "restore", "log", "logs", "export"}, word) && len(behind) > 0 && endsOf(behind[0]) != ""
}

// makingVerb tells the operations behind which all words are names.
func makingVerb(op string) bool {
	switch op {
	case "create", "add", "new", "import", "extract", "mount", "restore", "init", "put", "set", "apply", "run", "build", "start", "enable", "install":
		return true
	}
	return false
}

// everything tells whether options say that all things of a kind are meant, or
// all that is in one.
func (o options) everything() bool {
	return o.has("--all", "--recursive", "--all-namespaces", "--purge", "--cascade", "--delete-contents", "--force-delete", "--all-versions") || o.exact("-r") || o.exact("-R")
}

func (o options) unasked() bool {
	return o.has("-y", "--yes", "-q", "--quiet", "-f", "--force", "--confirm", "--auto-confirm", "--auto-approve", "--assume-yes", "--no-prompt", "--non-interactive")
}

// genericCloud judges a tool by the verb among its operands, wherever it
// stands: gcloud compute instances delete, az group delete, fly apps destroy.
func genericCloud(c *call) {
	o := c.opts
	if o.has("--dry-run", "--validate-only") {
		c.signal(engine.SignalDryRun)
		return
	}
	verb, object, n := operation(o.operands)
	if n == 0 {
		n = min(len(o.operands), 4)
	}
	for _, a := range o.operands[:min(n, 3)] {
		c.subs = append(c.subs, a.show())
	}
	reads := n > 0 && readingVerb(o.operands[n-1].text)
	switch {
	case verb != "":
		c.ends(verb, object, o.everything(), o.unasked(), word(c.name))
		if o.operand(0).is("db") || strings.HasPrefix(o.operand(0).text, "pg:") {
			c.signal(engine.SignalDatabaseDrop)
		}
	case c.name == "gcloud" && o.operand(0).is("secrets") && o.operand(2).is("access"), o.operand(0).is("auth") && strings.Contains(o.operand(1).text, "token"), o.operand(0).is("keyvault"):
		c.signal(engine.SignalCredential)
		c.fetches(word(c.name))
	case c.name == "bq" && o.operand(0).is("query"), c.name == "turso" && o.operand(1).is("shell"):
		c.infra("send", false, false, c.name)
		c.sql(o.operands[len(o.operands)-1])
	case slices.Contains(moneyWords, singular(o.operand(0).text)) && makingVerb(o.operand(1).text):
		c.sendsObject("send", plainNoun(singular(o.operand(0).text)), word(c.name))
	case len(o.operands) == 0 && c.name != "vercel", reads:
		c.fetches(word(c.name))
		c.out.taint &^= fetched
	case c.changed(optionChanges(o.operands, c.args), o.unasked(), word(c.name)):
	default:
		c.infra("send", false, o.has("-y", "--yes", "--auto-confirm"), c.name)
	}
	c.sqlOptions()
}

// sqlOptions judges the SQL that an option carries: d1 execute --command, spanner
// execute-sql --sql, rds-data execute-statement --sql.
func (c *call) sqlOptions() {
	for _, name := range []string{"--sql", "--command", "--query-string", "--statement"} {
		for i, a := range c.args {
			if text, ok := strings.CutPrefix(a.text, name+"="); ok {
				c.sql(a.with(text))
			} else if a.is(name) && i+1 < len(c.args) {
				c.sql(c.args[i+1])
			}
		}
	}
}

// serviceTool is a tool of which only the deletions are worth a word.
func serviceTool(c *call) {
	if c.name == "vault" || c.name == "op" {
		secrets(c)
		return
	}
	if c.opts.has("--dry-run") {
		c.signal(engine.SignalDryRun)
		return
	}
	words := c.opts.operands
	c.subs = subName(c.opts.operand(0))
	verb, object, n := operation(words)
	if verb == "" && c.opts.operand(0).is("unregister", "uninstall") {
		verb, n = "remove", 1
	}
	if verb == "" {
		verb, n = optionVerb(c.opts), 1
	}
	if noun := sentNoun(c.opts.operand(0).text); verb == "" && noun != "" {
		c.sendsObject("send", noun, word(c.name))
		return
	}
	if verb == "" {
		c.process()
		return
	}
	for _, a := range words[min(1, len(words)):max(min(n, len(words)), min(1, len(words)))] {
		c.subs = append(c.subs, a.show())
	}
	c.ends(verb, object, c.opts.everything(), c.opts.unasked(), word(c.name))
}

// optionVerb is the end that an option asks for, where the subcommand names
// none: sync --delete, unlock --remove-all.
func optionVerb(o options) string {
	for _, opt := range o.list {
		first, _, _ := strings.Cut(strings.TrimLeft(opt.name, "-"), "-")
		if slices.Contains([]string{"delete", "remove", "purge", "prune"}, first) && !opt.value.is("false", "no", "0") {
			return "remove"
		}
	}
	return ""
}

// javaTool is java -jar TOOL.jar: the client of a service is judged as a
// program of the archive's name.
func javaTool(c *call) {
	jar, ok := c.opts.get("-jar")
	base, known := jar.base()
	if !ok || !known {
		c.process()
		return
	}
	c.process()
	c.name = strings.TrimSuffix(strings.ToLower(base), ".jar")
	c.opts = parseOptions(afterJar(c.args), program{values: " -s -auth -i -user -logger "})
	c.unlisted()
}

func afterJar(args []arg) []arg {
	for i, a := range args {
		if a.is("-jar") {
			return args[min(i+2, len(args)):]
		}
	}
	return nil
}

// unlisted is a program of which nothing is known but what its words say. A
// noun and the verb of an end, as clients of services write them (flags delete
// beta, delete-job nightly), is worth a word; `remove x` alone is not, every
// package manager has it.
func (c *call) unlisted() {
	words := c.opts.operands
	c.givesSecrets()
	verb, object, n := operation(words)
	if verb == "" || object == "" || c.local() || n == 1 && !verbFirst(words[0].text) {
		c.process()
		return
	}
	if c.opts.has("--dry-run", "--dryrun") {
		c.signal(engine.SignalDryRun)
		c.process()
		return
	}
	c.emit(rawEffect{kind: engine.EffectProcess, verb: verb, object: object, recursive: c.opts.everything(), forced: c.opts.unasked()}, word(c.name))
}

// kafka's tools say by an option what they do.
func kafka(c *call) {
	if c.opts.exact("--delete") || c.opts.exact("--remove") || c.opts.exact("--delete-config") || strings.Contains(c.name, "delete-records") || c.opts.exact("--reset-offsets") && c.opts.exact("--execute") {
		c.ends("delete", "topic", false, c.opts.has("--force"), word("kafka"))
		return
	}
	c.process()
}

// gh manages a repository on its platform.
func gh(c *call) {
	o := c.opts
	group, op := o.operand(0), o.operand(1)
	c.subs = append(subName(group), subName(op)...)
	host := word("github")
	if c.name == "glab" {
		host = word("gitlab")
	}
	switch {
	case group.is("api"):
		c.subs = subName(group)
		c.ghAPI(o, host)
	case c.changed(c.platformChange(group, op), o.unasked(), host):
	case group.is("auth") && op.is("token"):
		c.signal(engine.SignalCredential)
		c.fetches(host)
	case op.is("delete", "delete-asset", "archive", "remove"):
		verb, _ := endingVerb(op.text)
		c.ends(verb, plainNoun(singular(group.text)), false, o.has("-y", "--yes", "--confirm"), host)
	case group.is("gist") && op.is("create"), group.is("release") && op.is("create", "upload", "edit"), group.is("repo") && op.is("create", "rename", "edit", "sync"):
		if group.is("repo") && !op.is("create") {
			c.sends("send", host)
			return
		}
		c.signal(engine.SignalPublish)
		if group.is("gist") {
			c.reads(o.operands[2:]...)
		}
		c.emit(rawEffect{kind: engine.EffectNetwork, verb: "send", egress: true, reversible: engine.R5}, host)
	case op.is("view", "list", "status", "diff", "checks", "watch", "download", "clone", "checkout", "ls", "get") || group.is("search", "browse", "status", "version", "help", "auth", "config", "alias", "completion", "extension"):
		c.fetches(host)
		c.out.taint &^= fetched
		if group.is("extension") && op.is("install") {
			c.signal(engine.SignalPackageInstall, engine.SignalPackageURL)
		}
	case group.is("secret", "variable", "ssh-key", "gpg-key", "workflow", "ruleset", "run", "codespace"):
		if group.is("codespace") && op.is("ssh") {
			c.sends("exec", host)
			return
		}
		c.sends("send", host)
	default:
		c.sends("send", host)
	}
}

// ghAPI is gh api: method, path and body say what it does.
func (c *call) ghAPI(o options, host arg) {
	r := request{method: "fetch"}
	fields := o.all("-f", "-F", "--field", "--raw-field")
	graph := o.operand(1).is("graphql")
	for _, f := range fields {
		name, value, _ := strings.Cut(f.text, "=")
		if graph && name == "query" {
			if file, ok := strings.CutPrefix(value, "@"); ok {
				for _, text := range c.held(f.with(file)) {
					value = text.text
				}
			}
			f = f.with(value)
			if !strings.Contains(value, "mutation") && f.known() {
				continue // a question
			}
			r.body(f)
			continue
		}
		if !graph {
			r.body(unknownArg())
			r.visibility(name, value)
		}
	}
	for _, f := range o.all("--input") {
		r.body(unknownArg())
		r.bodies = append(r.bodies, c.held(f)...)
	}
	m, named := o.get("-X", "--method")
	r.named(m, named)
	for _, h := range o.all("-H", "--header") {
		r.header(h)
	}
	verb, object := c.says(r, o.operand(1))
	switch verb {
	case "fetch":
		c.fetches(host)
		c.out.taint &^= fetched
	case "send":
		if !c.changed(requestChange(r, o.operand(1)), false, host) {
			c.sends(verb, host)
		}
	default:
		if !graph {
			object = nounOfEndpoint(o.operand(1).text)
		}
		c.ends(verb, object, false, false, host)
	}
}

// nounOfEndpoint is what a path of a code platform is about: repos/ana/shop is
// a repository, and repos/ana/shop/issues/7 an issue.
func nounOfEndpoint(endpoint string) string {
	parts := strings.Split(strings.Trim(endpoint, "/"), "/")
	if parts[0] == "repos" && len(parts) > 3 {
		parts = parts[3:]
	}
	if parts[0] == "projects" && len(parts) > 2 {
		parts = parts[2:]
	}
	if last := parts[len(parts)-1]; last == "protection" {
		return last
	}
	return plainNoun(singular(parts[0]))
}

// verbFirst tells delete-job from watch-del.
func verbFirst(op string) bool {
	parts := nameParts(op)
	first, _ := endingVerb(parts[0])
	return len(parts) > 1 && first != ""
}
