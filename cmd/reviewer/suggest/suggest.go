// Package suggest proposes changes to a policy from recorded calls: an exception to the rules
// that asked about a call, as a policy folder to review. `reviewer policy suggest` shows it with
// the difference in meaning and its effect on past sessions. All commands that propose rules use this
// package, so that their proposals are equally narrow.
//
// Out of scope: applying a proposal. Only a person does that, by copying files.
package suggest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/catalogue"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

// Exception is a proposed exception of the user's layer: exactly one call, in one folder.
type Exception struct {
	Rules  []string // ids of the rules that do not apply any more
	File   string   // path under the layer's folder
	Text   []byte   // Rego
	Remark string   // what the exception does not check; empty: nothing
}

// ForCall proposes an exception for the call of a record, so that none of the rules that asked
// about it or denied it does so again. An error says why there is none.
func ForCall(r *engine.Record, policy *bundles.Effective) (Exception, error) {
	if r.Kind != engine.KindPre || r.Action == nil || r.Decision == nil || r.Event == nil {
		return Exception{}, fmt.Errorf("record %s is not a call that was judged", r.ID())
	}
	rules, err := relaxable(r, policy)
	if err != nil {
		return Exception{}, err
	}
	if err := recognisable(r); err != nil {
		return Exception{}, err
	}
	x := Exception{Rules: rules, File: "rules/approved/call_" + strings.ReplaceAll(r.ID(), "-", "_") + ".rego"}
	if len(r.Action.Contents) > 0 {
		x.Remark = "The exception applies whatever the call writes: contents are not in the log."
	}
	var b bytes.Buffer
	err = rego.Execute(&b, map[string]any{"ID": r.ID(), "Rules": rules, "Tool": r.Event.Tool,
		"Resource": r.Action.Resource, "CWD": r.Event.CWD})
	x.Text = b.Bytes()
	return x, err
}

// relaxable returns the rules that held up a call, if the user may make exceptions to all.
func relaxable(r *engine.Record, policy *bundles.Effective) ([]string, error) {
	known := catalogue.Of(policy)
	var rules, firm []string
	for _, rule := range r.Decision.Rules {
		if rule.Decision.Strictness() < engine.Ask.Strictness() {
			continue
		}
		i := slices.IndexFunc(known, func(e catalogue.Entry) bool { return e.ID == rule.ID })
		if i < 0 || !slices.Contains(known[i].Overridable, bundles.User) && known[i].Layer != bundles.User {
			firm = append(firm, rule.ID)
		}
		rules = append(rules, rule.ID)
	}
	switch {
	case len(rules) == 0:
		return nil, fmt.Errorf("call %s was held up by its score, not by a rule: %s; an exception cannot change that, "+
			"only the settings under risk can", r.ID(), r.Decision.Reason)
	case len(firm) > 0:
		return nil, fmt.Errorf("users may not make exceptions to %s, which held up call %s; the owner of the rule can",
			strings.Join(firm, ", "), r.ID())
	}
	return rules, nil
}

// recognisable reports why an exception could not be limited to a call: what the policy sees
// of it is the same for other calls.
func recognisable(r *engine.Record) error {
	cut := slices.ContainsFunc(r.Cut, func(c engine.Cut) bool {
		return c.Field == "action.resource" || strings.HasPrefix(c.Field, "event.args")
	})
	switch {
	case cut:
		return fmt.Errorf("call %s is too long for the log, so other calls look the same; write the rule by hand", r.ID())
	case strings.Contains(r.Action.Resource, mask.Redacted):
		return fmt.Errorf("call %s contains a secret, which policy does not see, so other calls look the same", r.ID())
	case len(r.Action.Opaque) > 0:
		return fmt.Errorf("a part of call %s could not be understood (%s), so its effect may differ each time; approve it each time",
			r.ID(), r.Action.Opaque[0].Reason)
	case r.Action.Resource == "":
		return errors.New("the record does not say what the call does")
	}
	return nil
}

// rego is the exception's module. Texts are quoted as JSON, which Rego reads the same way.
var rego = template.Must(template.New("exception").Funcs(template.FuncMap{"quote": func(s string) (string, error) {
	b, err := json.Marshal(s)
	return string(b), err
}, "line": func(s string) string { return strings.Map(plain, s) }}).Parse(`# METADATA
# title: Exceptions for single calls
# scope: package
package policies.user

# METADATA
# title: Call {{.ID}}
# description: This command in this folder, and no other.
{{- range .Rules}}
exceptions contains {"rule": {{quote .}}, "reason": {{quote (printf "proposed from call %s" $.ID)}}} if {
	_call_{{line $.ID}}
}
{{end}}
_call_{{line .ID}} if {
	input.event.tool == {{quote .Tool}}
	input.event.cwd == {{quote .CWD}}
	input.action.resource == {{quote .Resource}}
	count(input.action.opaque) == 0
}
`))

// plain keeps what a name in Rego can contain.
func plain(r rune) rune {
	if r == '-' {
		return '_'
	}
	return r
}
