package history

import "github.com/agent-reviewer/reviewer/engine"

// Left lists what a session made and has not removed, as far as its log shows. A person has to
// check it when the session ends.
type Left struct {
	Running []engine.StartedFacts // processes that were started and not waited for
	Trees   []string              // working trees of git
	Remotes []string              // names of remotes of git that were added
	Created []string              // files outside the workspace, or temporary ones
	Moved   []string              // paths that files of the session were moved to
}

// Left lists the files and processes that the session leaves behind.
func (h *State) Left() Left {
	left := Left{Trees: h.Trees, Remotes: h.Remotes}
	for _, s := range h.started() {
		if !s.Listed {
			left.Running = append(left.Running, s)
		}
	}
	for _, p := range h.Paths {
		switch {
		case p.mayHoldMoved():
			left.Moved = append(left.Moved, p.Key)
		case p.State == engine.LedgerCreated && p.Where != string(engine.LocationInside):
			left.Created = append(left.Created, p.Key)
		}
	}
	return left
}
