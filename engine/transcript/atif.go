package transcript

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// atifStep is a step of a trajectory in the interchange format of agents.
type atifStep struct {
	ID        int64           `json:"step_id"`
	Timestamp string          `json:"timestamp"`
	Source    string          `json:"source"` // system, user, agent
	Message   json.RawMessage `json:"message"`
	Copied    bool            `json:"is_copied_context"`
	Calls     []atifCall      `json:"tool_calls"`
	Seen      struct {
		Results []atifResult `json:"results"`
	} `json:"observation"`
}

type atifCall struct {
	ID   string          `json:"tool_call_id"`
	Name string          `json:"function_name"`
	Args json.RawMessage `json:"arguments"`
}

type atifResult struct {
	Call    string          `json:"source_call_id"` // empty: of the step as a whole
	Content json.RawMessage `json:"content"`
}

// maxName bounds an agent's name, in bytes: it is copied into each record.
const maxName = 64

// isATIF reports whether a file begins as such a trajectory does.
func isATIF(head []byte) bool {
	return strings.HasPrefix(topLevel(head)["schema_version"], "ATIF-")
}

// readATIF reads a trajectory, including those of sub-agents in it. Steps that
// repeat another trajectory are left out. Ids of calls are unique only within
// their step. The working directory is not recorded, nor whether a call failed.
func readATIF(r io.Reader) (Transcript, error) {
	s := newScribe(ATIF)
	s.out.LocalIDs = true
	d := newDocReader(r)
	err := d.whole(func(key string) error { return s.atifField(d, key, 0) })
	s.inTime()
	return s.close(), d.end("ATIF trajectory", "step", s.at, err)
}

func (s *translator) atifField(d *docReader, key string, depth int) error {
	switch key {
	case "steps":
		return d.array(func() error {
			raw, err := d.value()
			if err == nil {
				s.atifStep(raw)
			}
			return err
		})
	case "subagent_trajectories":
		return s.atifAgents(d, depth+1)
	case "session_id", "agent":
		if depth == 0 {
			return s.atifHead(d, key)
		}
	}
	return d.skip()
}

func (s *translator) atifHead(d *docReader, key string) error {
	raw, err := d.value()
	if err != nil {
		return err
	}
	if key == "session_id" {
		s.decode(raw, &s.out.Session)
		return nil
	}
	var agent struct{ Name, Version string }
	if s.decode(raw, &agent) && len(agent.Name) <= maxName {
		s.out.Harness, s.out.Version = cmp.Or(agent.Name, s.out.Harness), agent.Version
	}
	return nil
}

// atifAgents reads the trajectories of sub-agents. They are distinguished by
// their position: their own ids need not differ.
func (s *translator) atifAgents(d *docReader, depth int) error {
	if depth > maxDepth {
		return errTooDeep
	}
	above, n := s.agent, 0
	defer func() { s.agent = above }()
	return d.array(func() error {
		n++
		s.agent = strings.TrimPrefix(above+"."+strconv.Itoa(n), ".")
		return d.object(func(key string) error { return s.atifField(d, key, depth) })
	})
}

func (s *translator) atifStep(raw []byte) {
	s.at++
	s.out.Lines++
	var step atifStep
	if !s.decode(raw, &step) || step.Copied {
		return
	}
	s.clock(step.Timestamp)
	if step.Source == "user" {
		s.prompt(contentText(step.Message))
	}
	ids := map[string]string{} // id of a call in the step -> its id in the transcript
	for _, c := range step.Calls {
		ids[c.ID] = s.atifCall(c)
		ids[""] = ids[c.ID] // a result of the step as a whole came after the last call
	}
	s.atifResults(step.Seen.Results, ids)
}

// atifCall records a call under an id that no other call of the file has.
func (s *translator) atifCall(c atifCall) string {
	id := strings.Trim(s.agent+"/"+c.ID, "/")
	for s.calls[id] != nil || id == "" {
		id = strings.TrimPrefix(id+"@"+strconv.Itoa(s.at)+"."+strconv.Itoa(len(s.out.Events)), "@")
	}
	s.call(id, cmp.Or(c.Name, "unnamed"), c.Args)
	return id
}

func (s *translator) atifResults(results []atifResult, ids map[string]string) {
	for _, r := range results {
		id, known := ids[r.Call]
		if r.Call == "" && !known {
			continue // result without a call
		}
		if err := s.result(cmp.Or(id, r.Call), ended(contentText(r.Content), "")); err != nil {
			s.bad(err)
		}
	}
}

// inTime orders the events of all agents by their times, if all have one:
// sub-agents come after what started them.
func (s *translator) inTime() {
	strands := map[string][]engine.Event{}
	for _, e := range s.out.Events {
		if e.Time == 0 {
			return
		}
		strands[e.Agent] = append(strands[e.Agent], e)
	}
	var list [][]engine.Event
	for _, agent := range slices.Sorted(maps.Keys(strands)) {
		list = append(list, strands[agent])
	}
	s.out.Events = mergeByTime(list)
}
