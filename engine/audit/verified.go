package audit

import (
	"fmt"
	"iter"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/engine"
)

// Verified iterates over a session's records, oldest first, as far as each
// line's hash is the prev of the next: a line is returned once the one after it
// confirms it. The newest line is unconfirmed, and an incomplete line at the
// end is not a record yet. The first mismatch ends it with a *Damage; seals and
// the ledger are checked by Verify.
func (s *Store) Verified(one Session) iter.Seq2[*engine.Record, error] {
	return verifiedRecords(one.Dir, dirName)
}

// VerifiedLedger is Verified for the machine's chain.
func (s *Store) VerifiedLedger() iter.Seq2[*engine.Record, error] {
	return verifiedRecords(s.ledgerDir(), func(engine.SessionKey) string { return filepath.Base(s.ledgerDir()) })
}

// verifiedRecords reads the chain in a folder, which must have the name that
// belongs to the session in it.
func verifiedRecords(dir string, name func(engine.SessionKey) string) iter.Seq2[*engine.Record, error] {
	return func(yield func(*engine.Record, error) bool) {
		var held *engine.Record
		var hash string
		for line, err := range lines(dir, 0) {
			var r *engine.Record
			if err == nil {
				r, err = nextVerified(line, held, hash, name)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if held != nil && !yield(held, nil) {
				return
			}
			held, hash = r, engine.LineHash(line.Raw)
		}
		if held != nil {
			yield(held, nil)
		}
	}
}

// nextVerified decodes a line, and compares it with the previous line and its
// hash.
func nextVerified(line Line, before *engine.Record, hash string, name func(engine.SessionKey) string) (*engine.Record, error) {
	r, err := readRecord(line.Raw)
	what := ""
	switch {
	case err != nil:
	case before == nil || purgedBetween(line, before):
		what = badStart(line, r, name)
	case r.N != before.N+1:
		what = fmt.Sprintf("n is %d after %d", r.N, before.N)
	case r.Prev != hash:
		what = "prev is not the hash of the previous line: one of the two was changed"
	case r.Chain != before.Chain:
		what = fmt.Sprintf("the record belongs to chain %q", r.Chain)
	}
	if err != nil {
		return nil, damaged(line.File, line.Number, err)
	}
	if what != "" {
		return nil, &Damage{File: line.File, Line: line.Number, What: what}
	}
	return r, nil
}

// badStart reports why a record cannot be the first that remains of a chain.
func badStart(line Line, r *engine.Record, name func(engine.SessionKey) string) string {
	switch what := misplaced(r); {
	case what != "":
		return what
	case filepath.Base(filepath.Dir(line.File)) != name(engine.SessionKey{Harness: r.Harness, Session: r.Session}):
		return "the folder contains the chain of another session: it was moved or copied here"
	}
	return ""
}

// purgedBetween reports whether retention deleted the files between two lines
// while they were read: then no file before the second line's is left.
func purgedBetween(line Line, before *engine.Record) bool {
	if line.Number > 1 || line.N == before.N+1 {
		return false
	}
	files, err := chainFiles(filepath.Dir(line.File))
	return err == nil && len(files) > 0 && fileName(files[0]) == filepath.Base(line.File)
}
