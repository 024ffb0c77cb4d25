package active

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// Limit is the channel from which this machine takes releases.
type Limit struct {
	Channel string // empty: any
	Kept    bool   // no setting names it any more: it counts until a person names another one

	noted string // the one that the ledger has
	set   bool   // the setting releases.channel names it
}

// Text says why a channel counts that no setting names; empty: one does, or there is none.
func (l Limit) Text() string {
	if !l.Kept {
		return ""
	}
	return fmt.Sprintf("the channel %s still counts: the setting releases.channel named it and is gone; name one there again, "+
		"or a person activates a release of another channel with --channel NAME", l.Channel)
}

// asked returns the channel that a release must be on; empty: any. Only an activation by a person gets away from a
// channel that no setting names any more, so asking for another one succeeds here.
func (l Limit) asked(channel string) (string, error) {
	if channel != "" && l.Channel != "" && channel != l.Channel && !l.Kept {
		return "", &trust.Refusal{Code: trust.Scope, Err: fmt.Errorf("--channel %s: this machine takes releases of the channel %s only "+
			"(releases.channel); leave --channel out, or change the setting", channel, l.Channel)}
	}
	return cmp.Or(channel, l.Channel), nil
}

// Channel is the channel from which releases are taken: the one that is asked for, else the one of Limit; empty: any.
// Asking for another one than the setting names is refused.
func (m Machine) Channel(asked string) (string, error) {
	limit, err := m.Limit()
	if err != nil {
		return "", err
	}
	return limit.asked(asked)
}

// Limit is the channel that the setting releases.channel names. If it names none, the last one that it named counts: the
// folder with the setting may have been removed for a bundle.
func (m Machine) Limit() (Limit, error) {
	h, err := m.Layers("")
	if err != nil { // then only a person can activate anything
		return Limit{}, nil
	}
	return h.limit()
}

func (h *Layers) limit() (l Limit, err error) {
	kept, noted, err := h.machine.notedChannel()
	if err != nil {
		return l, err
	}
	set, broken := h.channel()
	l = Limit{Channel: set, noted: noted, set: set != ""}
	switch {
	case l.set:
	case broken:
		l.Channel = cmp.Or(kept, h.activeChannel())
	case kept != "":
		l.Channel, l.Kept = kept, true
	}
	return l, nil
}

// notedChannel returns the channel of the ledger that counts, and the one that it has last. Where the person has a key,
// another one counts only right after an activation that they signed.
func (m Machine) notedChannel() (counts, last string, err error) {
	list, keyed, err := m.ledger().PolicyRecords()
	for i, r := range list {
		if r.Note == nil || r.Note.What != audit.NoteChannel {
			continue
		}
		last = r.Note.Detail
		signed := i > 0 && list[i-1].Control != nil && list[i-1].Control.Do == engine.ControlActivate
		if keyed == 0 || r.N < keyed || counts == "" || signed {
			counts = last
		}
	}
	return counts, last, err
}

// channel is what the setting releases.channel names; broken: a layer that cannot be read may be the one that names it.
func (h *Layers) channel() (name string, broken bool) {
	layers, _, wrong := h.load(bundles.Project)
	e, err := overOthers(nil, layers)
	if err != nil {
		return "", true
	}
	return e.Settings.Releases.Channel, wrong != nil
}

// activeChannel is the channel of what is active: a broken policy is repaired from the same channel.
func (h *Layers) activeChannel() string {
	for _, layer := range []string{bundles.Organisation, bundles.User, bundles.Base} {
		if now := h.Active.Layers[layer]; now.Channel != "" {
			return now.Channel
		}
	}
	return ""
}

// Reports is the address to which the status of this machine is reported, if the organisation signed one, and whether with
// the name of the machine. A setting that is not in an activated signed bundle counts for nothing, and is an error.
func (m Machine) Reports() (to string, host bool, err error) {
	h, err := m.Layers("")
	if err != nil {
		return "", false, err
	}
	layers, _, _ := h.load(bundles.Project)
	e, err := overOthers(nil, layers)
	if err != nil || e.Settings.Releases.Report.To == "" {
		return "", false, err
	}
	if now := h.Active.Layers[bundles.Organisation]; e.Origin["releases.report.to"] != bundles.Organisation || now.None() || now.Unsigned {
		return "", false, errors.New("releases.report.to counts only in a signed bundle of the organisation that is active; nothing is reported")
	}
	return e.Settings.Releases.Report.To, e.Settings.Releases.Report.Host, nil
}
