package cli

import (
	"runtime/debug"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/rego"
)

// Environment returns the versions that decisions depend on besides the policy and the facts.
func Environment() engine.Env {
	return engine.Env{
		Engine: engine.Version, Classifier: classify.Version, Fold: history.FoldVersion,
		OPA: rego.Version(), CEL: cel.Version,
	}
}

// MachineAt returns this machine's policies, as this program reads them.
func MachineAt(home string) active.Machine {
	return active.Machine{
		Home: home, Now: func() int64 { return time.Now().UnixMilli() },
		Program: func() string { return Environment().Digest() + " " + BuildVersion() },
	}
}

// version is set by the linker in a release (see cmd/dev/release).
var version string

// BuildVersion is the version of this program.
func BuildVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
