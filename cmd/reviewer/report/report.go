// Package report defines the results of checking and testing a policy, and writes them
// in formats for people and machines.
//
// Out of scope: checking and testing. It reads no file, no clock and no
// environment: the same report has the same bytes.
package report

import "time"

// Status is the outcome of a test.
type Status string

// The statuses of tests.
const (
	Pass  Status = "pass"
	Fail  Status = "fail"  // ran, with a result other than the expected one
	Error Status = "error" // could not run
	Skip  Status = "skip"
	Todo  Status = "todo" // known to fail, and marked so
)

// Report contains the findings of a command.
type Report struct {
	Command  string        `json:"command"`            // "policy test"
	Policy   string        `json:"policy,omitempty"`   // digest of what was tested
	Stopped  bool          `json:"stopped,omitempty"`  // it could not run; problems say why
	Problems []Problem     `json:"problems,omitempty"` // by place
	Ignored  []Ignored     `json:"ignored,omitempty"`  // what was found and accepted
	Suites   []Suite       `json:"suites,omitempty"`   // by name; nil: the command runs no tests
	Coverage *Coverage     `json:"coverage,omitempty"` // nil: not asked for
	Rules    []Rule        `json:"rules,omitempty"`    // by id: those that problems and tests are about
	Duration time.Duration `json:"-"`                  // of the whole run: tests run side by side
}

// Rule describes a rule that a report names.
type Rule struct {
	Place
	ID    string   `json:"id"`
	Title string   `json:"title,omitempty"`
	Full  string   `json:"-"`              // the title as full sentences; empty: the title
	Help  string   `json:"help,omitempty"` // what the rule is for, and what to do
	Tags  []string `json:"tags,omitempty"`
}

// The severities of problems.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
)

// Problem is a defect in a file of a policy.
type Problem struct {
	Place
	Severity   string `json:"severity"`       // SeverityError or SeverityWarning
	Code       string `json:"code,omitempty"` // what kind of problem, such as "rego.type" or "rule.shadowed"
	Message    string `json:"message"`
	Found      string `json:"found,omitempty"`
	Expected   string `json:"expected,omitempty"`
	Suggestion string `json:"suggestion,omitempty"` // the most similar valid name
	Follows    int    `json:"follows,omitempty"`    // how many other problems only follow from this one, and are left out
}

// Ignored is a problem that someone has accepted.
type Ignored struct {
	Problem
	By     string `json:"by"`     // ByComment or ByManifest
	Reason string `json:"reason"` // as given
}

// How a problem was accepted.
const (
	ByComment  = "comment"
	ByManifest = "manifest"
)

// Place is a position in a file.
type Place struct {
	File string `json:"file,omitempty"` // slash-separated, as given by the person
	Line int    `json:"line,omitempty"` // from 1; 0: unknown
	Col  int    `json:"col,omitempty"`  // from 1; 0: unknown
}

// Suite is the tests of one file.
type Suite struct {
	Name  string `json:"name"` // the file
	Kind  string `json:"kind"` // "rego", "case", "example", "detector", "row"
	Tests []Test `json:"tests"`
}

// Test is one test with its outcome.
type Test struct {
	Place
	Name     string        `json:"name"` // stable: what --run matches
	Status   Status        `json:"status"`
	Rules    []string      `json:"rules,omitempty"`   // ids that it is about
	Message  string        `json:"message,omitempty"` // why it failed, in a line
	Expected string        `json:"expected,omitempty"`
	Got      string        `json:"got,omitempty"`
	Why      []string      `json:"why,omitempty"`    // the policy's answer, line by line
	Output   string        `json:"output,omitempty"` // what it printed
	Duration time.Duration `json:"-"`                // formats that must be the same each time leave it out
}

// RegoLines is the kind whose numbers Coverage.Files explain; formats that support branches show
// the cells of CELBranches as branches.
const (
	RegoLines   = "rego lines"
	CELBranches = "cel branches"
)

// Coverage is the parts of a policy that tests reached. The tests themselves do not count.
type Coverage struct {
	Kinds []Kind        `json:"kinds"` // in a fixed order
	Files []FileLines   `json:"files,omitempty"`
	Cells []Cell        `json:"cells,omitempty"` // uncovered things other than lines: cells, ids, branches
	Under []KindMissing `json:"under,omitempty"` // kinds below the threshold that was asked for
}

// Kind is one thing that can be covered.
type Kind struct {
	Name    string `json:"name"` // "rego lines", "cel branches", "matrix cells", "rules", "patterns", "detectors", "access rules"
	Covered int    `json:"covered"`
	Total   int    `json:"total"`
}

// FileLines is the lines of a file that contain code.
type FileLines struct {
	File    string `json:"file"`
	Covered []int  `json:"covered"`
	Missed  []int  `json:"missed"`
}

// Cell is one thing to cover that is not a line.
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
