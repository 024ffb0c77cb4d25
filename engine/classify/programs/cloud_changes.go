package programs

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// change is what an operation does to something elsewhere that does not end:
// it opens it to everybody (expose), gives somebody rights (grant), switches off
// what protects it or records what is done to it (disable), or sets a record of
// names (send). The object says what, or which right.
type change struct{ verb, object string }

// optionChanges is what the words and options of a command line say, whichever
// cloud they are for. Empty: nothing that is known.
func optionChanges(c *shell.Call, words, args []abstract.Arg) change {
	for i, a := range args {
		name, value, has := strings.Cut(a.Text, "=")
		if !strings.HasPrefix(name, "--") {
			continue
		}
		v := a.With(value)
		if !has && i+1 < len(args) && !args[i+1].HasPrefix("-") {
			v = args[i+1]
		}
		if ch := optionChange(vocabulary(c), name[2:], v, words); ch.verb != "" {
			return ch
		}
	}
	if about(words, "dns", "route53", "record", "record-sets") && makes(vocabulary(c), words) {
		return change{"send", "record"}
	}
	return change{}
}

// optionChange is what one option says of the thing that the words name.
func optionChange(w *operation.Words, name string, v abstract.Arg, words []abstract.Arg) change {
	off, negated := strings.CutPrefix(name, "no-")
	switch {
	case everybody(name, v):
		return change{"expose", thingOf(w, words)}
	case slices.Contains([]string{"role", "policy-arn", "clusterrole", "group-name"}, name) &&
		about(words, "iam", "role", "clusterrolebinding", "rolebinding"):
		return change{"grant", rightName(v.Text)}
	case negated && protects(off) || protects(name) && switchedOff(v.Text):
		return change{"disable", protectionName(off)}
	case name == "backup-retention-period" && v.Is("0"):
		return change{"disable", "backup"}
	}
	return change{}
}

// everybody tells whether an option opens something to all: an access list, a
// member, a range of addresses, a document of rights, a switch of its own.
func everybody(name string, v abstract.Arg) bool {
	text := strings.ToLower(v.Text)
	switch name {
	case "acl", "predefined-acl", "canned-acl":
		return strings.HasPrefix(text, "public") || text == "authenticated-read"
	case "member", "principal", "grant-read", "grant-write", "grant-full-control":
		return text == "*" || strings.HasSuffix(text, "allusers") || strings.HasSuffix(text, "allauthenticatedusers")
	case "cidr", "cidr-ip", "source-ranges", "source-address-prefixes", "source-address-prefix", "authorized-networks", "ip-permissions":
		return text == "*" || text == "internet" || strings.Contains(text, "0.0.0.0/0") || strings.Contains(text, "::/0")
	case "public-access-block-configuration":
		return strings.Contains(text, "false")
	case "auth-type":
		return text == "none"
	case "public-access":
		return text == "blob" || text == "container"
	case "visibility":
		return text == "public"
	case "publicly-accessible", "allow-unauthenticated", "allow-blob-public-access":
		return !switchedOff(text)
	}
	return false
}

// protects tells the options that keep something from loss, or record what is
// done to it.
func protects(name string) bool {
	return slices.ContainsFunc(operation.NameParts(name), func(part string) bool {
		return slices.Contains([]string{"protection", "backup", "backups", "versioning", "logging", "termination", "recovery"}, part)
	})
}

// switchedOff tells a value by which an option says no.
func switchedOff(text string) bool {
	text = strings.ToLower(text)
	return slices.Contains([]string{"off", "false", "none", "disabled"}, text) ||
		strings.Contains(text, "suspended") || strings.Contains(text, "enabled=false")
}

func protectionName(option string) string {
	option = strings.TrimPrefix(option, "enable-")
	return operation.PlainNoun(strings.TrimSuffix(strings.TrimSuffix(option, "-configuration"), "-specification"))
}

// rightName is the last part of the name of a role or a policy, or nothing
// where it is not known.
func rightName(name string) string {
	name = strings.ToLower(name[strings.LastIndexAny(name, "/:")+1:])
	name = strings.NewReplacer(".", "-", " ", "-").Replace(name)
	if len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return ""
	}
	return name
}

// thingOf is the kind of thing that the words of a command line are about: the
// word before the operation, or what the operation's own name holds.
func thingOf(w *operation.Words, words []abstract.Arg) string {
	for i, a := range words[:min(len(words), 4)] {
		parts := operation.NameParts(a.Text)
		if len(parts) == 0 || !w.Makes(parts[0]) && !w.Changes(parts[0]) {
			continue
		}
		if len(parts) > 1 {
			return operation.PlainNoun(operation.Singular(strings.Join(parts[1:], "-")))
		}
		if i > 0 {
			return operation.PlainNoun(operation.Singular(words[i-1].Text))
		}
	}
	return ""
}

// makes tells whether the first words make or change something.
func makes(w *operation.Words, words []abstract.Arg) bool {
	for _, a := range words[:min(len(words), 4)] {
		for _, part := range operation.NameParts(a.Text) {
			if w.Makes(part) || w.Changes(part) {
				return true
			}
		}
	}
	return false
}

// about tells whether one of the first words is one of the names, or has it as
// a part: add-iam-policy-binding.
func about(words []abstract.Arg, names ...string) bool {
	for _, a := range words[:min(len(words), 4)] {
		for _, n := range names {
			if a.Is(n) || strings.Contains("-"+a.Text+"-", "-"+n+"-") {
				return true
			}
		}
	}
	return false
}

// changed adds the effect of a change; false: none is known.
func changed(c *shell.Call, ch change, confirmed bool, host abstract.Arg) bool {
	switch {
	case ch.verb == "":
		return false
	case ch.verb == "disable":
		ends(c, ch.verb, ch.object, false, confirmed, host)
		return true
	case confirmed:
		c.Signal(engine.SignalUnconfirmed)
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: ch.verb, Object: ch.object, Egress: true, Forced: confirmed}, host)
	return true
}

// awsChange is what an operation of AWS changes: by its name, by a document
// that it is given, or by its options.
func awsChange(c *shell.Call, service, op abstract.Arg) change {
	noun := operation.PlainNoun(op.Text[strings.IndexByte(op.Text, '-')+1:])
	switch {
	case op.Is("create-access-key", "create-login-profile", "update-login-profile", "update-assume-role-policy"):
		return change{"grant", noun}
	case op.Is("stop-logging", "stop-configuration-recorder"):
		return change{"disable", noun}
	case op.HasPrefix("modify-") && strings.HasSuffix(op.Text, "-attribute") && sharedWithAll(c):
		return change{"expose", noun}
	}
	for _, doc := range documents(c) {
		if right := documentRight(doc); right != "" {
			if right == "everybody" {
				return change{"expose", noun}
			}
			return change{"grant", right}
		}
	}
	return optionChanges(c, []abstract.Arg{service, op}, c.Args)
}

// sharedWithAll tells whether a snapshot or an image is shared with everybody.
func sharedWithAll(c *shell.Call) bool {
	for i, a := range c.Args[:max(len(c.Args)-1, 0)] {
		v := c.Args[i+1]
		if a.Is("--group-names", "--values-to-add", "--user-ids") && v.Is("all") || a.Is("--launch-permission", "--create-volume-permission") &&
			strings.Contains(v.Text, "Add") && strings.Contains(v.Text, "all") {
			return true
		}
	}
	return false
}

// documents are the documents of rights that options give: as a text, or as
// the name of a file.
func documents(c *shell.Call) []string {
	var out []string
	for _, name := range []string{"--policy", "--policy-document"} {
		v, ok := c.Opts.Get(name)
		if !ok {
			continue
		}
		if path, isFile := strings.CutPrefix(v.Text, "file://"); isFile {
			for _, text := range held(c, v.With(path)) {
				out = append(out, text.Text)
			}
			continue
		}
		out = append(out, v.Text)
	}
	return out
}

// documentRight is what a document of rights allows without a condition:
// everybody something, somebody everything, or nothing worth a word.
func documentRight(text string) string {
	var doc struct{ Statement json.RawMessage }
	if json.Unmarshal([]byte(text), &doc) != nil {
		return ""
	}
	type statement struct {
		Effect                       string
		Principal, Action, Condition any
	}
	var list []statement
	if json.Unmarshal(doc.Statement, &list) != nil {
		list = make([]statement, 1)
		if json.Unmarshal(doc.Statement, &list[0]) != nil {
			return ""
		}
	}
	for _, st := range list {
		who, _ := st.Principal.(map[string]any)
		switch {
		case st.Effect != "Allow" || st.Condition != nil:
		case holdsStar(st.Principal) || holdsStar(who["AWS"]):
			return "everybody"
		case holdsStar(st.Action):
			return "everything"
		}
	}
	return ""
}

// holdsStar tells whether a member is *, or a list that holds it.
func holdsStar(v any) bool {
	list, _ := v.([]any)
	for _, item := range list {
		if item == "*" {
			return true
		}
	}
	return v == "*"
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
	return operation.PlainNoun(operation.Singular(parts[0]))
}

// verbFirst tells delete-job from watch-del.
func verbFirst(c *shell.Call, op string) bool {
	parts := operation.NameParts(op)
	first, _ := vocabulary(c).Ending(parts[0])
	return len(parts) > 1 && first != ""
}
