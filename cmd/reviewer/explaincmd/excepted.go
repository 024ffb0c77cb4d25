package explaincmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/rego"
)

// exceptedRule is a rule whose condition is true, and an exception of a layer to it.
type exceptedRule struct {
	ID     string `json:"id"`
	Layer  string `json:"layer"`           // whose exception it is
	Place  string `json:"place,omitempty"` // of the exception, if its rule is written out
	Reason string `json:"reason,omitempty"`
	Owner  string `json:"owner,omitempty"`
	Ends   string `json:"expires_at,omitempty"`
	Ended  bool   `json:"ended,omitempty"` // so the rule fires
}

// exceptions is a query for the exceptions to rules that would have fired, and whether they apply. The built-in policy decides both.
const exceptions = `some layer
some e in data.policies[layer].exceptions
some rows in array.concat([data.reviewer.catalog], [l.catalog | some l in data.policies])
layer in rows[e.rule].overridable
e.rule in ((data.reviewer.firing.ids | {id | some id in input.findings}) | {f.id | some l in data.policies; some f in l.findings})
current := [true | data.reviewer.fired._current(e)]`

// makesExceptions reports whether a layer of a policy makes exceptions that its base layer reads: those of another design,
// and of earlier versions, may not.
func makesExceptions(e *bundles.Effective) (bool, error) {
	for _, l := range e.Layers[1:] {
		made, err := rego.Definitions(l.Modules, "data.policies."+l.Layer+".exceptions")
		if err != nil {
			return false, err
		}
		if len(made) > 0 {
			read, err := rego.Definitions(e.Layers[0].Modules, "data.reviewer.fired._current")
			return len(read) > 0, err
		}
	}
	return false, nil
}

// excepted lists the exceptions that apply, and those that would if they had not ended. The decision does not have them.
func (q *evaluator) excepted(at func(layer, place string) string) (list []exceptedRule, err error) {
	if some, err := makesExceptions(q.effective); err != nil || !some {
		return nil, err
	}
	results, err := q.rego.Query(q.ctx, q.in, q.findings, exceptions)
	if err != nil {
		return nil, fmt.Errorf("find the exceptions: %w", err)
	}
	written := rego.Exceptions(q.effective.Modules())
	for _, r := range results {
		e, _ := r.Variables["e"].(map[string]any)
		field := func(key string) string { text, _ := e[key].(string); return text }
		layer, _ := r.Variables["layer"].(string)
		x := exceptedRule{ID: field("rule"), Layer: layer, Reason: field("reason"), Owner: field("owner"), Ends: field("expires_at")}
		current, _ := r.Variables["current"].([]any)
		x.Ended = len(current) == 0
		if i := slices.IndexFunc(written, func(w rego.Exception) bool {
			return w.Layer == layer && w.Rule == x.ID && w.Reason == x.Reason && w.Owner == x.Owner
		}); i >= 0 {
			_, file, _ := strings.Cut(written[i].File, "/")
			x.Place = at(layer, fmt.Sprintf("%s:%d", file, written[i].Line))
		}
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	all := slices.Clone(list)
	list = slices.DeleteFunc(list, func(x exceptedRule) bool { // another one applies
		return x.Ended && slices.ContainsFunc(all, func(other exceptedRule) bool { return other.ID == x.ID && !other.Ended })
	})
	slices.SortFunc(list, func(a, b exceptedRule) int { return strings.Compare(a.ID+" "+a.Layer, b.ID+" "+b.Layer) })
	return list, nil
}

// text describes an exception in words, without its rule.
func (x exceptedRule) text() string {
	if x.Ended {
		return "the exception of the " + x.Layer + " layer" + term.After(": ", x.Reason) + term.After("; owner: ", x.Owner) +
			"; ended on " + x.Ends + ", no longer holds"
	}
	return "the " + x.Layer + " layer makes an exception" + term.After(": ", x.Reason) + term.After("; owner: ", x.Owner) +
		term.After("; it ends: ", x.Ends)
}

// explainExceptions prints the exceptions that applied to a recorded decision. The record does not have them, so the
// policy that decided is evaluated again, if it has any.
func explainExceptions(ctx context.Context, a *cli.App, w io.Writer, store *audit.Store, r *engine.Record) error {
	if r.Decision == nil || r.By == nil {
		return nil
	}
	e, err := PolicyOf(ctx, a, store, r, "")
	if err != nil {
		return nil // the policy is no longer stored; `policy explain` says so
	}
	if some, err := makesExceptions(e); err != nil || !some {
		return err
	}
	d, err := (&event{}).decideRecord(ctx, a, r.ID())
	if err != nil {
		return err
	}
	q := &evaluator{ctx: ctx, effective: d.effective, in: d.input, findings: d.record.Findings}
	if q.rego, q.cel, err = d.hosts(); err != nil {
		return err
	}
	list, err := q.excepted(active.PlacesOf(""))
	for _, x := range list {
		did := "did not apply"
		if x.Ended {
			did = "applied"
		}
		fmt.Fprintf(w, "\nRule %s %s: %s (%s).\n", x.ID, did, term.OneLine(x.text(), 300), cmp.Or(x.Place, "in Rego"))
	}
	return err
}
