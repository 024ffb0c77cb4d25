package incidentcmd

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/incident"
)

// Found is an incident with its session.
type Found struct {
	*incident.Incident
	Of audit.Session
}

// All returns the incidents of some sessions, the latest first. For a damaged log, the
// incidents before the damage and its error are returned.
func All(store *audit.Store, sessions []audit.Session) ([]Found, error) {
	var list []Found
	var errs []error
	for _, s := range sessions {
		if !mayHaveStopped(store, s) {
			continue
		}
		incidents, err := incident.Read(store.Records(s.Key, 0))
		errs = append(errs, err)
		for _, i := range incidents {
			i.Workspace = cmp.Or(i.Workspace, s.Workspace)
			list = append(list, Found{i, s})
		}
	}
	slices.SortStableFunc(list, func(a, b Found) int { return cmp.Compare(b.At(), a.At()) })
	return list, errors.Join(errs...)
}

// mayHaveStopped looks for a stop without decoding: most sessions have none.
// Unreadable lines are left to the decoder.
func mayHaveStopped(store *audit.Store, s audit.Session) bool {
	for line, err := range store.Lines(s.Key, 0) {
		if err != nil || bytes.Contains(line.Raw, []byte(`"kind":"`+engine.EmergencyStop+`"`)) {
			return true
		}
	}
	return false
}

// find returns the incident that a person names.
func find(a *cli.App, selector string) (*audit.Store, Found, error) {
	store, err := a.OpenStore()
	if err != nil {
		return nil, Found{}, err
	}
	sessions, err := store.Sessions()
	if err != nil {
		return nil, Found{}, err
	}
	list, err := All(store, sessions)
	if selector == "last" && len(list) > 0 {
		return store, list[0], nil
	}
	var named []Found
	for _, i := range list {
		if i.ID == selector {
			return store, i, nil
		}
		if strings.HasPrefix(i.ID, selector) {
			named = append(named, i)
		}
	}
	if len(named) == 0 {
		named = ofSession(store, list, selector)
	}
	switch {
	case len(named) == 1:
		return store, named[0], nil
	case selector == "last":
		return nil, Found{}, errors.Join(err, fmt.Errorf("no incident is recorded in %s yet", store.Dir))
	case len(named) > 1:
		return nil, Found{}, fmt.Errorf("%q matches the incidents %s and %s; give more characters", selector, named[0].ID, named[1].ID)
	}
	return nil, Found{}, errors.Join(err,
		fmt.Errorf("no incident %q is recorded in %s; `reviewer incident list` lists them", selector, store.Dir))
}

// ofSession returns the latest incident of the session that a selector names.
func ofSession(store *audit.Store, list []Found, selector string) []Found {
	s, _, err := store.Resolve(selector)
	if err != nil {
		return nil
	}
	for _, i := range list {
		if i.Of.Chain == s.Chain {
			return []Found{i}
		}
	}
	return nil
}
