package api

import "fmt"

// Error is why a request was refused. All errors of the API have this form.
type Error struct {
	Code    string `json:"code"`  // one of the codes of the API, for programs
	Message string `json:"error"` // what is wrong, for people
	Do      string `json:"do"`    // what to do
}

// Error returns the problem and what to do about it.
func (e *Error) Error() string { return fmt.Sprintf("%s; %s", e.Message, e.Do) }

// The codes of errors.
const (
	CodeHost        = "wrong_host"         // the request was addressed to another machine or port
	CodeBrowser     = "from_a_browser"     // a page of another origin sent it
	CodeToken       = "no_token"           // the token is missing or wrong
	CodeNotFound    = "not_found"          // the path or the session does not exist
	CodeMethod      = "wrong_method"       // the method is not allowed on this path
	CodeType        = "wrong_content_type" // the body is not declared as JSON
	CodeTooLong     = "too_long"           // the body is too long
	CodeDocument    = "bad_document"       // the body is not the expected document
	CodeNoCode      = "no_approval_code"   // the approval code is missing, or none was set
	CodeWrongCode   = "wrong_code"         // the approval code is wrong
	CodeLocked      = "locked"             // too many wrong codes
	CodeAnswered    = "answered"           // the question has an answer
	CodeStopped     = "stopped"            // the session was stopped
	CodeStale       = "stale"              // the digest does not match the question
	CodeLate        = "late"               // the time for an answer has passed
	CodeUnknown     = "unknown_question"   // no such question
	CodeBusy        = "busy"               // too many requests at once
	CodeUnavailable = "unavailable"        // the state directory cannot be used
)

// Codes lists the codes of errors.
func Codes() []string {
	return []string{CodeHost, CodeBrowser, CodeToken, CodeNotFound, CodeMethod, CodeType, CodeTooLong, CodeDocument, CodeNoCode,
		CodeWrongCode, CodeLocked, CodeAnswered, CodeStopped, CodeStale, CodeLate, CodeUnknown, CodeBusy, CodeUnavailable}
}
