package classify

import (
	"encoding/json"
	"slices"
	"strings"
)

// Words of what moves money, and of what reaches people: the things that an
// operation which makes or sends them cannot take back.
var (
	moneyWords   = []string{"refund", "payout", "charge", "transfer", "payment", "payment_intent", "payment-intent"}
	messageWords = []string{"email", "mail", "message", "sms", "tweet", "dm"}
)

// sentNoun is what an operation's name says that it pays or sends to people:
// messages:create, create_refund, send_email. Empty: nothing of the kind.
func sentNoun(name string) string {
	parts := nameParts(name)
	does := slices.IndexFunc(parts, func(p string) bool { return makingVerb(p) || slices.Contains(sendWords, p) })
	for i, p := range parts {
		if noun := singular(p); does >= 0 && i != does && (slices.Contains(moneyWords, noun) || slices.Contains(messageWords, noun)) {
			return noun
		}
	}
	return ""
}

// platformChange is what an operation of a code platform does that its name
// alone does not say: it opens a repository to everybody, lets somebody in, or
// merges what nobody has approved.
func (c *call) platformChange(group, op arg) change {
	o := c.opts
	switch {
	case group.is("pr", "mr") && op.is("merge") && o.has("--admin"):
		return change{"grant", "merge-without-review"}
	case group.is("repo") && o.operand(1).is("deploy-key") && o.operand(2).is("add"):
		return change{"grant", "deploy-key"}
	case group.is("ssh-key", "gpg-key", "deploy-key") && op.is("add"):
		return change{"grant", group.text}
	case group.is("repo") && op.is("edit", "update"):
		return optionChanges([]arg{group, op}, c.args)
	}
	return change{}
}

// entryNouns are what a path of a platform ends in where somebody is let in.
var entryNouns = map[string]string{
	"collaborators": "collaborator", "keys": "deploy-key", "deploy_keys": "deploy-key", "hooks": "hook",
	"registration-token": "runner", "invitations": "invitation", "dns_records": "record", "rrsets": "record",
}

// requestChange is what path and body of a request change that ends nothing.
func requestChange(r request, u arg) change {
	path := strings.Trim(u.text, "/")
	if schemeLength(u.text) > 0 {
		path = urlPath(u.text)
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if s == "repos" || s == "projects" || s == "orgs" || s == "zones" {
			return platformPath(segments[i:], r.bodies)
		}
	}
	return change{}
}

// platformPath is what lies below a repository, a project or a zone.
func platformPath(segments []string, bodies []arg) change {
	for _, s := range segments[1:] {
		switch noun := entryNouns[s]; {
		case noun == "record":
			return change{"send", noun}
		case noun != "":
			return change{"grant", noun}
		case s == "protection" || s == "rulesets":
			return change{"change", singular(s)}
		}
	}
	for _, b := range bodies {
		if opensRepository(b.text) {
			return change{"expose", "repository"}
		}
	}
	return change{}
}

// opensRepository tells whether a body makes a repository public.
func opensRepository(body string) bool {
	var doc struct{ Private, Visibility any }
	return json.Unmarshal([]byte(body), &doc) == nil && (doc.Visibility == "public" || doc.Private == false || doc.Private == "false")
}

// visibility is the field of a request that says who sees a repository.
func (r *request) visibility(name, value string) {
	if name == "private" || name == "visibility" {
		r.field(name, word(value))
	}
}
