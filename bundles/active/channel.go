package active

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/trust"
)

// Channel is the channel from which releases are taken: the one that is asked for, else the one that the setting
// releases.channel names; empty: any. Asking for another one than the setting names is refused.
func (m Machine) Channel(asked string) (string, error) {
	h, err := m.Layers("")
	if err != nil { // which only a person can repair
		return asked, nil
	}
	pin := h.channel()
	if asked != "" && pin != "" && asked != pin {
		return "", &trust.Refusal{Code: trust.Scope, Err: fmt.Errorf("--channel %s: this machine takes releases of the channel %s only "+
			"(releases.channel); leave --channel out, or change the setting", asked, pin)}
	}
	return cmp.Or(asked, pin), nil
}

// channel is what the setting releases.channel names. Where a layer cannot be read, it may be the one that names it:
// then the channel of what is active counts, so that a broken policy is repaired from the same channel.
func (h *Layers) channel() string {
	layers, _, broken := h.load(bundles.Project)
	e, err := overOthers(nil, layers)
	if err == nil {
		if pin := e.Settings.Releases.Channel; pin != "" || broken == nil {
			return pin
		}
	}
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
