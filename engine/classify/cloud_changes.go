package classify

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// change is what an operation does to something elsewhere that does not end:
// it opens it to everybody (expose), gives somebody rights (grant), switches off
// what protects it or records what is done to it (disable), or sets a record of
// names (send). The object says what, or which right.
type change struct{ verb, object string }

// optionChanges is what the words and options of a command line say, whichever
// cloud they are for. Empty: nothing that is known.
func optionChanges(words, args []arg) change {
	for i, a := range args {
		name, value, has := strings.Cut(a.text, "=")
		if !strings.HasPrefix(name, "--") {
			continue
		}
		v := a.with(value)
		if !has && i+1 < len(args) && !args[i+1].hasPrefix("-") {
			v = args[i+1]
		}
		if ch := optionChange(name[2:], v, words); ch.verb != "" {
			return ch
		}
	}
	if about(words, "dns", "route53", "record", "record-sets") && makes(words) {
		return change{"send", "record"}
	}
	return change{}
}

// optionChange is what one option says of the thing that the words name.
func optionChange(name string, v arg, words []arg) change {
	off, negated := strings.CutPrefix(name, "no-")
	switch {
	case everybody(name, v):
		return change{"expose", thingOf(words)}
	case slices.Contains([]string{"role", "policy-arn", "clusterrole", "group-name"}, name) &&
		about(words, "iam", "role", "clusterrolebinding", "rolebinding"):
		return change{"grant", rightName(v.text)}
	case negated && protects(off) || protects(name) && switchedOff(v.text):
		return change{"disable", protectionName(off)}
	case name == "backup-retention-period" && v.is("0"):
		return change{"disable", "backup"}
	}
	return change{}
}

// everybody tells whether an option opens something to all: an access list, a
// member, a range of addresses, a document of rights, a switch of its own.
func everybody(name string, v arg) bool {
	text := strings.ToLower(v.text)
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
	for _, part := range nameParts(name) {
		if slices.Contains([]string{"protection", "backup", "backups", "versioning", "logging", "termination", "recovery"}, part) {
			return true
		}
	}
	return false
}

// switchedOff tells a value by which an option says no.
func switchedOff(text string) bool {
	text = strings.ToLower(text)
	return slices.Contains([]string{"off", "false", "none", "disabled"}, text) ||
		strings.Contains(text, "suspended") || strings.Contains(text, "enabled=false")
}

func protectionName(option string) string {
	option = strings.TrimPrefix(option, "enable-")
	return plainNoun(strings.TrimSuffix(strings.TrimSuffix(option, "-configuration"), "-specification"))
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
func thingOf(words []arg) string {
	for i, a := range words[:min(len(words), 4)] {
		parts := nameParts(a.text)
		if len(parts) == 0 || !makingVerb(parts[0]) && !changingVerb(parts[0]) {
			continue
		}
		if len(parts) > 1 {
			return plainNoun(singular(strings.Join(parts[1:], "-")))
		}
		if i > 0 {
			return plainNoun(singular(words[i-1].text))
		}
	}
	return ""
}

func changingVerb(op string) bool {
	return slices.Contains([]string{"update", "modify", "edit", "patch", "change", "deploy", "authorize", "attach", "allow", "put"}, op)
}

// makes tells whether the first words make or change something.
func makes(words []arg) bool {
	for _, a := range words[:min(len(words), 4)] {
		for _, part := range nameParts(a.text) {
			if makingVerb(part) || changingVerb(part) {
				return true
			}
		}
	}
	return false
}

// about tells whether one of the first words is one of the names, or has it as
// a part: add-iam-policy-binding.
func about(words []arg, names ...string) bool {
	for _, a := range words[:min(len(words), 4)] {
		for _, n := range names {
			if a.is(n) || strings.Contains("-"+a.text+"-", "-"+n+"-") {
				return true
			}
		}
	}
	return false
}

// changed adds the effect of a change; false: none is known.
func (c *call) changed(ch change, confirmed bool, host arg) bool {
	switch {
	case ch.verb == "":
		return false
	case ch.verb == "disable":
		c.ends(ch.verb, ch.object, false, confirmed, host)
		return true
	case confirmed:
		c.signal(engine.SignalUnconfirmed)
	}
	c.emit(rawEffect{kind: engine.EffectNetwork, verb: ch.verb, object: ch.object, egress: true, forced: confirmed}, host)
	return true
}

// awsChange is what an operation of AWS changes: by its name, by a document
// that it is given, or by its options.
func (c *call) awsChange(service, op arg) change {
	noun := plainNoun(op.text[strings.IndexByte(op.text, '-')+1:])
	switch {
	case op.is("create-access-key", "create-login-profile", "update-login-profile", "update-assume-role-policy"):
		return change{"grant", noun}
	case op.is("stop-logging", "stop-configuration-recorder"):
		return change{"disable", noun}
	case op.hasPrefix("modify-") && strings.HasSuffix(op.text, "-attribute") && c.sharedWithAll():
		return change{"expose", noun}
	}
	for _, doc := range c.documents() {
		if right := documentRight(doc); right != "" {
			if right == "everybody" {
				return change{"expose", noun}
			}
			return change{"grant", right}
		}
	}
	return optionChanges([]arg{service, op}, c.args)
}

// sharedWithAll tells whether a snapshot or an image is shared with everybody.
func (c *call) sharedWithAll() bool {
	for i, a := range c.args[:max(len(c.args)-1, 0)] {
		v := c.args[i+1]
		if a.is("--group-names", "--values-to-add", "--user-ids") && v.is("all") || a.is("--launch-permission", "--create-volume-permission") && strings.Contains(v.text, "Add") && strings.Contains(v.text, "all") {
			return true
		}
	}
	return false
}

// documents are the documents of rights that options give: as a text, or as
// the name of a file.
func (c *call) documents() []string {
	var out []string
	for _, name := range []string{"--policy", "--policy-document"} {
		v, ok := c.opts.get(name)
		if !ok {
			continue
		}
		if path, isFile := strings.CutPrefix(v.text, "file://"); isFile {
			for _, text := range c.held(v.with(path)) {
				out = append(out, text.text)
			}
			continue
		}
		out = append(out, v.text)
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
