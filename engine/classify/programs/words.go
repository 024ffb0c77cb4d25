package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// The lists of words by which the operations of services are read. They stand
// here together, as an organisation has words of its own.
var (
	// moneyWords and messageWords are nouns of what moves money and of what
	// reaches people, which nobody can take back: SentNoun, sentBy.
	moneyWords   = []string{"refund", "payout", "charge", "transfer", "payment", "payment_intent", "payment-intent"}
	messageWords = []string{"email", "mail", "message", "sms", "tweet", "dm"}

	// readingWords begin an operation that only shows something: readingVerb.
	readingWords = []string{"list", "ls", "get", "describe", "show", "info", "status", "logs", "log", "version", "help", "whoami", "print",
		"view", "check", "search", "lookup", "read", "tail", "wait", "inspect", "export", "doctor", "open", "docs", "dev", "local", "sts",
		"head-object", "diff", "auth", "login"}

	// makingWords are operations behind which all words are names: makingVerb.
	makingWords = []string{"create", "add", "new", "import", "extract", "mount", "restore", "init", "put", "set", "apply", "run", "build",
		"start", "enable", "install"}

	// changingWords are operations that change what is there: changingVerb.
	changingWords = []string{"update", "modify", "edit", "patch", "change", "deploy", "authorize", "attach", "allow", "put"}

	// thingWords could be operations, and name a thing where an end follows them,
	// thingStarts where they begin a longer word: thingToo.
	thingWords  = []string{"auth", "restore", "log", "logs", "export"}
	thingStarts = []string{"log", "logs", "auth", "search", "dev", "status"}

	// removingOptions begin the options that remove something: optionVerb.
	removingOptions = []string{"delete", "remove", "purge", "prune"}

	// everythingOptions say that all things of a kind are meant, or all that is in
	// one: everything, and recursive: usual in rows. unaskedOptions say that nobody
	// is asked before: unasked, and confirmed: usual in rows.
	everythingOptions = []string{"--all", "--recursive", "--all-namespaces", "--purge", "--cascade", "--delete-contents", "--force-delete",
		"--all-versions", "-r", "-R"}
	unaskedOptions = []string{"-y", "--yes", "-q", "--quiet", "-f", "--force", "--confirm", "--auto-confirm", "--auto-approve",
		"--assume-yes", "--no-prompt", "--non-interactive"}

	// protectingWords stand in the names of options that keep something from loss,
	// or record what is done to it: protects.
	protectingWords = []string{"protection", "backup", "backups", "versioning", "logging", "termination", "recovery"}

	// dataKinds are kinds of a cluster's things with which data or much else goes:
	// kubeDelete. kindNames are short names of kinds: kubeKind.
	dataKinds = []string{"namespace", "persistentvolume", "persistentvolumeclaim", "customresourcedefinition", "all", "node", "statefulset"}
	kindNames = map[string]string{
		"ns": "namespace", "pv": "persistentvolume", "pvc": "persistentvolumeclaim", "crd": "customresourcedefinition", "no": "node",
		"sts": "statefulset", "po": "pod", "deploy": "deployment", "svc": "service", "cm": "configmap", "ing": "ingress",
	}

	// entryNouns are what a path of a code platform ends in where somebody is let
	// in: platformPath.
	entryNouns = map[string]string{
		"collaborators": "collaborator", "keys": "deploy-key", "deploy_keys": "deploy-key", "hooks": "hook",
		"registration-token": "runner", "invitations": "invitation", "dns_records": "record", "rrsets": "record",
	}

	// environmentVariables name the environment that a project's own configuration
	// holds for: configured.
	environmentVariables = []string{"RAILS_ENV", "RACK_ENV", "NODE_ENV", "APP_ENV", "DJANGO_ENV", "FLASK_ENV", "MIX_ENV", "DATABASE_URL"}
)

func readingVerb(op string) bool {
	return slices.ContainsFunc(readingWords, func(w string) bool { return op == w || strings.HasPrefix(op, w+"-") })
}

func makingVerb(op string) bool { return slices.Contains(makingWords, op) }

func changingVerb(op string) bool { return slices.Contains(changingWords, op) }

func everything(o shell.Options) bool { return o.Has(everythingOptions...) }

func unasked(o shell.Options) bool { return o.Has(unaskedOptions...) }
