package signing

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// statementType is the type of all statements: in-toto's, version 1.
const statementType = "https://in-toto.io/Statement/v1"

// Subject is the file that a statement is about.
type Subject struct {
	Name   string // base name of the file
	SHA256 string // of its bytes, hex
}

// SubjectOf returns the subject for a file: base name and digest.
func SubjectOf(name string, content []byte) Subject {
	return Subject{name, SHA256(content)}
}

// SHA256 returns the digest of bytes in lower-case hex, as in statements.
func SHA256(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Predicate is the content of a statement about its subject, such as Release. A change
// of its JSON form requires another type.
type Predicate interface {
	PredicateType() string // a unique URI
	Check() error          // what is wrong with it
}

type statementJSON struct {
	Type          string        `json:"_type"`
	Subject       []subjectJSON `json:"subject"`
	PredicateType string        `json:"predicateType"`
	Predicate     any           `json:"predicate"`
}

type subjectJSON struct {
	Name   string `json:"name"`
	Digest struct {
		SHA256 string `json:"sha256"`
	} `json:"digest"`
}

// Seal returns a statement in an unsigned envelope. The same statement has the same bytes.
func Seal(s Subject, p Predicate) (*Envelope, error) {
	if err := errors.Join(s.check(), p.Check()); err != nil {
		return nil, fmt.Errorf("statement: %w", err)
	}
	return seal([]Subject{s}, p)
}

func seal(subjects []Subject, p Predicate) (*Envelope, error) {
	doc := statementJSON{statementType, make([]subjectJSON, len(subjects)), p.PredicateType(), p}
	for i, s := range subjects {
		doc.Subject[i].Name, doc.Subject[i].Digest.SHA256 = s.Name, s.SHA256
	}
	payload, err := json.Marshal(doc)
	return &Envelope{Payload: payload}, err
}

// Open reads the statement of an envelope, without verifying signatures. P is a
// struct, the type of the statement's predicate.
func Open[P Predicate](e *Envelope) (Subject, P, error) {
	subjects, p, err := open[P](e)
	switch {
	case err != nil:
		return Subject{}, p, err
	case len(subjects) != 1:
		return Subject{}, p, fmt.Errorf("the statement has %d subjects; expected one", len(subjects))
	}
	s := subjects[0]
	if err := errors.Join(s.check(), p.Check()); err != nil {
		return Subject{}, p, fmt.Errorf("statement: %w", err)
	}
	return s, p, nil
}

// newerType reports whether a predicate type is a later version of one of this program,
// such as …/v2 of …/v1.
func newerType(got, known string) bool {
	base, version, ok := strings.Cut(known, "/v1")
	rest, same := strings.CutPrefix(got, base+"/v")
	n, err := strconv.Atoi(rest)
	return ok && version == "" && same && err == nil && n > 1
}

func open[P Predicate](e *Envelope) ([]Subject, P, error) {
	var p P
	doc := statementJSON{Predicate: &p}
	// A later version may have other fields, so this is reported before errors about
	// fields.
	var later struct{ PredicateType string }
	if json.Unmarshal(e.Payload, &later) == nil && newerType(later.PredicateType, p.PredicateType()) {
		return nil, p, fmt.Errorf("the statement was written by a newer reviewer (%.200s, this one knows %s); install that version",
			later.PredicateType, p.PredicateType())
	}
	if err := decodeStrict(e.Payload, &doc); err != nil {
		return nil, p, fmt.Errorf("read statement: %w", err)
	}
	switch {
	case doc.Type != statementType:
		return nil, p, fmt.Errorf("the statement is of type %.100q; expected %q", doc.Type, statementType)
	case doc.PredicateType != p.PredicateType():
		return nil, p, fmt.Errorf("the statement has the predicate type %.200q; expected %q", doc.PredicateType, p.PredicateType())
	}
	subjects := make([]Subject, len(doc.Subject))
	for i, s := range doc.Subject {
		subjects[i] = Subject{s.Name, s.Digest.SHA256}
	}
	return subjects, p, nil
}

func (s Subject) check() error {
	return errors.Join(
		plainWord("subject.name", s.Name, true),
		isSHA256("subject.digest.sha256", s.SHA256),
		unless(!strings.ContainsAny(s.Name, `/\`) && s.Name != "." && s.Name != "..",
			"subject.name is %.100q; expected the name of a file, without folders", s.Name),
	)
}

// Time is a time in Unix milliseconds, in whole seconds; 0 is none. It is
// written as RFC 3339 in UTC, such as 2026-01-31T15:04:05Z.
type Time int64

const timeForm = "2006-01-02T15:04:05Z"

// TimeOf returns a time without its fraction of a second.
func TimeOf(t time.Time) Time { return Time(t.Unix() * 1000) }

// String returns the time as a statement contains it.
func (m Time) String() string { return time.UnixMilli(int64(m)).UTC().Format(timeForm) }

// MarshalText implements encoding.TextMarshaler.
func (m Time) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. It accepts only one format.
func (m *Time) UnmarshalText(text []byte) error {
	t, err := time.Parse(timeForm, string(text))
	if err != nil {
		return fmt.Errorf("the time is %.100q; expected one in UTC such as 2026-01-31T15:04:05Z", text)
	}
	*m = TimeOf(t)
	return nil
}

// maxWord bounds a name in a statement, in bytes: they are printed.
const maxWord = 256

// plainWord refuses line breaks and control characters.
func plainWord(field, text string, required bool) error {
	switch {
	case text == "" && required:
		return fmt.Errorf("%s is missing", field)
	case len(text) > maxWord || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("%s is %.100q; expected at most %d bytes that can be printed on one line", field, text, maxWord)
	}
	return nil
}

func isSHA256(field, text string) error {
	if len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == "" {
		return nil
	}
	return fmt.Errorf("%s is %.100q; expected a SHA-256 of 64 digits", field, text)
}

func unless(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}
