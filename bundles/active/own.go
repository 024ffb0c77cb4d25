package active

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// OwnState says what of the person's own policy, the folder of the user layer, counts.
type OwnState string

// The states. The agent runs as the same user and can write the folder. So once the person has a key, its files count at
// the digest that they accepted last.
const (
	OwnUnsigned OwnState = "unsigned" // no key was ever made: the files count as they are
	OwnRoot     OwnState = "root"     // only root can change the files: they count as they are
	OwnAccepted OwnState = "accepted" // the files are those that the person accepted
	OwnChanged  OwnState = "changed"  // they are not: the accepted content is active, with what the files tighten
)

// Own is the person's own policy.
type Own struct {
	State     OwnState `json:"state"`
	Dir       string   `json:"dir"`
	Changed   []string `json:"changed,omitempty"`   // names of the files that are not as they were accepted
	Tightened []string `json:"tightened,omitempty"` // settings and new files that count nevertheless
	Problem   string   `json:"problem,omitempty"`   // why the files cannot be used
}

// Text says which changes are not active, and how to accept them; empty: there are none.
func (o *Own) Text() string {
	if o == nil || o.State != OwnChanged {
		return ""
	}
	text := "your own policy in " + o.Dir + " was changed since you accepted it"
	if len(o.Changed) > 0 {
		text += " (" + few(o.Changed) + ")"
	}
	text += ", so the accepted content is active instead"
	if len(o.Tightened) > 0 {
		text += ", with what the change tightens (" + few(o.Tightened) + ")"
	}
	if o.Problem != "" {
		text += "; put the files back, or fix them and run `reviewer policy accept`: they cannot be used: "
		return text + engine.ClipJSON(o.Problem, 400)
	}
	return text + "; `reviewer policy accept` shows the difference and takes your approval code, or put the files back"
}

// few lists the first names, which anybody may have chosen.
func few(names []string) string {
	const most, longest = 4, 100
	var list []string
	for _, name := range names[:min(most, len(names))] {
		if name = engine.ClipJSON(name, longest); strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			name = strconv.QuoteToASCII(name)
		}
		list = append(list, name)
	}
	text := strings.Join(list, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// acceptance is what the ledger has about the person's own policy.
type acceptance struct {
	needed bool   // there is a key
	digest string // of the content that was accepted last
}

// accepted reads the ledger. Content counts only if it was accepted with a signature, so without such an act an empty
// layer does.
func (m Machine) accepted() (a acceptance, err error) {
	log := m.ledger()
	key, _, err := log.PersonKey()
	if err != nil {
		return a, fmt.Errorf("which policy you accepted is unknown: %w", err)
	}
	if key == nil && log.Fingerprint == "" {
		return a, nil
	}
	a = acceptance{true, noFiles().Digest}
	if key == nil {
		return a, nil // the ledger's acts are not those of the key that the hook was given
	}
	acts, err := log.Acts(engine.ControlAccept)
	var last int64
	for _, act := range acts {
		if act.N > last { // a line that is repeated later in the file has its old number
			a.digest, last = act.Control.Digest, act.N
		}
	}
	return a, err
}

func (m Machine) acceptedDir() string { return filepath.Join(m.Home, "accepted") }

// copyOf is the file with a copy of accepted content.
func (m Machine) copyOf(digest string) string {
	return filepath.Join(m.acceptedDir(), fmt.Sprintf("%x.json", sha256.Sum256([]byte(digest))))
}

// maxAccepted bounds such a copy, in bytes.
const maxAccepted = 64 << 20

// acceptedContent reads the copy of accepted content.
func (m Machine) acceptedContent(digest string) (*bundles.Bundle, error) {
	if none := noFiles(); none.Digest == digest {
		return none, nil
	}
	var files map[string][]byte
	path := m.copyOf(digest)
	raw, err := ReadBounded(path, maxAccepted)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, &files); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	b, err := bundles.FromFiles(files, bundles.User)
	if err == nil && b.Digest != digest {
		err = errors.New("it was changed")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

// noFiles is a layer without files, which is valid.
func noFiles() *bundles.Bundle {
	b, _ := bundles.FromFiles(map[string][]byte{}, bundles.User)
	return b
}

// own returns the user layer and its state; nil: there is none, or it is an activated bundle. below are the layers before it.
func (h *Layers) own(below []*bundles.Bundle) (*bundles.Bundle, *Own, error) {
	disk, wrong := h.layer(bundles.User)
	if now, bundle := h.Active.Layers[bundles.User]; bundle && !now.None() {
		return disk, nil, wrong
	}
	accepted, err := h.machine.accepted()
	own := &Own{State: OwnUnsigned, Dir: h.Dir(bundles.User)}
	if err != nil || !accepted.needed {
		return disk, own, errors.Join(err, wrong)
	}
	files := disk
	if disk == nil {
		files = noFiles()
	}
	if wrong == nil && files.Digest == accepted.digest {
		own.State = OwnAccepted
		return disk, own, nil
	}
	if onlyRoots(own.Dir, os.Geteuid()) {
		own.State = OwnRoot
		return disk, own, wrong
	}
	own.State = OwnChanged
	b, err := h.machine.acceptedContent(accepted.digest)
	if err != nil {
		return nil, own, fmt.Errorf("your own policy in %s is not the one that you accepted, and the copy of that one cannot be used (%w): "+
			"put the files back, or run `reviewer policy accept`", own.Dir, err)
	}
	if wrong != nil {
		own.Problem = wrong.Error()
	} else {
		b = own.tighten(below, b, files)
	}
	if len(b.Files) == 0 {
		b = nil
	}
	return b, own, nil
}

// Own returns the state of the person's own policy; nil: it is an activated bundle.
func (m Machine) Own() (*Own, error) {
	h, err := m.Layers("")
	if err != nil {
		return nil, err
	}
	_, own, err := h.load(bundles.Project)
	return own, err
}

// tighten adds to the accepted content what the files tighten.
func (o *Own) tighten(below []*bundles.Bundle, accepted, files *bundles.Bundle) *bundles.Bundle {
	o.Changed = changedFiles(accepted.Files, files.Files)
	if len(below) == 0 || below[0].Layer != bundles.Base {
		return accepted // that layer cannot be read, which is reported
	}
	b, tightened, err := bundles.Tightened(below, accepted, files)
	if o.Tightened = tightened; err != nil {
		o.Problem = err.Error()
	}
	return b
}

func changedFiles(before, after map[string][]byte) []string {
	all := map[string][]byte{}
	maps.Copy(all, before)
	maps.Copy(all, after)
	maps.DeleteFunc(all, func(name string, _ []byte) bool {
		was, there := before[name]
		is, thereNow := after[name]
		return there == thereNow && string(was) == string(is)
	})
	return slices.Sorted(maps.Keys(all))
}

// onlyRoots reports whether a folder and everything in it belongs to root, and only root can change it, but not the user.
func onlyRoots(dir string, user int) bool {
	if user <= 0 { // root, or Windows
		return false
	}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && (!osfile.OfRoot(info) || !d.IsDir() && !info.Mode().IsRegular()) {
			err = fs.ErrPermission
		}
		return err
	})
	return err == nil
}

// Acceptance is what a person is about to accept: the files of their own policy, which were read once.
type Acceptance struct {
	*Own
	Before map[string][]byte  // the accepted files; nil: their copy is lost
	Files  map[string][]byte  // the files as they are
	Digest string             // of these
	Was    *bundles.Effective // the policy with the accepted files; nil: unknown
	Is     *bundles.Effective // the policy with the files as they are

	machine Machine
}

// ErrOwnBundle means that the user layer has no folder that could be accepted.
var ErrOwnBundle = errors.New("your own policy is an activated bundle, not a folder")

// Acceptance reads the person's own policy and what they accepted before. It returns an error if the files cannot be used.
func (m Machine) Acceptance() (*Acceptance, error) {
	h, err := m.Layers("")
	if err != nil {
		return nil, err
	}
	if now := h.Active.Layers[bundles.User]; !now.None() {
		return nil, fmt.Errorf("%w: %s", ErrOwnBundle, now.Release)
	}
	others, _, err := h.load(bundles.User)
	if err != nil {
		return nil, err
	}
	_, own, err := h.own(others)
	if own == nil || own.State != OwnChanged && err != nil { // otherwise the accepted content is lost, which this remedies
		return nil, err
	}
	accepted, err := m.accepted()
	if err != nil {
		return nil, err
	}
	now, err := h.layer(bundles.User)
	if err != nil {
		return nil, err
	}
	if now == nil {
		now = noFiles()
	}
	a := &Acceptance{Own: own, Files: now.Files, Digest: now.Digest, machine: m}
	if a.Is, err = overOthers(now, others); err != nil {
		return nil, err
	}
	if !accepted.needed {
		a.Before = map[string][]byte{}
	} else if b, err := m.acceptedContent(accepted.digest); err == nil {
		a.Before = b.Files
		a.Was, _ = overOthers(b, others) // nil if it was accepted by a version of the program that reads it differently
	}
	a.Changed = changedFiles(a.Before, a.Files)
	return a, nil
}

// Accept records with a signature that the files count as they are, and keeps a copy, which decides if they are changed
// later.
func (a *Acceptance) Accept(ctx context.Context, log *audit.Store, by string, signer audit.Signer) error {
	if err := a.Keep(); err != nil {
		return err
	}
	names := "no files"
	if len(a.Files) > 0 {
		names = strings.Join(slices.Sorted(maps.Keys(a.Files)), ", ")
	}
	err := log.Act(ctx, engine.Control{Do: engine.ControlAccept, By: by, Digest: a.Digest,
		Reason: engine.ClipJSON("your own policy: "+names, 480)}, signer)
	if err != nil {
		return err
	}
	entries, _ := os.ReadDir(a.machine.acceptedDir()) // earlier copies that are left take only space
	for _, e := range entries {
		if path := filepath.Join(a.machine.acceptedDir(), e.Name()); path != a.machine.copyOf(a.Digest) {
			_ = os.Remove(path)
		}
	}
	if err := a.machine.Keep(a.Is); err != nil {
		return fmt.Errorf("your own policy is accepted, but cannot be stored: %w", err)
	}
	return nil
}

// Keep stores a copy of the files.
func (a *Acceptance) Keep() error {
	raw, err := json.Marshal(a.Files)
	if err == nil && len(raw) > maxAccepted {
		err = fmt.Errorf("it takes more than %d MB", maxAccepted>>20)
	}
	if err == nil {
		err = putFile(a.machine.copyOf(a.Digest), raw)
	}
	if err != nil {
		return fmt.Errorf("keep a copy of your own policy: %w", err)
	}
	return nil
}
