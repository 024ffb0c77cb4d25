package signing

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/mod/semver"
)

// ReleaseType is the predicate type of a Release.
const ReleaseType = "https://github.com/agent-reviewer/reviewer/policy-release/v1"

// Release describes an archive: the policy, its place in the order of versions, and
// the results of its checks. Unknown fields are refused: a new field requires version
// 2 of the predicate.
type Release struct {
	Name         string         `json:"name"`
	Version      string         `json:"version"`               // semver, without a v
	Channel      string         `json:"channel"`               // such as stable
	Sequence     int64          `json:"sequence"`              // rises with each release of (name, channel)
	Revision     string         `json:"revision,omitempty"`    // of the sources
	Policy       string         `json:"policy"`                // digest of the effective files, h1:…
	Created      Time           `json:"created"`               // when the release was made
	Expires      Time           `json:"expires,omitempty"`     // 0: never
	RollbackOf   int64          `json:"rollback_of,omitempty"` // the sequence whose contents this brings back; 0: none
	Requires     map[string]int `json:"requires"`              // as in the manifest, such as engine: 3
	Capabilities string         `json:"capabilities"`          // SHA-256 of the Rego capabilities that it was checked against
	SkippedTests bool           `json:"skipped_tests,omitempty"`
	Ignored      map[string]int `json:"ignored,omitempty"`    // code -> findings of policy check that were accepted; nil: none
	Tests        *Tests         `json:"tests,omitempty"`      // nil only if they were skipped
	Simulation   *Simulation    `json:"simulation,omitempty"` // nil: none is attested
}

// Tests is the results of a policy's tests when its archive was built.
type Tests struct {
	Passed   int                 `json:"passed"`
	Failed   int                 `json:"failed"` // always 0: a policy that fails is not signed
	Todo     int                 `json:"todo"`
	Left     int                 `json:"left"`          // could not run where it was built
	Coverage map[string]Coverage `json:"coverage"`      // by kind, such as rego lines
	Report   string              `json:"report_sha256"` // of ARCHIVE.results.json
}

// Coverage counts what tests reached.
type Coverage struct {
	Covered int `json:"covered"`
	Total   int `json:"total"`
}

// Simulation is the result of replaying recorded sessions under the policy, in numbers
// of decisions. A loosened setting that applies to all decisions loosens each.
type Simulation struct {
	Baseline  string `json:"baseline"` // digest of the policy compared with, or recorded
	Decisions int64  `json:"decisions"`
	Changed   int64  `json:"changed"`
	Tightened int64  `json:"tightened"`
	Loosened  int64  `json:"loosened"`
	Maybe     int64  `json:"maybe"`         // those that may be loosened, since a fact is missing
	Unknown   int64  `json:"unknown"`       // those that could not be compared, and may be loosened
	Report    string `json:"report_sha256"` // of the report as policy simulate -f json wrote it
}

// PredicateType implements Predicate.
func (Release) PredicateType() string { return ReleaseType }

// Check implements Predicate. It reports every invalid field.
func (r Release) Check() error {
	return errors.Join(
		plainWord("name", r.Name, true), plainWord("channel", r.Channel, true), plainWord("revision", r.Revision, false),
		plainWord("policy", r.Policy, true),
		unless(semver.IsValid("v"+r.Version) && len(r.Version) <= maxWord, "version is %.100q; expected one such as 1.4.0", r.Version),
		unless(r.Sequence > 0, "sequence is %d; expected at least 1", r.Sequence),
		unless(r.RollbackOf >= 0 && r.RollbackOf < r.Sequence,
			"rollback_of is %d; expected a sequence below this one, %d", r.RollbackOf, r.Sequence),
		unless(r.Created > 0, "created is missing"),
		unless(r.Expires == 0 || r.Expires > r.Created, "expires is %s; expected a time after created, %s", r.Expires, r.Created),
		isSHA256("capabilities", r.Capabilities),
		r.checkRequires(), r.checkIgnored(), r.checkTests(), r.Simulation.check(),
	)
}

func (r Release) checkRequires() error {
	for _, what := range slices.Sorted(maps.Keys(r.Requires)) {
		if err := plainWord("requires", what, true); err != nil || r.Requires[what] < 0 {
			return errors.Join(err, fmt.Errorf("requires.%.100q is %d; expected 0 or more", what, r.Requires[what]))
		}
	}
	return unless(r.Requires != nil, "requires is missing; expected an object, which may be empty")
}

func (r Release) checkIgnored() error {
	for _, code := range slices.Sorted(maps.Keys(r.Ignored)) {
		if err := plainWord("ignored", code, true); err != nil || r.Ignored[code] < 1 {
			return errors.Join(err, fmt.Errorf("ignored.%.100q is %d; expected 1 or more", code, r.Ignored[code]))
		}
	}
	return nil
}

func (r Release) checkTests() error {
	t := r.Tests
	switch {
	case r.SkippedTests != (t == nil):
		return errors.New("tests: expected either results of tests, or skipped_tests")
	case t == nil:
		return nil
	case t.Passed < 0 || t.Todo < 0 || t.Left < 0 || t.Failed != 0:
		return fmt.Errorf("tests: %d passed, %d failed, %d todo; expected 0 failed, and nothing below 0", t.Passed, t.Failed, t.Todo)
	}
	for _, kind := range slices.Sorted(maps.Keys(t.Coverage)) {
		if c := t.Coverage[kind]; c.Covered < 0 || c.Covered > c.Total || plainWord("kind", kind, true) != nil {
			return fmt.Errorf("tests.coverage.%.100q is %d of %d", kind, c.Covered, c.Total)
		}
	}
	return errors.Join(unless(t.Coverage != nil, "tests.coverage is missing"), isSHA256("tests.report_sha256", t.Report))
}

func (s *Simulation) check() error {
	if s == nil {
		return nil
	}
	counts := []int64{s.Decisions, s.Changed, s.Tightened, s.Loosened, s.Maybe, s.Unknown}
	return errors.Join(
		plainWord("simulation.baseline", s.Baseline, true),
		unless(slices.Min(counts) >= 0 && slices.Max(counts) <= s.Decisions,
			"simulation: counts must be from 0 to its %d decisions", s.Decisions),
		isSHA256("simulation.report_sha256", s.Report),
	)
}
