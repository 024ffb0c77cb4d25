package stats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
)

// exposed is what a strict reader of the text format sees: the type of each
// family, and the value of each series by its name and labels.
type exposed struct {
	types  map[string]string
	labels map[string][]string // of a family
	series map[string]float64
}

var (
	typeLine = regexp.MustCompile(`^# TYPE ([a-z_]+) (gauge|histogram)$`)
	helpLine = regexp.MustCompile(`^# HELP ([a-z_]+) [A-Z](?:[^\\]|\\\\|\\n)*\.$`)
	dataLine = regexp.MustCompile(`^([a-z_]+)(?:\{(.*)\})? (\S+)$`)
	onePair  = regexp.MustCompile(`^([a-z_]+)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,|$)`)
)

// readExposed reads the text format as its description says it, and is stricter:
// each family once, with help and type before its series, none of them twice.
func readExposed(text string) (exposed, error) {
	e := exposed{map[string]string{}, map[string][]string{}, map[string]float64{}}
	if !strings.HasSuffix(text, "\n") {
		return e, errors.New("no newline at the end")
	}
	family, helped := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := helpLine.FindStringSubmatch(line); m != nil {
			helped = m[1]
			continue
		}
		if m := typeLine.FindStringSubmatch(line); m != nil {
			if family = m[1]; e.types[family] != "" || helped != family {
				return e, fmt.Errorf("family %s is twice there, or has no help", family)
			}
			e.types[family] = m[2]
			continue
		}
		if err := e.read(line, family); err != nil {
			return e, fmt.Errorf("%s: %w", line, err)
		}
	}
	return e, nil
}

func (e exposed) read(line, family string) error {
	m := dataLine.FindStringSubmatch(line)
	if m == nil {
		return errors.New("is not a series")
	}
	name := m[1]
	if e.types[family] == "histogram" {
		name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
	}
	if name != family {
		return fmt.Errorf("is none of the family %q", family)
	}
	var names []string
	for rest := m[2]; rest != ""; {
		pair := onePair.FindStringSubmatch(rest)
		if pair == nil {
			return fmt.Errorf("labels end in %q", rest)
		}
		names, rest = append(names, pair[1]), rest[len(pair[0]):]
	}
	value, err := strconv.ParseFloat(m[3], 64)
	key := strings.TrimSuffix(line, " "+m[3])
	if _, twice := e.series[key]; twice || err != nil {
		return fmt.Errorf("is there twice, or has a bad value: %v", err)
	}
	e.series[key] = value
	if !strings.HasSuffix(m[1], "_sum") && !strings.HasSuffix(m[1], "_count") {
		e.labels[family] = names
	}
	return nil
}

func expose(t *testing.T, d Document) exposed {
	t.Helper()
	var b bytes.Buffer
	if err := WritePrometheus(&b, d); err != nil {
		t.Fatal(err)
	}
	e, err := readExposed(b.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return e
}

// Every metric is set: an eventful session gives each a value, with the labels that
// the table names.
func TestEachMetricIsSet(t *testing.T) {
	e := expose(t, told("", 0, eventful()))
	for _, m := range Metrics() {
		want := m.Labels
		if m.read == nil {
			want = []string{"le"}
		}
		if d := cmp.Diff(want, e.labels[m.Name]); e.types[m.Name] == "" || d != "" {
			t.Errorf("%s (%q): %s", m.Name, e.types[m.Name], d)
		}
	}
	if len(e.types) != len(Metrics()) {
		t.Errorf("%d families, want %d", len(e.types), len(Metrics()))
	}
	for series, want := range map[string]float64{
		`reviewer_decisions{phase="pre",decision="block",effect="block",mode="enforced"}`:   2,
		`reviewer_decisions{phase="pre",decision="none",effect="block",mode="degraded"}`:    1,
		`reviewer_decisions{phase="pre",decision="block",effect="allow",mode="observe"}`:    1,
		`reviewer_interventions{type="warn",issue="loop",outcome="returned"}`:               1,
		`reviewer_interventions{type="emergency_stop",issue="exfiltration",outcome="open"}`: 1,
		`reviewer_escalations{issue="loop"}`:                                                1,
		`reviewer_pattern_findings{pattern="loop",level="medium"}`:                          1,
		`reviewer_questions{answer="approved"}`:                                             1,
		`reviewer_questions{answer="refused"}`:                                              0,
		`reviewer_approved_ratio`:                                                           1,
		`reviewer_tool_calls{tool="Bash",effect="allow"}`:                                   3,
		`reviewer_errors{what="rule",id="mine"}`:                                            1,
		`reviewer_review_seconds_bucket{le="0.0025"}`:                                       1,
		`reviewer_review_seconds_bucket{le="+Inf"}`:                                         9,
		`reviewer_review_seconds_sum`:                                                       0.06,
		`reviewer_last_record_timestamp_seconds`:                                            1769860800,
		`reviewer_sessions_stopped`:                                                         1,
	} {
		if got, there := e.series[series]; got != want || !there {
			t.Errorf("%s is %v (%t), want %v", series, got, there, want)
		}
	}
}

// Of nothing, there are zeros and no more.
func TestMetricsOfNothing(t *testing.T) {
	for series, value := range expose(t, told("", 0)).series {
		if value != 0 {
			t.Errorf("%s is %v", series, value)
		}
	}
}

// An agent may call its tools whatever it likes.
func FuzzLabels(f *testing.F) {
	for _, s := range []string{`a"b\c`, "a\nb", "\xff\xfe", "", "é", strings.Repeat("é", 300), "\u2028", "}", `\n`, "a\r"} {
		f.Add(s, s+"x")
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		s := newTale()
		s.call(engine.Warn, one, two).Event.Tool = one
		s.call(engine.Block, two).Event.Tool = two
		e := expose(t, told("", 0, s))
		var calls float64
		for series, value := range e.series {
			if strings.HasPrefix(series, "reviewer_tool_calls{") {
				calls += value
			}
			if len(series) > 4*maxLabel*4+200 {
				t.Errorf("a series of %d bytes", len(series))
			}
		}
		if calls != 2 {
			t.Errorf("%v calls, want 2: %q and %q", calls, one, two)
		}
	})
}

var (
	inQuery   = regexp.MustCompile(`\b(reviewer_[a-z_]+)\{([^}]*)\}`)
	byLabels  = regexp.MustCompile(`by \(([^)]*)\) \((reviewer_[a-z_]+)`)
	inLegend  = regexp.MustCompile(`\{\{([a-z]+)\}\}`)
	anyMetric = regexp.MustCompile(`reviewer_[a-z_]+`)
)

// The dashboard asks for nothing that is not written, and shows all but a few.
func TestDashboardShowsTheMetrics(t *testing.T) {
	e := expose(t, told("", 0, eventful()))
	shown := map[string]bool{}
	for _, q := range dashboardQueries(t) {
		for _, m := range inQuery.FindAllStringSubmatch(q[0], -1) {
			name := strings.TrimSuffix(m[1], "_bucket")
			shown[name] = true
			if e.types[name] == "" {
				t.Errorf("%s: nothing writes %s", q[0], m[1])
			}
			for _, match := range strings.Split(m[2], ",") {
				label, _, _ := strings.Cut(strings.ReplaceAll(match, "=~", "="), "=")
				if label != "instance" && !slices.Contains(e.labels[name], label) {
					t.Errorf("%s: %s has no label %s", q[0], name, label)
				}
			}
		}
		if len(anyMetric.FindAllString(q[0], -1)) != len(inQuery.FindAllString(q[0], -1)) {
			t.Errorf("%s: a metric of all machines, whichever were chosen", q[0])
		}
		checkLabels(t, e, q[0], q[1])
	}
	for _, m := range Metrics() {
		plain := []string{"reviewer_prefiltered", "reviewer_slow_reviews", "reviewer_early_answers", "reviewer_late_reviews", "reviewer_records", "reviewer_first_record_timestamp_seconds"}
		if !shown[m.Name] && !slices.Contains(plain, m.Name) {
			t.Errorf("no panel shows %s", m.Name)
		}
	}
}

// checkLabels holds that what is grouped by, and what a legend names, is there.
func checkLabels(t *testing.T, e exposed, expr, legend string) {
	kept := []string{"instance"}
	for _, m := range byLabels.FindAllStringSubmatch(expr, -1) {
		kept = strings.Split(m[1], ", ")
		for _, label := range kept {
			if !slices.Contains(e.labels[strings.TrimSuffix(m[2], "_bucket")], label) {
				t.Errorf("%s: %s has no label %s", expr, m[2], label)
			}
		}
	}
	for _, m := range inLegend.FindAllStringSubmatch(legend, -1) {
		if !slices.Contains(kept, m[1]) {
			t.Errorf("%s: the legend %q names what is summed up", expr, legend)
		}
	}
}

// dashboardQueries reads the expressions and legends from the file that people import.
func dashboardQueries(t *testing.T) [][2]string {
	t.Helper()
	raw, err := Dashboard()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	var list [][2]string
	var titles []string
	for _, p := range doc.Panels {
		titles = append(titles, p.Title)
		for _, target := range p.Targets {
			list = append(list, [2]string{target.Expr, target.LegendFormat})
		}
	}
	first := []string{"Interventions by type", "Intervention effectiveness", "Escalation rate"}
	if d := cmp.Diff(first, titles[:3]); d != "" || len(list) < len(titles) {
		t.Errorf("%s; %d queries of %d panels", d, len(list), len(titles))
	}
	return list
}
