package classify

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// cloudPrograms are the tools that manage machines and services elsewhere.
func cloudPrograms(name string) program {
	switch name {
	case "terraform", "tofu", "terragrunt", "opentofu":
		return program{long: true, values: " -target -var -var-file -state -out -lock-timeout -parallelism ", run: terraform}
	case "pulumi", "cdk", "sam", "serverless", "sls", "sst", "copilot-cli", "cdktf", "ansible-playbook", "ansible", "packer", "vagrant":
		return program{values: " -s --stack --stage --region -i -e --extra-vars -l --limit -t --tags --profile -m -a ", run: stacks}
	case "aws":
		return program{values: awsValues, run: aws}
	case "vault", "doppler", "consul", "nomad", "etcdctl", "rabbitmqctl", "rabbitmqadmin", "nats", "pulsar-admin", "confluent", "circleci", "buildkite", "travis", "gitlab-runner", "jenkins-cli",
		"sentry-cli", "datadog-ci", "newrelic", "pd", "grafana-cli", "splunk", "algolia", "ldcli", "flipt", "auth0", "okta", "twilio", "shopify", "fastly", "cfcli", "atlas", "mongocli", "deck", "apigeecli", "influx", "restic", "borg", "velero", "kopia", "duplicity":
		return program{values: " -a --address --namespace -n --server --context --project --config -s --stream -o --output --org --host --port --vhost -p -u -r --repo ", run: serviceTool}
	case "kafka-topics", "kafka-topics.sh", "kafka-configs", "kafka-configs.sh", "kafka-consumer-groups", "kafka-consumer-groups.sh", "kafka-acls", "kafka-acls.sh", "kafka-delete-records", "kafka-delete-records.sh":
		return program{run: kafka}
	case "gcloud", "az", "doctl", "flyctl", "fly", "heroku", "railway", "vercel", "netlify", "supabase", "wrangler", "firebase", "linode-cli", "hcloud", "oci", "ibmcloud", "scw", "exo", "civo", "render", "dokku", "cf", "eb", "amplify", "planetscale", "pscale", "neonctl", "turso", "stripe", "bq", "ossutil", "aliyun":
		return program{values: " -a --app --project --region --zone -g --resource-group --name -n --subscription --format --query -o --output --account --configuration -c --config --org --context --team --scope ", run: genericCloud}
	case "gh", "glab", "hub":
		return program{values: ghValues, run: gh}
	}
	return program{}
}

const (
	awsValues = " --profile --region --output --query --endpoint-url --cli-input-json --bucket --key --filters --instance-ids --exclude --include --acl --sse --storage-class --body --cli-binary-format --payload --document-name --parameters --targets --secret-id --name --function-name --stack-name --table-name --db-instance-identifier --db-cluster-identifier --user-name --role-name --policy-arn --policy-document --group-id --volume-id --snapshot-id --hosted-zone-id --change-batch "
	ghValues  = " -R --repo -b --body -F --body-file -t --title -B --base -H --head -l --label -a --assignee -r --reviewer -m --milestone -p --project --jq -q --json -L --limit -s --state -f --raw-field --field -X --method --template --hostname --notes -n --notes-file --target --input -d --description --homepage -e --env -o --org -w --workflow --ref --branch --search -S --author -c --comment --env-file "
)

// infra is a change of what runs elsewhere.
func (c *call) infra(verb string, deletes, confirmed bool, target string) {
	if deletes {
		c.signal(engine.SignalInfraDelete)
		if confirmed {
			c.signal(engine.SignalUnconfirmed)
		}
		c.emit(rawEffect{kind: engine.EffectNetwork, verb: "delete", egress: true, recursive: true, forced: confirmed, reversible: engine.R5}, word(target))
		return
	}
	if confirmed {
		c.signal(engine.SignalUnconfirmed)
	}
	c.emit(rawEffect{kind: engine.EffectNetwork, verb: verb, egress: true, forced: confirmed}, word(target))
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
		c.infra("delete", true, confirmed, c.name)
	case sub.is("apply", "import", "taint", "untaint", "refresh"):
		c.infra("send", false, confirmed, c.name)
	case sub.is("state"), sub.is("workspace"):
		c.subs = append(c.subs, subName(o.operand(1))...)
		if o.operand(1).is("rm", "delete", "push", "replace-provider", "mv") {
			c.infra("delete", o.operand(1).is("rm", "delete"), confirmed, c.name)
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
		c.infra("delete", true, confirmed, c.name)
	case sub.is("up", "deploy", "update", "apply", "cancel", "import") || strings.HasPrefix(c.name, "ansible"):
		c.infra("send", false, confirmed || o.operand(1).is("--require-approval=never"), c.name)
		if code, ok := o.get("-a"); ok && c.name == "ansible" {
			if m, _ := o.get("-m"); m.is("shell", "command", "raw", "") {
				c.elsewhere("ansible", func() { c.s.embed(code, "ansible", false) })
			}
		}
	default:
		c.process()
	}
}

// destructiveVerb tells whether an operation's name means that something ends.
func destructiveVerb(op string) bool {
	for _, part := range strings.FieldsFunc(op, func(r rune) bool { return r == '-' || r == ':' || r == '_' || r == '.' }) {
		switch part {
		case "delete", "destroy", "terminate", "purge", "remove", "rm", "rb", "reset", "prune", "deregister", "drop", "wipe", "erase", "del", "unlink", "decommission", "schedule":
			return part != "schedule" || strings.Contains(op, "deletion")
		}
	}
	return false
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
	service, op := o.operand(0), o.operand(1)
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
		c.fetches(word("aws"))
	case service.is("ssm") && op.is("send-command"):
		c.sends("exec", word("aws"))
		if p, ok := o.get("--parameters"); ok {
			_, code, _ := strings.Cut(p.text, "=")
			c.elsewhere("aws", func() { c.s.embed(p.with(strings.Trim(code, `[]"'`)), "ssm", false) })
		}
	case destructiveVerb(op.text):
		c.infra("delete", true, confirmed, "aws")
	case service.text == "" || service.is("configure", "help", "sts") || readingVerb(op.text) || op.is("filter-log-events", "batch-get-item", "scan", "query"):
		if service.is("configure") && (op.text == "" || op.is("set", "import")) {
			c.writes("write", concat(c.s.read("HOME"), word("/.aws/credentials")))
			return
		}
		c.fetches(word("aws"))
		c.out.taint &^= fetched
	default:
		c.infra("send", false, confirmed, "aws")
	}
}

func (c *call) awsCopy(o options, op arg) {
	operands := o.operands[min(2, len(o.operands)):]
	switch {
	case op.is("rm", "rb"):
		c.infra("delete", true, o.has("--force"), "aws")
	case op.is("cp", "mv", "sync") && len(operands) > 1:
		from, to := operands[0], operands[1]
		if isURL(from) {
			c.fetches(from)
		} else {
			c.reads(from)
			if op.is("mv") {
				c.emit(rawEffect{kind: engine.EffectFileDelete, verb: "move", recursive: o.has("--recursive")}, from)
			}
		}
		if isURL(to) {
			c.sends("send", to)
			if o.has("--delete") {
				c.infra("delete", true, false, "aws")
			}
			return
		}
		c.emit(rawEffect{kind: engine.EffectFileWrite, verb: "write", recursive: true}, to)
		if o.has("--delete") {
			c.emit(rawEffect{kind: engine.EffectFileDelete, verb: "delete", recursive: true, contents: true}, to)
		}
	case op.is("ls", "presign"):
		c.fetches(word("aws"))
		c.out.taint &^= fetched
	default:
		c.infra("send", false, false, "aws")
	}
}

// genericCloud judges a tool by the verb among its operands, wherever it
// stands: gcloud compute instances delete, az group delete, fly apps destroy.
func genericCloud(c *call) {
	o := c.opts
	if o.has("--dry-run", "--validate-only") {
		c.signal(engine.SignalDryRun)
		return
	}
	confirmed := o.has("-y", "--yes", "-q", "--quiet", "-f", "--force", "--confirm", "--auto-confirm")
	n := min(len(o.operands), 4)
	deletes, reads := false, true
	for i, a := range o.operands[:n] {
		if destructiveVerb(a.text) && (i > 0 || len(o.operands) <= 2 || c.name != "gcloud") {
			deletes = true
			n = i + 1
			break
		}
		if readingVerb(a.text) {
			n = i + 1
			break
		}
		reads = i+1 < n
	}
	for _, a := range o.operands[:min(n, 3)] {
		c.subs = append(c.subs, a.show())
	}
	switch {
	case deletes:
		c.infra("delete", true, confirmed, c.name)
		if o.operand(0).is("db") || strings.HasPrefix(o.operand(0).text, "pg:") {
			c.signal(engine.SignalDatabaseDrop)
		}
	case c.name == "gcloud" && o.operand(0).is("secrets") && o.operand(2).is("access"), o.operand(0).is("auth") && strings.Contains(o.operand(1).text, "token"), o.operand(0).is("keyvault"):
		c.signal(engine.SignalCredential)
		c.fetches(word(c.name))
	case len(o.operands) == 0 && c.name != "vercel", reads:
		c.fetches(word(c.name))
		c.out.taint &^= fetched
	default:
		c.infra("send", false, o.has("-y", "--yes", "--auto-confirm"), c.name)
	}
}

// serviceTool is a tool of which only the deletions are worth a word.
func serviceTool(c *call) {
	if c.name == "vault" || c.name == "op" {
		secrets(c)
		return
	}
	c.subs = subName(c.opts.operand(0))
	for i, a := range c.opts.operands {
		if i < 4 && (destructiveVerb(a.text) || a.is("unregister", "clear", "forget")) {
			c.infra("delete", true, c.opts.has("-y", "--yes", "-f", "--force"), c.name)
			return
		}
	}
	c.process()
}

// kafka's tools say by an option what they do.
func kafka(c *call) {
	if c.opts.exact("--delete") || c.opts.exact("--remove") || strings.Contains(c.name, "delete-records") || c.opts.exact("--reset-offsets") && c.opts.exact("--execute") {
		c.infra("delete", true, c.opts.has("--force"), "kafka")
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
	case group.is("auth") && op.is("token"):
		c.signal(engine.SignalCredential)
		c.fetches(host)
	case op.is("delete", "delete-asset", "archive", "remove"):
		c.infra("delete", true, o.has("-y", "--yes", "--confirm"), host.text)
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
	case group.is("pr") && op.is("merge") && o.has("--admin"):
		c.signal(engine.SignalUnconfirmed)
		c.sends("send", host)
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

// ghAPI is gh api: method and body say what it does.
func (c *call) ghAPI(o options, host arg) {
	method := "fetch"
	if o.has("-f", "-F", "--field", "--raw-field", "--input") {
		method = "send"
	}
	if m, ok := o.get("-X", "--method"); ok {
		method = httpVerb(m.text)
	}
	deletes := method == "delete"
	for _, f := range o.all("-f", "-F", "--field", "--raw-field") {
		if strings.HasPrefix(f.text, "query=") {
			deletes = deletes || deletesByGraph(f.text)
			if !strings.Contains(f.text, "mutation") {
				method = "fetch"
			}
		}
	}
	switch {
	case deletes:
		c.infra("delete", true, false, host.text)
	case method == "fetch":
		c.fetches(host)
		c.out.taint &^= fetched
	default:
		c.sends(method, host)
	}
}

// deletesByGraph tells whether a GraphQL text holds a mutation whose field is
// named after an end: volumeDelete, deleteRef.
func deletesByGraph(text string) bool {
	tokens := tokenize(text, syntaxNode)
	mutation := false
	for _, t := range tokens {
		if t.kind != tokenName {
			continue
		}
		mutation = mutation || t.text == "mutation"
		lower := strings.ToLower(t.text)
		for _, verb := range []string{"delete", "destroy", "remove", "purge", "terminate"} {
			if mutation && (strings.HasPrefix(lower, verb) || strings.HasSuffix(lower, verb)) {
				return true
			}
		}
	}
	return false
}
