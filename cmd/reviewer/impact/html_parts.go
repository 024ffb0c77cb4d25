package impact

import (
	"cmp"
	"html"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// sign returns the sign and the word of a state; its colour is not needed to tell
// states apart.
func sign(s simulate.State) markup {
	switch s {
	case simulate.Unchanged:
		return "="
	case simulate.Tightened:
		return "▲"
	case simulate.Loosened:
		return "▼"
	case simulate.Maybe:
		return "◆"
	case simulate.Incomparable:
		return "≠"
	}
	return "?"
}

func meaning(s simulate.State) string {
	switch s {
	case simulate.Unchanged:
		return "the same answer"
	case simulate.Tightened:
		return "a stricter answer"
	case simulate.Loosened:
		return "a looser answer"
	case simulate.Maybe:
		return "a different answer, judging from the recorded facts"
	case simulate.Incomparable:
		return "recorded in another environment, so it cannot be compared"
	}
	return "the inputs of the decision were not recorded"
}

func stateOf(s simulate.State) markup {
	return render(`<span class="state %s"><span aria-hidden="true">%s</span> %s</span>`, s, sign(s), s)
}

func verdictOf(v engine.Verdict) markup {
	if v == "" {
		return `<span class="faint">not known</span>`
	}
	return render(`<span class="verdict %s">%s</span>`, v, v)
}

func arrowOf(from, to engine.Verdict) markup {
	return render(`<span class="arrow">%s → %s</span>`, verdictOf(from), verdictOf(to))
}

// eventOf describes an event that is not a call.
func eventOf(p engine.Phase) markup {
	if p == engine.PhasePre {
		return ""
	}
	return render(`<br><span class="faint">at an event: %s</span>`, p)
}

// chooser is a name that sets a filter when it is clicked, if the page has filters.
func (p *webPage) chooser(filter, value string, shown markup) markup {
	if !p.filtered || filter == "" {
		return shown
	}
	return render(`<button type="button" class="chooser" data-filter="%s" data-value="%s">%s</button>`, filter, value, shown)
}

// breakable allows a name to wrap after its separators.
func breakable(name string) markup {
	return markup(strings.NewReplacer("/", "/<wbr>", "_", "_<wbr>").Replace(html.EscapeString(name)))
}

func commaList(names []string) markup {
	var list []string
	for _, n := range names {
		list = append(list, string(render(`<code>%s</code>`, breakable(n))))
	}
	return markup(strings.Join(list, ", "))
}

// part is a length in a bar.
type part struct {
	class string
	count int64
	after bool // hypothetical: an outline only
}

// bar draws parts side by side; full is the count that fills it.
func bar(full int64, parts ...part) markup {
	var p webPage
	p.put(`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">`)
	x := 0.0
	for _, a := range parts {
		width := length(a.count, full)
		if width > 0 {
			p.put(`<rect class="%s%s" x="%.2f" y="1" width="%.2f" height="8"/>`, a.class, either(a.after, " after", ""), x, width)
		}
		x += width
	}
	p.put(`</svg>`)
	return markup(p.String())
}

// length is a percentage; a nonzero value is always visible.
func length(count, full int64) float64 {
	if count <= 0 || full <= 0 {
		return 0
	}
	return max(100*float64(count)/float64(full), 1.5)
}

func either[T any](condition bool, yes, no T) T {
	if condition {
		return yes
	}
	return no
}

// further formats a separate count, which follows another one.
func further(after int64) markup {
	if after == 0 {
		return ""
	}
	return render(` <span class="after" title="further ones, after the first difference in their session">+%s after</span>`, after)
}

// mostFirst sorts by a weight, and by name where it is the same.
func mostFirst[T any](list []T, weight func(T) int64, name func(T) string) []T {
	return slices.SortedFunc(slices.Values(list), func(a, b T) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(name(a), name(b)))
	})
}

// where returns the subject of a step.
func where(s simulate.Step) markup {
	return render(`<span class="tool">%s</span> <code class="resource">%s</code>`, cmp.Or(s.Tool, string(s.Phase)), breakable(s.Resource))
}

// example shows a step without a script.
func example(s simulate.Step) markup {
	var p webPage
	p.put(`<div class="example">`)
	reason := s.Reason
	if e := s.Example; e != nil {
		reason = e.Reason
		for _, line := range told(s) {
			p.put(`<div><code class="resource">%s</code></div>`, breakable(line))
		}
	} else {
		p.put(`<div>%s</div>`, where(s))
	}
	if reason != "" {
		p.put(`<div class="reason">%s</div>`, reason)
	}
	if s.Missing != "" {
		p.put(`<div class="reason">Not known: %s</div>`, s.Missing)
	}
	p.put(`<div class="faint">baseline: %s; candidate: %s</div>`, rulesSaid(s.FromRules), rulesSaid(s.ToRules))
	p.put(`<div class="faint">%s%s</div></div>`, place(s), either(s.After, "; hypothetical", ""))
	return markup(p.String())
}

func rulesSaid(rules []string) markup {
	if len(rules) == 0 {
		return "no rule"
	}
	return commaList(rules)
}
