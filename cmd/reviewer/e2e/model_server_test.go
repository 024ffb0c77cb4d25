package e2e

import (
	"encoding/json"
	"fmt"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/scripted"
)

// A Model answers the client from a script.
type Model struct {
	*scripted.Model
	// FirstStep is the number of the first step in the ids of its calls, less
	// one: a session that is resumed with another script must not repeat ids.
	FirstStep int
}

// StartModel serves the script until Close.
func StartModel(script Script) (*Model, error) {
	var steps scripted.Script
	for _, s := range script {
		step := scripted.Step{Say: s.Say}
		for _, c := range s.Calls {
			step.Calls = append(step.Calls, scripted.Call{Tool: c.Tool, Input: c.Input})
		}
		steps = append(steps, step)
	}
	served, err := scripted.Start(steps)
	if err != nil {
		return nil, err
	}
	m := &Model{Model: served}
	m.CallID = func(n, k int) string { return CallID(m.FirstStep+n, k) }
	return m, nil
}

// Requests are those that offered tools, in the order of arrival.
func (m *Model) Requests() ([]Request, error) {
	var list []Request
	for _, sent := range m.Model.Requests() {
		r := Request{Raw: sent.Body}
		if err := json.Unmarshal(sent.Body, &r); err != nil {
			return list, fmt.Errorf("read a request: %w", err)
		}
		list = append(list, r)
	}
	return list, nil
}

// CallID is the id of the k-th call of the n-th step, both from 1.
func CallID(n, k int) string { return fmt.Sprintf("toolu_01%018d%02d", n, k) }
