package engine

import (
	"math"
	"slices"
)

// Demand is what a condition asks of one value, as far as it compares it with
// constants. Two demands on a value can exclude each other; then the condition
// can never hold.
type Demand struct {
	may         []string // what it may be, as constants are written; nil: anything
	mayNot      map[string]bool
	low, high   float64
	above, less bool // it must be more than low, less than high
}

// NewDemand asks for nothing.
func NewDemand() *Demand {
	return &Demand{mayNot: map[string]bool{}, low: math.Inf(-1), high: math.Inf(1)}
}

// OneOf asks that the value is one of these constants.
func (d *Demand) OneOf(list ...string) {
	left := []string{}
	for _, v := range list {
		if d.may == nil || slices.Contains(d.may, v) {
			left = append(left, v)
		}
	}
	d.may = left
}

// NoneOf asks that the value is none of these constants.
func (d *Demand) NoneOf(list ...string) {
	for _, v := range list {
		d.mayNot[v] = true
	}
}

// Number asks for a number that compares so with another; op is one of == < <=
// > >=.
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

// Possible says whether any value meets all that was asked.
func (d *Demand) Possible() bool {
	some := d.may == nil || slices.ContainsFunc(d.may, func(v string) bool { return !d.mayNot[v] })
	return some && (d.low < d.high || d.low == d.high && !d.above && !d.less)
}
