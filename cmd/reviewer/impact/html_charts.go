package impact

import (
	"fmt"
	"math"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// bothWays draws losses to the left of the middle and gains to its right.
func bothWays(lost, gained, full int64) markup {
	left, right := length(lost, full)/2, length(gained, full)/2
	return render(`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">`+
		`<rect class="lost" x="%.2f" y="1" width="%.2f" height="8"/><rect class="gained" x="50" y="1" width="%.2f" height="8"/>`+
		`<rect class="middle" x="49.8" y="0" width="0.4" height="10"/></svg>`,
		50-left, left, right)
}

// The chart of a sweep, in units of its view box.
const (
	chartWidth, chartHeight                      = 720, 300
	chartLeft, chartRight, chartTop, chartBottom = 56, 100, 36, 40
)

// chart draws a line over the values of a sweep for each state that occurs.
type chart struct {
	rows     []simulate.SweepRow // at least one
	states   []simulate.State
	most     float64 // top of the scale
	from, to float64
}

func newChart(rows []simulate.SweepRow) *chart {
	c := &chart{rows: rows, most: 1, from: rows[0].Value, to: rows[0].Value}
	for _, r := range rows {
		c.from, c.to = min(c.from, r.Value), max(c.to, r.Value)
	}
	for _, s := range changing() {
		if n := c.mostOf(s); n > 0 {
			c.states, c.most = append(c.states, s), max(c.most, float64(n))
		}
	}
	step := niceStep(c.most)
	c.most = math.Ceil(c.most/step) * step
	return c
}

func (c *chart) mostOf(s simulate.State) int64 {
	var most int64
	for _, r := range c.rows {
		most = max(most, r.Impact.Calls.States[s])
	}
	return most
}

// niceStep returns 1, 2 or 5 times a power of ten, at least 1, so that about five
// steps fit into most.
func niceStep(most float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(max(most/5, 1))))
	for _, f := range []float64{1, 2, 5} {
		if most/(f*power) <= 5 {
			return f * power
		}
	}
	return 10 * power
}

func (c *chart) x(value float64) float64 {
	share := 0.5
	if c.to > c.from {
		share = (value - c.from) / (c.to - c.from)
	}
	return chartLeft + share*(chartWidth-chartLeft-chartRight)
}

func (c *chart) y(count float64) float64 {
	return chartTop + (1-count/c.most)*(chartHeight-chartTop-chartBottom)
}

func (c *chart) draw(label string) markup {
	var p webPage
	p.put(`<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="%s">`, chartWidth, chartHeight, label)
	for count := 0.0; count <= c.most; count += niceStep(c.most) {
		p.put(`<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text class="tick" text-anchor="end" x="%d" y="%.1f">%s</text>`,
			chartLeft, chartWidth-chartRight, c.y(count), c.y(count), chartLeft-8, c.y(count)+4, int64(count))
	}
	every := (len(c.rows) + 9) / 10
	for i := 0; i < len(c.rows); i += every {
		p.put(`<text class="tick" text-anchor="middle" x="%.1f" y="%d">%s</text>`, c.x(c.rows[i].Value),
			chartHeight-chartBottom+20, value(c.rows[i].Value))
	}
	for _, s := range c.states {
		c.line(&p, s)
	}
	c.ends(&p)
	p.put(`</svg>`)
	return markup(p.String())
}

// line goes from value to value, with the state's sign at each, so that lines can be
// distinguished without colours.
func (c *chart) line(p *webPage, s simulate.State) {
	var path []string
	for _, r := range c.rows {
		path = append(path, fmt.Sprintf("%.1f,%.1f", c.x(r.Value), c.y(float64(r.Impact.Calls.States[s]))))
	}
	p.put(`<polyline class="line %s" points="%s"/>`, s, strings.Join(path, " "))
	for _, r := range c.rows {
		n := r.Impact.Calls.States[s]
		p.put(`<text class="point %s" text-anchor="middle" x="%.1f" y="%.1f">%s<title>%s: %s %s</title></text>`, s, c.x(r.Value),
			c.y(float64(n))+4.5, sign(s), value(r.Value), n, s)
	}
}

// ends labels the lines at their ends, without overlaps.
func (c *chart) ends(p *webPage) {
	last, above := c.rows[len(c.rows)-1], math.Inf(1)
	count := func(s simulate.State) int64 { return last.Impact.Calls.States[s] }
	for _, s := range mostFirst(c.states, func(s simulate.State) int64 { return -count(s) },
		func(s simulate.State) string { return string(s) }) {
		y := min(c.y(float64(count(s)))+4, above-16)
		above = y
		p.put(`<text class="end %s" x="%.1f" y="%.1f">%s</text>`, s, c.x(last.Value)+12, y, s)
	}
}
