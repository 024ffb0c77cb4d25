package configcmd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/here"
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
		Short: "Print every setting with its value and the layer that says so",
		Long: "Prints what the settings of all layers come to, each with the layer of its value; with\n" +
			"--effective=false what each layer above the base says by itself, and what came of it.\n" +
			"KEY is a setting or a section, such as risk.high_threshold or risk: then with what it means.",
		Example: "  reviewer config show\n  reviewer config show risk\n  reviewer config show --effective=false\n  reviewer config show -f json --workspace /srv/shop",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			e, err := settingsOf(a, policy, workspace)
			if err != nil {
				return err
			}
			key := strings.Join(args, "")
			return out.Write(a.Stdout, func(w io.Writer) error {
				if !effective {
					return showSaid(a, w, &out, e, key)
				}
				return showEffective(a, w, &out, e, key)
			})
		},
	}
	cmd.Flags().BoolVar(&effective, "effective", true, "what all layers come to; =false: what each layer says by itself")
	cmd.Flags().StringVar(&workspace, "workspace", "", "folder whose project layer counts (default: the working directory)")
	cmd.Flags().StringVar(&policy, "policy", "", "folder of one policy, to look at instead of the active ones")
	cmd.MarkFlagsMutuallyExclusive("workspace", "policy")
	out.Flags(cmd, "text", "json")
	return cmd
}

// settingsOf assembles the policy of a folder, or the one that is active in a workspace.
func settingsOf(a *cli.App, policy, workspace string) (*bundles.Effective, error) {
	if policy != "" {
		return a.ShownPolicy(policy)
	}
	if workspace == "" {
		return a.ShownPolicy("")
	}
	there, err := here.IsDir(workspace)
	if err == nil && !there {
		err = fmt.Errorf("workspace %s: there is no such folder", workspace)
	}
	if err != nil {
		return nil, err
	}
	home, err := a.StateHome()
	if err != nil {
		return nil, err
	}
	return cli.MachineAt(home).Effective(workspace)
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
		return term.WriteJSON(w, shown)
	}
	t := settingsTable{w: w, p: a.Paint(out), described: key != ""}
	for _, s := range shown {
		t.measure(s.Key, strings.Join(s.Layers, ", "))
	}
	t.head(e)
	for _, s := range shown {
		t.setting(s)
	}
	return nil
}

// Narrow keeps what has a key, or lies in the section of that name.
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
		return nil, fmt.Errorf("there is no setting %q; did you mean %q?", key, near)
	}
	return nil, fmt.Errorf("there is no setting %q; `reviewer config show` lists all", key)
}

// inSection says whether a key is the one that is asked for, or lies in its section.
func inSection(key, section string) bool {
	return section == "" || key == section || strings.HasPrefix(key, section+".")
}

// settingsTable prints settings below each other, one group per section.
type settingsTable struct {
	w           io.Writer
	p           term.Paint
	described   bool // each group with what it means
	key, layer  int  // widths
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

func (t *settingsTable) setting(s bundles.Setting) {
	t.open(s.Key)
	if t.described && s.Description != t.text {
		t.text = s.Description
		fmt.Fprintln(t.w, t.p.Faint("# "+t.text))
	}
	layers := term.Pad(strings.Join(s.Layers, ", "), t.layer)
	if s.Layer == bundles.Base {
		layers = t.p.Faint(layers)
	} else {
		layers = t.p.Colour("36", layers)
	}
	fmt.Fprintf(t.w, "%s %s %s%s\n", term.Pad(s.Key, t.key), layers, WordFor(s.Value), t.p.Faint(instead(s)))
	if t.described {
		fmt.Fprintf(t.w, "%s\n", t.p.Faint("  "+HowMerged(s.Merge)))
	}
}

// instead names the default, where it was replaced by something else.
func instead(s bundles.Setting) string {
	if slices.Contains(s.Layers, bundles.Base) || reflect.DeepEqual(s.Value, s.Default) {
		return ""
	}
	return " (default: " + WordFor(s.Default) + ")"
}

// open leaves a line before each section.
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

// HowMerged says who may set a key, and what becomes of several values.
func HowMerged(merge string) string {
	switch merge {
	case "":
		return "only the base layer has it"
	case "replace":
		return "replace: the last of organisation and user; not the project"
	}
	return merge + ": the first value of organisation or user replaces the default, further ones and the project only tighten"
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
		return fmt.Sprint(v) // not reached: settings were read from JSON
	}
	return strings.TrimSpace(b.String())
}

// showSaid prints what the layers say by themselves.
func showSaid(a *cli.App, w io.Writer, out *term.Output, e *bundles.Effective, key string) error {
	settings, err := e.Explain()
	if err != nil {
		return err
	}
	if _, err := Narrow(settings, key, func(s bundles.Setting) string { return s.Key }); err != nil {
		return err
	}
	all, err := e.Said()
	if err != nil {
		return err
	}
	said := slices.DeleteFunc(all, func(s bundles.Said) bool { return !inSection(s.Key, key) })
	if out.Format == "json" {
		return term.WriteJSON(w, said)
	}
	if len(said) == 0 {
		fmt.Fprintln(w, "no layer above the base sets "+cmp.Or(key, "anything"))
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

// effectOf says where a layer's value came to nothing.
func effectOf(s bundles.Said) string {
	switch {
	case s.Holds:
		return ""
	case reflect.DeepEqual(s.Value, s.Now):
		return " (holds without it)"
	case s.Now == nil:
		return " (no effect: milder than what holds without it)"
	}
	return " (no effect: " + WordFor(s.Now) + " holds)"
}
