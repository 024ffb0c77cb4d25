package harness

// Unsupported is an agent whose calls reviewer cannot decide on, and why.
type Unsupported struct{ Name, Why string }

// Without lists known agents that have no row in Harnesses.
func Without() []Unsupported {
	return []Unsupported{
		{"aider", "it has no hook for tool calls; it only runs git hooks and a lint command, after the change"},
		{"amp", "it could not be tested without an account; one of its permission rules can consult a program"},
		{"continue", "its command line (1.5.47) reads hooks but starts none of them before a call: in a test with one that denies, " +
			"the call ran; it has its own options --allow, --ask and --exclude"},
		{"goose", "its hooks were not tested: it is not in any package registry, and its hook input names events differently"},
		{"openclaw", "it was not tested, and it is not known how it starts hooks"},
		{"windsurf", "its hooks were not tested, since it needs an account; " +
			"according to its documentation, exit status 2 denies a call, and any other failure lets it run"},
	}
}
