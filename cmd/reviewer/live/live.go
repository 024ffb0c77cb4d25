// Package live starts real coding agents headless, with a model on loopback that follows a script, in
// folders of their own. A person's settings, keys and sessions are not used: the environment is built from
// nothing, and the home is a temporary one.
//
// Out of scope: how the model answers (cmd/reviewer/scripted), what the hooks of an agent are
// (engine/harness/settings), and what is expected of a run.
package live

import "github.com/agent-reviewer/reviewer/cmd/reviewer/scripted"

// Place is where an agent is started.
type Place struct {
	Home    string
	Project string // an empty folder or a repository, which is the working directory
	Temp    string // for temporary files
	URL     string // of the model, without a path
	Path    string // of programs
}

// A Driver describes how one agent is started without a person and without an account.
type Driver struct {
	Agent string

	// Configure makes the agent use the model. If it is nil, Env does.
	Configure func(Place) error
	// Setup is the arguments of a first run that does the same; nil: there is none.
	Setup func(Place) []string

	Args []string
	Env  func(Place) []string

	// Shell is a call that runs a command.
	Shell func(command string) scripted.Call
}

// Find returns the driver of an agent.
func Find(agent string) (Driver, bool) {
	for _, d := range Drivers() {
		if d.Agent == agent {
			return d, true
		}
	}
	return Driver{}, false
}

// noProxy is an address at which nothing listens.
const noProxy = "http://127.0.0.1:9"

// environment is that of an agent: what a person has set for their own agent must not reach this one.
// Network requests that an agent makes at its start go to a proxy that does not exist.
func (p Place) environment() []string {
	return []string{"PATH=" + p.Path, "HOME=" + p.Home, "PWD=" + p.Project, "TMPDIR=" + p.Temp,
		"SHELL=/bin/sh", "TERM=dumb", "LANG=C.UTF-8", "TZ=UTC", "NO_COLOR=1",
		"HTTP_PROXY=" + noProxy, "HTTPS_PROXY=" + noProxy, "http_proxy=" + noProxy, "https_proxy=" + noProxy,
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost"}
}

// Environment is what an agent is started with, and what it starts hooks with.
func (d Driver) Environment(p Place) []string {
	env := p.environment()
	if d.Env != nil {
		env = append(env, d.Env(p)...)
	}
	return env
}
