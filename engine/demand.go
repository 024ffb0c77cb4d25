package engine

import (
	"math"
	"slices"
)

// Demand is the set of values that a condition accepts for one operand, as far
// as the condition compares it with constants. Two demands on a value can
// exclude each other; then the condition can never be true.
type Demand struct {
	may         []string // accepted constants, as written; nil: anything
	mayNot      map[string]bool
	low, high   float64
	above, less bool // it must be more than low, less than high
}

// NewDemand returns a demand that accepts everything.
func NewDemand() *Demand {
	return &Demand{mayNot: map[string]bool{}, low: math.Inf(-1), high: math.Inf(1)}
}

// OneOf requires the value to be one of these constants.
func (d *Demand) OneOf(list ...string) {
	left := []string{}
	for _, v := range list {
		if d.may == nil || slices.Contains(d.may, v) {
			left = append(left, v)
		}
	}
	d.may = left
}

// NoneOf requires the value to be none of these constants.
func (d *Demand) NoneOf(list ...string) {
	for _, v := range list {
		d.mayNot[v] = true
	}
}

// Number requires a number in the relation op to n; op is one of == < <= > >=.
func (d *Demand) Number(op string, n float64) {
	if op == "==" || op == ">" || op == ">=" {
		if n > d.low || n == d.low && op == ">" {
			d.low, d.above = n, op == ">"
		}
	}
	if op == "==" || op == "<" || op == "<=" {
		if n < d.high || n == d.high && op == "<" {
			d.high, d.less = n, op == "<"
		}
	}
}

// Possible reports whether any value meets all demands.
func (d *Demand) Possible() bool {
	some := d.may == nil || slices.ContainsFunc(d.may, func(v string) bool { return !d.mayNot[v] })
	return some && (d.low < d.high || d.low == d.high && !d.above && !d.less)
}
