package policycmd

import (
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/configcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// text writes the document for a person.
func (d *effectiveDocument) text(w io.Writer, p term.Paint) {
	fmt.Fprintf(w, "policy %s\n", d.Digest)
	for _, l := range d.Layers {
		sequence := ""
		if l.Sequence > 0 {
			sequence = strconv.FormatInt(l.Sequence, 10)
		}
		fmt.Fprintf(w, "  %s %s %s %s %s\n", term.Pad(l.Layer, 12), term.Pad(l.Name, 18), term.Pad(l.Version, 8), term.Pad(sequence, 4),
			p.Faint(l.layerDocument.Digest))
	}
	d.settings(w, p)
	d.rules(w, p)
	d.exceptions(w, p)
}

// settings writes the settings of layers above the base, or all requested ones.
func (d *effectiveDocument) settings(w io.Writer, p term.Paint) {
	quiet := 0
	about := ""
	for _, s := range d.Settings {
		if d.key == "" && s.saidByBaseAlone() {
			quiet++
			continue
		}
		fmt.Fprintln(w)
		if d.key != "" && s.Description != about {
			about = s.Description
			fmt.Fprintln(w, p.Faint("# "+about))
		}
		fmt.Fprintf(w, "%s = %s\n", p.Colour("1", s.Key), configcmd.WordFor(s.Value))
		for _, l := range s.Said {
			fmt.Fprintf(w, "  %s %s%s\n", term.Pad(l.Layer, 12), configcmd.WordFor(l.Value), p.Colour("33", s.outcome(l)))
		}
		fmt.Fprintln(w, p.Faint("  "+configcmd.HowMerged(s.Merge)))
	}
	if quiet > 0 {
		fmt.Fprintf(w, "\n%s as in the built-in layer; `reviewer config show` lists all\n", term.Counted(quiet, "setting is", "settings are"))
	}
}

func (s effectiveSetting) saidByBaseAlone() bool {
	return len(s.Said) == 0 || len(s.Said) == 1 && s.Said[0].Layer == bundles.Base
}

// outcome describes the effect of a layer's value.
func (s effectiveSetting) outcome(l layerSays) string {
	switch {
	case s.saidByBaseAlone():
		return ""
	case l.Holds && len(s.Layers) > 1:
		return " (part of the effective value)"
	case l.Holds:
		return " (effective)"
	case reflect.DeepEqual(l.Value, s.Value):
		return " (already set without it)"
	case l.Layer == bundles.Base:
		return " (replaced)"
	}
	return " (no effect)"
}

func (d *effectiveDocument) rules(w io.Writer, p term.Paint) {
	if len(d.Rules) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s not enforced\n", term.Counted(len(d.Rules), "rule is", "rules are"))
	width := 0
	for _, r := range d.Rules {
		width = max(width, len(r.ID))
	}
	for _, r := range d.Rules {
		by := r.By
		if len(r.Layers) > 0 {
			by += " (" + strings.Join(r.Layers, ", ") + ")"
		}
		fmt.Fprintf(w, "  %s %s %s\n", term.Pad(r.ID, width), p.Colour("33", term.Pad(r.Goes, 8)), "by "+by)
	}
}

func (d *effectiveDocument) exceptions(w io.Writer, p term.Paint) {
	if len(d.Exceptions) == 0 {
		return
	}
	fmt.Fprintln(w, "\nexceptions")
	for _, x := range d.Exceptions {
		rule, note := x.Rule, ""
		switch {
		case rule == "":
			rule, note = "(computed)", " if the rule allows the layer to make them"
		case !x.Holds:
			note = " without effect: the rule does not allow exceptions by this layer"
		case x.Ended:
			note = " ended on " + x.Ends + ", no longer holds"
		}
		fmt.Fprintf(w, "  %s %s%s%s\n", term.Pad(x.Layer, 12), rule, p.Colour("33", note), p.Faint(term.After("  ", x.Place)))
		if x.Owner != "" {
			fmt.Fprintf(w, "    owner: %s\n", term.OneLine(x.Owner, 100))
		}
		for line := range strings.Lines(x.Text) {
			fmt.Fprintln(w, p.Faint(strings.TrimRight("    "+term.OneLine(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "  "), 300), " ")))
		}
	}
}
