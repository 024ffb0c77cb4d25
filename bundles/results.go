package bundles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/engine"
)

// ResultsSuffix is appended to an archive's name for its results.
const ResultsSuffix = ".results.json"

// ResultsVersion is the version of the document's format.
const ResultsVersion = 1

// maxResults bounds a document of results, in bytes; one has about a thousand.
const maxResults = 1 << 20

// Results contains the results of checking and testing a policy when its
// archive was built: what a signature attests. The same files give the same
// bytes: it contains no times, and no names of this machine's folders.
type Results struct {
	V        int              `json:"v"` // of the format, now 1
	Archive  ArchiveSum       `json:"archive"`
	Policy   string           `json:"policy"` // digest of the files that count (h1:…), as `policy show` has it
	Layer    string           `json:"layer"`  // of Layers
	Name     string           `json:"name"`
	Version  string           `json:"version"`
	Sequence int64            `json:"sequence"`
	Revision string           `json:"revision,omitempty"`
	Created  string           `json:"created,omitempty"` // RFC 3339, UTC
	Requires map[string]int   `json:"requires"`          // minimum versions of programs that read it
	Skipped  bool             `json:"tests_skipped"`     // no test ran: tests and coverage are empty
	Tests    TestCounts       `json:"tests"`
	Coverage []CoverageOfKind `json:"coverage"`          // in a fixed order; empty: no test ran
	Warnings int              `json:"warnings"`          // warnings of `policy check`
	Ignored  map[string]int   `json:"ignored,omitempty"` // code -> how many findings of `policy check` were accepted
	Built    engine.Env       `json:"built_by"`          // what checked and tested it

	Capabilities string `json:"capabilities"` // SHA-256 of the output of `policy capabilities`, in hex
}

// ArchiveSum names an archive by its bytes.
type ArchiveSum struct {
	SHA256 string `json:"sha256"` // in hex
	Size   int    `json:"size"`   // bytes
}

// TestCounts counts tests by result.
type TestCounts struct {
	Passed int `json:"passed"`
	Failed int `json:"failed"`
	Todo   int `json:"todo"` // known to fail
	Left   int `json:"left"` // that could not run here, such as cases of another platform
}

// CoverageOfKind is the coverage of one kind.
type CoverageOfKind struct {
	Kind    string `json:"kind"` // such as "rego lines"
	Covered int    `json:"covered"`
	Total   int    `json:"total"`
}

// TestsText returns the result of the tests on one line.
func (r *Results) TestsText() string {
	if r.Skipped {
		return "skipped"
	}
	text := fmt.Sprintf("%d passed", r.Tests.Passed)
	for _, n := range []struct {
		count int
		what  string
	}{{r.Tests.Failed, "failed"}, {r.Tests.Todo, "to do"}, {r.Tests.Left, "left out here"}} {
		if n.count > 0 {
			text += fmt.Sprintf(", %d %s", n.count, n.what)
		}
	}
	return text
}

// IgnoredCount returns the number of accepted findings of policy check.
func (r *Results) IgnoredCount() int {
	n := 0
	for _, of := range r.Ignored {
		n += of
	}
	return n
}

// Encode returns the document's bytes.
func (r *Results) Encode() ([]byte, error) { return indented(r) }

// ReadResults reads the results next to an archive, and checks that they are for this
// archive.
func ReadResults(in io.Reader, archive []byte) (*Results, error) {
	raw, err := io.ReadAll(io.LimitReader(in, maxResults+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read results: %w", err)
	case len(raw) > maxResults:
		return nil, fmt.Errorf("the results have more than %d bytes; build the archive again", maxResults)
	}
	if _, err := engine.Canonical(raw); err != nil {
		return nil, fmt.Errorf("read results: %w; build the archive again", err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var r Results
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("read results: %w; build the archive again", err)
	}
	return &r, r.check(archive)
}

func (r *Results) check(archive []byte) error {
	switch {
	case r.V != ResultsVersion:
		return fmt.Errorf("the results have format version %d; this reviewer reads %d", r.V, ResultsVersion)
	case r.Archive != sumOf(archive):
		return errors.New("the results belong to another archive; build it again")
	case !r.Skipped && r.Tests.Failed > 0:
		return fmt.Errorf("the results contain %s; build again when none fails", engine.Counted(r.Tests.Failed, "failed test", "failed tests"))
	case !r.Skipped && r.Tests.Passed == 0:
		return errors.New("the results contain no passed test; build again, with tests or with --skip-tests")
	}
	return nil
}

// indented writes a document for people and programs: the same bytes each time.
func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}
