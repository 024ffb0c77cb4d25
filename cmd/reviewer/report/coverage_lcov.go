package report

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// writeLCOV writes a tracefile: lines as lines, CEL branches as branches, and
// what else has a place (rules, patterns, detectors) as functions. How often a
// thing was reached is not counted: 1 is reached.
func writeLCOV(b *bytes.Buffer, c *Coverage, _ Sources) error {
	files := c.byFile()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(b, "TN:\nSF:%s\n", term.PrintableLine(name))
		files[name].functions(b)
		files[name].branches(b)
		files[name].lines(b)
		b.WriteString("end_of_record\n")
	}
	return nil
}

// fileCoverage is the coverage of a file.
type fileCoverage struct {
	hit   map[int]bool // lines that contain something to cover; those of cells count too
	cells []Cell       // with a line
}

func (c *Coverage) byFile() map[string]*fileCoverage {
	files := map[string]*fileCoverage{}
	at := func(name string) *fileCoverage {
		if files[name] == nil {
			files[name] = &fileCoverage{hit: map[int]bool{}}
		}
		return files[name]
	}
	for _, f := range c.Files {
		at(f.File).add(f.Covered, true)
		at(f.File).add(f.Missed, false)
	}
	for _, cell := range c.Cells {
		if cell.File != "" && cell.Line > 0 {
			at(cell.File).addCell(cell)
		}
	}
	return files
}

func (f *fileCoverage) add(lines []int, hit bool) {
	for _, n := range lines {
		f.hit[n] = hit
	}
}

// addCell counts a line that contains only cells as reached if one of them is.
func (f *fileCoverage) addCell(c Cell) {
	f.cells = append(f.cells, c)
	f.hit[c.Line] = f.hit[c.Line] || c.Covered
}

func (f *fileCoverage) functions(b *bytes.Buffer) {
	found, hit := 0, 0
	for _, c := range f.cells {
		if c.Kind != CELBranches {
			found, hit = found+1, hit+count(c.Covered)
			fmt.Fprintf(b, "FN:%d,%s\nFNDA:%d,%s\n", c.Line, term.PrintableLine(c.label()), count(c.Covered), term.PrintableLine(c.label()))
		}
	}
	if found > 0 {
		fmt.Fprintf(b, "FNF:%d\nFNH:%d\n", found, hit)
	}
}

// branches numbers the branches of a line in their order.
func (f *fileCoverage) branches(b *bytes.Buffer) {
	found, hit, next := 0, 0, map[int]int{}
	for _, c := range f.cells {
		if c.Kind == CELBranches {
			found, hit = found+1, hit+count(c.Covered)
			fmt.Fprintf(b, "BRDA:%d,0,%d,%d\n", c.Line, next[c.Line], count(c.Covered))
			next[c.Line]++
		}
	}
	if found > 0 {
		fmt.Fprintf(b, "BRF:%d\nBRH:%d\n", found, hit)
	}
}

func (f *fileCoverage) lines(b *bytes.Buffer) {
	hit := 0
	for _, n := range slices.Sorted(maps.Keys(f.hit)) {
		hit += count(f.hit[n])
		fmt.Fprintf(b, "DA:%d,%d\n", n, count(f.hit[n]))
	}
	fmt.Fprintf(b, "LF:%d\nLH:%d\n", len(f.hit), hit)
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// missing lists the uncovered cells of a line.
func (f *fileCoverage) missing(line int) []string {
	var names []string
	for _, c := range f.cells {
		if c.Line == line && !c.Covered {
			names = append(names, strings.TrimSpace(term.PrintableLine(c.label())))
		}
	}
	return names
}
