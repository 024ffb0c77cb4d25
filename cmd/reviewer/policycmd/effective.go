package policycmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/catalogue"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/configcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/spf13/cobra"
)

func policyEffectiveCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:   "effective [REF] [SETTING]",
		Short: "Show the merged result of all layers, and which layer sets what",
		Long: "Lists the layers; each setting that a layer above the built-in one changes, with the value of\n" +
			"every layer, how they are merged and the effective value; the rules that are not fully\n" +
			"enforced, and the layer that relaxed them; and the exceptions that layers make.\n\n" +
			"REF is " + active.RefForms + "\n(default: active). SETTING is a setting or a section, such as risk.high_threshold or risk; then\n" +
			"only that is shown, even if only the built-in layer sets it. For a folder with the name of a section,\n" +
			"write ./risk.",
		Example: "  reviewer policy effective\n  reviewer policy effective hosts.known\n  reviewer policy effective shop-1.4.0.tar.gz risk -f json",
		Args:    cli.AtMost(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			doc, err := effective(cmd.Context(), a, args)
			if err != nil {
				return err
			}
			return out.Write(a.Stdout, func(w io.Writer) error {
				if out.Format == "json" {
					return term.WriteDocument(w, doc)
				}
				doc.text(w, a.Paint(&out))
				return nil
			})
		},
	}
	out.Flags(cmd, "text", "json")
	return cmd
}

// effectiveDocument is the merged result of layers. For a single setting it has no
// rules and no exceptions.
type effectiveDocument struct {
	Digest     string             `json:"digest"`
	Layers     []effectiveLayer   `json:"layers"`
	Settings   []effectiveSetting `json:"settings"`
	Rules      []effectiveRule    `json:"rules,omitempty"`      // with a milder enforcement than enforce
	Exceptions []exception        `json:"exceptions,omitempty"` // of the layers' Rego

	key string
}

type effectiveLayer struct {
	layerDocument
	Sequence int64 `json:"sequence,omitempty"`
}

// effectiveSetting is a setting with the value of each layer, in order.
type effectiveSetting struct {
	bundles.Setting
	Said []layerSays `json:"said"`
}

type layerSays struct {
	Layer string `json:"layer"`
	Value any    `json:"value"`
	Holds bool   `json:"holds"` // it is in the merged result
}

// effectiveRule is a rule that the settings or its row relax.
type effectiveRule struct {
	ID     string   `json:"id"`
	Goes   string   `json:"goes"`             // off, observe or warn
	By     string   `json:"by"`               // the setting that sets it, or: its row
	Layers []string `json:"layers,omitempty"` // that have set it
}

// exception is a possible exception in the Rego of a layer.
type exception struct {
	Layer string `json:"layer"`
	Rule  string `json:"rule,omitempty"` // empty: which rule is computed
	Holds bool   `json:"holds"`          // the rule lets this layer make exceptions
	Text  string `json:"text"`
	Place string `json:"place,omitempty"` // its file and line, if it is written out
	Owner string `json:"owner,omitempty"`
	Ends  string `json:"expires_at,omitempty"`
	Ended bool   `json:"ended,omitempty"` // so it no longer holds
}

func effective(ctx context.Context, a *cli.App, args []string) (*effectiveDocument, error) {
	ref, key, err := refAndSetting(args)
	if err != nil {
		return nil, err
	}
	e, err := a.PolicyRef(ctx, ref)
	if err != nil {
		return nil, err
	}
	doc := &effectiveDocument{Digest: e.Digest, key: key}
	for _, l := range e.Layers {
		m := l.Manifest.Metadata
		doc.Layers = append(doc.Layers, effectiveLayer{layerDocument{l.Layer, m.Name, m.Version, l.Digest}, m.Sequence})
	}
	if doc.Settings, err = layerSettings(e, key); err != nil || key != "" {
		return doc, err
	}
	doc.Rules = unenforced(e)
	doc.Exceptions, err = exceptionsOf(e, active.PlacesOf(ref), time.Now().UnixMilli())
	return doc, err
}

// refAndSetting parses the arguments. A single one is a setting if one has that name,
// else a policy.
func refAndSetting(args []string) (ref, key string, err error) {
	switch len(args) {
	case 0:
		return active.RefActive, "", nil
	case 2:
		return args[0], args[1], nil
	}
	base, err := bundles.Default()
	if err != nil {
		return "", "", err
	}
	e, err := bundles.Assemble(base)
	if err != nil {
		return "", "", err
	}
	all, err := e.Explain()
	if err != nil {
		return "", "", err
	}
	_, wrong := configcmd.Narrow(all, args[0], func(s bundles.Setting) string { return s.Key })
	if wrong == nil || looksLikeSetting(args[0]) {
		return active.RefActive, args[0], nil
	}
	return args[0], "", nil
}

// looksLikeSetting reports whether a word cannot name a policy: it is not a keyword, no
// file has that name, and it is not a prefix of a digest.
func looksLikeSetting(word string) bool {
	_, err := os.Lstat(word)
	section, _, nested := strings.Cut(word, ".")
	return nested && section != "" && err != nil && !strings.ContainsAny(word, "/:\\") && !strings.HasSuffix(word, ".gz")
}

// layerSettings lists settings with the value of each layer.
func layerSettings(e *bundles.Effective, key string) ([]effectiveSetting, error) {
	all, err := e.Explain()
	if err != nil {
		return nil, err
	}
	said, err := e.LayerSettings()
	if err != nil {
		return nil, err
	}
	for _, by := range said { // also those that have no effective value
		if !slices.ContainsFunc(all, func(s bundles.Setting) bool { return s.Key == by.Key }) {
			all = append(all, bundles.Setting{Key: by.Key, Layer: bundles.Base, Merge: by.Merge})
		}
	}
	shown, err := configcmd.Narrow(all, key, func(s bundles.Setting) string { return s.Key })
	if err != nil {
		return nil, err
	}
	list := []effectiveSetting{}
	for _, s := range shown {
		one := effectiveSetting{Setting: s}
		if s.Default != nil {
			one.Said = append(one.Said, layerSays{bundles.Base, s.Default, slices.Contains(s.Layers, bundles.Base)})
		}
		for _, by := range said {
			if by.Key == s.Key {
				one.Said = append(one.Said, layerSays{by.Layer, by.Value, by.Holds})
			}
		}
		list = append(list, one)
	}
	return list, nil
}

// unenforced lists the rules that are not enforced, with the layer that decided so.
func unenforced(e *bundles.Effective) []effectiveRule {
	own := map[string]string{}
	for _, r := range e.Rules() {
		own[r.ID] = r.Enforcement
	}
	var list []effectiveRule
	for _, entry := range catalogue.Of(e) {
		if entry.Enforcement == "enforce" {
			continue
		}
		r := effectiveRule{ID: entry.ID, Goes: entry.Enforcement, By: softenedBy(e, entry, own[entry.ID])}
		if r.By != rowItself {
			if r.Layers = e.Sources[r.By]; r.Layers == nil {
				r.Layers = []string{bundles.Base}
			}
		}
		list = append(list, r)
	}
	return list
}

// rowItself is the By of a rule that its own row relaxes.
const rowItself = "its row"

// softenedBy names the setting that limits a rule.
func softenedBy(e *bundles.Effective, r catalogue.Entry, own string) string {
	mode := e.Settings.Rules.Enforcement[r.ID]
	switch {
	case r.Enforcement == catalogue.Off && !e.Settings.Enabled:
		return "enabled"
	case r.Enforcement == catalogue.Off && slices.Contains(e.Settings.Rules.Disabled, r.ID):
		return "rules.disabled"
	case r.Enforcement == catalogue.Off:
		return "rules.builtin"
	case mode == r.Enforcement:
		return "rules.enforcement." + r.ID
	case mode == "" && own == r.Enforcement:
		return rowItself
	}
	return "enforcement"
}

// exceptionsOf lists the exceptions in the Rego of layers. Whether one applies depends
// on the call.
func exceptionsOf(e *bundles.Effective, at func(layer, place string) string, now int64) ([]exception, error) {
	var list []exception
	written := rego.Exceptions(e.Modules())
	for _, l := range e.Layers[1:] {
		texts, err := rego.Definitions(l.Modules, "data.policies."+l.Layer+".exceptions")
		if err != nil {
			return nil, fmt.Errorf("the Rego of the %s layer: %w", l.Layer, err)
		}
		for _, text := range texts {
			for _, x := range exceptionsIn(e, l.Layer, text) {
				i := slices.IndexFunc(written, func(w rego.Exception) bool {
					return w.Layer == x.Layer && w.Rule == x.Rule && hasAll(text, w.Rule, w.Reason, w.Owner, w.ExpiresAt)
				})
				if i >= 0 {
					_, file, _ := strings.Cut(written[i].File, "/")
					x.Place, x.Owner, x.Ends = at(l.Layer, fmt.Sprintf("%s:%d", file, written[i].Line)), written[i].Owner, written[i].ExpiresAt
					end, err := engine.Moment(x.Ends)
					x.Ended = x.Ends != "" && (err != nil || end <= now) // as the built-in policy reads it
				}
				list = append(list, x)
			}
		}
	}
	return list, nil
}

// hasAll reports whether a text has all the strings, in quotes.
func hasAll(text string, quoted ...string) bool {
	return !slices.ContainsFunc(quoted, func(s string) bool { return !strings.Contains(text, strconv.Quote(s)) && s != "" })
}

// exceptionsIn lists the rules that a definition of exceptions names.
func exceptionsIn(e *bundles.Effective, layer, text string) []exception {
	var list []exception
	for _, r := range e.Rules() {
		if strings.Contains(text, `"`+r.ID+`"`) {
			list = append(list, exception{Layer: layer, Rule: r.ID, Holds: slices.Contains(r.Overridable, layer), Text: text})
		}
	}
	if list == nil {
		return []exception{{Layer: layer, Text: text}}
	}
	return list
}
