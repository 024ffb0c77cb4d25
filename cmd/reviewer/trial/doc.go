// Package trial runs the tests of a policy: its Rego tests, its cases, and the
// examples of its rules and detectors, all against the policy as it decides in
// production. It reports the outcome of each, and the coverage of the policy.
//
// Out of scope: where a policy is on this machine, and the form of a report.
package trial
