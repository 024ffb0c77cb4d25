package configcmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/spf13/cobra"
)

func configShowCommand(a *cli.App) *cobra.Command {
	var workspace, policy string
	var effective bool
	var out term.Output
	cmd := &cobra.Command{
		Use:   "show [KEY]",
		Short: "Print every setting with its value and the layer that sets it",
		Long: "Prints the merged settings of all layers, each with the layer that sets its value; with\n" +
			"--effective=false, what each layer above the built-in one sets, and whether it has an effect.\n" +
			"Those that people set most come first.\n" +
			"KEY is a setting or a section, such as risk.high_threshold or risk, which is then explained.\n" +
			"`policy effective` shows only what layers change, with rules and exceptions; `policy show` the whole policy.",
		Example: "  reviewer config show\n  reviewer config show risk\n  reviewer config show --effective=false\n  reviewer config show -f json --workspace /srv/shop",
		Args:    cli.AtMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := settingsOf(cmd.Context(), a, policy, workspace)
			if err != nil {
				return err
			}
			key := strings.Join(args, "")
			return out.Write(a.Stdout, func(w io.Writer) error {
				if !effective {
					return showLayers(a, w, &out, e, key)
				}
				return showEffective(a, w, &out, e, key)
			})
		},
	}
	cmd.Flags().BoolVar(&effective, "effective", true, "show the merged result of all layers; =false: what each layer sets")
	cmd.Flags().StringVar(&workspace, "workspace", "", "folder whose project layer is used (default: the working directory)")
	cli.PolicyVar(cmd.Flags(), &policy, "policy", "", cli.PolicyFlag+" (default: active)")
	cmd.MarkFlagsMutuallyExclusive("workspace", "policy")
	out.Flags(cmd, "text", "json")
	return cmd
}

// settingsOf assembles the policy of a folder, or the one that is active in a workspace.
func settingsOf(ctx context.Context, a *cli.App, policy, workspace string) (*bundles.Effective, error) {
	if policy != "" {
		return a.ShownPolicy(ctx, policy)
	}
	if workspace == "" {
		return a.ShownPolicy(ctx, "")
	}
	there, err := active.IsDir(workspace)
	if err == nil && !there {
		err = fmt.Errorf("workspace %s: no such folder", workspace)
	}
	if err != nil {
		return nil, err
	}
	home, err := a.StateHome()
	if err != nil {
		return nil, err
	}
	a.NoteMissingHome()
	e, err := cli.MachineAt(home).Effective(workspace)
	if err == nil {
		a.NoteOwn(e.Notice)
	}
	return e, err
}

func showEffective(a *cli.App, w io.Writer, out *term.Output, e *bundles.Effective, key string) error {
	all, err := e.Explain()
	if err != nil {
		return err
	}
	shown, err := Narrow(all, key, func(s bundles.Setting) string { return s.Key })
	if err != nil {
		return err
	}
	if out.Format == "json" {
		return term.WriteList(w, "settings", shown)
	}
	t := settingsTable{w: w, p: a.Paint(out), described: key != "", single: len(shown) == 1}
	for _, s := range shown {
		t.measure(s.Key, strings.Join(s.Layers, ", "))
	}
	t.head(e)
	if key == "" {
		t.most(shown)
		shown = slices.DeleteFunc(shown, func(s bundles.Setting) bool { return s.Common })
	}
	for _, s := range shown {
		t.setting(s)
	}
	t.legend()
	return nil
}

// Narrow returns the settings with a key, or in the section of that name.
func Narrow[T any](all []T, key string, keyOf func(T) string) ([]T, error) {
	var keys []string
	shown := []T{}
	for _, v := range all {
		k := keyOf(v)
		keys = append(keys, k)
		for i, r := range k {
			if r == '.' && !slices.Contains(keys, k[:i]) {
				keys = append(keys, k[:i])
			}
		}
		if inSection(k, key) {
			shown = append(shown, v)
		}
	}
	if len(shown) > 0 || key == "" {
		return shown, nil
	}
	if near := engine.Nearest(key, keys); near != "" {
		return nil, cli.Usage("no setting is named %q; did you mean %q?", key, near)
	}
	return nil, cli.Usage("no setting is named %q; `reviewer config show` lists them", key)
}

// inSection reports whether a key is the requested one, or is in that section.
func inSection(key, section string) bool {
	return section == "" || key == section || strings.HasPrefix(key, section+".")
}

// settingsTable prints settings, one group per section.
type settingsTable struct {
	w           io.Writer
	p           term.Paint
	described   bool     // each group with what it means
	single      bool     // one setting, with how it is merged below it
	key, layer  int      // widths
	merges      []string // how the printed settings are merged, for the legend
	rows        int
	group, text string
}

func (t *settingsTable) measure(key, layers string) {
	t.key, t.layer = max(t.key, len(key)), max(t.layer, len(layers), len("LAYER"))
}

func (t *settingsTable) head(e *bundles.Effective) {
	var layers []string
	for _, l := range e.Layers {
		layers = append(layers, l.Layer)
	}
	fmt.Fprintf(t.w, "layers: %s\n\n%s %s %s\n", strings.Join(layers, ", "), term.Pad("KEY", t.key), term.Pad("LAYER", t.layer), "VALUE")
}

// most prints the settings that people set most.
func (t *settingsTable) most(all []bundles.Setting) {
	fmt.Fprintln(t.w, t.p.Faint("# Set most often; `reviewer config show KEY` explains a setting or a section."))
	for _, s := range all {
		if s.Common {
			t.row(s)
		}
	}
	fmt.Fprintln(t.w, t.p.Faint("\n# All others."))
}

func (t *settingsTable) setting(s bundles.Setting) {
	t.open(s.Key)
	t.describe(s)
	t.row(s)
}

func (t *settingsTable) row(s bundles.Setting) {
	layers := term.Pad(strings.Join(s.Layers, ", "), t.layer)
	if s.Layer == bundles.Base {
		layers = t.p.Faint(layers)
	} else {
		layers = t.p.Colour("36", layers)
	}
	fmt.Fprintf(t.w, "%s %s %s%s\n", term.Pad(s.Key, t.key), layers, WordFor(s.Value), t.p.Faint(instead(s)))
}

// describe prints what settings mean, once for those in a row that have the same meaning.
func (t *settingsTable) describe(s bundles.Setting) {
	if !t.described {
		return
	}
	if !slices.Contains(t.merges, s.Merge) {
		t.merges = append(t.merges, s.Merge)
	}
	text := "# " + s.Description
	if !t.single {
		text += " (" + cmp.Or(s.Merge, bundles.Base) + ")"
	}
	if text != t.text {
		t.text = text
		fmt.Fprintln(t.w, t.p.Faint(text))
	}
}

// legend prints how the settings are merged, each explanation once.
func (t *settingsTable) legend() {
	if len(t.merges) > 0 && !t.single {
		fmt.Fprintln(t.w, "\nHow the values of several layers are merged:")
	}
	names, texts := map[string][]string{}, []string{}
	for _, m := range t.merges {
		name, text, _ := strings.Cut(HowMerged(m), ": ")
		if names[text] == nil {
			texts = append(texts, text)
		}
		names[text] = append(names[text], name)
	}
	for _, text := range texts {
		fmt.Fprintln(t.w, t.p.Faint("  "+strings.Join(names[text], ", ")+": "+text))
	}
}

// instead names the default, if another value replaced it.
func instead(s bundles.Setting) string {
	if slices.Contains(s.Layers, bundles.Base) || reflect.DeepEqual(s.Value, s.Default) {
		return ""
	}
	return " (default: " + WordFor(s.Default) + ")"
}

// open prints an empty line before each section.
func (t *settingsTable) open(key string) {
	group, _, nested := strings.Cut(key, ".")
	if !nested {
		group = ""
	}
	if group != t.group && t.rows > 0 {
		fmt.Fprintln(t.w)
	}
	t.group = group
	t.rows++
}

// HowMerged describes who may set a key, and how several values are merged.
func HowMerged(merge string) string {
	switch merge {
	case "":
		return "base: only the built-in layer sets it"
	case "replace":
		return "replace: user wins over organisation; a project cannot set it"
	case "first":
		return "first: organisation wins over user; a project cannot set it"
	case "organisation":
		return "organisation: only the organisation can set it, in a signed bundle"
	case "union":
		return "union: the values of all layers are added to the default"
	case "append":
		return "append: the values of organisation and user are added to the default; a project cannot set it"
	}
	return merge + ": the first value of organisation or user replaces the default; further ones and the project can only tighten it"
}

// WordFor prints a value on one line, whole: text without quotes where it needs
// none, everything else as JSON, which YAML reads too.
func WordFor(v any) string {
	if v == nil {
		return "none"
	}
	if s, ok := v.(string); ok && s != "" && strings.TrimSpace(s) == s &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v) // unreachable: settings were read from JSON
	}
	return strings.TrimSpace(b.String())
}

// showLayers prints the settings of each layer.
func showLayers(a *cli.App, w io.Writer, out *term.Output, e *bundles.Effective, key string) error {
	settings, err := e.Explain()
	if err != nil {
		return err
	}
	if _, err := Narrow(settings, key, func(s bundles.Setting) string { return s.Key }); err != nil {
		return err
	}
	all, err := e.LayerSettings()
	if err != nil {
		return err
	}
	said := slices.DeleteFunc(all, func(s bundles.LayerSetting) bool { return !inSection(s.Key, key) })
	if out.Format == "json" {
		return term.WriteList(w, "said", said)
	}
	if len(said) == 0 {
		fmt.Fprintln(w, "no layer above the built-in one sets "+cmp.Or(key, "anything"))
		return nil
	}
	t := settingsTable{w: w, p: a.Paint(out)}
	for _, s := range said {
		t.measure(s.Key, s.Layer)
	}
	t.head(e)
	for _, s := range said {
		fmt.Fprintf(w, "%s %s %s%s\n", term.Pad(s.Key, t.key), term.Pad(s.Layer, t.layer), WordFor(s.Value), t.p.Colour("33", effectOf(s)))
	}
	return nil
}

// effectOf returns a note if a layer's value has no effect.
func effectOf(s bundles.LayerSetting) string {
	switch {
	case s.Holds:
		return ""
	case reflect.DeepEqual(s.Value, s.Now):
		return " (already set without it)"
	case s.Now == nil:
		return " (no effect: looser than the value without it)"
	}
	return " (no effect: " + WordFor(s.Now) + " is effective)"
}
