package stats

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxLabel limits a label's value, in characters: the id of a tool or a rule may be long.
const maxLabel = 128

// WritePrometheus writes a document in Prometheus' text format, version 0.0.4.
func WritePrometheus(w io.Writer, d Document) error {
	out := bufio.NewWriter(w)
	for _, m := range Metrics() {
		if m.read == nil {
			writeHistogram(out, m, d.ReviewTime)
			continue
		}
		m.write(out, m.read(&d))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	return nil
}

// write omits a metric that has no sample.
func (m Metric) write(w io.Writer, samples []sample) {
	if len(samples) == 0 {
		return
	}
	m.head(w, "gauge")
	var order []string
	sums := map[string]float64{} // two long values may be the same after they are shortened
	for _, s := range samples {
		labels := labelled(m.Labels, s.labels)
		if _, known := sums[labels]; !known {
			order = append(order, labels)
		}
		sums[labels] += s.value
	}
	for _, labels := range order {
		fmt.Fprintf(w, "%s%s %s\n", m.Name, labels, decimal(sums[labels]))
	}
}

func (m Metric) head(w io.Writer, kind string) {
	help := strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(m.Help)
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", m.Name, help, m.Name, kind)
}

func writeHistogram(w io.Writer, m Metric, t ReviewTime) {
	m.head(w, "histogram")
	for _, b := range t.Buckets {
		fmt.Fprintf(w, "%s_bucket{le=\"%s\"} %d\n", m.Name, decimal(b.MS/1000), b.Count)
	}
	fmt.Fprintf(w, "%s_bucket{le=\"+Inf\"} %d\n%s_sum %s\n%s_count %d\n", m.Name, t.Count, m.Name, decimal(t.SumMS/1000), m.Name, t.Count)
}

// labelled writes labels as {name="value",…}; nothing if there are none.
func labelled(names, values []string) string {
	if len(names) == 0 {
		return ""
	}
	pairs := make([]string, 0, len(names))
	for i, name := range names {
		pairs = append(pairs, name+`="`+escaped(values[i])+`"`)
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

// escaped returns a label's value: UTF-8, of limited length, on one line.
func escaped(value string) string {
	value = strings.ToValidUTF8(value, "\ufffd")
	if utf8.RuneCountInString(value) > maxLabel {
		value = string([]rune(value)[:maxLabel-1]) + "…"
	}
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value)
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
