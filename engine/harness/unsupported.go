package harness

// Unsupported is an agent whose calls reviewer cannot decide on, and why.
type Unsupported struct{ Name, Why string }

// Without lists known agents that have no row in Harnesses.
func Without() []Unsupported {
	return []Unsupported{
		{"aider", "it has no hook: it runs git hooks and a lint command, after the change"},
		{"amp", "it could not be tried without an account; it has permission rules, of which one can ask a program"},
		{"continue", "its command line (1.5.47) reads hooks and starts none of them before a call, tried with one that denies: " +
			"the call ran; it has its own options --allow, --ask and --exclude"},
		{"goose", "its hooks were not tried: it is in no package registry, and its input names events in another way"},
		{"openclaw", "it was not tried, and how it starts hooks is not known"},
		{"windsurf", "its hooks were not tried: it needs an account; " +
			"its documents describe a denial by exit status 2, and every failure lets the call run"},
	}
}
