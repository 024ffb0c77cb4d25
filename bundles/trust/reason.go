package trust

import (
	"errors"
	"fmt"
)

// Code says in one word why a bundle or a trust file is refused.
type Code string

// The codes, in the order in which things are checked.
const (
	Untrusted Code = "trust"     // the trust file itself does not hold
	Unsigned  Code = "unsigned"  // there is no signature
	Threshold Code = "threshold" // not enough keys of the role signed
	Digest    Code = "digest"    // what was signed is another archive
	Scope     Code = "scope"     // another policy or channel than is trusted, asked for, or named in its manifest
	Rollback  Code = "rollback"  // older than what was seen
	Expired   Code = "expired"   // past its time, or not made yet
	Engine    Code = "engine"    // needs another reviewer
	Unpack    Code = "unpack"    // the archive is no plain, bounded bundle
	Compile   Code = "compile"   // it is no policy that works
)

// Codes lists every Code.
func Codes() []string {
	var all []string
	for _, c := range []Code{Untrusted, Unsigned, Threshold, Digest, Scope, Rollback, Expired, Engine, Unpack, Compile} {
		all = append(all, string(c))
	}
	return all
}

// Refusal is an error with a code. Its text says what to do.
type Refusal struct {
	Code Code
	Err  error
}

// Error implements error.
func (r *Refusal) Error() string { return r.Err.Error() }

// Unwrap returns what is behind the refusal.
func (r *Refusal) Unwrap() error { return r.Err }

func refuse(code Code, format string, args ...any) error {
	return &Refusal{code, fmt.Errorf(format, args...)}
}

// CodeOf returns the code of an error; of one that has none, Untrusted: nothing
// can be trusted that could not be checked.
func CodeOf(err error) Code {
	if r := (*Refusal)(nil); errors.As(err, &r) {
		return r.Code
	}
	return Untrusted
}
