package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// chain is the state that a process keeps of one chain: the folded state, and its
// position in the files. The state is that of the lines before end.
type chain struct {
	dir    string
	busy   chan struct{} // locked by the goroutine that uses the chain
	state  *history.State
	end    end
	saved  int64    // number of the record that the newest known snapshot covers
	file   *os.File // number end.File, while the chain is in use
	write  bool     // open files for writing too
	loaded bool     // it was read before, if in vain
	whole  bool     // fold from the first line, and compare the keyframes
	vain   []int64  // whole: records of choices that changed nothing for lack of a person's signature
	seen   seen     // what this process read before

	watched bool   // look for lines that no hook is known to have written
	ends    string // what no longer makes policy milder because of them, as Control.Mode; empty: nothing
	began   bool   // a hold has looked at the session's state
}

// end is the place after a chain's newest line.
type end struct {
	File     int    `json:"file"`
	Line     int64  `json:"line"`   // lines in the file
	Start    int64  `json:"start"`  // offset of the newest line
	Offset   int64  `json:"offset"` // after it
	Head     string `json:"head"`   // its hash
	Keyframe int64  `json:"keyframe"`
	inode    uint64
}

func newChain(dir string) *chain {
	return &chain{dir: dir, busy: make(chan struct{}, 1), state: history.New(), end: end{File: 1}}
}

func (c *chain) path(n int) string { return filepath.Join(c.dir, fileName(n)) }

func fileName(n int) string { return fmt.Sprintf("%06d.jsonl", n) }

// chainFiles lists the numbers of a chain's files in order.
func chainFiles(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list audit files: %w", err)
	}
	var numbers []int
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if n, err := strconv.Atoi(digits); ok && err == nil && n > 0 && e.Name() == fileName(n) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// gap returns damage for the first missing file between others: what comes
// after it would be folded onto the wrong state.
func gap(dir string, files []int) error {
	for i := 1; i < len(files); i++ {
		if files[i] != files[i-1]+1 {
			return &Damage{File: filepath.Join(dir, fileName(files[i-1]+1)), What: "the file is missing"}
		}
	}
	return nil
}

func (c *chain) damage(format string, args ...any) error {
	return &Damage{File: c.path(c.end.File), Line: c.end.Line + 1, What: fmt.Sprintf(format, args...)}
}

func (c *chain) damagedBy(err error) error {
	return damaged(c.path(c.end.File), c.end.Line+1, err)
}

func (c *chain) close() {
	if c.file != nil {
		c.file.Close()
		c.file = nil
	}
}

// open makes file n the current one.
func (c *chain) open(n int) error {
	flags := os.O_RDONLY
	if c.write {
		flags = os.O_RDWR | os.O_APPEND
	}
	f, err := osfile.OpenFile(c.path(n), flags, 0)
	if err != nil {
		return fmt.Errorf("open audit file: %w", err)
	}
	return c.use(f, n)
}

func (c *chain) use(f *os.File, n int) error {
	inode, _, err := identify(f)
	if err != nil {
		f.Close()
		return err
	}
	c.close()
	c.file = f
	if n != c.end.File {
		c.end = end{File: n, Head: c.end.Head, Keyframe: c.end.Keyframe}
	}
	c.end.inode = inode
	return nil
}

func identify(f *os.File) (inode uint64, size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, 0, fmt.Errorf("stat audit file: %w", err)
	}
	id, err := osfile.Identify(f)
	if err != nil {
		return 0, 0, fmt.Errorf("stat audit file: %w", err)
	}
	return id.File, info.Size(), nil
}

// matchesDisk reports whether the chain's files still contain what was folded: the
// newest known line is where it was.
func (c *chain) matchesDisk() bool {
	inode := c.end.inode
	if c.open(c.end.File) != nil || inode != c.end.inode {
		return false
	}
	return c.end.Offset == 0 || c.newestLineIs(c.end)
}

func (c *chain) newestLineIs(e end) bool {
	size := e.Offset - e.Start
	if e.Start < 0 || size <= 0 || size > engine.MaxKeyframe {
		return false
	}
	line := make([]byte, size)
	_, err := c.file.ReadAt(line, e.Start)
	return err == nil && engine.LineHash(line) == e.Head
}

// load reads the state from scratch: from the snapshot if it fits the files,
// else from the newest keyframe. If a snapshot no longer fits, lost is the
// number of records that it covered, and their chain.
func (c *chain) load(mac func([]byte) string) (lost lastLength, err error) {
	c.close()
	c.state, c.end, c.saved = history.New(), end{File: 1}, 0
	files, err := chainFiles(c.dir)
	if err != nil {
		return lastLength{}, err
	}
	if snap := readSnapshot(c.dir, mac); snap != nil && !c.whole {
		if i := slices.Index(files, snap.End.File); i >= 0 && c.restore(snap) {
			return lastLength{}, gap(c.dir, files[i:])
		}
		lost = lastLength{snap.State.Chain, snap.State.N}
	}
	c.close()
	c.state, c.end = history.New(), end{File: 1}
	if len(files) == 0 {
		return lost, nil
	}
	return lost, c.seekState(files)
}

// lastLength is the last known length of a chain.
type lastLength struct {
	chain string
	n     int64
}

// seekState positions the chain before the newest line that contains a whole state.
func (c *chain) seekState(files []int) error {
	for i := len(files) - 1; i >= 0; i-- {
		if err := c.open(files[i]); err != nil {
			return err
		}
		places, err := c.keyframes()
		if err != nil {
			return err
		}
		for j := len(places) - 1; j >= 0; j-- {
			p := places[j]
			if i == 0 && j == 0 || !c.whole && p.rec().fold() == history.FoldVersion {
				return errors.Join(gap(c.dir, files[i:]), c.standBefore(p))
			}
		}
	}
	if _, size, err := identify(c.file); err != nil || size == 0 || len(files) == 1 && c.torn(size) {
		c.end = end{File: files[0], inode: c.end.inode}
		return err
	}
	if first, err := firstLine(c.path(c.end.File)); err == nil {
		if newer := (engine.NewerFormat)(0); errors.As(headProblem(first), &newer) {
			return c.damagedBy(newer)
		}
	}
	return c.damage("the file starts with neither an open record nor a keyframe")
}

// torn reports whether the file contains nothing but an incomplete line.
func (c *chain) torn(size int64) bool {
	_, err := newLineReader(io.NewSectionReader(c.file, 0, size), size).next()
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// place is a line that may contain a state.
type place struct {
	offset, line int64
	raw          []byte
}

// decoded is a line's record; nil if it cannot be read.
type decoded struct{ *engine.Record }

func (p place) rec() decoded {
	r, err := readRecord(p.raw)
	if err != nil {
		return decoded{}
	}
	return decoded{r}
}

// fold returns the version under which a state was folded; an open record has
// the empty state, which is the same under each.
func (d decoded) fold() int {
	switch {
	case d.Record == nil:
		return 0
	case d.Kind == engine.KindOpen:
		return history.FoldVersion
	}
	if state := stateOf(d.Record); state != nil {
		return state.Fold
	}
	return 0
}

// stateOf returns the state that a record contains; nil if there is none.
func stateOf(r *engine.Record) *history.State {
	if r.State == nil {
		return nil
	}
	state, err := history.Decode(r.State)
	if err != nil {
		return nil // not reached: readRecord refuses such a line
	}
	return state
}

// keyframes finds the lines of the current file that contain a state.
func (c *chain) keyframes() ([]place, error) {
	_, size, err := identify(c.file)
	if err != nil {
		return nil, err
	}
	var found []place
	var offset, number int64
	lines := newLineReader(io.NewSectionReader(c.file, 0, size), size)
	for {
		line, err := lines.next()
		if err != nil && err != errLong {
			return found, notEnd(err)
		}
		h, bad := parseHead(line)
		if bad == nil && err == nil && (h.n == 1 || string(h.kind) == string(engine.KindKeyframe)) {
			found = append(found, place{offset, number, slices.Clone(line)})
		}
		offset, number = offset+int64(len(line)), number+1
	}
}

func notEnd(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return fmt.Errorf("read audit file: %w", err)
}

func (c *chain) standBefore(p place) error {
	c.end.Line, c.end.Offset, c.end.Start = p.line, p.offset, p.offset
	r, err := readRecord(p.raw)
	if err != nil {
		return c.damagedBy(err)
	}
	if r.Kind == engine.KindOpen && r.N == 1 {
		return nil // take looks at the rest
	}
	state := stateOf(r)
	if state == nil || state.N != r.N-1 || state.Chain != r.Chain {
		return c.damage("the keyframe contains no state, or that of another line")
	}
	c.state, c.end.Head = state, r.Prev
	return nil
}

// follow folds what was written after the chain's end, file by file, and
// returns the size of the incomplete line at the very end.
func (c *chain) follow() (torn int64, err error) {
	if c.file == nil {
		if err := c.open(c.end.File); errors.Is(err, fs.ErrNotExist) {
			return 0, nil
		} else if err != nil {
			return 0, err
		}
	}
	for {
		if torn, err = c.readOn(); err != nil {
			return 0, err
		}
		if _, err := os.Stat(c.path(c.end.File + 1)); err == nil {
			if torn, err = c.readOn(); err != nil { // what a writer added before it began the next file
				return 0, err
			}
		}
		before := c.end
		if err := c.open(c.end.File + 1); errors.Is(err, fs.ErrNotExist) {
			return torn, nil
		} else if err != nil {
			return 0, err
		}
		if torn > 0 {
			c.end = before
			return 0, c.damage("the file ends in an incomplete line, but another file follows")
		}
	}
}

// readOn folds the rest of the current file.
func (c *chain) readOn() (torn int64, err error) {
	_, size, err := identify(c.file)
	if err != nil || size <= c.end.Offset {
		return 0, err
	}
	lines := newLineReader(io.NewSectionReader(c.file, c.end.Offset, size-c.end.Offset), size-c.end.Offset)
	for {
		line, err := lines.next()
		switch {
		case err == io.EOF:
			return 0, nil
		case err == io.ErrUnexpectedEOF:
			return int64(len(line)), nil
		case err == errLong:
			return 0, c.damagedBy(err)
		case err != nil:
			return 0, fmt.Errorf("read audit file: %w", err)
		}
		if err := c.foldLine(line); err != nil {
			return 0, err
		}
	}
}

// foldLine folds a line that is on disk.
func (c *chain) foldLine(line []byte) error {
	r, err := readRecord(line)
	if err != nil {
		return c.damagedBy(err)
	}
	if what := c.unfit(r); what != "" {
		return c.damage("%s", what)
	}
	if err := c.compare(r); err != nil {
		return err
	}
	c.fold(r, line)
	c.watch(r)
	if c.whole && r.N == c.seen.n && r.Chain == c.seen.chain && c.end.Head != c.seen.head {
		return c.damage("line %d differs from the one that was read before: the log was rewritten", r.N)
	}
	return nil
}

// compare compares a keyframe with the records before it. Those of another version of the fold, and what
// follows from them, cannot be compared.
func (c *chain) compare(r *engine.Record) error {
	if !c.whole || r.Kind != engine.KindKeyframe || c.state.Empty() || c.state.Fold != history.FoldVersion {
		return nil
	}
	if given := stateOf(r); given == nil || given.Fold != history.FoldVersion {
		return nil
	}
	own, err := c.state.Encode()
	if err != nil {
		return c.damagedBy(err)
	}
	if !bytes.Equal(own, r.State) {
		return c.damage("the keyframe is not what follows from the records before it: it was changed")
	}
	return nil
}

// unfit reports why a record cannot be the chain's next.
func (c *chain) unfit(r *engine.Record) string {
	switch {
	case r.N != c.state.N+1:
		return fmt.Sprintf("n is %d, not %d", r.N, c.state.N+1)
	case r.N == 1 && (r.Kind != engine.KindOpen || r.Prev != engine.ChainSeed(r.Chain)):
		return "line 1 of the chain is not its open record"
	case r.N > 1 && r.Prev != c.end.Head:
		return "prev is not the hash of the line before: one of the two was changed"
	case r.N > 1 && r.Chain != c.state.Chain:
		return "the record belongs to chain " + strconv.Quote(r.Chain)
	case c.end.Offset == 0 && r.N > 1 && r.Kind != engine.KindKeyframe:
		return "the file does not start with a keyframe"
	}
	return ""
}

func (c *chain) fold(r *engine.Record, line []byte) {
	if r.N == 1 || r.Kind == engine.KindKeyframe {
		c.end.Keyframe = r.N
	}
	before := c.state.Unsigned
	if c.state.Append(r); c.whole && c.state.Person != nil && c.state.Unsigned > before {
		c.vain = append(c.vain, r.N)
	}
	c.end.Start, c.end.Offset = c.end.Offset, c.end.Offset+int64(len(line))
	c.end.Line++
	c.end.Head = engine.LineHash(line)
}
