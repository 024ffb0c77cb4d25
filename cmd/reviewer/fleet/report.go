// Package fleet has the status report of a machine, in the form of OPA's status API, and reads many of them: who has
// which policy, since when, and who fails or is silent.
//
// Out of scope: making and sending a report. Whoever can write to the place where reports are collected can write
// anything into them: they show what machines say, and prove nothing.
package fleet

// Report is what a machine says about its policy. It has codes, names of releases and times, never
// what a person wrote, nor a path.
type Report struct {
	Labels  map[string]string `json:"labels"`            // id, version, os, and host if the organisation asks for it
	Sent    string            `json:"timestamp"`         // RFC 3339, with milliseconds: of two reports the later one counts
	Channel string            `json:"channel,omitempty"` // from which releases are taken; empty: any
	Policy  string            `json:"policy,omitempty"`  // digest of the active policy; empty: none, and every call is denied
	Trust   Trust             `json:"trust"`
	Bundles map[string]Bundle `json:"bundles"`          // by layer
	Errors  []Error           `json:"errors,omitempty"` // about more than one layer
}

// Trust is the state of the trust file.
type Trust struct {
	State   string `json:"state"`
	Version int64  `json:"version,omitempty"`
}

// Bundle is the state of a layer. The first fields are those of OPA.
type Bundle struct {
	Name       string  `json:"name"`
	Revision   string  `json:"active_revision,omitempty"` // its version
	Activated  string  `json:"last_successful_activation,omitempty"`
	Requested  string  `json:"last_request,omitempty"`
	Successful string  `json:"last_successful_request,omitempty"` // what was fetched was accepted
	Code       string  `json:"code,omitempty"`                    // why the last request failed; empty: it did not
	Errors     []Error `json:"errors,omitempty"`                  // what policy status finds wrong

	Channel  string   `json:"channel,omitempty"`
	Sequence int64    `json:"sequence,omitempty"`
	Archive  string   `json:"archive,omitempty"` // SHA-256
	Refused  string   `json:"refused,omitempty"` // SHA-256 of the archive that the last request did not accept
	Held     []string `json:"held,omitempty"`    // SHA-256 of archives that were rolled back and stay away
}

// Error is a problem.
type Error struct {
	Code string `json:"code"`
}

// Codes besides those of package trust.
const (
	Unreachable = "unreachable" // the release could not be fetched
	NoPolicy    = "no_policy"   // every call is denied
	Problem     = "problem"     // policy status has the text
	OffChannel  = "channel"     // what is active is from another channel
	NoRelease   = "no_release"  // the organisation's layer was rolled back to no bundle
)
