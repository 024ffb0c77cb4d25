// Package trial runs the tests of a policy: its Rego tests, its cases, and the
// examples of its rules and detectors, all against the policy as it decides in
// earnest. It says what came of each, and what of the policy they reached.
//
// Not its business: where a policy lies on this machine, and how a report is
// shown.
package trial
