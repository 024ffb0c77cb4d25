package main

import (
	"context"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
)

// memory is a classifier that says the same of the same event once more without
// looking: policies that differ in a threshold see the same facts.
type memory struct {
	*classify.Classifier
	facts map[occasion]engine.Facts
}

// occasion is what tells the events of one session apart.
type occasion struct {
	phase                                engine.Phase
	call, agent, prompt, place, from, id string
	time                                 int64
}

func remembering(cwd string) *memory {
	return &memory{Classifier: classifier(cwd), facts: map[occasion]engine.Facts{}}
}

// Classify implements engine.Classifier.
func (m *memory) Classify(ctx context.Context, e engine.Event, workspace string) (engine.Facts, error) {
	key := occasion{e.Phase, e.Call, e.Agent, e.Prompt, workspace, e.CWD, e.PromptID, e.Time}
	if facts, known := m.facts[key]; known {
		return facts, nil
	}
	facts, err := m.Classifier.Classify(ctx, e, workspace)
	if err == nil {
		m.facts[key] = facts
	}
	return facts, err
}
