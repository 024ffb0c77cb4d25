package settings

// problems lists what keeps an entry of reviewer from failing closed, or from working.
type problems []string

func (p *problems) report(wrong bool, text string) {
	if wrong {
		*p = append(*p, text)
	}
}

const (
	shortTimeout = "the timeout is shorter than the hook's own deadline"
	afterwards   = "erases prompts or forces the agent to continue when the hook fails"
)

// commonProblems lists those that an entry can have in every agent.
func commonProblems(agent string, o OwnHook, h object) problems {
	var found problems
	found.report(!absolute(o.Program), "the program is not an absolute path: PATH decides what runs")
	found.report(o.Home == "", "no --home: the environment decides where the state is")
	found.report(!namesEvent(agent, h, o.Event), "the arguments do not name the event "+o.Event)
	return found
}
