package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// join checks a chain's files together and notes the first problem.
func (v *verifier) join(c *verified) {
	if len(c.files) == 0 || c.purgedMeanwhile() {
		return
	}
	v.report.Chains++
	var before *scan
	for i := range c.files {
		v.report.Files++
		found := &c.scans[i]
		v.report.Lines += found.lines
		v.report.Bytes += found.bytes
		if p := v.file(c, i, before); p != nil {
			v.problem(c, *p)
			return
		}
		if found.lines > 0 {
			before = found
		}
	}
	v.compareLedger(c, before)
}

// purgedMeanwhile reports whether retention deleted files between the reading
// of their sizes and the scan.
func (c *verified) purgedMeanwhile() bool {
	return slices.ContainsFunc(c.errs, func(err error) bool { return errors.Is(err, fs.ErrNotExist) })
}

func (v *verifier) problem(c *verified, p Problem) {
	p.Session, p.Chain = c.key, c.chain
	v.report.Problems = append(v.report.Problems, p)
}

// file returns the problem of a file, or of the transition from the previous one.
func (v *verifier) file(c *verified, i int, before *scan) *Problem {
	f, found := c.files[i], &c.scans[i]
	at := func(line, n int64, what string) *Problem { return &Problem{File: f.path, Line: line, N: n, What: what} }
	if c.errs[i] != nil {
		return at(0, 0, c.errs[i].Error())
	}
	if i > 0 && f.number != c.files[i-1].number+1 {
		path := filepath.Join(c.dir, fileName(c.files[i-1].number+1))
		return &Problem{File: path, What: "the file is missing"}
	}
	if found.lines == 0 && found.bad == nil {
		return v.emptyFile(c, i, at)
	}
	if found.lines > 0 {
		if p := v.seam(c, i, before, at); p != nil {
			return p
		}
	}
	if found.bad != nil {
		return at(found.bad.line, found.bad.n, found.bad.what)
	}
	return v.torn(c, i, at)
}

// emptyFile checks an empty file: a kill may have come between creating a file
// and writing its first line.
func (v *verifier) emptyFile(c *verified, i int, at func(int64, int64, string) *Problem) *Problem {
	if i+1 < len(c.files) {
		return at(0, 0, "the file is empty, but another follows")
	}
	return v.torn(c, i, at)
}

func (v *verifier) torn(c *verified, i int, at func(int64, int64, string) *Problem) *Problem {
	found := &c.scans[i]
	if found.torn == 0 {
		return nil
	}
	return at(found.lines+1, found.lastN+1, fmt.Sprintf("the file ends in an incomplete line of %d bytes, which the next record repairs",
		found.torn))
}

// seam checks a file's first line.
func (v *verifier) seam(c *verified, i int, before *scan, at func(int64, int64, string) *Problem) *Problem {
	found := &c.scans[i]
	own := found.bad != nil && found.bad.line == 1
	switch {
	case before == nil && found.firstN == 1:
		return v.beginning(c, found, at)
	case found.firstKind != string(engine.KindKeyframe):
		return at(1, found.firstN, "the file does not start with a keyframe")
	case before == nil:
		return v.purgedBefore(c, found, at)
	case found.firstN != before.lastN+1:
		return at(1, found.firstN, fmt.Sprintf("n is %d after %d: lines at the end of the previous file are missing", found.firstN, before.lastN))
	case found.prev != before.lastHash && own:
		return at(1, found.firstN, found.bad.what)
	case found.prev != before.lastHash:
		return &Problem{File: c.files[i-1].path, Line: before.lines, N: before.lastN,
			What: "the line was changed: its hash is not the prev of the next file's first line"}
	}
	return nil
}

func (v *verifier) beginning(c *verified, found *scan, at func(int64, int64, string) *Problem) *Problem {
	r, err := readRecord(found.first)
	switch {
	case err != nil:
		return at(1, 1, err.Error())
	case found.prev != engine.ChainSeed(r.Chain):
		return at(1, 1, "prev is not the seed of the chain")
	case r.Kind != engine.KindOpen:
		return at(1, 1, "the chain does not start with its open record")
	}
	return nil
}

// purgedBefore checks lines missing before the first file: the ledger must
// record that retention deleted them.
func (v *verifier) purgedBefore(c *verified, found *scan, at func(int64, int64, string) *Problem) *Problem {
	for _, r := range v.purges[c.chain] {
		if r.Seal.N == found.firstN-1 && r.Seal.Head == found.prev {
			v.report.Purged += r.Seal.N
			return nil
		}
	}
	return at(1, found.firstN, fmt.Sprintf("lines 1 to %d are missing, and the ledger does not record that retention deleted them",
		found.firstN-1))
}

// compareLedger compares a chain whose lines fit with the ledger's entries for it.
func (v *verifier) compareLedger(c *verified, last *scan) {
	if last == nil {
		return
	}
	if p := newestLine(c, last); p != nil {
		v.problem(c, *p)
		return
	}
	if seals := v.seals[c.chain]; len(seals) > 0 {
		if n := seals[len(seals)-1].N; n > last.lastN {
			f := c.files[len(c.files)-1]
			v.problem(c, Problem{File: f.path,
				What: fmt.Sprintf("the chain ends at line %d, but a seal covers line %d: its end was truncated", last.lastN, n)})
			return
		}
	}
	if c.dir == v.ledgerDir {
		return
	}
	if filepath.Base(c.dir) != dirName(c.key) {
		v.problem(c, Problem{File: c.files[0].path, What: "the folder contains the chain of another session: it was moved or copied here"})
		return
	}
	if len(v.check.Only) > 0 {
		return
	}
	// A chain of one line may have lost its process before the ledger entry was
	// written.
	if !v.named[c.chain] && last.lastN > 1 {
		v.problem(c, Problem{File: c.files[0].path,
			What: "the ledger does not name the chain: the chain or a part of the ledger was replaced"})
	}
}

// absent notes missing chains, and seals that do not match.
func (v *verifier) absent() {
	v.report.Problems = append(v.report.Problems, v.badSeals...)
	if len(v.check.Only) > 0 {
		return
	}
	present := map[string]bool{}
	for _, c := range v.chains {
		present[c.chain] = true
	}
	if files := fileSizes(v.ledgerDir); len(files) == 0 && v.report.Chains > 0 {
		v.report.Problems = append(v.report.Problems, Problem{File: v.ledgerDir, What: "the ledger is missing"})
	}
	var gone []Problem
	for chain, key := range v.opened {
		if present[chain] {
			continue
		}
		if n := v.purgedWhole(chain); n > 0 {
			v.report.Purged += n
			continue
		}
		gone = append(gone, Problem{Session: key, Chain: chain, What: "the chain is missing, and the ledger does not record why"})
	}
	slices.SortFunc(gone, func(a, b Problem) int { return strings.Compare(a.Chain, b.Chain) })
	v.report.Problems = append(v.report.Problems, gone...)
}

// newestLine reads the only line whose hash nothing contains yet: it must be
// exactly one record (its own newline may have been changed).
func newestLine(c *verified, last *scan) *Problem {
	i := len(c.files) - 1
	for i > 0 && c.scans[i].lines == 0 {
		i--
	}
	raw := make([]byte, last.lastSize)
	err := readAt(c.files[i].path, raw, last.bytes-last.lastSize)
	if err == nil {
		_, err = readRecord(raw)
	}
	if err == nil {
		return nil
	}
	return &Problem{File: c.files[i].path, Line: last.lines, N: last.lastN, What: err.Error()}
}

func readAt(path string, b []byte, offset int64) error {
	f, err := osfile.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return fmt.Errorf("verify audit file: %w", err)
	}
	defer f.Close()
	if _, err := f.ReadAt(b, offset); err != nil {
		return fmt.Errorf("verify audit file: %w", err)
	}
	return nil
}

func (v *verifier) purgedWhole(chain string) int64 {
	for _, r := range v.purges[chain] {
		if strings.HasPrefix(r.Note.Detail, purgedWhole) {
			return r.Seal.N
		}
	}
	return 0
}
