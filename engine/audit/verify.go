package audit

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// Check selects what Verify checks.
type Check struct {
	Only    []engine.SessionKey // these sessions' chains; empty: all of them, and the ledger
	Against []SealLine          // seals that were kept on another machine
	Key     ed25519.PublicKey   // seals must be signed with it; nil: a signature only has to match the seal
	Workers int                 // files read at once; 0: one per processor
	Hashes  bool                // nothing else: keyframes and signatures are not compared with the records before them
}

// Report is what Verify found.
type Report struct {
	Chains   int   // the ledger included
	Files    int   // of all chains
	Lines    int64 // that fit their neighbours
	Bytes    int64
	Purged   int64 // lines that retention deleted, as the ledger says
	Problems []Problem
}

// Problem is the first bad line of a chain, or a problem of the chain as a
// whole (Line and N are then 0).
type Problem struct {
	Session engine.SessionKey // zero for the ledger
	Chain   string
	File    string // path; empty where the whole chain is gone
	Line    int64  // in the file, from 1
	N       int64  // in the chain
	What    string
}

// String returns the place, then the problem.
func (p Problem) String() string {
	switch {
	case p.Line > 0:
		return fmt.Sprintf("%s line %d (record %s): %s", p.File, p.Line, engine.RecordID(p.Chain, p.N), p.What)
	case p.File != "":
		return fmt.Sprintf("%s: %s", p.File, p.What)
	}
	return fmt.Sprintf("chain %s of session %s: %s", p.Chain, p.Session.Session, p.What)
}

// verified is a chain during verification.
type verified struct {
	dir   string
	files []sizedFile
	key   engine.SessionKey
	chain string
	scans []scan
	errs  []error
}

// Verify recomputes all hashes and compares them with each other, with the
// seals in the ledger, and with seals that were kept elsewhere. An error means
// that verification was impossible; problems of the log are in the report.
func (s *Store) Verify(ctx context.Context, check Check) (Report, error) {
	v := verifier{check: check, ledgerDir: s.ledgerDir()}
	if err := v.readLedger(s.ledgerDir()); err != nil {
		return Report{}, err
	}
	dirs, err := s.checkedDirs(check)
	if err != nil {
		return Report{}, err
	}
	for _, dir := range dirs {
		c, err := freeze(ctx, dir)
		if err != nil {
			return Report{}, err
		}
		v.chains = append(v.chains, c)
	}
	if err := v.scanAll(ctx); err != nil {
		return Report{}, err
	}
	// Chains opened or purged after the ledger was read are not a problem.
	if err := v.readLedger(s.ledgerDir()); err != nil {
		return Report{}, err
	}
	for _, c := range v.chains {
		v.join(c)
	}
	if !check.Hashes {
		known, err := s.choices()
		if err == nil {
			err = v.foldAll(ctx, known)
		}
		if damage := (*Damage)(nil); err != nil && !errors.As(err, &damage) { // damage of the ledger was found above
			return Report{}, err
		}
	}
	v.absent()
	return v.report, nil
}

func (s *Store) checkedDirs(check Check) ([]string, error) {
	if len(check.Only) == 0 {
		dirs, err := s.sessionDirs()
		return append([]string{s.ledgerDir()}, dirs...), err
	}
	var dirs []string
	for _, key := range check.Only {
		dir := s.sessionDir(key)
		if _, err := os.Stat(dir); err != nil {
			return nil, noSession(key, nil)
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}

// freeze records the sizes of a chain's files while nobody writes to them: from
// then on they only grow. Without a lock file (a copy) nobody writes.
func freeze(ctx context.Context, dir string) (*verified, error) {
	lock, err := osfile.OpenFile(filepath.Join(dir, "lock"), os.O_RDONLY, 0)
	if err == nil {
		defer lock.Close()
		if err := waitShared(ctx, lock); err != nil {
			return nil, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	c := &verified{dir: dir, files: fileSizes(dir)}
	c.scans, c.errs = make([]scan, len(c.files)), make([]error, len(c.files))
	if len(c.files) > 0 {
		c.identify()
	}
	return c, nil
}

// identify reads the session of a chain from the first line, as far as that can
// be read.
func (c *verified) identify() {
	raw, err := firstLine(c.files[0].path)
	if err != nil {
		return
	}
	if r, err := readRecord(raw); err == nil {
		c.key, c.chain = engine.SessionKey{Harness: r.Harness, Session: r.Session}, r.Chain
	}
}

// verifier collects what is known about all chains.
type verifier struct {
	check     Check
	chains    []*verified
	report    Report
	ledgerDir string
	opened    map[string]engine.SessionKey // chains that the ledger named when Verify began
	named     map[string]bool              // also those that it named later
	seals     map[string][]engine.Seal     // by chain, sorted by n
	purges    map[string][]*engine.Record
	ledger    string // the ledger's own chain
	badSeals  []Problem
}

// readLedger adopts the ledger's entries about chains. A line that cannot be
// read ends it: scanning the ledger reports that line.
func (v *verifier) readLedger(dir string) error {
	first := v.opened == nil
	if first {
		v.opened, v.seals = map[string]engine.SessionKey{}, map[string][]engine.Seal{}
		v.addSeals()
	}
	v.named, v.purges = map[string]bool{}, map[string][]*engine.Record{}
	for r, err := range records(dir, 0) {
		if err != nil {
			var damage *Damage
			if errors.As(err, &damage) {
				break
			}
			return err
		}
		v.ledgerRecord(r, first)
	}
	for _, seals := range v.seals {
		slices.SortStableFunc(seals, func(a, b engine.Seal) int { return int(a.N - b.N) })
	}
	return nil
}

func (v *verifier) ledgerRecord(r *engine.Record, first bool) {
	key := engine.SessionKey{Harness: r.Harness, Session: r.Session}
	v.ledger = r.Chain
	switch {
	case r.Open != nil && r.Open.Of != "":
		v.named[r.Open.Of] = true
		if first {
			v.opened[r.Open.Of] = key
		}
	case r.Kind == engine.KindSeal && r.Seal != nil && first:
		v.addSeal(key, *r.Seal)
	case r.Note != nil && r.Note.What == notePurge && r.Seal != nil:
		v.purges[r.Seal.Chain] = append(v.purges[r.Seal.Chain], r)
	}
}

// addSeals adds seals that were kept elsewhere. The chains that they name must
// exist, too.
func (v *verifier) addSeals() {
	for _, line := range v.check.Against {
		key := engine.SessionKey{Harness: line.Harness, Session: line.Session}
		v.addSeal(key, line.Seal)
		if line.Session != "" {
			v.opened[line.Chain] = key
		} else {
			v.opened[line.Chain] = engine.SessionKey{}
		}
	}
}

func (v *verifier) addSeal(key engine.SessionKey, seal engine.Seal) {
	v.seals[seal.Chain] = append(v.seals[seal.Chain], seal)
	if err := checkSignature(seal, v.check.Key); err != nil {
		v.badSeals = append(v.badSeals, Problem{Session: key, Chain: seal.Chain, What: fmt.Sprintf("seal of line %d: %v", seal.N, err)})
	}
}

// scanAll passes over all files, several at a time.
func (v *verifier) scanAll(ctx context.Context) error {
	type job struct {
		c *verified
		i int
	}
	var jobs []job
	for _, c := range v.chains {
		for i := range c.files {
			jobs = append(jobs, job{c, i})
		}
	}
	return inParallel(ctx, v.check.Workers, jobs, func() func(job) {
		var one scanner
		return func(j job) {
			f := j.c.files[j.i]
			j.c.scans[j.i], j.c.errs[j.i] = one.scan(f.path, f.size, v.seals[j.c.chain])
		}
	})
}

// inParallel does jobs, each worker with what it needs for all of its own.
func inParallel[T any](ctx context.Context, workers int, list []T, worker func() func(T)) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	jobs := make(chan T)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			do := worker()
			for j := range jobs {
				do(j)
			}
		})
	}
	var err error
	for _, j := range list {
		if err = ctx.Err(); err != nil {
			break
		}
		jobs <- j
	}
	close(jobs)
	group.Wait()
	return err
}
