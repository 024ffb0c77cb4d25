package trust

import (
	"errors"
	"fmt"
)

// Code is the reason why a bundle or a trust file is refused, as one word.
type Code string

// The codes, in the order in which things are checked.
const (
	Untrusted Code = "trust"     // the trust file itself is invalid
	Unsigned  Code = "unsigned"  // there is no signature
	Threshold Code = "threshold" // not enough keys of the role signed
	Digest    Code = "digest"    // the signatures are for another archive
	Revoked   Code = "revoked"   // the trust file revokes this archive
	Scope     Code = "scope"     // a policy or channel that is not trusted, not requested, or not the one in its manifest
	Rollback  Code = "rollback"  // an older sequence than was seen
	Expired   Code = "expired"   // expired, or created in the future
	Engine    Code = "engine"    // needs a newer reviewer
	Unpack    Code = "unpack"    // the archive is not a plain, bounded bundle
	Compile   Code = "compile"   // the policy does not work
	Held      Code = "held"      // it was rolled back on this machine
)

// Codes lists every Code.
func Codes() []string {
	var all []string
	for _, c := range []Code{Untrusted, Unsigned, Threshold, Digest, Revoked, Scope, Rollback, Expired, Engine, Unpack, Compile, Held} {
		all = append(all, string(c))
	}
	return all
}

// Refusal is an error with a code. Its text describes what to do.
type Refusal struct {
	Code Code
	Err  error
}

// Error implements error.
func (r *Refusal) Error() string { return r.Err.Error() }

// Unwrap returns the error that caused the refusal.
func (r *Refusal) Unwrap() error { return r.Err }

func refuse(code Code, format string, args ...any) error {
	return &Refusal{code, fmt.Errorf(format, args...)}
}

// CodeOf returns the code of an error; Untrusted for an error without one,
// since what could not be checked cannot be trusted.
func CodeOf(err error) Code {
	if r := (*Refusal)(nil); errors.As(err, &r) {
		return r.Code
	}
	return Untrusted
}
