package signed

import "time"

// Moment is a reading of two clocks of the system: Awake stands still while the machine sleeps, All does not.
type Moment struct{ Awake, All time.Duration }

// blur is how far the two clocks may drift apart while the machine is awake.
const blur = 2 * time.Second

// Window keeps a person's key in the memory of this process, so that one code is enough for several acts.
type Window struct {
	Limit time.Duration // 0: the key is never kept
	Clock func() Moment

	act    *Act
	opened Moment
	locked []byte
}

// Open keeps the key of an act, unless the limit is 0.
func (w *Window) Open(act *Act) {
	w.Wipe()
	if w.Limit <= 0 {
		return
	}
	w.act, w.opened, w.locked = act, w.Clock(), act.Signer.Memory()
	_ = lockMemory(w.locked) // not every user may keep memory out of swap space
}

// Act returns the act whose key is kept; nil: the code is needed. why says why the key was wiped just now.
func (w *Window) Act() (act *Act, why string) {
	if w.act == nil {
		return nil, ""
	}
	now := w.Clock()
	asleep := now.All - now.Awake - (w.opened.All - w.opened.Awake)
	switch {
	case asleep > blur || asleep < -blur:
		why = "the machine slept, or its clock was set"
	case now.All-w.opened.All >= w.Limit:
		why = "its time is over"
	default:
		return w.act, ""
	}
	w.Wipe()
	return nil, why
}

// Keeps reports whether an act's key is the one that is kept.
func (w *Window) Keeps(act *Act) bool { return w.act == act }

// Wipe forgets the key.
func (w *Window) Wipe() {
	if w.act == nil {
		return
	}
	w.act.Signer.Wipe()
	_ = unlockMemory(w.locked)
	w.act, w.locked = nil, nil
}
