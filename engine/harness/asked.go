package harness

import (
	"encoding/json"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// The tools of Claude Code that ask the person.
const (
	askQuestion = "AskUserQuestion"
	exitPlan    = "ExitPlanMode"
)

// Limits of a question that is read; one that is longer permits nothing.
const (
	maxQuestions = 4
	maxOptions   = 4
)

// asked completes a call of the main agent with what it asks the person.
func asked(_ document, e *engine.Event) error {
	if e.Phase != engine.PhasePre && e.Phase != engine.PhasePost {
		return nil
	}
	if e.Agent == "" {
		e.Asked = AskedBy(e.Tool, e.Args, e.Result)
	}
	return withoutAnswers(e)
}

// withoutAnswers leaves out of the arguments what the client adds to them when the person answers: the call is the same.
func withoutAnswers(e *engine.Event) error {
	args := document{}
	if e.Tool != askQuestion || json.Unmarshal(e.Args, &args) != nil || !args.has("answers") && !args.has("annotations") {
		return nil
	}
	delete(args, "answers")
	delete(args, "annotations")
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	e.Args = raw
	return nil
}

// AskedBy returns what the person is asked by a call of a tool of Claude Code that asks them, and, if there is a result, what
// they answered. Nil: another tool, or an unknown form. Answers count only as the client reports them: those in the
// arguments may be the agent's.
func AskedBy(tool string, args json.RawMessage, result *engine.Result) *engine.Question {
	switch {
	case result != nil && (result.Failed || result.Refused || result.Interrupted):
		return nil
	case tool == askQuestion:
		return questions(args, result)
	case tool == exitPlan:
		return plan(args, result)
	}
	return nil
}

func questions(args json.RawMessage, result *engine.Result) *engine.Question {
	var in struct {
		Questions []struct {
			Question string `json:"question"`
			Options  []struct {
				Label string `json:"label"`
			} `json:"options"`
		} `json:"questions"`
	}
	var out struct {
		Answers map[string]string `json:"answers"`
	}
	if json.Unmarshal(args, &in) != nil || len(in.Questions) == 0 || len(in.Questions) > maxQuestions {
		return nil
	}
	if result != nil && (json.Unmarshal(result.Output, &out) != nil || len(out.Answers) == 0) {
		return nil
	}
	q := &engine.Question{}
	for _, one := range in.Questions {
		if len(one.Options) > maxOptions {
			return nil
		}
		p := engine.QuestionPart{Text: one.Question, Answer: out.Answers[one.Question]}
		for _, o := range one.Options {
			p.Options = append(p.Options, o.Label)
		}
		q.Parts = append(q.Parts, p)
	}
	return q
}

// plan reads a plan. The person may have changed it while they looked at it: then nothing that they agreed to is known.
func plan(args json.RawMessage, result *engine.Result) *engine.Question {
	var in, out struct {
		Plan string `json:"plan"`
	}
	if json.Unmarshal(args, &in) != nil || strings.TrimSpace(in.Plan) == "" {
		return nil
	}
	if result != nil && (json.Unmarshal(result.Output, &out) != nil || out.Plan != in.Plan) {
		return nil
	}
	return &engine.Question{Plan: in.Plan}
}
