package programs

import (
	"encoding/json"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// vocabulary is the words by which the policy reads the names of operations.
func vocabulary(c *shell.Call) *operation.Words { return operation.WordsOf(c.Shell.In.Rows) }

// platformChange is what an operation of a code platform does that its name
// alone does not say: it opens a repository to everybody, lets somebody in, or
// merges what nobody has approved.
func platformChange(c *shell.Call, group, op abstract.Arg) change {
	o := c.Opts
	switch {
	case group.Is("pr", "mr") && op.Is("merge") && o.Has("--admin"):
		return change{"grant", "merge-without-review"}
	case group.Is("repo") && o.Operand(1).Is("deploy-key") && o.Operand(2).Is("add"):
		return change{"grant", "deploy-key"}
	case group.Is("ssh-key", "gpg-key", "deploy-key") && op.Is("add"):
		return change{"grant", group.Text}
	case group.Is("repo") && op.Is("edit", "update"):
		return optionChanges(c, []abstract.Arg{group, op}, c.Args)
	}
	return change{}
}

// entryNouns are what a path of a platform ends in where somebody is let in.
var entryNouns = map[string]string{
	"collaborators": "collaborator", "keys": "deploy-key", "deploy_keys": "deploy-key", "hooks": "hook",
	"registration-token": "runner", "invitations": "invitation", "dns_records": "record", "rrsets": "record",
}

// requestChange is what path and body of a request change that ends nothing.
func requestChange(r request, u abstract.Arg) change {
	path := strings.Trim(u.Text, "/")
	if operation.SchemeLength(u.Text) > 0 {
		path = operation.URLPath(u.Text)
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
func platformPath(segments []string, bodies []abstract.Arg) change {
	for _, s := range segments[1:] {
		switch noun := entryNouns[s]; {
		case noun == "record":
			return change{"send", noun}
		case noun != "":
			return change{"grant", noun}
		case s == "protection" || s == "rulesets":
			return change{"change", operation.Singular(s)}
		}
	}
	for _, b := range bodies {
		if opensRepository(b.Text) {
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
		r.field(name, abstract.Word(value))
	}
}
