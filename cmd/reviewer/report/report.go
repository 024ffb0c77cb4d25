// Package report holds what checking and testing a policy found, and writes it
// in the formats that people and machines read.
//
// Not its business: finding anything. It reads no file, no clock and no
// environment: the same report gives the same bytes.
package report

import "time"

// Status is what came of a test.
type Status string

// The statuses of tests.
const (
	Pass  Status = "pass"
	Fail  Status = "fail"  // ran, and came out otherwise than expected
	Error Status = "error" // could not run
	Skip  Status = "skip"
	Todo  Status = "todo" // known to fail, and says so
)

// Report is what a command found.
type Report struct {
	Command  string        `json:"command"`            // "policy test"
	Policy   string        `json:"policy,omitempty"`   // digest of what was tested
	Problems []Problem     `json:"problems,omitempty"` // by place
	Suites   []Suite       `json:"suites,omitempty"`   // by name; nil: the command runs no tests
	Coverage *Coverage     `json:"coverage,omitempty"` // nil: not asked for
	Rules    []Rule        `json:"rules,omitempty"`    // by id: those that problems and tests are about
	Duration time.Duration `json:"-"`                  // of the whole run: tests run side by side
}

// Rule is what a report says of a rule that it names.
type Rule struct {
	Place
	ID    string   `json:"id"`
	Title string   `json:"title,omitempty"`
	Help  string   `json:"help,omitempty"` // what the rule is for, and what to do
	Tags  []string `json:"tags,omitempty"`
}

// The severities of problems.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
)

// Problem is something wrong in a file of a policy.
type Problem struct {
	Place
	Severity   string `json:"severity"`       // SeverityError or SeverityWarning
	Code       string `json:"code,omitempty"` // what kind of problem, such as "rego.type" or "rule.shadowed"
	Message    string `json:"message"`
	Found      string `json:"found,omitempty"`
	Expected   string `json:"expected,omitempty"`
	Suggestion string `json:"suggestion,omitempty"` // the nearest name that would do
}

// Place is where something stands.
type Place struct {
	File string `json:"file,omitempty"` // slash-separated, as given by the person
	Line int    `json:"line,omitempty"` // from 1; 0: not known
	Col  int    `json:"col,omitempty"`  // from 1; 0: not known
}

// Suite is the tests of one file.
type Suite struct {
	Name  string `json:"name"` // the file
	Kind  string `json:"kind"` // "rego", "case", "example", "detector", "row"
	Tests []Test `json:"tests"`
}

// Test is one test and what came of it.
type Test struct {
	Place
	Name     string        `json:"name"` // stable: what --run matches
	Status   Status        `json:"status"`
	Rules    []string      `json:"rules,omitempty"`   // ids that it is about
	Message  string        `json:"message,omitempty"` // why it failed, in a line
	Expected string        `json:"expected,omitempty"`
	Got      string        `json:"got,omitempty"`
	Why      []string      `json:"why,omitempty"`    // what policy said, line by line
	Output   string        `json:"output,omitempty"` // what it printed
	Duration time.Duration `json:"-"`                // formats that must be the same each time leave it out
}

// RegoLines is the kind whose numbers Coverage.Files explain; the cells of
// CELBranches are branches to the formats that know such a thing.
const (
	RegoLines   = "rego lines"
	CELBranches = "cel branches"
)

// Coverage says what of a policy the tests reached. Tests themselves do not count.
type Coverage struct {
	Kinds []Kind        `json:"kinds"` // in a fixed order
	Files []FileLines   `json:"files,omitempty"`
	Cells []Cell        `json:"cells,omitempty"` // what is not lines: cells, ids, branches
	Under []KindMissing `json:"under,omitempty"` // kinds below the threshold that was asked for
}

// Kind is one thing that can be covered.
type Kind struct {
	Name    string `json:"name"` // "rego lines", "cel branches", "matrix cells", "rules", "patterns", "detectors", "access rules"
	Covered int    `json:"covered"`
	Total   int    `json:"total"`
}

// FileLines is a file's lines that hold code.
type FileLines struct {
	File    string `json:"file"`
	Covered []int  `json:"covered"`
	Missed  []int  `json:"missed"`
}

// Cell is one thing to cover that is no line.
type Cell struct {
	Place
	Kind    string `json:"kind"` // a Kind's name
	Name    string `json:"name"` // "high/low", a rule's id, an expression and "never true"
	Covered bool   `json:"covered"`
}

// KindMissing is a kind below its threshold.
type KindMissing struct {
	Kind      string  `json:"kind"`
	Percent   float64 `json:"percent"`
	Threshold float64 `json:"threshold"`
}
