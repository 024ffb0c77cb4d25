package classify

import (
	"sync"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/standing"
)

// Declarations of the packages below that callers need, so that they import one package only.

// System describes the machine on which an action would run, as far as it is known.
type System = place.World

// Discard describes what a version control command discards.
type Discard = abstract.Discard

// LocalWorld returns the world of this machine; see [place.LocalWorld].
func LocalWorld(home, tempDir string, guard []string) System {
	return place.LocalWorld(home, tempDir, guard)
}

// HomeOf returns the home directory that a folder of a recorded session is in,
// by the usual places; empty: none.
func HomeOf(dir string) string { return place.HomeOf(dir) }

// HasPersonal reports whether a string contains personal data of some kinds, which
// are engine.PersonalKinds.
func HasPersonal(text string, kinds []string) bool { return mask.HasPersonal(text, kinds) }

// HoldsCredentials returns a function that reports whether a file, by its absolute path,
// contains credentials, by its name and place alone. It may be called by several
// goroutines.
func HoldsCredentials(w System, workspace string, known engine.Rows) func(path string) bool {
	set, _ := known.(*rows.Set)
	var mu sync.Mutex
	// Most calls change no file whose name has to be judged.
	resolver := sync.OnceValue(func() *place.Resolver { return place.NewResolver(w, workspace, set) })
	return func(path string) bool {
		mu.Lock()
		defer mu.Unlock()
		class := resolver().Class(place.Slashes(path))
		return class == engine.ClassCredential || class == engine.ClassEnvFile
	}
}

// InstructionFile is an instruction file for agents; see [standing.File].
type InstructionFile = standing.File

// KeptInstructions lists what a session keeps of what instruction files forbid.
func KeptInstructions(files []InstructionFile) []engine.Statement { return standing.Kept(files) }
