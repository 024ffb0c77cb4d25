package cli

import (
	"runtime/debug"

	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/rego"
)

// Environment is what besides policy decides how the same facts come out.
func Environment() engine.Env {
	return engine.Env{
		Engine: engine.Version, Classifier: classify.Version, Fold: history.FoldVersion,
		OPA: rego.Version(), CEL: cel.Version,
	}
}

// MachineAt is this machine's policies, as this program reads them.
func MachineAt(home string) here.Machine {
	return here.Machine{Home: home, Program: func() string { return Environment().Digest() + " " + BuildVersion() }}
}

// BuildVersion is the version of this program.
func BuildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
