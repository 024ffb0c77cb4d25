package audit

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// spoken are the texts of calls that can become prompts, in all sessions.
type spoken struct {
	size   int64                     // of the ledger when it was read
	latest map[string]*engine.Record // by digest of the text: the note that counts longest
}

const digestsOfLine = 256 // a line of the ledger has room for twice as many of 16 digits

const dayMS = 24 * 60 * 60 * 1000

// until returns the time from which on the texts of a note become prompts no more; 0: there is none.
func until(note *engine.Record) int64 {
	if note.Note.Prompts.Days <= 0 {
		return 0
	}
	return note.T + note.Note.Prompts.Days*dayMS
}

// notePrompts records in the ledger which texts of a call can become prompts, in any session. Those of a call that was denied
// cannot.
func (s *Store) notePrompts(ctx context.Context, r *engine.Record) error {
	if r.Prompts == nil || r.Event == nil || r.Answer != nil && r.Answer.Effect == engine.Block {
		return nil
	}
	var notes []*engine.Record
	for macs := range slices.Chunk(r.Prompts.MACs, digestsOfLine) {
		notes = append(notes, &engine.Record{Kind: engine.KindNote, T: r.T, Session: r.Session, Harness: r.Harness,
			Note: &engine.Note{What: engine.NotePromptTexts, Prompts: &engine.PromptTexts{MACs: macs, Days: r.Prompts.Days,
				Of: r.ID(), Tool: engine.ClipJSON(r.Event.Tool, 64)}}})
	}
	return s.ledger(ctx, notes...)
}

// PromptSource returns a call whose text a prompt repeats, by digests of the prompt and its parts. Nil: there is none, or its
// text cannot become a prompt any more at the given time, in Unix milliseconds.
func (s *Store) PromptSource(digests []string, at int64) (*engine.PromptTexts, error) {
	known, err := s.spokenTexts()
	if err != nil {
		return nil, err
	}
	for _, d := range digests {
		if note := known.latest[d]; note != nil && (until(note) == 0 || at <= until(note)) {
			return note.Note.Prompts, nil
		}
	}
	return nil, nil
}

// spokenTexts reads the ledger, again only if it has grown.
func (s *Store) spokenTexts() (*spoken, error) {
	size := s.LedgerSize()
	s.mu.Lock()
	known := s.spoken
	s.mu.Unlock()
	if known != nil && known.size == size {
		return known, nil
	}
	known = &spoken{size: size, latest: map[string]*engine.Record{}}
	for line, err := range lines(s.ledgerDir(), 0) {
		if err != nil {
			return nil, fmt.Errorf("read in the ledger which texts can become prompts: %w", err)
		}
		if !bytes.Contains(line.Raw, []byte(`"what":"`+engine.NotePromptTexts)) {
			continue
		}
		r, err := readRecord(line.Raw)
		if err != nil {
			return nil, damaged(line.File, line.Number, err)
		}
		if r.Note == nil || r.Note.Prompts == nil {
			continue
		}
		for _, d := range r.Note.Prompts.MACs {
			if before := known.latest[d]; before == nil || until(before) != 0 && (until(r) == 0 || until(r) >= until(before)) {
				known.latest[d] = r
			}
		}
	}
	s.mu.Lock()
	s.spoken = known
	s.mu.Unlock()
	return known, nil
}
